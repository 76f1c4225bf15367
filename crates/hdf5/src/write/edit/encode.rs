//! Encoding of messages in the pieces of headers of both versions (docs/spec/hdf5-netcdf4.md B.1, B.2).
use crate::address::{FieldSizes, FileAddress};
use crate::object::kind;
use crate::write::header::{MessageDraft, encode_room, prefix_len};
use crate::write::out::ByteSink;
use crate::write::put::put;
use bytes::Bytes;
use ncirrus_layout::{Detail, Error, Result};

fn beyond(message: String) -> Error {
    Error::unsupported(message).with_detail(Detail::BeyondHeader)
}

/// The encoding of messages.
#[derive(Debug, Clone, Copy)]
pub(super) struct MessageStyle {
    /// Of the header.
    pub(super) version: u8,
    /// Whether every message has a creation index.
    pub(super) indexed: bool,
}

impl MessageStyle {
    /// Size of what precedes a message's body.
    fn prefix_len(self) -> usize {
        if self.version == 1 { 8 } else { usize::try_from(prefix_len(self.indexed)).unwrap_or(6) }
    }

    /// Size of a body with its padding.
    fn padded(self, len: usize) -> usize {
        if self.version == 1 { len.next_multiple_of(8) } else { len }
    }

    fn len_of(self, draft: &MessageDraft) -> usize {
        self.prefix_len() + self.padded(draft.body.len())
    }

    /// How many of these messages fit into `room` bytes.
    pub(super) fn fitting(self, drafts: &[&MessageDraft], room: usize) -> usize {
        let mut left = room;
        let fits = |draft: &&&MessageDraft| match left.checked_sub(self.len_of(draft)) {
            Some(rest) => {
                left = rest;
                true
            }
            None => false,
        };
        drafts.iter().take_while(fits).count()
    }

    /// The messages and a filler for the rest of `room` bytes, and the number of resulting messages (which only
    /// version 1 counts); `None` if they do not fit. There is never a gap beside free messages: newer libraries
    /// refuse that.
    ///
    /// # Errors
    /// If a message is too long.
    pub(super) fn area(self, drafts: &[&MessageDraft], room: usize) -> Result<Option<(Bytes, usize)>> {
        let len: usize = drafts.iter().map(|draft| self.len_of(draft)).sum();
        let Some(mut left) = room.checked_sub(len) else { return Ok(None) };
        let mut out = ByteSink::new();
        for draft in drafts {
            self.message(&mut out, draft)?;
        }
        if self.version != 1 {
            encode_room(&mut out, left as u64, self.indexed);
            return Ok(Some((out.finish(), 0)));
        }
        let mut count = drafts.len();
        while left > 0 {
            let body = left.checked_sub(self.prefix_len()).filter(|body| body.is_multiple_of(8));
            let body = body.ok_or_else(|| {
                Error::unsupported(format!("a header with {left} bytes that are no message"))
            })?;
            let body = body.min(LONGEST);
            let nil = MessageDraft { kind: 0, flags: 0, order: 0, body: vec![0; body].into() };
            self.message(&mut out, &nil)?;
            left -= self.prefix_len() + body;
            count += 1;
        }
        Ok(Some((out.finish(), count)))
    }

    fn message(self, out: &mut ByteSink, draft: &MessageDraft) -> Result<()> {
        let len = self.padded(draft.body.len());
        let size = u16::try_from(len)
            .map_err(|_| beyond(format!("a message of {len} bytes: a header holds 65535 at most")))?;
        if self.version == 1 {
            out.u16(draft.kind).u16(size).u8(draft.flags).zeros(3);
            out.bytes(&draft.body).zeros(len - draft.body.len());
        } else {
            draft.encode(out, self.indexed);
        }
        Ok(())
    }

    /// A whole piece; `count` is the number of messages of all pieces, which the first one stores.
    ///
    /// # Errors
    /// If there are too many messages.
    pub(super) fn piece(self, head: &[u8], area: &[u8], count: Option<usize>) -> Result<Bytes> {
        let mut head = head.to_vec();
        if let (1, Some(count)) = (self.version, count) {
            let count = u16::try_from(count)
                .map_err(|_| beyond(format!("{count} messages: a header holds 65535 at most")))?;
            put(&mut head, 2, &count.to_le_bytes(), "the head of a header")?;
        }
        let mut out = ByteSink::new();
        out.bytes(&head).bytes(area);
        if self.version != 1 {
            out.checksum();
        }
        Ok(out.finish())
    }

    /// What precedes the messages of a continuation.
    pub(super) fn signature(self) -> &'static [u8] {
        if self.version == 1 { b"" } else { b"OCHK" }
    }

    /// Size of a continuation with that many bytes of messages.
    pub(super) fn piece_len(self, room: usize) -> u64 {
        let around = if self.version == 1 { 0 } else { 8 };
        (room as u64).saturating_add(around)
    }

    /// Size of a new piece for these messages and some more; restricted to few different lengths, so that space can
    /// be reused.
    pub(super) fn new_room(self, drafts: &[&MessageDraft]) -> usize {
        let len: usize = drafts.iter().map(|draft| self.len_of(draft)).sum();
        let around = usize::try_from(self.piece_len(0)).unwrap_or(0);
        (len + around + SPARE).next_multiple_of(UNIT) - around
    }

    /// Size of a continuation message.
    pub(super) fn lead_len(self, sizes: FieldSizes) -> usize {
        self.prefix_len() + self.padded(usize::from(sizes.offsets) + usize::from(sizes.lengths))
    }

    /// The continuation message for another piece.
    pub(super) fn lead(self, addr: FileAddress, len: u64, sizes: FieldSizes) -> MessageDraft {
        let mut out = ByteSink::new();
        out.addr(Some(addr), sizes).length(len, sizes);
        MessageDraft { kind: kind::CONTINUATION, flags: 0, order: 0, body: out.finish() }
    }
}

/// Maximum size of a body, a multiple of 8.
const LONGEST: usize = 65_528;
/// New pieces have space for later messages, and lengths that are multiples of the unit.
const SPARE: usize = 128;
const UNIT: usize = 512;
