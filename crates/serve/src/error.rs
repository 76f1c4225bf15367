//! Errors as responses.
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ncirrus::{Detail, Error, ErrorKind};
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
        let fact = fact(&error);
        let message = match &error.place().path {
            Some(path) => format!("{path}: {fact}"),
            None => fact.to_owned(),
        };
        let retry_after = (status == StatusCode::SERVICE_UNAVAILABLE).then_some(1);
        let cause = Some(error.to_string());
        Self { status, message, retry_after, cause, error: Some(error) }
    }
}

/// The text that a client receives. Messages about stored data come from stores, references and fragments: they may hold addresses.
fn fact(error: &Error) -> &str {
    let place = error.place();
    let is_member = matches!(error.detail(), Some(Detail::NoMember(_)));
    match error.kind() {
        ErrorKind::Denied => "the server may not read the data",
        ErrorKind::Io { .. } => "the server could not read the data",
        ErrorKind::Changed => "the dataset changed while it was read",
        ErrorKind::Malformed => "the stored data are damaged",
        ErrorKind::NotFound if !is_member && place.object.is_some() => {
            if place.path.is_some() {
                "a part of the stored data is missing"
            } else {
                "not found"
            }
        }
        _ if may_name_address(error) => "the server cannot read this part of the data",
        _ => error.message(),
    }
}

/// Whether the message may name something outside the dataset.
fn may_name_address(error: &Error) -> bool {
    let (place, message) = (error.place(), error.message());
    let names_object = place.object.as_deref().is_some_and(|object| message.contains(object));
    names_object
        || place.driver == Some("reference")
        || ["://", "fragment", "no such object"].iter().any(|mark| message.contains(*mark))
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

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus::Member;

    #[test]
    fn addresses_are_for_the_log_alone() {
        let target = "s3://secret/x.bin";
        let gone = Error::not_found(format!("no such object: {target}")).at_object(target);
        let short = Error::malformed("/secret/x.bin ends at 10, before the 5 bytes from 8 on");
        let above = Error::invalid("\"../../x.bin\" leads above /secret/refs.json").by("reference");
        let fragment = Error::unsupported("fragment [0] (/v of /secret/x.nc): a filter");
        for (error, told) in [
            (gone.at_path("/v"), "/v: a part of the stored data is missing"),
            (short.at_path("/v"), "/v: the stored data are damaged"),
            (above, "the server cannot read this part of the data"),
            (fragment, "the server cannot read this part of the data"),
            (Error::no_member(Member::Variable, "\"w\"").at_object(target), "no variable \"w\""),
            (Error::limit("the values have 9 bytes"), "the values have 9 bytes"),
        ] {
            let cause = error.to_string();
            let shown = HttpError::from(error);
            assert_eq!((shown.message.as_str(), shown.cause), (told, Some(cause)));
        }
    }
}
