//! Layout messages (docs/spec/hdf5-netcdf4.md E.2, E.3).
use super::fitting;
use crate::address::{FieldSizes, FileAddress};
use crate::layout::{ElementLayout, IndexKind};
use crate::write::index::btree2::{MERGE_PERCENT, NODE_LEN, SPLIT_PERCENT};
use crate::write::out::ByteSink;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};

/// The layout of a dataset with elements of that size: version 3 or, if an index of chunks requires it, the version
/// in the arrangement.
///
/// # Errors
/// For arrangements that are not written, and values that do not fit the message.
pub(crate) fn layout(arrangement: &ElementLayout, element_len: u64, sizes: FieldSizes) -> Result<Bytes> {
    let mut out = ByteSink::new();
    match arrangement {
        ElementLayout::Compact(data) => {
            // A message that is too long is refused as a whole.
            out.bytes(&[3, 0]).uint(data.len() as u64, 2).bytes(data);
        }
        ElementLayout::Contiguous { addr, byte_len } => {
            out.bytes(&[3, 1]).addr(*addr, sizes).length(*byte_len, sizes);
        }
        ElementLayout::Chunked { shape, index: IndexKind::BTree1, addr, .. } => {
            out.bytes(&[3, 2]).uint(shape.len() as u64 + 1, 1).addr(*addr, sizes);
            for len in shape.iter().chain([&element_len]) {
                let len = u32::try_from(*len);
                out.u32(
                    len.map_err(|_| Error::unsupported(format!("a chunk of shape {shape:?}: 2^32 or more")))?,
                );
            }
        }
        ElementLayout::Chunked { shape, index, addr, edges_unfiltered, version } => {
            let dims: Vec<u64> = shape.iter().copied().chain([element_len]).collect();
            indexed(&mut out, *version, *edges_unfiltered, &dims, (*index, *addr), sizes);
        }
        ElementLayout::External(_) | ElementLayout::Virtual { .. } => {
            return Err(Error::unsupported("writing of external and virtual datasets"));
        }
    }
    fitting(out.finish(), "a data layout")
}

/// Chunks of version 4 or 5. `dims` end with the element size.
fn indexed(
    out: &mut ByteSink,
    version: u8,
    edges_unfiltered: bool,
    dims: &[u64],
    (index, addr): (IndexKind, Option<FileAddress>),
    sizes: FieldSizes,
) {
    const SINGLE_FILTERED: u8 = 2;
    let is_filtered = matches!(index, IndexKind::Single { filtered: Some(_) });
    let flags = u8::from(edges_unfiltered) | if is_filtered { SINGLE_FILTERED } else { 0 };
    let max = dims.iter().copied().max().unwrap_or(1).max(1);
    let width = max.ilog2() as usize / 8 + 1;
    out.u8(version).u8(2).u8(flags).uint(dims.len() as u64, 1).uint(width as u64, 1);
    dims.iter().for_each(|len| _ = out.uint(*len, width));
    match index {
        IndexKind::Single { filtered: None } => out.u8(1),
        IndexKind::Single { filtered: Some((len, mask)) } => out.u8(1).length(len, sizes).u32(mask),
        IndexKind::Implicit => out.u8(2),
        IndexKind::FixedArray { page_bits } => out.u8(3).u8(page_bits),
        IndexKind::ExtensibleArray { max_bits, in_index, min_pointers, min_elements, page_bits } => {
            out.u8(4).bytes(&[max_bits, in_index, min_pointers, min_elements, page_bits])
        }
        IndexKind::BTree1 | IndexKind::BTree2 => out.u8(5).u32(NODE_LEN).u8(SPLIT_PERCENT).u8(MERGE_PERCENT),
    };
    out.addr(addr, sizes);
}
