//! The chunks of an object header, and the messages in them.
use super::HeaderMessage;
use crate::address::FileAddress;
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::{Error, Stall, Step, View};

/// The encoding of messages in all chunks of a header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum MessageFormat {
    /// Version 1.
    Old,
    /// Version 2; `indexed`: every message has a creation index.
    New { indexed: bool },
}

/// What precedes the messages of the first chunk.
#[derive(Debug)]
pub(super) struct HeaderPrefix {
    pub(super) format: MessageFormat,
    /// Number of messages in all chunks (version 1).
    pub(super) count: Option<usize>,
    /// Offset of the messages of the first chunk, and their size.
    pub(super) at: u64,
    len: u64,
}

impl HeaderPrefix {
    /// Reads the prefix and the messages of the first chunk.
    pub(super) fn read(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<(Self, Bytes)> {
        let first = file.parse(view, addr, FIRST_READ)?;
        let prefix = Self::parse(&first)?;
        let len = prefix.at.saturating_add(prefix.len).saturating_add(prefix.format.checksum_len());
        let bytes = file.parse_all(view, addr, len)?;
        let chunk = prefix.format.checked(&bytes, prefix.at, prefix.len)?;
        Ok((prefix, chunk))
    }

    fn parse(bytes: &[u8]) -> Result<Self, Error> {
        let mut cursor = ByteCursor::new(bytes, "an object header");
        if bytes.first() != Some(&1) {
            return Self::parse_new(&mut cursor);
        }
        cursor.skip(2)?;
        let count = Some(usize::from(cursor.u16()?));
        cursor.skip(4)?;
        let len = u64::from(cursor.u32()?);
        Ok(Self { format: MessageFormat::Old, count, at: 16, len })
    }

    fn parse_new(cursor: &mut ByteCursor<'_>) -> Result<Self, Error> {
        cursor.signature(b"OHDR")?;
        cursor.version(&[2])?;
        let flags = cursor.u8()?;
        if flags & 0xc0 != 0 {
            return Err(Error::malformed(format!("an object header with flags {flags:#04x}")));
        }
        cursor.skip(if flags & 0x20 != 0 { 16 } else { 0 })?;
        cursor.skip(if flags & 0x10 != 0 { 4 } else { 0 })?;
        let len = cursor.uint(1 << (flags & 3))?;
        let format = MessageFormat::New { indexed: flags & 4 != 0 };
        Ok(Self { format, count: None, at: cursor.position() as u64, len })
    }
}

impl MessageFormat {
    pub(super) fn version(self) -> u8 {
        match self {
            Self::Old => 1,
            Self::New { .. } => 2,
        }
    }

    fn checksum_len(self) -> u64 {
        match self {
            Self::Old => 0,
            Self::New { .. } => 4,
        }
    }

    /// Reads the messages of a continuation chunk.
    pub(super) fn continuation(
        self,
        view: &dyn View,
        file: &Hdf5File,
        addr: FileAddress,
        len: u64,
    ) -> Step<Bytes> {
        let read = || {
            let bytes = file.parse_all(view, addr, len)?;
            match self {
                Self::Old => Ok(self.checked(&bytes, 0, len)?),
                Self::New { .. } => {
                    ByteCursor::new(&bytes, "a continuation of an object header").signature(b"OCHK")?;
                    let inner = len.checked_sub(8);
                    let inner = inner.ok_or_else(|| {
                        Error::malformed(format!("a continuation of an object header of {len} bytes"))
                    })?;
                    Ok(self.checked(&bytes, 4, inner)?)
                }
            }
        };
        read().map_err(|stall: Stall| stall.map_error(|error| file.at(addr, error)))
    }

    /// The `len` bytes of messages at `at`, as their own copy; the checksum behind them is verified.
    fn checked(self, bytes: &[u8], at: u64, len: u64) -> Result<Bytes, Error> {
        let mut cursor = ByteCursor::new(bytes, "an object header");
        cursor.take_u64(at)?;
        let messages = cursor.take_u64(len)?;
        if self != Self::Old {
            let summed = cursor.taken();
            if cursor.u32()? != lookup3(summed) {
                return Err(Error::malformed("the checksum of an object header is wrong"));
            }
        }
        Ok(Bytes::copy_from_slice(messages))
    }

    /// The messages of a chunk, at most `max`; a rest too short for a message is a gap.
    pub(super) fn messages(self, chunk: &Bytes, max: Option<usize>) -> Result<Vec<HeaderMessage>, Error> {
        let mut cursor = ByteCursor::new(chunk, "a message of an object header");
        let mut messages = Vec::with_capacity(USUAL.min(chunk.len() / self.prefix_len()));
        while cursor.left() >= self.prefix_len() && max.is_none_or(|max| messages.len() < max) {
            messages.push(self.message(chunk, &mut cursor)?);
        }
        Ok(messages)
    }

    /// Size of what precedes a message's body.
    fn prefix_len(self) -> usize {
        match self {
            Self::Old => 8,
            Self::New { indexed: true } => 6,
            Self::New { indexed: false } => 4,
        }
    }

    fn message(self, chunk: &Bytes, cursor: &mut ByteCursor<'_>) -> Result<HeaderMessage, Error> {
        let old = self == Self::Old;
        let kind = if old { cursor.u16()? } else { u16::from(cursor.u8()?) };
        let len = cursor.u16()?;
        let flags = cursor.u8()?;
        cursor.skip(if old { 3 } else { 0 })?;
        let order = if self == (Self::New { indexed: true }) { Some(cursor.u16()?) } else { None };
        if old && !len.is_multiple_of(8) {
            return Err(Error::malformed(format!("a message of {len} bytes, which is not a multiple of 8")));
        }
        let body = chunk.slice_ref(cursor.take(usize::from(len))?);
        Ok(HeaderMessage { kind, flags, order, body })
    }
}

/// The target of a continuation message; `None` if it has none.
pub(super) fn continues(
    file: &Hdf5File,
    message: &HeaderMessage,
) -> Result<Option<(FileAddress, u64)>, Error> {
    let mut cursor = ByteCursor::new(&message.body, "a continuation message");
    let addr = cursor.addr(file.sizes)?;
    let len = cursor.len(file.sizes)?;
    Ok(addr.map(|addr| (addr, len)))
}

/// Most headers have no more messages.
const USUAL: usize = 16;
/// Most headers are shorter; a view may fetch a whole block.
const FIRST_READ: u64 = 512;
