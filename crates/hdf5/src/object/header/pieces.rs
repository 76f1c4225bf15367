//! A header as stored in the file, for changing it.
use super::chunk::{HeaderPrefix, MessageFormat, continues};
use super::{MAX_CHUNKS, MAX_MESSAGES};
use crate::address::FileAddress;
use crate::file::Hdf5File;
use crate::object::{HeaderMessage, kind};
use bytes::Bytes;
use ncirrus_layout::{Error, Step, View};
use std::collections::{HashSet, VecDeque};

/// The pieces of a header, in the order in which they are read.
#[derive(Debug)]
pub(crate) struct HeaderPieces {
    /// Version of the header: 1 or 2.
    pub(crate) version: u8,
    /// Whether messages have a creation index.
    pub(crate) indexed: bool,
    pub(crate) list: Vec<MessageRun>,
}

/// A run of messages.
#[derive(Debug)]
pub(crate) struct MessageRun {
    pub(crate) addr: FileAddress,
    /// What precedes the messages.
    pub(crate) head: Bytes,
    /// Size of the messages.
    pub(crate) room: usize,
    /// All messages, including those that manage space.
    pub(crate) messages: Vec<HeaderMessage>,
}

/// Reads all pieces of the header at an address.
pub(crate) fn pieces(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<HeaderPieces> {
    let (prefix, body) = HeaderPrefix::read(view, file, addr)?;
    let head = file.parse_all(view, addr, prefix.at)?;
    let head = head.slice(..usize::try_from(prefix.at).unwrap_or(usize::MAX).min(head.len()));
    let format = prefix.format;
    let mut left = prefix.count;
    let mut found = HeaderPieces {
        version: format.version(),
        indexed: format == (MessageFormat::New { indexed: true }),
        list: Vec::new(),
    };
    let (mut seen, mut ahead) = (HashSet::from([addr]), VecDeque::new());
    let mut next = Some((addr, head, body));
    while let Some((addr, head, body)) = next.take() {
        let messages = format.messages(&body, left)?;
        left = left.map(|left| left.saturating_sub(messages.len()));
        for message in messages.iter().filter(|message| message.kind == kind::CONTINUATION) {
            // Continuations are read in the order in which they occur, breadth first (docs/spec/hdf5-netcdf4.md B.1).
            ahead.extend(continues(file, message)?);
        }
        found.list.push(MessageRun { addr, head, room: body.len(), messages });
        if let Some((addr, len)) = ahead.pop_front() {
            if !seen.insert(addr) || found.list.len() >= MAX_CHUNKS {
                let error = Error::malformed("a header that continues itself, or too often");
                return Err(file.at(addr, error).into());
            }
            let body = format.continuation(view, file, addr, len)?;
            next = Some((addr, Bytes::from_static(format.signature()), body));
        }
    }
    if found.list.iter().map(|piece| piece.messages.len()).sum::<usize>() > MAX_MESSAGES {
        return Err(file.at(addr, Error::limit(format!("more than {MAX_MESSAGES} messages"))).into());
    }
    Ok(found)
}

impl MessageFormat {
    /// What precedes the messages of a continuation.
    fn signature(self) -> &'static [u8] {
        match self {
            Self::Old => b"",
            Self::New { .. } => b"OCHK",
        }
    }
}
