//! What a server checks in signed requests besides their signatures, as Amazon's does.
use super::server::refusal_with;
use chrono::{DateTime, NaiveDateTime, TimeDelta, Utc};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderValue};
use hyper::{Request, Response};
use s3s::Body;
use std::collections::BTreeMap;

/// The checks; those that are not set are skipped.
#[derive(Debug, Clone, Default)]
pub(crate) struct Guard {
    /// Region that requests must be signed for, and whether the server reports it to others.
    pub(crate) region: Option<(&'static str, bool)>,
    /// Valid session tokens with their expiry; others are refused, as are requests without one.
    pub(crate) tokens: Option<BTreeMap<String, DateTime<Utc>>>,
    /// How far the server's clock is ahead of this machine's.
    pub(crate) ahead: TimeDelta,
    /// How far the reported time differs from the server's clock.
    pub(crate) lies: TimeDelta,
}

/// Maximum difference between the time of a signature and the clock.
const MAX_CLOCK_DIFFERENCE: TimeDelta = TimeDelta::minutes(15);

impl Guard {
    /// Why a request is refused: a code, and the answer.
    pub(crate) fn refuses(&self, request: &Request<Incoming>) -> Option<(&'static str, Response<Body>)> {
        let header = |name: &str| request.headers().get(name)?.to_str().ok();
        let authorization = request.headers().get(AUTHORIZATION)?.to_str().unwrap();
        let refused = |status, code, more: &str| Some((code, refusal_with(status, code, more)));
        let signed = NaiveDateTime::parse_from_str(header("x-amz-date").unwrap(), "%Y%m%dT%H%M%SZ").unwrap();
        if (self.now() - signed.and_utc()).abs() > MAX_CLOCK_DIFFERENCE {
            return refused(403, "RequestTimeTooSkewed", "");
        }
        if let Some((region, is_reported)) = self.region
            && !authorization.contains(&format!("/{region}/s3/aws4_request"))
        {
            let reported = if is_reported { format!("<Region>{region}</Region>") } else { String::new() };
            return refused(400, "AuthorizationHeaderMalformed", &reported);
        }
        let tokens = self.tokens.as_ref()?;
        match header("x-amz-security-token").and_then(|token| tokens.get(token)) {
            None => refused(403, "InvalidToken", ""),
            Some(until) if *until <= self.now() => refused(400, "ExpiredToken", ""),
            Some(_) => None,
        }
    }

    /// The date in answers.
    pub(crate) fn date(&self) -> HeaderValue {
        let reported = self.now() + self.lies;
        HeaderValue::from_str(&reported.format("%a, %d %b %Y %H:%M:%S GMT").to_string()).unwrap()
    }

    fn now(&self) -> DateTime<Utc> {
        DateTime::<Utc>::from(std::time::SystemTime::now()) + self.ahead
    }
}
