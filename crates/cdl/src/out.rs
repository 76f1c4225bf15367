//! Buffered output of the text.
use crate::line::CurrentLine;
use std::io::{self, Write};

/// Bytes that are buffered before they are written.
const FLUSH_LEN: usize = 1 << 16;

/// A buffer in front of the writer; text is appended to `text` directly.
pub(crate) struct OutputText<'w> {
    sink: &'w mut dyn Write,
    pub(crate) text: Vec<u8>,
    pub(crate) line: CurrentLine,
}

impl<'w> OutputText<'w> {
    pub(crate) fn new(sink: &'w mut dyn Write, line_len: usize) -> Self {
        let text = Vec::with_capacity(FLUSH_LEN + (FLUSH_LEN >> 2));
        Self { sink, text, line: CurrentLine::new(line_len) }
    }

    /// Writes the buffer out once it is long enough.
    pub(crate) fn relieve(&mut self) -> io::Result<()> {
        if self.text.len() >= FLUSH_LEN {
            self.sink.write_all(&self.text)?;
            self.text.clear();
        }
        Ok(())
    }

    /// Writes the rest.
    pub(crate) fn finish(mut self) -> io::Result<()> {
        self.sink.write_all(&self.text)?;
        self.text.clear();
        self.sink.flush()
    }

    pub(crate) fn push(&mut self, text: &str) {
        self.text.extend_from_slice(text.as_bytes());
    }

    /// Appends text that may begin a new line.
    pub(crate) fn item(&mut self, text: &str) {
        let start = self.text.len();
        self.push(text);
        self.line.item(&mut self.text, start);
    }

    pub(crate) fn blanks(&mut self, count: usize) {
        self.text.resize(self.text.len() + count, b' ');
    }
}
