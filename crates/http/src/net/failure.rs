//! Why requests fail.
use ncirrus_layout::{Detail, Error, ErrorKind};
use std::error::Error as StdError;
use std::fmt;
use std::time::Duration;

/// Why a request failed, and whether it is worth retrying.
#[derive(Debug, Clone)]
pub struct RequestFailure {
    /// The error for the caller.
    pub error: Error,
    /// Whether it may be temporary.
    pub outlook: RetryOutlook,
    /// Wait that the server requests.
    pub after: Option<Duration>,
    /// Whether the server may have carried out the request.
    pub in_doubt: bool,
    /// Seconds by which the server's clock is ahead, if that is the reason.
    pub clock: Option<i64>,
}

/// Whether a failure may be temporary.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryOutlook {
    /// It is permanent.
    Final,
    /// It may be temporary.
    Passing,
    /// It may be temporary; the server was not reached.
    Unreached,
}

impl RequestFailure {
    /// A permanent failure.
    pub fn lasting(error: Error) -> Self {
        Self { error, outlook: RetryOutlook::Final, after: None, in_doubt: false, clock: None }
    }

    /// A temporary failure of a request that may have been carried out.
    pub fn passing(message: impl Into<String>) -> Self {
        let error = Error::new(ErrorKind::Io { retryable: true }, message);
        Self { error, outlook: RetryOutlook::Passing, after: None, in_doubt: true, clock: None }
    }

    /// A failure of the connection. The message omits the address, which may contain a signature.
    pub fn of(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let unreachable = Some(Detail::Unreachable);
        let (what, outlook, detail) = match &error {
            error if error.is_redirect() => ("the redirect was refused", RetryOutlook::Final, None),
            error if error.is_builder() => ("request cannot be made", RetryOutlook::Final, None),
            error if error.is_connect() => ("no connection", RetryOutlook::Unreached, unreachable),
            error if error.is_timeout() => ("no answer in time", RetryOutlook::Passing, None),
            error if error.is_body() || error.is_decode() => {
                ("answer was cut off", RetryOutlook::Passing, None)
            }
            _ => ("connection failed", RetryOutlook::Passing, unreachable),
        };
        let message = match innermost(&error) {
            Some(cause) => format!("{what}: {cause}"),
            None => what.to_owned(),
        };
        let reported = Error::new(ErrorKind::Io { retryable: outlook != RetryOutlook::Final }, message);
        let error = match detail {
            Some(detail) => reported.with_detail(detail),
            None => reported,
        };
        Self { error, outlook, after: None, in_doubt: outlook == RetryOutlook::Passing, clock: None }
    }

    /// The failure wrapped in a library's error.
    pub fn below<'a>(error: &'a (dyn StdError + 'static)) -> Option<&'a Self> {
        let mut error = error;
        loop {
            match error.downcast_ref() {
                Some(failure) => return Some(failure),
                None => error = error.source()?,
            }
        }
    }
}

fn innermost(error: &dyn StdError) -> Option<&dyn StdError> {
    let mut cause = error.source()?;
    while let Some(deeper) = cause.source() {
        cause = deeper;
    }
    Some(cause)
}

impl fmt::Display for RequestFailure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.error.message())
    }
}

impl StdError for RequestFailure {}
