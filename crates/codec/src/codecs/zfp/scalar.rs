//! Number types, and the integers as which they are coded.

/// A number type.
pub(super) trait ZfpScalar: Copy + Default {
    type Word: WrappingWord;
    /// Bits of an exponent, 0 for integers.
    const EXPONENT_BITS: u32;
    /// The number for an integer of a block whose largest number is below two to the power of `exponent`.
    fn scaled(word: Self::Word, exponent: i32) -> Self;
    /// The number with the bits of an integer, where negative ones are ordered by magnitude.
    fn reinterpreted(word: Self::Word) -> Self;
    /// Writes its little-endian bytes.
    fn store(self, out: &mut [u8]);
    /// The number with these bytes.
    fn load(bytes: &[u8]) -> Self;
    /// The integer that is scaled to this number, truncated.
    fn unscaled(self, exponent: i32) -> Self::Word;
    /// The integer that is reinterpreted as this number.
    fn interpreted(self) -> Self::Word;
    /// The exponent of the power of two above it, not less than that of the smallest normal number; `None` if it is not
    /// finite.
    fn exponent(self) -> Option<i32>;
    /// One with the greatest magnitude, of floats; NaN is greater than all numbers.
    fn largest(numbers: &[Self]) -> Self;
    /// Whether all bits are the same.
    fn is_same(self, other: Self) -> bool;
}

/// Integers that wrap around.
pub(super) trait WrappingWord: Copy + Default {
    const BITS: u32;
    /// From digits in base -2.
    fn from_negabinary(code: u64) -> Self;
    /// To digits in base -2.
    fn to_negabinary(self) -> u64;
    fn plus(self, other: Self) -> Self;
    fn minus(self, other: Self) -> Self;
    fn doubled(self) -> Self;
    fn halved(self) -> Self;
}

macro_rules! word {
    ($word:ty, $digits:ty) => {
        impl WrappingWord for $word {
            const BITS: u32 = <$word>::BITS;

            #[inline]
            fn from_negabinary(code: u64) -> Self {
                let mask = <$digits>::MAX / 3 * 2;
                let digits = <$digits>::try_from(code & u64::from(<$digits>::MAX)).unwrap_or(0);
                (digits ^ mask).wrapping_sub(mask).cast_signed()
            }

            #[inline]
            fn to_negabinary(self) -> u64 {
                let mask = <$digits>::MAX / 3 * 2;
                u64::from(self.cast_unsigned().wrapping_add(mask) ^ mask)
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

word!(i32, u32);
word!(i64, u64);

/// Integers are coded unchanged.
macro_rules! integer {
    ($int:ty) => {
        impl ZfpScalar for $int {
            type Word = $int;
            const EXPONENT_BITS: u32 = 0;

            fn scaled(word: $int, _: i32) -> Self {
                word
            }

            fn reinterpreted(word: $int) -> Self {
                word
            }

            #[inline]
            fn store(self, out: &mut [u8]) {
                out.copy_from_slice(&self.to_le_bytes());
            }

            #[inline]
            fn load(bytes: &[u8]) -> Self {
                bytes.first_chunk().map_or(Self::default(), |bytes| Self::from_le_bytes(*bytes))
            }

            fn unscaled(self, _: i32) -> $int {
                self
            }

            fn interpreted(self) -> $int {
                self
            }

            fn exponent(self) -> Option<i32> {
                Some(0)
            }

            fn largest(_: &[$int]) -> Self {
                0
            }

            fn is_same(self, other: Self) -> bool {
                self == other
            }
        }
    };
}

integer!(i32);
integer!(i64);

impl ZfpScalar for f32 {
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

    #[inline]
    fn load(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(Self::default(), |bytes| Self::from_le_bytes(*bytes))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the exponent keeps it within the word")]
    fn unscaled(self, exponent: i32) -> i32 {
        (f64::from(self) * power_of_two(30 - exponent)) as i32
    }

    #[inline]
    fn interpreted(self) -> i32 {
        let word = self.to_bits().cast_signed();
        if word < 0 { word ^ i32::MAX } else { word }
    }

    #[inline]
    fn exponent(self) -> Option<i32> {
        let bits = (self.to_bits() >> 23) & 0xff;
        if self == 0.0 {
            return Some(-127);
        }
        i32::try_from(bits).ok().filter(|&bits| bits < 255).map(|bits| (bits - 126).max(-126))
    }

    #[inline]
    fn largest(numbers: &[Self]) -> Self {
        // Without the sign, bits are ordered as the numbers.
        Self::from_bits(numbers.iter().fold(0, |max, number| max.max(number.to_bits() & (u32::MAX >> 1))))
    }

    #[inline]
    fn is_same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

impl ZfpScalar for f64 {
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

    #[inline]
    fn load(bytes: &[u8]) -> Self {
        bytes.first_chunk().map_or(Self::default(), |bytes| Self::from_le_bytes(*bytes))
    }

    #[inline]
    #[expect(clippy::cast_possible_truncation, reason = "the exponent keeps it within the word")]
    fn unscaled(self, exponent: i32) -> i64 {
        // In two steps: a single power can be out of range.
        (self * power_of_two(-exponent) * power_of_two(62)) as i64
    }

    #[inline]
    fn interpreted(self) -> i64 {
        let word = self.to_bits().cast_signed();
        if word < 0 { word ^ i64::MAX } else { word }
    }

    #[inline]
    fn exponent(self) -> Option<i32> {
        let bits = (self.to_bits() >> 52) & 0x7ff;
        if self == 0.0 {
            return Some(-1023);
        }
        i32::try_from(bits).ok().filter(|&bits| bits < 2047).map(|bits| (bits - 1022).max(-1022))
    }

    #[inline]
    fn largest(numbers: &[Self]) -> Self {
        // Without the sign, bits are ordered as the numbers.
        Self::from_bits(numbers.iter().fold(0, |max, number| max.max(number.to_bits() & (u64::MAX >> 1))))
    }

    #[inline]
    fn is_same(self, other: Self) -> bool {
        self.to_bits() == other.to_bits()
    }
}

/// Two to that power: zero or infinite if it is too small or too large.
pub(super) fn power_of_two(exponent: i32) -> f64 {
    let bits = match exponent {
        1024.. => return f64::INFINITY,
        -1022.. => u64::from((exponent + 1023).unsigned_abs()) << 52,
        -1074.. => 1 << (exponent + 1074).unsigned_abs(),
        _ => 0,
    };
    f64::from_bits(bits)
}
