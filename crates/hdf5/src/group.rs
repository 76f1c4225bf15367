//! Links of groups, old and new, and following them (docs/spec/hdf5-netcdf4.md C.1, C.2).
mod follow;
mod links;

pub(crate) use follow::{external_candidates, follow, lookup};
pub(crate) use links::{dense_links, link_name, links};

use crate::address::FileAddress;
use ncirrus_layout::Error;

/// The links of a group.
#[derive(Debug)]
pub(crate) struct GroupLinks {
    /// In creation order if it is tracked, otherwise by name.
    pub(crate) list: Vec<GroupLink>,
    /// Indices of the list, by name.
    by_name: Vec<usize>,
    /// Links that cannot be read, links named twice.
    pub(crate) losses: Vec<Error>,
    /// Whether the order in which they were created is known.
    pub(crate) is_tracked: bool,
}

impl GroupLinks {
    /// The link of that name.
    pub(crate) fn find(&self, name: &str) -> Option<&GroupLink> {
        let name_at = |index: &usize| self.list.get(*index).map_or("", |link| link.name.as_str());
        let found = self.by_name.binary_search_by(|index| name_at(index).cmp(name)).ok()?;
        self.list.get(*self.by_name.get(found)?)
    }
}

/// A named link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct GroupLink {
    /// The name; bytes that are not UTF-8 are escaped as `\xNN`.
    pub(crate) name: String,
    pub(crate) target: LinkTarget,
}

/// The target of a link.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum LinkTarget {
    /// To an object of the same file.
    Hard(FileAddress),
    /// To a path, from the group that holds the link or from the root.
    Soft(String),
    /// To a path in another file.
    External { file: String, path: String },
    /// Of a type that only its maker can follow (65 to 255).
    Unknown(u8),
}

#[cfg(test)]
mod tests;

/// Prefix of the name of a dataset that is a variable named like a dimension without being its coordinate variable
/// (docs/spec/hdf5-netcdf4.md H.4).
pub(crate) const NO_COORDINATE: &str = "_nc4_non_coord_";

/// The name of a dataset's variable.
pub(crate) fn variable_name(name: &str) -> &str {
    name.strip_prefix(NO_COORDINATE).filter(|rest| !rest.is_empty()).unwrap_or(name)
}
