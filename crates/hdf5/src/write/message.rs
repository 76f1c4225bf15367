//! Encoding of message bodies (docs/spec/hdf5-netcdf4.md B.5, C.2, C.5, D, E, G.1, I.1).
mod layout;

pub(crate) use layout::layout;

use super::dense::DenseAttributes;
use super::out::ByteSink;
use super::types::encode_datatype;
use crate::address::{FieldSizes, FileAddress};
use crate::datatypes::{Dataspace, Datatype, FillMessage};
use crate::pipeline;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use ncirrus_model::CodecSpec;

/// Maximum size of a message's body.
pub(crate) const MAX_BODY_BYTES: usize = 65_535;

/// A dataspace of version 2.
pub(crate) fn dataspace(space: &Dataspace, sizes: FieldSizes) -> Bytes {
    let mut out = ByteSink::new();
    match space {
        Dataspace::Scalar => out.bytes(&[2, 0, 0, 0]),
        Dataspace::Null => out.bytes(&[2, 0, 0, 2]),
        Dataspace::Simple { dims, max } => {
            out.u8(2).uint(dims.len() as u64, 1).bytes(&[1, 1]);
            dims.iter().for_each(|len| _ = out.length(*len, sizes));
            // An unlimited length is all ones.
            max.iter().for_each(|len| _ = out.length(len.unwrap_or(u64::MAX), sizes));
            &mut out
        }
    };
    out.finish()
}

/// A datatype.
///
/// # Errors
/// If its description is too long for a message.
pub(crate) fn datatype(datatype: &Datatype) -> Result<Bytes> {
    fitting(encode_datatype(datatype).into(), "a datatype")
}

/// A record of a committed datatype, instead of the datatype.
pub(crate) fn shared(addr: FileAddress, sizes: FieldSizes) -> Bytes {
    ByteSink::new().bytes(&[2, 2]).addr(Some(addr), sizes).finish()
}

/// A fill value of version 3. `allocation`: 1 early, 2 late, 3 incremental.
///
/// # Errors
/// If the value is too long for a message.
pub(crate) fn fill(fill: &FillMessage, allocation: u8) -> Result<Bytes> {
    const NEVER: u8 = 1 << 2;
    const IF_SET: u8 = 2 << 2;
    const PRESENT: u8 = 0x20;
    let time = if fill.never { NEVER } else { IF_SET };
    let Some(value) = &fill.value else { return Ok(Bytes::copy_from_slice(&[3, allocation | time])) };
    let len = u32::try_from(value.len()).unwrap_or(u32::MAX);
    let body = ByteSink::new().u8(3).u8(allocation | time | PRESENT).u32(len).bytes(value).finish();
    fitting(body, "a fill value")
}

/// A filter pipeline of version 2: only filters other than HDF5's own have names.
///
/// # Errors
/// For codecs that are not HDF5 filters, and more filters or parameters than the message allows.
pub(crate) fn pipeline(filters: &[CodecSpec]) -> Result<Bytes> {
    /// The mask of a chunk has a bit for each.
    const MAX_FILTERS: usize = 32;
    const FIRST_NAMED: u16 = 256;
    if filters.len() > MAX_FILTERS {
        return Err(Error::unsupported(format!("{} filters: HDF5 has at most {MAX_FILTERS}", filters.len())));
    }
    let mut out = ByteSink::new();
    out.u8(2).uint(filters.len() as u64, 1);
    for filter in filters {
        let CodecSpec::Hdf5 { id, parameters, optional } = filter else {
            return Err(Error::unsupported(format!("codec {} is not an HDF5 filter", filter.identifier())));
        };
        let number =
            u16::try_from(*id).map_err(|_| Error::invalid(format!("{id} is not a valid filter number")))?;
        let count = u16::try_from(parameters.len());
        let count =
            count.map_err(|_| Error::invalid(format!("{} parameters of filter {id}", parameters.len())))?;
        let name = pipeline::registered(*id);
        let name_len = if name.is_empty() { 0 } else { name.len() + 1 };
        let named = number >= FIRST_NAMED;
        out.u16(number);
        if named {
            out.uint(name_len as u64, 2);
        }
        out.u16(u16::from(*optional)).u16(count);
        if named && name_len > 0 {
            out.bytes(name.as_bytes()).u8(0);
        }
        parameters.iter().for_each(|value| _ = out.u32(*value));
    }
    fitting(out.finish(), "a filter pipeline")
}

/// An attribute of version 3; `data` are its stored elements.
///
/// # Errors
/// If its name or type is too long.
pub(crate) fn attribute(
    name: &str,
    datatype: &Datatype,
    space: &Dataspace,
    data: &[u8],
    sizes: FieldSizes,
) -> Result<Bytes> {
    const SHARED_DATATYPE: u8 = 1;
    let (flags, datatype) = match datatype.committed {
        Some(addr) => (SHARED_DATATYPE, shared(addr, sizes)),
        None => (0, self::datatype(datatype)?),
    };
    let space = dataspace(space, sizes);
    let mut out = ByteSink::new();
    out.u8(3).u8(flags);
    for (len, what) in [(name.len() + 1, "name"), (datatype.len(), "type"), (space.len(), "shape")] {
        let len = u16::try_from(len);
        out.u16(len.map_err(|_| {
            Error::unsupported(format!("the attribute's {what} is longer than {MAX_BODY_BYTES} bytes"))
        })?);
    }
    out.u8(charset(name)).bytes(name.as_bytes()).u8(0).bytes(&datatype).bytes(&space).bytes(data);
    Ok(out.finish())
}

/// A hard link.
///
/// # Errors
/// If the name is too long for a message.
pub(crate) fn link(name: &str, order: u64, addr: FileAddress, sizes: FieldSizes) -> Result<Bytes> {
    const ORDER: u8 = 4;
    const CHARSET: u8 = 0x10;
    // The width of the name's length is a power of two.
    let (flag, width) = if name.len() < 256 { (0, 1) } else { (1, 2) };
    let mut out = ByteSink::new();
    out.u8(1).u8(ORDER | CHARSET | flag).u64(order).u8(1);
    out.uint(name.len() as u64, width).bytes(name.as_bytes()).addr(Some(addr), sizes);
    fitting(out.finish(), "a link")
}

/// The link info of a group whose `count` links are messages in creation order.
pub(crate) fn link_info(count: u64, sizes: FieldSizes) -> Bytes {
    let mut out = ByteSink::new();
    out.bytes(TRACKED_AND_INDEXED).u64(count).addr(None, sizes).addr(None, sizes).addr(None, sizes);
    out.finish()
}

/// The group info, which is empty.
pub(crate) fn group_info() -> Bytes {
    Bytes::from_static(&[0, 0])
}

/// The attribute info of an object whose `count` attributes are messages in creation order, or stored elsewhere.
pub(crate) fn attribute_info(count: u16, dense: Option<DenseAttributes>, sizes: FieldSizes) -> Bytes {
    let mut out = ByteSink::new();
    out.bytes(TRACKED_AND_INDEXED).u16(count).addr(dense.map(|dense| dense.heap), sizes);
    out.addr(dense.map(|dense| dense.names), sizes).addr(dense.and_then(|dense| dense.orders), sizes);
    out.finish()
}

/// The number of links to an object and of uses of its shared messages.
pub(crate) fn reference_count(count: u32) -> Bytes {
    ByteSink::new().u8(0).u32(count).finish()
}

fn charset(name: &str) -> u8 {
    u8::from(!name.is_ascii())
}

fn fitting(body: Bytes, what: &str) -> Result<Bytes> {
    if body.len() > MAX_BODY_BYTES {
        return Err(Error::unsupported(format!(
            "{what} of {} bytes, more than the {MAX_BODY_BYTES} of a message",
            body.len()
        )));
    }
    Ok(body)
}

/// Version 0; the order is tracked, and there would be an index of it.
const TRACKED_AND_INDEXED: &[u8] = &[0, 3];

#[cfg(test)]
mod tests;
