//! Packing.
use super::{BitWriter, Buffer, HEAD, Number, ScaleOffset, mask, width};

/// What is written of a chunk.
struct Packed {
    bits: u32,
    least: u64,
}

/// Encodes whole numbers.
pub(super) fn encode(codec: &ScaleOffset, input: &[u8], out: &mut Buffer) {
    let all = 8 * width(codec.size);
    let packed = match codec.number {
        Number::Integer { bits, signed } => integers(codec, input, bits, signed),
        Number::Float { digits } => floats(codec, input, digits),
    };
    let packed = packed.filter(|packed| packed.bits <= all).unwrap_or(Packed { bits: all, least: 0 });
    let count = input.len() / codec.size;
    let bits = usize::try_from(packed.bits).unwrap_or(64);
    // One byte more than the bits need, as the library has it.
    let body = if packed.bits == all { input.len() } else { count.saturating_mul(bits) / 8 + 1 };
    let room = out.prepare(HEAD + body);
    room.fill(0);
    let (head, body) = room.split_at_mut(HEAD);
    head[..4].copy_from_slice(&packed.bits.to_le_bytes());
    head[4] = 8;
    head[5..13].copy_from_slice(&packed.least.to_le_bytes());
    if packed.bits == all {
        body.copy_from_slice(input);
        codec.turn(body);
        return;
    }
    let mut writer = BitWriter::new(body);
    for value in numbers(codec, input) {
        let code = match codec.fill {
            Some(fill) if is_fill(codec, value, fill) => mask(packed.bits),
            _ => distance(codec, value, packed.least),
        };
        writer.put(code, packed.bits);
    }
    writer.finish();
}

/// The bits of the numbers.
fn numbers(codec: &ScaleOffset, input: &[u8]) -> impl Iterator<Item = u64> {
    let big_endian = codec.big_endian;
    input.chunks_exact(codec.size).map(move |bytes| {
        let mut word = [0; 8];
        for (i, byte) in bytes.iter().enumerate() {
            word[if big_endian { bytes.len() - 1 - i } else { i }] = *byte;
        }
        u64::from_le_bytes(word)
    })
}

/// `None` when distances need as many bits as numbers.
fn integers(codec: &ScaleOffset, input: &[u8], bits: u32, signed: bool) -> Option<Packed> {
    let all = mask(8 * width(codec.size));
    // With the highest bit changed, signed numbers are in the order of unsigned ones.
    let turn = if signed { all ^ (all >> 1) } else { 0 };
    let valid = numbers(codec, input).filter(|value| codec.fill != Some(*value)).map(|value| value ^ turn);
    let (least, most) = range(valid, u64::min, u64::max).unwrap_or((turn, turn));
    let needed = bits_for(most - least, codec.fill.is_some())?;
    Some(Packed { bits: if bits > 0 { bits } else { needed }, least: least ^ turn })
}

/// `None` when the rounded distances are too large or there are numbers that are not finite.
fn floats(codec: &ScaleOffset, input: &[u8], digits: i32) -> Option<Packed> {
    let valid =
        numbers(codec, input).filter(|value| codec.fill.is_none_or(|fill| !is_fill(codec, *value, fill)));
    let (least, most) = valid
        .map(|value| codec.float(value))
        .try_fold((f64::INFINITY, f64::NEG_INFINITY), |(least, most), value| {
            value.is_finite().then_some((value.min(least), value.max(most)))
        })?;
    let (least, most) = if least > most { (0.0, 0.0) } else { (least, most) };
    let span = codec.scaled(most, digits) - codec.scaled(least, digits);
    let limit = if codec.size == 4 { 2f64.powi(31) } else { 2f64.powi(63) };
    if span.is_nan() || span > limit {
        return None;
    }
    Some(Packed { bits: bits_for(rounded(span), codec.fill.is_some())?, least: codec.bits(least) })
}

fn range<T: Copy>(
    mut values: impl Iterator<Item = T>,
    min: impl Fn(T, T) -> T,
    max: impl Fn(T, T) -> T,
) -> Option<(T, T)> {
    let first = values.next()?;
    Some(values.fold((first, first), |(least, most), value| (min(least, value), max(most, value))))
}

/// Bits for distances up to `span`, and a code for the fill value.
fn bits_for(span: u64, fill: bool) -> Option<u32> {
    let codes = span.checked_add(if fill { 2 } else { 1 })?;
    Some(codes.checked_next_power_of_two().map_or(64, u64::trailing_zeros))
}

fn is_fill(codec: &ScaleOffset, value: u64, fill: u64) -> bool {
    match codec.number {
        Number::Integer { .. } => value == fill,
        // Floats are the fill value when they are closer to it than the digits tell.
        Number::Float { digits } => {
            value == fill
                || (codec.float(value) - codec.float(fill)).abs() < 10f64.powi(digits.saturating_neg())
        }
    }
}

fn distance(codec: &ScaleOffset, value: u64, least: u64) -> u64 {
    match codec.number {
        Number::Integer { .. } => value.wrapping_sub(least),
        Number::Float { digits } => {
            rounded(codec.scaled(codec.float(value), digits) - codec.scaled(codec.float(least), digits))
        }
    }
}

/// To the nearest integer; halves away from zero.
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

    /// The value times the power of ten, in its own precision.
    #[expect(clippy::cast_possible_truncation, reason = "the value was a float of 4 bytes")]
    fn scaled(&self, value: f64, digits: i32) -> f64 {
        if self.size == 4 { f64::from(value as f32 * 10f32.powi(digits)) } else { value * 10f64.powi(digits) }
    }
}
