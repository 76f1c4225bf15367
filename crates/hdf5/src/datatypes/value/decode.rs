//! Decoding columns of values of any datatype.
use super::native::{flattened, len_of};
use super::{heaped, number, reference};
use crate::address::FileAddress;
use crate::datatypes::{Datatype, DatatypeClass, StringPadding};
use crate::file::Hdf5File;
use ncirrus_layout::{Error, Result, Step, View, join};
use ncirrus_model::{Strings, Values};
use std::cell::Cell;
use std::collections::HashMap;

/// Decodes elements of one file.
pub(super) struct ValueDecoder<'a> {
    pub(super) view: &'a dyn View,
    pub(super) file: &'a Hdf5File,
    pub(super) paths: &'a HashMap<FileAddress, String>,
    /// Remaining budget for copied bytes: elements can all refer to one large object of a heap.
    left: Cell<u64>,
}

impl<'a> ValueDecoder<'a> {
    pub(super) fn new(
        view: &'a dyn View,
        file: &'a Hdf5File,
        paths: &'a HashMap<FileAddress, String>,
    ) -> Self {
        let left = Cell::new(view.limits().chunk_bytes.max(file.size));
        Self { view, file, paths, left }
    }

    /// The values of all elements in `raw`, which is a multiple of their length. The parser of datatypes limits the
    /// nesting of types.
    pub(super) fn column(&self, datatype: &Datatype, raw: &[u8]) -> Step<Values> {
        let len = len_of(datatype)?;
        Ok(match &datatype.class {
            DatatypeClass::Integer(bits) | DatatypeClass::BitField(bits) => {
                number::integers(raw, len, *bits)?
            }
            DatatypeClass::Float(format) => number::floats(raw, len, format)?,
            DatatypeClass::Enum { base, .. } => self.column(base, raw)?,
            DatatypeClass::Text(_) if len == 1 => Values::Char(raw.to_vec()),
            DatatypeClass::Text(padding) => Values::String(fixed_texts(raw, len, *padding)),
            DatatypeClass::VlenText(_) => Values::String(self.texts(datatype, raw)?),
            DatatypeClass::Opaque => Values::Opaque { size: len, bytes: raw.to_vec() },
            DatatypeClass::Array { .. } => self.column(flattened(datatype).0, raw)?,
            DatatypeClass::Compound(members) => {
                let fields =
                    join(members.iter(), |member| self.member(&member.datatype, member.offset, raw, len));
                Values::Compound { len: raw.len() / len, fields: fields? }
            }
            DatatypeClass::Complex(base) => {
                let fields = join([0, base.byte_len], |offset| self.member(base, offset, raw, len));
                Values::Compound { len: raw.len() / len, fields: fields? }
            }
            DatatypeClass::Vlen(base) => self.sequences(datatype, base, raw)?,
            DatatypeClass::Reference(kind) => Values::String(reference::texts(self, *kind, raw, len)?),
            DatatypeClass::Time => return Err(Error::unsupported("time datatypes (class 2)").into()),
        })
    }

    /// The column of one member of compounds of `whole` bytes.
    fn member(&self, datatype: &Datatype, offset: u64, raw: &[u8], whole: usize) -> Step<Values> {
        let len = len_of(datatype)?;
        if len == whole {
            return self.column(datatype, raw);
        }
        let range = usize::try_from(offset).ok().and_then(|start| Some(start..start.checked_add(len)?));
        let range = range.ok_or_else(|| Error::limit(format!("a member at byte {offset}")))?;
        let held = (raw.len() / whole).saturating_mul(len);
        self.hold(held)?;
        let mut bytes = Vec::with_capacity(held);
        for element in raw.chunks_exact(whole) {
            bytes.extend_from_slice(element.get(range.clone()).ok_or_else(|| outside(offset, whole))?);
        }
        let values = self.column(datatype, &bytes);
        self.left.set(self.left.get().saturating_add(held as u64));
        values
    }

    fn texts(&self, datatype: &Datatype, raw: &[u8]) -> Step<Strings> {
        let mut strings = Strings::new();
        for text in heaped::texts(self.view, self.file, datatype, raw)? {
            // The length is that of the text, or of the text with its NUL.
            let text = text.as_deref().map(|text| without(text, 0));
            self.hold(text.map_or(0, <[u8]>::len))?;
            strings.push(text);
        }
        Ok(strings)
    }

    fn sequences(&self, datatype: &Datatype, base: &Datatype, raw: &[u8]) -> Step<Values> {
        let each = len_of(base)?;
        let parts = heaped::sequences(self.view, self.file, datatype, base, raw)?;
        let mut bytes = Vec::new();
        let mut ends = Vec::with_capacity(parts.len());
        for part in parts {
            self.hold(part.len())?;
            bytes.extend_from_slice(&part);
            ends.push(bytes.len() / each);
        }
        Ok(Values::Vlen { ends, elements: Box::new(self.column(base, &bytes)?) })
    }

    /// Takes bytes from the remaining budget.
    pub(super) fn hold(&self, len: usize) -> Result<()> {
        let left = self.left.get().checked_sub(len as u64);
        self.left.set(
            left.ok_or_else(|| Error::limit("more variable-length data than the limit on chunks allows"))?,
        );
        Ok(())
    }
}

/// Text of fixed length without its padding. NUL-terminated text may fill its space completely.
fn fixed_texts(raw: &[u8], len: usize, padding: StringPadding) -> Strings {
    let mut strings = Strings::new();
    for cell in raw.chunks_exact(len) {
        strings.push(Some(match padding {
            StringPadding::NulTerminated => before_nul(cell),
            StringPadding::NulPadded => without(cell, 0),
            StringPadding::SpacePadded => without(cell, b' '),
        }));
    }
    strings
}

fn before_nul(text: &[u8]) -> &[u8] {
    text.split(|byte| *byte == 0).next().unwrap_or_default()
}

/// The text without this padding at its end.
fn without(mut text: &[u8], padding: u8) -> &[u8] {
    while let Some(shorter) = text.strip_suffix(&[padding]) {
        text = shorter;
    }
    text
}

fn outside(offset: u64, whole: usize) -> Error {
    Error::malformed(format!("a member at byte {offset} of a compound of {whole} bytes"))
}
