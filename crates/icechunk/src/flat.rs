//! Bounded reading of flatbuffers (docs/spec/icechunk-format.md, "Flatbuffers"): tables, vectors, strings and structs.
//!
//! Every position is checked against the buffer before it is read. Nothing is followed recursively and nothing is
//! copied, so a hostile buffer costs no more than its own bytes. Of a buffer in pages only numbers and texts are copied.
use crate::pages::Pages;
use ncirrus_layout::{Error, Result};
use std::borrow::Cow;

/// Most bytes that are copied at once out of a buffer in pages: a file gives the lengths of its vectors and texts.
const MAX_PART: usize = 24 << 20;

/// A buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) enum FlatBytes<'a> {
    Whole(&'a [u8]),
    Paged(&'a Pages),
}

/// A table in a buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlatTable<'a> {
    bytes: FlatBytes<'a>,
    /// Where the table begins.
    at: usize,
    /// Where the offsets of its fields are.
    vtable: usize,
    /// Number of fields that the vtable has.
    fields: usize,
}

/// A vector in a buffer whose elements have a fixed size.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FlatVector<'a> {
    bytes: FlatBytes<'a>,
    /// Where the first element is.
    at: usize,
    len: usize,
    /// Bytes of an element.
    size: usize,
}

impl<'a> FlatTable<'a> {
    /// The root of a buffer.
    ///
    /// # Errors
    /// `Malformed` if an offset leads out of the buffer, as for all functions here.
    pub(crate) fn root(bytes: &'a [u8]) -> Result<Self> {
        Self::root_of(FlatBytes::Whole(bytes))
    }

    /// The root of a buffer that may be in pages.
    ///
    /// # Errors
    /// As [`root`](Self::root).
    pub(crate) fn root_of(bytes: FlatBytes<'a>) -> Result<Self> {
        let at = word(bytes, 0)?;
        Self::at(bytes, at)
    }

    /// Number of bytes of the buffer.
    pub(crate) fn buffer_len(&self) -> usize {
        self.bytes.len()
    }

    fn at(bytes: FlatBytes<'a>, at: usize) -> Result<Self> {
        let back = i64::from(i32::from_le_bytes(take(bytes, at)?));
        let vtable = i64::try_from(at).ok().and_then(|at| usize::try_from(at - back).ok());
        let vtable = vtable.ok_or_else(|| outside(at))?;
        let len = usize::from(u16::from_le_bytes(take(bytes, vtable)?));
        if len < 4 || vtable.checked_add(len).is_none_or(|end| end > bytes.len()) {
            return Err(outside(vtable));
        }
        Ok(Self { bytes, at, vtable, fields: (len - 4) / 2 })
    }

    /// Where a field is; `None` if the table does not have it.
    fn field(&self, slot: usize) -> Result<Option<usize>> {
        if slot >= self.fields {
            return Ok(None);
        }
        let offset = usize::from(u16::from_le_bytes(take(self.bytes, self.vtable + 4 + 2 * slot)?));
        Ok((offset != 0).then_some(self.at.saturating_add(offset)))
    }

    fn number<const N: usize>(&self, slot: usize) -> Result<Option<[u8; N]>> {
        self.field(slot)?.map(|at| take(self.bytes, at)).transpose()
    }

    /// A number of one byte; 0 if absent.
    pub(crate) fn u8(&self, slot: usize) -> Result<u8> {
        Ok(self.number::<1>(slot)?.map_or(0, u8::from_le_bytes))
    }

    /// A number of four bytes; 0 if absent.
    pub(crate) fn u32(&self, slot: usize) -> Result<u32> {
        Ok(self.number(slot)?.map_or(0, u32::from_le_bytes))
    }

    /// A signed number of four bytes; 0 if absent.
    pub(crate) fn i32(&self, slot: usize) -> Result<i32> {
        Ok(self.number(slot)?.map_or(0, i32::from_le_bytes))
    }

    /// A number of eight bytes; 0 if absent.
    pub(crate) fn u64(&self, slot: usize) -> Result<u64> {
        Ok(self.number(slot)?.map_or(0, u64::from_le_bytes))
    }

    /// The bytes of a struct.
    pub(crate) fn inline<const N: usize>(&self, slot: usize) -> Result<Option<[u8; N]>> {
        self.number(slot)
    }

    /// Where an offset field leads.
    fn target(&self, slot: usize) -> Result<Option<usize>> {
        let Some(at) = self.field(slot)? else { return Ok(None) };
        let target = at.checked_add(word(self.bytes, at)?).filter(|target| *target < self.bytes.len());
        target.map(Some).ok_or_else(|| outside(at))
    }

    /// A table.
    pub(crate) fn table(&self, slot: usize) -> Result<Option<Self>> {
        self.target(slot)?.map(|at| Self::at(self.bytes, at)).transpose()
    }

    /// A vector of elements of that many bytes; empty if absent.
    pub(crate) fn vector(&self, slot: usize, size: usize) -> Result<FlatVector<'a>> {
        let empty = FlatVector { bytes: self.bytes, at: 0, len: 0, size };
        Ok(self.present_vector(slot, size)?.unwrap_or(empty))
    }

    /// As [`vector`](Self::vector); `None` if absent.
    pub(crate) fn present_vector(&self, slot: usize, size: usize) -> Result<Option<FlatVector<'a>>> {
        let Some(at) = self.target(slot)? else { return Ok(None) };
        let len = word(self.bytes, at)?;
        let end = len.checked_mul(size).and_then(|bytes| bytes.checked_add(at)?.checked_add(4));
        if end.is_none_or(|end| end > self.bytes.len()) {
            let message = format!("a list of {len} entries of {size} bytes leads out of the file");
            return Err(Error::malformed(message).at_offset(at as u64));
        }
        Ok(Some(FlatVector { bytes: self.bytes, at: at + 4, len, size }))
    }

    /// The bytes of a vector of bytes, or of a string, in a buffer that is whole; `None` if absent.
    pub(crate) fn bytes(&self, slot: usize) -> Result<Option<&'a [u8]>> {
        match self.any_bytes(slot)? {
            None => Ok(None),
            Some(Cow::Borrowed(bytes)) => Ok(Some(bytes)),
            Some(Cow::Owned(_)) => Err(Error::internal("bytes of pages are copied")),
        }
    }

    /// The bytes of a vector of bytes, or of a string, in any buffer; `None` if absent.
    pub(crate) fn any_bytes(&self, slot: usize) -> Result<Option<Cow<'a, [u8]>>> {
        let Some(vector) = self.present_vector(slot, 1)? else { return Ok(None) };
        self.bytes.part(vector.at, vector.len).map(Some)
    }

    /// A text in a buffer that is whole; `None` if absent.
    pub(crate) fn text(&self, slot: usize) -> Result<Option<&'a str>> {
        let Some(bytes) = self.bytes(slot)? else { return Ok(None) };
        std::str::from_utf8(bytes).map(Some).map_err(|_| not_text(bytes))
    }

    /// A text of at most `max` bytes in any buffer; `None` if absent.
    pub(crate) fn any_text(&self, slot: usize, max: usize) -> Result<Option<String>> {
        let Some(vector) = self.present_vector(slot, 1)? else { return Ok(None) };
        if vector.len > max {
            let message = format!("a text of {} bytes; at most {max} are read", vector.len);
            return Err(Error::limit(message).at_offset(vector.at as u64));
        }
        let bytes = self.bytes.part(vector.at, vector.len)?;
        std::str::from_utf8(&bytes).map(|text| Some(text.to_owned())).map_err(|_| not_text(&bytes))
    }
}

impl<'a> FlatVector<'a> {
    /// Number of elements.
    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The bytes of an element.
    pub(crate) fn element<const N: usize>(&self, index: usize) -> Result<[u8; N]> {
        let place = index.checked_mul(self.size).and_then(|offset| offset.checked_add(self.at));
        let place = place.filter(|_| index < self.len && N <= self.size);
        take(self.bytes, place.ok_or_else(|| outside(index))?)
    }

    /// A table, for a vector of offsets.
    pub(crate) fn table(&self, index: usize) -> Result<FlatTable<'a>> {
        let offset = u32::from_le_bytes(self.element(index)?);
        let from = self.at + index * self.size;
        let at = usize::try_from(offset).ok().and_then(|offset| from.checked_add(offset));
        FlatTable::at(self.bytes, at.ok_or_else(|| outside(from))?)
    }

    /// Where a text begins, for a vector of offsets, and its length.
    fn text_at(&self, index: usize) -> Result<(usize, usize)> {
        let offset = u32::from_le_bytes(self.element(index)?);
        let from = self.at + index * self.size;
        let at = usize::try_from(offset).ok().and_then(|offset| from.checked_add(offset));
        let at = at.ok_or_else(|| outside(from))?;
        let start = at.checked_add(4).ok_or_else(|| outside(at))?;
        Ok((start, word(self.bytes, at)?))
    }

    /// The length of a text in bytes, for a vector of offsets.
    pub(crate) fn text_len(&self, index: usize) -> Result<usize> {
        self.text_at(index).map(|(_, len)| len)
    }

    /// A text, for a vector of offsets.
    pub(crate) fn text(&self, index: usize) -> Result<String> {
        let (start, len) = self.text_at(index)?;
        let text = self.bytes.part(start, len)?;
        Ok(String::from_utf8_lossy(&text).into_owned())
    }

    /// All tables, for a vector of offsets.
    pub(crate) fn tables(self) -> impl Iterator<Item = Result<FlatTable<'a>>> {
        (0..self.len).map(move |index| self.table(index))
    }
}

impl<'a> FlatBytes<'a> {
    fn len(self) -> usize {
        match self {
            Self::Whole(bytes) => bytes.len(),
            Self::Paged(pages) => pages.len(),
        }
    }

    fn part(self, at: usize, len: usize) -> Result<Cow<'a, [u8]>> {
        let end = at.checked_add(len).filter(|end| *end <= self.len()).ok_or_else(|| outside(at))?;
        match self {
            Self::Whole(bytes) => bytes.get(at..end).map(Cow::Borrowed).ok_or_else(|| outside(at)),
            Self::Paged(pages) => {
                if len > MAX_PART {
                    let message = format!(
                        "a vector or text of {len} bytes in a long file; at most {MAX_PART} bytes are read"
                    );
                    return Err(Error::limit(message).at_offset(at as u64));
                }
                let mut out = vec![0; len];
                pages.copy(at, &mut out)?.ok_or_else(|| outside(at))?;
                Ok(Cow::Owned(out))
            }
        }
    }
}

fn not_text(bytes: &[u8]) -> Error {
    let shown = String::from_utf8_lossy(bytes.get(..60).unwrap_or(bytes)).into_owned();
    Error::malformed(format!("the text {shown:?} is not UTF-8"))
}

fn word(bytes: FlatBytes<'_>, at: usize) -> Result<usize> {
    usize::try_from(u32::from_le_bytes(take(bytes, at)?)).map_err(|_| outside(at))
}

fn take<const N: usize>(bytes: FlatBytes<'_>, at: usize) -> Result<[u8; N]> {
    let found = match bytes {
        FlatBytes::Whole(bytes) => at.checked_add(N).and_then(|end| bytes.get(at..end)?.try_into().ok()),
        FlatBytes::Paged(pages) => {
            let mut out = [0; N];
            pages.copy(at, &mut out)?.map(|()| out)
        }
    };
    found.ok_or_else(|| outside(at))
}

fn outside(at: usize) -> Error {
    Error::malformed("an offset leads out of the file").at_offset(at as u64)
}
