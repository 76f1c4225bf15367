//! Paths as text, also those that are not UTF-8: addresses and keys are texts, names of files on Unix are bytes.
//!
//! A byte that is not UTF-8 is represented by a NUL, which no path has, and two hexadecimal digits. Each path has one text, and
//! different paths have different texts.
use crate::platform;
use std::borrow::Cow;
use std::fmt::Write;
use std::path::Path;

/// The text of the bytes of a path, which have no NUL.
///
/// ```
/// use ncirrus_store::path_text;
/// assert_eq!(path_text::of_bytes(b"\xe9t\xc3\xa9.nc"), "\0e9té.nc");
/// ```
pub fn of_bytes(bytes: &[u8]) -> Cow<'_, str> {
    match std::str::from_utf8(bytes) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => Cow::Owned(escaped(bytes)),
    }
}

/// The text of a path.
pub fn of_path(path: &Path) -> Cow<'_, str> {
    of_bytes(path.as_os_str().as_encoded_bytes())
}

/// The path of a text. With a NUL that stands for no byte it is a path that no system accepts.
pub fn to_path(text: &str) -> Cow<'_, Path> {
    let bytes = if text.contains('\0') { unescaped(text) } else { None };
    bytes.and_then(platform::path_of_bytes).map_or_else(|| Cow::Borrowed(Path::new(text)), Cow::Owned)
}

/// Whether a text is that of a path of this system: every NUL stands for a byte.
pub fn is_valid(text: &str) -> bool {
    !text.contains('\0') || (cfg!(unix) && unescaped(text).is_some())
}

fn escaped(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len() + 8);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        for byte in chunk.invalid() {
            // A string takes all that is written to it.
            _ = write!(text, "\0{byte:02x}");
        }
    }
    text
}

/// The bytes of a text; `None` for what [`of_bytes`] does not return: no `/`, and nothing else that is UTF-8, comes from digits.
fn unescaped(text: &str) -> Option<Vec<u8>> {
    let mut parts = text.split('\0');
    let mut bytes = parts.next()?.as_bytes().to_vec();
    for part in parts {
        let (digits, rest) = part.split_at_checked(2)?;
        bytes.push(u8::from_str_radix(digits, 16).ok()?);
        bytes.extend_from_slice(rest.as_bytes());
    }
    let is_text_of_them = of_bytes(&bytes) == text;
    is_text_of_them.then_some(bytes)
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;

    #[test]
    fn every_path_has_a_text_of_its_own() {
        let paths: [&[u8]; 10] = [
            b"plain.nc",
            b"\xe9t\xe9.nc",
            b"\xe8t\xe8.nc",
            b"\xc3\xa9.nc",
            b"\xc3",
            b"\xa9",
            b"\xe2\x82/\xe2\x82\xac\xff",
            b"\xed\xa0\x80",
            b"\\xe9",
            "\u{fffd}t\u{fffd}.nc".as_bytes(),
        ];
        let texts = paths.map(|path| of_bytes(path).into_owned());
        for (number, (path, text)) in paths.iter().zip(&texts).enumerate() {
            assert_eq!(to_path(text).as_os_str().as_bytes(), *path);
            assert_eq!(of_path(Path::new(OsStr::from_bytes(path))), *text);
            assert!(is_valid(text) && !texts[..number].contains(text), "{text:?}");
        }
    }

    #[test]
    fn digits_stand_for_nothing_but_bytes_that_are_not_utf8() {
        for digits in ["", "e", "2f", "2e", "00", "41", "E9", "+e", "é", "zz"] {
            let text = format!("a{}{digits}", '\0');
            assert!(!is_valid(&text), "{text:?}");
            assert_eq!(to_path(&text), Path::new(&text));
            assert!(std::fs::metadata(to_path(&text)).is_err());
        }
        assert!(!is_valid("\0c3\0a9"), "these bytes are a letter");
    }
}
