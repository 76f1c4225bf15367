//! Structures whose fields programs read and write: lists of texts, and buffers of bytes that grow.
use super::answers::returned_as;
use super::blocks::{CBlock, allocated, allocated_text, free_address};
use super::roles::passed_as;
use super::{Bytes, BytesOut, CArgument, CPassed, CText, NameOut, NoAnswer};
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use std::ffi::{c_int, c_ulong};

/// A list of texts as programs see it: `NCPluginList`.
#[repr(C)]
#[derive(Debug, Default)]
pub(crate) struct CTextList {
    len: usize,
    /// The address of the addresses of the texts.
    pub(super) items: usize,
}

/// Such a list of the program; may be null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextList(*mut CTextList);

passed_as!(TextList, *mut CTextList, "NCPluginList *");

/// Such a list that is only read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct TextListIn(TextList);

passed_as!(TextListIn, *const CTextList, "const NCPluginList *", |raw: *const CTextList| Self(TextList(
    raw.cast_mut()
)));

impl TextListIn {
    /// As [`TextList::texts`].
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn texts(self) -> Outcome<Vec<Vec<u8>>> {
        self.0.texts()
    }
}

impl TextList {
    /// Whether the caller passed a null pointer.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address of the list.
    pub(crate) fn address(self) -> usize {
        self.0.expose_provenance()
    }

    fn addresses(self) -> Outcome<Vec<usize>> {
        // SAFETY: null, or a structure of the program.
        let list = unsafe { self.0.as_ref() }.ok_or(Code(NC_EINVAL))?;
        BytesOut::at_address(list.items).as_bytes().addresses(list.len)
    }

    /// The texts; a null one is empty.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer, and for texts without a place.
    pub(crate) fn texts(self) -> Outcome<Vec<Vec<u8>>> {
        let text = |address: usize| CBlock::at(&address.to_ne_bytes()).text().unwrap_or_default();
        Ok(self.addresses()?.into_iter().map(text).collect())
    }

    /// Frees the texts and their addresses; the list is empty then.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer, and for texts without a place.
    pub(crate) fn clear(self) -> Outcome<()> {
        self.addresses()?.into_iter().for_each(free_address);
        // SAFETY: null, or a structure of the program, which is used by this call alone.
        let list = unsafe { self.0.as_mut() }.ok_or(Code(NC_EINVAL))?;
        free_address(list.items);
        (list.len, list.items) = (0, 0);
        Ok(())
    }

    /// Stores copies of texts, which the program frees: in the list's own array if it has one, which is long enough then.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer, `NC_ENOMEM`.
    pub(crate) fn set(self, texts: &[Vec<u8>]) -> Outcome<()> {
        if self.is_null() {
            return Err(Code(NC_EINVAL));
        }
        let mut image = Vec::new();
        for text in texts {
            image.extend(allocated_text(text)?.to_ne_bytes());
        }
        // SAFETY: null, or a structure of the program, which is used by this call alone.
        let list = unsafe { self.0.as_mut() }.ok_or(Code(NC_EINVAL))?;
        list.len = texts.len();
        if list.items == 0 {
            list.items = allocated(&image)?;
            return Ok(());
        }
        BytesOut::at_address(list.items).write(&image)
    }
}

impl CText {
    /// The first bytes, which need no NUL after them.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn first(self, len: usize) -> Outcome<Vec<u8>> {
        // SAFETY: null, or text of the program, which says how long it is.
        let bytes = unsafe { Bytes::from_raw(self.raw().cast()) };
        Ok(bytes.read(len)?.to_vec())
    }
}

impl NameOut {
    /// The memory, for text whose length the program says.
    pub(crate) fn as_bytes(self) -> BytesOut {
        // SAFETY: the same memory in another role, with the same duty of the caller.
        unsafe { BytesOut::from_raw(self.raw().cast()) }
    }
}

/// A buffer of bytes as programs see it: `NCbytes`.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct CByteBuffer {
    is_fixed: c_int,
    capacity: c_ulong,
    len: c_ulong,
    content: usize,
}

/// Such a buffer that the program holds; may be null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ByteBuffer(*mut CByteBuffer);

passed_as!(ByteBuffer, *mut CByteBuffer, "NCbytes *");

returned_as! {
    ByteBuffer: *mut CByteBuffer, "NCbytes *", |buffer| buffer.0, Self(std::ptr::null_mut());
}

impl ByteBuffer {
    /// A new, empty buffer; null if there is no memory.
    pub(crate) fn empty() -> Self {
        let address = allocated(&[0; size_of::<CByteBuffer>()]).unwrap_or(0);
        Self(std::ptr::with_exposed_provenance_mut(address))
    }

    /// Appends bytes, followed by a NUL that is not counted.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer and a buffer that must not grow, `NC_ENOMEM`.
    pub(crate) fn append(self, bytes: &[u8]) -> Outcome<()> {
        // SAFETY: null, or a buffer that `empty` made, and this call alone uses it.
        let buffer = unsafe { self.0.as_mut() }.ok_or(Code(NC_EINVAL))?;
        if buffer.is_fixed != 0 {
            return Err(Code(NC_EINVAL));
        }
        let len = usize::try_from(buffer.len).map_err(|_| Code(NC_EINVAL))?;
        let mut image = CBlock::at(&buffer.content.to_ne_bytes()).bytes(len)?;
        image.extend_from_slice(bytes);
        image.push(0);
        let block = allocated(&image)?;
        free_address(buffer.content);
        let count = |len: usize| c_ulong::try_from(len).unwrap_or(c_ulong::MAX);
        (buffer.content, buffer.len, buffer.capacity) = (block, count(image.len() - 1), count(image.len()));
        Ok(())
    }

    /// Takes the bytes out: the program frees them. 0 if there are none.
    pub(crate) fn take(self) -> usize {
        // SAFETY: as in `append`.
        let Some(buffer) = (unsafe { self.0.as_mut() }) else { return 0 };
        (buffer.len, buffer.capacity) = (0, 0);
        std::mem::take(&mut buffer.content)
    }

    /// Frees the buffer with its bytes.
    pub(crate) fn free(self) -> NoAnswer {
        free_address(self.take());
        free_address(self.0.expose_provenance());
        NoAnswer
    }
}
