//! The structures of an extensible array.
mod change;

use super::{ArrayShape, CHECKSUM_LEN, ChecksummedBlock, ChunksByRun, ElementHome};
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::write::index::IndexGrid;
use crate::write::index::array::prefix_len;
use ncirrus_layout::{Error, Result, Step, View, join};
use std::collections::{BTreeMap, BTreeSet};

/// An array: its parameters, and the location of its header.
#[derive(Debug, Clone, Copy)]
pub(super) struct ExtensibleArray {
    pub(super) header: FileAddress,
    pub(super) shape: ArrayShape,
    /// Size of an element.
    each: u64,
    sizes: FieldSizes,
}

/// The counts in the header.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct ArrayStatistics {
    super_blocks: u64,
    super_bytes: u64,
    data_blocks: u64,
    data_bytes: u64,
    /// One more than the last element that was ever written.
    end: u64,
    /// Number of elements of all existing blocks.
    elements: u64,
}

/// The existing structures that a change touches.
#[derive(Debug, Default)]
pub(super) struct LoadedBlocks {
    pub(super) statistics: ArrayStatistics,
    index: Option<ChecksummedBlock>,
    supers: BTreeMap<u32, ChecksummedBlock>,
    /// Data blocks by their run; pages too.
    runs: BTreeMap<ElementHome, ChecksummedBlock>,
}

impl ExtensibleArray {
    pub(super) fn new(
        header: FileAddress,
        shape: ArrayShape,
        grid: &IndexGrid,
        sizes: FieldSizes,
    ) -> Result<Self> {
        Ok(Self { header, shape, each: grid.element_len(sizes)?, sizes })
    }

    /// The same with its header at another address.
    pub(super) fn at(self, header: FileAddress) -> Self {
        Self { header, ..self }
    }

    /// Size of all structures for that many chunks, each at a multiple of 8.
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

    /// Size of a header with its checksum.
    pub(super) fn header_len(&self) -> u64 {
        12 + 6 * u64::from(self.sizes.lengths) + u64::from(self.sizes.offsets) + CHECKSUM_LEN
    }

    /// Size of the index block; like all below, without the checksum.
    fn index_len(&self) -> u64 {
        self.addrs_at()
            + (self.shape.direct_blocks() + self.shape.super_blocks()) * u64::from(self.sizes.offsets)
    }

    /// Offset of the addresses in the index block.
    fn addrs_at(&self) -> u64 {
        prefix_len(self.sizes) + self.shape.in_index() * self.each
    }

    /// Offset of the address of a data block or super block in the index block.
    fn slot_in_index(&self, home: ElementHome) -> u64 {
        let at = match home {
            ElementHome::Index => 0,
            ElementHome::Direct { block, .. } => block,
            ElementHome::Super { number, .. } => {
                self.shape.direct_blocks() + self.shape.place_of_super(number)
            }
        };
        self.addrs_at() + at * u64::from(self.sizes.offsets)
    }

    /// Offset of a block's elements, bitmap or pages.
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

    /// Offset of the address of a data block in a super block.
    fn slot_in_super(&self, number: u32, block: u64) -> u64 {
        self.behind_offset() + self.bitmap_len(number) + block.saturating_mul(u64::from(self.sizes.offsets))
    }

    /// Size of a data block with its checksum and pages.
    fn data_len(&self, number: u32) -> u64 {
        let elements = self.shape.elements_of(number).saturating_mul(self.each);
        let sums = CHECKSUM_LEN.saturating_mul(1 + self.shape.pages_of(number));
        self.behind_offset().saturating_add(elements).saturating_add(sums)
    }

    /// Number of elements of a page.
    fn page_len(&self, number: u32) -> u64 {
        self.shape.elements_of(number) / self.shape.pages_of(number).max(1)
    }

    fn page_at(&self, number: u32, data: FileAddress, page: u64) -> Result<FileAddress> {
        let pages = (self.page_len(number).saturating_mul(self.each) + CHECKSUM_LEN).saturating_mul(page);
        let at = pages.checked_add(self.behind_offset() + CHECKSUM_LEN).and_then(|at| at.checked_add(data.0));
        at.map(FileAddress).ok_or_else(|| Error::malformed("a page beyond 2^64 bytes"))
    }

    /// The bit that marks a page as written: numbered across blocks.
    fn bit_of(&self, number: u32, block: u64, page: u64) -> u64 {
        block.saturating_mul(self.shape.pages_of(number)).saturating_add(page)
    }

    /// Parses a header: the array, its counts, and the location of the index block.
    pub(super) fn read(
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
        grid: &IndexGrid,
    ) -> Step<(Self, ArrayStatistics, Option<FileAddress>)> {
        let sizes = file.sizes;
        let len = 12 + 6 * u64::from(sizes.lengths) + u64::from(sizes.offsets);
        let header = ChecksummedBlock::read(view, file, addr, len, Some((b"EAHD", None)))?;
        Ok(Self::parse(&header, grid, sizes).map_err(|error| file.at(addr, error))?)
    }

    fn parse(
        header: &ChecksummedBlock,
        grid: &IndexGrid,
        sizes: FieldSizes,
    ) -> Result<(Self, ArrayStatistics, Option<FileAddress>)> {
        let mut cursor = ByteCursor::new(header.bytes(), "an extensible array");
        cursor.skip(5)?;
        let (client, each) = (cursor.u8()?, cursor.u8()?);
        let array = Self::new(header.addr, ArrayShape::parse(&mut cursor)?, grid, sizes)?;
        if (client, u64::from(each)) != (u8::from(grid.filtered), array.each) {
            let text = format!("an extensible array with elements of {each} bytes instead of {}", array.each);
            return Err(Error::malformed(text));
        }
        let mut next = || cursor.len(sizes);
        let statistics = ArrayStatistics {
            super_blocks: next()?,
            super_bytes: next()?,
            data_blocks: next()?,
            data_bytes: next()?,
            end: next()?,
            elements: next()?,
        };
        Ok((array, statistics, cursor.addr(sizes)?))
    }

    /// Reads the existing blocks of these runs.
    pub(super) fn load(
        &self,
        view: &dyn View,
        file: &Hdf5File,
        (statistics, index): (ArrayStatistics, Option<FileAddress>),
        runs: &ChunksByRun<'_>,
    ) -> Step<LoadedBlocks> {
        let Some(index) = index else { return Ok(LoadedBlocks { statistics, ..LoadedBlocks::default() }) };
        let front = |signature| Some((signature, Some(self.header)));
        let index = ChecksummedBlock::read(view, file, index, self.index_len(), front(b"EAIB"))?;
        let numbers: BTreeSet<u32> = runs.keys().filter_map(|home| home.super_block()).collect();
        let supers = join(numbers, |number| {
            let home = ElementHome::Super { number, block: 0, page: 0 };
            let Some(addr) = index.addr_at(self.slot_in_index(home), self.sizes)? else { return Ok(None) };
            Ok(Some((
                number,
                ChecksummedBlock::read(view, file, addr, self.super_len(number), front(b"EASB"))?,
            )))
        })?;
        let supers: BTreeMap<u32, ChecksummedBlock> = supers.into_iter().flatten().collect();
        let blocks = join(runs.keys().copied(), |home| {
            let block = match self.data_block(&index, &supers, home)? {
                None => return Ok(None),
                Some(DataBlock { addr, len, is_page }) => ChecksummedBlock::read(
                    view,
                    file,
                    addr,
                    len,
                    // Pages have no signature, only elements and a checksum (docs/spec/hdf5-netcdf4.md E.6).
                    if is_page { None } else { front(b"EADB") },
                )?,
            };
            Ok(Some((home, block)))
        })?;
        Ok(LoadedBlocks {
            statistics,
            index: Some(index),
            supers,
            runs: blocks.into_iter().flatten().collect(),
        })
    }

    /// The location of a run that was written before.
    fn data_block(
        &self,
        index: &ChecksummedBlock,
        supers: &BTreeMap<u32, ChecksummedBlock>,
        home: ElementHome,
    ) -> Result<Option<DataBlock>> {
        let len = |count: u64| self.behind_offset().saturating_add(count.saturating_mul(self.each));
        match home {
            ElementHome::Index => Ok(None),
            ElementHome::Direct { count, .. } => {
                let addr = index.addr_at(self.slot_in_index(home), self.sizes)?;
                Ok(addr.map(|addr| DataBlock { addr, len: len(count), is_page: false }))
            }
            ElementHome::Super { number, block, page } => {
                let Some(found) = supers.get(&number) else { return Ok(None) };
                let addr = found.addr_at(self.slot_in_super(number, block), self.sizes)?;
                let Some(addr) = addr else { return Ok(None) };
                if self.shape.pages_of(number) == 0 {
                    let len = len(self.shape.elements_of(number));
                    return Ok(Some(DataBlock { addr, len, is_page: false }));
                }
                if !found.bit(self.behind_offset(), self.bit_of(number, block, page)) {
                    return Ok(None);
                }
                let len = self.page_len(number).saturating_mul(self.each);
                Ok(Some(DataBlock { addr: self.page_at(number, addr, page)?, len, is_page: true }))
            }
        }
    }
}

/// A data block or page.
struct DataBlock {
    addr: FileAddress,
    /// Without the checksum.
    len: u64,
    is_page: bool,
}
