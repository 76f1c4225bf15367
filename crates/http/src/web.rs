//! Objects of web servers, read by range requests.
mod answer;
mod computed;
mod encoding;
mod page;
mod partial;
mod redirects;
#[cfg(test)]
mod tests;

use crate::NetworkContext;
use crate::connections::guard::HostGuard;
use crate::connections::{ConnectionPool, guard_rules};
use crate::jar::CookieJar;
use crate::net::{self, RequestFailure, RequestService};
use answer::{HttpAnswer, WholeObject};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_config::{ConfigSettings, HttpLogin, LoginKind, SecretText};
use ncirrus_layout::{Detail, Error, Limits, Listing, LockExt, ObjectBytes, ObjectId, Result, StoreId, Want};
use ncirrus_store::{
    AnswerReceiver, LocalStore, ReadOnlyStore, StoreFacts, Url, key, percent_decoded, percent_encoded,
};
use partial::PartialBody;
use redirects::{RedirectCache, RedirectRequest};
use std::collections::HashMap;
use std::fmt;
use std::sync::{Arc, Mutex, OnceLock};
use std::time::Duration;

/// Objects below a URL of a web server. They can be read, but not listed or changed.
///
/// The query and the password of the address are sent with every request and never shown.
pub struct HttpStore {
    id: StoreId,
    /// What precedes the slash and the key.
    base: String,
    /// The path for the empty key.
    slash: &'static str,
    query: Option<String>,
    /// Whether the server computes its answers: they are not objects with ranges and states.
    computes: bool,
    /// The credentials.
    login: Option<HttpLogin>,
    /// Distinguishes stores with different credentials.
    who: String,
    cookies: Option<SecretText>,
    /// Credentials for other servers.
    config: Arc<ConfigSettings>,
    /// Cookies that servers set.
    jar: Arc<CookieJar>,
    /// Where objects were found behind redirects.
    places: RedirectCache,
    service: RequestService,
    /// Keeps addresses that others named out of private networks.
    guard: Option<HostGuard>,
    /// The same for other hosts to which this one redirects.
    beyond: OnceLock<(HostGuard, RequestService)>,
    context: NetworkContext,
    limits: Limits,
    /// Maximum size of an object on a server without ranges.
    whole_bytes: u64,
    /// The object that a server without ranges sent last.
    whole: Mutex<Option<(ObjectId, WholeObject)>>,
    /// Sizes of objects whose server does not state them in partial answers.
    sizes: Mutex<HashMap<ObjectId, u64>>,
    warnings: Mutex<Vec<String>>,
}

impl HttpStore {
    /// The store at the parent of a URL, and the object of the URL in it. No request is sent yet.
    ///
    /// # Errors
    /// `Io` if no connections can be made at all.
    pub fn connect(url: &Url, context: &NetworkContext) -> Result<(Self, ObjectId)> {
        let connections: &ConnectionPool = &context.connections;
        let port = url.port().map(|port| format!(":{port}")).unwrap_or_default();
        let place = format!("{}{port}", url.host());
        let (parent, name, slash) = split(url.path());
        let login = context.config.login(url);
        let computes = url.is_computed();
        // The query of such an address is part of each request's own.
        let mark = match (
            url.query().filter(|_| !computes),
            url.credentials(),
            login.as_ref().map(|login| &login.kind),
        ) {
            // For configured credentials there is one store at a time.
            (None, None, Some(LoginKind::Basic(user, _))) => format!("{user}@"),
            (None, None, Some(LoginKind::Bearer(_))) => "bearer@".to_owned(),
            (None, None, None) => String::new(),
            (query, credentials, _) => {
                let (user, password) = credentials.unzip();
                format!("{}@", connections.mark([query, user, password.flatten()]))
            }
        };
        let scheme = url.scheme().as_str();
        let id = StoreId::new(format!("{scheme}://{place}{parent}"));
        let id = if mark.is_empty() { id } else { id.marked(mark.trim_end_matches('@')) };
        let store = Self {
            base: format!("{scheme}://{place}{parent}"),
            slash,
            query: url.query().filter(|_| !computes).map(str::to_owned),
            computes,
            login,
            who: mark,
            cookies: context.config.cookies(url),
            config: Arc::clone(&context.config),
            jar: connections.jar(),
            places: RedirectCache::default(),
            service: if computes {
                context.service_of_redirects((&format!("computed {place}"), computed::AT_ONCE))?
            } else {
                context.service_of_redirects((&place, AT_ONCE))?
            },
            guard: guard_rules(&context.options, &context.config).map(HostGuard::new),
            beyond: OnceLock::new(),
            context: context.clone(),
            limits: context.options.limits.clone(),
            whole_bytes: context.options.whole_bytes,
            whole: Mutex::default(),
            sizes: Mutex::default(),
            warnings: Mutex::default(),
            id,
        };
        let object = ObjectId::new(store.id.clone(), name);
        Ok((store, object))
    }

    async fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        key::check(object)?;
        if let Some(whole) = self.kept(object) {
            return Ok(Some(whole.blob(want)));
        }
        let answer =
            self.fetch(object, want).await.map_err(|failure| failure.error.at_object(object).by("http"))?;
        match answer {
            HttpAnswer::Absent | HttpAnswer::Unsized | HttpAnswer::Short(_) => Ok(None),
            HttpAnswer::Part(blob) => Ok(Some(blob)),
            HttpAnswer::Whole(whole) => {
                let blob = whole.blob(want);
                if !want.is_whole() {
                    self.keep(object, whole);
                }
                Ok(Some(blob))
            }
        }
    }

    /// The size of an object whose server does not state it in partial answers, if it was requested before.
    fn known_size(&self, object: &ObjectId) -> Option<u64> {
        self.sizes.guard().get(object).copied()
    }

    fn note_size(&self, object: &ObjectId, size: Option<u64>) {
        let mut sizes = self.sizes.guard();
        if let Some(size) = size.filter(|_| sizes.len() < MAX_SIZES) {
            sizes.insert(object.clone(), size);
        }
    }

    /// The whole object, if its server does not support ranges and it is in memory.
    fn kept(&self, object: &ObjectId) -> Option<WholeObject> {
        let kept = self.whole.guard();
        kept.as_ref().filter(|(of, _)| of == object).map(|(_, whole)| whole.clone())
    }

    /// Keeps an object that was sent whole, although a range was requested.
    fn keep(&self, object: &ObjectId, whole: WholeObject) {
        let reported = format!(
            "{object}: the server does not support byte ranges; the whole object was read ({} bytes)",
            whole.blob(&Want::All).size
        );
        *self.whole.guard() = Some((object.clone(), whole));
        let mut warnings = self.warnings.guard();
        if warnings.len() < MAX_WARNINGS && !warnings.contains(&reported) {
            warnings.push(reported);
        }
    }

    /// Requests bytes; after an answer that was interrupted or too short, the rest is requested.
    async fn fetch(&self, object: &ObjectId, want: &Want) -> std::result::Result<HttpAnswer, RequestFailure> {
        let address = self.address(object);
        let mut begun: Option<PartialBody> = None;
        let mut size = self.known_size(object);
        let (mut is_whole, mut is_size_requested, mut short) = (false, false, 0);
        loop {
            let (range, state) = match &begun {
                Some(begun) => (Some(begun.rest()), begun.state()),
                None => (range_of(want).filter(|_| !is_whole), None),
            };
            let response = self.reach(&address, &RedirectRequest { range, state }).await?;
            match answer::read(response, want, begun.take(), size, self).await? {
                Ok(HttpAnswer::Unsized) if is_size_requested => {
                    return Err(RequestFailure::lasting(Error::malformed(
                        "the server does not tell the object's size",
                    )));
                }
                // A server that does not state the size states the position of the last byte, or sends everything.
                Ok(HttpAnswer::Unsized) => {
                    let requested = RedirectRequest { range: range_of(&Want::Suffix(1)), state: None };
                    size = answer::size_of(&self.reach(&address, &requested).await?);
                    (is_whole, is_size_requested) = (size.is_none(), true);
                    self.note_size(object, size);
                }
                Ok(HttpAnswer::Short(so_far)) => {
                    short += 1;
                    begun = so_far.after_short(short)?;
                }
                Ok(answer) => return Ok(answer),
                Err((failure, so_far)) => {
                    net::again(failure).await?;
                    begun = so_far;
                }
            }
        }
    }

    fn address(&self, object: &ObjectId) -> String {
        let path = match object.key() {
            "" => self.slash.to_owned(),
            key => format!("/{}", percent_encoded(key)),
        };
        let query =
            object.query().or(self.query.as_deref()).map(|query| format!("?{query}")).unwrap_or_default();
        format!("{}{path}{query}", self.base)
    }
}

/// Concurrent requests to one web server.
const AT_ONCE: usize = 16;
/// Maximum number of objects whose sizes are remembered.
const MAX_SIZES: usize = 1 << 16;
/// Maximum number of objects with warnings.
const MAX_WARNINGS: usize = 8;

/// A path up to its last segment, that segment, and a trailing slash. The path before is kept unchanged.
fn split(path: &str) -> (&str, String, &'static str) {
    let (parent, last) = path.rsplit_once('/').unwrap_or((path, ""));
    let name = percent_decoded(last);
    if key::is_name(&name) && !name.contains('/') {
        return (parent, name, "/");
    }
    if last.is_empty() { (parent, String::new(), "/") } else { (path, String::new(), "") }
}

/// The header that requests a range. For an empty one a byte is requested: its answer states size and tag.
fn range_of(want: &Want) -> Option<String> {
    match want {
        Want::All | Want::AtMost(_) => None,
        Want::Range(range) | Want::Parse(range) => {
            let last = range.end.max(range.start.saturating_add(1)) - 1;
            Some(format!("bytes={}-{last}", range.start))
        }
        Want::Suffix(len) => Some(format!("bytes=-{}", (*len).max(1))),
    }
}

impl ReadOnlyStore for HttpStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_millis(50),
            concurrency: if self.computes { computed::AT_ONCE } else { AT_ONCE },
            merge_gap: 512 << 10,
            range_cap: 16 << 20,
            lists: false,
            writable: false,
            isolated: false,
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        if self.computes {
            net::query_operation(object, want, self.read_computed(object, want)).boxed()
        } else {
            net::read_operation(object, want, self.read(object, want)).boxed()
        }
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, _: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        let error =
            Error::unsupported("plain HTTP has no directory listings").with_detail(Detail::NoListings);
        Box::pin(async move { Err(error.at_object(prefix)) })
    }

    fn rejection(&self) -> Error {
        ncirrus_store::fault::read_only_protocol()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.guard().clone()
    }

    fn within(&self, _: &ObjectId) -> Option<(ObjectId, std::ops::Range<u64>)> {
        None
    }

    fn within_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<ncirrus_store::ObjectRange>>>>> {
        None
    }

    fn answer<'a>(
        &'a self,
        object: &'a ObjectId,
        receiver: &'a mut dyn AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        let answer = |receiver| {
            net::query_operation(object, &Want::All, self.receive_computed(object, receiver)).boxed()
        };
        self.computes.then(|| answer(receiver))
    }
}

impl fmt::Debug for HttpStore {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "HttpStore({})", self.id.as_str())
    }
}
