//! Structures of the library that programs hold by pointer: lists of pointers, whose fields the macros of programs read, and
//! addresses of datasets in parts, which they only pass back.
use super::answers::returned_as;
use super::blocks::{address_in, allocated, free_address};
use super::roles::{passed_as, store};
use super::{BytesOut, CArgument, CPassed, In, NoAnswer, free_address as free_block};
use crate::c_types::codes::{Code, NC_EINVAL, Outcome};
use crate::c_types::compound_draft::CompoundDraft;
use ncirrus::netcdf::UriParts;
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

/// A list that the program holds; may be null.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ListHandle(*mut CList);

passed_as!(ListHandle, *mut CList, "NClist *");

returned_as! {
    ListHandle: *mut CList, "NClist *", |list| list.0, Self(std::ptr::null_mut());
    KeptPointer: *mut c_void, "void *", |kept| kept.raw(), Self(0);
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
        BytesOut::at_address(list.items).as_bytes().addresses(list.len).ok()
    }

    /// Replaces the items; false for a null list and if there is no memory.
    pub(crate) fn replace(self, items: &[usize]) -> bool {
        // SAFETY: null, or a list that `empty` made, and this call alone uses it.
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

passed_as!(KeptPointer, *mut c_void, "void *", |raw: *mut c_void| Self(raw.expose_provenance()));

impl CPassed for KeptPointer {
    fn raw(self) -> *mut c_void {
        std::ptr::with_exposed_provenance_mut(self.0)
    }
}

/// A parsed address that the program holds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UriHandle(*mut UriParts);

/// Memory of the program for a parsed address.
#[derive(Debug, Clone, Copy)]
pub(crate) struct UriOut(*mut *mut UriParts);

passed_as!(UriHandle, *mut UriParts, "NCURI *");

passed_as!(UriOut, *mut *mut UriParts, "NCURI **");

impl UriHandle {
    /// The parts, to be read or changed.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn parts(&mut self) -> Outcome<&mut UriParts> {
        // SAFETY: null, or what `UriOut::set` handed out and `free` has not ended; this call alone uses it.
        unsafe { self.0.as_mut() }.ok_or(Code(NC_EINVAL))
    }

    /// Ends it.
    pub(crate) fn free(self) -> NoAnswer {
        if !self.0.is_null() {
            // SAFETY: what `UriOut::set` handed out; the program passes it here once.
            drop(unsafe { Box::from_raw(self.0) });
        }
        NoAnswer
    }
}

impl UriOut {
    /// Hands out the parts, or null for none.
    pub(crate) fn set(self, parts: Option<UriParts>) {
        if !self.0.is_null() {
            store(self.0, parts.map_or(std::ptr::null_mut(), |parts| Box::into_raw(Box::new(parts))));
        }
    }
}

/// Memory of the program for an address that the library hands out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AddressOut(*mut *mut c_void);

passed_as!(AddressOut, *mut *mut c_void, "void **");

impl AddressOut {
    /// Whether the address is not wanted.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The first `len` addresses of an array of the program.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn addresses(self, len: usize) -> Outcome<Vec<usize>> {
        BytesOut::at_address(self.0.expose_provenance()).as_bytes().addresses(len)
    }

    /// Stores an address, unless the caller does not want it.
    pub(crate) fn set(self, address: usize) {
        store(self.0, std::ptr::with_exposed_provenance_mut(address));
    }
}

/// As [`AddressOut`], where C names what is at the address.
macro_rules! typed_addresses {
    ($($(#[$doc:meta])* $role:ident = $c:literal;)*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Copy)]
        pub(crate) struct $role(AddressOut);

        passed_as!($role, *mut *mut c_void, $c, |raw| Self(AddressOut(raw)));

        impl $role {
            /// The memory, whatever is at the address.
            pub(crate) fn untyped(self) -> AddressOut {
                self.0
            }
        }
    )*};
}

typed_addresses! {
    /// Memory of the program for the address of numbers.
    WordsOut = "unsigned int **";
    /// Memory of the program for the address of a list of filters.
    FilterListOut = "struct NC_H5_Filterspec ***";
    /// Addresses of starts or counts that the program passes.
    StartsIn = "const size_t *const *";
    /// Addresses that the program passes.
    AddressesIn = "void *const *";
    /// Memory of the program for the address of texts.
    TextsOut = "char ***";
    /// Memory of the program for the address of UTF-16.
    ShortsOut = "unsigned short **";
}

/// Bytes of a file in the program's memory, and whether the library may replace them: `NC_memio`.
#[repr(C)]
#[derive(Debug, Clone, Copy)]
pub(crate) struct CMemoryFile {
    pub(crate) len: usize,
    pub(crate) address: usize,
    pub(crate) flags: std::ffi::c_int,
}

/// Such a structure of the program.
#[derive(Debug, Clone, Copy)]
pub(crate) struct MemoryFile(*mut CMemoryFile);

passed_as!(MemoryFile, *mut CMemoryFile, "NC_memio *");

impl MemoryFile {
    /// What it says; `None` for a null pointer.
    pub(crate) fn read(self) -> Option<CMemoryFile> {
        // SAFETY: null, or a structure of the program.
        unsafe { self.0.as_ref() }.copied()
    }

    /// Passes the program the address and length of bytes that it frees; without `flags` its own are kept.
    pub(crate) fn set(self, len: usize, address: usize, flags: Option<std::ffi::c_int>) {
        // SAFETY: null, or a structure of the program, which is used by this call alone.
        if let Some(file) = unsafe { self.0.as_mut() } {
            *file = CMemoryFile { len, address, flags: flags.unwrap_or(file.flags) };
        }
    }
}

/// A filter that the library handed out.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FilterSpecHandle(*mut c_void);

passed_as!(FilterSpecHandle, *mut c_void, "struct NC_H5_Filterspec *");

impl FilterSpecHandle {
    /// The address of its parameters, the last word of the structure; `None` for a null pointer.
    pub(crate) fn parameters(self, len: usize) -> Option<usize> {
        if self.0.is_null() {
            return None;
        }
        // A structure that `ncaux_h5filterspec_parselist` made, of this length.
        let image = In::<u8>::at_address(self.address());
        image.read(len).ok()?.get(len - size_of::<usize>()..).map(address_in)
    }

    pub(crate) fn address(self) -> usize {
        self.0.expose_provenance()
    }
}

/// A compound that a program makes field by field.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CompoundHandle(*mut CompoundDraft);

passed_as!(CompoundHandle, *mut c_void, "void *", |raw: *mut c_void| Self(raw.cast()));

impl CompoundHandle {
    /// Whether the handle is null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// The address under which a program holds it.
    pub(crate) fn lent(draft: CompoundDraft) -> usize {
        Box::into_raw(Box::new(draft)).expose_provenance()
    }

    /// What was gathered so far.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn draft(&mut self) -> Outcome<&mut CompoundDraft> {
        // SAFETY: null, or what `lent` handed out and `taken` has not ended; this call alone uses it.
        unsafe { self.0.as_mut() }.ok_or(Code(NC_EINVAL))
    }

    /// All that was gathered; the handle ends.
    ///
    /// # Errors
    /// `NC_EINVAL` for a null pointer.
    pub(crate) fn taken(self) -> Outcome<CompoundDraft> {
        if self.0.is_null() {
            return Err(Code(NC_EINVAL));
        }
        // SAFETY: what `lent` handed out; the program passes it here once.
        Ok(*unsafe { Box::from_raw(self.0) })
    }
}
