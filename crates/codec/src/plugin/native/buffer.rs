//! Memory of C's allocator, which plugins may free and replace.
use std::ffi::c_void;

/// Allocated memory that is freed with the value.
#[derive(Debug)]
pub(super) struct AllocatedBuffer {
    pub(super) pointer: *mut c_void,
    pub(super) byte_len: usize,
}

impl AllocatedBuffer {
    /// A copy of bytes; `None` if there is no memory.
    pub(super) fn copy_of(bytes: &[u8]) -> Option<Self> {
        let byte_len = bytes.len().max(1);
        // SAFETY: allocation has no preconditions.
        let pointer = unsafe { libc::malloc(byte_len) };
        if pointer.is_null() {
            return None;
        }
        // SAFETY: the memory is new and has room for the bytes.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), pointer.cast(), bytes.len()) };
        Some(Self { pointer, byte_len })
    }

    /// Memory that a plugin allocated, or null.
    pub(super) fn taken<T>(pointer: *mut T, byte_len: usize) -> Self {
        Self { pointer: pointer.cast(), byte_len }
    }
}

impl Drop for AllocatedBuffer {
    fn drop(&mut self) {
        // SAFETY: the pointer is null or memory of C's allocator that belongs to this value alone: plugins that free or
        // replace it put another pointer in its place.
        unsafe { libc::free(self.pointer) };
    }
}
