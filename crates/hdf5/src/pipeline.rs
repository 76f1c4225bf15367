//! Filter pipeline messages (docs/spec/hdf5-netcdf4.md G.1).
use crate::cursor::ByteCursor;
use ncirrus_layout::{Error, Result};
use ncirrus_model::CodecSpec;

#[cfg(test)]
mod tests;

/// Maximum number of filters of one dataset: a chunk's mask has a bit for each.
const MAX_FILTERS: u8 = 32;
/// Filters below this number are HDF5's own and have no name in messages of version 2.
const FIRST_NAMED: u16 = 256;
const SHUFFLE: u32 = 2;

/// A filter and its name in the message, otherwise its registered name; empty if there is none.
pub(crate) type NamedFilter = (CodecSpec, String);

/// The filters in these bytes in the order of encoding, for elements of `element_len` bytes.
pub(crate) fn parse(body: &[u8], element_len: u64) -> Result<Vec<NamedFilter>> {
    let mut cursor = ByteCursor::new(body, "a filter pipeline");
    let version = cursor.version(&[1, 2])?;
    let count = cursor.u8()?;
    if count > MAX_FILTERS {
        return Err(Error::malformed(format!(
            "a filter pipeline of {count} filters, more than {MAX_FILTERS}"
        )));
    }
    if version == 1 {
        cursor.skip(6)?;
    }
    (0..count).map(|_| filter(&mut cursor, version, element_len)).collect()
}

fn filter(cursor: &mut ByteCursor<'_>, version: u8, element_len: u64) -> Result<NamedFilter> {
    const OPTIONAL: u16 = 1;
    let id = cursor.u16()?;
    let has_name = version == 1 || id >= FIRST_NAMED;
    let name_len = if has_name { cursor.u16()? } else { 0 };
    let flags = cursor.u16()?;
    let count = cursor.u16()?;
    let mut name = text(cursor.take(usize::from(name_len))?);
    let mut parameters = (0..count).map(|_| cursor.u32()).collect::<Result<Vec<_>>>()?;
    if version == 1 && count % 2 == 1 {
        // The last filter's padding may be cut off with the message.
        cursor.skip(cursor.left().min(4))?;
    }
    let id = u32::from(id);
    if name.is_empty() {
        name = registered(id).to_owned();
    }
    if id == SHUFFLE && parameters.is_empty() {
        parameters.extend(u32::try_from(element_len));
    }
    Ok((CodecSpec::Hdf5 { id, parameters, optional: flags & OPTIONAL != 0 }, name))
}

/// The name of a filter registered with The HDF Group; empty for an unregistered one, and for HDF5's own.
pub(crate) fn registered(id: u32) -> &'static str {
    REGISTERED.iter().find(|(known, _)| *known == id).map_or("", |(_, name)| name)
}

fn text(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}

/// Filters that are registered with The HDF Group.
const REGISTERED: &[(u32, &str)] = &[
    (305, "LZO"),
    (307, "bzip2"),
    (32000, "LZF"),
    (32001, "Blosc"),
    (32002, "MAFISC"),
    (32003, "Snappy"),
    (32004, "LZ4"),
    (32005, "APAX"),
    (32006, "CBF"),
    (32007, "JPEG-XR"),
    (32008, "bitshuffle"),
    (32009, "SPDP"),
    (32010, "LPC-Rice"),
    (32011, "CCSDS-123"),
    (32012, "JPEG-LS"),
    (32013, "ZFP"),
    (32014, "FPZIP"),
    (32015, "Zstandard"),
    (32016, "B3D"),
    (32017, "SZ"),
    (32018, "FCIDECOMP"),
    (32019, "JPEG"),
    (32020, "VBZ"),
    (32021, "FAPEC"),
    (32022, "BitGroom"),
    (32023, "Granular BitRound"),
    (32024, "SZ3"),
    (32025, "Delta-Rice"),
    (32026, "Blosc2"),
    (32027, "FLAC"),
    (32028, "SPERR"),
    (32029, "TERSE/PROLIX"),
    (32030, "FFMPEG"),
];
