//! Why units, dates and values are not understood.
use std::fmt;

/// What [`UnitError`]s are about: who has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitErrorKind {
    /// The text is no unit, no date, or no date of its calendar.
    Malformed,
    /// It is one, but not one that is known: a calendar, a logarithm of no reference.
    Unsupported,
    /// Both are understood and do not fit each other.
    Invalid,
    /// It is more than is taken on.
    Limit,
}

/// Why a unit, a date or a value is not understood, or does not become another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError {
    kind: UnitErrorKind,
    message: String,
}

/// What the functions of this crate return.
pub type Result<T> = std::result::Result<T, UnitError>;

impl UnitError {
    pub(crate) fn malformed(message: impl Into<String>) -> Self {
        Self { kind: UnitErrorKind::Malformed, message: message.into() }
    }

    pub(crate) fn unsupported(message: impl Into<String>) -> Self {
        Self { kind: UnitErrorKind::Unsupported, message: message.into() }
    }

    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self { kind: UnitErrorKind::Invalid, message: message.into() }
    }

    pub(crate) fn limit(message: impl Into<String>) -> Self {
        Self { kind: UnitErrorKind::Limit, message: message.into() }
    }

    /// Who has to act.
    pub fn kind(&self) -> UnitErrorKind {
        self.kind
    }

    /// The fact and the offending text, lower case.
    pub fn message(&self) -> &str {
        &self.message
    }
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnitError {}
