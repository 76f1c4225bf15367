//! Line wrapping (docs/spec/nczarr.md 12.3).
//!
//! The reference counts columns in one place for the whole print, and some parts of the text do not reset the count:
//! the values of compound and vlen attributes wrap according to whatever the count is. Therefore there is also a single
//! [`CurrentLine`] here.

/// Column of the current line, and the maximum length.
pub(crate) struct CurrentLine {
    column: usize,
    limit: usize,
    /// Blanks in front of every line of the current group.
    indent: usize,
}

impl CurrentLine {
    pub(crate) fn new(line_len: usize) -> Self {
        Self { column: 0, limit: line_len.saturating_sub(2), indent: 0 }
    }

    /// Sets the blanks in front of lines from now on.
    pub(crate) fn set_indent(&mut self, indent: usize) {
        self.indent = indent;
    }

    /// Sets the present length of the current line.
    pub(crate) fn set_column(&mut self, column: usize) {
        self.column = column;
    }

    /// Counts the item that begins at `start` of `text`; if it is too long for the line, a new line begins before it.
    #[inline]
    pub(crate) fn item(&mut self, text: &mut Vec<u8>, start: usize) {
        let len = text.len() - start;
        if self.column + len > self.limit && len > 2 {
            self.wrap(text, start);
        }
        self.column += len;
    }

    #[cold]
    fn wrap(&mut self, text: &mut Vec<u8>, start: usize) {
        let item = text.split_off(start);
        text.push(b'\n');
        text.resize(text.len() + self.indent + 4, b' ');
        text.extend_from_slice(&item);
        self.column = self.indent + 4;
    }
}
