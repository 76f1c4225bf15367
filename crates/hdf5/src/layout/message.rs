//! Layout messages of versions 1 to 5 (docs/spec/hdf5-netcdf4.md E.1 to E.3).
use super::{ElementLayout, IndexKind};
use crate::address::FieldSizes;
use crate::cursor::ByteCursor;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};

#[cfg(test)]
mod tests;

/// A layout message.
#[derive(Debug)]
pub(super) struct LayoutMessage {
    pub(super) arrangement: ElementLayout,
    /// Size of one element as repeated in a chunked layout.
    pub(super) element_len: Option<u64>,
}

/// Parses the layout of a dataset whose elements take `need` bytes.
pub(super) fn parse(body: &Bytes, sizes: FieldSizes, need: u64) -> Result<LayoutMessage> {
    let mut cursor = ByteCursor::new(body, "a data layout");
    match cursor.version(&[1, 2, 3, 4, 5])? {
        1 | 2 => oldest(body, cursor, sizes, need),
        version => newer(body, cursor, sizes, version),
    }
}

impl LayoutMessage {
    fn of(arrangement: ElementLayout) -> Self {
        Self { arrangement, element_len: None }
    }
}

/// Versions 1 and 2, in which contiguous data have no length of their own.
fn oldest(body: &Bytes, mut cursor: ByteCursor<'_>, sizes: FieldSizes, need: u64) -> Result<LayoutMessage> {
    let dimensionality = cursor.u8()?;
    let class = cursor.u8()?;
    cursor.skip(5)?;
    let addr = if class == 0 { None } else { cursor.addr(sizes)? };
    match class {
        0 => {
            cursor.skip(4 * usize::from(dimensionality))?;
            let len = cursor.u32()?;
            compact(body, cursor, u64::from(len))
        }
        1 => Ok(LayoutMessage::of(ElementLayout::Contiguous { addr, byte_len: need })),
        2 => {
            let (shape, element_len) = chunk_dims(&mut cursor, dimensionality, 4)?;
            Ok(tree_of_chunks(shape, element_len, addr))
        }
        other => Err(unknown_class(other)),
    }
}

/// Versions 3 to 5.
fn newer(body: &Bytes, mut cursor: ByteCursor<'_>, sizes: FieldSizes, version: u8) -> Result<LayoutMessage> {
    match (cursor.u8()?, version) {
        (0, _) => {
            let len = cursor.u16()?;
            compact(body, cursor, u64::from(len))
        }
        (1, _) => {
            let (addr, byte_len) = (cursor.addr(sizes)?, cursor.len(sizes)?);
            Ok(LayoutMessage::of(ElementLayout::Contiguous { addr, byte_len }))
        }
        (2, 3) => {
            let dimensionality = cursor.u8()?;
            let addr = cursor.addr(sizes)?;
            let (shape, element_len) = chunk_dims(&mut cursor, dimensionality, 4)?;
            Ok(tree_of_chunks(shape, element_len, addr))
        }
        (2, _) => indexed(cursor, sizes, version),
        (3, 4 | 5) => {
            let (collection, index) = (cursor.addr(sizes)?, cursor.u32()?);
            Ok(LayoutMessage::of(ElementLayout::Virtual { collection, index }))
        }
        (other, _) => Err(unknown_class(other)),
    }
}

/// Chunks of versions 4 and 5, with one of the newer indexes.
fn indexed(mut cursor: ByteCursor<'_>, sizes: FieldSizes, version: u8) -> Result<LayoutMessage> {
    const EDGES_UNFILTERED: u8 = 1;
    const SINGLE_FILTERED: u8 = 2;
    let flags = cursor.u8()?;
    let dimensionality = cursor.u8()?;
    let width = usize::from(cursor.u8()?);
    let (shape, element_len) = chunk_dims(&mut cursor, dimensionality, width)?;
    let index = match cursor.u8()? {
        1 if flags & SINGLE_FILTERED != 0 => {
            IndexKind::Single { filtered: Some((cursor.len(sizes)?, cursor.u32()?)) }
        }
        1 => IndexKind::Single { filtered: None },
        2 => IndexKind::Implicit,
        3 => IndexKind::FixedArray { page_bits: cursor.u8()? },
        // Pointers before elements: the header of the array has the two the other way round
        // (docs/spec/hdf5-netcdf4.md E.3).
        4 => IndexKind::ExtensibleArray {
            max_bits: cursor.u8()?,
            in_index: cursor.u8()?,
            min_pointers: cursor.u8()?,
            min_elements: cursor.u8()?,
            page_bits: cursor.u8()?,
        },
        5 => {
            // Size of nodes and percentages, which the header of the tree repeats.
            cursor.skip(6)?;
            IndexKind::BTree2
        }
        other => return Err(Error::malformed(format!("a chunk index of unknown type {other}"))),
    };
    let addr = cursor.addr(sizes)?;
    let edges_unfiltered = flags & EDGES_UNFILTERED != 0;
    let arrangement = ElementLayout::Chunked { shape, index, addr, edges_unfiltered, version };
    Ok(LayoutMessage { arrangement, element_len: Some(element_len) })
}

/// The shape of a chunk and the element size that follows it.
fn chunk_dims(cursor: &mut ByteCursor<'_>, dimensionality: u8, width: usize) -> Result<(Vec<u64>, u64)> {
    if width == 0 {
        return Err(Error::malformed("chunk lengths of 0 bytes each"));
    }
    let mut dims = (0..dimensionality).map(|_| cursor.uint(width)).collect::<Result<Vec<_>>>()?;
    let element_len = dims.pop().ok_or_else(|| Error::malformed("chunks without dimensions"))?;
    match dims.iter().position(|len| *len == 0) {
        Some(axis) => Err(Error::malformed(format!("chunk length of axis {axis} is 0"))),
        None => Ok((dims, element_len)),
    }
}

fn tree_of_chunks(
    shape: Vec<u64>,
    element_len: u64,
    addr: Option<crate::address::FileAddress>,
) -> LayoutMessage {
    let (index, edges_unfiltered, version) = (IndexKind::BTree1, false, 3);
    let arrangement = ElementLayout::Chunked { shape, index, addr, edges_unfiltered, version };
    LayoutMessage { arrangement, element_len: Some(element_len) }
}

fn compact(body: &Bytes, mut cursor: ByteCursor<'_>, len: u64) -> Result<LayoutMessage> {
    let data = cursor.take(usize::try_from(len).unwrap_or(usize::MAX))?;
    Ok(LayoutMessage::of(ElementLayout::Compact(body.slice_ref(data))))
}

fn unknown_class(class: u8) -> Error {
    Error::unsupported(format!("a data layout of class {class}"))
}
