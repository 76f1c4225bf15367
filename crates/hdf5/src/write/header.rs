//! New object headers of version 2 (hdf5-netcdf4.md B.2, I.1).
use super::out::Out;
use bytes::Bytes;

/// A message that is to be written.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Draft {
    pub(crate) kind: u16,
    pub(crate) flags: u8,
    /// Creation index, for attributes.
    pub(crate) order: u16,
    /// At most 65535 bytes.
    pub(crate) body: Bytes,
}

/// Signature, version and flags.
const START: u64 = 6;
const CHECKSUM: u64 = 4;
/// The order of attributes is kept.
const TRACKED: u8 = 0x0c;

/// Bytes of a header with these messages: known before any address is.
pub(crate) fn header_len(messages: &[Draft], tracked: bool, spare: u64) -> u64 {
    let area = area_len(messages, tracked, spare);
    START + (1 << width_of(area)) + area + CHECKSUM
}

/// A header with these messages, `tracked` when the order of attributes is kept, with `spare` bytes of room for later
/// messages.
pub(crate) fn encode_header(messages: &[Draft], tracked: bool, spare: u64) -> Bytes {
    let area = area_len(messages, tracked, spare);
    let width = width_of(area);
    let mut out = Out::new();
    out.bytes(b"OHDR").u8(2).u8(width | if tracked { TRACKED } else { 0 }).uint(area, 1 << width);
    for message in messages {
        put(&mut out, message, tracked);
    }
    match spare.checked_sub(prefix_len(tracked)) {
        // Room that cannot hold the prefix of a message is a gap.
        None => out.zeros(to_len(spare)),
        Some(room) => {
            let body = Bytes::from(vec![0; to_len(room)]);
            put(&mut out, &Draft { kind: 0, flags: 0, order: 0, body }, tracked);
            &mut out
        }
    };
    out.checksum().finish()
}

/// Appends a message.
pub(crate) fn put(out: &mut Out, message: &Draft, tracked: bool) {
    out.uint(u64::from(message.kind), 1).uint(message.body.len() as u64, 2).u8(message.flags);
    if tracked {
        out.u16(message.order);
    }
    out.bytes(&message.body);
}

/// Bytes before the body of a message.
pub(crate) fn prefix_len(tracked: bool) -> u64 {
    if tracked { 6 } else { 4 }
}

fn area_len(messages: &[Draft], tracked: bool, spare: u64) -> u64 {
    let message = |message: &Draft| prefix_len(tracked) + message.body.len() as u64;
    messages.iter().map(message).sum::<u64>() + spare
}

/// The width of the length, as a power of two.
fn width_of(area: u64) -> u8 {
    match area {
        0..=0xff => 0,
        0x100..=0xffff => 1,
        0x1_0000..=0xffff_ffff => 2,
        _ => 3,
    }
}

fn to_len(len: u64) -> usize {
    usize::try_from(len.min(u64::from(u16::MAX))).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_is_known_ahead() {
        let message = |len| Draft { kind: 12, flags: 0, order: 3, body: Bytes::from(vec![7; len]) };
        for (messages, spare) in
            [(vec![], 0), (vec![message(1)], 3), (vec![message(200), message(60_000), message(9000)], 100)]
        {
            for tracked in [false, true] {
                let header = encode_header(&messages, tracked, spare);
                assert_eq!(header.len() as u64, header_len(&messages, tracked, spare));
            }
        }
    }
}
