//! Many numbers at once: one loop for every type, without a branch in it.
use super::{NumberKind, NumberType, narrow};
use crate::processor::{self, VectorLoop};
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
    pub(crate) fn load_floats(self, bytes: &[u8], out: &mut [f64]) {
        processor::run(LoadFloats { number: self, bytes, out });
    }

    /// Writes 64-bit floats, truncated or rounded to this type as in C.
    pub(crate) fn store_floats(self, values: &[f64], out: &mut [u8]) {
        processor::run(StoreFloats { number: self, values, out });
    }

    /// Reads integers, sign-extended to 64 bits; for floats, their bits.
    pub(crate) fn load_words(self, bytes: &[u8], out: &mut [u64]) {
        processor::run(LoadWords { number: self, bytes, out });
    }

    /// Writes the low bits of integers.
    pub(crate) fn store_words(self, values: &[u64], out: &mut [u8]) {
        processor::run(StoreWords { number: self, values, out });
    }
}

struct LoadFloats<'a> {
    number: NumberType,
    bytes: &'a [u8],
    out: &'a mut [f64],
}

impl VectorLoop for LoadFloats<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "numbers become floats with rounding, as in C")]
    fn run(self) {
        let Self { number, bytes, out } = self;
        macro_rules! load {
            ($kind:ty, $target:ty) => {
                load_each(bytes, number.big_endian, out, |bytes| <$kind>::from_le_bytes(bytes) as $target)
            };
        }
        if number.is_float() && number.size == 2 {
            load_each(bytes, number.big_endian, out, |bytes| f16::from_le_bytes(bytes).to_f64());
            return;
        }
        by_type!(number, load, f64);
    }
}

struct StoreFloats<'a> {
    number: NumberType,
    values: &'a [f64],
    out: &'a mut [u8],
}

impl VectorLoop for StoreFloats<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what does not fit is cut off, as in C"
    )]
    fn run(self) {
        let Self { number, values, out } = self;
        let big = number.big_endian;
        match (number.is_float(), number.size) {
            (true, 2) => return store_each(values, big, out, |value| f16::from_f64(value).to_le_bytes()),
            (true, 4) => return store_each(values, big, out, |value| narrow(value).to_le_bytes()),
            (true, _) => return store_each(values, big, out, f64::to_le_bytes),
            _ => {}
        }
        if values.iter().fold(true, |fits, value| fits & (value.abs() < WORD_LIMIT)) {
            match number.size {
                1 => store_each(values, big, out, |value| (word(value) as u8).to_le_bytes()),
                2 => store_each(values, big, out, |value| (word(value) as u16).to_le_bytes()),
                4 => store_each(values, big, out, |value| (word(value) as u32).to_le_bytes()),
                _ => store_each(values, big, out, |value| word(value).to_le_bytes()),
            }
            return;
        }
        // The low bits of a negative number are those of a signed one; they contain all smaller types.
        let bits = |value: f64| if value < 0.0 { (value as i64).cast_unsigned() } else { value as u64 };
        let low = |value: f64| (value as i64).cast_unsigned();
        match number.size {
            1 => store_each(values, big, out, |value| (low(value) as u8).to_le_bytes()),
            2 => store_each(values, big, out, |value| (low(value) as u16).to_le_bytes()),
            4 => store_each(values, big, out, |value| (low(value) as u32).to_le_bytes()),
            _ => store_each(values, big, out, |value| bits(value).to_le_bytes()),
        }
    }
}

/// Numbers of a smaller magnitude (2^51) become integers by an addition, which compilers do for many at once.
const WORD_LIMIT: f64 = 2_251_799_813_685_248.0;

/// The integer of such a number, truncated.
#[inline(always)]
fn word(value: f64) -> u64 {
    // 1.5 * 2^52: the lowest bits of a sum with it are the integer.
    const BASE: f64 = 6_755_399_441_055_744.0;
    let nearest = (value + BASE) - BASE;
    let beyond = if nearest.abs() > value.abs() { 1f64.copysign(value) } else { 0.0 };
    ((nearest - beyond) + BASE).to_bits().wrapping_sub(BASE.to_bits())
}

struct LoadWords<'a> {
    number: NumberType,
    bytes: &'a [u8],
    out: &'a mut [u64],
}

impl VectorLoop for LoadWords<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::cast_sign_loss, clippy::cast_possible_truncation, reason = "bits are meant")]
    fn run(self) {
        let Self { number, bytes, out } = self;
        macro_rules! load {
            ($kind:ty, $target:ty) => {
                load_each(bytes, number.big_endian, out, |bytes| <$kind>::from_le_bytes(bytes) as $target)
            };
        }
        let bits = if number.is_float() { NumberKind::Unsigned } else { number.kind };
        by_type!(NumberType { kind: bits, ..number }, load, u64);
    }
}

struct StoreWords<'a> {
    number: NumberType,
    values: &'a [u64],
    out: &'a mut [u8],
}

impl VectorLoop for StoreWords<'_> {
    type Output = ();

    #[inline(always)]
    #[expect(clippy::cast_possible_truncation, reason = "what does not fit is cut off, as in C")]
    fn run(self) {
        let Self { number, values, out } = self;
        let big = number.big_endian;
        match number.size {
            1 => store_each(values, big, out, |value| (value as u8).to_le_bytes()),
            2 => store_each(values, big, out, |value| (value as u16).to_le_bytes()),
            4 => store_each(values, big, out, |value| (value as u32).to_le_bytes()),
            _ => store_each(values, big, out, u64::to_le_bytes),
        }
    }
}

#[inline(always)]
fn load_each<const N: usize, T>(bytes: &[u8], big_endian: bool, out: &mut [T], load: impl Fn([u8; N]) -> T) {
    let pairs = bytes.as_chunks::<N>().0.iter().zip(out);
    if big_endian {
        for (bytes, out) in pairs {
            *out = load(std::array::from_fn(|i| bytes[N - 1 - i]));
        }
    } else {
        for (bytes, out) in pairs {
            *out = load(*bytes);
        }
    }
}

#[inline(always)]
fn store_each<const N: usize, T: Copy>(
    values: &[T],
    big_endian: bool,
    out: &mut [u8],
    store: impl Fn(T) -> [u8; N],
) {
    let pairs = values.iter().zip(out.as_chunks_mut::<N>().0);
    if big_endian {
        for (value, out) in pairs {
            *out = store(*value);
            out.reverse();
        }
    } else {
        for (value, out) in pairs {
            *out = store(*value);
        }
    }
}
