//! An open file, and reading its structures.
use crate::address::{FieldSizes, FileAddress};
use bytes::Bytes;
use ncirrus_layout::{Error, ObjectBytes, ObjectId, Step, Tag, View, Want};
use std::sync::Arc;

/// An open file: the contents of its superblock and the superblock's extension.
#[derive(Debug)]
pub(crate) struct Hdf5File {
    /// The object that holds it.
    pub(crate) object: ObjectId,
    /// The object's tag when the superblock was read.
    pub(crate) tag: Tag,
    /// Actual size of the object in bytes.
    pub(crate) size: u64,
    /// Offset in the object of address 0: where the signature was found.
    pub(crate) base: u64,
    pub(crate) sizes: FieldSizes,
    /// Version of the superblock.
    pub(crate) version: u8,
    /// Object header of the root group.
    pub(crate) root: FileAddress,
    /// Half the children of a version 1 B-tree node of groups, and of chunks; half the entries of a symbol node.
    pub(crate) ranks: NodeRanks,
    /// The table of shared messages.
    pub(crate) shared: Option<SharedTable>,
    /// Page size, if metadata are stored in pages.
    pub(crate) page: Option<u64>,
    /// Bytes that it should have, and has not.
    pub(crate) missing: u64,
    /// Possible problems: not closed by its writer.
    pub(crate) warnings: Vec<String>,
    /// Faults of the file as a whole that do not prevent reading the rest: truncation, a damaged extension.
    pub(crate) losses: Vec<Error>,
}

/// The location of the table of shared messages (docs/spec/hdf5-netcdf4.md B.6).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct SharedTable {
    pub(crate) addr: FileAddress,
    /// Number of indexes in it.
    pub(crate) indexes: u8,
}

/// Half the capacity of version 1 B-tree nodes ("K").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct NodeRanks {
    pub(crate) group_leaf: u16,
    pub(crate) group_internal: u16,
    pub(crate) chunk: u16,
}

impl Default for NodeRanks {
    fn default() -> Self {
        Self { group_leaf: 4, group_internal: 16, chunk: 32 }
    }
}

/// Remaining budget for structures of one kind. Those of a valid file do not overlap: in total they are not larger
/// than the file, so what is built from them is bounded.
#[derive(Debug)]
pub(crate) struct StructureBudget {
    left: u64,
}

impl StructureBudget {
    pub(crate) fn new(left: u64) -> Self {
        Self { left }
    }

    /// Takes the size of one more structure.
    pub(crate) fn take(&mut self, len: u64) -> Result<(), Error> {
        let left = self.left.checked_sub(len);
        self.left = left.ok_or_else(|| {
            Error::malformed(format!(
                "{len} more bytes of structures where there is room for {}: they overlap",
                self.left
            ))
        })?;
        Ok(())
    }
}

impl Hdf5File {
    /// The budget for structures of one kind.
    pub(crate) fn budget(&self) -> StructureBudget {
        StructureBudget::new(self.size)
    }

    /// Exactly these bytes, and nothing around them: for structures of known length that may be isolated, such as the
    /// nodes of a chunk index.
    pub(crate) fn exact(&self, view: &dyn View, addr: FileAddress, len: u64) -> Step<Bytes> {
        let (start, end) = self.span(addr, len)?;
        let blob = self.blob(view, Want::Range(start..end))?;
        if (blob.bytes.len() as u64) < len {
            return Err(self.at(addr, Error::malformed("the file ends within a structure")).into());
        }
        Ok(blob.bytes)
    }

    /// At least these bytes, for structures among others: more may be fetched. Fewer at the end of the file, but at
    /// least one.
    pub(crate) fn parse(&self, view: &dyn View, addr: FileAddress, len: u64) -> Step<Bytes> {
        let (start, _) = self.span(addr, 1)?;
        let len = view.limits().metadata_len(len, "a structure").map_err(|error| self.at(addr, error))?;
        let end = start.saturating_add(len as u64).min(self.size);
        Ok(self.blob(view, Want::Parse(start..end))?.bytes)
    }

    /// All of these bytes, as [`parse`](Self::parse).
    pub(crate) fn parse_all(&self, view: &dyn View, addr: FileAddress, len: u64) -> Step<Bytes> {
        self.span(addr, len)?;
        let bytes = self.parse(view, addr, len)?;
        if (bytes.len() as u64) < len {
            return Err(self.at(addr, Error::malformed("the file ends within a structure")).into());
        }
        Ok(bytes)
    }

    /// The finished part of that kind at that place, computed once.
    pub(crate) fn memo<T: Send + Sync + 'static>(
        &self,
        view: &dyn View,
        addr: FileAddress,
        kind: &'static str,
        compute: impl FnOnce() -> Step<(T, usize)>,
    ) -> Step<Arc<T>> {
        if let Some(found) = view.memo().find(&self.object, Some(&self.tag), addr.0, kind) {
            return Ok(found);
        }
        let (value, cost) = compute().map_err(|stall| stall.map_error(|error| self.at(addr, error)))?;
        Ok(view.memo().keep(&self.object, Some(&self.tag), addr.0, kind, value, cost))
    }

    /// The location of these bytes in the object; checked against its size before anything is allocated.
    pub(crate) fn span(&self, addr: FileAddress, len: u64) -> Result<(u64, u64), Error> {
        let start = self.base.checked_add(addr.0);
        let end = start.and_then(|start| start.checked_add(len));
        match (start, end) {
            (Some(start), Some(end)) if end <= self.size => Ok((start, end)),
            _ => Err(self.at(
                addr,
                Error::malformed(format!(
                    "{len} bytes at address {} lie beyond the end of the file of {} bytes",
                    addr.0, self.size
                )),
            )),
        }
    }

    /// Adds the place to an error.
    pub(crate) fn at(&self, addr: FileAddress, error: Error) -> Error {
        error.at_object(&self.object).at_offset(self.base.saturating_add(addr.0))
    }

    fn blob(&self, view: &dyn View, want: Want) -> Step<ObjectBytes> {
        let blob = view.read(&self.object, want)?;
        Ok(blob.ok_or_else(|| Error::not_found("no such file").at_object(&self.object))?)
    }
}
