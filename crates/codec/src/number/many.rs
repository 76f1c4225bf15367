//! Many numbers at once: one loop for every type, without a branch in it.
use super::{NumberKind, NumberType, narrow};
use half::f16;

/// Calls `$each` for the size and kind of a number type, with its conversion to `$target`.
macro_rules! by_type {
    ($number:expr, $each:ident, $target:ty) => {
        match ($number.kind, $number.size) {
            (NumberKind::Signed, 1) => $each!(i8, $target),
            (NumberKind::Signed, 2) => $each!(i16, $target),
            (NumberKind::Signed, 4) => $each!(i32, $target),
            (NumberKind::Signed, _) => $each!(i64, $target),
            (NumberKind::Unsigned, 1) => $each!(u8, $target),
            (NumberKind::Unsigned, 2) => $each!(u16, $target),
            (NumberKind::Unsigned, 4) => $each!(u32, $target),
            (NumberKind::Unsigned, _) => $each!(u64, $target),
            (NumberKind::Float, 4) => $each!(f32, $target),
            (NumberKind::Float, _) => $each!(f64, $target),
        }
    };
}

impl NumberType {
    /// Reads numbers as 64-bit floats, as many as `out` has room for.
    #[expect(clippy::cast_precision_loss, reason = "numbers become floats with rounding, as in C")]
    pub(crate) fn load_floats(self, bytes: &[u8], out: &mut [f64]) {
        macro_rules! load {
            ($kind:ty, $target:ty) => {
                load_each(bytes, self.big_endian, out, |bytes| <$kind>::from_le_bytes(bytes) as $target)
            };
        }
        if self.is_float() && self.size == 2 {
            load_each(bytes, self.big_endian, out, |bytes| f16::from_le_bytes(bytes).to_f64());
            return;
        }
        by_type!(self, load, f64);
    }

    /// Writes 64-bit floats, truncated or rounded to this type as in C.
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what does not fit is cut off, as in C"
    )]
    pub(crate) fn store_floats(self, values: &[f64], out: &mut [u8]) {
        let big = self.big_endian;
        // The low bits of a negative number are those of a signed one; they contain all smaller types.
        let bits = |value: f64| if value < 0.0 { (value as i64).cast_unsigned() } else { value as u64 };
        let low = |value: f64| (value as i64).cast_unsigned();
        match (self.is_float(), self.size) {
            (true, 2) => store_each(values, big, out, |value| f16::from_f64(value).to_le_bytes()),
            (true, 4) => store_each(values, big, out, |value| narrow(value).to_le_bytes()),
            (true, _) => store_each(values, big, out, f64::to_le_bytes),
            (false, 1) => store_each(values, big, out, |value| (low(value) as u8).to_le_bytes()),
            (false, 2) => store_each(values, big, out, |value| (low(value) as u16).to_le_bytes()),
            (false, 4) => store_each(values, big, out, |value| (low(value) as u32).to_le_bytes()),
            (false, _) => store_each(values, big, out, |value| bits(value).to_le_bytes()),
        }
    }

    /// Reads integers, sign-extended to 64 bits; for floats, their bits.
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "bits are meant")]
    pub(crate) fn load_words(self, bytes: &[u8], out: &mut [u64]) {
        macro_rules! load {
            ($kind:ty, $target:ty) => {
                load_each(bytes, self.big_endian, out, |bytes| <$kind>::from_le_bytes(bytes) as $target)
            };
        }
        let bits = if self.is_float() { NumberKind::Unsigned } else { self.kind };
        by_type!(Self { kind: bits, ..self }, load, u64);
    }

    /// Writes the low bits of integers.
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is cut off, as in C")]
    pub(crate) fn store_words(self, values: &[u64], out: &mut [u8]) {
        let big = self.big_endian;
        match self.size {
            1 => store_each(values, big, out, |value| (value as u8).to_le_bytes()),
            2 => store_each(values, big, out, |value| (value as u16).to_le_bytes()),
            4 => store_each(values, big, out, |value| (value as u32).to_le_bytes()),
            _ => store_each(values, big, out, u64::to_le_bytes),
        }
    }
}

#[inline]
fn load_each<const N: usize, T>(bytes: &[u8], big_endian: bool, out: &mut [T], load: impl Fn([u8; N]) -> T) {
    let pairs = bytes.as_chunks::<N>().0.iter().zip(out);
    if big_endian {
        pairs.for_each(|(bytes, out)| *out = load(std::array::from_fn(|i| bytes[N - 1 - i])));
    } else {
        pairs.for_each(|(bytes, out)| *out = load(*bytes));
    }
}

#[inline]
fn store_each<const N: usize, T: Copy>(
    values: &[T],
    big_endian: bool,
    out: &mut [u8],
    store: impl Fn(T) -> [u8; N],
) {
    let pairs = values.iter().zip(out.as_chunks_mut::<N>().0);
    if big_endian {
        pairs.for_each(|(value, out)| {
            *out = store(*value);
            out.reverse();
        });
    } else {
        pairs.for_each(|(value, out)| *out = store(*value));
    }
}
