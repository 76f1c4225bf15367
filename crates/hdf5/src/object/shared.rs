//! Messages that several objects share (docs/spec/hdf5-netcdf4.md B.4, B.6).
mod table;

use super::{HeaderMessage, ResolvedMessage, header_at, kind};
use crate::address::FileAddress;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};

/// The bytes of a message, resolved if it is shared.
pub(crate) fn resolve(view: &dyn View, file: &Hdf5File, message: &HeaderMessage) -> Step<ResolvedMessage> {
    if message.flags & SHARED == 0 {
        return Ok(ResolvedMessage { body: message.body.clone(), committed: None });
    }
    resolve_record(view, file, message.kind, &message.body)
}

/// As [`resolve`], for a shared-message record in an attribute, whose datatype or dataspace is shared.
pub(crate) fn resolve_record(
    view: &dyn View,
    file: &Hdf5File,
    kind: u16,
    record: &[u8],
) -> Step<ResolvedMessage> {
    match SharedPlace::parse(record, file)? {
        SharedPlace::Header(addr) => in_header(view, file, kind, addr),
        SharedPlace::Heap(id) => {
            Ok(ResolvedMessage { body: table::find(view, file, kind, id)?, committed: None })
        }
    }
}

/// The location of a shared message.
#[derive(Debug)]
enum SharedPlace {
    /// In the object header at this address.
    Header(FileAddress),
    /// In the heap of shared messages of its type, under this id.
    Heap(Bytes),
}

impl SharedPlace {
    fn parse(record: &[u8], file: &Hdf5File) -> Result<Self, Error> {
        let mut cursor = ByteCursor::new(record, "a shared message record");
        match (cursor.version(&[1, 2, 3])?, cursor.u8()?) {
            (3, 1) => return Ok(Self::Heap(Bytes::copy_from_slice(cursor.take(8)?))),
            (3, 2) | (2, _) => {}
            (1, _) => cursor.skip(6 + usize::from(file.sizes.lengths))?,
            (_, other) => {
                return Err(Error::malformed(format!("a shared message of unknown kind {other}")));
            }
        }
        let addr = cursor.addr(file.sizes)?;
        addr.map(Self::Header).ok_or_else(|| Error::malformed("a shared message without an object"))
    }
}

/// The first message of the type in another object's header; one that is itself shared is refused, to avoid cycles.
fn in_header(view: &dyn View, file: &Hdf5File, kind: u16, addr: FileAddress) -> Step<ResolvedMessage> {
    let header = header_at(view, file, addr)?;
    let damaged = |message| Err(file.at(addr, Error::malformed(message)).into());
    match header.find(kind) {
        Some(message) if message.flags & SHARED == 0 => {
            let committed = (kind == kind::DATATYPE).then_some(addr);
            Ok(ResolvedMessage { body: message.body.clone(), committed })
        }
        Some(_) => damaged(format!("a message of type {kind:#04x} that is shared twice over")),
        None => damaged(format!("no message of type {kind:#04x} where one is shared from")),
    }
}

/// The flag of shared messages.
const SHARED: u8 = 2;

#[cfg(test)]
mod tests;
