//! The contents of a zip file: its directory, checked.
use super::format::{self, DirectoryEnd, EntryHeader, LOCAL_LEN, ZipCursor};
use super::methods;
use crate::tree::KeyTree;
use crate::{key, marker};
use ncirrus_layout::{Error, Limits, Result};
use std::collections::BTreeMap;
use std::sync::OnceLock;

/// The contents of a zip file.
#[derive(Debug)]
pub(super) struct ZipDirectory {
    pub(super) entries: KeyTree<ZipEntry>,
    /// Entries for folders, with a trailing slash.
    pub(super) folders: BTreeMap<String, EntryHeader>,
    /// Where the directory starts: all contents end before it.
    pub(super) start: u64,
    pub(super) warnings: Vec<String>,
}

/// An entry, which [`check_readable`] may reject.
#[derive(Debug)]
pub(super) struct ZipEntry {
    pub(super) header: EntryHeader,
    /// Offset of the next header: the content ends before it.
    pub(super) bound: u64,
    /// Offset of the content, once its local header has been read.
    pub(super) content: OnceLock<u64>,
}

/// Maximum number of warnings that are kept; a hostile file could cause millions.
const MAX_WARNINGS: usize = 100;

impl ZipDirectory {
    /// Reads the headers of a directory. Names that could leave the store are skipped; of entries with the same name
    /// the last one wins.
    pub(super) fn read(bytes: &[u8], end: DirectoryEnd, limits: &Limits) -> Result<Self> {
        let mut found = Self {
            entries: KeyTree::default(),
            folders: BTreeMap::new(),
            start: end.offset,
            warnings: Vec::new(),
        };
        let mut reader = ZipCursor(bytes);
        let mut starts = Vec::new();
        while !reader.0.is_empty() {
            let (name, header) = format::read_central(&mut reader)?;
            limits.count(starts.len() as u64 + 1, "directory of the zip file")?;
            let header = found.shifted(header, name.len(), end.shift)?;
            starts.push((header.offset, min_end(&header, name.len())));
            found.take(name, header);
        }
        if starts.len() as u64 != end.count && (starts.len() as u64 ^ end.count) & 0xffff != 0 {
            let message = format!("zip file declares {} entries but lists {}", end.count, starts.len());
            return Err(Error::malformed(message));
        }
        found.set_bounds(starts)?;
        Ok(found)
    }

    /// The shallowest prefix that has a marker of a Zarr dataset (docs/spec/nczarr.md 10.2); else the only entry, so
    /// that a driver can look at it; else the root.
    pub(super) fn root_prefix(&self) -> String {
        let shallowest = marker::shallowest(self.entries.iter().map(|(key, _)| key));
        let only = self.entries.iter().next().filter(|_| self.entries.len() == 1).map(|(key, _)| key);
        shallowest.or(only).unwrap_or_default().to_owned()
    }

    fn shifted(&self, header: EntryHeader, name_len: usize, shift: u64) -> Result<EntryHeader> {
        let offset = header.offset.checked_add(shift);
        let moved = offset.map(|offset| EntryHeader { offset, ..header });
        moved
            .filter(|moved| min_end(moved, name_len).is_some_and(|end| end <= self.start))
            .ok_or_else(|| Error::malformed("content of a zip entry lies outside the file"))
    }

    fn take(&mut self, name: &[u8], header: EntryHeader) {
        let Some(name) = std::str::from_utf8(name).ok().filter(|name| is_safe(name)) else {
            return self.warn(format!(
                "zip entry {:?} was skipped: not a plain path",
                String::from_utf8_lossy(name)
            ));
        };
        if name.ends_with('/') {
            self.folders.insert(name.to_owned(), header);
            return;
        }
        self.entries.insert(name, ZipEntry { header, bound: self.start, content: OnceLock::new() });
    }

    fn warn(&mut self, warning: String) {
        if self.warnings.len() < MAX_WARNINGS {
            self.warnings.push(warning);
        }
    }

    /// Entries must not overlap: otherwise a small file could expand to any amount of data. Duplicates of one entry
    /// are merged.
    fn set_bounds(&mut self, mut starts: Vec<(u64, Option<u64>)>) -> Result<()> {
        starts.sort_unstable();
        starts.dedup();
        let overlap =
            starts.iter().zip(starts.iter().skip(1)).find(|((_, end), (next, _))| *end > Some(*next));
        if let Some(((at, _), _)) = overlap {
            return Err(Error::malformed("entries of the zip file overlap").at_offset(*at));
        }
        for entry in self.entries.values_mut() {
            let next = starts.partition_point(|(start, _)| *start <= entry.header.offset);
            entry.bound = starts.get(next).map_or(self.start, |(start, _)| *start);
        }
        Ok(())
    }
}

/// The earliest end of an entry.
fn min_end(header: &EntryHeader, name_len: usize) -> Option<u64> {
    header.offset.checked_add((LOCAL_LEN + name_len) as u64)?.checked_add(header.compressed)
}

/// Checks that the content of an entry can be read: one that is listed and cannot be read is an error where it is
/// needed, never an entry that does not exist.
pub(super) fn check_readable(header: &EntryHeader) -> Result<()> {
    // Deflate produces at most 258 bytes from 2 bits.
    let max = header.compressed.saturating_mul(1032).saturating_add(1032);
    match header.method {
        _ if header.flags & format::ENCRYPTED != 0 => Err(Error::unsupported("zip entry is encrypted")),
        _ if header.flags & format::PATCH != 0 => {
            Err(Error::unsupported("zip entry is a patch of another file"))
        }
        _ if header.needed > format::LAST_VERSION => Err(Error::unsupported(format!(
            "zip entry needs version {}.{} of the format",
            header.needed / 10,
            header.needed % 10
        ))),
        format::STORED if header.size != header.compressed => {
            Err(Error::malformed("zip entry is stored, but its sizes differ"))
        }
        format::DEFLATED if header.size > max => {
            Err(Error::malformed("zip entry declares more bytes than can be compressed into it"))
        }
        format::STORED | format::DEFLATED => Ok(()),
        method if methods::is_known(method) => Ok(()),
        method => Err(methods::unknown(method)),
    }
}

/// Whether a name stays below the root, on every platform. A backslash is an ordinary character where file names may
/// contain it, but never allowed in a path that leads up.
fn is_safe(name: &str) -> bool {
    let path = name.strip_suffix('/').unwrap_or(name);
    !name.contains('\0')
        && path.split('/').all(key::is_name)
        && !path.split(['/', '\\']).any(|part| part == "..")
}
