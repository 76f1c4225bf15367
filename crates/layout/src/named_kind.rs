//! What the ending of a name states about a dataset: it decides which objects are requested first, never how they are read.
use crate::ObjectId;

/// The kind of dataset that the ending of a name states.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NamedKind {
    /// A single file, or a web page.
    File,
    /// A tree of objects of Zarr.
    Zarr,
    /// A repository of Icechunk.
    Repository,
}

/// Extensions of single files, and of web pages.
const FILES: [&str; 14] =
    ["nc", "nc3", "nc4", "nc5", "nc6", "nca", "cdf", "netcdf", "h5", "hdf5", "he5", "hdf", "html", "htm"];
/// Extensions of trees.
const TREES: [&str; 4] = ["zarr", "zarr2", "zarr3", "nczarr"];
/// Extensions of repositories.
const REPOSITORIES: [&str; 1] = ["icechunk"];

impl NamedKind {
    /// What the name of an object states; the root of a store has the name of the store. `None` if the name has no known
    /// ending.
    pub fn of(object: &ObjectId) -> Option<Self> {
        let name = match object.key() {
            "" => object.store.as_str().trim_end_matches('/').rsplit('/').next().unwrap_or_default(),
            _ => object.name(),
        };
        let (_, ending) = name.rsplit_once('.')?;
        let is_any = |endings: &[&str]| endings.iter().any(|other| ending.eq_ignore_ascii_case(other));
        [(&FILES[..], Self::File), (&TREES, Self::Zarr), (&REPOSITORIES, Self::Repository)]
            .into_iter()
            .find_map(|(endings, kind)| is_any(endings).then_some(kind))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::StoreId;

    #[test]
    fn the_ending_of_a_name_states_the_kind() {
        for (store, key, kind) in [
            ("s3://bucket", "a/sst.nc", Some(NamedKind::File)),
            ("s3://bucket", "a/SST.NC4", Some(NamedKind::File)),
            ("s3://bucket", "a.nc/sst.zarr", Some(NamedKind::Zarr)),
            ("file:///data/sst.nczarr/", "", Some(NamedKind::Zarr)),
            ("s3://bucket", "hrrr/v0.1.0.icechunk", Some(NamedKind::Repository)),
            ("s3://bucket", "a.zarr/sst", None),
            ("s3://bucket", "v1.0", None),
            ("s3://bucket", "", None),
            ("memory://a", "zarr", None),
        ] {
            assert_eq!(NamedKind::of(&ObjectId::new(StoreId::new(store), key)), kind, "{store} {key}");
        }
    }
}
