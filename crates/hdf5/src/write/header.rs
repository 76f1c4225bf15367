//! New object headers of version 2 (docs/spec/hdf5-netcdf4.md B.2, I.1).
use super::out::ByteSink;
use bytes::Bytes;

/// A message to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct MessageDraft {
    pub(crate) kind: u16,
    pub(crate) flags: u8,
    /// Creation index, for attributes.
    pub(crate) order: u16,
    pub(crate) body: Bytes,
}

impl MessageDraft {
    /// Size of the message in a header.
    pub(crate) fn byte_len(&self, tracked: bool) -> u64 {
        prefix_len(tracked) + self.body.len() as u64
    }

    /// Appends the message in its header form.
    pub(crate) fn encode(&self, out: &mut ByteSink, tracked: bool) {
        prefix(out, (self.kind, self.flags, self.order), self.body.len() as u64, tracked);
        out.bytes(&self.body);
    }
}

/// Size of a header with these messages: known before any address is.
pub(crate) fn header_len(messages: &[MessageDraft], tracked: bool, spare: u64) -> u64 {
    let area = area_len(messages, tracked, spare);
    FIXED + width(area).1 as u64 + area + CHECKSUM
}

/// A header with these messages, `tracked` if the order of attributes is kept, with `spare` bytes for later messages.
pub(crate) fn encode_header(messages: &[MessageDraft], tracked: bool, spare: u64) -> Bytes {
    let area = area_len(messages, tracked, spare);
    let (code, width) = width(area);
    let mut out = ByteSink::new();
    out.bytes(b"OHDR\x02").u8(code | if tracked { TRACKED_AND_INDEXED } else { 0 }).uint(area, width);
    messages.iter().for_each(|message| message.encode(&mut out, tracked));
    encode_room(&mut out, spare, tracked);
    out.checksum();
    out.finish()
}

/// Appends space for later messages: empty messages, or a gap if it is too small for one.
pub(crate) fn encode_room(out: &mut ByteSink, room: u64, tracked: bool) {
    let prefix_len = prefix_len(tracked);
    let mut left = room;
    while left >= prefix_len {
        // The rest must be a message or nothing: HDF5 2 refuses a gap beside empty messages.
        let whole = (left - prefix_len).min(MAX_BODY);
        let rest = left - prefix_len - whole;
        let body = if (1..prefix_len).contains(&rest) { whole - prefix_len } else { whole };
        prefix(out, (0, 0, 0), body, tracked);
        out.zeros(usize::try_from(body).unwrap_or(0));
        left -= prefix_len + body;
    }
    out.zeros(usize::try_from(left).unwrap_or(0));
}

/// Size of what precedes every message's body.
pub(crate) fn prefix_len(tracked: bool) -> u64 {
    if tracked { 6 } else { 4 }
}

fn prefix(out: &mut ByteSink, (kind, flags, order): (u16, u8, u16), len: u64, tracked: bool) {
    out.uint(u64::from(kind), 1).uint(len, 2).u8(flags);
    if tracked {
        out.u16(order);
    }
}

fn area_len(messages: &[MessageDraft], tracked: bool, spare: u64) -> u64 {
    messages.iter().map(|message| message.byte_len(tracked)).sum::<u64>() + spare
}

/// The encoding of the messages' length: the code in the flags, and the bytes.
fn width(area: u64) -> (u8, usize) {
    match area {
        0..=0xff => (0, 1),
        0x100..=0xffff => (1, 2),
        0x1_0000..=0xffff_ffff => (2, 4),
        _ => (3, 8),
    }
}

/// Signature, version and flags.
const FIXED: u64 = 6;
const CHECKSUM: u64 = 4;
const TRACKED_AND_INDEXED: u8 = 0x0c;
/// The length of a message is written in two bytes.
const MAX_BODY: u64 = 65_535;

#[cfg(test)]
mod tests;
