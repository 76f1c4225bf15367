//! Numbers, and the integers that they are coded as.

/// A type of numbers.
pub(super) trait Scalar: Copy + Default {
    type Word: Word;
    /// Bits of an exponent, 0 for integers.
    const EXPONENT_BITS: u32;
    /// The number for an integer of a block whose largest number is below two to that.
    fn scaled(word: Self::Word, exponent: i32) -> Self;
    /// The number with the bits of an integer, where negative ones have the order of their magnitude.
    fn reinterpreted(word: Self::Word) -> Self;
    /// Writes its little-endian bytes.
    fn store(self, out: &mut [u8]);
}

/// Integers that wrap around.
pub(super) trait Word: Copy + Default {
    const BITS: u32;
    /// From digits to the base of -2.
    fn from_negabinary(code: u64) -> Self;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn doubled(self) -> Self;
    fn halved(self) -> Self;
}

macro_rules! word {
    ($word:ty) => {
        impl Word for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline]
            #[expect(clippy::cast_possible_truncation, reason = "the code has the bits of the word")]
            fn from_negabinary(code: u64) -> Self {
                const MASK: u64 = 0xaaaa_aaaa_aaaa_aaaa;
                (code ^ MASK).wrapping_sub(MASK).cast_signed() as Self
            }

            #[inline]
            fn plus(self, other: Self) -> Self {
                self.wrapping_add(other)
            }

            #[inline]
            fn minus(self, other: Self) -> Self {
                self.wrapping_sub(other)
            }

            #[inline]
            fn doubled(self) -> Self {
                self << 1
            }

            #[inline]
            fn halved(self) -> Self {
                self >> 1
            }
        }
    };
}

word!(i32);
word!(i64);

impl Scalar for i32 {
    type Word = i32;
    const EXPONENT_BITS: u32 = 0;

    fn scaled(word: i32, _: i32) -> Self {
        word
    }

    fn reinterpreted(word: i32) -> Self {
        word
    }

    #[inline]
    fn store(self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_le_bytes());
    }
}

impl Scalar for i64 {
    type Word = i64;
    const EXPONENT_BITS: u32 = 0;

    fn scaled(word: i64, _: i32) -> Self {
        word
    }

    fn reinterpreted(word: i64) -> Self {
        word
    }

    #[inline]
    fn store(self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_le_bytes());
    }
}

impl Scalar for f32 {
    type Word = i32;
    const EXPONENT_BITS: u32 = 8;

    #[inline]
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "integers are rounded; the power has few digits"
    )]
    fn scaled(word: i32, exponent: i32) -> Self {
        word as f32 * power_of_two(exponent - 30) as f32
    }

    #[inline]
    fn reinterpreted(word: i32) -> Self {
        let word = if word < 0 { word ^ i32::MAX } else { word };
        f32::from_bits(word.cast_unsigned())
    }

    #[inline]
    fn store(self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_le_bytes());
    }
}

impl Scalar for f64 {
    type Word = i64;
    const EXPONENT_BITS: u32 = 11;

    #[inline]
    #[expect(clippy::cast_precision_loss, reason = "integers are rounded")]
    fn scaled(word: i64, exponent: i32) -> Self {
        word as f64 * power_of_two(exponent - 62)
    }

    #[inline]
    fn reinterpreted(word: i64) -> Self {
        let word = if word < 0 { word ^ i64::MAX } else { word };
        f64::from_bits(word.cast_unsigned())
    }

    #[inline]
    fn store(self, out: &mut [u8]) {
        out.copy_from_slice(&self.to_le_bytes());
    }
}

/// Two to that power: zero or infinite where it is too small or too large.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    let bits = match exponent {
        1024.. => return f64::INFINITY,
        -1022.. => u64::from((exponent + 1023).unsigned_abs()) << 52,
        -1074.. => 1 << (exponent + 1074).unsigned_abs(),
        _ => 0,
    };
    f64::from_bits(bits)
}
