//! Base64 (RFC 4648, chapter 4), as zarr-python writes fill values of bytes and reference files whole objects.

/// The bytes; `None` when the text is not base64.
pub fn decode(text: &[u8]) -> Option<Vec<u8>> {
    if !text.len().is_multiple_of(4) {
        return None;
    }
    let padding = text.iter().rev().take_while(|byte| **byte == b'=').count();
    let digits = text.get(..text.len().checked_sub(padding)?)?;
    if padding > 2 {
        return None;
    }
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    for group in digits.chunks(4) {
        let word = group.iter().try_fold(0u32, |word, digit| Some(word << 6 | value(*digit)?))?;
        let [_, a, b, c] = (word << (6 * (4 - group.len()))).to_be_bytes();
        bytes.extend_from_slice([a, b, c].get(..group.len() - 1)?);
    }
    Some(bytes)
}

/// The text of some bytes.
pub fn encode(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for group in bytes.chunks(3) {
        let word = group.iter().fold(0u32, |word, byte| word << 8 | u32::from(*byte));
        let word = word << (8 * (3 - group.len()));
        for place in 0..4 {
            let digit = DIGITS.get((word >> (18 - 6 * place) & 63) as usize).copied().unwrap_or(b'=');
            text.push(if place > group.len() { '=' } else { digit.into() });
        }
    }
    text
}

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

fn value(digit: u8) -> Option<u32> {
    Some(match digit {
        b'A'..=b'Z' => u32::from(digit - b'A'),
        b'a'..=b'z' => u32::from(digit - b'a') + 26,
        b'0'..=b'9' => u32::from(digit - b'0') + 52,
        b'+' => 62,
        b'/' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_test_vectors_of_the_rfc_hold() {
        for (bytes, text) in
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")]
        {
            assert_eq!(decode(text.as_bytes()).as_deref(), Some(bytes.as_bytes()));
            assert_eq!(encode(bytes.as_bytes()), text);
        }
        for text in ["Z", "Zg=", "Zg", "Z===", "====", "Zg==Zg==", "Zm9\u{e9}"] {
            assert_eq!(decode(text.as_bytes()), None, "{text}");
        }
    }
}
