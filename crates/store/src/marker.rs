//! Objects that make a tree a Zarr dataset.
use ncirrus_layout::ObjectId;

/// Names of which a Zarr dataset has at least one at its root (docs/spec/nczarr.md 2.2).
pub(crate) const NAMES: [&str; 7] =
    ["zarr.json", ".zgroup", ".zarray", ".zattrs", ".nczarr", ".zdataset", ".zmetadata"];

/// The shallowest prefix that has a marker, of all keys (docs/spec/nczarr.md 10.2). Several arrays side by side are members of
/// the folder around them, which is not a group.
pub(crate) fn shallowest<'a>(keys: impl Iterator<Item = &'a str>) -> Option<&'a str> {
    let split = |key: &'a str| key.rsplit_once('/').unwrap_or(("", key));
    let depth = |prefix: &str| if prefix.is_empty() { 0 } else { prefix.split('/').count() };
    let mut min: Option<(usize, &str)> = None;
    let (mut arrays, mut others) = (Vec::new(), false);
    for (prefix, name) in keys.map(split).filter(|(_, name)| NAMES.contains(name)) {
        let depth = depth(prefix);
        if min.is_none_or(|(known, _)| depth < known) {
            (min, arrays, others) = (Some((depth, prefix)), Vec::new(), false);
        }
        if min.is_some_and(|(known, _)| depth == known) {
            match name {
                ".zarray" => arrays.push(prefix),
                ".zattrs" => {}
                _ => others = true,
            }
        }
    }
    let parent = |prefix: &'a str| prefix.rsplit_once('/').map_or("", |(parent, _)| parent);
    let (_, first) = min?;
    let are_siblings = arrays.len() > 1 && arrays.iter().all(|array| parent(array) == parent(first));
    Some(if are_siblings && !others { parent(first) } else { first })
}

/// Name of the creation marker: it says that a dataset is being created on a store without rename.
pub(crate) const CREATION: &str = ".ncirrus-begun";

/// All markers that a root may have.
pub(crate) fn below(root: &ObjectId) -> impl Iterator<Item = ObjectId> {
    NAMES.iter().map(|name| root.child(name))
}
