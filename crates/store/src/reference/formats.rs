//! Documents of other formats that are read as references.
use super::manifest::{ManifestEntry, ReferenceManifest};
use crate::reference_formats::TranslatedReferences;
use ncirrus_layout::{Limits, Result};

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
}
