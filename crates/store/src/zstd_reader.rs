//! Zstandard as a stream. What is cut off inside a frame, or before the first one, is an error at its end.
use std::io::{self, Read};
use zstd_safe::{DCtx, InBuffer, OutBuffer};

/// Decompresses zstd while it is read.
pub(crate) struct ZstdReader<R> {
    inner: R,
    decoder: DCtx<'static>,
    block: Vec<u8>,
    /// The part of `block` that is still to be decompressed.
    start: usize,
    end: usize,
    /// Whether a frame ended here.
    is_complete: bool,
}

impl<R: Read> ZstdReader<R> {
    pub(crate) fn new(inner: R) -> Self {
        let block = vec![0; DCtx::in_size()];
        Self { inner, decoder: DCtx::create(), block, start: 0, end: 0, is_complete: false }
    }
}

impl<R: Read> Read for ZstdReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            if self.start == self.end {
                (self.start, self.end) = (0, self.inner.read(&mut self.block)?);
            }
            let is_end = self.end == 0;
            let mut input = InBuffer::around(self.block.get(self.start..self.end).unwrap_or_default());
            let mut output = OutBuffer::around(&mut *buffer);
            // At the end what is left in the decoder is flushed.
            let hint = self.decoder.decompress_stream(&mut output, &mut input);
            let hint = hint.map_err(|code| io::Error::other(zstd_safe::get_error_name(code)))?;
            let (read, written) = (input.pos(), output.pos());
            self.start += read;
            if read > 0 || written > 0 {
                self.is_complete = hint == 0;
            }
            if written > 0 {
                return Ok(written);
            }
            if is_end {
                return if self.is_complete { Ok(0) } else { Err(io::ErrorKind::UnexpectedEof.into()) };
            }
        }
    }
}
