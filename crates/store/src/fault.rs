//! Failures of the operating system as errors of the library.
use ncirrus_layout::{Detail, Error, ErrorKind};
use std::fmt::Display;
use std::io;

/// The error for an input or output error, with the object.
pub fn of_io(error: io::Error, object: impl Display) -> Error {
    let kind = match error.kind() {
        io::ErrorKind::NotFound => ErrorKind::NotFound,
        io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => ErrorKind::Denied,
        io::ErrorKind::AlreadyExists => ErrorKind::Conflict,
        io::ErrorKind::InvalidFilename | io::ErrorKind::InvalidInput => ErrorKind::Invalid,
        io::ErrorKind::Interrupted | io::ErrorKind::TimedOut | io::ErrorKind::WouldBlock => {
            ErrorKind::Io { retryable: true }
        }
        _ => ErrorKind::Io { retryable: false },
    };
    let reported = Error::new(kind, message(&error)).at_object(object);
    let reported = if kind == ErrorKind::Conflict { reported.with_detail(Detail::Exists) } else { reported };
    reported.because(error)
}

/// Conflicting names: an object where a prefix is needed, or vice versa.
pub fn in_the_way(what: &str, object: impl Display) -> Error {
    Error::new(ErrorKind::Conflict, format!("{what} is in the way")).at_object(object)
}

/// Something exists that should not.
pub fn exists(object: impl Display) -> Error {
    conflict("exists already", object).with_detail(Detail::Exists)
}

/// An object that is a link to nothing.
pub fn broken_link(object: impl Display) -> Error {
    Error::not_found("a symbolic link to a file that does not exist").at_object(object)
}

/// The error for changes over plain HTTP.
pub fn read_only_protocol() -> Error {
    Error::unsupported("plain HTTP is read-only").with_detail(Detail::ReadOnlyProtocol)
}

/// A failed precondition.
pub fn conflict(message: &str, object: impl Display) -> Error {
    Error::new(ErrorKind::Conflict, message).at_object(object)
}

/// Whether the error means that there is no object of that name.
pub fn is_absence(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound
            | io::ErrorKind::NotADirectory
            | io::ErrorKind::IsADirectory
            | io::ErrorKind::InvalidFilename
    )
}

fn message(error: &io::Error) -> String {
    let text = error.to_string();
    let text = text.split(" (os error").next().unwrap_or_default();
    let mut letters = text.chars();
    letters.next().map(|first| first.to_lowercase().chain(letters).collect()).unwrap_or_default()
}
