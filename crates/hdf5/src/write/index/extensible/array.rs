//! The structures of an extensible array.
use super::{Block, CHECKSUM_LEN, Home, Runs, Shape};
use crate::cursor::Cursor;
use crate::file::{Addr, File, Sizes};
use crate::write::index::Grid;
use crate::write::index::array::{begin, blank, prefix_len};
use crate::write::out::Out;
use crate::write::{Change, Patch, Stored};
use ncirrus_layout::{Error, Result, Step, View, join};
use std::collections::{BTreeMap, BTreeSet};

/// An array: its parameters, and where its header is.
#[derive(Debug, Clone, Copy)]
pub(super) struct Array {
    pub(super) header: Addr,
    pub(super) shape: Shape,
    /// Bytes of an element.
    each: u64,
    sizes: Sizes,
}

/// What the header counts.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Statistics {
    super_blocks: u64,
    super_bytes: u64,
    data_blocks: u64,
    data_bytes: u64,
    /// One more than the last element that was ever written.
    end: u64,
    /// Elements of all blocks that are there.
    elements: u64,
}

/// What is there already of the structures that a change touches.
#[derive(Debug, Default)]
pub(super) struct Loaded {
    pub(super) statistics: Statistics,
    index: Option<Block>,
    supers: BTreeMap<u32, Block>,
    /// Data blocks by their run; pages too.
    runs: BTreeMap<Home, Block>,
}

impl Array {
    pub(super) fn new(header: Addr, shape: Shape, grid: &Grid, sizes: Sizes) -> Result<Self> {
        Ok(Self { header, shape, each: grid.element_len(sizes)?, sizes })
    }

    /// The same with its header in another place.
    pub(super) fn at(self, header: Addr) -> Self {
        Self { header, ..self }
    }

    /// Bytes of all structures for the first so many chunks, each at a multiple of 8.
    pub(super) fn byte_len(&self, chunks: u64) -> u64 {
        let whole = |len: u64| len.saturating_add(CHECKSUM_LEN).next_multiple_of(8);
        let mut total = self.header_len().next_multiple_of(8) + whole(self.index_len());
        let mut left = chunks.saturating_sub(self.shape.in_index());
        for number in 0..u32::MAX {
            if left == 0 {
                break;
            }
            let each = self.shape.elements_of(number).max(1);
            let blocks = left.div_ceil(each).min(self.shape.blocks_of(number));
            left = left.saturating_sub(blocks.saturating_mul(each));
            total = total.saturating_add(blocks.saturating_mul(self.data_len(number).next_multiple_of(8)));
            total = total.saturating_add(whole(self.super_len(number)));
        }
        total
    }

    /// Bytes of a header with its checksum.
    pub(super) fn header_len(&self) -> u64 {
        12 + 6 * u64::from(self.sizes.lengths) + u64::from(self.sizes.offsets) + CHECKSUM_LEN
    }

    /// Bytes of the index block, as all below without the checksum.
    fn index_len(&self) -> u64 {
        self.addrs_at()
            + (self.shape.direct_blocks() + self.shape.super_blocks()) * u64::from(self.sizes.offsets)
    }

    /// Where the addresses begin in the index block.
    fn addrs_at(&self) -> u64 {
        prefix_len(self.sizes) + self.shape.in_index() * self.each
    }

    /// Where the index block has the address of a data block or super block.
    fn slot_in_index(&self, home: Home) -> u64 {
        let at = match home {
            Home::Index => 0,
            Home::Direct { block, .. } => block,
            Home::Super { number, .. } => self.shape.direct_blocks() + self.shape.place_of_super(number),
        };
        self.addrs_at() + at * u64::from(self.sizes.offsets)
    }

    /// Where a block's elements, bitmap or pages begin.
    fn behind_offset(&self) -> u64 {
        prefix_len(self.sizes) + self.shape.offset_len()
    }

    fn bitmap_len(&self, number: u32) -> u64 {
        self.shape.blocks_of(number).saturating_mul(self.shape.pages_of(number).div_ceil(8))
    }

    fn super_len(&self, number: u32) -> u64 {
        let addrs = self.shape.blocks_of(number).saturating_mul(u64::from(self.sizes.offsets));
        self.behind_offset().saturating_add(self.bitmap_len(number)).saturating_add(addrs)
    }

    /// Where a super block has the address of a data block.
    fn slot_in_super(&self, number: u32, block: u64) -> u64 {
        self.behind_offset() + self.bitmap_len(number) + block.saturating_mul(u64::from(self.sizes.offsets))
    }

    /// Bytes of a data block with its checksum and pages.
    fn data_len(&self, number: u32) -> u64 {
        let elements = self.shape.elements_of(number).saturating_mul(self.each);
        let sums = CHECKSUM_LEN.saturating_mul(1 + self.shape.pages_of(number));
        self.behind_offset().saturating_add(elements).saturating_add(sums)
    }

    /// Elements of a page.
    fn page_len(&self, number: u32) -> u64 {
        self.shape.elements_of(number) / self.shape.pages_of(number).max(1)
    }

    fn page_at(&self, number: u32, data: Addr, page: u64) -> Result<Addr> {
        let pages = (self.page_len(number).saturating_mul(self.each) + CHECKSUM_LEN).saturating_mul(page);
        let at = pages.checked_add(self.behind_offset() + CHECKSUM_LEN).and_then(|at| at.checked_add(data.0));
        at.map(Addr).ok_or_else(|| Error::malformed("a page beyond 2^64 bytes"))
    }

    /// Which bit says that a page was written: counted on from one block to the next.
    fn bit_of(&self, number: u32, block: u64, page: u64) -> u64 {
        block.saturating_mul(self.shape.pages_of(number)).saturating_add(page)
    }

    /// Reads a header: the array, what it counts, and where the index block is.
    pub(super) fn read(
        view: &dyn View,
        file: &File,
        addr: Addr,
        grid: &Grid,
    ) -> Step<(Self, Statistics, Option<Addr>)> {
        let sizes = file.sizes;
        let len = 12 + 6 * u64::from(sizes.lengths) + u64::from(sizes.offsets);
        let header = Block::read(view, file, addr, len, Some((b"EAHD", None)))?;
        Ok(Self::parse(&header, grid, sizes).map_err(|error| file.at(addr, error))?)
    }

    fn parse(header: &Block, grid: &Grid, sizes: Sizes) -> Result<(Self, Statistics, Option<Addr>)> {
        let mut cursor = Cursor::new(header.bytes(), "an extensible array");
        cursor.skip(5)?;
        let (client, each) = (cursor.u8()?, cursor.u8()?);
        let array = Self::new(header.addr, Shape::parse(&mut cursor)?, grid, sizes)?;
        if (client, u64::from(each)) != (u8::from(grid.filtered), array.each) {
            let text = format!("an extensible array with elements of {each} bytes instead of {}", array.each);
            return Err(Error::malformed(text));
        }
        let mut next = || cursor.len(sizes);
        let statistics = Statistics {
            super_blocks: next()?,
            super_bytes: next()?,
            data_blocks: next()?,
            data_bytes: next()?,
            end: next()?,
            elements: next()?,
        };
        Ok((array, statistics, cursor.addr(sizes)?))
    }

    /// Reads what is there of the blocks that hold these runs.
    pub(super) fn load(
        &self,
        view: &dyn View,
        file: &File,
        (statistics, index): (Statistics, Option<Addr>),
        runs: &Runs<'_>,
    ) -> Step<Loaded> {
        let Some(index) = index else { return Ok(Loaded { statistics, ..Loaded::default() }) };
        let front = |signature| Some((signature, Some(self.header)));
        let index = Block::read(view, file, index, self.index_len(), front(b"EAIB"))?;
        let numbers: BTreeSet<u32> = runs.keys().filter_map(|home| home.super_block()).collect();
        let supers = join(numbers, |number| {
            let home = Home::Super { number, block: 0, page: 0 };
            let Some(addr) = index.addr_at(self.slot_in_index(home), self.sizes)? else { return Ok(None) };
            Ok(Some((number, Block::read(view, file, addr, self.super_len(number), front(b"EASB"))?)))
        })?;
        let supers: BTreeMap<u32, Block> = supers.into_iter().flatten().collect();
        let blocks = join(runs.keys().copied(), |home| {
            let block = match self.data_block(&index, &supers, home)? {
                None => return Ok(None),
                Some(Data { addr, len, is_page }) => {
                    Block::read(view, file, addr, len, if is_page { None } else { front(b"EADB") })?
                }
            };
            Ok(Some((home, block)))
        })?;
        Ok(Loaded { statistics, index: Some(index), supers, runs: blocks.into_iter().flatten().collect() })
    }

    /// Where a run lies that was written before.
    fn data_block(&self, index: &Block, supers: &BTreeMap<u32, Block>, home: Home) -> Result<Option<Data>> {
        let len = |count: u64| self.behind_offset().saturating_add(count.saturating_mul(self.each));
        match home {
            Home::Index => Ok(None),
            Home::Direct { count, .. } => {
                let addr = index.addr_at(self.slot_in_index(home), self.sizes)?;
                Ok(addr.map(|addr| Data { addr, len: len(count), is_page: false }))
            }
            Home::Super { number, block, page } => {
                let Some(found) = supers.get(&number) else { return Ok(None) };
                let addr = found.addr_at(self.slot_in_super(number, block), self.sizes)?;
                let Some(addr) = addr else { return Ok(None) };
                if self.shape.pages_of(number) == 0 {
                    let len = len(self.shape.elements_of(number));
                    return Ok(Some(Data { addr, len, is_page: false }));
                }
                if !found.bit(self.behind_offset(), self.bit_of(number, block, page)) {
                    return Ok(None);
                }
                let len = self.page_len(number).saturating_mul(self.each);
                Ok(Some(Data { addr: self.page_at(number, addr, page)?, len, is_page: true }))
            }
        }
    }
}

/// A data block or page.
struct Data {
    addr: Addr,
    /// Without the checksum.
    len: u64,
    is_page: bool,
}

/// Structures that are being changed.
struct Changing<'a> {
    array: &'a Array,
    grid: &'a Grid,
    place: &'a mut dyn FnMut(u64) -> Addr,
    index: Block,
    is_new_index: bool,
    index_changed: bool,
    supers: BTreeMap<u32, Super>,
    statistics: Statistics,
    change: Change,
}

struct Super {
    block: Block,
    is_new: bool,
    is_changed: bool,
}

impl Array {
    /// Puts chunks into the array.
    pub(super) fn change(
        &self,
        grid: &Grid,
        loaded: Loaded,
        runs: &Runs<'_>,
        end: u64,
        place: &mut dyn FnMut(u64) -> Addr,
    ) -> Result<Change> {
        let Loaded { mut statistics, index, supers, runs: mut old } = loaded;
        let old_end = statistics.end;
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
            .map(|(number, block)| (number, Super { block, is_new: false, is_changed: false }));
        let mut changing = Changing {
            array: self,
            grid,
            place,
            index,
            is_new_index,
            index_changed: is_new_index,
            supers: supers.collect(),
            statistics,
            change: Change::default(),
        };
        for (home, chunks) in runs {
            changing.put(*home, old.remove(home), chunks)?;
        }
        changing.finish(old_end)
    }

    fn new_index(&self, grid: &Grid, addr: Addr) -> Result<Block> {
        let mut out = begin(b"EAIB", grid);
        out.addr(Some(self.header), self.sizes);
        blank(&mut out, grid, self.shape.in_index(), self.sizes)?;
        for _ in 0..self.shape.direct_blocks() + self.shape.super_blocks() {
            out.addr(None, self.sizes);
        }
        Ok(Block::new(addr, out))
    }

    fn new_super(&self, grid: &Grid, number: u32, addr: Addr) -> Result<Block> {
        let mut out = begin(b"EASB", grid);
        out.addr(Some(self.header), self.sizes).uint(self.shape.start_of(number), self.offset_width());
        let bitmap = usize::try_from(self.bitmap_len(number));
        out.zeros(bitmap.map_err(|_| Error::limit("too many pages of chunks"))?);
        for _ in 0..self.shape.blocks_of(number) {
            out.addr(None, self.sizes);
        }
        Ok(Block::new(addr, out))
    }

    /// The front of a data block whose first element is that one; its elements too, when it has no pages.
    fn new_data(&self, grid: &Grid, addr: Addr, start: u64, elements: u64) -> Result<Block> {
        let mut out = begin(b"EADB", grid);
        out.addr(Some(self.header), self.sizes).uint(start, self.offset_width());
        blank(&mut out, grid, elements, self.sizes)?;
        Ok(Block::new(addr, out))
    }

    fn offset_width(&self) -> usize {
        usize::try_from(self.shape.offset_len()).unwrap_or(8).min(8)
    }

    fn header_patch(&self, grid: &Grid, statistics: &Statistics, index: Addr) -> Patch {
        let mut out = begin(b"EAHD", grid);
        out.uint(self.each, 1);
        // Each came from one byte.
        self.shape.parameters().iter().for_each(|parameter| _ = out.uint(*parameter, 1));
        let Statistics { super_blocks, super_bytes, data_blocks, data_bytes, end, elements } = *statistics;
        for number in [super_blocks, super_bytes, data_blocks, data_bytes, end, elements] {
            out.length(number, self.sizes);
        }
        out.addr(Some(index), self.sizes);
        Patch { addr: self.header, body: out.checksum().finish() }
    }
}

impl Changing<'_> {
    /// Puts chunks into a run; `old` is what it held before.
    fn put(&mut self, home: Home, old: Option<Block>, chunks: &[(usize, &Stored)]) -> Result<()> {
        let (array, sizes) = (self.array, self.array.sizes);
        if let Some(mut block) = old {
            let is_page = matches!(home, Home::Super { number, .. } if array.shape.pages_of(number) > 0);
            block.put_chunks(self.grid, sizes, if is_page { 0 } else { array.behind_offset() }, chunks)?;
            self.change.then.push(block.patch());
            return Ok(());
        }
        match home {
            Home::Index => {
                self.index_changed = true;
                self.index.put_chunks(self.grid, sizes, prefix_len(sizes), chunks)
            }
            Home::Direct { block, count } => {
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
            Home::Super { number, block, page } => {
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

    /// Writes a page that was never written, in a data block that may be new.
    fn new_page(
        &mut self,
        (number, block, page): (u32, u64, u64),
        chunks: &[(usize, &Stored)],
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

    fn blank_page(&self, number: u32, addr: Addr) -> Result<Block> {
        let mut out = Out::new();
        blank(&mut out, self.grid, self.array.page_len(number), self.array.sizes)?;
        Ok(Block::new(addr, out))
    }

    /// A place for a data block.
    fn new_data_block(&mut self, number: u32) -> Addr {
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

    /// Makes a super block where there is none.
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
        self.supers.insert(number, Super { block, is_new: true, is_changed: true });
        self.index_changed = true;
        let slot = array.slot_in_index(Home::Super { number, block: 0, page: 0 });
        self.index.put(slot, &address(addr, array.sizes))
    }

    fn change_super(&mut self, number: u32) -> Result<&mut Block> {
        let found =
            self.supers.get_mut(&number).ok_or_else(|| Error::internal("a super block is missing"))?;
        found.is_changed = true;
        Ok(&mut found.block)
    }

    fn finish(mut self, old_end: u64) -> Result<Change> {
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

fn address(addr: Addr, sizes: Sizes) -> bytes::Bytes {
    Out::new().addr(Some(addr), sizes).finish()
}
