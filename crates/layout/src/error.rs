//! One error for formats, stores and the engine.
use ncirrus_model::{Detail, Member};
use std::error::Error as StdError;
use std::fmt;
use std::sync::Arc;

/// The result of everything that can fail permanently.
pub type Result<T> = std::result::Result<T, Error>;

/// What went wrong, who must act, and where. One word wide; cheap to clone.
#[derive(Clone)]
pub struct Error(Arc<ErrorInner>);

#[derive(Clone)]
struct ErrorInner {
    kind: ErrorKind,
    message: String,
    detail: Option<Detail>,
    place: ErrorPlace,
    source: Option<Arc<dyn StdError + Send + Sync>>,
}

/// Who must act.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum ErrorKind {
    /// The caller: there is no such object, variable, attribute.
    NotFound,
    /// The caller: access denied.
    Denied,
    /// The environment: input or output failed.
    Io {
        /// Whether a retry may help.
        retryable: bool,
    },
    /// The data: damaged, or not of their declared format.
    Malformed,
    /// No action helps: the feature is not supported.
    Unsupported,
    /// The caller: a limit on bytes, depth or counts was reached.
    Limit,
    /// The caller: an object changed while it was read.
    Changed,
    /// The caller: the target exists, or another writer was faster.
    Conflict,
    /// The caller requested that missing chunks are errors, and one is missing.
    Missing,
    /// The caller: an argument is wrong.
    Invalid,
    /// No action is needed: the caller ended a wait, as by Ctrl-C.
    Interrupted,
    /// ncirrus: a violated invariant of the library.
    Internal,
}

/// Where an error occurred; filled in as the error propagates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ErrorPlace {
    /// Object (URL or key).
    pub object: Option<String>,
    /// Byte offset in the object.
    pub offset: Option<u64>,
    /// Path of the group or variable.
    pub path: Option<String>,
    /// Chunk coordinates.
    pub chunk: Option<Vec<u64>>,
    /// Driver or store.
    pub driver: Option<&'static str>,
}

impl Error {
    /// An error of that kind; the message states the fact and the offending value in lower case.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let (message, place) = (message.into(), ErrorPlace::default());
        Self(Arc::new(ErrorInner { kind, message, detail: None, place, source: None }))
    }

    /// Damaged data.
    pub fn malformed(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Malformed, message)
    }

    /// A feature that is not supported.
    pub fn unsupported(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Unsupported, message)
    }

    /// A wrong argument.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Invalid, message)
    }

    /// A member that a dataset does not have: `name` says which.
    pub fn no_member(what: Member, name: impl fmt::Display) -> Self {
        Self::not_found(format!("no {} {name}", what.name())).with_detail(Detail::NoMember(what))
    }

    /// Something that does not exist.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::NotFound, message)
    }

    /// A limit that was reached.
    pub fn limit(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Limit, message)
    }

    /// A violated invariant of the library.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Internal, message)
    }

    /// Who must act.
    pub fn kind(&self) -> ErrorKind {
        self.0.kind
    }

    /// The specific condition, if known: for programs to match on, rather than the message.
    pub fn detail(&self) -> Option<&Detail> {
        self.0.detail.as_ref()
    }

    /// The fact, without the place.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// Where it occurred, as far as known.
    pub fn place(&self) -> &ErrorPlace {
        &self.0.place
    }

    /// Sets the specific condition.
    #[must_use]
    pub fn with_detail(self, detail: Detail) -> Self {
        self.with(|inner| inner.detail = Some(detail))
    }

    /// The same error with a different message.
    #[must_use]
    pub fn reworded(self, message: impl FnOnce(&str) -> String) -> Self {
        self.with(|inner| inner.message = message(&inner.message))
    }

    /// Adds the object, unless one is named already.
    #[must_use]
    pub fn at_object(self, object: impl fmt::Display) -> Self {
        self.with(|inner| _ = inner.place.object.get_or_insert_with(|| object.to_string()))
    }

    /// Adds the byte offset, unless one is named already.
    #[must_use]
    pub fn at_offset(self, offset: u64) -> Self {
        self.with(|inner| _ = inner.place.offset.get_or_insert(offset))
    }

    /// Adds the path of the group or variable, unless one is named already.
    #[must_use]
    pub fn at_path(self, path: impl Into<String>) -> Self {
        self.with(|inner| _ = inner.place.path.get_or_insert_with(|| path.into()))
    }

    /// Adds the chunk's coordinates, unless they are named already.
    #[must_use]
    pub fn at_chunk(self, chunk: &[u64]) -> Self {
        self.with(|inner| _ = inner.place.chunk.get_or_insert_with(|| chunk.to_vec()))
    }

    /// Adds the driver or store, unless one is named already.
    #[must_use]
    pub fn by(self, driver: &'static str) -> Self {
        self.with(|inner| _ = inner.place.driver.get_or_insert(driver))
    }

    /// Adds the cause.
    #[must_use]
    pub fn because(self, source: impl StdError + Send + Sync + 'static) -> Self {
        self.with(|inner| inner.source = Some(Arc::new(source)))
    }

    fn with(mut self, change: impl FnOnce(&mut ErrorInner)) -> Self {
        change(Arc::make_mut(&mut self.0));
        self
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0.message)?;
        let place = &self.0.place;
        let mut separator = " (";
        let mut part = |f: &mut fmt::Formatter<'_>, text: String| {
            let written = write!(f, "{separator}{text}");
            separator = ", ";
            written
        };
        if let Some(path) = &place.path {
            part(f, path.clone())?;
        }
        if let Some(chunk) = &place.chunk {
            part(f, format!("chunk {chunk:?}"))?;
        }
        if let Some(object) = &place.object {
            part(f, format!("in {object}"))?;
        }
        if let Some(offset) = place.offset {
            part(f, format!("at byte {offset}"))?;
        }
        if separator == ", " { f.write_str(")") } else { Ok(()) }
    }
}

impl fmt::Debug for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}: {self}", self.0.kind)?;
        match &self.0.source {
            Some(source) => write!(f, ": {source}"),
            None => Ok(()),
        }
    }
}

impl StdError for Error {
    fn source(&self) -> Option<&(dyn StdError + 'static)> {
        self.0.source.as_deref().map(|source| source as &(dyn StdError + 'static))
    }
}

impl From<ncirrus_model::ModelError> for Error {
    fn from(error: ncirrus_model::ModelError) -> Self {
        let (kind, detail) = match error {
            ncirrus_model::ModelError::NotFound { what, .. } => {
                (ErrorKind::NotFound, Some(Detail::NoMember(what)))
            }
            ncirrus_model::ModelError::NameInUse { .. } => (ErrorKind::Conflict, None),
            _ => (ErrorKind::Invalid, None),
        };
        Self::new(kind, error.to_string()).with(|inner| inner.detail = detail)
    }
}

impl From<ncirrus_model::SelectionError> for Error {
    fn from(error: ncirrus_model::SelectionError) -> Self {
        Self::invalid(error.to_string())
    }
}

impl From<ncirrus_model::Fault> for Error {
    fn from(fault: ncirrus_model::Fault) -> Self {
        let kind = match fault.kind {
            ncirrus_model::FaultKind::Malformed => ErrorKind::Malformed,
            ncirrus_model::FaultKind::Unsupported => ErrorKind::Unsupported,
            ncirrus_model::FaultKind::Missing => ErrorKind::NotFound,
        };
        Self::new(kind, fault.message.to_string()).with(|inner| inner.detail = fault.detail)
    }
}

impl From<&Error> for ncirrus_model::Fault {
    fn from(error: &Error) -> Self {
        let kind = match error.kind() {
            ErrorKind::Unsupported => ncirrus_model::FaultKind::Unsupported,
            ErrorKind::NotFound | ErrorKind::Missing => ncirrus_model::FaultKind::Missing,
            _ => ncirrus_model::FaultKind::Malformed,
        };
        Self { detail: error.detail().cloned(), ..Self::new(kind, error.to_string()) }
    }
}
