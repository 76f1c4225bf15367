//! Columns of a file.
use super::metadata::{ColumnChunk, ColumnSchema, Repetition};
use super::page::{Page, PageKind, Pages};
use super::{encoding, hybrid, metadata, physical};
use ncirrus_layout::{Error, Limits, Result};

/// The wanted columns of a file.
#[derive(Debug, Default)]
pub(crate) struct FlatTable {
    /// Number of rows.
    pub(crate) rows: usize,
    /// The wanted columns; `None` for those that the file does not have.
    pub(crate) columns: Vec<Option<FlatColumn>>,
}

/// The values of a column, one for each row.
#[derive(Debug)]
pub(crate) enum FlatColumn {
    /// Integers; absent ones are `None`.
    Integers(Vec<Option<i64>>),
    /// Texts or bytes.
    Bytes(BytesColumn),
}

/// Texts or bytes, of which several rows may share one.
#[derive(Debug, Default)]
pub(crate) struct BytesColumn {
    bytes: Vec<u8>,
    /// Where each value ends in `bytes`.
    ends: Vec<usize>,
    /// The number of each row's value, `ABSENT` for none.
    rows: Vec<u32>,
}

const ABSENT: u32 = u32::MAX;

impl BytesColumn {
    /// The number of a row's value, which rows with the same number share; `None` if it is absent.
    pub(crate) fn number(&self, row: usize) -> Option<usize> {
        self.rows.get(row).filter(|number| **number != ABSENT).map(|number| *number as usize)
    }

    /// The value of that number.
    pub(crate) fn value(&self, number: usize) -> Option<&[u8]> {
        let start = number.checked_sub(1).map_or(Some(0), |before| self.ends.get(before).copied())?;
        self.bytes.get(start..*self.ends.get(number)?)
    }

    /// Number of distinct values.
    pub(crate) fn value_count(&self) -> usize {
        self.ends.len()
    }

    fn push_value(&mut self, value: &[u8]) -> Result<u32> {
        let number = u32::try_from(self.ends.len()).ok().filter(|number| *number != ABSENT);
        let number =
            number.ok_or_else(|| Error::limit("a column of a Parquet file has more than 2^32 values"))?;
        self.bytes.extend_from_slice(value);
        self.ends.push(self.bytes.len());
        Ok(number)
    }
}

impl FlatTable {
    /// Reads the columns of those names from a whole file with at most `max_rows` rows.
    ///
    /// # Errors
    /// `Malformed` for a damaged file, or more rows; `Unsupported` for nested columns, types, codecs and encodings that
    /// are not read, naming the column; `Limit` for pages that are too large together.
    pub(crate) fn read(file: &[u8], names: &[&str], max_rows: u64, limits: &Limits) -> Result<Self> {
        let metadata = metadata::read(file)?;
        let rows = metadata.row_groups.iter().fold(0, |rows: u64, group| rows.saturating_add(group.rows));
        if rows > max_rows {
            return Err(Error::malformed(format!("the Parquet file has {rows} rows, more than {max_rows}")));
        }
        let mut table = Self { rows: limits.count(rows, "a Parquet file")?, columns: Vec::new() };
        let mut left = limits.metadata_bytes;
        for name in names {
            let column = metadata.columns.get(*name).map(|schema| {
                let read = read_column(file, &metadata, (name, schema), &mut left);
                read.map_err(|error| error.reworded(|message| format!("column {name:?}: {message}")))
            });
            table.columns.push(column.transpose()?);
        }
        Ok(table)
    }
}

fn read_column(
    file: &[u8],
    metadata: &metadata::FileMetadata,
    (name, schema): (&str, &ColumnSchema),
    left: &mut u64,
) -> Result<FlatColumn> {
    let mut column = match (schema.physical, schema.repetition) {
        (_, Repetition::Repeated) => return Err(Error::unsupported("repeated values")),
        (Some(physical::INT32 | physical::INT64), _) => FlatColumn::Integers(Vec::new()),
        (Some(physical::BYTE_ARRAY), _) => FlatColumn::Bytes(BytesColumn::default()),
        (Some(other), _) => return Err(Error::unsupported(format!("values of Parquet's type {other}"))),
        (None, _) => return Err(Error::unsupported("nested values")),
    };
    for group in &metadata.row_groups {
        let chunk = group.chunks.iter().find(|chunk| chunk.name == name);
        let chunk = chunk.ok_or_else(|| Error::malformed("a row group without the column"))?;
        if chunk.values != group.rows {
            let (values, rows) = (chunk.values, group.rows);
            return Err(Error::malformed(format!("{values} values in {rows} rows")));
        }
        read_chunk(file, chunk, schema, &mut column, left)?;
    }
    Ok(column)
}

fn read_chunk(
    file: &[u8],
    chunk: &ColumnChunk,
    schema: &ColumnSchema,
    column: &mut FlatColumn,
    left: &mut u64,
) -> Result<()> {
    let mut pages = Pages::new(file, chunk, schema.repetition == Repetition::Optional, left)?;
    let is_wide = schema.physical != Some(physical::INT32);
    let (mut dictionary, mut seen) = (Dictionary::None, 0u64);
    while seen < chunk.values {
        let Some(page) = pages.next()? else {
            let values = chunk.values;
            return Err(Error::malformed(format!("its pages have {seen} values, not {values}")));
        };
        if page.kind == PageKind::Dictionary {
            dictionary = Dictionary::of(&page, column, is_wide)?;
            continue;
        }
        seen = seen.saturating_add(page.values as u64);
        if seen > chunk.values {
            return Err(Error::malformed("its pages have more values than rows"));
        }
        column.extend(&page, &dictionary, is_wide)?;
    }
    Ok(())
}

/// The values to which indices refer.
enum Dictionary {
    None,
    Integers(Vec<i64>),
    /// Numbers of the values in the column: the first, and how many there are.
    Bytes(u32, u32),
}

impl Dictionary {
    fn of(page: &Page, column: &mut FlatColumn, is_wide: bool) -> Result<Self> {
        if !matches!(page.encoding, encoding::PLAIN | encoding::PLAIN_DICTIONARY) {
            return Err(unknown_encoding(page.encoding));
        }
        match column {
            FlatColumn::Integers(_) => Ok(Self::Integers(plain_integers(&page.body, page.values, is_wide)?)),
            FlatColumn::Bytes(column) => {
                let numbers = plain_bytes(&page.body, page.values, column)?;
                let count =
                    u32::try_from(numbers.len()).map_err(|_| Error::limit("a dictionary is too large"))?;
                Ok(Self::Bytes(numbers.first().copied().unwrap_or(0), count))
            }
        }
    }
}

impl FlatColumn {
    /// Appends the values of a data page.
    fn extend(&mut self, page: &Page, dictionary: &Dictionary, is_wide: bool) -> Result<()> {
        let there =
            page.present.as_ref().map_or(page.values, |present| present.iter().filter(|it| **it).count());
        let is_indexed = match page.encoding {
            encoding::PLAIN => false,
            encoding::PLAIN_DICTIONARY | encoding::RLE_DICTIONARY => true,
            other => return Err(unknown_encoding(other)),
        };
        let indices = is_indexed.then(|| indices(&page.body, there)).transpose()?;
        match self {
            Self::Integers(rows) => {
                let values = match (indices, dictionary) {
                    (None, _) => plain_integers(&page.body, there, is_wide)?,
                    (Some(indices), Dictionary::Integers(known)) => {
                        let find = |index| known.get(index as usize).copied().ok_or_else(beyond);
                        indices.into_iter().map(find).collect::<Result<_>>()?
                    }
                    (Some(_), _) => return Err(beyond()),
                };
                spread(page, values.into_iter(), |value| rows.push(value));
            }
            Self::Bytes(column) => {
                let numbers = match (indices, dictionary) {
                    (None, _) => plain_bytes(&page.body, there, column)?,
                    (Some(indices), Dictionary::Bytes(first, count)) => {
                        let find = |index: u32| {
                            (index < *count).then(|| first.saturating_add(index)).ok_or_else(beyond)
                        };
                        indices.into_iter().map(find).collect::<Result<_>>()?
                    }
                    (Some(_), _) => return Err(beyond()),
                };
                spread(page, numbers.into_iter(), |number| column.rows.push(number.unwrap_or(ABSENT)));
            }
        }
        Ok(())
    }
}

/// Passes on one value for each row, absent ones included.
fn spread<T>(page: &Page, mut values: impl Iterator<Item = T>, mut push: impl FnMut(Option<T>)) {
    match &page.present {
        None => values.for_each(|value| push(Some(value))),
        Some(present) => {
            for is_there in present {
                push(if *is_there { values.next() } else { None });
            }
        }
    }
}

/// Indices of a dictionary: their width, then their values.
fn indices(body: &[u8], count: usize) -> Result<Vec<u32>> {
    match body.split_first() {
        Some((width, bytes)) => hybrid::read(bytes, *width, count),
        None if count == 0 => Ok(Vec::new()),
        None => Err(truncated()),
    }
}

fn plain_integers(body: &[u8], count: usize, is_wide: bool) -> Result<Vec<i64>> {
    let values: Vec<i64> = if is_wide {
        body.as_chunks::<8>().0.iter().take(count).map(|bytes| i64::from_le_bytes(*bytes)).collect()
    } else {
        let values = body.as_chunks::<4>().0.iter().take(count);
        values.map(|bytes| i64::from(i32::from_le_bytes(*bytes))).collect()
    };
    if values.len() < count { Err(truncated()) } else { Ok(values) }
}

/// Appends values, each of which begins with its length, and returns their numbers.
fn plain_bytes(body: &[u8], count: usize, column: &mut BytesColumn) -> Result<Vec<u32>> {
    let (mut rest, mut numbers) = (body, Vec::new());
    for _ in 0..count {
        let (len, after) = rest.split_first_chunk::<4>().ok_or_else(truncated)?;
        let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| truncated())?;
        let (value, after) = after.split_at_checked(len).ok_or_else(truncated)?;
        rest = after;
        numbers.push(column.push_value(value)?);
    }
    Ok(numbers)
}

fn truncated() -> Error {
    Error::malformed("a page is truncated")
}

fn beyond() -> Error {
    Error::malformed("an index without a value in the dictionary")
}

fn unknown_encoding(encoding: i64) -> Error {
    let name = match encoding {
        4 => " (BIT_PACKED)",
        5 => " (DELTA_BINARY_PACKED)",
        6 => " (DELTA_LENGTH_BYTE_ARRAY)",
        7 => " (DELTA_BYTE_ARRAY)",
        9 => " (BYTE_STREAM_SPLIT)",
        _ => "",
    };
    Error::unsupported(format!("Parquet's encoding {encoding}{name}"))
}
