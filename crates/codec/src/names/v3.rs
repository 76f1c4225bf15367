//! Configurations of Zarr v3 codecs, if they differ from the parameters of Zarr v2.
use super::{CodecKind, DecodedElement};
use crate::CodecError;
use serde_json::{Map, Value};

const SHUFFLES: [(&str, i64); 3] = [("noshuffle", 0), ("shuffle", 1), ("bitshuffle", 2)];

/// The Zarr v2 members for a configuration.
pub(super) fn members(
    kind: CodecKind,
    configuration: &Map<String, Value>,
) -> Result<Map<String, Value>, CodecError> {
    let mut members = configuration.clone();
    if kind == CodecKind::Blosc
        && let Some(Value::String(word)) = configuration.get("shuffle")
        && word.trim().parse::<i64>().is_err()
    {
        let number = SHUFFLES.iter().find(|(name, _)| name == word).map(|(_, number)| *number);
        let number =
            number.ok_or_else(|| CodecError::malformed("blosc", format!("shuffle {word:?} is not known")))?;
        members.insert("shuffle".to_owned(), Value::from(number));
    }
    Ok(members)
}

/// The configuration for complete Zarr v2 members.
pub(super) fn configuration(
    kind: CodecKind,
    mut members: Map<String, Value>,
    element: &DecodedElement,
) -> Result<Map<String, Value>, CodecError> {
    match kind {
        CodecKind::Blosc => {
            let size = element.byte_len.filter(|size| (1..256).contains(size)).unwrap_or(1);
            members.insert("typesize".to_owned(), Value::from(size));
            let number = match members.get("shuffle").and_then(Value::as_i64) {
                Some(-1) if size == 1 => 2,
                Some(-1) | None => 1,
                Some(number) => number,
            };
            let word = SHUFFLES.iter().find(|(_, known)| *known == number).map(|(word, _)| *word);
            let word =
                word.ok_or_else(|| CodecError::malformed("blosc", format!("shuffle {number} is not known")))?;
            members.insert("shuffle".to_owned(), Value::from(word));
        }
        // The core codec always has both members.
        CodecKind::Zstd => {
            members.entry("checksum").or_insert(Value::Bool(false));
        }
        _ => {}
    }
    Ok(members)
}
