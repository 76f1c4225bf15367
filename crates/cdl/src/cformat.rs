//! The `C_format` attribute: a `printf` format for a variable's data (docs/spec/nczarr.md 12.2).
use crate::PrintOptions;
use crate::number::{c_general, c_scientific};
use ncirrus_model::{Atomic, TypeRef, Values, Variable};

/// A format with exactly one conversion that fits the variable's type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CFormat {
    before: Vec<u8>,
    after: Vec<u8>,
    flags: ConversionFlags,
    width: usize,
    precision: Option<usize>,
    conversion: u8,
}

/// The flags of a conversion.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
struct ConversionFlags {
    left: bool,
    plus: bool,
    blank: bool,
    alternate: bool,
    zero: bool,
}

/// Longer formats are ignored.
const FORMAT_MAX: usize = 100;

/// Larger widths and precisions are ignored.
const NUMBER_MAX: usize = 500;

impl CFormat {
    /// The variable's format if it has a plausible one and `-p` does not override it.
    pub(crate) fn of(variable: &Variable, options: &PrintOptions) -> Option<Self> {
        let TypeRef::Atomic(atomic) = variable.ty else { return None };
        let overruled = match atomic {
            Atomic::Float => options.float_digits.is_some(),
            Atomic::Double => options.double_digits.is_some(),
            Atomic::String => true,
            _ => false,
        };
        if overruled {
            return None;
        }
        match &variable.attributes.known()?.find("C_format")?.values {
            Values::Char(text) if text.len() < FORMAT_MAX => Self::parse(text, atomic),
            _ => None,
        }
    }

    fn parse(text: &[u8], atomic: Atomic) -> Option<Self> {
        let mut scan = FormatScanner { text: crate::text::trim_nuls(text), at: 0 };
        let before = scan.literal()?;
        scan.expect(b'%')?;
        let flags = scan.flags();
        let width = scan.number()?.unwrap_or(0);
        let precision = if scan.skip(b'.') { Some(scan.number()?.unwrap_or(0)) } else { None };
        while scan.peek().is_some_and(|byte| b"hlqjzt".contains(&byte)) {
            scan.at += 1;
        }
        let conversion = scan.peek()?;
        scan.at += 1;
        let after = scan.literal()?;
        let fits = match atomic {
            Atomic::Float | Atomic::Double => b"eEfFgG".contains(&conversion),
            Atomic::Char => conversion == b'c',
            Atomic::String => false,
            _ => b"diouxX".contains(&conversion),
        };
        let complete = scan.peek().is_none();
        (fits && complete).then_some(Self { before, after, flags, width, precision, conversion })
    }

    /// Writes `values[index]`; false if it is not finite or not of a type that the format is for.
    pub(crate) fn write(&self, out: &mut Vec<u8>, values: &Values, index: usize) -> bool {
        let Some(body) = self.body(values, index) else { return false };
        let pad = self.width.saturating_sub(body.len());
        out.extend_from_slice(&self.before);
        let zeros = self.flags.zero && !self.flags.left && !self.zero_is_ignored();
        if self.flags.left {
            out.extend_from_slice(&body);
            out.resize(out.len() + pad, b' ');
        } else if zeros {
            let sign = usize::from(body.first().is_some_and(|first| b"+- ".contains(first)));
            let (sign, digits) = body.split_at(sign);
            out.extend_from_slice(sign);
            out.resize(out.len() + pad, b'0');
            out.extend_from_slice(digits);
        } else {
            out.resize(out.len() + pad, b' ');
            out.extend_from_slice(&body);
        }
        out.extend_from_slice(&self.after);
        true
    }

    /// C ignores the flag `0` if an integer has a precision.
    fn zero_is_ignored(&self) -> bool {
        self.precision.is_some() && b"diouxX".contains(&self.conversion)
    }

    fn body(&self, values: &Values, index: usize) -> Option<Vec<u8>> {
        match values {
            Values::Char(chars) => Some(vec![*chars.get(index)?]),
            Values::Float(_) | Values::Double(_) => {
                let value = values.number(index).filter(|value| value.is_finite())?;
                Some(self.signed(value.is_sign_negative(), self.float_digits(value.abs())))
            }
            integers => {
                let value = integers.integer(index)?;
                Some(self.integer(value))
            }
        }
    }

    fn integer(&self, value: i128) -> Vec<u8> {
        // Narrow types are promoted to 32 bits, so that negative numbers are shown in two's complement.
        let is_narrow = value >= i128::from(i32::MIN);
        let unsigned = |value: i128| {
            value & i128::from(if is_narrow && value < 0 { u64::from(u32::MAX) } else { u64::MAX })
        };
        let alternate = self.flags.alternate && value != 0;
        let digits = match self.conversion {
            b'o' => format!("{:o}", unsigned(value)),
            b'x' => format!("{:x}", unsigned(value)),
            b'X' => format!("{:X}", unsigned(value)),
            b'u' => unsigned(value).to_string(),
            _ => value.unsigned_abs().to_string(),
        };
        let prefix = match self.conversion {
            b'o' if alternate => "0",
            b'x' if alternate => "0x",
            b'X' if alternate => "0X",
            _ => "",
        };
        let missing = self.precision.unwrap_or(1).saturating_sub(digits.len());
        let body = format!("{prefix}{}{digits}", "0".repeat(missing)).into_bytes();
        let is_signed = b"di".contains(&self.conversion);
        if is_signed { self.signed(value < 0, body) } else { body }
    }

    fn float_digits(&self, value: f64) -> Vec<u8> {
        let precision = self.precision.unwrap_or(6);
        let mut digits = match self.conversion {
            b'f' | b'F' => {
                let point = if self.flags.alternate && precision == 0 { "." } else { "" };
                format!("{value:.precision$}{point}").into_bytes()
            }
            b'e' | b'E' => c_scientific(value, precision, self.flags.alternate),
            _ => c_general(value, precision.max(1), self.flags.alternate),
        };
        if self.conversion.is_ascii_uppercase() {
            digits.make_ascii_uppercase();
        }
        digits
    }

    fn signed(&self, negative: bool, digits: Vec<u8>) -> Vec<u8> {
        let sign: &[u8] = match (negative, self.flags.plus, self.flags.blank) {
            (true, ..) => b"-",
            (false, true, _) => b"+",
            (false, false, true) => b" ",
            (false, false, false) => return digits,
        };
        [sign, &digits].concat()
    }
}

/// Scans a format from left to right.
struct FormatScanner<'t> {
    text: &'t [u8],
    at: usize,
}

impl FormatScanner<'_> {
    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn skip(&mut self, byte: u8) -> bool {
        let is_there = self.peek() == Some(byte);
        self.at += usize::from(is_there);
        is_there
    }

    fn expect(&mut self, byte: u8) -> Option<()> {
        self.skip(byte).then_some(())
    }

    /// Text up to the next conversion, `%%` as `%`.
    fn literal(&mut self) -> Option<Vec<u8>> {
        let mut literal = Vec::new();
        while let Some(byte) = self.peek() {
            if byte == b'%' {
                if self.text.get(self.at + 1) != Some(&b'%') {
                    break;
                }
                self.at += 1;
            }
            literal.push(byte);
            self.at += 1;
        }
        Some(literal)
    }

    fn flags(&mut self) -> ConversionFlags {
        let mut flags = ConversionFlags::default();
        while let Some(byte) = self.peek() {
            match byte {
                b'-' => flags.left = true,
                b'+' => flags.plus = true,
                b' ' => flags.blank = true,
                b'#' => flags.alternate = true,
                b'0' => flags.zero = true,
                // Grouping of thousands has no effect in the C locale.
                b'\'' => {}
                _ => break,
            }
            self.at += 1;
        }
        flags
    }

    /// A number if there is one; the outer `None` if it is too large.
    fn number(&mut self) -> Option<Option<usize>> {
        let mut number = None;
        while let Some(byte) = self.peek().filter(u8::is_ascii_digit) {
            let next = number.unwrap_or(0) * 10 + usize::from(byte - b'0');
            if next > NUMBER_MAX {
                return None;
            }
            number = Some(next);
            self.at += 1;
        }
        Some(number)
    }
}

#[cfg(test)]
mod tests;
