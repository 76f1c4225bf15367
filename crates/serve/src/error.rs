//! Errors as responses.
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ncirrus::{Error, ErrorKind};
use std::fmt;

/// A status and a message for the client. The message names variables and names of the request, never paths or addresses
/// of the server.
#[derive(Debug, Clone)]
pub struct HttpError {
    /// The status.
    pub status: StatusCode,
    /// One line.
    pub message: String,
    /// Seconds after which another attempt may succeed.
    pub retry_after: Option<u32>,
    /// The whole error, for the log of the server.
    pub cause: Option<String>,
    /// The error of the library, which may hold addresses, for pages that only the user sees.
    pub(crate) error: Option<Error>,
}

impl HttpError {
    /// An error with a status.
    pub fn new(status: StatusCode, message: impl Into<String>) -> Self {
        Self { status, message: message.into(), retry_after: None, cause: None, error: None }
    }

    /// 404.
    pub fn not_found(message: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, message)
    }

    /// 400: the request is wrong.
    pub fn invalid(message: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, message)
    }

    /// 413: the response would be too large.
    pub fn too_large(message: impl Into<String>) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, message)
    }

    /// 503: another attempt may succeed.
    pub fn busy(message: impl Into<String>) -> Self {
        Self { retry_after: Some(1), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, message) }
    }

    /// Hands the cause to the log.
    pub(crate) fn note_in(&self, response: &mut Response) {
        if let Some(cause) = &self.cause {
            response.extensions_mut().insert(ErrorCause(cause.clone()));
        }
    }

    /// 500.
    pub fn internal(message: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, message)
    }
}

/// The cause of an error, in a response that has it.
#[derive(Clone)]
pub(crate) struct ErrorCause(pub(crate) String);

impl fmt::Display for HttpError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.message)
    }
}

impl std::error::Error for HttpError {}

impl From<Error> for HttpError {
    /// The path within the dataset and the fact; where the dataset is concerns the operator, who finds it in the log.
    fn from(error: Error) -> Self {
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Denied => StatusCode::FORBIDDEN,
            ErrorKind::Invalid => StatusCode::BAD_REQUEST,
            ErrorKind::Unsupported => StatusCode::NOT_IMPLEMENTED,
            ErrorKind::Limit => StatusCode::PAYLOAD_TOO_LARGE,
            ErrorKind::Changed | ErrorKind::Conflict | ErrorKind::Interrupted => {
                StatusCode::SERVICE_UNAVAILABLE
            }
            ErrorKind::Io { .. } => StatusCode::BAD_GATEWAY,
            _ => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let fact = match error.kind() {
            // These messages come from stores: they may hold addresses.
            ErrorKind::Denied => "the server may not read the data".to_owned(),
            ErrorKind::Io { .. } => "the server could not read the data".to_owned(),
            ErrorKind::Changed => "the dataset changed while it was read".to_owned(),
            ErrorKind::NotFound if error.place().object.is_some() && error.place().path.is_none() => {
                "not found".to_owned()
            }
            _ => error.message().to_owned(),
        };
        let message = match &error.place().path {
            Some(path) => format!("{path}: {fact}"),
            None => fact,
        };
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
        let cause = Some(error.to_string());
        Self { status, message, retry_after, cause, error: Some(error) }
    }
}

impl IntoResponse for HttpError {
    fn into_response(self) -> Response {
        let kind = [(header::CONTENT_TYPE, HeaderValue::from_static("text/plain; charset=utf-8"))];
        let mut response = (self.status, kind, format!("{}\n", self.message)).into_response();
        if let Some(seconds) = self.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        self.note_in(&mut response);
        response
    }
}
