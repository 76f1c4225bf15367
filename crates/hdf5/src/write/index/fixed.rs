//! Fixed arrays of chunks (docs/spec/hdf5-netcdf4.md E.6, J.3).
use super::array::{CHECKSUM_LEN, ChecksummedBlock, begin, blank, prefix_len};
use super::{ChunkMap, IndexGrid, UpdatedIndex};
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::write::out::ByteSink;
use crate::write::{FilePatch, StoredChunk, StructureChange};
use ncirrus_layout::{Error, Result, Step, View, join};
use std::collections::BTreeMap;

/// Bits of the number of elements of a page, in new arrays.
pub(super) const PAGE_BITS: u8 = 10;

/// An array: one element for each possible chunk.
#[derive(Debug, Clone, Copy)]
struct FixedArray {
    header: FileAddress,
    count: u64,
    page_bits: u8,
    /// Size of an element.
    each: u64,
    sizes: FieldSizes,
}

/// Chunks by the page that contains them, and their positions there.
type ChunksByPage<'a> = BTreeMap<u64, Vec<(usize, &'a StoredChunk)>>;

/// Size of header and block, which does not depend on the number of chunks.
pub(super) fn byte_len(grid: &IndexGrid, page_bits: u8, sizes: FieldSizes) -> u64 {
    let array = FixedArray::new(FileAddress(0), grid, page_bits, sizes);
    let len = array.and_then(|array| array.block_len());
    header_len(sizes).next_multiple_of(8).saturating_add(len.map_or(0, |len| len.next_multiple_of(8)))
}

/// Builds the array; returns the address of its header.
pub(super) fn build(
    grid: &IndexGrid,
    page_bits: u8,
    chunks: &ChunkMap,
    sizes: FieldSizes,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<(Vec<FilePatch>, FileAddress)> {
    let array = FixedArray::new(place(header_len(sizes)), grid, page_bits, sizes)?;
    let data = place(array.block_len()?);
    let mut patches = array.new_block(grid, data, &array.pages(grid, chunks)?)?;
    patches.push(array.header(grid, data));
    Ok((patches, array.header))
}

/// Rewrites blocks and pages in place; new pages come before the bits that mark them as written.
pub(super) fn update(
    view: &dyn View,
    file: &Hdf5File,
    addr: FileAddress,
    grid: &IndexGrid,
    chunks: &ChunkMap,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Step<UpdatedIndex> {
    let (array, data) = FixedArray::read(view, file, addr, grid)?;
    let pages = array.pages(grid, chunks)?;
    let Some(data) = data else {
        let data = place(array.block_len()?);
        let fresh = array.new_block(grid, data, &pages)?;
        let change =
            StructureChange { fresh, then: vec![array.header(grid, data)], ..StructureChange::default() };
        return Ok(UpdatedIndex { change, layout: None });
    };
    let front = Some((b"FADB", Some(addr)));
    if array.page_len().is_none() {
        let mut block = ChecksummedBlock::read(
            view,
            file,
            data,
            prefix_len(file.sizes) + array.count * array.each,
            front,
        )?;
        let all = pages.values().flatten().copied().collect::<Vec<_>>();
        block.put_chunks(grid, file.sizes, prefix_len(file.sizes), &all)?;
        let change = StructureChange { then: vec![block.patch()], ..StructureChange::default() };
        return Ok(UpdatedIndex { change, layout: None });
    }
    let prefix = ChecksummedBlock::read(view, file, data, array.paged_prefix_len(), front)?;
    // A page whose bit is not set holds no valid bytes: it is written as a whole (docs/spec/hdf5-netcdf4.md E.6).
    let written = pages.iter().filter(|(page, _)| prefix.bit(prefix_len(file.sizes), **page));
    let old = join(written, |(page, _)| {
        let len = array.len_of(*page) * array.each;
        Ok((*page, ChecksummedBlock::read(view, file, array.page_at(data, *page)?, len, None)?))
    })?;
    let change = array.change_pages(grid, data, prefix, old.into_iter().collect(), &pages)?;
    Ok(UpdatedIndex { change, layout: None })
}

impl FixedArray {
    fn new(header: FileAddress, grid: &IndexGrid, page_bits: u8, sizes: FieldSizes) -> Result<Self> {
        let array =
            Self { header, count: grid.max_chunks()?, page_bits, each: grid.element_len(sizes)?, sizes };
        // All sums below are less than this.
        array.block_len().map(|_| array)
    }

    fn read(
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
        grid: &IndexGrid,
    ) -> Step<(Self, Option<FileAddress>)> {
        let sizes = file.sizes;
        let header = ChecksummedBlock::read(
            view,
            file,
            addr,
            header_len(sizes) - CHECKSUM_LEN,
            Some((b"FAHD", None)),
        )?;
        Ok(Self::parse(&header, grid, sizes).map_err(|error| file.at(addr, error))?)
    }

    fn parse(
        header: &ChecksummedBlock,
        grid: &IndexGrid,
        sizes: FieldSizes,
    ) -> Result<(Self, Option<FileAddress>)> {
        let mut cursor = ByteCursor::new(header.bytes(), "a fixed array");
        cursor.skip(5)?;
        let (client, each, page_bits) = (cursor.u8()?, cursor.u8()?, cursor.u8()?);
        let array = Self::new(header.addr, grid, page_bits, sizes)?;
        let count = cursor.len(sizes)?;
        if (client, u64::from(each), count) != (u8::from(grid.filtered), array.each, array.count) {
            return Err(Error::malformed(format!(
                "a fixed array of {count} chunks in {each} bytes each instead of {} in {}",
                array.count, array.each
            )));
        }
        Ok((array, cursor.addr(sizes)?))
    }

    /// Number of elements of a page; `None` if there are no pages.
    fn page_len(&self) -> Option<u64> {
        1u64.checked_shl(u32::from(self.page_bits)).filter(|len| self.count > *len)
    }

    /// Number of elements of that page, or of the block without pages.
    fn len_of(&self, page: u64) -> u64 {
        let max = self.page_len().unwrap_or(self.count);
        self.count.saturating_sub(page.saturating_mul(max)).min(max)
    }

    fn page_count(&self) -> u64 {
        self.page_len().map_or(0, |len| self.count.div_ceil(len))
    }

    /// Size of what precedes the checksum before the pages.
    fn paged_prefix_len(&self) -> u64 {
        prefix_len(self.sizes) + self.page_count().div_ceil(8)
    }

    fn block_len(&self) -> Result<u64> {
        let elements = self.count.checked_mul(self.each);
        let rest = self.paged_prefix_len().checked_add(CHECKSUM_LEN * (1 + self.page_count()));
        let len = elements.zip(rest).and_then(|(elements, rest)| elements.checked_add(rest));
        let len = len.filter(|len| *len < 1 << 62);
        len.ok_or_else(|| Error::limit(format!("an array of {} chunks", self.count)))
    }

    fn page_at(&self, data: FileAddress, page: u64) -> Result<FileAddress> {
        let before = self.paged_prefix_len() + CHECKSUM_LEN;
        let pages = page * (self.page_len().unwrap_or(0) * self.each + CHECKSUM_LEN);
        let at =
            data.0.checked_add(before + pages).ok_or_else(|| Error::malformed("a page beyond 2^64 bytes"))?;
        Ok(FileAddress(at))
    }

    fn pages<'a>(&self, grid: &IndexGrid, chunks: &'a ChunkMap) -> Result<ChunksByPage<'a>> {
        let max = self.page_len().unwrap_or(u64::MAX);
        let mut pages = ChunksByPage::new();
        for (cell, stored) in chunks {
            let number = grid.number(cell, None)?;
            let index = usize::try_from(number % max).map_err(|_| Error::limit("too many chunks"))?;
            pages.entry(number / max).or_default().push((index, stored));
        }
        Ok(pages)
    }

    fn header(&self, grid: &IndexGrid, data: FileAddress) -> FilePatch {
        let mut out = begin(b"FAHD", grid);
        out.uint(self.each, 1).u8(self.page_bits).length(self.count, self.sizes).addr(Some(data), self.sizes);
        FilePatch { addr: self.header, body: out.checksum().finish() }
    }

    /// A new block with only these pages.
    fn new_block(
        &self,
        grid: &IndexGrid,
        data: FileAddress,
        pages: &ChunksByPage<'_>,
    ) -> Result<Vec<FilePatch>> {
        let mut out = begin(b"FADB", grid);
        out.addr(Some(self.header), self.sizes);
        if self.page_len().is_some() {
            let bitmap = usize::try_from(self.page_count().div_ceil(8));
            out.zeros(bitmap.map_err(|_| Error::limit("too many chunks"))?);
            let prefix = ChecksummedBlock::new(data, out);
            let StructureChange { mut fresh, then, .. } =
                self.change_pages(grid, data, prefix, BTreeMap::new(), pages)?;
            fresh.extend(then);
            // The file must reach to the end of the last page, written or not.
            let last = self.page_count().saturating_sub(1);
            if !pages.contains_key(&last) {
                fresh.push(self.new_page(grid, data, last)?.patch());
            }
            return Ok(fresh);
        }
        blank(&mut out, grid, self.count, self.sizes)?;
        let mut block = ChecksummedBlock::new(data, out);
        let all = pages.values().flatten().copied().collect::<Vec<_>>();
        block.put_chunks(grid, self.sizes, prefix_len(self.sizes), &all)?;
        Ok(vec![block.patch()])
    }

    /// A page of chunks that were never written.
    fn new_page(&self, grid: &IndexGrid, data: FileAddress, number: u64) -> Result<ChecksummedBlock> {
        let mut out = ByteSink::new();
        blank(&mut out, grid, self.len_of(number), self.sizes)?;
        Ok(ChecksummedBlock::new(self.page_at(data, number)?, out))
    }

    fn change_pages(
        &self,
        grid: &IndexGrid,
        data: FileAddress,
        mut prefix: ChecksummedBlock,
        mut old: BTreeMap<u64, ChecksummedBlock>,
        pages: &ChunksByPage<'_>,
    ) -> Result<StructureChange> {
        let mut change = StructureChange::default();
        for (number, chunks) in pages {
            if let Some(mut page) = old.remove(number) {
                page.put_chunks(grid, self.sizes, 0, chunks)?;
                change.then.push(page.patch());
                continue;
            }
            let mut page = self.new_page(grid, data, *number)?;
            page.put_chunks(grid, self.sizes, 0, chunks)?;
            change.fresh.push(page.patch());
            prefix.set_bit(prefix_len(self.sizes), *number)?;
        }
        if !change.fresh.is_empty() {
            change.then.push(prefix.patch());
        }
        Ok(change)
    }
}

/// Bytes of a header with its checksum.
fn header_len(sizes: FieldSizes) -> u64 {
    8 + u64::from(sizes.lengths) + u64::from(sizes.offsets) + CHECKSUM_LEN
}
