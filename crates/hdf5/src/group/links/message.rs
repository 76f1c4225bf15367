//! Link messages, and groups that have them in their object header.
use super::{FoundLink, FoundLinks, LinkTarget};
use crate::address::FieldSizes;
use crate::cursor::{ByteCursor, escaped};
use crate::file::Hdf5File;
use crate::object::{ObjectHeader, kind};
use ncirrus_layout::Error;

/// The links in the link messages of a group.
pub(super) fn compact(file: &Hdf5File, header: &ObjectHeader) -> FoundLinks {
    let mut found = FoundLinks::default();
    header.all(kind::LINK).for_each(|message| found.take(parse(&message.body, file.sizes)));
    found
}

/// A link message, also an object in the heap of densely stored links (C.2).
pub(super) fn parse(body: &[u8], sizes: FieldSizes) -> Result<FoundLink, Error> {
    let mut cursor = ByteCursor::new(body, "a link message");
    cursor.version(&[1])?;
    let flags = cursor.u8()?;
    let kind = if flags & 8 != 0 { cursor.u8()? } else { HARD };
    #[expect(clippy::cast_possible_wrap, reason = "the format has a signed number here")]
    let order = if flags & 4 != 0 { Some(cursor.u64()? as i64) } else { None };
    cursor.skip(if flags & 0x10 != 0 { 1 } else { 0 })?;
    let name_len = cursor.uint(1 << (flags & 3))?;
    let name = cursor.take_u64(name_len)?.to_vec();
    let target = target(kind, &mut cursor, sizes)
        .map_err(|error| error.reworded(|fact| format!("{}: {fact}", escaped(&name))))?;
    Ok(FoundLink { name, order, target })
}

fn target(kind: u8, cursor: &mut ByteCursor<'_>, sizes: FieldSizes) -> Result<LinkTarget, Error> {
    if kind == HARD {
        let addr = cursor.addr(sizes)?;
        return addr.map(LinkTarget::Hard).ok_or_else(|| Error::malformed("a hard link without an address"));
    }
    let len = cursor.u16()?;
    let value = cursor.take(usize::from(len))?;
    match kind {
        SOFT => Ok(LinkTarget::Soft(escaped(until_nul(value)))),
        EXTERNAL => external(value),
        65.. => Ok(LinkTarget::Unknown(kind)),
        other => Err(Error::malformed(format!("a link of unknown type {other}"))),
    }
}

fn external(value: &[u8]) -> Result<LinkTarget, Error> {
    let mut cursor = ByteCursor::new(value, "an external link");
    let version = cursor.u8()?;
    if version != 0 {
        return Err(Error::unsupported(format!("external links of version and flags {version:#04x}")));
    }
    let file = escaped(cursor.until_nul()?);
    Ok(LinkTarget::External { file, path: escaped(until_nul(cursor.rest())) })
}

/// The bytes before the first NUL, or all.
fn until_nul(bytes: &[u8]) -> &[u8] {
    bytes.split(|byte| *byte == 0).next().unwrap_or_default()
}

const HARD: u8 = 0;
const SOFT: u8 = 1;
const EXTERNAL: u8 = 64;
