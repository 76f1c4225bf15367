//! The pages of a column: headers, levels and encoded values.
use super::compression::decompress;
use super::metadata::{ColumnChunk, size};
use super::thrift::{ThriftReader, kind};
use super::{encoding, hybrid};
use ncirrus_layout::{Error, Result};

/// A page with its values still encoded.
pub(super) struct Page {
    pub(super) kind: PageKind,
    pub(super) encoding: i64,
    /// Number of values, absent ones included.
    pub(super) values: usize,
    /// For each value whether it is there; `None` if all are.
    pub(super) present: Option<Vec<bool>>,
    pub(super) body: Vec<u8>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PageKind {
    Data,
    Dictionary,
}

/// What the header of a page says.
#[derive(Default)]
struct PageHeader {
    kind: i64,
    plain_len: u64,
    packed_len: u64,
    crc: Option<u32>,
    values: u64,
    encoding: i64,
    level_encoding: i64,
    /// Of the second version of data pages: lengths of the levels, and whether the values are compressed.
    levels: Option<(u64, u64, bool)>,
}

/// Reads the pages of a column one after the other.
pub(super) struct Pages<'a> {
    rest: &'a [u8],
    chunk: &'a ColumnChunk,
    is_optional: bool,
    /// Bytes that pages may still decompress to.
    left: &'a mut u64,
}

impl<'a> Pages<'a> {
    /// The pages of a column in a file.
    ///
    /// # Errors
    /// `Malformed` if they are beyond the end of the file.
    pub(super) fn new(
        file: &'a [u8],
        chunk: &'a ColumnChunk,
        is_optional: bool,
        left: &'a mut u64,
    ) -> Result<Self> {
        let at = |offset: u64| usize::try_from(offset).unwrap_or(usize::MAX);
        let rest = file.get(at(chunk.range.start)..at(chunk.range.end)).ok_or_else(|| {
            let (name, end) = (&chunk.name, chunk.range.end);
            Error::malformed(format!("column {name:?} ends at {end}, beyond the end of the Parquet file"))
        })?;
        Ok(Self { rest, chunk, is_optional, left })
    }

    /// The next page; `None` at the end.
    ///
    /// # Errors
    /// `Malformed`, `Unsupported`, `Limit`.
    pub(super) fn next(&mut self) -> Result<Option<Page>> {
        while !self.rest.is_empty() {
            let (header, len) = header(self.rest)?;
            let body = self.rest.get(len..).unwrap_or_default();
            let packed = usize::try_from(header.packed_len).unwrap_or(usize::MAX);
            let (body, after) = body
                .split_at_checked(packed)
                .ok_or_else(|| Error::malformed("a Parquet page ends beyond its column"))?;
            self.rest = after;
            if header.crc.is_some_and(|crc| crc != crc32fast::hash(body)) {
                return Err(Error::malformed("the checksum of a Parquet page is wrong"));
            }
            match header.kind {
                0 | 2 | 3 => return self.page(&header, body).map(Some),
                // Pages of indexes, and kinds that a later version may add.
                _ => {}
            }
        }
        Ok(None)
    }

    fn page(&mut self, header: &PageHeader, body: &[u8]) -> Result<Page> {
        let left = self.left.checked_sub(header.plain_len);
        *self.left =
            left.ok_or_else(|| Error::limit("the pages of a Parquet file are too large together"))?;
        let values = usize::try_from(header.values).map_err(|_| too_many())?;
        // Absent values take no bytes, so their number is bounded by that of the column.
        if header.kind != 2 && header.values > self.chunk.values {
            return Err(too_many());
        }
        let (kind, codec) =
            (if header.kind == 2 { PageKind::Dictionary } else { PageKind::Data }, self.chunk.codec);
        let page = |present, body| Page { kind, encoding: header.encoding, values, present, body };
        if let Some((repetition, definition, is_compressed)) = header.levels.filter(|_| header.kind == 3) {
            let at = |len: u64| usize::try_from(len).unwrap_or(usize::MAX);
            let (_, body) = body.split_at_checked(at(repetition)).ok_or_else(levels)?;
            let (definition_bytes, body) = body.split_at_checked(at(definition)).ok_or_else(levels)?;
            let levels_len = repetition.saturating_add(definition);
            let len = header.plain_len.checked_sub(levels_len).ok_or_else(levels)?;
            let codec = if is_compressed { codec } else { 0 };
            let body = decompress(codec, body, usize::try_from(len).map_err(|_| too_many())?)?;
            let present = self.is_optional.then(|| presence(definition_bytes, values)).transpose()?;
            return Ok(page(present, body));
        }
        let mut plain = decompress(codec, body, usize::try_from(header.plain_len).map_err(|_| too_many())?)?;
        if kind == PageKind::Dictionary || !self.is_optional {
            return Ok(page(None, plain));
        }
        if header.level_encoding != encoding::RLE {
            let encoding = header.level_encoding;
            return Err(Error::unsupported(format!("levels of encoding {encoding} in a Parquet page")));
        }
        let (len, after) = plain.split_first_chunk::<4>().ok_or_else(levels)?;
        let len = usize::try_from(u32::from_le_bytes(*len)).map_err(|_| levels())?;
        let (bytes, _) = after.split_at_checked(len).ok_or_else(levels)?;
        let present = presence(bytes, values)?;
        plain.drain(..len.saturating_add(4).min(plain.len()));
        Ok(page(Some(present), plain))
    }
}

fn presence(bytes: &[u8], values: usize) -> Result<Vec<bool>> {
    Ok(hybrid::read(bytes, 1, values)?.into_iter().map(|level| level == 1).collect())
}

/// The header at the beginning of bytes, and its length.
fn header(bytes: &[u8]) -> Result<(PageHeader, usize)> {
    let (mut header, mut reader) = (PageHeader::default(), ThriftReader::new(bytes));
    reader.structure(|reader, field| {
        match (field.id, field.kind) {
            (1, _) => header.kind = reader.integer(field)?,
            (2, _) => header.plain_len = size(reader, field)?,
            (3, _) => header.packed_len = size(reader, field)?,
            (4, _) => header.crc = Some((reader.integer(field)? & 0xffff_ffff) as u32),
            (5 | 7 | 8, kind::STRUCT) => header.details(field.id, reader)?,
            _ => reader.skip(field)?,
        }
        Ok(())
    })?;
    Ok((header, reader.position()))
}

impl PageHeader {
    /// The part of the header that belongs to one kind of pages.
    fn details(&mut self, of: i16, reader: &mut ThriftReader<'_>) -> Result<()> {
        let (mut repetition, mut definition, mut is_compressed) = (0, 0, true);
        reader.structure(|reader, field| {
            match (of, field.id) {
                (_, 1) => self.values = size(reader, field)?,
                (5 | 7, 2) | (8, 4) => self.encoding = reader.integer(field)?,
                (5, 3) => self.level_encoding = reader.integer(field)?,
                (8, 5) => definition = size(reader, field)?,
                (8, 6) => repetition = size(reader, field)?,
                (8, 7) => is_compressed = reader.boolean(field)?,
                _ => reader.skip(field)?,
            }
            Ok(())
        })?;
        if of == 8 {
            self.levels = Some((repetition, definition, is_compressed));
        }
        Ok(())
    }
}

fn levels() -> Error {
    Error::malformed("the levels of a Parquet page are truncated")
}

fn too_many() -> Error {
    Error::malformed("a Parquet page has more values than its column")
}
