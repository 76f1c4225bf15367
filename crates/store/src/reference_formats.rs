//! The formats of documents that are read as references.
use ncirrus_layout::{Limits, Result};
use std::fmt;

/// A document of another format as references.
#[derive(Debug, Clone, Default)]
pub struct TranslatedReferences {
    /// Objects whose bytes are in the document, by key.
    pub objects: Vec<(String, Vec<u8>)>,
    /// Chunks: key, data file if it is not that of the document, offset and length in bytes.
    pub chunks: Vec<(String, Option<String>, u64, u64)>,
    /// The data file as written in the document.
    pub data_file: Option<String>,
    /// What was left out, and why.
    pub warnings: Vec<String>,
}

/// Translates the bytes of a document.
pub type ReferenceTranslation = fn(&[u8], &Limits) -> Result<TranslatedReferences>;

/// The formats of documents that are read as references, by the endings of their names.
#[derive(Clone, Default)]
pub struct ReferenceFormats(Vec<(&'static str, ReferenceTranslation)>);

impl fmt::Debug for ReferenceFormats {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.0.iter().map(|(ending, _)| ending)).finish()
    }
}

impl ReferenceFormats {
    /// Adds a format by the ending of names, such as `.dmrpp`.
    pub fn add(&mut self, ending: &'static str, translation: ReferenceTranslation) {
        self.0.push((ending, translation));
    }

    /// The format of a name, and the name without its ending.
    pub(crate) fn find<'a>(&self, name: &'a str) -> Option<(ReferenceTranslation, &'a str)> {
        let name = name.trim_end_matches('/');
        self.0.iter().find_map(|(ending, translation)| {
            let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
            (!stem.is_empty() && end.eq_ignore_ascii_case(ending)).then_some((*translation, stem))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_found_by_the_ending() {
        let mut formats = ReferenceFormats::default();
        formats.add(".dmrpp", |_, _| Ok(TranslatedReferences::default()));
        let stem = |name| formats.find(name).map(|(_, stem)| stem);
        assert_eq!(stem("a/x.nc.DMRPP"), Some("a/x.nc"));
        assert_eq!((stem(".dmrpp"), stem("x.nc"), stem("é")), (None, None, None));
    }
}
