//! Where the text is: read in pieces, at any offset, so that definitions and data can be read in two passes.
use super::fault::{Place, Stop};
use std::io;

/// Text that is parsed. It is read twice, and never as a whole.
pub trait CdlText {
    /// Fills the buffer from an offset on; fewer bytes, or none, at the text's end only.
    ///
    /// # Errors
    /// Whatever keeps the text from being read.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize>;
}

impl CdlText for &[u8] {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<usize> {
        let rest = usize::try_from(offset).ok().and_then(|start| self.get(start..)).unwrap_or_default();
        let len = rest.len().min(buffer.len());
        if let (Some(to), Some(from)) = (buffer.get_mut(..len), rest.get(..len)) {
            to.copy_from_slice(from);
        }
        Ok(len)
    }
}

/// Bytes of text that are held at once.
const WINDOW_LEN: usize = 1 << 18;

/// A place in the text that moves forward, with the bytes that follow it.
pub(crate) struct Cursor<'t> {
    text: &'t dyn CdlText,
    window: Vec<u8>,
    /// The next byte in the window.
    at: usize,
    /// Offset of the window in the text.
    base: u64,
    is_last: bool,
    line: u64,
    line_start: u64,
}

impl<'t> Cursor<'t> {
    /// A cursor at a place that an earlier one was at.
    pub(crate) fn new(text: &'t dyn CdlText, place: Place) -> Self {
        let Place { offset, line, line_start } = place;
        Self { text, window: Vec::new(), at: 0, base: offset, is_last: false, line, line_start }
    }

    /// Moves to a place that a cursor of this text was at.
    pub(crate) fn jump(&mut self, place: Place) {
        let inside = place.offset.checked_sub(self.base).and_then(|at| usize::try_from(at).ok());
        match inside.filter(|at| *at <= self.window.len()) {
            Some(at) => self.at = at,
            None => {
                self.window.clear();
                (self.at, self.base, self.is_last) = (0, place.offset, false);
            }
        }
        (self.line, self.line_start) = (place.line, place.line_start);
    }

    pub(crate) fn place(&self) -> Place {
        Place { offset: self.base + self.at as u64, line: self.line, line_start: self.line_start }
    }

    /// The next bytes: at least `wanted` of them unless the text ends before.
    pub(crate) fn ahead(&mut self, wanted: usize) -> Result<&[u8], Stop> {
        if self.window.len() - self.at < wanted && !self.is_last {
            self.refill(wanted)?;
        }
        Ok(self.window.get(self.at..).unwrap_or_default())
    }

    #[cold]
    fn refill(&mut self, wanted: usize) -> Result<(), Stop> {
        self.window.drain(..self.at);
        self.base += self.at as u64;
        self.at = 0;
        let mut filled = self.window.len();
        self.window.resize(WINDOW_LEN.max(wanted), 0);
        while filled < wanted.max(1) || filled < self.window.len() {
            let rest = self.window.get_mut(filled..).unwrap_or_default();
            let read = self.text.read_at(self.base + filled as u64, rest).map_err(Stop::Io)?;
            if read == 0 {
                self.is_last = true;
                break;
            }
            filled += read;
        }
        self.window.truncate(filled);
        Ok(())
    }

    /// The next byte.
    #[inline]
    pub(crate) fn peek(&mut self) -> Result<Option<u8>, Stop> {
        match self.window.get(self.at) {
            Some(byte) => Ok(Some(*byte)),
            None => Ok(self.ahead(1)?.first().copied()),
        }
    }

    /// The byte that many bytes behind the next one.
    pub(crate) fn peek_at(&mut self, behind: usize) -> Result<Option<u8>, Stop> {
        Ok(self.ahead(behind + 1)?.get(behind).copied())
    }

    /// Moves over bytes of [`ahead`](Self::ahead) that hold no line ends.
    #[inline]
    pub(crate) fn skip(&mut self, count: usize) {
        self.at = (self.at + count).min(self.window.len());
    }

    /// Takes the next byte.
    #[inline]
    pub(crate) fn next(&mut self) -> Result<Option<u8>, Stop> {
        let byte = self.peek()?;
        if let Some(byte) = byte {
            self.at += 1;
            if byte == b'\n' {
                self.line += 1;
                self.line_start = self.base + self.at as u64;
            }
        }
        Ok(byte)
    }

    /// Moves over blanks, line ends and comments.
    #[inline]
    pub(crate) fn skip_blanks(&mut self) -> Result<(), Stop> {
        loop {
            match self.peek()? {
                Some(b' ' | b'\t' | b'\r' | b'\n' | 0x0b | 0x0c) => _ = self.next()?,
                Some(b'/') if self.skip_comment()? => {}
                _ => return Ok(()),
            }
        }
    }

    /// Moves over a comment, if one is next.
    fn skip_comment(&mut self) -> Result<bool, Stop> {
        let start = self.place();
        match self.peek_at(1)? {
            Some(b'/') => {
                while self.peek()?.is_some_and(|byte| byte != b'\n') {
                    self.skip(1);
                }
                Ok(true)
            }
            Some(b'*') => {
                self.skip(2);
                loop {
                    match self.next()? {
                        Some(b'*') if self.peek()? == Some(b'/') => {
                            self.skip(1);
                            return Ok(true);
                        }
                        Some(_) => {}
                        None => return Err(start.fault("the comment has no end: */ is missing")),
                    }
                }
            }
            _ => Ok(false),
        }
    }
}
