//! Objects that make a tree a Zarr dataset.
use ncirrus_layout::ObjectId;

/// Names of which a Zarr dataset has at least one at its root (docs/spec/nczarr.md 2.2).
pub(crate) const NAMES: [&str; 7] =
    ["zarr.json", ".zgroup", ".zarray", ".zattrs", ".nczarr", ".zdataset", ".zmetadata"];

/// Name of the creation marker: it says that a dataset is being created on a store without rename.
pub(crate) const CREATION: &str = ".ncirrus-begun";

/// All markers that a root may have.
pub(crate) fn below(root: &ObjectId) -> impl Iterator<Item = ObjectId> {
    NAMES.iter().map(|name| root.child(name))
}
