//! Differences from Debian's library that are known: lines of four columns in a file, of which an asterisk stands for any text.

/// What differs, what Debian's library answers, and ours; the fourth column is the reason.
#[derive(Debug)]
pub(super) struct KnownDifference<'a> {
    pub(super) of: &'a str,
    pub(super) debian: &'a str,
    pub(super) own: &'a str,
}

impl<'a> KnownDifference<'a> {
    pub(super) fn from_line(line: &'a str) -> Self {
        let columns: Vec<&str> = line.split('\t').collect();
        assert!(columns.len() == 4 && !columns[3].is_empty(), "{line}: no four columns");
        Self { of: columns[0], debian: columns[1], own: columns[2] }
    }

    /// Whether the libraries answer this.
    pub(super) fn answers(&self, debian: &str, own: &str) -> bool {
        fits(self.debian, debian) && fits(self.own, own)
    }
}

/// Whether a text has a pattern, of which each asterisk stands for any text.
pub(super) fn fits(pattern: &str, text: &str) -> bool {
    match pattern.split_once('*') {
        None => pattern == text,
        Some((start, rest)) => match text.strip_prefix(start) {
            None => false,
            Some(text) => rest.is_empty() || text.char_indices().any(|(at, _)| fits(rest, &text[at..])),
        },
    }
}
