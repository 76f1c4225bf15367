//! Where a dataset's documents are, and what its address asks for (docs/spec/dap.md 1).
use crate::{Dap2Constraint, Dap4Constraint, QueryEncoding};
use ncirrus_layout::{AddressHints, Error, ObjectId, Result};
use percent_encoding::percent_decode_str;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

/// The two protocols.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum DapProtocol {
    Dap2,
    Dap4,
}

/// How a dataset is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum DapView {
    /// As the protocol has it: signs, strings, structures, coordinates.
    #[default]
    Native,
    /// As netCDF-C shows it (docs/spec/dap.md 5, 6.6).
    NetcdfC,
}

/// A dataset's address.
#[derive(Debug, Clone)]
pub(crate) struct DapPlace {
    pub(crate) protocol: DapProtocol,
    pub(crate) view: DapView,
    /// The dataset, without the suffix of a response.
    base: ObjectId,
    /// Whether the responses are files: whole, without queries.
    pub(crate) files: bool,
    pub(crate) encoding: QueryEncoding,
    /// Whether the address says how queries are encoded.
    pub(crate) is_encoding_stated: bool,
    /// Whether the host wants brackets that are not encoded; shared by all its datasets.
    pub(crate) wants_raw: Arc<AtomicBool>,
    /// The constraint that every request of DAP2 repeats.
    pub(crate) constraint: Dap2Constraint,
    /// The constraint of the address for DAP4.
    pub(crate) expression: Dap4Constraint,
    /// Whether wrong checksums are accepted.
    pub(crate) ignores_checksums: bool,
    /// Characters of strings: of all, and by path.
    pub(crate) string_length: Option<u64>,
    pub(crate) string_lengths: BTreeMap<String, u64>,
    pub(crate) warnings: Vec<String>,
}

/// The responses that users paste, longest first.
const SUFFIXES: [&str; 7] = [".dmr.xml", ".dods", ".html", ".dds", ".das", ".dmr", ".dap"];
/// Parameters of netCDF-C and of other formats that have no effect here.
const ACCEPTED: [&str; 18] = [
    "log",
    "show",
    "cache",
    "nocache",
    "cachelimit",
    "cachecount",
    "fetchlimit",
    "smallsizelimit",
    "prefetch",
    "noprefetch",
    "nofillmismatch",
    "fillmismatch",
    "noseqdims",
    "fetch",
    "wholevar",
    "translate",
    "opaquesize",
    "nolimit",
];

impl DapPlace {
    /// The place that an address names; `files`: it is in the file system.
    ///
    /// # Errors
    /// `Invalid` for a parameter with a value that it cannot have, and for a constraint of files.
    pub(crate) fn new(
        root: &ObjectId,
        protocol: DapProtocol,
        files: bool,
        hints: &AddressHints,
    ) -> Result<Self> {
        let query = hints.query.as_deref().unwrap_or_default();
        let query = percent_decode_str(query).decode_utf8_lossy();
        let place = Self {
            protocol,
            view: DapView::default(),
            base: base_of(root),
            files,
            encoding: QueryEncoding::default(),
            is_encoding_stated: false,
            wants_raw: Arc::default(),
            constraint: Dap2Constraint::parse(if protocol == DapProtocol::Dap2 { &query } else { "" }),
            expression: Dap4Constraint::parse(match protocol {
                DapProtocol::Dap4 => expression_of(&query),
                DapProtocol::Dap2 => "",
            }),
            ignores_checksums: false,
            string_length: None,
            string_lengths: BTreeMap::new(),
            warnings: Vec::new(),
        };
        if files && !query.is_empty() {
            return Err(Error::invalid("a file cannot be asked for a constraint").at_object(root));
        }
        hints.entries.iter().try_fold(place, |place, (key, value)| place.with(key, value))
    }

    /// The same with a parameter of the address.
    fn with(mut self, key: &str, value: &str) -> Result<Self> {
        let lower = key.to_ascii_lowercase();
        let wrong = || Error::invalid(format!("{key}={value} in the address is none of its values"));
        match lower.as_str() {
            "view" => {
                self.view = match value {
                    "native" => DapView::Native,
                    "netcdf-c" => DapView::NetcdfC,
                    _ => return Err(wrong()),
                }
            }
            "encode" => {
                self.is_encoding_stated = true;
                self.encoding = match value {
                    "none" | "path" => QueryEncoding::RawBrackets,
                    "query" | "all" => QueryEncoding::Encoded,
                    _ => return Err(wrong()),
                }
            }
            "hyrax" => self.ignores_checksums = true,
            "stringlength" | "maxstrlen" => self.string_length = Some(number(value).ok_or_else(wrong)?),
            _ => match key.split_once('_') {
                Some((name, path)) if name.eq_ignore_ascii_case("stringlength") => {
                    let len = number(value).ok_or_else(wrong)?;
                    self.string_lengths.insert(path.to_owned(), len);
                }
                _ if ACCEPTED.contains(&lower.as_str()) || lower.starts_with("limit") => {}
                _ => self.warnings.push(format!("{key} in the address has no effect")),
            },
        }
        Ok(self)
    }

    /// The object of a response; the suffix has its point.
    pub(crate) fn response(&self, suffix: &str, query: &str) -> ObjectId {
        let object = self.base.with_name(&format!("{}{suffix}", self.base.name()));
        match (self.files, query) {
            (true, _) | (_, "") => object,
            (false, query) => object.with_query(query),
        }
    }

    /// How queries are encoded.
    pub(crate) fn encoding(&self) -> QueryEncoding {
        if self.wants_raw.load(Ordering::Relaxed) && !self.is_encoding_stated {
            QueryEncoding::RawBrackets
        } else {
            self.encoding
        }
    }

    /// Whether an error shows that the host wants another encoding, which is used from then on.
    pub(crate) fn adapts(&self, error: &Error) -> bool {
        // GrADS and Ingrid take an encoded bracket for a part of the name, which they repeat.
        let is_repeated = error.message().to_ascii_lowercase().contains("%5b");
        let may_change = !self.files && !self.is_encoding_stated;
        is_repeated && may_change && !self.wants_raw.swap(true, Ordering::Relaxed)
    }

    /// The dataset itself.
    pub(crate) fn base(&self) -> &ObjectId {
        &self.base
    }
}

/// The object without the suffix of a response.
fn base_of(root: &ObjectId) -> ObjectId {
    let name = root.name();
    let cut =
        SUFFIXES.into_iter().find_map(|suffix| name.strip_suffix(suffix).filter(|rest| !rest.is_empty()));
    cut.map_or_else(|| root.with_name(name), |cut| root.with_name(cut))
}

/// The protocol whose response an address names by its suffix.
pub(crate) fn protocol_of(name: &str) -> Option<DapProtocol> {
    let ends = |suffixes: &[&str]| suffixes.iter().any(|suffix| name.ends_with(suffix));
    match () {
        () if ends(&[".dds", ".das", ".dods"]) => Some(DapProtocol::Dap2),
        () if ends(&[".dmr", ".dmr.xml", ".dap"]) => Some(DapProtocol::Dap4),
        () => None,
    }
}

/// The expression in a query of DAP4.
fn expression_of(query: &str) -> &str {
    query.split('&').find_map(|field| field.strip_prefix("dap4.ce=")).unwrap_or_default()
}

/// A number, perhaps with the suffix K, M or G.
fn number(text: &str) -> Option<u64> {
    let (digits, unit) = match text.chars().last()?.to_ascii_uppercase() {
        'K' => (text.get(..text.len() - 1)?, 1 << 10),
        'M' => (text.get(..text.len() - 1)?, 1 << 20),
        'G' => (text.get(..text.len() - 1)?, 1 << 30),
        _ => (text, 1),
    };
    digits.parse::<u64>().ok()?.checked_mul(unit).filter(|number| *number > 0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_layout::StoreId;

    fn place(key: &str, hints: &AddressHints) -> Result<DapPlace> {
        let root = ObjectId::new(StoreId::new("http://h/a"), key);
        DapPlace::new(&root, DapProtocol::Dap2, false, hints)
    }

    #[test]
    fn pasted_suffixes_are_cut_off() {
        for key in
            ["x.nc", "x.nc.dds", "x.nc.das", "x.nc.dods", "x.nc.html", "x.nc.dmr", "x.nc.dmr.xml", "x.nc.dap"]
        {
            let found = place(key, &AddressHints::default()).unwrap();
            assert_eq!(found.response(".dds", "").key(), "x.nc.dds", "{key}");
        }
        assert_eq!(place(".dds", &AddressHints::default()).unwrap().base().key(), ".dds");
    }

    #[test]
    fn parameters_act_are_accepted_or_are_reported() {
        let entry = |key: &str, value: &str| (key.to_owned(), value.to_owned());
        let entries = vec![
            entry("view", "netcdf-c"),
            entry("encode", "none"),
            entry("stringlength", "2K"),
            entry("stringlength_a.b", "7"),
            entry("Log", ""),
            entry("limit_s", "3"),
            entry("colour", "red"),
        ];
        let hints = AddressHints { entries, query: Some("a%5B0%5D&b%3E1".into()), ..AddressHints::default() };
        let found = place("x", &hints).unwrap();
        assert_eq!((found.view, found.encoding), (DapView::NetcdfC, QueryEncoding::RawBrackets));
        assert_eq!((found.string_length, found.string_lengths.get("a.b")), (Some(2048), Some(&7)));
        assert_eq!(found.warnings, ["colour in the address has no effect"]);
        assert_eq!(found.constraint.query(QueryEncoding::RawBrackets), "a[0]&b%3E1");
        for (key, value) in
            [("view", "x"), ("encode", "x"), ("stringlength", "0"), ("stringlength", "99999999999G")]
        {
            let hints = AddressHints { entries: vec![entry(key, value)], ..AddressHints::default() };
            assert!(place("x", &hints).is_err(), "{key}");
        }
    }

    #[test]
    fn files_have_no_constraints() {
        let root = ObjectId::new(StoreId::new("file:///a"), "x");
        let hints = AddressHints { query: Some("a".into()), ..AddressHints::default() };
        assert!(DapPlace::new(&root, DapProtocol::Dap2, true, &hints).is_err());
    }
}
