//! Contiguous frames of Blosc 2: a header with named parts, chunks, where they lie, and a trailer, which is not needed.
use super::array::ArrayGrid;
use std::ops::Range;

/// What the header of a frame says.
#[derive(Debug)]
pub(super) struct FrameHeader {
    /// Bytes of the header.
    head: usize,
    /// Decoded bytes.
    pub(super) len: usize,
    /// Bytes of all chunks.
    encoded_len: usize,
    pub(super) type_size: usize,
    /// Decoded bytes of a chunk, but the last.
    pub(super) chunk_len: usize,
    /// How blocks lie in an array of several dimensions.
    pub(super) grid: Option<ArrayGrid>,
}

/// Where a chunk is.
#[derive(Debug)]
pub(super) enum ChunkPlace {
    At(usize),
    /// One value again and again, which is not stored: zeros, or not a number.
    Zeros,
    Nan,
}

/// Numbers have a byte before them that says their kind; they lie where they lie.
const INT32: u8 = 0xd2;
const INT64: u8 = 0xd3;
const UINT64: u8 = 0xcf;
const FIRST_PART: usize = 87;

impl FrameHeader {
    /// Reads the header; `None` when it is not one.
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

    /// Chunks, if they all have the same length.
    pub(super) fn chunks(&self) -> Option<usize> {
        match (self.len, self.chunk_len) {
            (0, _) => Some(0),
            (_, 0) => None,
            (len, chunk) => Some(len.div_ceil(chunk)),
        }
    }

    /// Where the chunk of their places is.
    pub(super) fn index(&self) -> Option<usize> {
        self.head.checked_add(self.encoded_len)
    }

    /// Where a chunk is, by what the index says.
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

    /// The decoded bytes of a chunk, among those of all.
    pub(super) fn range(&self, chunk: usize) -> Option<Range<usize>> {
        let start = chunk.checked_mul(self.chunk_len)?;
        Some(start..start.checked_add(self.chunk_len)?.min(self.len))
    }
}

/// The bytes of a header.
#[derive(Clone, Copy)]
struct HeaderBytes<'a>(&'a [u8]);

impl<'a> HeaderBytes<'a> {
    /// A big-endian number, which is not negative, behind the byte that says its kind.
    fn number(self, at: usize, kind: u8) -> Option<u64> {
        let (&found, rest) = self.0.get(at..)?.split_first()?;
        let number = match kind {
            INT32 => i64::from(i32::from_be_bytes(*rest.first_chunk()?)),
            _ => i64::from_be_bytes(*rest.first_chunk()?),
        };
        u64::try_from(number).ok().filter(|_| found == kind)
    }

    /// A named part: after a list of names and places.
    fn part(self, wanted: &[u8]) -> Option<&'a [u8]> {
        // An array of three, the length of the list, a map of so many.
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
