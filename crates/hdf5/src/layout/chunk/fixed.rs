//! Fixed arrays of chunks (docs/spec/hdf5-netcdf4.md E.6).
use super::array::{BlockPrefix, CHECKSUM_LEN, ElementRun, PREFIX_LEN, bit, gather};
use super::{ChunkLookup, ChunkRecord};
use crate::address::FileAddress;
use crate::cursor::ByteCursor;
use ncirrus_layout::{CellList, Error, Result, Step, View};
use std::sync::Arc;

/// The header of an array.
#[derive(Debug)]
struct FixedHeader {
    addr: FileAddress,
    count: u64,
    page_bits: u8,
    data: Option<FileAddress>,
}

pub(super) fn find(
    view: &dyn View,
    chunks: &ChunkLookup,
    addr: FileAddress,
    cells: &CellList,
) -> Step<Vec<Option<ChunkRecord>>> {
    let header = chunks.file.memo(view, addr, "fixed array", || {
        let header = header(view, chunks, addr)?;
        Ok((header, size_of::<FixedHeader>()))
    })?;
    chunks.visit(addr);
    let Some(data) = header.data else { return Ok(vec![None; cells.len()]) };
    chunks.visit(data);
    let per_page = header.page_len().unwrap_or(u64::MAX);
    let place = |cell: &[u64]| {
        let Some(number) = chunks.number(cell)? else { return Ok(None) };
        let index = usize::try_from(number % per_page).map_err(|_| Error::limit("too many chunks"))?;
        Ok(Some((number / per_page, index)))
    };
    let places: Vec<Option<(u64, usize)>> = cells.iter().map(place).collect::<Result<_>>()?;
    let prefix = BlockPrefix { signature: b"FADB", what: "a block", header: header.addr, more: 0 };
    match header.page_len() {
        None => {
            gather(chunks, &places, |_| chunks.array_block(view, data, Some(&prefix), header.count).map(Some))
        }
        Some(per_page) => gather(chunks, &places, |page| header.page(view, chunks, data, (page, per_page))),
    }
}

fn header(view: &dyn View, chunks: &ChunkLookup, addr: FileAddress) -> Step<FixedHeader> {
    let sizes = chunks.file.sizes;
    let len = 8 + u64::from(sizes.lengths) + u64::from(sizes.offsets);
    let bytes = chunks.header_verified(view, addr, len)?;
    let mut cursor = ByteCursor::new(&bytes, "a fixed array");
    cursor.signature(b"FAHD")?;
    cursor.version(&[0])?;
    chunks.expect_client(cursor.u8()?)?;
    chunks.expect_element_len(cursor.u8()?)?;
    let page_bits = cursor.u8()?;
    let count = cursor.len(sizes)?;
    let all = (0..chunks.shape.len()).try_fold(1u64, |all, axis| {
        let along = chunks.max_along(axis)?;
        all.checked_mul(along).ok_or_else(|| Error::malformed("more than 2^64 chunks"))
    })?;
    if count != all {
        return Err(Error::malformed(format!("a fixed array of {count} chunks instead of {all}")).into());
    }
    Ok(FixedHeader { addr, count, page_bits, data: cursor.addr(sizes)? })
}

impl FixedHeader {
    /// Elements of a page; `None` if there are no pages.
    fn page_len(&self) -> Option<u64> {
        1u64.checked_shl(u32::from(self.page_bits)).filter(|len| self.count > *len)
    }

    /// A page of elements; `None` if it was never written.
    fn page(
        &self,
        view: &dyn View,
        chunks: &ChunkLookup,
        data: FileAddress,
        (page, per_page): (u64, u64),
    ) -> Step<Option<Arc<ElementRun>>> {
        let bitmap = self.bitmap(view, chunks, data, per_page)?;
        if !bit(&bitmap, page) {
            return Ok(None);
        }
        let page_len = per_page.checked_mul(chunks.array_element_len());
        let before = PREFIX_LEN + u64::from(chunks.file.sizes.offsets) + bitmap.len() as u64 + CHECKSUM_LEN;
        let offset = page_len.and_then(|len| len.checked_add(CHECKSUM_LEN)?.checked_mul(page));
        let addr = offset.and_then(|offset| offset.checked_add(before)?.checked_add(data.0));
        let addr = addr.ok_or_else(|| Error::malformed("a page beyond 2^64 bytes"))?;
        let count = self.count.saturating_sub(page.saturating_mul(per_page)).min(per_page);
        chunks.array_block(view, FileAddress(addr), None, count).map(Some)
    }

    /// Which pages were written.
    fn bitmap(
        &self,
        view: &dyn View,
        chunks: &ChunkLookup,
        data: FileAddress,
        per_page: u64,
    ) -> Step<Arc<Box<[u8]>>> {
        chunks.file.memo(view, data, "fixed array pages", || {
            let bitmap_len = self.count.div_ceil(per_page).div_ceil(8);
            let prefix =
                BlockPrefix { signature: b"FADB", what: "a block", header: self.addr, more: bitmap_len };
            let bytes = chunks.exact_verified(view, data, chunks.prefix_len(&prefix))?;
            let mut cursor = ByteCursor::new(&bytes, "a block of a fixed array");
            chunks.expect_prefix(&mut cursor, &prefix)?;
            let bitmap: Box<[u8]> = cursor.rest().into();
            let cost = bitmap.len();
            Ok((bitmap, cost))
        })
    }
}
