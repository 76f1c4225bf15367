//! The part of an address after `#` (`docs/spec/nczarr.md` 8.1, 8.3, 8.7).
use super::UrlModes;
use std::fmt;

/// The part after `#`, or in brackets before the scheme: modes, and other keys, which are passed on.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct UrlFragment {
    pub(super) modes: UrlModes,
    pub(super) entries: Vec<(String, String)>,
}

/// Keys without value that are rewritten to mode words (docs/spec/nczarr.md 8.3, 8.7).
const MACROS: [(&str, &[&str]); 9] = [
    ("zarr", &["nczarr", "zarr"]),
    ("dap2", &["dap2"]),
    ("dap4", &["dap4"]),
    ("bytes", &["bytes"]),
    ("icechunk", &["icechunk"]),
    ("s3", &["s3", "nczarr"]),
    ("gs3", &["gs3", "nczarr"]),
    ("xarray", &["zarr"]),
    ("noxarray", &["nczarr", "noxarray"]),
];

/// Keys that identify the end of a bare path as a fragment.
const KEYS: [&str; 15] = [
    "mode",
    "protocol",
    "view",
    "aws.profile",
    "awsprofile",
    "aws.region",
    "awsregion",
    "log",
    "show",
    "dialect",
    "json_attributes",
    "branch",
    "tag",
    "snapshot",
    "at",
];

impl UrlFragment {
    /// The entries of several texts `key=value&key=value...`, merged; `mode` is a word that the scheme implies.
    pub(super) fn parse<'a>(texts: impl IntoIterator<Item = &'a str>, mode: Option<&'a str>) -> Self {
        let mut words: Vec<&str> = mode.into_iter().collect();
        let mut entries = Vec::new();
        let parts = texts.into_iter().flat_map(|text| text.split('&')).filter(|part| !part.is_empty());
        for (key, value) in parts.map(|part| part.split_once('=').unwrap_or((part, ""))) {
            match rewritten(key).filter(|_| value.is_empty()) {
                Some(stands_for) => words.extend(stands_for),
                None if key.eq_ignore_ascii_case("protocol") => words.push(value),
                None if key == "mode" => {
                    // Keys may occur among the modes.
                    for word in value.split(',') {
                        match word.split_once('=') {
                            Some((key, value)) => entries.push((key.to_owned(), value.to_owned())),
                            None => words.push(word),
                        }
                    }
                }
                None => entries.push((key.to_owned(), value.to_owned())),
            }
        }
        Self { modes: UrlModes::infer(words), entries }
    }

    /// Whether the end of a bare path can only be a fragment.
    pub(crate) fn is_unmistakable(text: &str) -> bool {
        text.split('&').all(|part| match part.split_once('=') {
            Some((key, _)) => KEYS.contains(&key),
            None => rewritten(part).is_some(),
        })
    }

    /// The mode words, after all inferences.
    pub fn modes(&self) -> &UrlModes {
        &self.modes
    }

    /// The value of a key; the last one if it occurs several times. A key without `=` has an empty value.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }

    /// The profile of Amazon's files that the address names, and the key that names it (docs/spec/nczarr.md 9.4).
    pub fn profile(&self) -> Option<(&'static str, &str)> {
        self.first(&["aws.profile", "awsprofile", "aws_profile"])
    }

    /// The region that the address names (docs/spec/nczarr.md 9.5).
    pub fn region(&self) -> Option<&str> {
        self.first(&["aws.region", "awsregion", "aws_region"]).map(|(_, region)| region)
    }

    /// Whether the address sets requester-pays.
    pub fn requester_pays(&self) -> Option<bool> {
        let keys = ["aws.requester_pays", "requester_pays", "request_payer"];
        let value = keys.into_iter().find_map(|key| self.value(key))?;
        Some(!["false", "no", "0"].iter().any(|no| value.eq_ignore_ascii_case(no)))
    }

    fn first(&self, keys: &[&'static str]) -> Option<(&'static str, &str)> {
        let found = |key: &&'static str| Some((*key, self.value(key).filter(|value| !value.is_empty())?));
        keys.iter().find_map(found)
    }

    /// Keys other than `mode` and their values, in order.
    pub fn entries(&self) -> impl Iterator<Item = (&str, &str)> {
        self.entries.iter().map(|(key, value)| (key.as_str(), value.as_str()))
    }
}

fn rewritten(key: &str) -> Option<&'static [&'static str]> {
    MACROS.iter().find(|(name, _)| *name == key).map(|(_, words)| *words)
}

/// Only names of the keys: values may be secret.
impl fmt::Debug for UrlFragment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.entries.iter().map(|(key, _)| key.as_str()).collect();
        write!(f, "{:?} {keys:?}", self.modes)
    }
}
