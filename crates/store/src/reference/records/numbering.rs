//! The numbers of chunks in the order of C.
use ncirrus_layout::{Error, Result};
use serde_json::Value;

/// How the chunks of an array are numbered: the number of chunks along each axis.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkNumbering(Vec<u64>);

impl ChunkNumbering {
    /// From the metadata of an array of Zarr v2.
    ///
    /// # Errors
    /// `Malformed` for metadata without shape and chunks, or with more than 2^64 chunks.
    pub(super) fn of(metadata: &Value) -> Result<Self> {
        let parsed: Value;
        let metadata = match metadata {
            Value::String(text) => {
                parsed = serde_json::from_str(text).unwrap_or_default();
                &parsed
            }
            other => other,
        };
        let lens = |name: &str| {
            let lens = metadata.get(name).and_then(Value::as_array);
            let lens: Option<Vec<u64>> = lens.and_then(|lens| lens.iter().map(Value::as_u64).collect());
            lens.ok_or_else(|| Error::malformed(format!("metadata of an array without a valid {name:?}")))
        };
        let (shape, chunks) = (lens("shape")?, lens("chunks")?);
        let counts = shape.iter().zip(&chunks).map(|(len, chunk)| match (*len, *chunk) {
            (0, _) => Some(0),
            (_, 0) => None,
            (len, chunk) => Some(len.div_ceil(chunk)),
        });
        let counts = counts.collect::<Option<Vec<_>>>().filter(|_| shape.len() == chunks.len());
        let counts = counts.ok_or_else(|| {
            Error::malformed(format!("an array of shape {shape:?} with chunks of {chunks:?}"))
        })?;
        let all = counts.iter().try_fold(1u64, |all, count| all.checked_mul(*count));
        all.ok_or_else(|| Error::malformed("an array with more than 2^64 chunks"))?;
        Ok(Self(counts))
    }

    /// Number of chunks.
    pub(super) fn count(&self) -> u64 {
        self.0.iter().fold(1, |all, count| all.saturating_mul(*count))
    }

    /// The end of the key of a chunk, with dots; `None` if there are not as many.
    pub(super) fn cell(&self, number: u64) -> Option<String> {
        if number >= self.count() {
            return None;
        }
        let mut rest = number;
        let mut cell: Vec<String> = Vec::new();
        for count in self.0.iter().rev() {
            cell.push((rest % count).to_string());
            rest /= count;
        }
        cell.reverse();
        Some(if cell.is_empty() { "0".to_owned() } else { cell.join(".") })
    }

    /// The number of a chunk by the end of its key, `1.2` or `1/2`; `None` if it is not a chunk of the array.
    pub(super) fn number(&self, cell: &str) -> Option<u64> {
        if self.0.is_empty() {
            return (cell == "0").then_some(0);
        }
        let mut indices = cell.split(['.', '/']);
        let mut number = 0u64;
        for count in &self.0 {
            let index = indices.next().filter(|index| index.bytes().all(|byte| byte.is_ascii_digit()))?;
            let index = index.parse().ok().filter(|index| index < count)?;
            number = number.checked_mul(*count)?.checked_add(index)?;
        }
        indices.next().is_none().then_some(number)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn chunks_are_numbered_in_the_order_of_c() {
        let numbering = ChunkNumbering::of(&json!({"shape": [5, 7], "chunks": [2, 3]})).unwrap();
        for (cell, number) in [
            ("0.0", Some(0)),
            ("0.2", Some(2)),
            ("1.0", Some(3)),
            ("2/2", Some(8)),
            ("3.0", None),
            ("0.3", None),
            ("0", None),
            ("0.0.0", None),
            ("", None),
            ("+1.0", None),
            (".zarray", None),
        ] {
            assert_eq!(numbering.number(cell), number, "{cell}");
        }
        for number in 0..9 {
            assert_eq!(numbering.number(&numbering.cell(number).unwrap()), Some(number));
        }
        assert_eq!((numbering.count(), numbering.cell(9)), (9, None));
        let scalar = ChunkNumbering::of(&json!({"shape": [], "chunks": []})).unwrap();
        assert_eq!((scalar.number("0"), scalar.number("1")), (Some(0), None));
    }

    #[test]
    fn arrays_that_are_not_divided_are_refused() {
        for text in [
            json!({"shape": [5], "chunks": [0]}),
            json!({"shape": [5], "chunks": []}),
            json!({"shape": [-5], "chunks": [1]}),
            json!({"shape": [u64::MAX, 2], "chunks": [1, 1]}),
            json!({}),
            json!("text"),
        ] {
            assert!(ChunkNumbering::of(&text).is_err(), "{text}");
        }
        assert_eq!(ChunkNumbering::of(&json!({"shape": [0], "chunks": [0]})).unwrap().number("0"), None);
    }
}
