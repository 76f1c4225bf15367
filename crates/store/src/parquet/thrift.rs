//! Thrift's compact protocol, as far as Parquet uses it.
use ncirrus_layout::{Error, Result};

/// The types of fields.
pub(super) mod kind {
    pub(in crate::parquet) const TRUE: u8 = 1;
    pub(in crate::parquet) const FALSE: u8 = 2;
    pub(in crate::parquet) const BYTE: u8 = 3;
    pub(in crate::parquet) const I32: u8 = 5;
    pub(in crate::parquet) const I64: u8 = 6;
    pub(in crate::parquet) const DOUBLE: u8 = 7;
    pub(in crate::parquet) const BINARY: u8 = 8;
    pub(in crate::parquet) const LIST: u8 = 9;
    pub(in crate::parquet) const SET: u8 = 10;
    pub(in crate::parquet) const MAP: u8 = 11;
    pub(in crate::parquet) const STRUCT: u8 = 12;
}

/// Maximum nesting of structures and lists. Parquet's own are nested six levels deep.
const MAX_DEPTH: u32 = 16;

/// Reads structures.
pub(super) struct ThriftReader<'a> {
    bytes: &'a [u8],
    at: usize,
}

/// A field of a structure: its number and its type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct ThriftField {
    pub(super) id: i16,
    pub(super) kind: u8,
}

impl<'a> ThriftReader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0 }
    }

    /// Number of bytes that were read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Reads a structure: `take` reads the value of each field, or skips it.
    ///
    /// # Errors
    /// `Malformed` for truncated or invalid structures, and errors of `take`.
    pub(super) fn structure(
        &mut self,
        mut take: impl FnMut(&mut Self, ThriftField) -> Result<()>,
    ) -> Result<()> {
        let mut id = 0i16;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => i16::try_from(self.zigzag()?).map_err(|_| invalid("the number of a field"))?,
                step => id.checked_add(i16::from(step)).ok_or_else(|| invalid("the number of a field"))?,
            };
            take(self, ThriftField { id, kind: head & 15 })?;
        }
    }

    /// An integer of any width.
    pub(super) fn integer(&mut self, field: ThriftField) -> Result<i64> {
        match field.kind {
            kind::BYTE => Ok(i64::from(self.byte()? as i8)),
            4..=6 => self.zigzag(),
            _ => Err(invalid("the type of an integer")),
        }
    }

    /// A boolean, whose value is in its type.
    pub(super) fn boolean(&mut self, field: ThriftField) -> Result<bool> {
        match field.kind {
            kind::TRUE => Ok(true),
            kind::FALSE => Ok(false),
            _ => Err(invalid("the type of a boolean")),
        }
    }

    /// Bytes.
    pub(super) fn binary(&mut self, field: ThriftField) -> Result<&'a [u8]> {
        if field.kind != kind::BINARY {
            return Err(invalid("the type of a text"));
        }
        let len = usize::try_from(self.varint()?).map_err(|_| invalid("the length of a text"))?;
        let end = self.at.checked_add(len).ok_or_else(truncated)?;
        let bytes = self.bytes.get(self.at..end).ok_or_else(truncated)?;
        self.at = end;
        Ok(bytes)
    }

    /// Reads a list: `take` reads each element.
    ///
    /// # Errors
    /// As [`structure`](Self::structure).
    pub(super) fn list(
        &mut self,
        field: ThriftField,
        mut take: impl FnMut(&mut Self, ThriftField) -> Result<()>,
    ) -> Result<()> {
        if !matches!(field.kind, kind::LIST | kind::SET) {
            return Err(invalid("the type of a list"));
        }
        let (len, element) = self.list_head()?;
        for _ in 0..len {
            take(self, element)?;
        }
        Ok(())
    }

    /// Number and type of the elements of a list. Each takes at least one byte.
    fn list_head(&mut self) -> Result<(usize, ThriftField)> {
        let head = self.byte()?;
        let len = match head >> 4 {
            15 => usize::try_from(self.varint()?).map_err(|_| invalid("the length of a list"))?,
            len => usize::from(len),
        };
        if len > self.bytes.len().saturating_sub(self.at) {
            return Err(truncated());
        }
        Ok((len, ThriftField { id: 0, kind: head & 15 }))
    }

    /// Skips the value of a field.
    ///
    /// # Errors
    /// `Malformed`.
    pub(super) fn skip(&mut self, field: ThriftField) -> Result<()> {
        self.skip_nested(field, 0)
    }

    fn skip_nested(&mut self, field: ThriftField, depth: u32) -> Result<()> {
        if depth > MAX_DEPTH {
            return Err(invalid("the nesting of a structure"));
        }
        match field.kind {
            kind::TRUE | kind::FALSE => Ok(()),
            kind::BYTE => self.byte().map(|_| ()),
            4..=6 => self.varint().map(|_| ()),
            kind::DOUBLE => (0..8).try_for_each(|_| self.byte().map(|_| ())),
            kind::BINARY => self.binary(field).map(|_| ()),
            kind::LIST | kind::SET => {
                let (len, element) = self.list_head()?;
                (0..len).try_for_each(|_| self.skip_element(element, depth))
            }
            kind::MAP => self.skip_map(depth),
            kind::STRUCT => self.structure(|reader, field| reader.skip_nested(field, depth + 1)),
            _ => Err(invalid("the type of a field")),
        }
    }

    /// Booleans have a byte of their own in lists.
    fn skip_element(&mut self, element: ThriftField, depth: u32) -> Result<()> {
        match element.kind {
            kind::TRUE | kind::FALSE => self.byte().map(|_| ()),
            _ => self.skip_nested(element, depth + 1),
        }
    }

    fn skip_map(&mut self, depth: u32) -> Result<()> {
        let len = usize::try_from(self.varint()?).map_err(|_| invalid("the length of a map"))?;
        if len == 0 {
            return Ok(());
        }
        if len > self.bytes.len().saturating_sub(self.at) {
            return Err(truncated());
        }
        let kinds = self.byte()?;
        for _ in 0..len {
            self.skip_element(ThriftField { id: 0, kind: kinds >> 4 }, depth)?;
            self.skip_element(ThriftField { id: 0, kind: kinds & 15 }, depth)?;
        }
        Ok(())
    }

    fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.at).ok_or_else(truncated)?;
        self.at += 1;
        Ok(byte)
    }

    fn varint(&mut self) -> Result<u64> {
        let mut value = 0u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            value |= u64::from(byte & 127) << shift;
            if byte < 128 {
                return Ok(value);
            }
        }
        Err(invalid("an integer"))
    }

    fn zigzag(&mut self) -> Result<i64> {
        let value = self.varint()?;
        Ok((value >> 1) as i64 ^ -((value & 1) as i64))
    }
}

/// Writes structures. The caller writes fields in ascending order and ends each structure.
#[derive(Debug, Default)]
pub(super) struct ThriftWriter {
    bytes: Vec<u8>,
    /// The last number of a field, for each open structure.
    last: Vec<i16>,
}

impl ThriftWriter {
    /// A writer with one open structure.
    pub(super) fn new() -> Self {
        Self { bytes: Vec::new(), last: vec![0] }
    }

    /// Ends the outermost structure.
    pub(super) fn finish(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }

    fn head(&mut self, id: i16, kind: u8) {
        let last = self.last.last_mut();
        let step = last.map_or(id, |last| id - std::mem::replace(last, id));
        match u8::try_from(step).ok().filter(|step| (1..16).contains(step)) {
            Some(step) => self.bytes.push(step << 4 | kind),
            None => {
                self.bytes.push(kind);
                self.zigzag(i64::from(id));
            }
        }
    }

    pub(super) fn i32(&mut self, id: i16, value: i64) {
        self.head(id, kind::I32);
        self.zigzag(value);
    }

    pub(super) fn i64(&mut self, id: i16, value: u64) {
        self.head(id, kind::I64);
        self.zigzag(value as i64);
    }

    pub(super) fn text(&mut self, id: i16, text: &str) {
        self.head(id, kind::BINARY);
        self.text_element(text);
    }

    pub(super) fn begin_structure(&mut self, id: i16) {
        self.head(id, kind::STRUCT);
        self.last.push(0);
    }

    /// Begins a structure that is an element of a list.
    pub(super) fn begin_element(&mut self) {
        self.last.push(0);
    }

    pub(super) fn end_structure(&mut self) {
        self.bytes.push(0);
        self.last.pop();
    }

    /// Begins a list of `len` elements of a type.
    pub(super) fn begin_list(&mut self, id: i16, element: u8, len: usize) {
        self.head(id, kind::LIST);
        match u8::try_from(len).ok().filter(|len| *len < 15) {
            Some(len) => self.bytes.push(len << 4 | element),
            None => {
                self.bytes.push(0xf0 | element);
                self.varint(len as u64);
            }
        }
    }

    pub(super) fn i32_element(&mut self, value: i64) {
        self.zigzag(value);
    }

    pub(super) fn text_element(&mut self, text: &str) {
        self.varint(text.len() as u64);
        self.bytes.extend_from_slice(text.as_bytes());
    }

    fn zigzag(&mut self, value: i64) {
        self.varint((value << 1 ^ value >> 63) as u64);
    }

    fn varint(&mut self, mut value: u64) {
        while value > 127 {
            self.bytes.push((value & 127) as u8 | 128);
            value >>= 7;
        }
        self.bytes.push((value & 127) as u8);
    }
}

fn truncated() -> Error {
    Error::malformed("the metadata of the Parquet file are truncated")
}

fn invalid(what: &str) -> Error {
    Error::malformed(format!("{what} in the metadata of the Parquet file is invalid"))
}
