//! Trying again what may succeed later.
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result};
use std::error::Error as _;
use std::hash::{BuildHasher, RandomState};
use std::time::Duration;

/// How often and how soon requests are tried again.
#[derive(Debug, Clone, Copy)]
pub(super) struct Retries {
    /// How often at most.
    pub(super) most: u32,
    /// Wait before the first time; it doubles every time.
    pub(super) first: Duration,
}

/// Wait before a request is tried again for the first time.
pub(super) const FIRST: Duration = Duration::from_millis(200);
/// Longest wait of our own choice.
const LONGEST: Duration = Duration::from_secs(10);
/// Longest wait that a server may ask for.
const LONGEST_ASKED: Duration = Duration::from_secs(60);

/// Why a request failed, and whether it is worth trying again.
#[derive(Debug)]
pub(super) struct Failure {
    error: Error,
    again: bool,
    /// Wait that the server asks for.
    after: Option<Duration>,
}

impl Failure {
    /// A failure that stays.
    pub(super) fn for_good(error: Error) -> Self {
        Self { error, again: false, after: None }
    }

    /// A failure that may pass.
    pub(super) fn passing(message: String, after: Option<Duration>) -> Self {
        Self { error: Error::new(ErrorKind::Io { retryable: true }, message), again: true, after }
    }

    /// A failure of the connection. The address stays out of the message: it may hold a signature.
    pub(super) fn of(error: reqwest::Error) -> Self {
        let error = error.without_url();
        let what = match &error {
            error if error.is_timeout() => "no answer in time",
            error if error.is_connect() => "no connection",
            error if error.is_redirect() => "redirection was refused",
            _ => "connection failed",
        };
        let again = !error.is_redirect() && !error.is_builder();
        let mut cause = error.source();
        while let Some(deeper) = cause.and_then(std::error::Error::source) {
            cause = Some(deeper);
        }
        let message = cause.map_or_else(|| what.to_owned(), |cause| format!("{what}: {cause}"));
        Self { error: Error::new(ErrorKind::Io { retryable: again }, message), again, after: None }
    }
}

impl Retries {
    /// Runs a request until it succeeds or fails for good.
    pub(super) async fn run<T, F>(&self, object: &ObjectId, mut request: impl FnMut() -> F) -> Result<T>
    where
        F: Future<Output = std::result::Result<T, Failure>>,
    {
        let mut tried = 0;
        loop {
            match request().await {
                Ok(value) => return Ok(value),
                Err(failure) if failure.again && tried < self.most => {
                    tokio::time::sleep(self.wait(tried, failure.after)).await;
                    tried += 1;
                }
                Err(failure) => return Err(failure.error.at_object(object).by("http")),
            }
        }
    }

    /// Waits of many clients should not end at the same moment.
    fn wait(&self, tried: u32, asked: Option<Duration>) -> Duration {
        if let Some(asked) = asked {
            return asked.min(LONGEST_ASKED);
        }
        let longest = self.first.saturating_mul(2_u32.saturating_pow(tried)).min(LONGEST);
        let share = u32::try_from(RandomState::new().hash_one(tried) % 512).unwrap_or_default();
        longest / 2 + longest.saturating_mul(share) / 1024
    }
}
