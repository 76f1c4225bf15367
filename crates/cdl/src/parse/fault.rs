//! What is wrong with a text, and where.
use super::text::CdlText;
use std::fmt;
use std::io;

/// A place in the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Bytes in front of it.
    pub offset: u64,
    /// Its line, from 1.
    pub line: u64,
    /// Offset of the line's first byte.
    pub line_start: u64,
}

impl Place {
    /// The beginning of a text.
    pub const START: Self = Self { offset: 0, line: 1, line_start: 0 };

    /// A fault here.
    pub(crate) fn fault(self, message: impl Into<String>) -> Stop {
        Stop::Fault(self, message.into())
    }

    /// The fault that a name is not declared, here.
    pub(crate) fn undeclared(self, message: impl Into<String>) -> Stop {
        Stop::Undeclared(self, message.into())
    }
}

/// Why parsing cannot go on from here.
#[derive(Debug)]
pub(crate) enum Stop {
    /// The text cannot be read.
    Io(io::Error),
    /// The text is wrong at a place.
    Fault(Place, String),
    /// A name that is not declared. This is not a fault if declarations before it could not be read.
    Undeclared(Place, String),
    /// What the blocks are given to failed.
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

/// A fault of the text, with its line. Printed with the file's name in front, it is `file.cdl:12:7: message`, the line,
/// and a caret below the place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CdlFault {
    /// What is wrong.
    pub message: String,
    /// Line, from 1.
    pub line: u64,
    /// Column, from 1, in characters.
    pub column: u64,
    /// The line, or the part of a long line around the place.
    pub excerpt: String,
    /// The characters of the excerpt in front of the place.
    pub caret: usize,
}

/// Bytes of a line that are shown in front of the place and behind it.
const SHOWN_BEFORE: u64 = 100;
const SHOWN_BEHIND: usize = 60;
/// Bytes of a line in which characters are counted; in longer lines the column counts bytes.
const COUNTED: u64 = 1 << 16;

impl CdlFault {
    /// Looks at the line of a fault.
    pub(crate) fn find(text: &dyn CdlText, place: Place, message: String) -> Self {
        let before = place.offset.saturating_sub(place.line_start);
        let column = match before {
            0..=COUNTED => chars(&piece(text, place.line_start, usize::try_from(before).unwrap_or(0))) + 1,
            _ => before + 1,
        };
        let start = place.line_start.max(place.offset.saturating_sub(SHOWN_BEFORE));
        let len = usize::try_from(place.offset - start).unwrap_or(0);
        let shown = piece(text, start, len + SHOWN_BEHIND);
        let line_len = shown.iter().position(|byte| matches!(byte, b'\n' | b'\r')).unwrap_or(shown.len());
        let shown = shown.get(..line_len).unwrap_or_default();
        let caret = chars(shown.get(..len.min(shown.len())).unwrap_or_default());
        let plain = |c: char| if c.is_control() && c != '\t' { ' ' } else { c };
        Self {
            message,
            line: place.line,
            column,
            excerpt: String::from_utf8_lossy(shown).chars().map(plain).collect(),
            caret: usize::try_from(caret).unwrap_or(0),
        }
    }

    /// The fault as it is reported: with the name of the file, the line, and the caret.
    pub fn display<'a>(&'a self, file: &'a str) -> impl fmt::Display + 'a {
        FaultDisplay { fault: self, file }
    }
}

impl fmt::Display for CdlFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.line, self.column, self.message)
    }
}

struct FaultDisplay<'a> {
    fault: &'a CdlFault,
    file: &'a str,
}

impl fmt::Display for FaultDisplay<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { fault, file } = self;
        writeln!(f, "{file}:{fault}")?;
        writeln!(f, "{}", fault.excerpt)?;
        let in_front = fault.excerpt.chars().take(fault.caret);
        in_front.map(|c| if c == '\t' { '\t' } else { ' ' }).try_for_each(|c| write!(f, "{c}"))?;
        write!(f, "^")
    }
}

/// Bytes of the text; fewer where they cannot be read, which is reported elsewhere.
fn piece(text: &dyn CdlText, offset: u64, len: usize) -> Vec<u8> {
    let mut bytes = vec![0; len];
    let mut filled = 0;
    while filled < len {
        let rest = bytes.get_mut(filled..).unwrap_or_default();
        match text.read_at(offset + filled as u64, rest) {
            Ok(read) if read > 0 => filled += read,
            _ => break,
        }
    }
    bytes.truncate(filled);
    bytes
}

/// Characters of UTF-8.
fn chars(bytes: &[u8]) -> u64 {
    bytes.iter().filter(|byte| **byte & 0xc0 != 0x80).count() as u64
}

/// Why a text could not be parsed.
#[derive(Debug)]
#[non_exhaustive]
pub enum ParseFailure {
    /// The text could not be read.
    Io(io::Error),
    /// The text is wrong: at most [`ParseLimits::faults`](super::ParseLimits::faults) faults, in the order of the text.
    Faults(Vec<CdlFault>),
    /// What the blocks were given to failed.
    Sink(Box<dyn std::error::Error + Send + Sync>),
}

impl fmt::Display for ParseFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "the text cannot be read: {error}"),
            Self::Faults(faults) => match faults.as_slice() {
                [] => f.write_str("the text is not CDL"),
                [only] => only.fmt(f),
                [first, rest @ ..] => write!(f, "{first} (and {} more)", rest.len()),
            },
            Self::Sink(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for ParseFailure {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::Faults(_) => None,
            Self::Sink(error) => Some(error.as_ref()),
        }
    }
}

/// The faults so far.
pub(crate) struct FaultList<'t> {
    text: &'t dyn CdlText,
    max: usize,
    faults: Vec<CdlFault>,
    /// Whether declarations could not be read, so that names may be missing.
    is_incomplete: bool,
}

impl<'t> FaultList<'t> {
    pub(crate) fn new(text: &'t dyn CdlText, max: usize) -> Self {
        Self { text, max: max.max(1), faults: Vec::new(), is_incomplete: false }
    }

    /// Notes a fault; an error when there are too many, or what stopped the parser is none of the text's.
    pub(crate) fn note(&mut self, stop: Stop) -> Result<(), ParseFailure> {
        match stop {
            Stop::Io(error) => return Err(ParseFailure::Io(error)),
            Stop::Sink(error) => return Err(ParseFailure::Sink(error)),
            Stop::Undeclared(..) if self.is_incomplete => return Ok(()),
            Stop::Fault(place, message) | Stop::Undeclared(place, message) => {
                self.faults.push(CdlFault::find(self.text, place, message));
            }
        }
        if self.faults.len() >= self.max {
            return Err(ParseFailure::Faults(std::mem::take(&mut self.faults)));
        }
        Ok(())
    }

    /// Notes the fault of a declaration that could not be read: names that are missing after it are not reported as well.
    pub(crate) fn note_lost(&mut self, stop: Stop) -> Result<(), ParseFailure> {
        self.note(stop)?;
        self.is_incomplete = true;
        Ok(())
    }

    /// An error if there is any fault.
    pub(crate) fn finish(self) -> Result<(), ParseFailure> {
        if self.faults.is_empty() { Ok(()) } else { Err(ParseFailure::Faults(self.faults)) }
    }
}
