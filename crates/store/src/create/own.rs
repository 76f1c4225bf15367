//! Which keys below the root of a Zarr dataset are its own: those that the format defines. Foreign objects between
//! them stay when the dataset is removed or replaced.
use super::beside::FOLDER;
use crate::{marker, temporary};
use std::collections::BTreeSet;

/// Names of the objects that describe arrays.
const OF_ARRAYS: [&str; 5] = [".zarray", "zarr.json", ".nczvar", ".nczarray", ".zattrs"];
/// Names of the other objects with metadata (docs/spec/nczarr.md 2.2, 7).
const OF_GROUPS: [&str; 12] = [
    ".zgroup",
    ".zmetadata",
    ".zdataset",
    ".nczarr",
    ".nczgroup",
    ".nczattr",
    ".nczattrs",
    ".zdims",
    ".ztypedefs",
    ".zattr_type",
    ".zattr",
    marker::CREATION,
];

/// The keys of a dataset, as far as needed to tell its own from others.
pub(super) struct OwnKeys<'a> {
    /// Folders that may be arrays.
    arrays: BTreeSet<&'a str>,
    /// Whether one document at the root describes all arrays, which have none of their own.
    is_consolidated: bool,
}

impl<'a> OwnKeys<'a> {
    /// The keys below the root.
    pub(super) fn of(keys: impl Iterator<Item = &'a str>) -> Self {
        let (mut arrays, mut is_consolidated) = (BTreeSet::new(), false);
        for key in keys {
            let (folder, name) = parts(key);
            is_consolidated |= key == ".zmetadata";
            if OF_ARRAYS.contains(&name) {
                arrays.insert(folder);
            }
        }
        Self { is_consolidated: is_consolidated && arrays.is_empty(), arrays }
    }

    /// Whether a key below the root is one that the format defines.
    pub(super) fn has(&self, key: &str) -> bool {
        if key.strip_prefix(FOLDER).is_some_and(|rest| rest.starts_with('/')) {
            return true;
        }
        let (_, name) = parts(key);
        let is_metadata = OF_ARRAYS.contains(&name) || OF_GROUPS.contains(&name);
        // Consoles create folder markers: objects that end in a slash.
        let is_records = self.is_consolidated && is_record_file(name);
        is_metadata || name.is_empty() || temporary::is_temporary(name) || is_records || self.is_chunk(key)
    }

    fn is_chunk(&self, key: &str) -> bool {
        let mut rest = key;
        loop {
            let (folder, name) = parts(rest);
            if !is_place(name) {
                return false;
            }
            if self.arrays.contains(folder) || self.is_consolidated {
                return true;
            }
            if folder.is_empty() {
                return false;
            }
            rest = folder;
        }
    }
}

/// Whether a name is the last segment of a chunk's key, or a part of it: numbers, with or without the `c` of
/// version 3.
fn is_place(name: &str) -> bool {
    let rest = name.strip_prefix('c').unwrap_or(name);
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    name == "c" || (!rest.is_empty() && rest.trim_start_matches('.').split('.').all(is_number))
}

/// Whether a name is that of a file with references in Parquet (docs/spec/kerchunk-parquet.md).
fn is_record_file(name: &str) -> bool {
    let number = name.strip_prefix("refs.").and_then(|rest| rest.strip_suffix(".parq"));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit()))
}

/// The folder, without a trailing slash, and the name.
fn parts(key: &str) -> (&str, &str) {
    key.rsplit_once('/').unwrap_or(("", key))
}

/// Whether a key can be one of a Zarr dataset, by its name alone.
pub(super) fn may_be_own(key: &str) -> bool {
    let (_, name) = parts(key);
    let is_metadata = OF_ARRAYS.contains(&name) || OF_GROUPS.contains(&name);
    is_metadata || name.is_empty() || is_place(name) || is_record_file(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_with_references_are_own_beside_a_consolidated_document() {
        let keys = [".zmetadata", "v/refs.0.parq", "g/v/refs.12.parq", "v/refs.x.parq", "refs.txt"];
        let own = OwnKeys::of(keys.into_iter());
        assert_eq!(keys.map(|key| own.has(key)), [true, true, true, false, false]);
        let own = OwnKeys::of([".zgroup", "v/.zarray"].into_iter());
        assert!(!own.has("v/refs.0.parq"));
    }

    #[test]
    fn metadata_and_chunks_of_arrays_are_the_datasets_own() {
        let keys = [
            (".zgroup", true),
            ("v/.zarray", true),
            ("v/.zattrs", true),
            ("v/0.0", true),
            ("v/1/2", true),
            ("g/w/zarr.json", true),
            ("g/w/c/0/1", true),
            ("g/w/c", true),
            ("g/w/c.0.1", true),
            ("g/w/readme", false),
            ("notes.txt", false),
            ("other/notes.txt", false),
            ("other/12", false),
            ("12", false),
            ("v/0.0.bak", false),
            ("v/.0.0.4711-0123456789abcdef.ncirrus-tmp", true),
            ("folder/", true),
            (".ncirrus-new/17-0123456789abcdef/tree/v/0", true),
        ];
        let own = OwnKeys::of(keys.iter().map(|(key, _)| *key));
        for (key, is_own) in keys {
            assert_eq!(own.has(key), is_own, "{key}");
        }
        let consolidated = OwnKeys::of([".zmetadata", "v/0"].into_iter());
        assert!(consolidated.has("v/0") && !consolidated.has("v/letter"));
    }
}
