//! The writer of a dataset, from its `_NCProperties`, and the writer's known faults (`docs/spec/nczarr.md` 3.9, 4.4).
use super::node::AttributeHolder;
use crate::special::PROPERTIES;

/// The writer of a dataset.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct DatasetProvenance {
    /// The text of `_NCProperties`.
    pub(super) text: Option<String>,
    /// The version of netcdf-c.
    pub(super) netcdf: Option<[u32; 3]>,
}

impl DatasetProvenance {
    /// The writer named in the root's attributes.
    pub(super) fn of(root: &AttributeHolder) -> Self {
        let Some(json) = root.find(PROPERTIES) else { return Self::default() };
        let text = String::from_utf8_lossy(json.source()).into_owned();
        let netcdf =
            text.split([',', '|']).find_map(|part| part.trim().strip_prefix("netcdf=")).and_then(version);
        Self { text: Some(text), netcdf }
    }

    /// Whether netcdf-c or ncirrus wrote the dataset: both use netCDF's meaning of types and fill values.
    pub(super) fn is_netcdf(&self) -> bool {
        self.text.is_some()
    }

    /// Whether ncirrus wrote the dataset.
    pub(super) fn is_ours(&self) -> bool {
        self.text.as_ref().is_some_and(|text| text.contains("ncirrus="))
    }

    /// Whether netcdf-c wrote the dataset.
    pub(super) fn is_netcdf_c(&self) -> bool {
        self.netcdf.is_some()
    }

    /// Whether numbers declared big-endian are little-endian: 4.8.0 to 4.9.2 never swapped.
    pub(super) fn never_swaps(&self) -> bool {
        self.netcdf.is_some_and(|version| ([4, 8, 0]..=[4, 9, 2]).contains(&version))
    }

    /// Whether `<U1` is char with one byte per element: 4.9.0 and earlier, in plain Zarr, too (docs/spec/nczarr.md
    /// 3.12).
    pub(super) fn has_one_byte_unicode(&self) -> bool {
        self.netcdf.is_some_and(|version| version <= [4, 9, 0])
    }

    /// Whether fill elements of partly written big-endian chunks are little-endian: 4.9.3 and later.
    pub(super) fn swaps_all_but_fill(&self) -> bool {
        self.netcdf.is_some_and(|version| version >= [4, 9, 3])
    }
}

/// The numbers of a version such as `4.10.2-development`.
fn version(text: &str) -> Option<[u32; 3]> {
    let mut parts = text.split(['.', '-']).map(|part| part.parse::<u32>().ok());
    Some([parts.next()??, parts.next()??, parts.next().flatten().unwrap_or(0)])
}

#[cfg(test)]
mod tests {
    use super::*;

    fn by(text: &str) -> DatasetProvenance {
        let netcdf = text.split(',').find_map(|part| part.strip_prefix("netcdf=")).and_then(version);
        DatasetProvenance { text: Some(text.to_owned()), netcdf }
    }

    #[test]
    fn faults_of_writers_are_known_by_version() {
        let old = by("version=2,netcdf=4.9.2,nczarr=2.0.0");
        assert!(old.never_swaps() && !old.swaps_all_but_fill());
        assert!(
            !old.has_one_byte_unicode() && by("version=2,netcdf=4.9.0,nczarr=2.0.0").has_one_byte_unicode()
        );
        let new = by("version=2,netcdf=4.10.2-development,nczarr=2.0.0");
        assert!(!new.never_swaps() && new.swaps_all_but_fill());
        let other = by("version=2,ncirrus=0.1.0");
        assert!(!other.is_netcdf_c() && !other.never_swaps() && !other.swaps_all_but_fill());
        assert_eq!(version("4.8"), Some([4, 8, 0]));
        assert_eq!(version("x.y"), None);
    }
}
