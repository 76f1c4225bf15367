//! Numbers as they are written.
use ncirrus_model::Atomic;
use std::fmt;

/// A number of the text, before it becomes a value of some type.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Number {
    /// Decimal or octal; the type is that of its suffix.
    Integer {
        value: i128,
        suffix: Option<Atomic>,
    },
    /// `0x..`: an opaque value or an integer, by its place.
    Hex {
        digits: Vec<u8>,
        suffix: Option<Atomic>,
    },
    Double(f64),
    Float(f32),
}

impl Number {
    /// Parses what begins with a digit, a sign or a point.
    ///
    /// # Errors
    /// What is wrong with it.
    pub(crate) fn parse(text: &[u8]) -> Result<Self, String> {
        let (negative, rest) = match text {
            [b'-', rest @ ..] => (true, rest),
            [b'+', rest @ ..] => (false, rest),
            rest => (false, rest),
        };
        if let [b'0', b'x' | b'X', rest @ ..] = rest {
            return hexadecimal(text, rest, negative);
        }
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        let (digits, behind) = rest.split_at(digits);
        match behind.first() {
            Some(b'.' | b'e' | b'E') => real(text),
            _ => integer(text, digits, behind, negative),
        }
    }

    /// A word that stands for a number.
    pub(crate) fn of_word(word: &str, negative: bool) -> Option<Self> {
        let (value, single) = super::words::number_word(word)?;
        let value = if negative { -value } else { value };
        #[expect(clippy::cast_possible_truncation, reason = "NaN and infinity have no digits to lose")]
        Some(if single { Self::Float(value as f32) } else { Self::Double(value) })
    }

    /// The integer, of a hexadecimal one as well; `None` for reals and more digits than any type has.
    pub(crate) fn integer(&self) -> Option<i128> {
        match self {
            Self::Integer { value, .. } => Some(*value),
            Self::Hex { digits, .. } => {
                let significant = digits.iter().position(|digit| *digit != b'0').unwrap_or(digits.len());
                let digits = std::str::from_utf8(digits.get(significant..)?).ok()?;
                match digits.len() {
                    0 => Some(0),
                    1..=16 => i128::from_str_radix(digits, 16).ok(),
                    _ => None,
                }
            }
            Self::Double(_) | Self::Float(_) => None,
        }
    }

    /// The type that an attribute of this number alone has.
    pub(crate) fn inferred(&self) -> Atomic {
        let (value, suffix) = match self {
            Self::Double(_) => return Atomic::Double,
            Self::Float(_) => return Atomic::Float,
            Self::Integer { suffix, .. } | Self::Hex { suffix, .. } => {
                (self.integer().unwrap_or(i128::MAX), *suffix)
            }
        };
        match suffix {
            // More than 32 bits in spite of the suffix.
            Some(Atomic::UInt) if u32::try_from(value).is_err() => Atomic::UInt64,
            Some(suffix) => suffix,
            None if i32::try_from(value).is_ok() => Atomic::Int,
            None if value < 0 => Atomic::Int64,
            None if u32::try_from(value).is_ok() => Atomic::UInt,
            None => Atomic::UInt64,
        }
    }
}

impl fmt::Display for Number {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Integer { value, .. } => write!(f, "{value}"),
            Self::Hex { digits, .. } => {
                write!(f, "0x{}", super::token::shortened(&String::from_utf8_lossy(digits)))
            }
            Self::Double(value) => f.write_str(&shown_real(*value)),
            Self::Float(value) => f.write_str(&shown_real(*value)),
        }
    }
}

/// A number as people write it: with an exponent if it has many digits otherwise.
pub(super) fn shown_real<T: fmt::Display + fmt::LowerExp>(value: T) -> String {
    let plain = value.to_string();
    let is_long = plain.len() > MAX_DIGITS && plain.bytes().any(|byte| byte.is_ascii_digit());
    if is_long { format!("{value:e}") } else { plain }
}

/// Bytes of a number that is shown without an exponent.
const MAX_DIGITS: usize = 18;

fn shown(text: &[u8]) -> String {
    super::token::shortened(&String::from_utf8_lossy(text))
}

fn hexadecimal(text: &[u8], rest: &[u8], negative: bool) -> Result<Number, String> {
    let count = rest.iter().take_while(|byte| byte.is_ascii_hexdigit()).count();
    let (digits, behind) = rest.split_at(count);
    let suffix = suffix(behind).ok_or_else(|| bad_suffix(text, behind))?;
    if digits.is_empty() {
        return Err(format!("{} has no digits behind 0x", shown(text)));
    }
    let number = Number::Hex { digits: digits.to_vec(), suffix };
    if !negative {
        return Ok(number);
    }
    let value = number.integer().ok_or_else(|| out_of_range(text))?;
    checked(text, -value, suffix)
}

fn integer(text: &[u8], digits: &[u8], behind: &[u8], negative: bool) -> Result<Number, String> {
    let suffix = suffix(behind).ok_or_else(|| bad_suffix(text, behind))?;
    let is_octal = digits.len() > 1 && digits.first() == Some(&b'0');
    if is_octal && digits.iter().any(|digit| *digit > b'7') {
        return Err(format!(
            "{}: a number that begins with 0 is octal and has no digit above 7",
            shown(text)
        ));
    }
    let radix = if is_octal { 8 } else { 10 };
    let value = std::str::from_utf8(digits).ok().filter(|digits| !digits.is_empty());
    let value = value.ok_or_else(|| format!("{:?} is not a number", shown(text)))?;
    let value = i128::from_str_radix(value, radix).map_err(|_| out_of_range(text))?;
    if negative && suffix.is_some_and(is_unsigned) {
        return Err(format!("{} is negative, and its suffix says unsigned", shown(text)));
    }
    checked(text, if negative { -value } else { value }, suffix)
}

fn checked(text: &[u8], value: i128, suffix: Option<Atomic>) -> Result<Number, String> {
    if value < i128::from(i64::MIN) || value > i128::from(u64::MAX) {
        return Err(out_of_range(text));
    }
    Ok(Number::Integer { value, suffix })
}

fn is_unsigned(atomic: Atomic) -> bool {
    matches!(atomic, Atomic::UByte | Atomic::UShort | Atomic::UInt | Atomic::UInt64)
}

fn out_of_range(text: &[u8]) -> String {
    format!("{} has more than 64 bits", shown(text))
}

fn bad_suffix(text: &[u8], behind: &[u8]) -> String {
    format!("{}: numbers have no suffix {:?}", shown(text), shown(behind))
}

/// The type of a suffix: a size, and `U` in front of it or behind.
fn suffix(text: &[u8]) -> Option<Option<Atomic>> {
    Some(match text.to_ascii_lowercase().as_slice() {
        b"" => None,
        b"b" => Some(Atomic::Byte),
        b"s" => Some(Atomic::Short),
        b"l" => Some(Atomic::Int),
        b"ll" => Some(Atomic::Int64),
        b"ub" | b"bu" => Some(Atomic::UByte),
        b"us" | b"su" => Some(Atomic::UShort),
        b"u" | b"ul" | b"lu" => Some(Atomic::UInt),
        b"ull" | b"llu" => Some(Atomic::UInt64),
        _ => return None,
    })
}

fn real(text: &[u8]) -> Result<Number, String> {
    let (digits, single) = match text {
        [digits @ .., b'f' | b'F'] => (digits, true),
        [digits @ .., b'd' | b'D' | b'l' | b'L'] => (digits, false),
        digits => (digits, false),
    };
    let digits = std::str::from_utf8(digits).ok();
    let number = match (digits, single) {
        (Some(digits), true) => digits.parse().ok().map(Number::Float),
        (Some(digits), false) => digits.parse().ok().map(Number::Double),
        (None, _) => None,
    };
    number.ok_or_else(|| format!("{:?} is not a number", shown(text)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(text: &str) -> Number {
        Number::parse(text.as_bytes()).unwrap()
    }

    #[test]
    fn integers_have_sizes_signs_and_bases() {
        let integer = |value, suffix| Number::Integer { value, suffix };
        assert_eq!(parsed("-12"), integer(-12, None));
        assert_eq!(parsed("+017"), integer(15, None));
        assert_eq!(parsed("0"), integer(0, None));
        for (text, suffix) in [("1b", Atomic::Byte), ("1S", Atomic::Short), ("1L", Atomic::Int)] {
            assert_eq!(parsed(text), integer(1, Some(suffix)), "{text}");
        }
        for (text, suffix) in [
            ("1ub", Atomic::UByte),
            ("1BU", Atomic::UByte),
            ("1su", Atomic::UShort),
            ("1uL", Atomic::UInt),
            ("1llu", Atomic::UInt64),
            ("1LL", Atomic::Int64),
        ] {
            assert_eq!(parsed(text), integer(1, Some(suffix)), "{text}");
        }
        assert_eq!(parsed("0xFF").integer(), Some(255));
        assert_eq!(parsed("-0x10s"), integer(-16, Some(Atomic::Short)));
        assert_eq!(parsed("18446744073709551615"), integer(i128::from(u64::MAX), None));
    }

    #[test]
    fn reals_are_floats_by_their_suffix_only() {
        assert_eq!(parsed("1.f"), Number::Float(1.0));
        assert_eq!(parsed(".5"), Number::Double(0.5));
        assert_eq!(parsed("-1e3F"), Number::Float(-1000.0));
        assert_eq!(parsed("2.5d"), Number::Double(2.5));
    }

    #[test]
    fn what_is_no_number_says_why() {
        for (text, why) in [
            ("018", "octal"),
            ("1f", "suffix"),
            ("1.5s", "is not a number"),
            ("99999999999999999999", "64 bits"),
            ("-1U", "unsigned"),
            ("0x", "no digits"),
            ("-", "is not a number"),
            ("1e", "is not a number"),
        ] {
            let reported = Number::parse(text.as_bytes()).unwrap_err();
            assert!(reported.contains(why), "{text}: {reported}");
        }
    }

    #[test]
    fn an_integer_alone_is_an_int_or_the_next_that_holds_it() {
        for (text, atomic) in [
            ("200", Atomic::Int),
            ("3000000000", Atomic::UInt),
            ("99999999999", Atomic::UInt64),
            ("-3000000000", Atomic::Int64),
            ("255ub", Atomic::UByte),
        ] {
            assert_eq!(parsed(text).inferred(), atomic, "{text}");
        }
    }
}
