//! Errors of units, dates and values.
use std::fmt;

/// Kinds of [`UnitError`]s, by the side that has to act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum UnitErrorKind {
    /// The text is not a unit, not a date, or not a date of its calendar.
    Malformed,
    /// It is valid, but not supported: a calendar, a logarithm without a reference.
    Unsupported,
    /// Both are valid, but do not fit each other.
    Invalid,
    /// It exceeds a limit.
    Limit,
}

/// Why a unit, a date or a value cannot be parsed or converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnitError {
    kind: UnitErrorKind,
    message: String,
}

/// The result type of the functions of this crate.
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
