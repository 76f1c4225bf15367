//! Structures of the library that programs hold by pointer: lists of pointers, whose fields the macros of programs read, and
//! addresses of datasets in parts, which they only pass back.
use super::blocks::{address_in, allocated, free_address};
use super::{Bytes, CArgument, CReturn, free_address as free_block};
use crate::codes::{Code, NC_EINVAL, Outcome};
use crate::uri::UriParts;
use std::ffi::c_void;

/// A list of pointers as programs see it.
#[repr(C)]
#[derive(Debug)]
pub(crate) struct CList {
    capacity: usize,
    len: usize,
    /// The address of `capacity` addresses.
    items: usize,
}

/// A list that the program holds; null is no list.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListHandle(*mut CList);

impl CArgument for ListHandle {
    type Raw = *mut CList;
    fn c_type() -> String {
        "NClist *".to_owned()
    }
    unsafe fn from_raw(raw: *mut CList) -> Self {
        Self(raw)
    }
}

impl CReturn for ListHandle {
    type Raw = *mut CList;
    fn c_type() -> String {
        "NClist *".to_owned()
    }
    fn into_raw(self) -> *mut CList {
        self.0
    }
    fn panicked() -> Self {
        Self(std::ptr::null_mut())
    }
}

impl ListHandle {
    /// A new, empty list; null if there is no memory.
    pub(crate) fn empty() -> Self {
        let image = [0; size_of::<CList>()];
        let address = allocated(&image).unwrap_or(0);
        Self(std::ptr::with_exposed_provenance_mut(address))
    }

    /// The items; `None` for a null list.
    pub(crate) fn items(self) -> Option<Vec<usize>> {
        // SAFETY: null, or a list that `empty` made and the program passes back.
        let list = unsafe { self.0.as_ref() }?;
        let pointer: *const c_void = std::ptr::with_exposed_provenance(list.items);
        // SAFETY: the list's own block, which holds `capacity` addresses, at least `len`.
        let bytes = unsafe { Bytes::from_raw(pointer) };
        let bytes = bytes.read(list.len.checked_mul(size_of::<usize>())?).ok()?;
        Some(bytes.chunks_exact(size_of::<usize>()).map(address_in).collect())
    }

    /// Replaces the items; false for a null list and if there is no memory.
    pub(crate) fn replace(self, items: &[usize]) -> bool {
        // SAFETY: null, or a list that `empty` made, and nobody else uses it during the call.
        let Some(list) = (unsafe { self.0.as_mut() }) else { return false };
        let image: Vec<u8> = items.iter().flat_map(|item| item.to_ne_bytes()).collect();
        let Ok(block) = allocated(&image) else { return false };
        free_address(list.items);
        (list.items, list.len, list.capacity) = (block, items.len(), items.len());
        true
    }

    /// Frees the list, not what its items refer to.
    pub(crate) fn free(self) {
        self.replace(&[]);
        free_block(self.0.expose_provenance());
    }
}

/// A pointer of the program that is only kept.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeptPointer(pub(crate) usize);

impl CArgument for KeptPointer {
    type Raw = *mut c_void;
    fn c_type() -> String {
        "void *".to_owned()
    }
    unsafe fn from_raw(raw: *mut c_void) -> Self {
        Self(raw.expose_provenance())
    }
}

impl CReturn for KeptPointer {
    type Raw = *mut c_void;
    fn c_type() -> String {
        "void *".to_owned()
    }
    fn into_raw(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
    fn panicked() -> Self {
        Self(0)
    }
}

/// A parsed address that the program holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UriHandle(*mut UriParts);

/// Memory of the program for a parsed address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UriOut(*mut *mut UriParts);

impl CArgument for UriHandle {
    type Raw = *mut UriParts;
    fn c_type() -> String {
        "NCURI *".to_owned()
    }
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        Self(raw)
    }
}

impl CArgument for UriOut {
    type Raw = *mut *mut UriParts;
    fn c_type() -> String {
        "NCURI **".to_owned()
    }
    unsafe fn from_raw(raw: Self::Raw) -> Self {
        Self(raw)
    }
}

impl UriHandle {
    /// The parts, to be read or changed.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn parts(&mut self) -> Outcome<&mut UriParts> {
        // SAFETY: null, or what `UriOut::set` handed out and `free` has not ended; nobody else uses it during the call.
        unsafe { self.0.as_mut() }.ok_or(Code(NC_EINVAL))
    }

    /// Ends it.
    pub(crate) fn free(self) {
        if !self.0.is_null() {
            // SAFETY: what `UriOut::set` handed out; the program passes it here once.
            drop(unsafe { Box::from_raw(self.0) });
        }
    }
}

impl UriOut {
    /// Hands out the parts, or null for none.
    pub(crate) fn set(self, parts: Option<UriParts>) {
        if !self.0.is_null() {
            let pointer = parts.map_or(std::ptr::null_mut(), |parts| Box::into_raw(Box::new(parts)));
            // SAFETY: not null, so it has room for a pointer.
            unsafe { self.0.write(pointer) };
        }
    }
}
