//! Calls of filter functions.
use super::abi::{FilterFn, OPTIONAL, REVERSE};
use super::buffer::AllocatedBuffer;
use super::shared::LibraryLock;

/// A filter function of a loaded library.
#[derive(Debug, Clone)]
pub(in crate::plugin) struct NativeFilter {
    /// Its HDF5 number.
    pub(in crate::plugin) id: u32,
    /// Its own name for itself.
    pub(in crate::plugin) name: String,
    pub(in crate::plugin) encodes: bool,
    pub(in crate::plugin) decodes: bool,
    /// Whether it completes its parameters through HDF5's handles, which do not exist here.
    pub(in crate::plugin) sets_local: bool,
    pub(super) function: FilterFn,
    pub(super) shared: LibraryLock,
}

/// The arguments of a call of a filter function.
#[derive(Debug, Clone, Copy)]
pub(in crate::plugin) struct FilterCall<'a> {
    pub(in crate::plugin) decode: bool,
    /// Whether the filter may be skipped for a chunk.
    pub(in crate::plugin) optional: bool,
    /// Whether other threads may be inside the library at the same time.
    pub(in crate::plugin) concurrent: bool,
    /// Working parameters.
    pub(in crate::plugin) parameters: &'a [u32],
}

impl NativeFilter {
    /// Runs the filter on a copy of the bytes, and passes its output to `take`.
    ///
    /// # Errors
    /// Why there is no output.
    pub(in crate::plugin) fn run<T>(
        &self,
        call: FilterCall,
        input: &[u8],
        take: impl FnOnce(&[u8]) -> T,
    ) -> Result<T, String> {
        let buffer = AllocatedBuffer::copy_of(input);
        let mut buffer = buffer.ok_or_else(|| format!("no memory for {} bytes", input.len()))?;
        let flags = if call.decode { REVERSE } else { 0 } | if call.optional { OPTIONAL } else { 0 };
        // Some filters write to their parameters, although they promise not to.
        let parameters = call.parameters.to_vec();
        let running = (!call.concurrent).then(|| self.shared.lock());
        // SAFETY: the function is a filter according to the library; parameters and buffer are as HDF5 passes them, the
        // buffer comes from C's allocator, and nothing else refers to it.
        let len = unsafe {
            (self.function)(
                flags,
                parameters.len(),
                parameters.as_ptr(),
                input.len(),
                &raw mut buffer.byte_len,
                &raw mut buffer.pointer,
            )
        };
        drop(running);
        let verb = if call.decode { "decode" } else { "encode" };
        if len == 0 || buffer.pointer.is_null() {
            return Err(format!("could not {verb} {} bytes", input.len()));
        }
        if len > buffer.byte_len {
            return Err(format!("returned {len} bytes in a buffer of {}", buffer.byte_len));
        }
        // SAFETY: the filter says that the buffer has `byte_len` bytes, and that it wrote the first `len`.
        Ok(take(unsafe { std::slice::from_raw_parts(buffer.pointer.cast::<u8>(), len) }))
    }
}
