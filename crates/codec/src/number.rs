//! Number types, as parameters name them, and their bytes.
mod many;
mod scalar;

use half::f16;

/// A number type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NumberType {
    /// What the bytes mean.
    pub kind: NumberKind,
    /// Bytes of one number.
    pub size: usize,
    /// Whether the most significant byte comes first.
    pub big_endian: bool,
}

/// What the bytes of a number mean.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum NumberKind {
    /// An integer in two's complement.
    Signed,
    /// An integer without a sign.
    Unsigned,
    /// IEEE 754.
    Float,
}

/// A number of any type.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum AnyNumber {
    Int(i128),
    Float(f64),
}

impl NumberType {
    /// Reads a NumPy type string (`<f4`, `|u1`, `b1`, `<M8[s]`) or the name of a Zarr v3 data type (`float32`).
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (big_endian, name) = match text.strip_prefix(['<', '>', '|', '=']) {
            Some(name) => (text.starts_with('>'), name),
            None => (false, text),
        };
        let (name, _unit) = name.split_once('[').unwrap_or((name, ""));
        let split = name.find(|c: char| c.is_ascii_digit()).unwrap_or(name.len());
        let (word, digits) = name.split_at(split);
        let (kind, unit) = match word {
            "i" | "M" | "m" => (NumberKind::Signed, 1),
            "u" | "b" => (NumberKind::Unsigned, 1),
            "f" => (NumberKind::Float, 1),
            "int" => (NumberKind::Signed, 8),
            "uint" => (NumberKind::Unsigned, 8),
            "float" => (NumberKind::Float, 8),
            "bool" => return Some(Self { kind: NumberKind::Unsigned, size: 1, big_endian: false }),
            _ => return None,
        };
        let size = digits.parse::<usize>().ok()? / unit;
        let known = match kind {
            NumberKind::Float => matches!(size, 2 | 4 | 8),
            _ => matches!(size, 1 | 2 | 4 | 8),
        };
        known.then_some(Self { kind, size, big_endian })
    }

    pub(crate) fn is_float(self) -> bool {
        self.kind == NumberKind::Float
    }

    /// The number in `bytes`, which has `size` of them.
    pub(crate) fn load(self, bytes: &[u8]) -> AnyNumber {
        let mut word = [0; 8];
        for (i, byte) in bytes.iter().take(8).enumerate() {
            let place = if self.big_endian { bytes.len().min(8) - 1 - i } else { i };
            word[place] = *byte;
        }
        let bits = u64::from_le_bytes(word);
        match self.kind {
            NumberKind::Unsigned => AnyNumber::Int(i128::from(bits)),
            NumberKind::Signed => {
                let shift = 64 - 8 * self.size;
                AnyNumber::Int(i128::from((bits << shift).cast_signed() >> shift))
            }
            NumberKind::Float => AnyNumber::Float(match self.size {
                2 => f16::from_le_bytes([word[0], word[1]]).to_f64(),
                4 => f64::from(f32::from_le_bytes([word[0], word[1], word[2], word[3]])),
                _ => f64::from_bits(bits),
            }),
        }
    }

    /// Writes the number, truncated or rounded to this type as in C.
    pub(crate) fn store(self, number: AnyNumber, out: &mut [u8]) {
        let word = match self.kind {
            NumberKind::Float => match self.size {
                2 => u64::from(f16::from_f64(number.to_f64()).to_bits()),
                4 => u64::from(narrow(number.to_f64()).to_bits()),
                _ => number.to_f64().to_bits(),
            },
            _ => number.low_bits(),
        };
        let size = self.size.min(out.len());
        for (i, byte) in word.to_le_bytes().iter().take(size).enumerate() {
            let place = if self.big_endian { size - 1 - i } else { i };
            out[place] = *byte;
        }
    }

    /// Rounds the result of an operation on numbers of this type; that of integers is a 64-bit float.
    pub(crate) fn round(self, value: f64) -> f64 {
        match (self.kind, self.size) {
            (NumberKind::Float, 2) => f16::from_f64(value).to_f64(),
            (NumberKind::Float, 4) => f64::from(narrow(value)),
            _ => value,
        }
    }
}

impl AnyNumber {
    #[expect(clippy::cast_precision_loss, reason = "numbers become floats with rounding, as in C")]
    pub(crate) fn to_f64(self) -> f64 {
        match self {
            Self::Int(value) => value as f64,
            Self::Float(value) => value,
        }
    }

    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "what does not fit is cut off, as in C"
    )]
    fn low_bits(self) -> u64 {
        match self {
            Self::Int(value) => value as u64,
            Self::Float(value) if value < 0.0 => (value as i64).cast_unsigned(),
            Self::Float(value) => value as u64,
        }
    }
}

#[expect(clippy::cast_possible_truncation, reason = "rounding to the narrower type is meant")]
fn narrow(value: f64) -> f32 {
    value as f32
}

/// A float without a fraction as an integer.
#[expect(clippy::cast_possible_truncation, reason = "the number is whole and small")]
fn whole(number: f64) -> Option<i128> {
    (number.fract() == 0.0 && number.abs() < 1e30).then_some(number as i128)
}
