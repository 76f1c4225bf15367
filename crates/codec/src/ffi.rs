//! Calls into C-Blosc and LZ4, the only codec libraries here without a safe interface.
use std::ffi::{CStr, c_int};

/// The contents of the 16-byte header of a Blosc buffer.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BloscHeader {
    pub(crate) type_size: usize,
    pub(crate) decoded_len: usize,
    pub(crate) block_len: usize,
}

/// A whole Blosc buffer whose header matches its length.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BloscBuffer<'a> {
    bytes: &'a [u8],
    pub(crate) header: BloscHeader,
}

/// How to compress.
#[derive(Debug, Clone, Copy)]
pub(crate) struct BloscOptions {
    pub(crate) level: c_int,
    pub(crate) shuffle: c_int,
    pub(crate) type_size: usize,
    pub(crate) compressor: &'static CStr,
    pub(crate) block_len: usize,
}

/// Maximum number of bytes that one buffer can hold.
pub(crate) const BLOSC_MAX_LEN: usize = blosc_src::BLOSC_MAX_BUFFERSIZE as usize;
/// Maximum number of bytes by which a buffer is longer than its contents.
pub(crate) const BLOSC_OVERHEAD: usize = blosc_src::BLOSC_MAX_OVERHEAD as usize;

/// Smaller allocations do not fail, or abort the process anyway.
const LARGE: usize = 1 << 24;

impl<'a> BloscBuffer<'a> {
    /// Checks the header; bytes after the buffer are cut off.
    pub(crate) fn new(input: &'a [u8]) -> Option<Self> {
        let word = |at: usize| input.get(at..)?.first_chunk::<4>().map(|bytes| u32::from_le_bytes(*bytes));
        let len = |at: usize| word(at).and_then(|word| usize::try_from(word).ok());
        let (decoded_len, block_len, encoded_len) = (len(4)?, len(8)?, len(12)?);
        let type_size = usize::from(*input.get(3)?);
        let bytes = input.get(..encoded_len)?;
        let mut validated = 0;
        // SAFETY: `bytes` is readable for its length, `validated` is writable; the function reads no more than the
        // header, and only when the length covers it.
        let verdict =
            unsafe { blosc_src::blosc_cbuffer_validate(bytes.as_ptr().cast(), bytes.len(), &mut validated) };
        // Blocks that are longer than the content are not reliably supported by the library.
        let sound = verdict == 0 && validated == decoded_len && block_len <= decoded_len.max(1);
        sound.then_some(Self { bytes, header: BloscHeader { type_size, decoded_len, block_len } })
    }

    /// Decodes everything into `out`, which must have room for it; returns the number of bytes.
    pub(crate) fn decode(&self, out: &mut [u8]) -> Option<usize> {
        if out.len() < self.header.decoded_len || !self.has_room() {
            return None;
        }
        // SAFETY: the buffer was validated in `new`, so the library reads only within it, and `has_room` checked that
        // it can allocate; it writes at most `out.len()` bytes at `out`, which is exclusively borrowed and does not
        // overlap the input.
        let len = unsafe {
            blosc_src::blosc_decompress_ctx(self.bytes.as_ptr().cast(), out.as_mut_ptr().cast(), out.len(), 1)
        };
        usize::try_from(len).ok().filter(|&len| len == self.header.decoded_len)
    }

    /// Whether there is memory for the three blocks that the library allocates without checking.
    fn has_room(&self) -> bool {
        let len = self.header.block_len.saturating_mul(3).saturating_add(4 * 256);
        len < LARGE || Vec::<u8>::new().try_reserve_exact(len).is_ok()
    }

    /// Decodes `count` items (of the header's type size) from item `start` on into `out`, which must have exactly their
    /// length.
    pub(crate) fn decode_items(&self, start: usize, count: usize, out: &mut [u8]) -> Option<()> {
        let stop = start.checked_add(count)?.checked_mul(self.header.type_size)?;
        if !self.has_room()
            || stop > self.header.decoded_len
            || count.checked_mul(self.header.type_size)? != out.len()
        {
            return None;
        }
        let (start, count) = (c_int::try_from(start).ok()?, c_int::try_from(count).ok()?);
        // SAFETY: the buffer was validated in `new`, and `has_room` checked that the library can allocate; the items
        // are within what the header says it holds, so that the library writes exactly `count * type_size == out.len()`
        // bytes at `out`, which is exclusively borrowed.
        let len = unsafe {
            blosc_src::blosc_getitem(self.bytes.as_ptr().cast(), start, count, out.as_mut_ptr().cast())
        };
        (usize::try_from(len).ok()? == out.len()).then_some(())
    }
}

/// Compresses into `out`, which should have `input.len() + BLOSC_OVERHEAD` bytes; returns the number of bytes used.
pub(crate) fn blosc_encode(input: &[u8], out: &mut [u8], options: &BloscOptions) -> Option<usize> {
    // SAFETY: `input` is readable and `out` writable for the lengths that are passed, they do not overlap because `out`
    // is exclusively borrowed, and the compressor's name ends with a zero byte.
    let len = unsafe {
        blosc_src::blosc_compress_ctx(
            options.level,
            options.shuffle,
            options.type_size,
            input.len(),
            input.as_ptr().cast(),
            out.as_mut_ptr().cast(),
            out.len(),
            options.compressor.as_ptr(),
            options.block_len.min(input.len()),
            1,
        )
    };
    usize::try_from(len).ok().filter(|&len| len > 0)
}

/// Decodes an LZ4 block into `out`, which has room for all of it; returns the number of bytes.
pub(crate) fn lz4_decode(input: &[u8], out: &mut [u8]) -> Option<usize> {
    let (len, room) = (c_int::try_from(input.len()).ok()?, c_int::try_from(out.len()).ok()?);
    // SAFETY: `input` is readable and `out` writable for the lengths that are passed, they do not overlap because `out`
    // is exclusively borrowed, and this function stays within both whatever the input is.
    let len =
        unsafe { lz4_sys::LZ4_decompress_safe(input.as_ptr().cast(), out.as_mut_ptr().cast(), len, room) };
    usize::try_from(len).ok()
}
