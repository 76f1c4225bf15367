//! Filter pipeline messages (hdf5-netcdf4.md G.1).
use crate::cursor::Cursor;
use ncirrus_layout::{Error, Result};
use ncirrus_model::CodecSpec;

#[cfg(test)]
mod tests;

/// Most filters of one dataset: a chunk's mask has a bit for each.
const MOST: u8 = 32;
/// Filters below this number are HDF5's own and have no name in messages of version 2.
const FIRST_NAMED: u16 = 256;
const SHUFFLE: u32 = 2;

/// A filter and the name that the message gives it; empty when it gives none.
pub(crate) type NamedFilter = (CodecSpec, String);

/// The filters in these bytes in the order of encoding, for elements of `element_len` bytes.
pub(crate) fn parse(body: &[u8], element_len: u64) -> Result<Vec<NamedFilter>> {
    let mut cursor = Cursor::new(body, "a filter pipeline");
    let version = cursor.version(&[1, 2])?;
    let count = cursor.u8()?;
    if count > MOST {
        return Err(Error::malformed(format!("a filter pipeline of {count} filters, more than {MOST}")));
    }
    if version == 1 {
        cursor.skip(6)?;
    }
    (0..count).map(|_| filter(&mut cursor, version, element_len)).collect()
}

fn filter(cursor: &mut Cursor<'_>, version: u8, element_len: u64) -> Result<NamedFilter> {
    const OPTIONAL: u16 = 1;
    let id = cursor.u16()?;
    let has_name = version == 1 || id >= FIRST_NAMED;
    let name_len = if has_name { cursor.u16()? } else { 0 };
    let flags = cursor.u16()?;
    let count = cursor.u16()?;
    let name = text(cursor.take(usize::from(name_len))?);
    let mut parameters = (0..count).map(|_| cursor.u32()).collect::<Result<Vec<_>>>()?;
    if version == 1 && count % 2 == 1 {
        // The last filter's padding may be cut off with the message.
        cursor.skip(cursor.left().min(4))?;
    }
    let id = u32::from(id);
    if id == SHUFFLE && parameters.is_empty() {
        parameters.extend(u32::try_from(element_len));
    }
    Ok((CodecSpec::Hdf5 { id, parameters, optional: flags & OPTIONAL != 0 }, name))
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}
