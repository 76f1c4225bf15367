//! What an address says besides the place of a dataset.
use std::fmt;

/// What an address says besides the place of a dataset: the part after `#`, and the query. Formats that are reached by
/// name, and have parameters of their own, read it. Values may be secret and are never shown.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct AddressHints {
    /// Mode words, after all inferences.
    pub modes: Vec<String>,
    /// Other keys and their values, in order.
    pub entries: Vec<(String, String)>,
    /// The query, without the question mark and as it is written.
    pub query: Option<String>,
}

impl AddressHints {
    /// Whether a mode word is set.
    pub fn has_mode(&self, word: &str) -> bool {
        self.modes.iter().any(|mode| mode == word)
    }

    /// The value of a key; the last one if it occurs several times.
    pub fn value(&self, key: &str) -> Option<&str> {
        self.entries.iter().rev().find(|(name, _)| name == key).map(|(_, value)| value.as_str())
    }
}

impl fmt::Debug for AddressHints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.entries.iter().map(|(key, _)| key.as_str()).collect();
        write!(f, "{:?} {keys:?}", self.modes)
    }
}
