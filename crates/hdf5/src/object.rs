//! Object headers: the messages of a group, dataset or committed type (docs/spec/hdf5-netcdf4.md B).
mod header;
mod shared;

pub(crate) use header::{header, header_at, is_known, pieces};
pub(crate) use shared::{resolve, resolve_record};

use crate::address::FileAddress;
use crate::file::Hdf5File;
use bytes::Bytes;
use std::sync::Arc;

/// An object of a file: the target of links. Two links to one object are equal.
#[derive(Debug, Clone)]
pub(crate) struct ObjectRef {
    pub(crate) file: Arc<Hdf5File>,
    pub(crate) addr: FileAddress,
}

impl PartialEq for ObjectRef {
    fn eq(&self, other: &Self) -> bool {
        self.file.object == other.file.object && self.addr == other.addr
    }
}
impl Eq for ObjectRef {}

/// The messages of an object, in the order of the file, without those that only manage space.
#[derive(Debug)]
pub(crate) struct ObjectHeader {
    /// Whether the creation order of attributes is known.
    pub(crate) tracks_attributes: bool,
    pub(crate) messages: Vec<HeaderMessage>,
    /// First address behind the last of its chunks.
    pub(crate) end: u64,
    /// Faults that do not prevent reading the rest.
    pub(crate) losses: Vec<String>,
}

/// One message of an object header.
#[derive(Debug, Clone)]
pub(crate) struct HeaderMessage {
    /// Type, see [`kind`].
    pub(crate) kind: u16,
    pub(crate) flags: u8,
    /// Creation index, if the header tracks it.
    pub(crate) order: Option<u16>,
    /// The message as stored in the header: a record of a shared message if bit 1 of the flags is set.
    pub(crate) body: Bytes,
}

/// A message's own bytes, wherever they are stored.
#[derive(Debug, Clone)]
pub(crate) struct ResolvedMessage {
    pub(crate) body: Bytes,
    /// The object that holds them, for a committed type.
    pub(crate) committed: Option<FileAddress>,
}

/// Types of messages (docs/spec/hdf5-netcdf4.md B.5).
pub(crate) mod kind {
    pub(crate) const DATASPACE: u16 = 0x01;
    pub(crate) const LINK_INFO: u16 = 0x02;
    pub(crate) const DATATYPE: u16 = 0x03;
    pub(crate) const OLD_FILL: u16 = 0x04;
    pub(crate) const FILL: u16 = 0x05;
    pub(crate) const LINK: u16 = 0x06;
    pub(crate) const EXTERNAL_FILES: u16 = 0x07;
    pub(crate) const LAYOUT: u16 = 0x08;
    pub(crate) const GROUP_INFO: u16 = 0x0a;
    pub(crate) const PIPELINE: u16 = 0x0b;
    pub(crate) const ATTRIBUTE: u16 = 0x0c;
    pub(crate) const COMMENT: u16 = 0x0d;
    pub(crate) const OLD_TIME: u16 = 0x0e;
    pub(crate) const SHARED_TABLE: u16 = 0x0f;
    pub(crate) const CONTINUATION: u16 = 0x10;
    pub(crate) const SYMBOL_TABLE: u16 = 0x11;
    pub(crate) const TIME: u16 = 0x12;
    pub(crate) const BTREE_RANKS: u16 = 0x13;
    pub(crate) const DRIVER_INFO: u16 = 0x14;
    pub(crate) const ATTRIBUTE_INFO: u16 = 0x15;
    pub(crate) const REFERENCE_COUNT: u16 = 0x16;
    pub(crate) const SPACE_INFO: u16 = 0x17;
    pub(crate) const CACHE_IMAGE: u16 = 0x18;
}

impl ObjectHeader {
    /// The first message of that type.
    pub(crate) fn find(&self, kind: u16) -> Option<&HeaderMessage> {
        self.messages.iter().find(|message| message.kind == kind)
    }

    /// All messages of that type, in the order of the file.
    pub(crate) fn all(&self, kind: u16) -> impl Iterator<Item = &HeaderMessage> + '_ {
        self.messages.iter().filter(move |message| message.kind == kind)
    }
}
