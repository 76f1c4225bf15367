//! Numbers and texts as attributes have them (docs/spec/dap.md 2.3, 2.5).

/// An integer, in hexadecimal digits too, or the whole part of a real number.
pub(crate) fn integer(text: &str) -> Option<i128> {
    let text = text.trim();
    if let Some(number) = text.parse().ok().or_else(|| hexadecimal(text)) {
        return Some(number);
    }
    let number = real(text).filter(|number| number.is_finite() && number.abs() < 1e30)?;
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the whole part of a number within the range is meant"
    )]
    Some(number.trunc() as i128)
}

/// A number such as `-0x1F`.
fn hexadecimal(text: &str) -> Option<i128> {
    let (sign, unsigned) = text.strip_prefix('-').map_or((1, text), |rest| (-1, rest));
    let digits = unsigned.strip_prefix("0x").or_else(|| unsigned.strip_prefix("0X"))?;
    let is_number = !digits.is_empty() && digits.bytes().all(|digit| digit.is_ascii_hexdigit());
    let number = is_number.then(|| u64::from_str_radix(digits, 16).ok())??;
    Some(sign * i128::from(number))
}

/// A real number, not a number or infinite in any spelling that C libraries have.
pub(crate) fn real(text: &str) -> Option<f64> {
    let text = text.trim();
    #[expect(clippy::cast_precision_loss, reason = "a real number has no more digits")]
    if let Some(number) = hexadecimal(text) {
        return Some(number as f64);
    }
    let (negative, unsigned) = match text.strip_prefix('-') {
        Some(rest) => (true, rest),
        None => (false, text.strip_prefix('+').unwrap_or(text)),
    };
    let lower = unsigned.to_ascii_lowercase();
    let number = match lower.as_str() {
        "inf" | "infinity" | "1.#inf" => f64::INFINITY,
        "1.#qnan" | "1.#snan" | "1.#ind" => f64::NAN,
        name if name == "nan" || name.starts_with("nan(") => f64::NAN,
        digits if digits.starts_with(|first: char| first.is_ascii_digit() || first == '.') => {
            digits.trim_end_matches(['f', 'l']).parse().ok()?
        }
        _ => return None,
    };
    Some(if negative { -number } else { number })
}

/// Text with its escapes resolved: `\\`, `\"`, `\n`, `\r`, `\t` and three octal digits; any other escaped letter is
/// itself.
pub(crate) fn unescaped(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at) {
        at += 1;
        if *byte != b'\\' {
            out.push(*byte);
            continue;
        }
        if let Some(octal) = bytes.get(at..at + 3).and_then(octal) {
            out.push(octal);
            at += 3;
            continue;
        }
        match bytes.get(at) {
            Some(b'n') => out.push(b'\n'),
            Some(b'r') => out.push(b'\r'),
            Some(b't') => out.push(b'\t'),
            Some(other) => out.push(*other),
            None => out.push(b'\\'),
        }
        at += 1;
    }
    out
}

fn octal(digits: &[u8]) -> Option<u8> {
    if !digits.iter().all(|digit| (b'0'..=b'7').contains(digit)) {
        return None;
    }
    u8::from_str_radix(std::str::from_utf8(digits).ok()?, 8).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escapes() {
        let cases: [(&str, &[u8]); 6] = [
            (r"a\nb\tc\r", b"a\nb\tc\r"),
            (r#"\"\\\q"#, br#""\q"#),
            (r"\012\377", b"\n\xff"),
            // Escaped twice by old servers: it stays what the rules say.
            (r"\\012", br"\012"),
            (r"\08", b"08"),
            (r"\", br"\"),
        ];
        for (text, expected) in cases {
            assert_eq!(unescaped(text), expected, "{text}");
        }
    }

    #[test]
    fn numbers_may_have_hexadecimal_digits() {
        for (text, expected) in [("0x10", 16), ("-0X1f", -31), ("0xffffffff", 4_294_967_295)] {
            assert_eq!(integer(text), Some(expected), "{text}");
            assert_eq!(real(text).map(|number| number.to_string()), Some(expected.to_string()), "{text}");
        }
    }

    #[test]
    fn what_is_no_number_is_none() {
        for text in ["", "abc", "e5", "--1", "1e", "in", "0x", "0x-1", "0xg"] {
            assert_eq!((real(text), integer(text)), (None, None), "{text}");
        }
        assert_eq!(integer("1e300"), None);
    }
}
