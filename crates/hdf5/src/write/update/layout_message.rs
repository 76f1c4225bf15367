//! Existing layout messages, with other addresses or contents (docs/spec/hdf5-netcdf4.md E.1 to E.3).
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::ByteCursor;
use crate::layout::IndexKind;
use crate::write::out::ByteSink;
use crate::write::put::{put, put_uint};
use bytes::Bytes;
use ncirrus_layout::{Error, Result};

/// The same message with the address of the data, or of a chunk index of that kind.
///
/// # Errors
/// If the message is of another kind, or damaged.
pub(super) fn with_address(
    body: &[u8],
    kind: Option<IndexKind>,
    addr: FileAddress,
    sizes: FieldSizes,
) -> Result<Bytes> {
    let mut cursor = ByteCursor::new(body, "a data layout");
    let version = cursor.version(&[1, 2, 3, 4, 5])?;
    let class = if version < 3 { body.get(2).copied() } else { body.get(1).copied() };
    let at: usize = match (version, class) {
        (1 | 2, Some(1 | 2)) => 8,
        (3.., Some(1)) => 2,
        (3, Some(2)) => 3,
        (4 | 5, Some(2)) => return indexed(body, kind, addr, sizes),
        _ => return Err(Error::unsupported("a data layout without an address")),
    };
    cursor.skip(at.saturating_sub(cursor.position()) + usize::from(sizes.offsets))?;
    let mut bytes = body.to_vec();
    put_uint(&mut bytes, at, addr.0, sizes.offsets, "a data layout")?;
    Ok(bytes.into())
}

/// Chunks with one of the newer indexes; for a single chunk with filters the message contains the length.
fn indexed(body: &[u8], kind: Option<IndexKind>, addr: FileAddress, sizes: FieldSizes) -> Result<Bytes> {
    const SINGLE_FILTERED: u8 = 2;
    let mut cursor = ByteCursor::new(body, "a data layout");
    cursor.skip(2)?;
    let flags = cursor.u8()?;
    let (dims, width) = (cursor.u8()?, cursor.u8()?);
    cursor.skip(usize::from(dims) * usize::from(width))?;
    let number = cursor.u8()?;
    let mut out = ByteSink::new();
    let before = cursor.taken();
    let lengths = usize::from(sizes.lengths) + 4;
    // The bytes of an index's parameters (docs/spec/hdf5-netcdf4.md E.3).
    let parameters = match number {
        1 if flags & SINGLE_FILTERED != 0 => lengths,
        1 | 2 => 0,
        3 => 1,
        4 => 5,
        5 => 6,
        other => return Err(Error::malformed(format!("a chunk index of unknown type {other}"))),
    };
    let old = cursor.take(parameters)?;
    out.bytes(before);
    match kind {
        Some(IndexKind::Single { filtered: Some((len, mask)) }) => out.length(len, sizes).u32(mask),
        Some(IndexKind::Single { filtered: None }) => &mut out,
        _ => out.bytes(old),
    };
    let mut bytes = out.addr(Some(addr), sizes).finish().to_vec();
    let filtered = matches!(kind, Some(IndexKind::Single { filtered: Some(_) }));
    if number == 1 && kind.is_some() {
        let flags = (flags & !SINGLE_FILTERED) | if filtered { SINGLE_FILTERED } else { 0 };
        put(&mut bytes, 2, &[flags], "a data layout")?;
    }
    Ok(bytes.into())
}

/// The same message with other data in it.
///
/// # Errors
/// If it does not have that many bytes of data.
pub(super) fn with_data(body: &[u8], data: &[u8]) -> Result<Bytes> {
    let mut cursor = ByteCursor::new(body, "a data layout");
    let at = match cursor.version(&[1, 2, 3, 4, 5])? {
        1 | 2 => 8 + 4 * usize::from(cursor.u8()?) + 4,
        _ => 4,
    };
    let mut bytes = body.to_vec();
    let place = bytes.get_mut(at..at + data.len());
    place
        .ok_or_else(|| Error::malformed("compact data that are shorter than their dataset"))?
        .copy_from_slice(data);
    Ok(bytes.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::layout::ElementLayout;
    use crate::write::message::layout;
    use rstest::rstest;

    const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

    fn chunked(index: IndexKind, addr: u64, version: u8) -> Bytes {
        let addr = Some(FileAddress(addr));
        let arrangement =
            ElementLayout::Chunked { shape: vec![2, 300], index, addr, edges_unfiltered: false, version };
        layout(&arrangement, 4, SIZES).unwrap()
    }

    #[rstest]
    #[case(IndexKind::BTree1, IndexKind::BTree1)]
    #[case(IndexKind::BTree2, IndexKind::BTree2)]
    #[case(IndexKind::FixedArray { page_bits: 10 }, IndexKind::FixedArray { page_bits: 10 })]
    #[case(IndexKind::Single { filtered: None }, IndexKind::Single { filtered: Some((77, 1)) })]
    #[case(IndexKind::Single { filtered: Some((1, 0)) }, IndexKind::Single { filtered: None })]
    fn a_changed_message_is_the_one_that_would_be_written(#[case] old: IndexKind, #[case] new: IndexKind) {
        let body = chunked(old, 1000, 4);
        assert_eq!(with_address(&body, Some(new), FileAddress(5000), SIZES).unwrap(), chunked(new, 5000, 4));
        for len in 0..body.len() {
            let _ = with_address(&body[..len], Some(new), FileAddress(5000), SIZES);
        }
    }

    #[test]
    fn compact_data_are_replaced_where_they_are() {
        let compact = |data: &'static [u8]| {
            layout(&ElementLayout::Compact(Bytes::from_static(data)), 1, SIZES).unwrap()
        };
        assert_eq!(with_data(&compact(b"old!"), b"new!").unwrap(), compact(b"new!"));
        assert!(with_data(&compact(b"old!"), b"too long").is_err());
    }
}
