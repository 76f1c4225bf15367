//! Documents of other formats that are read as references.
use super::manifest::{ManifestEntry, ReferenceManifest};
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
    pub(super) fn find<'a>(&self, name: &'a str) -> Option<(ReferenceTranslation, &'a str)> {
        let name = name.trim_end_matches('/');
        self.0.iter().find_map(|(ending, translation)| {
            let (stem, end) = name.split_at_checked(name.len().checked_sub(ending.len())?)?;
            (!stem.is_empty() && end.eq_ignore_ascii_case(ending)).then_some((*translation, stem))
        })
    }
}

/// The references of a document whose name, without the ending, is that of the data file beside it.
pub(super) fn manifest(
    translated: TranslatedReferences,
    stem: &str,
    limits: &Limits,
) -> Result<ReferenceManifest> {
    let mut manifest = ReferenceManifest::new(limits);
    let beside = stem.rsplit('/').next().unwrap_or(stem);
    let usual = data_file(translated.data_file.as_deref(), beside);
    limits.count((translated.objects.len() + translated.chunks.len()) as u64, "the references")?;
    for (key, body) in translated.objects {
        manifest.insert(&key, ManifestEntry::Inline(Box::new(body.into())));
    }
    for (key, href, offset, len) in translated.chunks {
        let name = href.as_deref().map_or(usual, |href| data_file(Some(href), beside));
        let entry = manifest.range_of(name, offset, len)?;
        manifest.insert(&key, entry);
    }
    manifest.warnings.extend(translated.warnings);
    Ok(manifest.finished())
}

/// The data file that a document names, or that beside it. Names without a scheme are paths on the server that made the
/// document; if they end as the file beside it is named, that file is meant.
fn data_file<'a>(href: Option<&'a str>, beside: &'a str) -> &'a str {
    match href.map(str::trim) {
        None | Some("" | PLACEHOLDER) => beside,
        Some(href) if href.contains("://") => href,
        Some(href) if href.rsplit('/').next() == Some(beside) => beside,
        Some(href) => href,
    }
}

/// What NASA's documents have instead of a name until they are served.
const PLACEHOLDER: &str = "OPeNDAP_DMRpp_DATA_ACCESS_URL";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_data_file_is_that_beside_the_document_unless_an_address_is_named() {
        for (href, expected) in [
            (None, "x.nc"),
            (Some(PLACEHOLDER), "x.nc"),
            (Some("data/dmrpp/x.nc"), "x.nc"),
            (Some("other/y.nc"), "other/y.nc"),
            (Some("s3://b/x.nc"), "s3://b/x.nc"),
        ] {
            assert_eq!(data_file(href, "x.nc"), expected, "{href:?}");
        }
    }

    #[test]
    fn formats_are_found_by_the_ending() {
        let mut formats = ReferenceFormats::default();
        formats.add(".dmrpp", |_, _| Ok(TranslatedReferences::default()));
        let stem = |name| formats.find(name).map(|(_, stem)| stem);
        assert_eq!(stem("a/x.nc.DMRPP"), Some("a/x.nc"));
        assert_eq!((stem(".dmrpp"), stem("x.nc"), stem("é")), (None, None, None));
    }
}
