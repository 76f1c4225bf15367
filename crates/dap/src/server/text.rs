//! Numbers and names as text.
use ncirrus_layout::{Error, ErrorKind};
use ncirrus_model::Values;
use std::fmt::Write as _;

/// A number as text that reads back as itself: clients want `NaN`, `inf` and `-inf`.
pub(super) fn number(values: &Values, at: usize) -> Option<String> {
    Some(match values {
        Values::Float(values) => float(f64::from(*values.get(at)?), &values.get(at)?.to_string()),
        Values::Double(values) => float(*values.get(at)?, &values.get(at)?.to_string()),
        values => values.integer(at)?.to_string(),
    })
}

fn float(value: f64, shortest: &str) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "inf".to_owned() } else { "-inf".to_owned() }
    } else if value != 0.0 && !(1e-5..1e16).contains(&value.abs()) {
        exponent(shortest, value)
    } else if shortest.contains('.') {
        shortest.to_owned()
    } else {
        format!("{shortest}.0")
    }
}

/// The shortest digits with an exponent: those of a float are those of its own precision.
fn exponent(shortest: &str, value: f64) -> String {
    match shortest.parse::<f64>() {
        Ok(parsed) => format!("{parsed:e}"),
        Err(_) => format!("{value:e}"),
    }
}

/// A name with what a DDS may not have escaped.
pub(super) fn wire(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for byte in name.bytes() {
        if byte.is_ascii_alphanumeric() || b"_-+!~*".contains(&byte) {
            out.push(char::from(byte));
        } else {
            _ = write!(out, "%{byte:02X}");
        }
    }
    out
}

/// A text between quotes, as DAS and errors of DAP2 have them.
pub(super) fn quoted(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let mut out = String::with_capacity(text.len() + 2);
    out.push('"');
    for letter in text.chars() {
        match letter {
            '\\' => out.push_str("\\\\"),
            '"' => out.push_str("\\\""),
            '\n' | '\t' => out.push(letter),
            letter if u32::from(letter) < 0x20 || letter == '\u{7f}' => {
                _ = write!(out, "\\{:03o}", u32::from(letter));
            }
            letter => out.push(letter),
        }
    }
    out.push('"');
    out
}

/// A text in XML.
pub(super) fn xml(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for letter in text.chars() {
        match letter {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            // Otherwise they would be blanks in the value of an attribute.
            '\n' | '\r' | '\t' => _ = write!(out, "&#{};", u32::from(letter)),
            // XML cannot hold these.
            letter if u32::from(letter) < 0x20 || matches!(letter, '\u{fffe}' | '\u{ffff}') => {
                out.push('\u{fffd}');
            }
            letter => out.push(letter),
        }
    }
    out
}

/// The document of DAP2 for an error, with a code of libdap (docs/spec/dap.md 8.1).
pub fn dap2_error(error: &Error) -> String {
    let code = match error.kind() {
        ErrorKind::NotFound if error.place().path.is_some() => 1004,
        ErrorKind::NotFound => 1003,
        ErrorKind::Invalid => 1005,
        ErrorKind::Denied => 1006,
        ErrorKind::Unsupported => 1008,
        ErrorKind::Internal => 1002,
        _ => 1001,
    };
    let message = match &error.place().path {
        Some(path) => format!("{path}: {}", error.message()),
        None => error.message().to_owned(),
    };
    format!("Error {{\n    code = {code};\n    message = {};\n}};\n", quoted(message.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_read_back_as_themselves() {
        let floats = Values::Float(vec![0.1, 1e20, 3.0, f32::NAN, -f32::INFINITY, 1.0e-30, 0.0]);
        let texts: Vec<String> = (0..floats.len()).filter_map(|at| number(&floats, at)).collect();
        assert_eq!(texts, ["0.1", "1e20", "3.0", "NaN", "-inf", "1e-30", "0.0"]);
        for value in [0.1_f64, 1.0 / 3.0, f64::MAX, f64::MIN_POSITIVE, 9.969_209_968_386_869e36] {
            let text = number(&Values::Double(vec![value]), 0).unwrap();
            assert_eq!(text.parse::<f64>().unwrap().to_bits(), value.to_bits(), "{text}");
        }
        let single = 9.969_21e36_f32;
        let text = number(&Values::Float(vec![single]), 0).unwrap();
        assert_eq!(text.parse::<f32>().unwrap().to_bits(), single.to_bits(), "{text}");
    }

    #[test]
    fn names_and_texts_are_escaped() {
        assert_eq!(wire("a.b c\u{e9}"), "a%2Eb%20c%C3%A9");
        assert_eq!(quoted(b"a\"b\\c\x01"), "\"a\\\"b\\\\c\\001\"");
        assert_eq!(xml("a<\n\"&\u{1}"), "a&lt;&#10;&quot;&amp;\u{fffd}");
    }
}
