//! Bodies of messages as they are written (hdf5-netcdf4.md B.5, C.2, C.5, D, E, G.1, I.1).
use super::out::Out;
use super::types::encode_datatype;
use crate::file::{Addr, Sizes};
use crate::place::{Arrangement, IndexKind};
use crate::word::{Dataspace, Datatype, Fill};
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use ncirrus_model::CodecSpec;

/// Link info of a group whose links are in its header, `count` so far, their order kept and indexed.
pub(crate) fn link_info(count: u64, sizes: Sizes) -> Bytes {
    let mut out = Out::new();
    out.u8(0).u8(3).u64(count).addr(None, sizes).addr(None, sizes).addr(None, sizes);
    out.finish()
}

/// Group info with nothing but defaults.
pub(crate) fn group_info() -> Bytes {
    Bytes::from_static(&[0, 0])
}

/// Attribute info of an object whose attributes are in its header, `count` so far, their order kept and indexed.
pub(crate) fn attribute_info(count: u16, sizes: Sizes) -> Bytes {
    let mut out = Out::new();
    out.u8(0).u8(3).u16(count).addr(None, sizes).addr(None, sizes).addr(None, sizes);
    out.finish()
}

/// A hard link.
///
/// # Errors
/// `Limit` when the name is too long.
pub(crate) fn link(name: &str, order: u64, addr: Addr, sizes: Sizes) -> Result<Bytes> {
    const ORDERED_UTF8: u8 = 0x14;
    const UTF8: u8 = 1;
    let (code, width) = if name.len() < 256 { (0, 1) } else { (1, 2) };
    if name.len() > MOST_NAME {
        return Err(too_long("name", name.len()));
    }
    let mut out = Out::new();
    out.u8(1).u8(ORDERED_UTF8 | code).u64(order).u8(UTF8).uint(name.len() as u64, width);
    out.bytes(name.as_bytes()).addr(Some(addr), sizes);
    Ok(out.finish())
}

/// A dataspace.
pub(crate) fn dataspace(space: &Dataspace, sizes: Sizes) -> Bytes {
    let mut out = Out::new();
    match space {
        Dataspace::Null => out.u8(2).u8(0).u8(0).u8(2),
        Dataspace::Scalar => out.u8(2).u8(0).u8(0).u8(0),
        Dataspace::Simple { dims, max } => {
            let has_max = !dims.iter().map(|len| Some(*len)).eq(max.iter().copied());
            out.u8(2).uint(dims.len() as u64, 1).u8(u8::from(has_max)).u8(1);
            for len in dims {
                out.length(*len, sizes);
            }
            for len in max.iter().filter(|_| has_max) {
                out.length(len.unwrap_or(u64::MAX), sizes);
            }
            &mut out
        }
    };
    out.finish()
}

/// A datatype, whether committed or not.
///
/// # Errors
/// As [`encode_datatype`].
pub(crate) fn datatype(datatype: &Datatype) -> Result<Bytes> {
    encode_datatype(datatype).map(Bytes::from)
}

/// Stands for a message that another object header has: a committed type.
pub(crate) fn shared(addr: Addr, sizes: Sizes) -> Bytes {
    let mut out = Out::new();
    out.u8(2).u8(2).addr(Some(addr), sizes);
    out.finish()
}

/// How many links and uses an object has.
pub(crate) fn reference_count(count: u32) -> Bytes {
    let mut out = Out::new();
    out.u8(0).u32(count);
    out.finish()
}

/// A fill value, and when space is allocated: 1 early, 2 late, 3 chunk by chunk.
///
/// # Errors
/// `Limit` when one element is too long.
pub(crate) fn fill(fill: &Fill, allocation: u8) -> Result<Bytes> {
    const NEVER: u8 = 1 << 2;
    const IF_SET: u8 = 2 << 2;
    const PRESENT: u8 = 0x20;
    let time = if fill.never { NEVER } else { IF_SET };
    let mut out = Out::new();
    match &fill.value {
        None => _ = out.u8(3).u8(allocation | time),
        Some(value) => {
            let len = u32::try_from(value.len()).map_err(|_| too_long("fill value", value.len()))?;
            out.u8(3).u8(allocation | time | PRESENT).u32(len).bytes(value);
        }
    }
    Ok(out.finish())
}

/// A data layout, for elements of `element` bytes.
///
/// # Errors
/// `Limit` when a length does not fit its field, `Unsupported` for external and virtual data.
pub(crate) fn layout(arrangement: &Arrangement, element: u64, sizes: Sizes) -> Result<Bytes> {
    let mut out = Out::new();
    match arrangement {
        Arrangement::Compact(data) => {
            let len = u16::try_from(data.len()).map_err(|_| too_long("compact data", data.len()))?;
            out.u8(3).u8(0).u16(len).bytes(data);
        }
        Arrangement::Contiguous { addr, byte_len } => {
            _ = out.u8(3).u8(1).addr(*addr, sizes).length(*byte_len, sizes)
        }
        Arrangement::Chunked { shape, index, addr, edges_unfiltered, version } if *version > 3 => {
            new_chunked(&mut out, (shape, element), *index, *addr, (*version, *edges_unfiltered), sizes);
        }
        Arrangement::Chunked { shape, addr, .. } => {
            out.u8(3).u8(2).uint(shape.len() as u64 + 1, 1).addr(*addr, sizes);
            for len in shape.iter().chain([&element]) {
                out.u32(u32::try_from(*len).map_err(|_| Error::limit(format!("a chunk of {len} elements")))?);
            }
        }
        Arrangement::External(_) | Arrangement::Virtual { .. } => {
            return Err(Error::unsupported("writing of external and virtual data"));
        }
    }
    Ok(out.finish())
}

/// Chunks with an index that only HDF5 1.10 and newer know.
fn new_chunked(
    out: &mut Out,
    (shape, element): (&[u64], u64),
    index: IndexKind,
    addr: Option<Addr>,
    (version, edges_unfiltered): (u8, bool),
    sizes: Sizes,
) {
    const SINGLE_FILTERED: u8 = 2;
    let is_filtered = matches!(index, IndexKind::Single { filtered: Some(_) });
    let flags = u8::from(edges_unfiltered) | if is_filtered { SINGLE_FILTERED } else { 0 };
    let longest = shape.iter().copied().max().unwrap_or(1).max(element);
    let width = (8 - longest.leading_zeros() / 8).clamp(1, 8) as u8;
    out.u8(version).u8(2).u8(flags).uint(shape.len() as u64 + 1, 1).u8(width);
    for len in shape.iter().chain([&element]) {
        out.uint(*len, usize::from(width));
    }
    match index {
        IndexKind::BTree1 => out.u8(0),
        IndexKind::Single { filtered: None } => out.u8(1),
        IndexKind::Single { filtered: Some((len, mask)) } => out.u8(1).length(len, sizes).u32(mask),
        IndexKind::Implicit => out.u8(2),
        IndexKind::FixedArray { page_bits } => out.u8(3).u8(page_bits),
        IndexKind::ExtensibleArray { max_bits, in_index, min_pointers, min_elements, page_bits } => {
            out.u8(4).u8(max_bits).u8(in_index).u8(min_pointers).u8(min_elements).u8(page_bits)
        }
        IndexKind::BTree2 => out.u8(5).u32(BTREE2_NODE).u8(100).u8(40),
    };
    out.addr(addr, sizes);
}

/// Filters in the order of encoding.
///
/// # Errors
/// `Invalid` when one is not of HDF5, `Limit` when a number does not fit its field.
pub(crate) fn pipeline(filters: &[CodecSpec]) -> Result<Bytes> {
    if filters.len() > MOST_FILTERS {
        return Err(Error::unsupported(format!(
            "{} filters: HDF5 has at most {MOST_FILTERS}",
            filters.len()
        )));
    }
    let mut out = Out::new();
    out.u8(2).uint(filters.len() as u64, 1);
    for filter in filters {
        let CodecSpec::Hdf5 { id, parameters, optional } = filter else {
            return Err(Error::invalid(format!("{} is no filter of HDF5", filter.identifier())));
        };
        let id =
            u16::try_from(*id).map_err(|_| Error::invalid(format!("filter {id}: numbers end at 65535")))?;
        let count =
            u16::try_from(parameters.len()).map_err(|_| too_long("list of parameters", parameters.len()))?;
        out.u16(id);
        if id >= 256 {
            out.u16(0);
        }
        out.u16(u16::from(*optional)).u16(count);
        parameters.iter().for_each(|value| _ = out.u32(*value));
    }
    Ok(out.finish())
}

/// An attribute; its datatype is the committed one where it says so.
///
/// # Errors
/// `Limit` when the name is too long, else as [`encode_datatype`].
pub(crate) fn attribute(
    name: &str,
    datatype: &Datatype,
    space: &Dataspace,
    data: &[u8],
    sizes: Sizes,
) -> Result<Bytes> {
    let ty = match datatype.committed {
        Some(addr) => shared(addr, sizes),
        None => self::datatype(datatype)?,
    };
    let space = dataspace(space, sizes);
    let len = |what, len: usize| u16::try_from(len).map_err(|_| too_long(what, len));
    let mut out = Out::new();
    out.u8(3).u8(u8::from(datatype.committed.is_some()));
    out.u16(len("name", name.len() + 1)?).u16(len("datatype", ty.len())?).u16(len("dataspace", space.len())?);
    out.u8(u8::from(!name.is_ascii())).bytes(name.as_bytes()).u8(0);
    out.bytes(&ty).bytes(&space).bytes(data);
    Ok(out.finish())
}

fn too_long(what: &str, len: usize) -> Error {
    Error::unsupported(format!("a {what} of {len} bytes does not fit an object header"))
}

/// Bytes of a node of a version 2 B-tree of chunks.
pub(crate) const BTREE2_NODE: u32 = 2048;
const MOST_NAME: usize = 65_000;
const MOST_FILTERS: usize = 32;
