//! Chunks of elements without a fixed size, framed as numcodecs' `vlen-*` codecs do: the number of elements, then per
//! element its length in bytes and its bytes; the numbers are unsigned, 4 bytes, little-endian.
use super::packed::{length, span};
use super::{decode_at, encode_at, packed, to_len, unreadable, vlen_base, wrong_values};
use ncirrus_layout::{Error, Result, SequenceItem, StoredType};
use ncirrus_model::{Atomic, Model, Strings, TypeRef, Values};
use std::ops::Range;

pub(super) fn decode(
    model: &Model,
    ty: TypeRef,
    item: &SequenceItem,
    raw: &[u8],
    count: usize,
    depth: u32,
) -> Result<Values> {
    let mut frames = ChunkFrames::open(raw, count)?;
    match item {
        SequenceItem::Text => {
            if ty != TypeRef::Atomic(Atomic::String) {
                return Err(unreadable(model, ty, item));
            }
            let mut strings = Strings::new();
            // A text that consists of one NUL is a null string (docs/formats/zarr-writing.md).
            while let Some(text) = frames.next()? {
                strings.push(Some(text).filter(|text| *text != [0]));
            }
            Ok(Values::String(strings))
        }
        SequenceItem::Packed => {
            let mut values = super::empty(model, ty)?;
            while let Some(bytes) = frames.next()? {
                packed::read_whole(model, ty, bytes, &mut values)?;
            }
            Ok(values)
        }
        SequenceItem::Bytes => {
            let base = vlen_base(model, ty, item)?;
            let stored =
                StoredType::Integer { size: 1, signed: false, order: ncirrus_layout::ByteOrder::Little };
            joined(model, base, &stored, &mut frames, depth)
        }
        SequenceItem::Array(stored) if stored.byte_len().is_none() => {
            nested(model, vlen_base(model, ty, item)?, stored, &mut frames, depth)
        }
        SequenceItem::Array(stored) => joined(model, vlen_base(model, ty, item)?, stored, &mut frames, depth),
    }
}

/// Vlens of a fixed type: the bytes of all elements are joined and decoded at once.
fn joined(
    model: &Model,
    base: TypeRef,
    stored: &StoredType,
    frames: &mut ChunkFrames<'_>,
    depth: u32,
) -> Result<Values> {
    let each = to_len(stored.byte_len().unwrap_or(0))?;
    let (mut bytes, mut ends) = (Vec::with_capacity(frames.rest.len()), Vec::new());
    while let Some(frame) = frames.next()? {
        if each == 0 || !frame.len().is_multiple_of(each) {
            let len = frame.len();
            return Err(Error::malformed(format!("{len} bytes of elements of {each} bytes")));
        }
        bytes.extend_from_slice(frame);
        ends.push(bytes.len() / each);
    }
    let elements = decode_at(model, base, stored, &bytes, bytes.len() / each.max(1), depth + 1)?;
    Ok(Values::Vlen { ends, elements: Box::new(elements) })
}

/// Vlens whose elements have no fixed size either: each frame is again a sequence.
fn nested(
    model: &Model,
    base: TypeRef,
    stored: &StoredType,
    frames: &mut ChunkFrames<'_>,
    depth: u32,
) -> Result<Values> {
    let (mut elements, mut ends) = (super::empty(model, base)?, Vec::new());
    while let Some(frame) = frames.next()? {
        let count = frame.first_chunk::<4>().map_or(0, |bytes| u32::from_le_bytes(*bytes));
        let part = decode_at(model, base, stored, frame, to_len(count.into())?, depth + 1)?;
        if !elements.extend_from(&part, 0..part.len()) {
            return Err(unreadable(model, base, stored));
        }
        ends.push(elements.len());
    }
    Ok(Values::Vlen { ends, elements: Box::new(elements) })
}

/// The frames of a chunk.
struct ChunkFrames<'a> {
    rest: &'a [u8],
    left: usize,
}

impl<'a> ChunkFrames<'a> {
    /// Checks the number of elements; nothing is allocated according to it.
    fn open(raw: &'a [u8], count: usize) -> Result<Self> {
        let Some((head, rest)) = raw.split_first_chunk::<4>() else {
            return Err(Error::malformed(format!("{} bytes where a sequence was expected", raw.len())));
        };
        let found = u32::from_le_bytes(*head);
        if u64::from(found) != count as u64 {
            return Err(Error::malformed(format!(
                "a sequence of {found} elements where {count} were expected"
            )));
        }
        if count > rest.len() / 4 {
            return Err(Error::malformed(format!("{} bytes cannot hold {count} elements", rest.len())));
        }
        Ok(Self { rest, left: count })
    }

    fn next(&mut self) -> Result<Option<&'a [u8]>> {
        let Some(left) = self.left.checked_sub(1) else { return Ok(None) };
        self.left = left;
        let damaged = |have: usize| Error::malformed(format!("a sequence ends {have} bytes into an element"));
        let (head, rest) = self.rest.split_first_chunk::<4>().ok_or_else(|| damaged(self.rest.len()))?;
        let len = to_len(u32::from_le_bytes(*head).into())?;
        let (frame, rest) = rest.split_at_checked(len).ok_or_else(|| damaged(rest.len()))?;
        self.rest = rest;
        Ok(Some(frame))
    }
}

pub(super) fn encode(
    model: &Model,
    ty: TypeRef,
    item: &SequenceItem,
    values: &Values,
    range: Range<usize>,
    depth: u32,
) -> Result<Vec<u8>> {
    let mut bytes = length(range.len())?.to_vec();
    for index in range {
        let start = bytes.len();
        // The length comes before its element, and is known when that is encoded.
        bytes.extend_from_slice(&[0; 4]);
        match (item, values) {
            (SequenceItem::Text, Values::String(strings)) => text(strings.get(index), &mut bytes)?,
            (SequenceItem::Packed, _) => packed::write_whole(model, ty, values, index, &mut bytes)?,
            (SequenceItem::Bytes, Values::Vlen { ends, elements }) => {
                let part = elements.as_bytes().filter(|_| matches!(**elements, Values::UByte(_)));
                let part = part.and_then(|part| part.get(span(ends, index)));
                bytes.extend_from_slice(part.ok_or_else(|| wrong_values(model, ty))?);
            }
            (SequenceItem::Array(stored), Values::Vlen { ends, elements }) => {
                let base = vlen_base(model, ty, item)?;
                let part = span(ends, index);
                if part.end > elements.len() {
                    return Err(wrong_values(model, ty));
                }
                bytes.extend(encode_at(model, base, stored, elements, part, depth + 1)?);
            }
            _ => return Err(wrong_values(model, ty)),
        }
        let head = length(bytes.len() - start - 4)?;
        bytes[start..start + 4].copy_from_slice(&head);
    }
    Ok(bytes)
}

fn text(text: Option<&[u8]>, bytes: &mut Vec<u8>) -> Result<()> {
    if text == Some(&[0]) {
        return Err(Error::invalid("text of one NUL cannot be told from a null string"));
    }
    bytes.extend_from_slice(text.unwrap_or(&[0]));
    Ok(())
}
