//! The footer of a Parquet file: its columns, and where their pages are.
use super::MAGIC;
use super::thrift::{ThriftField, ThriftReader};
use ncirrus_layout::{Error, Result};
use std::collections::HashMap;
use std::ops::Range;

/// What the footer says.
#[derive(Debug, Default)]
pub(super) struct FileMetadata {
    /// Columns at the top level, by name.
    pub(super) columns: HashMap<String, ColumnSchema>,
    pub(super) row_groups: Vec<RowGroup>,
}

/// A column at the top level.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ColumnSchema {
    /// Its physical type; `None` if it has members.
    pub(super) physical: Option<i64>,
    pub(super) repetition: Repetition,
}

/// How often a column has a value in a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Repetition {
    Required,
    Optional,
    Repeated,
}

/// Rows that are stored together.
#[derive(Debug, Default)]
pub(super) struct RowGroup {
    pub(super) rows: u64,
    pub(super) chunks: Vec<ColumnChunk>,
}

/// The pages of a column in a row group.
#[derive(Debug, Default)]
pub(super) struct ColumnChunk {
    /// The name of the column; empty if it is nested.
    pub(super) name: String,
    pub(super) codec: i64,
    pub(super) values: u64,
    pub(super) range: Range<u64>,
    in_other_file: bool,
}

/// An element of the schema, as stored: a tree in depth-first order.
#[derive(Default)]
struct SchemaElement {
    name: String,
    physical: Option<i64>,
    repetition: i64,
    children: u64,
}

/// Reads the footer.
///
/// # Errors
/// `Malformed` for a damaged or truncated file, `Unsupported` for encrypted ones and for columns in other files.
pub(super) fn read(file: &[u8]) -> Result<FileMetadata> {
    let not_parquet = || Error::malformed("this is not a Parquet file, or it is truncated");
    let (body, magic) = file.split_last_chunk::<4>().ok_or_else(not_parquet)?;
    if magic == b"PARE" {
        return Err(Error::unsupported("encrypted Parquet files"));
    }
    if magic != MAGIC || !file.starts_with(MAGIC) {
        return Err(not_parquet());
    }
    let (body, len) = body.split_last_chunk::<4>().ok_or_else(not_parquet)?;
    let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| not_parquet())?;
    let start = body.len().checked_sub(len).ok_or_else(not_parquet)?;
    let mut reader = ThriftReader::new(body.get(start..).unwrap_or_default());
    let (mut metadata, mut schema) = (FileMetadata::default(), Vec::new());
    reader.structure(|reader, field| match field.id {
        2 => reader.list(field, |reader, _| {
            schema.push(schema_element(reader)?);
            Ok(())
        }),
        4 => reader.list(field, |reader, _| {
            metadata.row_groups.push(row_group(reader)?);
            Ok(())
        }),
        _ => reader.skip(field),
    })?;
    metadata.columns = top_columns(&schema)?;
    let mut chunks = metadata.row_groups.iter().flat_map(|group| &group.chunks);
    if chunks.any(|chunk| chunk.in_other_file) {
        return Err(Error::unsupported("Parquet files whose columns are in other files"));
    }
    Ok(metadata)
}

fn schema_element(reader: &mut ThriftReader<'_>) -> Result<SchemaElement> {
    let mut element = SchemaElement::default();
    reader.structure(|reader, field| {
        match field.id {
            1 => element.physical = Some(reader.integer(field)?),
            3 => element.repetition = reader.integer(field)?,
            4 => element.name = text(reader, field)?,
            5 => element.children = size(reader, field)?,
            _ => reader.skip(field)?,
        }
        Ok(())
    })?;
    Ok(element)
}

/// The children of the root, without what is below them.
fn top_columns(schema: &[SchemaElement]) -> Result<HashMap<String, ColumnSchema>> {
    let mut columns = HashMap::new();
    let mut rest = schema.iter();
    let root = rest.next().ok_or_else(|| Error::malformed("a Parquet file without a schema"))?;
    // Elements that belong to the column before.
    let mut below = 0u64;
    let mut left = root.children;
    for element in rest {
        if below > 0 {
            below = (below - 1).saturating_add(element.children);
            continue;
        }
        left =
            left.checked_sub(1).ok_or_else(|| Error::malformed("the schema of a Parquet file is damaged"))?;
        below = element.children;
        let repetition = match element.repetition {
            0 => Repetition::Required,
            1 => Repetition::Optional,
            _ => Repetition::Repeated,
        };
        let physical = element.physical.filter(|_| element.children == 0);
        columns.insert(element.name.clone(), ColumnSchema { physical, repetition });
    }
    if left > 0 || below > 0 {
        return Err(Error::malformed("the schema of a Parquet file is truncated"));
    }
    Ok(columns)
}

fn row_group(reader: &mut ThriftReader<'_>) -> Result<RowGroup> {
    let mut group = RowGroup::default();
    reader.structure(|reader, field| match field.id {
        1 => reader.list(field, |reader, _| {
            group.chunks.push(column_chunk(reader)?);
            Ok(())
        }),
        3 => {
            group.rows = size(reader, field)?;
            Ok(())
        }
        _ => reader.skip(field),
    })?;
    Ok(group)
}

fn column_chunk(reader: &mut ThriftReader<'_>) -> Result<ColumnChunk> {
    let mut chunk = ColumnChunk::default();
    reader.structure(|reader, field| match (field.id, field.kind) {
        (1, _) => {
            chunk.in_other_file = !reader.binary(field)?.is_empty();
            Ok(())
        }
        (3, super::thrift::kind::STRUCT) => column_metadata(reader, &mut chunk),
        _ => reader.skip(field),
    })?;
    Ok(chunk)
}

fn column_metadata(reader: &mut ThriftReader<'_>, chunk: &mut ColumnChunk) -> Result<()> {
    let (mut data, mut dictionary, mut len, mut path) = (0, None, 0, Vec::new());
    reader.structure(|reader, field| {
        match field.id {
            3 => reader.list(field, |reader, field| {
                path.push(text(reader, field)?);
                Ok(())
            })?,
            4 => chunk.codec = reader.integer(field)?,
            5 => chunk.values = size(reader, field)?,
            7 => len = size(reader, field)?,
            9 => data = size(reader, field)?,
            11 => dictionary = Some(size(reader, field)?),
            _ => reader.skip(field)?,
        }
        Ok(())
    })?;
    if let [name] = path.as_mut_slice() {
        chunk.name = std::mem::take(name);
    }
    // Some writers give 0 for a dictionary that does not exist.
    let start = dictionary.filter(|at| *at > 0).map_or(data, |at| at.min(data));
    chunk.range = start..start.saturating_add(len);
    Ok(())
}

/// A number that is not negative.
pub(super) fn size(reader: &mut ThriftReader<'_>, field: ThriftField) -> Result<u64> {
    let value = reader.integer(field)?;
    u64::try_from(value).map_err(|_| Error::malformed(format!("the size {value} in a Parquet file")))
}

fn text(reader: &mut ThriftReader<'_>, field: ThriftField) -> Result<String> {
    Ok(String::from_utf8_lossy(reader.binary(field)?).into_owned())
}
