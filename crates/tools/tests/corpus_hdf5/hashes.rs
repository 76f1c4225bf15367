//! Values compared with the hashes of the truth.
use super::types::{FILE, Form, Ty, canon, put_counted, stored, text};
use ncirrus::Values;
use serde_json::Value;

/// Compares `count` elements of a type with the truth's hashes of them.
pub(crate) fn same(values: &Values, count: usize, ty: &Ty, truth: &Value) -> Result<(), String> {
    if truth["skip"] == "big" {
        return Ok(());
    }
    if ty.has_reference() {
        return if same_count(values, count, ty) { Ok(()) } else { Err(format!("{} values", values.len())) };
    }
    let (kind, candidates) = candidates(values, count, ty, truth);
    let expected = truth[kind].as_str().ok_or("the truth has no hash for this")?;
    if candidates.iter().any(|bytes| sha(bytes) == expected) {
        return Ok(());
    }
    let got = candidates.first().map(|bytes| (bytes.len(), bytes.iter().take(24).collect::<Vec<_>>()));
    Err(format!("{kind} of {} bytes differs: {got:02x?}", truth["n"]))
}

/// The kind of hash that suits the type, and the bytes that may have been hashed: the truth does not say how text is
/// padded.
fn candidates(values: &Values, count: usize, ty: &Ty, truth: &Value) -> (&'static str, Vec<Vec<u8>>) {
    let bytes = |form: Form| {
        let mut out = Vec::new();
        stored(values, 0, count, ty, form, &mut out);
        out
    };
    let has = |kind: &str| truth.get(kind).is_some();
    if has("canon") {
        let mut out = Vec::new();
        (0..count).for_each(|index| canon(values, index, ty, &mut out));
        return ("canon", vec![out]);
    }
    if has("strs") {
        return ("strs", vec![strings(values, count, b'\0'), strings(values, count, b' ')]);
    }
    if has("le") {
        return ("le", vec![bytes(Form { little: true, pad: 0 })]);
    }
    ("raw", vec![bytes(FILE), bytes(Form { pad: b' ', ..FILE })])
}

/// Each string's length and bytes; a single char that is padding becomes empty.
fn strings(values: &Values, count: usize, pad: u8) -> Vec<u8> {
    let mut out = Vec::new();
    for index in 0..count {
        let text = text(values, index);
        let end = text.iter().rposition(|byte| *byte != pad).map_or(0, |last| last + 1);
        put_counted(if matches!(values, Values::Char(_)) { &text[..end] } else { text }, &mut out);
    }
    out
}

fn same_count(values: &Values, count: usize, ty: &Ty) -> bool {
    let (dims, _) = ty.element();
    values.len() == count * super::types::product(&dims)
}

/// The truth's hash.
pub(crate) fn sha(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().take(8).map(|byte| format!("{byte:02x}")).collect()
}
