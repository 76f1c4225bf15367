//! Small arrays that grow and whose chunks cannot follow each other: all values become one embedded chunk.
use super::ReferenceInput;
use super::json::StoredReference;
use ncirrus::{Dataset, Error, OpenOptions, Result, Selection, Session};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Where the values are: in the references that exist, and in the new files.
pub(super) struct ValueSources<'a> {
    pub(super) target: &'a str,
    pub(super) inputs: &'a [ReferenceInput],
    pub(super) session: &'a Session,
}

/// An array with one chunk.
pub(super) struct EmbeddedArray {
    pub(super) metadata: Value,
    /// The end of the key of the chunk.
    pub(super) cell: String,
    pub(super) chunk: StoredReference,
}

/// Whether the chunks of an array may be replaced: they are all embedded, or there is only one.
pub(super) fn is_replaceable(chunks: &BTreeMap<String, StoredReference>, array: &str) -> bool {
    let prefix = format!("{array}/");
    let mut own = chunks.range(prefix.clone()..).take_while(|(key, _)| key.starts_with(&prefix));
    let is_far =
        |(_, reference): (&String, &StoredReference)| !matches!(reference, StoredReference::Inline(_));
    own.clone().nth(1).is_none() || !own.any(is_far)
}

/// The values of the references and of the new files in one chunk. `grown` are the metadata with the new shape; `None` if
/// the values are not numbers or take more than [`MAX_BYTES`].
///
/// # Errors
/// Errors of reading the values.
pub(super) fn embedded(
    sources: &ValueSources<'_>,
    array: &str,
    grown: &Value,
    axis: usize,
) -> Result<Option<EmbeddedArray>> {
    let lens = grown.get("shape").and_then(Value::as_array);
    let lens: Option<Vec<u64>> = lens.and_then(|lens| lens.iter().map(Value::as_u64).collect());
    let dtype = grown.get("dtype").and_then(Value::as_str).and_then(own_order);
    let (Some(lens), Some((dtype, size))) = (lens, dtype) else { return Ok(None) };
    let len = lens.iter().fold(size, |all: u64, len| all.saturating_mul(*len));
    if len > MAX_BYTES || len == 0 {
        return Ok(None);
    }
    let existing = Dataset::open_with(sources.target, &OpenOptions::default(), sources.session)?;
    let datasets = std::iter::once(&existing).chain(sources.inputs.iter().map(|input| &input.dataset));
    let mut parts = Vec::new();
    for dataset in datasets {
        let variable = dataset.variable(array)?;
        parts.push(variable.values(&Selection::all(&variable.shape()))?);
    }
    let same_type = parts.windows(2).all(|pair| matches!(pair, [a, b] if a.atomic() == b.atomic()));
    let parts: Option<Vec<&[u8]>> = parts.iter().map(|values| values.as_bytes()).collect();
    let Some(parts) = parts.filter(|_| same_type) else { return Ok(None) };
    let outer = lens.iter().take(axis).product::<u64>();
    let body = interleaved(&parts, usize::try_from(outer).unwrap_or(usize::MAX));
    if body.len() as u64 != len {
        let message = format!("{} bytes of values where the metadata say {len}", body.len());
        return Err(Error::internal(message).at_path(format!("/{array}")));
    }
    let mut metadata = grown.as_object().cloned().unwrap_or_default();
    for (name, value) in [
        ("dtype", json!(dtype)),
        ("chunks", json!(lens)),
        ("compressor", Value::Null),
        ("filters", Value::Null),
        ("order", json!("C")),
        ("dimension_separator", json!(".")),
    ] {
        metadata.insert(name.to_owned(), value);
    }
    let cell = vec!["0"; lens.len()].join(".");
    let (metadata, chunk) = (Value::Object(metadata), StoredReference::Inline(body));
    Ok(Some(EmbeddedArray { metadata, cell, chunk }))
}

/// A type of numbers in the byte order of this machine, and its size in bytes.
fn own_order(dtype: &str) -> Option<(String, u64)> {
    let kind = dtype.strip_prefix(['<', '>', '|'])?;
    let size =
        kind.strip_prefix(['i', 'u', 'f'])?.parse().ok().filter(|size| matches!(size, 1 | 2 | 4 | 8))?;
    let order = match size {
        1 => '|',
        _ if cfg!(target_endian = "little") => '<',
        _ => '>',
    };
    Some((format!("{order}{kind}"), size))
}

/// Row-major parts that follow each other along an axis; `outer` is the number of their rows before it.
fn interleaved(parts: &[&[u8]], outer: usize) -> Vec<u8> {
    let rows = |part: &&[u8]| part.len() / outer.max(1);
    let row = |at: usize| {
        parts.iter().flat_map(move |part| part.iter().skip(at.saturating_mul(rows(part))).take(rows(part)))
    };
    (0..outer).flat_map(row).copied().collect()
}

/// Larger arrays are not embedded.
const MAX_BYTES: u64 = 1 << 20;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_all_parts_follow_each_other() {
        assert_eq!(interleaved(&[&[1, 2], &[3]], 1), [1, 2, 3]);
        assert_eq!(interleaved(&[&[1, 2, 5, 6], &[3, 7]], 2), [1, 2, 3, 5, 6, 7]);
    }

    #[test]
    fn only_numbers_are_embedded() {
        assert_eq!(own_order("|i1"), Some(("|i1".to_owned(), 1)));
        assert_eq!(own_order(">f8").map(|(_, size)| size), Some(8));
        assert!(["|S4", "<U3", "|O", "|b1", "<M8[ns]", "<f16"].iter().all(|name| own_order(name).is_none()));
    }
}
