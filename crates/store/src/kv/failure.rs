//! Failures of operations, with the numeric codes of docs/spec/nczarr.md 10.6.
use ncirrus_layout::{Error, ErrorKind, ObjectId};
use std::fmt;

pub(super) type Result<T> = std::result::Result<T, KvFailure>;

/// What a key is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum KeyPresence {
    /// It has content.
    Object,
    /// It has none, but keys below it have.
    Prefix,
    /// Neither.
    Absent,
}

impl KeyPresence {
    /// The numeric code: 0, -139 (`NC_EEMPTY`) or -141 (`NC_ENOOBJECT`).
    pub fn code(self) -> i32 {
        match self {
            Self::Object => 0,
            Self::Prefix => EMPTY,
            Self::Absent => NO_OBJECT,
        }
    }
}

/// Why an operation failed.
#[derive(Debug, Clone)]
#[non_exhaustive]
pub enum KvFailure {
    /// The key is a prefix and has no content.
    Empty(ObjectId),
    /// There is no such object.
    NoObject(ObjectId),
    /// Something exists where something else should be.
    InTheWay(ObjectId),
    /// Access is denied.
    Denied(Error),
    /// Any other error of the store.
    Other(Error),
}

const EMPTY: i32 = -139;
const EXISTS: i32 = -140;
const NO_OBJECT: i32 = -141;
const ACCESS: i32 = -77;
const INVALID: i32 = -36;
const NOT_BUILT: i32 = -128;
const NCZARR: i32 = -137;

impl KvFailure {
    /// The failure for an error of a store.
    pub(super) fn of(error: Error) -> Self {
        match error.kind() {
            ErrorKind::Denied => Self::Denied(error),
            _ => Self::Other(error),
        }
    }

    /// The numeric code: -139 (`NC_EEMPTY`), -140 (`NC_EOBJECT`), -141 (`NC_ENOOBJECT`), -77 (`NC_EACCESS`), else that
    /// of the kind of error: -36 (`NC_EINVAL`), -128 (`NC_ENOTBUILT`), -137 (`NC_ENCZARR`).
    pub fn code(&self) -> i32 {
        match self {
            Self::Empty(_) => EMPTY,
            Self::InTheWay(_) => EXISTS,
            Self::NoObject(_) => NO_OBJECT,
            Self::Denied(_) => ACCESS,
            Self::Other(error) => match error.kind() {
                ErrorKind::Conflict => EXISTS,
                ErrorKind::NotFound => NO_OBJECT,
                ErrorKind::Invalid => INVALID,
                ErrorKind::Unsupported => NOT_BUILT,
                _ => NCZARR,
            },
        }
    }
}

impl From<KvFailure> for Error {
    fn from(failure: KvFailure) -> Self {
        let (kind, message, object) = match failure {
            KvFailure::Empty(object) => {
                (ErrorKind::NotFound, "the key is a prefix and has no content", object)
            }
            KvFailure::NoObject(object) => (ErrorKind::NotFound, "no such object", object),
            KvFailure::InTheWay(object) => (ErrorKind::Conflict, "an object is in the way", object),
            KvFailure::Denied(error) | KvFailure::Other(error) => return error,
        };
        Self::new(kind, message).at_object(object)
    }
}

impl fmt::Display for KvFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Error::from(self.clone()).fmt(f)
    }
}

impl std::error::Error for KvFailure {}
