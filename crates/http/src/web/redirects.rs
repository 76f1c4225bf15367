//! From an address to its bytes: redirects, credentials, cookies.
//!
//! Each server gets only what is meant for it: its own login, its own cookies, never those of the previous one.
use super::partial::ObjectState;
use super::{AT_ONCE, HttpStore};
use crate::connections::guard::HostGuard;
use crate::connections::guard_rules;
use crate::net::{RequestFailure, RequestService, ResponseHead};
use ncirrus_config::{HttpLogin, LoginKind, SecretText};
use ncirrus_layout::{Error, ErrorKind, LockExt};
use ncirrus_store::HostAccess;
use reqwest::header::{
    ACCEPT_ENCODING, CACHE_CONTROL, COOKIE, HeaderMap, IF_MATCH, IF_UNMODIFIED_SINCE, LOCATION, RANGE,
};
use reqwest::{StatusCode, Url};
use std::collections::BTreeMap;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// Maximum number of redirects.
const HOPS: usize = 10;
/// How much of a redirect's body is read, so that its connection can be reused.
pub(super) const DRAINED: usize = 64 << 10;

/// What is requested from every server on the way.
pub(super) struct RedirectRequest<'a> {
    pub(super) range: Option<String>,
    /// The state that the object must have.
    pub(super) state: Option<&'a ObjectState>,
}

/// Targets of redirects, by the original address.
#[derive(Default)]
pub(super) struct RedirectCache(Mutex<BTreeMap<String, (Url, Instant)>>);

/// Maximum number of targets that are kept.
const PLACES: usize = 1024;
/// How long a target is used before the original address is requested again: its redirect may change.
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
    /// Requests bytes from the last known target, else from the address. A signed target may have expired: then the
    /// original address is requested again, once.
    pub(super) async fn reach(
        &self,
        address: &str,
        requested: &RedirectRequest<'_>,
    ) -> Result<ResponseHead, RequestFailure> {
        let invalid = |_| RequestFailure::lasting(Error::invalid("an invalid address"));
        let mut first: Url = address.parse().map_err(invalid)?;
        first.set_fragment(None);
        if let Some(place) = self.places.find(address) {
            let answer = self.ask(&first, &place, requested).await;
            if answer.as_ref().is_ok_and(|answer| is_good(answer.status())) {
                return answer;
            }
            self.places.forget(address);
            drain(answer?).await;
        }
        self.follow(address, &first, requested).await
    }

    async fn follow(
        &self,
        address: &str,
        first: &Url,
        requested: &RedirectRequest<'_>,
    ) -> Result<ResponseHead, RequestFailure> {
        let (mut at, mut may_keep) = (first.clone(), true);
        for _ in 0..=HOPS {
            let answer = self.ask(first, &at, requested).await?;
            let Some(next) = next(&at, answer.status(), answer.headers())? else {
                if at != *first && may_keep && is_good(answer.status()) {
                    self.places.keep(address, at.clone());
                }
                return self.admitted(answer);
            };
            may_keep &= !is_unkept(answer.headers());
            drain(answer).await;
            at = next;
        }
        Err(refused(&format!("more than {HOPS} redirects")))
    }

    async fn ask(
        &self,
        first: &Url,
        at: &Url,
        requested: &RedirectRequest<'_>,
    ) -> Result<ResponseHead, RequestFailure> {
        let (service, guard) = self.service_for(first, at).map_err(RequestFailure::lasting)?;
        if let Some(guard) = guard {
            let from = first.host_str().filter(|host| at.host_str() != Some(*host));
            guard.check(at, from).await.map_err(RequestFailure::lasting)?;
        }
        let login = self.login_at(first, at).map(|login| login.kind);
        let cookies = self.cookies_at(first, at);
        // Ranges of compressed bytes are not ranges of the object.
        let encodings = if self.computes { "gzip, deflate" } else { "identity" };
        let make = || {
            let mut request = service.get(at.clone()).header(ACCEPT_ENCODING, encodings);
            if let Some(range) = &requested.range {
                request = request.header(RANGE, range);
            }
            request = match requested.state {
                Some(ObjectState::Tag(tag)) => request.header(IF_MATCH, tag),
                Some(ObjectState::Time(time)) => request.header(IF_UNMODIFIED_SINCE, time),
                None => request,
            };
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
        let mut answer = service.send(make).await?;
        self.jar.take(&self.who, at, answer.headers());
        if first.origin() != at.origin() {
            let login = self.login_at(first, at).map(|login| login.origin.to_string());
            answer.extensions_mut().insert(RedirectTarget { host: host_of(at), login });
        }
        Ok(answer)
    }

    /// What sends a request to a host, and checks it. A redirect to another host must not lead from a public network into a private
    /// one.
    fn service_for(
        &self,
        first: &Url,
        at: &Url,
    ) -> ncirrus_layout::Result<(&RequestService, Option<&HostGuard>)> {
        if self.guard.is_some() || first.host() == at.host() {
            return Ok((&self.service, self.guard.as_ref()));
        }
        if let Some((guard, service)) = self.beyond.get() {
            return Ok((service, Some(guard)));
        }
        let mut context = self.context.clone();
        context.options.hosts = HostAccess::NamedBy(first.host_str().map(str::to_owned));
        let service = context.service_of_redirects((&host_of(first), AT_ONCE))?;
        let rules = guard_rules(&context.options, &context.config);
        let guard =
            rules.map(HostGuard::of_redirects).ok_or_else(|| Error::internal("redirects without rules"))?;
        let (guard, service) = self.beyond.get_or_init(|| (guard, service));
        Ok((service, Some(guard)))
    }

    /// Credentials for a server: the usual ones at the original address; elsewhere those meant for that very host,
    /// and never over http, because an attacker who can change a redirect over http could otherwise collect any
    /// password.
    fn login_at(&self, first: &Url, at: &Url) -> Option<HttpLogin> {
        if first.origin() == at.origin() {
            return self.login.clone();
        }
        let is_safe = at.scheme() == "https" || is_loopback(at);
        let url = ncirrus_store::Url::parse(at.as_str()).ok().filter(|_| is_safe)?;
        self.config.login_elsewhere(&url)
    }

    /// Cookies of the session take precedence over those of the file.
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

    /// An answer; if the target of a redirect denies access, the error names that server. What a server that computes
    /// its answers says is in the body, which is read first.
    fn admitted(&self, answer: ResponseHead) -> Result<ResponseHead, RequestFailure> {
        match RedirectTarget::of(&answer).and_then(|target| target.denied(answer.status())) {
            Some(message) if !self.computes => {
                Err(RequestFailure::lasting(Error::new(ErrorKind::Denied, message)))
            }
            _ => Ok(answer),
        }
    }
}

/// Another server than that of the address, which a redirect ended at. It is kept with the answer.
#[derive(Debug, Clone)]
pub(super) struct RedirectTarget {
    /// With its port.
    pub(super) host: String,
    /// The origin of the credentials that it was sent.
    login: Option<String>,
}

impl RedirectTarget {
    /// The server that sent an answer, unless it is that of the address.
    pub(super) fn of(answer: &ResponseHead) -> Option<&Self> {
        answer.extensions().get()
    }

    /// What an answer with this status says, if it denies access.
    pub(super) fn denied(&self, status: StatusCode) -> Option<String> {
        let login = match &self.login {
            _ if !matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) => return None,
            Some(login) => format!(" to the login of {login}"),
            None if status == StatusCode::UNAUTHORIZED => ", and no login for it is known".to_owned(),
            None => String::new(),
        };
        Some(format!("access denied: {} answered {status}{login}", self.host))
    }
}

fn host_of(url: &Url) -> String {
    let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
    format!("{}{port}", url.host_str().unwrap_or_default())
}

/// The target of a redirect; a request made over https does not continue over http.
fn next(at: &Url, status: StatusCode, headers: &HeaderMap) -> Result<Option<Url>, RequestFailure> {
    if !matches!(status.as_u16(), 301 | 302 | 303 | 307 | 308) {
        return Ok(None);
    }
    let Some(location) = headers.get(LOCATION) else { return Ok(None) };
    let next = location.to_str().ok().and_then(|location| at.join(location).ok());
    let Some(mut next) = next else { return Err(refused("its address is invalid")) };
    match (at.scheme(), next.scheme()) {
        ("http" | "https", "https") | ("http", "http") => {}
        ("https", "http") => return Err(refused("from https to http")),
        _ => return Err(refused("neither to http nor to https")),
    }
    // A server does not choose the credentials for another one.
    let is_plain = next.set_username("").is_ok() && next.set_password(None).is_ok();
    next.set_fragment(None);
    // Some servers encode a query again that was encoded (docs/spec/dap.md 1.4).
    if let Some(query) = at.query()
        && next.query().is_some_and(|again| again != query && again.replace("%25", "%") == query)
    {
        next.set_query(Some(query));
    }
    if is_plain { Ok(Some(next)) } else { Err(refused("its address has no host")) }
}

fn refused(why: &str) -> RequestFailure {
    let message = format!("the redirect was refused: {why}");
    RequestFailure::lasting(Error::new(ErrorKind::Io { retryable: false }, message))
}

fn is_good(status: StatusCode) -> bool {
    matches!(
        status,
        StatusCode::OK
            | StatusCode::NON_AUTHORITATIVE_INFORMATION
            | StatusCode::PARTIAL_CONTENT
            | StatusCode::RANGE_NOT_SATISFIABLE
            | StatusCode::PRECONDITION_FAILED
    )
}

/// Whether a redirect must not be cached.
fn is_unkept(headers: &HeaderMap) -> bool {
    let reported = headers.get_all(CACHE_CONTROL).iter().filter_map(|value| value.to_str().ok());
    reported.into_iter().any(|reported| reported.to_ascii_lowercase().contains("no-store"))
}

fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default().trim_matches(['[', ']']);
    host == "localhost" || host.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Reads and discards a body.
async fn drain(answer: ResponseHead) {
    _ = answer.into_body().collect(DRAINED).await;
}

#[cfg(test)]
mod tests;
