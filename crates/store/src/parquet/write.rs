//! Writing of files with one row group: integers that are all there, texts and bytes that may be absent.
use super::thrift::{ThriftWriter, kind};
use super::{MAGIC, encoding, hybrid, physical};
use ncirrus_layout::{Error, Result};
use std::collections::HashMap;

/// A column that is written.
#[derive(Debug, Clone, Copy)]
pub enum ParquetColumn<'a> {
    /// Integers.
    Integers(&'a [u64]),
    /// Texts; with a dictionary if there are more than this many rows for each distinct one.
    Texts(&'a [Option<&'a str>], usize),
    /// Bytes.
    Bytes(&'a [Option<&'a [u8]>]),
}

impl ParquetColumn<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Texts(values, _) => values.len(),
            Self::Bytes(values) => values.len(),
        }
    }
}

/// A Parquet file of named columns with equally many rows, compressed by zstd.
///
/// # Errors
/// `Invalid` for columns of different lengths or integers above 2^63, `Limit` for a column of more than 2 GiB.
pub fn write_flat_table(columns: &[(&str, ParquetColumn<'_>)]) -> Result<Vec<u8>> {
    let rows = columns.first().map_or(0, |(_, column)| column.len());
    let mut file = MAGIC.to_vec();
    let mut written = Vec::new();
    for (name, column) in columns {
        if column.len() != rows {
            return Err(Error::invalid(format!("column {name:?} has {} rows, not {rows}", column.len())));
        }
        let column = write_column(&mut file, name, column);
        written
            .push(column.map_err(|error| error.reworded(|message| format!("column {name:?}: {message}")))?);
    }
    let footer = footer(&written, rows as u64);
    let len = u32::try_from(footer.len()).map_err(|_| Error::limit("the footer of a Parquet file"))?;
    file.extend_from_slice(&footer);
    file.extend_from_slice(&len.to_le_bytes());
    file.extend_from_slice(MAGIC);
    Ok(file)
}

/// What the footer says about a column.
struct WrittenColumn<'a> {
    name: &'a str,
    physical: i64,
    is_optional: bool,
    is_text: bool,
    dictionary: Option<u64>,
    data: u64,
    plain_len: u64,
    packed_len: u64,
}

/// Bytes of a page before they are compressed.
struct PlainPage {
    body: Vec<u8>,
    values: usize,
    encoding: i64,
    is_dictionary: bool,
}

fn write_column<'a>(
    file: &mut Vec<u8>,
    name: &'a str,
    column: &ParquetColumn<'_>,
) -> Result<WrittenColumn<'a>> {
    let (pages, physical) = match column {
        ParquetColumn::Integers(values) => (vec![integers(values)?], physical::INT64),
        ParquetColumn::Texts(values, threshold) => {
            let values: Vec<_> = values.iter().map(|value| value.map(str::as_bytes)).collect();
            (texts(&values, *threshold)?, physical::BYTE_ARRAY)
        }
        ParquetColumn::Bytes(values) => (vec![plain(values)?], physical::BYTE_ARRAY),
    };
    let start = file.len() as u64;
    let mut written = WrittenColumn {
        name,
        physical,
        is_optional: !matches!(column, ParquetColumn::Integers(_)),
        is_text: matches!(column, ParquetColumn::Texts(..)),
        dictionary: None,
        data: start,
        plain_len: 0,
        packed_len: 0,
    };
    for page in &pages {
        let at = file.len() as u64;
        if page.is_dictionary {
            written.dictionary = Some(at);
        } else {
            written.data = at;
        }
        let header = put_page(file, page)?;
        written.plain_len += header + page.body.len() as u64;
    }
    written.packed_len = file.len() as u64 - start;
    Ok(written)
}

/// Appends a page, and returns the length of its header.
fn put_page(file: &mut Vec<u8>, page: &PlainPage) -> Result<u64> {
    let mut packed = vec![0; zstd_safe::compress_bound(page.body.len())];
    let len = zstd_safe::compress(packed.as_mut_slice(), &page.body, LEVEL);
    packed.truncate(len.map_err(|code| Error::internal(zstd_safe::get_error_name(code)))?);
    let size = |len: usize| {
        i32::try_from(len).map(i64::from).map_err(|_| Error::limit(format!("a Parquet page of {len} bytes")))
    };
    let mut header = ThriftWriter::new();
    header.i32(1, if page.is_dictionary { 2 } else { 0 });
    header.i32(2, size(page.body.len())?);
    header.i32(3, size(packed.len())?);
    header.begin_structure(if page.is_dictionary { 7 } else { 5 });
    header.i32(1, size(page.values)?);
    header.i32(2, page.encoding);
    if !page.is_dictionary {
        header.i32(3, encoding::RLE);
        header.i32(4, encoding::RLE);
    }
    header.end_structure();
    let header = header.finish();
    file.extend_from_slice(&header);
    file.extend_from_slice(&packed);
    Ok(header.len() as u64)
}

fn integers(values: &[u64]) -> Result<PlainPage> {
    if let Some(large) = values.iter().find(|value| i64::try_from(**value).is_err()) {
        return Err(Error::invalid(format!("the integer {large}")));
    }
    let body = values.iter().flat_map(|value| value.to_le_bytes()).collect();
    Ok(PlainPage { body, values: values.len(), encoding: encoding::PLAIN, is_dictionary: false })
}

/// With a dictionary if values repeat often enough.
fn texts(values: &[Option<&[u8]>], threshold: usize) -> Result<Vec<PlainPage>> {
    let (mut known, mut distinct, mut indices) = (HashMap::new(), Vec::new(), Vec::new());
    for value in values.iter().flatten() {
        let next = u32::try_from(distinct.len()).map_err(|_| Error::limit("2^32 names in a Parquet file"))?;
        let number = *known.entry(*value).or_insert_with(|| {
            distinct.push(Some(*value));
            next
        });
        indices.push(number);
    }
    if distinct.is_empty() || indices.len() / distinct.len() <= threshold {
        return Ok(vec![plain(values)?]);
    }
    let mut dictionary = Vec::new();
    push_values(&mut dictionary, &distinct)?;
    let highest = u32::try_from(distinct.len() - 1).unwrap_or(u32::MAX);
    // Some readers do not expect indices of no bits.
    let width = u8::try_from(32 - highest.leading_zeros()).unwrap_or(32).max(1);
    let mut body = levels(values)?;
    body.push(width);
    body.extend(hybrid::write(&indices, width));
    let dictionary = PlainPage {
        body: dictionary,
        values: distinct.len(),
        encoding: encoding::PLAIN,
        is_dictionary: true,
    };
    let data =
        PlainPage { body, values: values.len(), encoding: encoding::RLE_DICTIONARY, is_dictionary: false };
    Ok(vec![dictionary, data])
}

fn plain(values: &[Option<&[u8]>]) -> Result<PlainPage> {
    let mut body = levels(values)?;
    push_values(&mut body, values)?;
    Ok(PlainPage { body, values: values.len(), encoding: encoding::PLAIN, is_dictionary: false })
}

fn push_values(body: &mut Vec<u8>, values: &[Option<&[u8]>]) -> Result<()> {
    for value in values.iter().flatten() {
        let len = u32::try_from(value.len()).map_err(|_| Error::limit("a value of more than 4 GiB"))?;
        body.extend_from_slice(&len.to_le_bytes());
        body.extend_from_slice(value);
    }
    Ok(())
}

/// Which values are there, with the length before.
fn levels(values: &[Option<&[u8]>]) -> Result<Vec<u8>> {
    let levels: Vec<u32> = values.iter().map(|value| u32::from(value.is_some())).collect();
    let levels = hybrid::write(&levels, 1);
    let len = u32::try_from(levels.len()).map_err(|_| Error::limit("the rows of a Parquet file"))?;
    Ok([len.to_le_bytes().as_slice(), &levels].concat())
}

fn footer(columns: &[WrittenColumn<'_>], rows: u64) -> Vec<u8> {
    let mut footer = ThriftWriter::new();
    footer.i32(1, 1);
    footer.begin_list(2, kind::STRUCT, columns.len() + 1);
    footer.begin_element();
    footer.text(4, "schema");
    footer.i32(5, columns.len() as i64);
    footer.end_structure();
    columns.iter().for_each(|column| schema_element(&mut footer, column));
    footer.i64(3, rows);
    footer.begin_list(4, kind::STRUCT, 1);
    footer.begin_element();
    footer.begin_list(1, kind::STRUCT, columns.len());
    columns.iter().for_each(|column| column_chunk(&mut footer, column, rows));
    footer.i64(2, columns.iter().map(|column| column.plain_len).sum());
    footer.i64(3, rows);
    footer.end_structure();
    footer.text(6, concat!("ncirrus ", env!("CARGO_PKG_VERSION")));
    footer.finish()
}

fn schema_element(footer: &mut ThriftWriter, column: &WrittenColumn<'_>) {
    footer.begin_element();
    footer.i32(1, column.physical);
    footer.i32(3, i64::from(column.is_optional));
    footer.text(4, column.name);
    if column.is_text {
        // UTF8, in the older and the newer form.
        footer.i32(6, 0);
        footer.begin_structure(10);
        footer.begin_structure(1);
        footer.end_structure();
        footer.end_structure();
    }
    footer.end_structure();
}

fn column_chunk(footer: &mut ThriftWriter, column: &WrittenColumn<'_>, rows: u64) {
    footer.begin_element();
    footer.i64(2, column.data);
    footer.begin_structure(3);
    footer.i32(1, column.physical);
    footer.begin_list(2, kind::I32, 3);
    for number in [encoding::PLAIN, encoding::RLE, encoding::RLE_DICTIONARY] {
        footer.i32_element(number);
    }
    footer.begin_list(3, kind::BINARY, 1);
    footer.text_element(column.name);
    footer.i32(4, ZSTD);
    footer.i64(5, rows);
    footer.i64(6, column.plain_len);
    footer.i64(7, column.packed_len);
    footer.i64(9, column.data);
    if let Some(dictionary) = column.dictionary {
        footer.i64(11, dictionary);
    }
    if !column.is_optional {
        // Statistics: no nulls. fastparquet does not look at the schema for that, and would read floats.
        footer.begin_structure(12);
        footer.i64(3, 0);
        footer.end_structure();
    }
    footer.end_structure();
    footer.end_structure();
}

/// The number of zstd.
const ZSTD: i64 = 6;
/// The level of zstd that kerchunk's writers use.
const LEVEL: i32 = 3;
