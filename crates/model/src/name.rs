//! netCDF name rules (NUG, "Permitted characters in CDL names").
use crate::ModelError;
use unicode_normalization::{IsNormalized, UnicodeNormalization, is_nfc_quick};

/// Maximum length of a name in bytes (`NC_MAX_NAME`).
pub const NAME_MAX_BYTES: usize = 256;

/// The name in Unicode normalization form C, which is how netCDF stores and compares names.
pub fn normalize_name(name: &str) -> String {
    match is_nfc_quick(name.chars()) {
        IsNormalized::Yes => name.to_owned(),
        IsNormalized::No | IsNormalized::Maybe => name.nfc().collect(),
    }
}

/// Checks a name to be written and returns it in normalization form C.
///
/// A name starts with a letter, digit, underscore or non-ASCII character; it must not contain `/` or control
/// characters, nor end with a blank, and has 1 to 256 bytes.
///
/// # Errors
/// `BadName` with the rule that is violated.
pub fn check_name(name: &str) -> Result<String, ModelError> {
    let normal = normalize_name(name);
    match broken_rule(&normal) {
        Some(reason) => Err(ModelError::BadName { name: name.to_owned(), reason }),
        None => Ok(normal),
    }
}

fn broken_rule(name: &str) -> Option<&'static str> {
    let Some(first) = name.chars().next() else { return Some("it is empty") };
    if name.len() > NAME_MAX_BYTES {
        return Some("longer than 256 bytes");
    }
    if !(first.is_ascii_alphanumeric() || first == '_' || !first.is_ascii()) {
        return Some("the first character must be a letter, a digit, an underscore or not ASCII");
    }
    if name.contains('/') {
        return Some("a slash separates groups");
    }
    if name.chars().any(|c| c.is_ascii_control()) {
        return Some("control characters are not allowed");
    }
    name.ends_with(' ').then_some("it ends with a blank")
}
