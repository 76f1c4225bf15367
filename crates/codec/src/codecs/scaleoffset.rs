//! Scale-offset packing (HDF5 filter 6): differences from the smallest value, in as few bits as they need; floats are
//! first rounded to a number of decimal digits (docs/spec/hdf5-netcdf4.md G.2).
//!
//! A chunk is the number of bits (4 bytes), the length of the smallest value (1 byte: 8), that value (8 bytes), padding
//! up to byte 21, and the packed differences, highest bit first. All ones represent the fill value, if there is one.
//!
//! - HDF5 filter: 6 (values: 0 for floats or 2 for integers, digits or bits, elements of a chunk, class, size, sign,
//!   order, whether there is a fill value, its words).
//! - Zarr v2: `scaleoffset`.
//! - Zarr v3: `scaleoffset`.
//! - Parameters: `parameters`: the values of HDF5. Scaling by exponents (1) is not supported: HDF5 does not have it
//!   either.
//! - Compatible: HDF5, and therefore h5py (`scaleoffset=`). numcodecs has no such codec.
//!
//! ```json
//! {"filter": 6, "values": [0, 1, 32, 1, 4, 1, 0, 0]}
//! {"id": "scaleoffset", "parameters": [0, 2, 32, 1, 4, 1, 0, 0]}
//! ```
use crate::CodecError;
use crate::bits::{BitReader, BitWriter};
use crate::codec::{Codec, with_room};
use crate::scratch::{LibraryContexts, ScratchBuffer};

const NAME: &str = "scaleoffset";
const HEAD: usize = 21;

/// Scale-offset packing of numbers of one type.
#[derive(Debug)]
pub(crate) struct ScaleOffset {
    number: PackedNumber,
    /// Bytes of a number.
    size: usize,
    big_endian: bool,
    /// The bits of the fill value.
    fill: Option<u64>,
    /// Number of elements of a chunk.
    count: usize,
}

/// The type of the packed numbers.
#[derive(Debug, Clone, Copy)]
enum PackedNumber {
    /// Integers, in a number of bits unless that is 0.
    Integer { bits: u32, signed: bool },
    /// Floats that keep that many decimal digits.
    Float { digits: i32 },
}

/// The header of a chunk.
struct ChunkHead {
    bits: u32,
    min: u64,
}

impl ScaleOffset {
    /// From the parameters that HDF5 stores; `None` if nothing is packed.
    ///
    /// # Errors
    /// `Malformed` if they are invalid.
    pub(crate) fn new(parameters: &[u32]) -> Result<Option<Self>, CodecError> {
        let bad = || CodecError::malformed(NAME, format!("invalid parameters {parameters:?}"));
        let [kind, factor, count, class, size, signed, order, filled, fill @ ..] = parameters else {
            return Err(bad());
        };
        let number = match (kind, class) {
            (0, 1) => PackedNumber::Float { digits: factor.cast_signed() },
            (1, 1) => return Err(CodecError::unsupported(NAME, "scaling by exponents")),
            (2, 0) => PackedNumber::Integer { bits: *factor, signed: *signed == 1 },
            _ => return Err(bad()),
        };
        let size = usize::try_from(*size).ok().filter(|size| match number {
            PackedNumber::Float { .. } => matches!(size, 4 | 8),
            PackedNumber::Integer { .. } => matches!(size, 1 | 2 | 4 | 8),
        });
        let (size, count) = size.zip(usize::try_from(*count).ok()).ok_or_else(bad)?;
        let word = |index: usize| fill.get(index).copied().map_or(0, u64::from);
        let fill = (*filled == 1).then(|| (word(0) | (word(1) << 32)) & mask(8 * width(size)));
        // All bits of integers: the library leaves the chunk unchanged.
        if matches!(number, PackedNumber::Integer { bits, .. } if bits >= 8 * width(size)) {
            return Ok(None);
        }
        Ok(Some(Self { number, size, big_endian: *order == 1, fill, count }))
    }

    fn decode_whole(&self, input: &[u8], out: &mut [u8]) -> Result<(), CodecError> {
        let head = ChunkHead::read(input).filter(|head| head.bits <= 8 * width(self.size));
        let head = head
            .ok_or_else(|| CodecError::malformed(NAME, "the chunk does not begin with a number of bits"))?;
        let body = input.get(HEAD..).unwrap_or_default();
        let decoded = match self.size {
            1 => self.unpack::<1>(&head, body, out),
            2 => self.unpack::<2>(&head, body, out),
            4 => self.unpack::<4>(&head, body, out),
            _ => self.unpack::<8>(&head, body, out),
        };
        decoded.ok_or_else(|| {
            CodecError::malformed(NAME, format!("{} bytes do not hold the chunk", input.len()))
        })
    }

    fn unpack<const N: usize>(&self, head: &ChunkHead, body: &[u8], out: &mut [u8]) -> Option<()> {
        if head.bits == 8 * width(N) {
            out.copy_from_slice(body.get(..out.len())?);
            self.turn(out);
            return Some(());
        }
        let store = |value: u64| self.store::<N>(value);
        let out = out.as_chunks_mut::<N>().0;
        if head.bits == 0 {
            out.fill(store(head.min));
            return Some(());
        }
        let fill = self.fill.map(|fill| (mask(head.bits), store(fill)));
        let mut bits = BitReader::new(body);
        for out in out {
            let distance = bits.take_long(head.bits);
            *out = match fill {
                Some((all_ones, fill)) if distance == all_ones => fill,
                _ => store(self.value(distance, head.min)),
            };
        }
        (!bits.is_over()).then_some(())
    }

    /// Unpacked numbers have the byte order of the machine that wrote them, which is assumed to be little-endian.
    fn turn(&self, numbers: &mut [u8]) {
        if self.big_endian {
            numbers.chunks_exact_mut(self.size).for_each(<[u8]>::reverse);
        }
    }

    /// The bits of the number at a given difference from the smallest. Floats are computed in their own precision, as
    /// in the library.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "distances become floats with rounding, as in C; floats of 4 bytes have 4 bytes"
    )]
    fn value(&self, distance: u64, min: u64) -> u64 {
        match (self.number, self.size) {
            (PackedNumber::Integer { .. }, _) => min.wrapping_add(distance),
            (PackedNumber::Float { digits }, 4) => {
                let scale = 10f32.powf(digits as f32);
                let value = (distance as u32).cast_signed() as f32 / scale + f32::from_bits(min as u32);
                u64::from(value.to_bits())
            }
            (PackedNumber::Float { digits }, _) => {
                let scale = 10f64.powf(f64::from(digits));
                (distance.cast_signed() as f64 / scale + f64::from_bits(min)).to_bits()
            }
        }
    }

    fn store<const N: usize>(&self, value: u64) -> [u8; N] {
        let word = value.to_le_bytes();
        if self.big_endian {
            std::array::from_fn(|i| word[N - 1 - i])
        } else {
            std::array::from_fn(|i| word[i])
        }
    }
}

impl Codec for ScaleOffset {
    fn name(&self) -> &'static str {
        NAME
    }

    fn decoded_len(&self, _: &[u8]) -> Result<Option<usize>, CodecError> {
        Ok(Some(self.count.saturating_mul(self.size)))
    }

    fn decode_into(
        &self,
        input: &[u8],
        out: &mut [u8],
        contexts: &mut LibraryContexts,
    ) -> Result<usize, CodecError> {
        let len = self.count.saturating_mul(self.size);
        with_room(NAME, len, out, contexts, |out, _| self.decode_whole(input, out))
    }

    fn encode(
        &self,
        input: &[u8],
        out: &mut ScratchBuffer,
        _: &mut LibraryContexts,
    ) -> Result<(), CodecError> {
        if !input.len().is_multiple_of(self.size) {
            return Err(CodecError::unsupported(
                NAME,
                format!("{} bytes are not whole numbers", input.len()),
            ));
        }
        encode::encode(self, input, out);
        Ok(())
    }
}

impl ChunkHead {
    fn read(input: &[u8]) -> Option<Self> {
        let bits = u32::from_le_bytes(*input.first_chunk()?);
        let min = u64::from_le_bytes(*input.get(5..)?.first_chunk()?);
        (input.len() >= HEAD).then_some(Self { bits, min })
    }
}

/// The lowest `bits` bits.
fn mask(bits: u32) -> u64 {
    u64::MAX.checked_shr(64 - bits.min(64)).unwrap_or(0)
}

fn width(size: usize) -> u32 {
    u32::try_from(size).unwrap_or(8)
}

mod encode;
