//! Text in a fixed number of bytes.
use super::times;
use ncirrus_layout::{ByteOrder, Error, Result, TextEncoding};
use ncirrus_model::{Strings, Values};
use std::ops::Range;

pub(super) fn decode(raw: &[u8], byte_len: usize, encoding: TextEncoding) -> Result<Values> {
    let mut strings = Strings::new();
    for cell in raw.chunks_exact(byte_len.max(1)) {
        match encoding {
            TextEncoding::NulPadded => strings.push(Some(trimmed(cell, 0)).filter(|text| !text.is_empty())),
            TextEncoding::NulPaddedEmpty => strings.push(Some(trimmed(cell, 0))),
            TextEncoding::SpacePadded => strings.push(Some(trimmed(cell, b' '))),
            TextEncoding::Utf32(order) => strings.push(Some(from_utf32(cell, order)?.as_bytes())),
        }
    }
    Ok(Values::String(strings))
}

fn trimmed(cell: &[u8], pad: u8) -> &[u8] {
    let end = cell.iter().rposition(|byte| *byte != pad).map_or(0, |last| last + 1);
    &cell[..end]
}

fn from_utf32(cell: &[u8], order: ByteOrder) -> Result<String> {
    let (words, rest) = cell.as_chunks::<4>();
    if !rest.is_empty() {
        return Err(Error::malformed(format!("{} bytes of four-byte characters", cell.len())));
    }
    let codes = words.iter().map(|word| match order {
        ByteOrder::Little => u32::from_le_bytes(*word),
        ByteOrder::Big => u32::from_be_bytes(*word),
    });
    let codes: Vec<u32> = codes.collect();
    let end = codes.iter().rposition(|code| *code != 0).map_or(0, |last| last + 1);
    let character = |code: &u32| {
        char::from_u32(*code).ok_or_else(|| Error::malformed(format!("{code:#x} is not a character")))
    };
    codes[..end].iter().map(character).collect()
}

/// Maximum number of characters of a text that a message shows.
const SHOWN: usize = 40;

pub(super) fn encode(
    strings: &Strings,
    range: Range<usize>,
    byte_len: usize,
    encoding: TextEncoding,
) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(times(byte_len, range.len())?);
    for index in range {
        let text = strings.get(index);
        if text.is_none() && encoding != TextEncoding::NulPadded {
            return Err(Error::invalid(format!("string {index} is null, which this text type cannot tell")));
        }
        let end = bytes.len() + byte_len;
        append(&mut bytes, text.unwrap_or_default(), encoding)?;
        if bytes.len() > end {
            let len = bytes.len() - (end - byte_len);
            let start: String =
                String::from_utf8_lossy(text.unwrap_or_default()).chars().take(SHOWN).collect();
            let message =
                format!("text of {len} bytes does not fit the {byte_len} bytes of its type: {start:?}");
            return Err(Error::invalid(message));
        }
        bytes.resize(end, if encoding == TextEncoding::SpacePadded { b' ' } else { 0 });
    }
    Ok(bytes)
}

/// Appends the text without padding. It must not end with characters that reading would treat as padding.
fn append(bytes: &mut Vec<u8>, text: &[u8], encoding: TextEncoding) -> Result<()> {
    match encoding {
        TextEncoding::NulPadded | TextEncoding::NulPaddedEmpty if text.contains(&0) => {
            Err(Error::invalid("text holds a NUL and is stored padded with NUL"))
        }
        TextEncoding::SpacePadded if text.last() == Some(&b' ') => {
            Err(Error::invalid("text ends in a blank and is stored padded with blanks"))
        }
        TextEncoding::Utf32(order) => {
            let text = std::str::from_utf8(text)
                .map_err(|error| Error::invalid("text stored as characters is not UTF-8").because(error))?;
            if text.contains('\0') {
                return Err(Error::invalid("text holds a NUL and is stored padded with NUL"));
            }
            for character in text.chars() {
                bytes.extend_from_slice(&match order {
                    ByteOrder::Little => u32::from(character).to_le_bytes(),
                    ByteOrder::Big => u32::from(character).to_be_bytes(),
                });
            }
            Ok(())
        }
        _ => {
            bytes.extend_from_slice(text);
            Ok(())
        }
    }
}
