//! Failures of object stores in the words of the library.
use crate::net::Failure;
use ncirrus_layout::{Error, ErrorKind, ObjectId};
use std::error::Error as StdError;

/// A failure, as far as the caller tells them apart.
#[derive(Debug)]
pub(super) enum Fault {
    /// There is no such object.
    Absent,
    /// A precondition did not hold.
    Conflict(&'static str),
    /// Not allowed.
    Denied(String),
    /// Requests failed, though they were made again.
    Failed(Error),
    /// Anything else.
    Other(Error),
}

impl Fault {
    pub(super) fn at(self, object: &ObjectId) -> Error {
        self.into_error().at_object(object).by("cloud")
    }

    /// The error, without its place.
    pub(super) fn into_error(self) -> Error {
        match self {
            Self::Absent => Error::not_found("no such object"),
            Self::Conflict(message) => Error::new(ErrorKind::Conflict, message),
            Self::Denied(why) => Error::new(ErrorKind::Denied, format!("access denied: {why}")),
            Self::Failed(error) | Self::Other(error) => error,
        }
    }

    /// An object that is to be replaced and is not there was removed by someone else.
    pub(super) fn at_put(self, object: &ObjectId) -> Error {
        match self {
            Self::Absent => Self::Conflict("was changed by someone else").at(object),
            other => other.at(object),
        }
    }
}

impl From<object_store::Error> for Fault {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as Found;
        if let Some(failure) = Failure::below(&error) {
            return Self::Failed(failure.error.clone());
        }
        match error {
            Found::NotFound { .. } => Self::Absent,
            Found::AlreadyExists { .. } => Self::Conflict("exists already"),
            Found::Precondition { .. } | Found::NotModified { .. } => {
                Self::Conflict("was changed by someone else")
            }
            Found::PermissionDenied { .. } | Found::Unauthenticated { .. } => Self::Denied(told(&error)),
            Found::NotSupported { .. } | Found::NotImplemented { .. } => {
                Self::Other(Error::unsupported(told(&error)))
            }
            Found::InvalidPath { .. } => Self::Other(Error::invalid(told(&error))),
            _ => Self::Other(Error::new(ErrorKind::Io { retryable: false }, told(&error))),
        }
    }
}

/// The innermost cause on one line, without what may be secret. The error itself is not kept: it may show signed
/// addresses.
fn told(error: &dyn StdError) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    let text = cause.to_string();
    let words: Vec<&str> = text.split_whitespace().map(without_query).collect();
    words.join(" ").chars().take(LONGEST).collect()
}

/// Longest message: servers answer with whole pages.
const LONGEST: usize = 300;

fn without_query(word: &str) -> &str {
    if word.contains("://") { word.split('?').next().unwrap_or_default() } else { word }
}
