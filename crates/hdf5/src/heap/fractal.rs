//! The heap of links and attributes of new-style groups (docs/spec/hdf5-netcdf4.md C.3).
mod block;
mod header;
mod huge;
mod id;
mod table;

use self::block::DirectRef;
use self::huge::HugeObject;
use self::id::{HeapId, HeapIds};
use self::table::DoublingTable;
use crate::address::FileAddress;
use crate::file::{Hdf5File, StructureBudget};
use bytes::Bytes;
use ncirrus_layout::{Error, Stall, Step, View, join_each};
use ncirrus_model::CodecSpec;
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// A fractal heap with a known header.
#[derive(Debug)]
pub(crate) struct FractalHeap {
    addr: FileAddress,
    ids: HeapIds,
    table: DoublingTable,
    /// Whether direct blocks have a checksum.
    checksums: bool,
    root: Option<RootBlock>,
    /// The tree of huge objects.
    huge: Option<FileAddress>,
    /// The filters of blocks and huge objects.
    filters: Vec<CodecSpec>,
}

/// The outermost block.
#[derive(Debug, Clone, Copy)]
enum RootBlock {
    Direct(DirectRef),
    Indirect { addr: FileAddress, rows: u16 },
}

/// The location of an object.
#[derive(Debug)]
enum HeapObject {
    /// In the heap id itself.
    Tiny(Bytes),
    /// In a direct block.
    Managed { block: DirectRef, at: usize, len: usize },
    /// Separate.
    Huge(HugeObject),
}

impl FractalHeap {
    /// Reads the header, once.
    pub(crate) fn load(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<Arc<Self>> {
        file.memo(view, addr, "hdf5 fractal heap", || {
            let heap = header::read(view, file, addr)?;
            let cost = size_of::<Self>() + heap.filters.len() * 64;
            Ok((heap, cost))
        })
    }

    /// The objects of these heap ids, an error for each that is damaged; missing blocks are requested together.
    pub(crate) fn objects(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        ids: &[Bytes],
    ) -> Step<Vec<Result<Bytes, Error>>> {
        let located = join_each(ids, |id| self.locate(view, file, id))?;
        let blocks = self.blocks(view, file, &located)?;
        let mut budget = file.budget();
        let mut decoded = StructureBudget::new(view.limits().metadata_bytes);
        join_each(located, |object| match object? {
            HeapObject::Tiny(bytes) => Ok(bytes),
            HeapObject::Managed { block, at, len } => {
                let bytes = blocks.get(&block).cloned();
                let bytes = bytes.unwrap_or_else(|| Err(Error::internal("a heap block is missing")))?;
                // Offsets count from the start of the block, its header included (docs/spec/hdf5-netcdf4.md C.3).
                let end = at.checked_add(len).filter(|end| *end <= bytes.len());
                let damaged = || {
                    let whole = bytes.len();
                    Error::malformed(format!("{len} bytes at {at} of a heap block of {whole} bytes"))
                };
                let end = end.ok_or_else(|| file.at(block.addr, damaged()))?;
                Ok(bytes.slice(at..end))
            }
            HeapObject::Huge(huge) => {
                budget.take(huge.stored_len())?;
                decoded.take(huge.len())?;
                self.huge_object(view, file, huge)
            }
        })
    }

    /// The direct blocks that hold these objects.
    fn blocks(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        objects: &[Result<HeapObject, Error>],
    ) -> Step<HashMap<DirectRef, Result<Bytes, Error>>> {
        let mut seen = HashSet::new();
        let wanted: Vec<DirectRef> = objects
            .iter()
            .filter_map(|object| match object {
                Ok(HeapObject::Managed { block, .. }) => Some(*block),
                _ => None,
            })
            .filter(|block| seen.insert(*block))
            .collect();
        let mut budget = file.budget();
        let mut decoded = StructureBudget::new(view.limits().metadata_bytes);
        let read = join_each(&wanted, |block| {
            budget.take(block.stored_len())?;
            decoded.take(block.len)?;
            self.direct(view, file, *block)
        })?;
        Ok(wanted.into_iter().zip(read).collect())
    }

    /// The location of the object with a heap id.
    fn locate(&self, view: &dyn View, file: &Hdf5File, id: &[u8]) -> Step<HeapObject> {
        let located = match self.ids.parse(id, file)? {
            HeapId::Tiny(bytes) => Ok(HeapObject::Tiny(Bytes::copy_from_slice(bytes))),
            HeapId::Huge(huge) => Ok(HeapObject::Huge(huge)),
            HeapId::HugeKey(key) => self.find_huge(view, file, key).map(HeapObject::Huge),
            HeapId::Managed { offset, len } => self.locate_managed(view, file, offset, len),
        };
        located.map_err(|stall: Stall| stall.map_error(|error| file.at(self.addr, error)))
    }

    fn locate_managed(&self, view: &dyn View, file: &Hdf5File, offset: u64, len: u64) -> Step<HeapObject> {
        let block = match self.root {
            None => return Err(Error::malformed("an object of an empty heap").into()),
            Some(RootBlock::Direct(block)) => block,
            Some(RootBlock::Indirect { addr, rows }) => self.descend(view, file, addr, rows, offset)?,
        };
        let at = offset.checked_sub(block.offset).and_then(|at| usize::try_from(at).ok());
        let (Some(at), Ok(len)) = (at, usize::try_from(len)) else {
            return Err(Error::malformed(format!("an object at offset {offset} of a heap")).into());
        };
        Ok(HeapObject::Managed { block, at, len })
    }
}

#[cfg(test)]
mod tests;
