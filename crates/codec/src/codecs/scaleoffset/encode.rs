//! Packing.
use super::{BitWriter, HEAD, PackedNumber, ScaleOffset, ScratchBuffer, mask, width};

/// The parts of an encoded chunk.
struct PackedChunk {
    bits: u32,
    min: u64,
}

/// Encodes a chunk of whole elements.
pub(super) fn encode(codec: &ScaleOffset, input: &[u8], out: &mut ScratchBuffer) {
    match codec.size {
        1 => encode_words::<1>(codec, input, out),
        2 => encode_words::<2>(codec, input, out),
        4 => encode_words::<4>(codec, input, out),
        _ => encode_words::<8>(codec, input, out),
    }
}

fn encode_words<const N: usize>(codec: &ScaleOffset, input: &[u8], out: &mut ScratchBuffer) {
    let all = 8 * width(N);
    let packed = match codec.number {
        PackedNumber::Integer { bits, signed } => integers::<N>(codec, input, bits, signed),
        PackedNumber::Float { digits } => floats::<N>(codec, input, digits),
    };
    let packed = packed.filter(|packed| packed.bits <= all).unwrap_or(PackedChunk { bits: all, min: 0 });
    let bits = usize::try_from(packed.bits).unwrap_or(64);
    // One byte more than the bits need, as in the library.
    let body = if packed.bits == all { input.len() } else { (input.len() / N).saturating_mul(bits) / 8 + 1 };
    let room = out.prepare(HEAD + body);
    let (head, body) = room.split_at_mut(HEAD);
    head.fill(0);
    head[..4].copy_from_slice(&packed.bits.to_le_bytes());
    head[4] = 8;
    head[5..13].copy_from_slice(&packed.min.to_le_bytes());
    if packed.bits == all {
        body.copy_from_slice(input);
        codec.turn(body);
        return;
    }
    body.last_mut().into_iter().for_each(|last| *last = 0);
    let mut writer = BitWriter::new(body);
    match (codec.number, codec.fill) {
        (PackedNumber::Integer { .. }, None) => numbers::<N>(codec, input)
            .for_each(|value| writer.put(value.wrapping_sub(packed.min), packed.bits)),
        (PackedNumber::Integer { .. }, Some(fill)) => numbers::<N>(codec, input).for_each(|value| {
            let code = if value == fill { u64::MAX } else { value.wrapping_sub(packed.min) };
            writer.put(code, packed.bits);
        }),
        (PackedNumber::Float { digits }, _) => {
            let scale = DecimalScale::new(codec, digits);
            let min = scale.of(codec.float(packed.min));
            for value in numbers::<N>(codec, input) {
                let code = match codec.fill {
                    Some(fill) if scale.is_fill(codec, value, fill) => u64::MAX,
                    _ => rounded(scale.of(codec.float(value)) - min),
                };
                writer.put(code, packed.bits);
            }
        }
    }
    writer.finish();
}

/// The bits of the numbers.
fn numbers<const N: usize>(codec: &ScaleOffset, input: &[u8]) -> impl Iterator<Item = u64> {
    let big_endian = codec.big_endian;
    input.as_chunks::<N>().0.iter().map(move |bytes| {
        let mut word = [0; 8];
        for (i, byte) in bytes.iter().enumerate() {
            word[if big_endian { N - 1 - i } else { i }] = *byte;
        }
        u64::from_le_bytes(word)
    })
}

/// `None` if differences need as many bits as numbers.
fn integers<const N: usize>(
    codec: &ScaleOffset,
    input: &[u8],
    bits: u32,
    signed: bool,
) -> Option<PackedChunk> {
    let all = mask(8 * width(N));
    // With the highest bit flipped, signed numbers sort like unsigned ones.
    let turn = if signed { all ^ (all >> 1) } else { 0 };
    let valid = numbers::<N>(codec, input).filter(|value| codec.fill != Some(*value));
    let (min, max) = valid.fold((u64::MAX, 0), |(min, max), value| {
        let value = value ^ turn;
        (value.min(min), value.max(max))
    });
    let (min, max) = if min > max { (turn, turn) } else { (min, max) };
    let needed = bits_for(max - min, codec.fill.is_some())?;
    Some(PackedChunk { bits: if bits > 0 { bits } else { needed }, min: min ^ turn })
}

/// `None` if the rounded differences are too large or some numbers are not finite.
fn floats<const N: usize>(codec: &ScaleOffset, input: &[u8], digits: i32) -> Option<PackedChunk> {
    let scale = DecimalScale::new(codec, digits);
    let valid = numbers::<N>(codec, input)
        .filter(|value| codec.fill.is_none_or(|fill| !scale.is_fill(codec, *value, fill)));
    let valid = valid.map(|value| codec.float(value));
    let ends = (f64::INFINITY, f64::NEG_INFINITY, true);
    let (min, max, finite) = valid
        .fold(ends, |(min, max, finite), value| (value.min(min), value.max(max), finite & value.is_finite()));
    let (min, max) = if min > max { (0.0, 0.0) } else { (min, max) };
    let span = scale.of(max) - scale.of(min);
    let limit = if N == 4 { 2f64.powi(31) } else { 2f64.powi(63) };
    if !finite || span.is_nan() || span > limit {
        return None;
    }
    Some(PackedChunk { bits: bits_for(rounded(span), codec.fill.is_some())?, min: codec.bits(min) })
}

/// Bits for differences up to `span`, and a code for the fill value.
fn bits_for(span: u64, fill: bool) -> Option<u32> {
    let codes = span.checked_add(if fill { 2 } else { 1 })?;
    Some(codes.checked_next_power_of_two().map_or(64, u64::trailing_zeros))
}

/// The power of ten that floats are multiplied by, in their own precision.
struct DecimalScale {
    factor: f64,
    /// Floats that are closer than this to the fill value are stored as it.
    near: f64,
    single: bool,
}

impl DecimalScale {
    fn new(codec: &ScaleOffset, digits: i32) -> Self {
        let single = codec.size == 4;
        let factor = if single { f64::from(10f32.powi(digits)) } else { 10f64.powi(digits) };
        Self { factor, near: 10f64.powi(digits.saturating_neg()), single }
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "rounding to the narrower type is meant")]
    fn of(&self, value: f64) -> f64 {
        let scaled = value * self.factor;
        if self.single { f64::from(scaled as f32) } else { scaled }
    }

    fn is_fill(&self, codec: &ScaleOffset, value: u64, fill: u64) -> bool {
        value == fill || (codec.float(value) - codec.float(fill)).abs() < self.near
    }
}

/// To the nearest integer, ties away from zero.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the range was checked")]
fn rounded(value: f64) -> u64 {
    value.round() as u64
}

impl ScaleOffset {
    #[expect(clippy::cast_possible_truncation, reason = "floats of 4 bytes have 4 bytes")]
    fn float(&self, bits: u64) -> f64 {
        if self.size == 4 { f64::from(f32::from_bits(bits as u32)) } else { f64::from_bits(bits) }
    }

    #[expect(clippy::cast_possible_truncation, reason = "the value was a float of 4 bytes")]
    fn bits(&self, value: f64) -> u64 {
        if self.size == 4 { u64::from((value as f32).to_bits()) } else { value.to_bits() }
    }
}
