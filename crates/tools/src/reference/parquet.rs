//! References as a folder of Parquet files (docs/spec/kerchunk-parquet.md).
use super::json::{ReferenceKeys, StoredReference};
use ncirrus::{Error, Result};
use ncirrus_store::{ParquetColumn, write_flat_table};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;

/// How many rows a file has for each distinct name if names get a dictionary, as kerchunk does it.
const CATEGORICAL_THRESHOLD: usize = 10;

/// The objects of a folder, the document with the metadata last: with it the references become visible.
pub(super) struct RecordFolder {
    pub(super) objects: Vec<(String, Vec<u8>)>,
}

/// The references of an array, by the number of their chunk.
type Numbered = BTreeMap<u64, StoredReference>;

impl RecordFolder {
    /// Divides references into files of `record_size` rows.
    ///
    /// # Errors
    /// `Invalid` for a record size of 0, `Limit` for files that are too large.
    pub(super) fn new(references: ReferenceKeys, record_size: u64) -> Result<Self> {
        if record_size == 0 || record_size > MAX_RECORD_SIZE {
            return Err(Error::invalid(format!(
                "a record size of {record_size}; it is between 1 and {MAX_RECORD_SIZE}"
            )));
        }
        let (metadata, chunks): (Vec<_>, Vec<_>) =
            references.into_entries().partition(|(key, _)| is_metadata(key));
        let metadata = documents(metadata)?;
        let mut arrays: BTreeMap<String, Numbered> = BTreeMap::new();
        for (key, reference) in chunks {
            let (array, cell) = key.rsplit_once('/').unwrap_or(("", key.as_str()));
            let number = number(&metadata, array, cell)
                .ok_or_else(|| Error::internal(format!("a chunk {key} outside its array")))?;
            arrays.entry(array.to_owned()).or_default().insert(number, reference);
        }
        let mut objects = Vec::new();
        for (array, mut chunks) in arrays {
            while let Some((first, _)) = chunks.first_key_value() {
                let part = first / record_size;
                let end = part.saturating_add(1).saturating_mul(record_size);
                let after = chunks.split_off(&end);
                let body = file(&chunks, part * record_size, record_size);
                let body = body.map_err(|error| error.at_path(&array))?;
                let slash = if array.is_empty() { "" } else { "/" };
                objects.push((format!("{array}{slash}refs.{part}.parq"), body));
                chunks = after;
            }
        }
        let document = json!({"metadata": metadata, "record_size": record_size});
        objects.push((".zmetadata".to_owned(), document.to_string().into_bytes()));
        Ok(Self { objects })
    }
}

fn is_metadata(key: &str) -> bool {
    key.rsplit('/').next().is_some_and(|name| name.starts_with(".z"))
}

/// The metadata of all nodes, without the consolidated copy.
fn documents(metadata: Vec<(String, StoredReference)>) -> Result<Map<String, Value>> {
    let mut documents = Map::new();
    for (key, reference) in metadata.into_iter().filter(|(key, _)| key != ".zmetadata") {
        let StoredReference::Inline(body) = reference else {
            return Err(Error::internal(format!("metadata {key} that are not embedded")));
        };
        let document = serde_json::from_slice(&body);
        let failed = |error| Error::internal(format!("metadata {key} are not JSON")).because(error);
        let document = document.map_err(failed)?;
        documents.insert(key, document);
    }
    Ok(documents)
}

/// The number of a chunk in the order of C.
fn number(metadata: &Map<String, Value>, array: &str, cell: &str) -> Option<u64> {
    let key = if array.is_empty() { ".zarray".to_owned() } else { format!("{array}/.zarray") };
    let lens = |name: &str| -> Option<Vec<u64>> {
        metadata.get(&key)?.get(name)?.as_array()?.iter().map(Value::as_u64).collect()
    };
    let (shape, chunks) = (lens("shape")?, lens("chunks")?);
    if shape.is_empty() {
        return Some(0);
    }
    let mut indices = cell.split('.');
    let mut number = 0u64;
    for (len, chunk) in shape.iter().zip(&chunks) {
        let count = len.div_ceil((*chunk).max(1));
        let index: u64 = indices.next()?.parse().ok().filter(|index| *index < count)?;
        number = number.checked_mul(count)?.checked_add(index)?;
    }
    Some(number)
}

/// A file with the references from a number on; readers expect all rows, also where there is nothing.
fn file(chunks: &Numbered, first: u64, rows: u64) -> Result<Vec<u8>> {
    let rows = usize::try_from(rows).map_err(|_| Error::limit("a file with too many rows"))?;
    let (mut path, mut raw) = (vec![None; rows], vec![None; rows]);
    let (mut offset, mut size) = (vec![0; rows], vec![0; rows]);
    for (number, reference) in chunks {
        let row = usize::try_from(number - first).unwrap_or(usize::MAX);
        match reference {
            StoredReference::Inline(body) => set(&mut raw, row, Some(body.as_slice())),
            StoredReference::Whole(name) => set(&mut path, row, Some(&**name)),
            StoredReference::Range(name, start, len) => {
                set(&mut path, row, Some(&**name));
                set(&mut offset, row, *start);
                set(&mut size, row, *len);
            }
        }
    }
    write_flat_table(&[
        ("path", ParquetColumn::Texts(&path, CATEGORICAL_THRESHOLD)),
        ("offset", ParquetColumn::Integers(&offset)),
        ("size", ParquetColumn::Integers(&size)),
        ("raw", ParquetColumn::Bytes(&raw)),
    ])
}

fn set<T>(column: &mut [T], row: usize, value: T) {
    if let Some(slot) = column.get_mut(row) {
        *slot = value;
    }
}

/// Files with more rows would be slow to read for one chunk.
const MAX_RECORD_SIZE: u64 = 1 << 20;
