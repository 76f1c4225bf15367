//! The errors that servers send (docs/spec/dap.md 8.1).
use crate::shortened;
use ncirrus_layout::{Error, ErrorKind};

/// An error that a server sent.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ServerError {
    /// Its number: of HTTP, of Java servers (-1 to 5) or of libdap (1000 to 1008).
    pub code: Option<i64>,
    /// Its text.
    pub message: String,
}

impl ServerError {
    /// The error in ncirrus' terms: absent, denied and refused stay apart.
    pub fn into_error(self) -> Error {
        let kind = match self.code.unwrap_or(0) {
            1 | 2 | 404 | 410 | 1003 | 1004 => ErrorKind::NotFound,
            4 | 401 | 403 | 1006 => ErrorKind::Denied,
            3 | 400 | 1005 => ErrorKind::Invalid,
            1008 | 501 => ErrorKind::Unsupported,
            413 => ErrorKind::Limit,
            429 | 502..=504 => ErrorKind::Io { retryable: true },
            _ => ErrorKind::Io { retryable: false },
        };
        let code = self.code.map(|code| format!(" {code}")).unwrap_or_default();
        Error::new(kind, format!("the server answers: error{code}: {}", shortened(self.message.trim())))
    }
}
