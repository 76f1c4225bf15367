//! Direct blocks, which hold objects, and indirect blocks, which hold the locations of blocks.
use super::FractalHeap;
use super::table::TableSlot;
use crate::address::{FieldSizes, FileAddress};
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// The location of a direct block.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct DirectRef {
    pub(super) addr: FileAddress,
    /// Offset in the heap at which it begins.
    pub(super) offset: u64,
    /// Its size in the heap.
    pub(super) len: u64,
    pub(super) filtered: Option<FilteredBlock>,
}

/// How a direct block is filtered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) struct FilteredBlock {
    /// Its size in the file.
    stored_len: u64,
    /// Filters that were skipped.
    mask: u32,
}

impl FilteredBlock {
    pub(super) fn parse(cursor: &mut ByteCursor<'_>, sizes: FieldSizes) -> Result<Self, Error> {
        Ok(Self { stored_len: cursor.len(sizes)?, mask: cursor.u32()? })
    }
}

impl DirectRef {
    /// Its size in the file.
    pub(super) fn stored_len(&self) -> u64 {
        self.filtered.map_or(self.len, |filtered| filtered.stored_len)
    }
}

/// The entries of an indirect block.
#[derive(Debug)]
struct IndirectBlock {
    /// Offset in the heap, and number of rows, with which it was parsed.
    read_as: (u64, u16),
    entries: Vec<Option<BlockEntry>>,
}

/// A child of an indirect block.
#[derive(Debug, Clone, Copy)]
struct BlockEntry {
    addr: FileAddress,
    filtered: Option<FilteredBlock>,
}

impl FractalHeap {
    /// The direct block that covers an offset in the heap; each level has fewer rows than the one above.
    pub(super) fn descend(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        root: FileAddress,
        root_rows: u16,
        offset: u64,
    ) -> Step<DirectRef> {
        let (mut addr, mut rows, mut start) = (root, root_rows, 0);
        loop {
            let slot = self.table.slot(start, rows, offset)?;
            let block = self.indirect(view, file, addr, start, rows)?;
            let entry = block.entry(slot).ok_or_else(|| {
                let message = format!("offset {offset} of a heap lies in a block that was never made");
                file.at(addr, Error::malformed(message))
            })?;
            if slot.row < self.table.direct_rows() {
                let (offset, len, filtered) = (slot.offset, slot.len, entry.filtered);
                return Ok(DirectRef { addr: entry.addr, offset, len, filtered });
            }
            (addr, rows, start) = (entry.addr, self.table.rows_below(slot.row), slot.offset);
        }
    }

    fn indirect(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
        start: u64,
        rows: u16,
    ) -> Step<Arc<IndirectBlock>> {
        let read = || {
            let len = self.indirect_len(file, rows);
            let bytes = file.parse_all(view, addr, len)?;
            let block = self.parse_indirect(&bytes, file, start, rows)?;
            let cost = size_of::<IndirectBlock>() + block.entries.len() * size_of::<Option<BlockEntry>>();
            Ok((block, cost))
        };
        let found = file.memo(view, addr, "hdf5 indirect heap block", read)?;
        if found.read_as == (start, rows) {
            return Ok(found);
        }
        // Another parent describes it differently: the answer must not depend on which of them came first.
        let (block, _) = read().map_err(|stall| stall.map_error(|error| file.at(addr, error)))?;
        Ok(Arc::new(block))
    }

    fn indirect_len(&self, file: &Hdf5File, rows: u16) -> u64 {
        let (offsets, lengths) = (u64::from(file.sizes.offsets), u64::from(file.sizes.lengths));
        let direct = u64::from(rows.min(self.table.direct_rows())) * self.table.width;
        let filtered = if self.filters.is_empty() { 0 } else { lengths + 4 };
        let all = u64::from(rows) * self.table.width;
        5 + offsets + self.table.offset_width() as u64 + all * offsets + direct * filtered + 4
    }

    fn parse_indirect(
        &self,
        bytes: &[u8],
        file: &Hdf5File,
        start: u64,
        rows: u16,
    ) -> Result<IndirectBlock, Error> {
        let mut cursor = ByteCursor::new(bytes, "an indirect block of a fractal heap");
        cursor.signature(b"FHIB")?;
        self.block_prefix(&mut cursor, file, start)?;
        let direct = u64::from(self.table.direct_rows()) * self.table.width;
        let mut entries = Vec::new();
        for index in 0..u64::from(rows) * self.table.width {
            let addr = cursor.addr(file.sizes)?;
            let is_filtered = index < direct && !self.filters.is_empty();
            let filtered =
                if is_filtered { Some(FilteredBlock::parse(&mut cursor, file.sizes)?) } else { None };
            entries.push(addr.map(|addr| BlockEntry { addr, filtered }));
        }
        let summed = cursor.taken();
        if cursor.u32()? != lookup3(summed) {
            return Err(Error::malformed("the checksum of an indirect block of a fractal heap is wrong"));
        }
        Ok(IndirectBlock { read_as: (start, rows), entries })
    }

    /// The bytes of a direct block, unfiltered.
    pub(super) fn direct(&self, view: &dyn View, file: &Hdf5File, block: DirectRef) -> Step<Bytes> {
        let read = || {
            let bytes = match block.filtered {
                None => {
                    let bytes = file.parse_all(view, block.addr, block.len)?;
                    Bytes::copy_from_slice(ByteCursor::new(&bytes, "a heap block").take_u64(block.len)?)
                }
                Some(FilteredBlock { stored_len, mask }) => {
                    self.decoded(view, file, block.addr, stored_len, mask, block.len)?
                }
            };
            self.check_direct(&bytes, file, block.offset)?;
            let cost = bytes.len();
            Ok(((block, bytes), cost))
        };
        let found = file.memo(view, block.addr, "hdf5 direct heap block", read)?;
        if found.0 == block {
            return Ok(found.1.clone());
        }
        // Another parent describes it differently: the answer must not depend on which of them came first.
        let ((_, bytes), _) = read().map_err(|stall| stall.map_error(|error| file.at(block.addr, error)))?;
        Ok(bytes)
    }

    /// Filtered bytes, decoded to `len` bytes.
    pub(super) fn decoded(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
        stored: u64,
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        let (start, end) = file.span(addr, stored)?;
        view.limits().metadata_len(len, "a part of a fractal heap")?;
        view.decoded(&file.object, start..end, &self.filters, mask, len)
    }

    fn check_direct(&self, bytes: &[u8], file: &Hdf5File, start: u64) -> Result<(), Error> {
        let mut cursor = ByteCursor::new(bytes, "a direct block of a fractal heap");
        cursor.signature(b"FHDB")?;
        self.block_prefix(&mut cursor, file, start)?;
        if !self.checksums {
            return Ok(());
        }
        let at = cursor.position();
        let stored = cursor.u32()?;
        let mut summed = bytes.to_vec();
        summed.iter_mut().skip(at).take(4).for_each(|byte| *byte = 0);
        if stored != lookup3(&summed) {
            return Err(Error::malformed("the checksum of a direct block of a fractal heap is wrong"));
        }
        Ok(())
    }

    /// The common fields of all blocks after the signature.
    fn block_prefix(&self, cursor: &mut ByteCursor<'_>, file: &Hdf5File, start: u64) -> Result<(), Error> {
        cursor.version(&[0])?;
        let heap = cursor.addr(file.sizes)?;
        let offset = cursor.uint(self.table.offset_width())?;
        if heap == Some(self.addr) && offset == start {
            return Ok(());
        }
        Err(Error::malformed(format!(
            "a heap block at offset {offset} of the heap at {}, not at {start} of that at {}",
            heap.map_or(u64::MAX, |heap| heap.0),
            self.addr.0
        )))
    }
}

impl IndirectBlock {
    fn entry(&self, slot: TableSlot) -> Option<BlockEntry> {
        self.entries.get(usize::try_from(slot.index).ok()?).copied().flatten()
    }
}
