//! Errors of the pages' routes: JSON with a hint.
use super::PageOptions;
use crate::HttpError;
use axum::http::{HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use ncirrus::Error;
use serde_json::{Value, json};

/// Why a request of a page failed.
#[derive(Debug)]
pub(crate) enum Failure {
    /// An error of the library.
    Library(Error),
    /// An error of the server, or of opening a dataset.
    Http(HttpError),
    /// The read would be expensive: it was not begun.
    Cost { requests: u64, bytes: u64 },
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Library(error)
    }
}

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        match error.error {
            Some(error) => Self::Library(error),
            None => Self::Http(HttpError { error: None, ..error }),
        }
    }
}

impl Failure {
    /// 400.
    pub(crate) fn invalid(message: impl Into<String>) -> Self {
        Self::Http(HttpError::invalid(message))
    }

    /// 413.
    pub(crate) fn too_large(message: impl Into<String>) -> Self {
        Self::Http(HttpError::too_large(message))
    }

    /// 404.
    pub(crate) fn not_found(message: impl Into<String>) -> Self {
        Self::Http(HttpError::not_found(message))
    }

    /// The response. Addresses are in it only if the page is the user's own.
    pub(crate) fn respond(self, options: &PageOptions) -> Response {
        let (error, hint) = match self {
            Self::Library(error) => {
                let hint = options.hint.and_then(|hint| hint(&error));
                let mut public = HttpError::from(error);
                if let Some(whole) = public.cause.clone().filter(|_| options.is_local) {
                    public.message = whole;
                }
                (public, hint)
            }
            Self::Http(error) => (error, None),
            Self::Cost { requests, bytes } => return costly(requests, bytes),
        };
        let body = json!({"error": error.message, "hint": hint});
        let mut response = (error.status, HEADERS, body.to_string()).into_response();
        error.note_in(&mut response);
        if let Some(seconds) = error.retry_after {
            response.headers_mut().insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        response
    }
}

/// The cost of a read that was not begun.
fn costly(requests: u64, bytes: u64) -> Response {
    let message = format!("this reads {} MiB in {requests} requests", bytes >> 20);
    let hint = "choose a smaller part, or read it anyway";
    let cost = json!({"requests": requests, "bytes": bytes});
    let body = json!({"error": message, "hint": hint, "cost": cost});
    (StatusCode::PAYLOAD_TOO_LARGE, HEADERS, body.to_string()).into_response()
}

/// A response of JSON.
pub(crate) fn json_response(value: &Value) -> Response {
    (HEADERS, value.to_string()).into_response()
}

/// Values may change at any time, and the store is asked whether they did.
const HEADERS: [(HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
