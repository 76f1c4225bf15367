//! Text between double quotes (docs/spec/nczarr.md 12.2). Each kind of text has its own escapes.

/// A text attribute: control characters as octal numbers, everything else as it is.
///
/// In classic kinds a newline ends the line and the string; the CDL parser joins the parts again.
pub(crate) fn write_text_attribute(out: &mut Vec<u8>, text: &[u8], classic: bool) {
    out.push(b'"');
    for &byte in trim_nuls(text) {
        match byte {
            b'\n' if classic => out.extend_from_slice(b"\\n\",\n\t\t\t\""),
            _ if escape_common(out, byte) => {}
            0..=0x1f | 0x7f => octal(out, byte),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// How a vertical tab in a string is printed: the reference prints it as a newline everywhere except in attributes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum VerticalTab {
    Kept,
    AsNewline,
}

/// One string, `NIL` if it is null.
pub(crate) fn write_string(out: &mut Vec<u8>, text: Option<&[u8]>, tab: VerticalTab) {
    let Some(text) = text else {
        out.extend_from_slice(b"NIL");
        return;
    };
    out.push(b'"');
    for &byte in text {
        match byte {
            0x0b if tab == VerticalTab::AsNewline => out.extend_from_slice(b"\\n"),
            _ if escape_common(out, byte) => {}
            0..=0x1f | 0x7f => octal(out, byte),
            _ => out.push(byte),
        }
    }
    out.push(b'"');
}

/// Writes the part of a char row between the quotes; bytes that are not printable ASCII become octal numbers.
pub(crate) fn write_char_data(out: &mut Vec<u8>, text: &[u8], newline: &[u8]) {
    for &byte in text {
        match byte {
            b'\n' => out.extend_from_slice(newline),
            _ if escape_common(out, byte) => {}
            0x20..=0x7e => out.push(byte),
            _ => octal(out, byte),
        }
    }
}

/// Without the NULs at the end.
pub(crate) fn trim_nuls(text: &[u8]) -> &[u8] {
    let len = text.iter().rposition(|&byte| byte != 0).map_or(0, |last| last + 1);
    text.get(..len).unwrap_or_default()
}

/// Writes the escapes that all kinds of text share; false if `byte` has none.
fn escape_common(out: &mut Vec<u8>, byte: u8) -> bool {
    let escape: &[u8] = match byte {
        0x08 => b"\\b",
        0x0c => b"\\f",
        b'\n' => b"\\n",
        b'\r' => b"\\r",
        b'\t' => b"\\t",
        0x0b => b"\\v",
        b'\\' => b"\\\\",
        b'\'' => b"\\'",
        b'"' => b"\\\"",
        _ => return false,
    };
    out.extend_from_slice(escape);
    true
}

fn octal(out: &mut Vec<u8>, byte: u8) {
    out.extend_from_slice(&[b'\\', b'0' + (byte >> 6), b'0' + (byte >> 3 & 7), b'0' + (byte & 7)]);
}
