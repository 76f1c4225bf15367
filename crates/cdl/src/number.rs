//! Numbers as C's `printf` writes them.
mod decimal;

use decimal::DecimalNumber;

/// A float as `%.{digits}g` writes it, except `NaNf` and `Infinityf` for non-finite values (docs/spec/nczarr.md 12.2).
pub fn format_float(value: f32, digits: usize) -> String {
    let mut out = Vec::new();
    write_float(&mut out, value, digits);
    String::from_utf8(out).unwrap_or_default()
}

/// A double as `%.{digits}g` writes it, except `NaN` and `Infinity` for non-finite values (docs/spec/nczarr.md 12.2).
pub fn format_double(value: f64, digits: usize) -> String {
    let mut out = Vec::new();
    write_double(&mut out, value, digits);
    String::from_utf8(out).unwrap_or_default()
}

/// A float among data.
pub(crate) fn write_float(out: &mut Vec<u8>, value: f32, digits: usize) {
    if value.is_finite() {
        write_general(out, f64::from(value), digits, DecimalPoint::Needed);
    } else {
        write_special(out, f64::from(value));
        out.push(b'f');
    }
}

/// A double among data.
pub(crate) fn write_double(out: &mut Vec<u8>, value: f64, digits: usize) {
    if value.is_finite() {
        write_general(out, value, digits, DecimalPoint::Needed);
    } else {
        write_special(out, value);
    }
}

/// A float of an attribute: always with a decimal point, and without the type's suffix.
pub(crate) fn write_attribute_number(out: &mut Vec<u8>, value: f64, digits: usize) {
    if value.is_finite() {
        write_general(out, value, digits, DecimalPoint::Always);
    } else {
        write_special(out, value);
    }
}

/// Any integer.
pub(crate) fn write_integer(out: &mut Vec<u8>, value: impl itoa::Integer) {
    out.extend_from_slice(itoa::Buffer::new().format(value).as_bytes());
}

/// `NaN`, `Infinity`, `-Infinity`.
fn write_special(out: &mut Vec<u8>, value: f64) {
    let text: &[u8] = if value.is_nan() {
        b"NaN"
    } else if value > 0.0 {
        b"Infinity"
    } else {
        b"-Infinity"
    };
    out.extend_from_slice(text);
}

/// When a decimal point is written.
#[derive(Clone, Copy, PartialEq, Eq)]
enum DecimalPoint {
    /// Only in front of digits (`%g`).
    Needed,
    /// Also when no digits follow (`%#g`, trailing zeros removed).
    Always,
}

/// A finite number with `digits` significant digits, trailing zeros removed.
fn write_general(out: &mut Vec<u8>, value: f64, digits: usize, point: DecimalPoint) {
    if value.is_sign_negative() {
        out.push(b'-');
    }
    let digits = digits.max(1);
    let decimal = DecimalNumber::round(value.abs(), digits);
    let text = decimal.significant();
    let exponent = decimal.exponent;
    let in_fixed = usize::try_from(exponent).map_or(exponent >= -4, |exponent| exponent < digits);
    match (in_fixed, usize::try_from(exponent)) {
        (false, _) => write_scientific(out, text, exponent, point),
        (true, Ok(exponent)) => write_fixed(out, text, exponent + 1, point),
        (true, Err(_)) => {
            out.extend_from_slice(b"0.");
            (exponent + 1..0).for_each(|_| out.push(b'0'));
            out.extend_from_slice(text);
        }
    }
}

/// Digits, the first `whole` of which are before the point, padded with zeros.
fn write_fixed(out: &mut Vec<u8>, digits: &[u8], whole: usize, point: DecimalPoint) {
    match digits.split_at_checked(whole) {
        Some((before, after)) => {
            out.extend_from_slice(before);
            if !after.is_empty() || point == DecimalPoint::Always {
                out.push(b'.');
            }
            out.extend_from_slice(after);
        }
        None => {
            out.extend_from_slice(digits);
            out.resize(out.len() + whole - digits.len(), b'0');
            if point == DecimalPoint::Always {
                out.push(b'.');
            }
        }
    }
}

/// `d.ddde+XX`, the exponent with at least two digits.
fn write_scientific(out: &mut Vec<u8>, digits: &[u8], exponent: i32, point: DecimalPoint) {
    write_fixed(out, digits, 1, point);
    out.push(b'e');
    out.push(if exponent < 0 { b'-' } else { b'+' });
    let size = exponent.unsigned_abs();
    if size < 10 {
        out.push(b'0');
    }
    write_integer(out, size);
}

/// A finite, non-negative number as `%.{precision}e` or `%#.{precision}e` writes it.
pub(crate) fn c_scientific(value: f64, precision: usize, alternate: bool) -> Vec<u8> {
    let text = format!("{value:.precision$e}");
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let point = if alternate && precision == 0 { "." } else { "" };
    let (sign, size) = match exponent.strip_prefix('-') {
        Some(size) => ('-', size),
        None => ('+', exponent),
    };
    format!("{mantissa}{point}e{sign}{size:0>2}").into_bytes()
}

/// A finite, non-negative number as `%.{digits}g` or, with all its zeros, `%#.{digits}g` writes it.
pub(crate) fn c_general(value: f64, digits: usize, alternate: bool) -> Vec<u8> {
    if !alternate {
        let mut out = Vec::new();
        write_general(&mut out, value, digits, DecimalPoint::Needed);
        return out;
    }
    let exponent = if value == 0.0 { 0 } else { DecimalNumber::round(value, digits).exponent };
    match usize::try_from(exponent) {
        Ok(size) if size < digits => {
            let precision = digits - 1 - size;
            let point = if precision == 0 { "." } else { "" };
            format!("{value:.precision$}{point}").into_bytes()
        }
        Err(_) if exponent >= -4 => {
            let precision = digits - 1 + usize::try_from(exponent.unsigned_abs()).unwrap_or(0);
            format!("{value:.precision$}").into_bytes()
        }
        _ => c_scientific(value, digits - 1, true),
    }
}

#[cfg(test)]
mod tests;
