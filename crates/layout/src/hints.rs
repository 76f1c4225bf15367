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

/// Yes or no, in the words of addresses, options and configurations: `yes`, `true`, `on` and `1`, `no`, `false`, `off` and
/// `0`, in capitals too. `None` for anything else.
pub fn yes_or_no(text: &str) -> Option<bool> {
    let is_one_of = |words: [&str; 4]| words.iter().any(|word| text.eq_ignore_ascii_case(word));
    match (is_one_of(["yes", "true", "on", "1"]), is_one_of(["no", "false", "off", "0"])) {
        (true, _) => Some(true),
        (_, true) => Some(false),
        _ => None,
    }
}

impl fmt::Debug for AddressHints {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let keys: Vec<&str> = self.entries.iter().map(|(key, _)| key.as_str()).collect();
        write!(f, "{:?} {keys:?}", self.modes)
    }
}
