//! Extensible arrays of chunks (docs/spec/hdf5-netcdf4.md E.6).
mod shape;

use super::array::{BlockPrefix, CHECKSUM_LEN, ElementRun, bit, gather};
use super::{ChunkLookup, ChunkRecord};
use crate::address::FileAddress;
use crate::cursor::ByteCursor;
use ncirrus_layout::{CellList, Error, Result, Step, View};
use std::sync::Arc;

pub(crate) use shape::{ArrayShape, ElementHome};

/// The header of an array.
#[derive(Debug)]
struct ExtensibleHeader {
    addr: FileAddress,
    shape: ArrayShape,
    /// One more than the last element that was ever written.
    end: u64,
    index: Option<FileAddress>,
}

/// The index block.
#[derive(Debug)]
struct IndexBlock {
    elements: Arc<ElementRun>,
    data_blocks: Vec<Option<FileAddress>>,
    super_blocks: Vec<Option<FileAddress>>,
}

/// A super block.
#[derive(Debug)]
struct SuperBlock {
    /// Which pages of its data blocks were written, numbered across blocks.
    bitmap: Box<[u8]>,
    data_blocks: Vec<Option<FileAddress>>,
}

pub(super) fn find(
    view: &dyn View,
    chunks: &ChunkLookup,
    addr: FileAddress,
    cells: &CellList,
) -> Step<Vec<Option<ChunkRecord>>> {
    let header = chunks.file.memo(view, addr, "extensible array", || {
        let header = header(view, chunks, addr)?;
        Ok((header, size_of::<ExtensibleHeader>()))
    })?;
    let first = unlimited(chunks)?;
    let axes = || std::iter::once(first).chain((0..chunks.shape.len()).filter(|axis| *axis != first));
    let place = |cell: &[u64]| {
        let number = chunks.number_along(axes(), cell)?.filter(|number| *number < header.end);
        Ok(number.and_then(|number| header.shape.home(number)))
    };
    let places: Vec<Option<(ElementHome, usize)>> = cells.iter().map(place).collect::<Result<_>>()?;
    chunks.visit(addr);
    let Some(at) = header.index else { return Ok(vec![None; cells.len()]) };
    chunks.visit(at);
    let index = chunks.file.memo(view, at, "extensible array index", || header.index(view, chunks, at))?;
    gather(chunks, &places, |home| header.elements(view, chunks, &index, home))
}

/// The most significant axis.
fn unlimited(chunks: &ChunkLookup) -> Result<usize> {
    let axis = chunks.max.iter().position(Option::is_none);
    axis.ok_or_else(|| Error::malformed("an extensible array without an unlimited dimension"))
}

fn header(view: &dyn View, chunks: &ChunkLookup, addr: FileAddress) -> Step<ExtensibleHeader> {
    let sizes = chunks.file.sizes;
    let len = 12 + 6 * u64::from(sizes.lengths) + u64::from(sizes.offsets);
    let bytes = chunks.header_verified(view, addr, len)?;
    let mut cursor = ByteCursor::new(&bytes, "an extensible array");
    cursor.signature(b"EAHD")?;
    cursor.version(&[0])?;
    chunks.expect_client(cursor.u8()?)?;
    chunks.expect_element_len(cursor.u8()?)?;
    let shape = ArrayShape::parse(&mut cursor)?;
    cursor.skip(4 * usize::from(sizes.lengths))?;
    let end = cursor.len(sizes)?;
    cursor.skip(usize::from(sizes.lengths))?;
    Ok(ExtensibleHeader { addr, shape, end, index: cursor.addr(sizes)? })
}

impl ExtensibleHeader {
    fn prefix(&self, signature: &'static [u8; 4], what: &'static str, more: u64) -> BlockPrefix {
        BlockPrefix { signature, what, header: self.addr, more }
    }

    /// Reads the index block; returns its cost too.
    fn index(&self, view: &dyn View, chunks: &ChunkLookup, at: FileAddress) -> Step<(IndexBlock, usize)> {
        let prefix = self.prefix(b"EAIB", "an index block", 0);
        let (data_blocks, super_blocks) = (self.shape.direct_blocks(), self.shape.super_blocks());
        let elements_len = self.shape.in_index().saturating_mul(chunks.array_element_len());
        let addrs_len = (data_blocks + super_blocks).saturating_mul(u64::from(chunks.file.sizes.offsets));
        let len = chunks.prefix_len(&prefix).saturating_add(elements_len).saturating_add(addrs_len);
        let bytes = chunks.exact_verified(view, at, len)?;
        let mut cursor = ByteCursor::new(&bytes, "an index block");
        chunks.expect_prefix(&mut cursor, &prefix)?;
        let elements = Arc::new(ElementRun::new(cursor.take_u64(elements_len)?));
        let data_blocks = addrs(chunks, &mut cursor, data_blocks)?;
        let super_blocks = addrs(chunks, &mut cursor, super_blocks)?;
        Ok((IndexBlock { elements, data_blocks, super_blocks }, bytes.len() * 2))
    }

    /// A run of elements; `None` if it was never written.
    fn elements(
        &self,
        view: &dyn View,
        chunks: &ChunkLookup,
        index: &IndexBlock,
        home: ElementHome,
    ) -> Step<Option<Arc<ElementRun>>> {
        match home {
            ElementHome::Index => Ok(Some(Arc::clone(&index.elements))),
            ElementHome::Direct { block, count } => {
                let Some(addr) = nth(&index.data_blocks, block) else { return Ok(None) };
                let prefix = self.prefix(b"EADB", "a data block", self.shape.offset_len());
                chunks.array_block(view, addr, Some(&prefix), count).map(Some)
            }
            ElementHome::Super { number, block, page } => {
                let Some(at) = nth(&index.super_blocks, self.shape.place_of_super(number)) else {
                    return Ok(None);
                };
                chunks.visit(at);
                let found = chunks.file.memo(view, at, "extensible array super block", || {
                    self.super_block(view, chunks, at, number)
                })?;
                self.page(view, chunks, &found, (number, block, page))
            }
        }
    }

    /// Reads a super block; returns its cost too.
    fn super_block(
        &self,
        view: &dyn View,
        chunks: &ChunkLookup,
        at: FileAddress,
        number: u32,
    ) -> Step<(SuperBlock, usize)> {
        let prefix = self.prefix(b"EASB", "a super block", self.shape.offset_len());
        let blocks = self.shape.blocks_of(number);
        let bitmap_len = blocks.saturating_mul(self.shape.pages_of(number).div_ceil(8));
        let addrs_len = blocks.saturating_mul(u64::from(chunks.file.sizes.offsets));
        let len = chunks.prefix_len(&prefix).saturating_add(bitmap_len).saturating_add(addrs_len);
        let bytes = chunks.exact_verified(view, at, len)?;
        let mut cursor = ByteCursor::new(&bytes, "a super block");
        chunks.expect_prefix(&mut cursor, &prefix)?;
        cursor.take_u64(prefix.more)?;
        let bitmap = cursor.take_u64(bitmap_len)?.into();
        Ok((SuperBlock { bitmap, data_blocks: addrs(chunks, &mut cursor, blocks)? }, bytes.len() * 2))
    }

    /// A data block below a super block, or one page of it.
    fn page(
        &self,
        view: &dyn View,
        chunks: &ChunkLookup,
        found: &SuperBlock,
        (number, block, page): (u32, u64, u64),
    ) -> Step<Option<Arc<ElementRun>>> {
        let Some(addr) = nth(&found.data_blocks, block) else { return Ok(None) };
        let prefix = self.prefix(b"EADB", "a data block", self.shape.offset_len());
        let (pages, count) = (self.shape.pages_of(number), self.shape.elements_of(number));
        if pages == 0 {
            return chunks.array_block(view, addr, Some(&prefix), count).map(Some);
        }
        if !bit(&found.bitmap, block.saturating_mul(pages).saturating_add(page)) {
            return Ok(None);
        }
        let per_page = count / pages;
        let page_len = per_page.checked_mul(chunks.array_element_len());
        let offset = page_len.and_then(|len| len.checked_add(CHECKSUM_LEN)?.checked_mul(page));
        let before = chunks.prefix_len(&prefix) + CHECKSUM_LEN;
        let addr = offset.and_then(|offset| offset.checked_add(before)?.checked_add(addr.0));
        let addr = addr.ok_or_else(|| Error::malformed("a page beyond 2^64 bytes"))?;
        chunks.array_block(view, FileAddress(addr), None, per_page).map(Some)
    }
}

fn nth(addrs: &[Option<FileAddress>], at: u64) -> Option<FileAddress> {
    usize::try_from(at).ok().and_then(|at| *addrs.get(at)?)
}

fn addrs(chunks: &ChunkLookup, cursor: &mut ByteCursor<'_>, count: u64) -> Result<Vec<Option<FileAddress>>> {
    (0..count).map(|_| cursor.addr(chunks.file.sizes)).collect()
}
