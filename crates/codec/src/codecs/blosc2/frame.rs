//! Contiguous frames of Blosc 2: a header with named parts, chunks, their offsets, and a trailer, which is not needed.
use super::array::ArrayGrid;
use std::ops::Range;

/// The contents of a frame's header.
#[derive(Debug)]
pub(super) struct FrameHeader {
    /// Bytes of the header.
    head: usize,
    /// Decoded bytes.
    pub(super) len: usize,
    /// Bytes of all chunks.
    encoded_len: usize,
    pub(super) type_size: usize,
    /// Decoded bytes of a chunk, except the last.
    pub(super) chunk_len: usize,
    /// How blocks are arranged in an array of several dimensions.
    pub(super) grid: Option<ArrayGrid>,
}

/// The location of a chunk.
#[derive(Debug)]
pub(super) enum ChunkPlace {
    At(usize),
    /// A single repeated value, which is not stored: zero or NaN.
    Zeros,
    Nan,
}

/// Numbers are preceded by a byte with their type; their offsets are fixed.
const INT32: u8 = 0xd2;
const INT64: u8 = 0xd3;
const UINT64: u8 = 0xcf;
const FIRST_PART: usize = 87;

impl FrameHeader {
    /// Reads the header; `None` if it is not one.
    pub(super) fn read(input: &[u8]) -> Option<Self> {
        if input.first() != Some(&0x9e) || input.get(1..10)? != b"\xa8b2frame\0" {
            return None;
        }
        let header = HeaderBytes(input);
        let head = usize::try_from(header.number(10, INT32)?).ok()?;
        let whole = header.number(15, UINT64)?;
        let size = |at, kind| header.number(at, kind).and_then(|number| usize::try_from(number).ok());
        let frame = Self {
            head,
            len: size(29, INT64)?,
            encoded_len: size(38, INT64)?,
            type_size: size(47, INT32)?,
            chunk_len: size(57, INT32)?,
            grid: match HeaderBytes(input.get(..head)?).part(b"b2nd") {
                Some(part) => Some(ArrayGrid::read(part)?),
                None => None,
            },
        };
        (whole <= input.len() as u64 && frame.type_size > 0).then_some(frame)
    }

    /// Number of chunks, if they all have the same length.
    pub(super) fn chunks(&self) -> Option<usize> {
        match (self.len, self.chunk_len) {
            (0, _) => Some(0),
            (_, 0) => None,
            (len, chunk) => Some(len.div_ceil(chunk)),
        }
    }

    /// Offset of the chunk that contains the offsets.
    pub(super) fn index(&self) -> Option<usize> {
        self.head.checked_add(self.encoded_len)
    }

    /// The location of a chunk, according to its entry in the index.
    pub(super) fn place(&self, entry: [u8; 8]) -> Option<ChunkPlace> {
        match entry[7] {
            0x81 | 0x84 => Some(ChunkPlace::Zeros),
            0x82 => Some(ChunkPlace::Nan),
            _ => {
                let offset = usize::try_from(i64::from_le_bytes(entry)).ok()?;
                self.head.checked_add(offset).map(ChunkPlace::At)
            }
        }
    }

    /// The decoded bytes of a chunk, as a range of the whole.
    pub(super) fn range(&self, chunk: usize) -> Option<Range<usize>> {
        let start = chunk.checked_mul(self.chunk_len)?;
        Some(start..start.checked_add(self.chunk_len)?.min(self.len))
    }
}

/// The bytes of a header.
#[derive(Clone, Copy)]
struct HeaderBytes<'a>(&'a [u8]);

impl<'a> HeaderBytes<'a> {
    /// A big-endian number, not negative, after its type marker.
    fn number(self, at: usize, kind: u8) -> Option<u64> {
        let (&found, rest) = self.0.get(at..)?.split_first()?;
        let number = match kind {
            INT32 => i64::from(i32::from_be_bytes(*rest.first_chunk()?)),
            _ => i64::from_be_bytes(*rest.first_chunk()?),
        };
        u64::try_from(number).ok().filter(|_| found == kind)
    }

    /// A named part, found through the list of names and offsets.
    fn part(self, wanted: &[u8]) -> Option<&'a [u8]> {
        // An array of three, the length of the list, a map of this many.
        let [0x93, 0xcd, _, _, 0xde, high, low, rest @ ..] = self.0.get(FIRST_PART..)? else { return None };
        let mut rest = rest;
        for _ in 0..u16::from_be_bytes([*high, *low]) {
            let (&kind, behind) = rest.split_first()?;
            let (name, behind) = behind.split_at_checked(usize::from(kind & 0x1f))?;
            let (place, behind) = behind.split_first_chunk::<5>()?;
            if name == wanted {
                let [INT32, a, b, c, d] = *place else { return None };
                let start = usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?;
                let (&[0xc6, a, b, c, d], content) = self.0.get(start..)?.split_first_chunk()? else {
                    return None;
                };
                return content.get(..usize::try_from(u32::from_be_bytes([a, b, c, d])).ok()?);
            }
            rest = behind;
        }
        None
    }
}
