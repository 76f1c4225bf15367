//! Object headers of both versions with all their continuations (docs/spec/hdf5-netcdf4.md B.1 to B.3).
mod chunk;
mod pieces;
mod sanity;

pub(crate) use pieces::pieces;

use self::chunk::{HeaderPrefix, MessageFormat};
use super::{HeaderMessage, ObjectHeader, ObjectRef, kind};
use crate::address::FileAddress;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View, join};
use std::collections::HashSet;
use std::sync::Arc;

/// The header of an object, read once.
pub(crate) fn header(view: &dyn View, object: &ObjectRef) -> Step<Arc<ObjectHeader>> {
    header_at(view, &object.file, object.addr)
}

/// Size of what follows the messages of a chunk, in headers of version 2.
const CHECKSUM: u64 = 4;

/// The header at an address, read once.
pub(crate) fn header_at(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<Arc<ObjectHeader>> {
    file.memo(view, addr, "hdf5 object header", || {
        let header = read(view, file, addr)?;
        let bytes: usize = header.messages.iter().map(|message| message.body.len()).sum();
        let cost = bytes + header.messages.len() * size_of::<HeaderMessage>() + size_of::<ObjectHeader>();
        Ok((header, cost))
    })
}

/// Reads the first chunk, then level by level those that continue it.
fn read(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<ObjectHeader> {
    let (prefix, first) = HeaderPrefix::read(view, file, addr)?;
    let mut reading = PartialHeader::new(&prefix);
    reading.reaches(addr, prefix.at.saturating_add(first.len() as u64 + CHECKSUM));
    let mut level = reading.add(file, &first)?;
    if level.is_empty() {
        return Ok(reading.finish());
    }
    let mut seen = HashSet::from([addr]);
    let mut budget = file.budget();
    while !level.is_empty() {
        if let Some((again, _)) = level.iter().find(|(addr, _)| !seen.insert(*addr)) {
            return Err(Error::malformed(format!("the chunk at {} continues itself", again.0)).into());
        }
        level.iter().try_for_each(|(_, len)| budget.take(*len))?;
        if seen.len() > MAX_CHUNKS {
            return Err(Error::limit(format!("an object header of more than {MAX_CHUNKS} chunks")).into());
        }
        level.iter().for_each(|(addr, len)| reading.reaches(*addr, *len));
        let chunks = join(&level, |(addr, len)| reading.format.continuation(view, file, *addr, *len))?;
        level.clear();
        for chunk in chunks {
            level.extend(reading.add(file, &chunk)?);
        }
    }
    Ok(reading.finish())
}

/// A header of which some chunks have been read.
#[derive(Debug)]
struct PartialHeader {
    format: MessageFormat,
    header: ObjectHeader,
    /// Remaining number of messages (version 1).
    left: Option<usize>,
}

impl PartialHeader {
    fn new(prefix: &HeaderPrefix) -> Self {
        let header = ObjectHeader {
            tracks_attributes: prefix.format == (MessageFormat::New { indexed: true }),
            messages: Vec::new(),
            end: 0,
            losses: Vec::new(),
        };
        Self { format: prefix.format, header, left: prefix.count }
    }

    /// Records the extent of the header.
    fn reaches(&mut self, addr: FileAddress, len: u64) {
        self.header.end = self.header.end.max(addr.0.saturating_add(len));
    }

    /// Adds the messages of a chunk; returns its continuations.
    fn add(&mut self, file: &Hdf5File, chunk: &Bytes) -> Result<Vec<(FileAddress, u64)>, Error> {
        let mut more = Vec::new();
        let messages = self.format.messages(chunk, self.left)?;
        self.header.messages.reserve(messages.len());
        for message in messages {
            self.left = self.left.map(|left| left.saturating_sub(1));
            self.header.losses.extend(sanity::strange(&message));
            match message.kind {
                NIL => {}
                kind::CONTINUATION => more.extend(chunk::continues(file, &message)?),
                unknown if !is_known(unknown) && message.flags & FAIL_ALWAYS != 0 => {
                    return Err(Error::unsupported(format!(
                        "an object with messages of type {unknown:#04x}, which readers must understand"
                    )));
                }
                _ if self.header.messages.len() < MAX_MESSAGES => self.header.messages.push(message),
                _ => return Err(Error::limit(format!("an object of more than {MAX_MESSAGES} messages"))),
            }
        }
        Ok(more)
    }

    fn finish(self) -> ObjectHeader {
        let mut header = self.header;
        if let Some(missing) = self.left.filter(|left| *left > 0) {
            header.losses.push(format!("{missing} messages fewer than its header declares"));
        }
        for (kind, name) in ONCE {
            if header.all(kind).nth(1).is_some() {
                header.losses.push(format!("more than one {name}: the first is used"));
            }
        }
        header
    }
}

/// Whether the format defines messages of that type; 0x09 is for tests of the HDF5 library only.
pub(crate) fn is_known(kind: u16) -> bool {
    kind <= kind::CACHE_IMAGE && kind != 0x09
}

const NIL: u16 = 0;
/// The flag of messages that every reader must understand.
const FAIL_ALWAYS: u8 = 0x80;
/// More chunks than any valid header has.
const MAX_CHUNKS: usize = 4096;
/// More messages than any valid object has.
const MAX_MESSAGES: usize = 1 << 18;
/// Messages that occur at most once in an object.
const ONCE: [(u16, &str); 4] = [
    (kind::DATASPACE, "dataspace"),
    (kind::DATATYPE, "datatype"),
    (kind::LAYOUT, "data layout"),
    (kind::SYMBOL_TABLE, "symbol table"),
];

#[cfg(test)]
mod tests;
