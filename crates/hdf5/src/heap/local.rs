//! The heap of names of an old-style group (docs/spec/hdf5-netcdf4.md C.1).
use crate::address::FileAddress;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::ops::Range;
use std::sync::Arc;

/// The data segment of a local heap.
#[derive(Debug)]
pub(crate) struct LocalHeap {
    data: Bytes,
    /// Free blocks, in the order of their offsets.
    free: Vec<Range<u64>>,
}

impl LocalHeap {
    /// Reads the heap, once.
    pub(crate) fn load(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<Arc<Self>> {
        file.memo(view, addr, "hdf5 local heap", || {
            let header = file.parse(view, addr, FIRST_READ)?;
            let mut cursor = ByteCursor::new(&header, "a local heap");
            cursor.signature(b"HEAP")?;
            cursor.version(&[0])?;
            cursor.skip(3)?;
            let len = cursor.len(file.sizes)?;
            let first_free = cursor.len(file.sizes)?;
            let Some(segment) = cursor.addr(file.sizes)? else {
                return Ok((Self { data: Bytes::new(), free: Vec::new() }, 0));
            };
            let data = file.parse_all(view, segment, len)?;
            let data = Bytes::copy_from_slice(ByteCursor::new(&data, "a local heap").take_u64(len)?);
            let free = free_blocks(&data, first_free, file);
            let cost = data.len() + free.len() * size_of::<Range<u64>>();
            Ok((Self { data, free }, cost))
        })
    }

    /// The text at an offset, up to its NUL.
    pub(crate) fn text(&self, offset: u64) -> Result<&[u8], Error> {
        let rest = usize::try_from(offset).ok().and_then(|offset| self.data.get(offset..));
        let rest = rest.filter(|rest| !rest.is_empty()).ok_or_else(|| {
            let len = self.data.len();
            Error::malformed(format!("a name at offset {offset} of a local heap of {len} bytes"))
        })?;
        ByteCursor::new(rest, "a local heap").until_nul()
    }

    /// Whether a free block begins at or covers that offset: there is no name there any more.
    pub(crate) fn is_free(&self, offset: u64) -> bool {
        let before = self.free.partition_point(|block| block.start <= offset);
        before.checked_sub(1).and_then(|at| self.free.get(at)).is_some_and(|block| block.contains(&offset))
    }
}

/// The list of free blocks, as far as it can be followed: each contains the location of the next, and its own length.
fn free_blocks(data: &[u8], first: u64, file: &Hdf5File) -> Vec<Range<u64>> {
    let mut blocks = Vec::new();
    let mut next = first;
    // A block has at least two lengths, so a list with more blocks is circular.
    while next != NO_BLOCK && blocks.len() <= data.len() / (2 * usize::from(file.sizes.lengths)) {
        let Some(rest) = usize::try_from(next).ok().and_then(|start| data.get(start..)) else { break };
        let mut cursor = ByteCursor::new(rest, "a free block of a local heap");
        let (Ok(behind), Ok(len)) = (cursor.len(file.sizes), cursor.len(file.sizes)) else { break };
        blocks.push(next..next.saturating_add(len));
        next = behind;
    }
    blocks.sort_by_key(|block| block.start);
    blocks
}

/// Marks the end of a list of free blocks.
const NO_BLOCK: u64 = 1;

/// The header, and in most files the names too; a view may fetch a whole block.
const FIRST_READ: u64 = 512;

#[cfg(test)]
mod tests;
