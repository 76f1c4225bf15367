//! N-bit packing (HDF5 filter 5): of every number only the significant bits of its type, highest first, without gaps
//! between numbers (docs/spec/hdf5-netcdf4.md G.2).
//!
//! - HDF5 filter: 5 (values: the number of values, 1 if nothing is packed, elements of a chunk, a tree of types).
//! - Zarr v2: `nbit`.
//! - Zarr v3: `nbit`.
//! - Parameters: `parameters`: the values of HDF5, which the library derives from the type.
//! - Compatible: HDF5. numcodecs has no such codec.
//!
//! ```json
//! {"filter": 5, "values": [8, 0, 32, 1, 4, 0, 32, 0]}
//! {"id": "nbit", "parameters": [8, 1, 32]}
//! ```
use crate::CodecError;
use crate::bits::{BitReader, BitWriter};
use crate::codec::{Codec, with_room};
use crate::scratch::{LibraryContexts, ScratchBuffer};

const NAME: &str = "nbit";

/// Maximum nesting depth of types.
const MAX_DEPTH: usize = 32;

/// N-bit packing of elements of one type.
#[derive(Debug)]
pub(crate) struct Nbit {
    element: NbitField,
    /// Number of elements of a chunk.
    count: usize,
}

/// The structure of an element, or of a part of it.
#[derive(Debug)]
enum NbitField {
    Number(NbitNumber),
    /// As many copies of the field as fit.
    Array {
        len: usize,
        field: Box<NbitField>,
    },
    /// Fields and their offsets.
    Compound {
        len: usize,
        members: Vec<(usize, NbitField)>,
    },
    /// Bytes that are stored unchanged.
    Plain(usize),
}

/// A number of `len` bytes, of which `bits` bits from bit `offset` on are stored.
#[derive(Debug, Clone, Copy)]
struct NbitNumber {
    len: usize,
    big_endian: bool,
    bits: u32,
    offset: u32,
}

impl Nbit {
    /// From the parameters that HDF5 stores; `None` if nothing is packed.
    ///
    /// # Errors
    /// `Malformed` if they do not describe a type.
    pub(crate) fn new(parameters: &[u32]) -> Result<Option<Self>, CodecError> {
        let [_, plain, count, fields @ ..] = parameters else {
            return Err(CodecError::malformed(
                NAME,
                format!("{} parameters describe no type", parameters.len()),
            ));
        };
        if *plain != 0 {
            return Ok(None);
        }
        let mut words = fields.iter().copied();
        let element = NbitField::parse(&mut words, 0).ok_or_else(|| {
            CodecError::malformed(NAME, format!("parameters {parameters:?} describe no type"))
        })?;
        Ok(Some(Self { element, count: usize::try_from(*count).unwrap_or(usize::MAX) }))
    }

    fn decode_whole(&self, input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
        if !self.suffices(input, out.len()) {
            let reason = format!("{} bytes do not hold the chunk", input.len());
            return Err(CodecError::malformed(NAME, reason));
        }
        let bits = &mut BitReader::new(input);
        match &self.element {
            NbitField::Number(number) => number.unpack_all(bits, out),
            field => {
                out.fill(0);
                out.chunks_exact_mut(field.len()).for_each(|out| field.unpack(bits, out));
            }
        }
        Ok(())
    }

    /// Whether the input has enough bits for `len` bytes.
    fn suffices(&self, input: &[u8], len: usize) -> bool {
        let bits = self.element.bits().and_then(|bits| bits.checked_mul(len / self.element.len()));
        bits.is_some_and(|bits| bits <= input.len().saturating_mul(8))
    }
}

impl Codec for Nbit {
    fn name(&self) -> &'static str {
        NAME
    }

    fn encoded_len(&self, len: usize) -> Option<usize> {
        let bits = (len / self.element.len()).checked_mul(self.element.bits()?)?;
        Some(bits / 8 + 1)
    }

    fn decoded_len(&self, _: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(self.count.saturating_mul(self.element.len())))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let len = self.count.saturating_mul(self.element.len());
        with_room(NAME, len, out, contexts, |out, _| self.decode_whole(input, out))
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        let (elements, tail) = input.split_at(input.len() / self.element.len() * self.element.len());
        if !tail.is_empty() {
            return Err(CodecError::unsupported(
                NAME,
                format!("{} bytes are not whole elements", input.len()),
            ));
        }
        let len = self.encoded_len(input.len());
        let len = len.ok_or_else(|| CodecError::unsupported(NAME, format!("{} bytes", input.len())))?;
        let room = out.prepare(len);
        room.fill(0);
        let mut bits = BitWriter::new(room);
        match &self.element {
            NbitField::Number(number) => number.pack_all(&mut bits, elements),
            field => elements.chunks_exact(field.len()).for_each(|element| field.pack(&mut bits, element)),
        }
        bits.finish();
        Ok(())
    }
}

impl NbitField {
    fn parse(words: &mut impl Iterator<Item = u32>, depth: usize) -> Option<Self> {
        let (class, len) = (words.next()?, usize::try_from(words.next()?).ok().filter(|&len| len > 0)?);
        if depth > MAX_DEPTH {
            return None;
        }
        match class {
            1 => NbitNumber::parse(len, words).map(Self::Number),
            2 => {
                let field = Box::new(Self::parse(words, depth + 1)?);
                (len.is_multiple_of(field.len())).then_some(Self::Array { len, field })
            }
            3 => {
                let count = words.next()?;
                let mut members = Vec::new();
                for _ in 0..count {
                    let offset = usize::try_from(words.next()?).ok()?;
                    let member = Self::parse(words, depth + 1)?;
                    offset.checked_add(member.len()).filter(|&end| end <= len)?;
                    members.push((offset, member));
                }
                (!members.is_empty()).then_some(Self::Compound { len, members })
            }
            4 => Some(Self::Plain(len)),
            _ => None,
        }
    }

    /// Bytes of the decoded field; not zero.
    fn len(&self) -> usize {
        match self {
            Self::Number(number) => number.len,
            Self::Array { len, .. } | Self::Compound { len, .. } | Self::Plain(len) => *len,
        }
    }

    /// Bits of the packed field; not zero.
    fn bits(&self) -> Option<usize> {
        match self {
            Self::Number(number) => usize::try_from(number.bits).ok(),
            Self::Array { len, field } => field.bits()?.checked_mul(len / field.len()),
            Self::Compound { members, .. } => {
                members.iter().try_fold(0usize, |sum, (_, member)| sum.checked_add(member.bits()?))
            }
            Self::Plain(len) => len.checked_mul(8),
        }
    }

    /// Unpacks into zeroed bytes.
    fn unpack(&self, bits: &mut BitReader, out: &mut [u8]) {
        match self {
            Self::Number(number) => number.unpack(bits, out),
            Self::Array { field, .. } => {
                out.chunks_exact_mut(field.len()).for_each(|out| field.unpack(bits, out));
            }
            Self::Compound { members, .. } => members.iter().for_each(|(start, member)| {
                member.unpack(bits, out.get_mut(*start..*start + member.len()).unwrap_or_default());
            }),
            Self::Plain(_) => out.iter_mut().for_each(|out| *out = bits.take(8).to_le_bytes()[0]),
        }
    }

    fn pack(&self, bits: &mut BitWriter, input: &[u8]) {
        match self {
            Self::Number(number) => number.pack(bits, input),
            Self::Array { field, .. } => {
                input.chunks_exact(field.len()).for_each(|input| field.pack(bits, input));
            }
            Self::Compound { members, .. } => members.iter().for_each(|(start, member)| {
                member.pack(bits, input.get(*start..*start + member.len()).unwrap_or_default());
            }),
            Self::Plain(_) => input.iter().for_each(|byte| bits.put(u64::from(*byte), 8)),
        }
    }
}

impl NbitNumber {
    fn parse(len: usize, words: &mut impl Iterator<Item = u32>) -> Option<Self> {
        let (order, bits, offset) = (words.next()?, words.next()?, words.next()?);
        let end = usize::try_from(bits.checked_add(offset)?).ok()?;
        let sound = order <= 1 && bits > 0 && end <= len.checked_mul(8)?;
        sound.then_some(Self { len, big_endian: order == 1, bits, offset })
    }

    fn unpack_all(self, bits: &mut BitReader, out: &mut [u8]) {
        match self.len {
            1 => self.unpack_words::<1>(bits, out),
            2 => self.unpack_words::<2>(bits, out),
            4 => self.unpack_words::<4>(bits, out),
            8 => self.unpack_words::<8>(bits, out),
            len => {
                out.fill(0);
                out.chunks_exact_mut(len).for_each(|out| self.unpack(bits, out));
            }
        }
    }

    /// All numbers of a length that fits in a word.
    fn unpack_words<const N: usize>(self, bits: &mut BitReader, out: &mut [u8]) {
        for out in out.as_chunks_mut::<N>().0 {
            let word = (bits.take_long(self.bits) << self.offset).to_le_bytes();
            *out = if self.big_endian {
                std::array::from_fn(|i| word[N - 1 - i])
            } else {
                std::array::from_fn(|i| word[i])
            };
        }
    }

    fn pack_all(self, bits: &mut BitWriter, input: &[u8]) {
        match self.len {
            1 => self.pack_words::<1>(bits, input),
            2 => self.pack_words::<2>(bits, input),
            4 => self.pack_words::<4>(bits, input),
            8 => self.pack_words::<8>(bits, input),
            len => input.chunks_exact(len).for_each(|input| self.pack(bits, input)),
        }
    }

    fn pack_words<const N: usize>(self, bits: &mut BitWriter, input: &[u8]) {
        for input in input.as_chunks::<N>().0 {
            let mut word = [0; 8];
            for (i, byte) in input.iter().enumerate() {
                word[if self.big_endian { N - 1 - i } else { i }] = *byte;
            }
            bits.put(u64::from_le_bytes(word) >> self.offset, self.bits);
        }
    }

    /// One number of any length, into zeroed bytes.
    fn unpack(self, bits: &mut BitReader, out: &mut [u8]) {
        for (place, shift, count) in self.pieces() {
            if let Some(out) = out.get_mut(place) {
                *out |= (bits.take(count) << shift).to_le_bytes()[0];
            }
        }
    }

    fn pack(self, bits: &mut BitWriter, input: &[u8]) {
        for (place, shift, count) in self.pieces() {
            bits.put(u64::from(input.get(place).copied().unwrap_or(0) >> shift), count);
        }
    }

    /// The parts of the bytes that are stored, highest first: index of the byte, shift, number of bits.
    fn pieces(self) -> impl Iterator<Item = (usize, u32, u32)> {
        let end = self.offset + self.bits;
        (self.offset / 8..end.div_ceil(8)).rev().map(move |byte| {
            let (low, high) = (self.offset.max(byte * 8), end.min(byte * 8 + 8));
            let place = usize::try_from(byte).unwrap_or(usize::MAX);
            let place = if self.big_endian { self.len - 1 - place } else { place };
            (place, low % 8, high - low)
        })
    }
}
