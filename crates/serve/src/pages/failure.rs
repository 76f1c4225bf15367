//! Errors of the pages' routes: JSON with a hint.
use super::PageOptions;
use crate::HttpError;
use axum::http::{HeaderName, StatusCode, header};
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
        let (status, body) = match self {
            Self::Library(error) => {
                let hint = options.hint.and_then(|hint| hint(&error));
                let text = error.to_string();
                let public = HttpError::from(error);
                let message = if options.is_local { text } else { public.message };
                (public.status, json!({"error": message, "hint": hint}))
            }
            Self::Http(error) => (error.status, json!({"error": error.message})),
            Self::Cost { requests, bytes } => {
                let message = format!("this reads {} MiB in {requests} requests", bytes >> 20);
                let hint = "choose a smaller part, or read it anyway";
                let cost = json!({"requests": requests, "bytes": bytes});
                (StatusCode::PAYLOAD_TOO_LARGE, json!({"error": message, "hint": hint, "cost": cost}))
            }
        };
        (status, HEADERS, body.to_string()).into_response()
    }
}

/// A response of JSON.
pub(crate) fn json_response(value: &Value) -> Response {
    (HEADERS, value.to_string()).into_response()
}

/// Values may change at any time, and the store is asked whether they did.
const HEADERS: [(HeaderName, &str); 2] =
    [(header::CONTENT_TYPE, "application/json"), (header::CACHE_CONTROL, "no-store")];
