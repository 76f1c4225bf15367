//! The way from an address to its bytes: redirections, who is known to whom, cookies.
//!
//! Each server gets what is meant for that very server: its own login, its own cookies, never those of the one before.
use super::HttpStore;
use crate::net::{RequestFailure, ResponseHead};
use ncirrus_config::{HttpLogin, LoginKind, SecretText};
use ncirrus_layout::{Error, ErrorKind, LockExt};
use reqwest::header::{ACCEPT_ENCODING, CACHE_CONTROL, COOKIE, HeaderMap, IF_MATCH, LOCATION, RANGE};
use reqwest::{StatusCode, Url};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Most redirections followed.
const HOPS: usize = 10;
/// Bytes of a redirection's body that are read, so that its connection can be used again.
const DRAINED: usize = 64 << 10;

/// What every server on the way is asked for.
pub(super) struct RedirectRequest<'a> {
    pub(super) range: Option<String>,
    /// The state that the object must be in.
    pub(super) state: Option<&'a str>,
}

/// Where objects were found behind redirections, by their addresses.
#[derive(Default)]
pub(super) struct RedirectCache(Mutex<BTreeMap<String, (Url, Instant)>>);

/// Most places that are kept.
const PLACES: usize = 1024;
/// How long a place is asked before the address is asked again: what it redirects to may change.
const KEPT: Duration = Duration::from_secs(300);

impl RedirectCache {
    fn find(&self, address: &str) -> Option<Url> {
        let place = self.lock().get(address).cloned();
        place.filter(|(_, since)| since.elapsed() < KEPT).map(|(place, _)| place)
    }

    fn forget(&self, address: &str) {
        self.lock().remove(address);
    }

    fn keep(&self, address: &str, place: Url) {
        let mut places = self.lock();
        if places.len() >= PLACES {
            places.clear();
        }
        places.insert(address.to_owned(), (place, Instant::now()));
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<String, (Url, Instant)>> {
        self.0.guard()
    }
}

impl HttpStore {
    /// Asks for bytes where they were found last, else by the address. A place that was signed for a while may be gone:
    /// then the address is asked again, once.
    pub(super) async fn reach(
        &self,
        address: &str,
        asked: &RedirectRequest<'_>,
    ) -> Result<ResponseHead, RequestFailure> {
        let invalid = |_| RequestFailure::lasting(Error::invalid("an address that is none"));
        let mut first: Url = address.parse().map_err(invalid)?;
        first.set_fragment(None);
        if let Some(place) = self.places.find(address) {
            let answer = self.ask(&first, &place, asked).await;
            if answer.as_ref().is_ok_and(|answer| is_good(answer.status())) {
                return answer;
            }
            self.places.forget(address);
            drain(answer?).await;
        }
        self.follow(address, &first, asked).await
    }

    async fn follow(
        &self,
        address: &str,
        first: &Url,
        asked: &RedirectRequest<'_>,
    ) -> Result<ResponseHead, RequestFailure> {
        let (mut at, mut may_keep) = (first.clone(), true);
        for _ in 0..=HOPS {
            let answer = self.ask(first, &at, asked).await?;
            let Some(next) = next(&at, answer.status(), answer.headers())? else {
                if at != *first && may_keep && is_good(answer.status()) {
                    self.places.keep(address, at.clone());
                }
                return self.admitted(first, &at, answer);
            };
            may_keep &= !is_unkept(answer.headers());
            drain(answer).await;
            at = next;
        }
        Err(refused(&format!("more than {HOPS} redirections")))
    }

    async fn ask(
        &self,
        first: &Url,
        at: &Url,
        asked: &RedirectRequest<'_>,
    ) -> Result<ResponseHead, RequestFailure> {
        let login = self.login_at(first, at).map(|login| login.kind);
        let cookies = self.cookies_at(first, at);
        let make = || {
            let mut request = self.service.get(at.clone()).header(ACCEPT_ENCODING, "identity");
            if let Some(range) = &asked.range {
                request = request.header(RANGE, range);
            }
            if let Some(state) = asked.state {
                request = request.header(IF_MATCH, state);
            }
            request = match &login {
                Some(LoginKind::Basic(user, password)) => {
                    request.basic_auth(user, password.as_ref().map(SecretText::exposed))
                }
                Some(LoginKind::Bearer(token)) => request.bearer_auth(token.exposed()),
                None => request,
            };
            if !cookies.is_empty() {
                request = request.header(COOKIE, cookies.join("; "));
            }
            request.build().map_err(RequestFailure::of)
        };
        let answer = self.service.send(make).await?;
        self.jar.take(&self.who, at, answer.headers());
        Ok(answer)
    }

    /// Who asks a server: at the address itself as always; elsewhere by what is meant for that very host, and never in
    /// the open, as whoever can change an answer over http could ask for any password then.
    fn login_at(&self, first: &Url, at: &Url) -> Option<HttpLogin> {
        if first.origin() == at.origin() {
            return self.login.clone();
        }
        let is_safe = at.scheme() == "https" || is_loopback(at);
        let url = ncirrus_store::Url::parse(at.as_str()).ok().filter(|_| is_safe)?;
        self.config.login_elsewhere(&url)
    }

    /// Cookies of the session go before those of the file.
    fn cookies_at(&self, first: &Url, at: &Url) -> Vec<String> {
        let of_file = if first.origin() == at.origin() {
            self.cookies.clone()
        } else {
            ncirrus_store::Url::parse(at.as_str()).ok().and_then(|url| self.config.cookies(&url))
        };
        let mut cookies = self.jar.of(&self.who, at);
        let name = |cookie: &str| cookie.split_once('=').map(|(name, _)| name.to_owned());
        let known: Vec<_> = cookies.iter().map(|cookie| name(cookie)).collect();
        let others = of_file.iter().flat_map(|text| text.exposed().split("; "));
        cookies.extend(others.filter(|cookie| !known.contains(&name(cookie))).map(str::to_owned));
        cookies
    }

    /// An answer, unless it is that of a server redirected to which lets nobody in: then that one is named.
    fn admitted(&self, first: &Url, at: &Url, answer: ResponseHead) -> Result<ResponseHead, RequestFailure> {
        let status = answer.status();
        if first.origin() == at.origin()
            || !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN)
        {
            return Ok(answer);
        }
        let port = at.port().map(|port| format!(":{port}")).unwrap_or_default();
        let host = format!("{}{port}", at.host_str().unwrap_or_default());
        let login = match self.login_at(first, at) {
            Some(login) => format!(" to the login of {}", login.origin),
            None if status == StatusCode::UNAUTHORIZED => ", and no login for it is known".to_owned(),
            None => String::new(),
        };
        let message = format!("access denied: {host} answered {status}{login}");
        Err(RequestFailure::lasting(Error::new(ErrorKind::Denied, message)))
    }
}

/// Where an answer redirects to; what was asked for in secret is not asked for in the open.
fn next(at: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Option<Url>, RequestFailure> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else { return Ok(None) };
    let next = location.to_str().ok().and_then(|location| at.join(location).ok());
    let Some(mut next) = next else { return Err(refused("its address is none")) };
    match (at.scheme(), next.scheme()) {
        ("http" | "https", "https") | ("http", "http") => {}
        ("https", "http") => return Err(refused("from https to http")),
        _ => return Err(refused("neither to http nor to https")),
    }
    // A server does not choose who asks another one.
    let is_plain = next.set_username("").is_ok() && next.set_password(None).is_ok();
    next.set_fragment(None);
    if is_plain { Ok(Some(next)) } else { Err(refused("its address has no host")) }
}

fn refused(why: &str) -> RequestFailure {
    let message = format!("redirection was refused: {why}");
    RequestFailure::lasting(Error::new(ErrorKind::Io { retryable: false }, message))
}

fn is_good(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::OK
            | StatusCode::PARTIAL_CONTENT
            | StatusCode::RANGE_NOT_SATISFIABLE
            | StatusCode::PRECONDITION_FAILED
    )
}

/// Whether a redirection is for this once.
fn is_unkept(headers: &HeaderMap) -> bool {
    let told = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    told.into_iter().any(|told| told.to_ascii_lowercase().contains("no-store"))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads what nobody wants to know.
async fn drain(answer: ResponseHead) {
    _ = answer.into_body().collect(DRAINED).await;
}

#[cfg(test)]
mod tests;
