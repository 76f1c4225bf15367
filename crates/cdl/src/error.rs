//! Errors of printing.
use std::fmt;
use std::io;

/// Errors that stop printing. Faults of single variables and attributes do not: they are reported in the text and in
/// the [`PrintSummary`](crate::PrintSummary).
#[derive(Debug)]
#[non_exhaustive]
pub enum CdlError {
    /// The output could not be written.
    Io(io::Error),
    /// No variable has a name that was requested.
    NoSuchVariable(String),
    /// No group has a name that was requested.
    NoSuchGroup(String),
    /// The dataset needs more than the requested text form can express.
    Unsupported(String),
}

impl fmt::Display for CdlError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Io(error) => write!(f, "cannot write the text: {error}"),
            Self::NoSuchVariable(name) => write!(f, "no variable named {name:?}"),
            Self::NoSuchGroup(name) => write!(f, "no group named {name:?}"),
            Self::Unsupported(what) => f.write_str(what),
        }
    }
}

impl std::error::Error for CdlError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self {
            Self::Io(error) => Some(error),
            Self::NoSuchVariable(_) | Self::NoSuchGroup(_) | Self::Unsupported(_) => None,
        }
    }
}

impl From<io::Error> for CdlError {
    fn from(error: io::Error) -> Self {
        Self::Io(error)
    }
}
