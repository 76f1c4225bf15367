//! Filters by `-F`, `-d` and `-s`.
use crate::copy::filters_by_number;
use ncirrus::{CodecSpec, Error, Result};
use ncirrus_model::{Model, VarId};

/// What all filter options together say.
#[derive(Debug, Default)]
pub(super) struct FilterSpecs {
    /// No variable has filters.
    removes_all: bool,
    specs: Vec<FilterSpec>,
}

/// One option: variables and their filters.
#[derive(Debug)]
struct FilterSpec {
    /// Paths from the root; `None`: all variables.
    variables: Option<Vec<String>>,
    /// `None`: no filter at all.
    filters: Option<Vec<CodecSpec>>,
}

impl FilterSpecs {
    /// Parses `none`, `*,none`, and `VARIABLES,FILTERS` with variables joined by `&`, or `*`, and with filters joined by
    /// `|`, or `none`. A backslash makes the next character part of a name.
    ///
    /// # Errors
    /// `Invalid` with the text that cannot be parsed.
    pub(super) fn parse(texts: &[String]) -> Result<Self> {
        let mut all = Self::default();
        for text in texts.iter().filter(|text| !text.is_empty()) {
            if text == "none" || text.eq_ignore_ascii_case("*,none") {
                all.removes_all = true;
                continue;
            }
            let (names, filters) = split(text);
            let filters = match filters {
                none if none.eq_ignore_ascii_case("none") => None,
                "" => return Err(Error::invalid(format!("filter {text:?} has variables, but no filter"))),
                list => Some(filters_by_number(list)?),
            };
            let variables = (names != ["*"]).then(|| {
                names.into_iter().map(|name| format!("/{}", name.trim_start_matches('/'))).collect()
            });
            all.specs.push(FilterSpec { variables, filters });
        }
        Ok(all)
    }

    /// Whether the copy must be netCDF-4 because of them.
    pub(super) fn asks_for_netcdf4(&self) -> bool {
        !self.specs.is_empty()
    }

    /// The filters of a variable, in the order of encoding: those of the source if nothing else is said.
    pub(super) fn choose(
        &self,
        model: &Model,
        var: VarId,
        deflate: Option<u32>,
        shuffle: bool,
    ) -> Vec<CodecSpec> {
        let Some(variable) = model.variable(var) else { return Vec::new() };
        let path = model.variable_path(var);
        let specs = || self.specs.iter().filter(|spec| spec.applies(&path));
        if self.removes_all || specs().any(|spec| spec.filters.is_none()) {
            return Vec::new();
        }
        let named: Vec<CodecSpec> = specs().flat_map(|spec| spec.filters.iter().flatten().cloned()).collect();
        let checksums = variable.filters.iter().filter(|filter| is_checksum(filter)).cloned();
        let mut filters = match deflate {
            None if named.is_empty() => return variable.filters.clone(),
            // Elements of varying length are stored apart from their chunks, where no filter reaches them.
            _ if variable.dims.is_empty() || model.packed_len(variable.ty).is_none() => return Vec::new(),
            Some(0) => Vec::new(),
            Some(level) => {
                let shuffle = shuffle.then(|| CodecSpec::hdf5(2, &[]));
                shuffle.into_iter().chain([CodecSpec::hdf5(1, &[level])]).collect()
            }
            None => named,
        };
        if !filters.iter().any(is_checksum) {
            filters.extend(checksums);
        }
        filters
    }

    /// Notes about names of variables that do not exist.
    pub(super) fn without_variable(&self, model: &Model) -> Vec<String> {
        let names = self.specs.iter().flat_map(|spec| spec.variables.iter().flatten());
        names
            .filter(|name| model.variable_at(name).is_none())
            .map(|name| format!("filters for {name} have no effect: the variable does not exist"))
            .collect()
    }
}

impl FilterSpec {
    fn applies(&self, path: &str) -> bool {
        self.variables.as_ref().is_none_or(|names| names.iter().any(|name| name == path))
    }
}

fn is_checksum(filter: &CodecSpec) -> bool {
    const FLETCHER32: u32 = 3;
    *filter == CodecSpec::hdf5(FLETCHER32, &[]) || filter.identifier().to_string().ends_with("fletcher32")
}

/// The names before the first comma, and what follows it.
fn split(text: &str) -> (Vec<String>, &str) {
    let (mut names, mut name) = (Vec::new(), String::new());
    let mut chars = text.char_indices();
    while let Some((at, char)) = chars.next() {
        match char {
            '\\' => name.extend(chars.next().map(|(_, escaped)| escaped)),
            '&' => names.push(std::mem::take(&mut name)),
            ',' => {
                names.push(name);
                return (names, text.get(at + 1..).unwrap_or_default());
            }
            other => name.push(other),
        }
    }
    names.push(name);
    (names, "")
}
