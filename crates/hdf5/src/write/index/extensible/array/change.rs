//! Storing chunks in an extensible array.
use super::{ArrayStatistics, ExtensibleArray, LoadedBlocks};
use crate::address::{FieldSizes, FileAddress};
use crate::layout::ElementHome;
use crate::write::index::IndexGrid;
use crate::write::index::array::{CHECKSUM_LEN, ChecksummedBlock, begin, blank, prefix_len};
use crate::write::index::extensible::ChunksByRun;
use crate::write::out::ByteSink;
use crate::write::{FilePatch, StoredChunk, StructureChange};
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use std::collections::BTreeMap;

/// Structures that are being changed.
struct ArrayChange<'a> {
    array: &'a ExtensibleArray,
    grid: &'a IndexGrid,
    place: &'a mut dyn FnMut(u64) -> FileAddress,
    index: ChecksummedBlock,
    is_new_index: bool,
    index_changed: bool,
    supers: BTreeMap<u32, ChangedSuperBlock>,
    statistics: ArrayStatistics,
    change: StructureChange,
}

struct ChangedSuperBlock {
    block: ChecksummedBlock,
    is_new: bool,
    is_changed: bool,
}

impl ExtensibleArray {
    /// Stores chunks in the array.
    pub(in crate::write::index) fn change(
        &self,
        grid: &IndexGrid,
        loaded: LoadedBlocks,
        runs: &ChunksByRun<'_>,
        end: u64,
        place: &mut dyn FnMut(u64) -> FileAddress,
    ) -> Result<StructureChange> {
        let LoadedBlocks { mut statistics, index, supers, runs: mut old } = loaded;
        let old_end = statistics.end;
        // The array never gets shorter.
        statistics.end = statistics.end.max(end);
        let is_new_index = index.is_none();
        let index = match index {
            Some(index) => index,
            None => {
                statistics.elements = statistics.elements.saturating_add(self.shape.in_index());
                self.new_index(grid, place(self.index_len() + CHECKSUM_LEN))?
            }
        };
        let supers = supers
            .into_iter()
            .map(|(number, block)| (number, ChangedSuperBlock { block, is_new: false, is_changed: false }));
        let mut changing = ArrayChange {
            array: self,
            grid,
            place,
            index,
            is_new_index,
            index_changed: is_new_index,
            supers: supers.collect(),
            statistics,
            change: StructureChange::default(),
        };
        for (home, chunks) in runs {
            changing.put(*home, old.remove(home), chunks)?;
        }
        changing.finish(old_end)
    }

    fn new_index(&self, grid: &IndexGrid, addr: FileAddress) -> Result<ChecksummedBlock> {
        let mut out = begin(b"EAIB", grid);
        out.addr(Some(self.header), self.sizes);
        blank(&mut out, grid, self.shape.in_index(), self.sizes)?;
        for _ in 0..self.shape.direct_blocks() + self.shape.super_blocks() {
            out.addr(None, self.sizes);
        }
        Ok(ChecksummedBlock::new(addr, out))
    }

    fn new_super(&self, grid: &IndexGrid, number: u32, addr: FileAddress) -> Result<ChecksummedBlock> {
        let mut out = begin(b"EASB", grid);
        out.addr(Some(self.header), self.sizes).uint(self.shape.start_of(number), self.offset_width());
        let bitmap = usize::try_from(self.bitmap_len(number));
        out.zeros(bitmap.map_err(|_| Error::limit("too many pages of chunks"))?);
        for _ in 0..self.shape.blocks_of(number) {
            out.addr(None, self.sizes);
        }
        Ok(ChecksummedBlock::new(addr, out))
    }

    /// The prefix of a data block whose first element is that one; its elements too, if it has no pages.
    fn new_data(
        &self,
        grid: &IndexGrid,
        addr: FileAddress,
        start: u64,
        elements: u64,
    ) -> Result<ChecksummedBlock> {
        let mut out = begin(b"EADB", grid);
        out.addr(Some(self.header), self.sizes).uint(start, self.offset_width());
        blank(&mut out, grid, elements, self.sizes)?;
        Ok(ChecksummedBlock::new(addr, out))
    }

    fn offset_width(&self) -> usize {
        usize::try_from(self.shape.offset_len()).unwrap_or(8).min(8)
    }

    fn header_patch(&self, grid: &IndexGrid, statistics: &ArrayStatistics, index: FileAddress) -> FilePatch {
        let mut out = begin(b"EAHD", grid);
        out.uint(self.each, 1);
        // Each came from one byte.
        self.shape.parameters().iter().for_each(|parameter| _ = out.uint(*parameter, 1));
        let ArrayStatistics { super_blocks, super_bytes, data_blocks, data_bytes, end, elements } =
            *statistics;
        for number in [super_blocks, super_bytes, data_blocks, data_bytes, end, elements] {
            out.length(number, self.sizes);
        }
        out.addr(Some(index), self.sizes);
        FilePatch { addr: self.header, body: out.checksum().finish() }
    }
}

impl ArrayChange<'_> {
    /// Stores chunks in a run; `old` is its previous content.
    fn put(
        &mut self,
        home: ElementHome,
        old: Option<ChecksummedBlock>,
        chunks: &[(usize, &StoredChunk)],
    ) -> Result<()> {
        let (array, sizes) = (self.array, self.array.sizes);
        if let Some(mut block) = old {
            let is_page =
                matches!(home, ElementHome::Super { number, .. } if array.shape.pages_of(number) > 0);
            block.put_chunks(self.grid, sizes, if is_page { 0 } else { array.behind_offset() }, chunks)?;
            self.change.then.push(block.patch());
            return Ok(());
        }
        match home {
            ElementHome::Index => {
                self.index_changed = true;
                self.index.put_chunks(self.grid, sizes, prefix_len(sizes), chunks)
            }
            ElementHome::Direct { block, count } => {
                let number = array.shape.super_of_direct(block);
                // HDF5 counts all data blocks before it, not those of its super block.
                let start = array.shape.start_of(number).saturating_add(block.saturating_mul(count));
                let addr = self.new_data_block(number);
                let mut data = array.new_data(self.grid, addr, start, count)?;
                data.put_chunks(self.grid, sizes, array.behind_offset(), chunks)?;
                self.change.fresh.push(data.patch());
                self.index_changed = true;
                self.index.put(array.slot_in_index(home), &address(addr, sizes))
            }
            ElementHome::Super { number, block, page } => {
                self.super_block(number)?;
                if array.shape.pages_of(number) > 0 {
                    return self.new_page((number, block, page), chunks);
                }
                let addr = self.new_data_block(number);
                let mut data = array.new_data(
                    self.grid,
                    addr,
                    self.start(number, block),
                    array.shape.elements_of(number),
                )?;
                data.put_chunks(self.grid, sizes, array.behind_offset(), chunks)?;
                self.change.fresh.push(data.patch());
                self.change_super(number)?.put(array.slot_in_super(number, block), &address(addr, sizes))
            }
        }
    }

    /// Writes a new page, in a data block that may be new.
    fn new_page(
        &mut self,
        (number, block, page): (u32, u64, u64),
        chunks: &[(usize, &StoredChunk)],
    ) -> Result<()> {
        let (array, sizes) = (self.array, self.array.sizes);
        let slot = array.slot_in_super(number, block);
        let addr = match self.change_super(number)?.addr_at(slot, sizes)? {
            Some(addr) => addr,
            None => {
                let addr = self.new_data_block(number);
                let front = array.new_data(self.grid, addr, self.start(number, block), 0)?;
                self.change.fresh.push(front.patch());
                // The file must reach to the end of the last page, written or not.
                let last = array.page_at(number, addr, array.shape.pages_of(number).saturating_sub(1))?;
                self.change.fresh.push(self.blank_page(number, last)?.patch());
                self.change_super(number)?.put(slot, &address(addr, sizes))?;
                addr
            }
        };
        let mut written = self.blank_page(number, array.page_at(number, addr, page)?)?;
        written.put_chunks(self.grid, sizes, 0, chunks)?;
        self.change.fresh.retain(|patch| patch.addr != written.addr);
        self.change.fresh.push(written.patch());
        self.change_super(number)?.set_bit(array.behind_offset(), array.bit_of(number, block, page))
    }

    fn blank_page(&self, number: u32, addr: FileAddress) -> Result<ChecksummedBlock> {
        let mut out = ByteSink::new();
        blank(&mut out, self.grid, self.array.page_len(number), self.array.sizes)?;
        Ok(ChecksummedBlock::new(addr, out))
    }

    /// Allocates a data block.
    fn new_data_block(&mut self, number: u32) -> FileAddress {
        let len = self.array.data_len(number);
        self.statistics.data_blocks = self.statistics.data_blocks.saturating_add(1);
        self.statistics.data_bytes = self.statistics.data_bytes.saturating_add(len);
        let elements = self.array.shape.elements_of(number);
        self.statistics.elements = self.statistics.elements.saturating_add(elements);
        (self.place)(len)
    }

    /// The first element of a data block below a super block.
    fn start(&self, number: u32, block: u64) -> u64 {
        let shape = &self.array.shape;
        shape.start_of(number).saturating_add(block.saturating_mul(shape.elements_of(number)))
    }

    /// Creates a super block if there is none.
    fn super_block(&mut self, number: u32) -> Result<()> {
        if self.supers.contains_key(&number) {
            return Ok(());
        }
        let array = self.array;
        let len = array.super_len(number) + CHECKSUM_LEN;
        let addr = (self.place)(len);
        let block = array.new_super(self.grid, number, addr)?;
        self.statistics.super_blocks = self.statistics.super_blocks.saturating_add(1);
        self.statistics.super_bytes = self.statistics.super_bytes.saturating_add(len);
        self.supers.insert(number, ChangedSuperBlock { block, is_new: true, is_changed: true });
        self.index_changed = true;
        let slot = array.slot_in_index(ElementHome::Super { number, block: 0, page: 0 });
        self.index.put(slot, &address(addr, array.sizes))
    }

    fn change_super(&mut self, number: u32) -> Result<&mut ChecksummedBlock> {
        let found =
            self.supers.get_mut(&number).ok_or_else(|| Error::internal("a super block is missing"))?;
        found.is_changed = true;
        Ok(&mut found.block)
    }

    fn finish(mut self, old_end: u64) -> Result<StructureChange> {
        for found in self.supers.values().filter(|found| found.is_changed) {
            let patches = if found.is_new { &mut self.change.fresh } else { &mut self.change.then };
            patches.push(found.block.patch());
        }
        if self.index_changed {
            let patches = if self.is_new_index { &mut self.change.fresh } else { &mut self.change.then };
            patches.push(self.index.patch());
        }
        let is_larger = self.statistics.end != old_end || !self.change.fresh.is_empty();
        if is_larger || self.is_new_index {
            let header = self.array.header_patch(self.grid, &self.statistics, self.index.addr);
            self.change.then.push(header);
        }
        Ok(self.change)
    }
}

fn address(addr: FileAddress, sizes: FieldSizes) -> Bytes {
    ByteSink::new().addr(Some(addr), sizes).finish()
}
