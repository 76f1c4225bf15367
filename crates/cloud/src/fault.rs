//! Failures of object stores as errors of the library.
use crate::xml;
use ncirrus_http::RequestFailure;
use ncirrus_layout::{Detail, Error, ErrorKind, ObjectId};
use reqwest::StatusCode;
use std::error::Error as StdError;

/// A failure, as far as callers distinguish them.
#[derive(Debug)]
pub(crate) enum CloudFault {
    /// There is no such object.
    Absent,
    /// A precondition did not hold.
    Conflict(ConditionClash),
    /// Not allowed.
    Denied(String),
    /// Requests failed after retries, or permanently.
    Failed(Error),
    /// Anything else.
    Other(Error),
}

/// Which precondition did not hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum ConditionClash {
    /// The object exists, and should not.
    Exists,
    /// The object has changed.
    Changed,
    /// The upload no longer exists.
    Ended,
}

impl ConditionClash {
    pub(crate) fn error(self) -> Error {
        match self {
            Self::Exists => Error::new(ErrorKind::Conflict, "exists already").with_detail(Detail::Exists),
            Self::Changed => Error::new(ErrorKind::Conflict, "was changed by someone else"),
            Self::Ended => Error::new(ErrorKind::Conflict, "the upload was ended by someone else"),
        }
    }
}

impl CloudFault {
    pub(crate) fn at(self, object: &ObjectId) -> Error {
        self.into_error().at_object(object).by("cloud")
    }

    /// The error, without its place.
    pub(crate) fn into_error(self) -> Error {
        match self {
            Self::Absent => Error::not_found("no such object"),
            Self::Conflict(clash) => clash.error(),
            Self::Denied(why) => Error::new(ErrorKind::Denied, format!("access denied: {why}")),
            Self::Failed(error) | Self::Other(error) => error,
        }
    }

    /// An object that is to be replaced and does not exist was removed by another program.
    pub(crate) fn at_put(self, object: &ObjectId) -> Error {
        match self {
            Self::Absent => Self::Conflict(ConditionClash::Changed).at(object),
            other => other.at(object),
        }
    }
}

impl CloudFault {
    /// The meaning of an answer that is not a success.
    pub(crate) fn of_answer(status: StatusCode, body: &str) -> Self {
        if let Some(fault) = of_code(body) {
            return fault;
        }
        let described = || on_one_line(&format!("server answered {status}: {body}"));
        match status {
            status if status.is_redirection() => elsewhere(None),
            StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => Self::Denied(described()),
            StatusCode::NOT_FOUND => Self::Absent,
            StatusCode::NOT_IMPLEMENTED => Self::Other(Error::unsupported(described())),
            _ => Self::Other(Error::new(ErrorKind::Io { retryable: false }, described())),
        }
    }
}

impl CloudFault {
    /// The meaning of a code that a service returned for one object among others, with its message.
    pub(crate) fn of_code(code: &str, words: Option<&str>) -> Self {
        meaning_of(code, "").unwrap_or_else(|| {
            let described =
                on_one_line(&format!("the server answered {code}: {}", words.unwrap_or_default()));
            Self::Other(Error::new(ErrorKind::Io { retryable: false }, described))
        })
    }
}

impl From<object_store::Error> for CloudFault {
    fn from(error: object_store::Error) -> Self {
        use object_store::Error as Found;
        if let Some(failure) = RequestFailure::below(&error) {
            return Self::Failed(failure.error.clone());
        }
        if let Some(fault) = explained(&error) {
            return fault;
        }
        match error {
            Found::NotFound { .. } => Self::Absent,
            Found::AlreadyExists { .. } => Self::Conflict(ConditionClash::Exists),
            Found::Precondition { .. } | Found::NotModified { .. } => Self::Conflict(ConditionClash::Changed),
            Found::PermissionDenied { .. } | Found::Unauthenticated { .. } => Self::Denied(described(&error)),
            Found::NotSupported { .. } | Found::NotImplemented { .. } => {
                Self::Other(Error::unsupported(described(&error)))
            }
            // Requested keys were checked before: this one is from a listing.
            Found::InvalidPath { .. } => Self::Other(Error::unsupported(format!(
                "a key there is not a plain path ({}): listings with such keys cannot be read; name the dataset itself",
                described(&error)
            ))),
            _ => Self::Other(Error::new(ErrorKind::Io { retryable: false }, described(&error))),
        }
    }
}

/// The meaning of error codes that say more than the status.
fn explained(error: &object_store::Error) -> Option<CloudFault> {
    let text = innermost(error);
    if text.contains("redirect without LOCATION") {
        return Some(elsewhere(None));
    }
    of_code(&text)
}

fn of_code(text: &str) -> Option<CloudFault> {
    // The client has its own wording for codes of single objects.
    let in_words = || Some(text.rsplit_once("(code: ")?.1.split_once(')')?.0.to_owned());
    meaning_of(&xml::word(text, "Code").or_else(in_words)?, text)
}

/// The meaning of an error code in an answer.
fn meaning_of(code: &str, text: &str) -> Option<CloudFault> {
    let denied = |why: &str| Some(CloudFault::Denied(why.to_owned()));
    match code {
        "NoSuchBucket" | "ContainerNotFound" => {
            Some(CloudFault::Failed(Error::not_found("there is no such bucket")))
        }
        "InvalidAccessKeyId" | "NotSignedUp" => denied("the server does not know the access key"),
        "SignatureDoesNotMatch" => denied("the secret access key does not belong to the access key"),
        // Azure's.
        "AuthenticationFailed" => denied("the server does not accept the account's key or token"),
        "InvalidToken" => denied("the session token is not valid"),
        "ExpiredToken" => denied("the session token has expired: get new credentials"),
        "RequestTimeTooSkewed" => denied("the clock of this machine differs too much from the server's"),
        "AuthorizationHeaderMalformed" | "PermanentRedirect" | "IllegalLocationConstraintException" => {
            Some(elsewhere(xml::word(text, "Region").as_deref()))
        }
        "AccessDenied" => denied(NO_LISTS),
        _ => None,
    }
}

/// Appended to all access errors: without the permission to list, absent objects are denied, too.
const NO_LISTS: &str =
    "the permission is lacking, or the object is absent and the permission to list is lacking";

fn elsewhere(region: Option<&str>) -> CloudFault {
    let message = match region {
        Some(region) => format!("the bucket is in region {region}: add #aws.region={region} to the URL"),
        None => "the bucket is in another region: add #aws.region= to the URL".to_owned(),
    };
    CloudFault::Failed(Error::invalid(message))
}

/// The innermost cause on one line, without anything that may be secret. The error itself is not kept: it may contain
/// signed addresses.
fn described(error: &dyn StdError) -> String {
    on_one_line(&innermost(error))
}

fn on_one_line(text: &str) -> String {
    let words: Vec<&str> = text.split_whitespace().map(without_query).collect();
    words.join(" ").chars().take(LONGEST).collect()
}

fn innermost(error: &dyn StdError) -> String {
    let mut cause = error;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    cause.to_string()
}

/// Maximum length of a message: servers may answer with whole pages.
const LONGEST: usize = 300;

fn without_query(word: &str) -> &str {
    if word.contains("://") { word.split('?').next().unwrap_or_default() } else { word }
}
