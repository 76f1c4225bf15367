//! Connections kept open, shared by all stores of a session.
pub(crate) mod guard;
mod named;
mod trust;

use crate::jar::CookieJar;
use crate::net::{self, NetworkTraffic, RequestService};
use guard::{GuardRules, HostGuard};
use ncirrus_config::{ConfigKey, ConfigSettings, HttpSettings, SecretText};
use ncirrus_layout::{Error, ErrorKind, LockExt, Result};
use ncirrus_store::StoreOptions;
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use std::collections::BTreeMap;
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Connections kept open; clones share them.
#[derive(Clone)]
pub struct ConnectionPool(Arc<SharedConnections>);

/// Connection timeout, whether redirects are followed, the configuration, and which hosts may be reached.
type ClientKey = (Duration, bool, HttpSettings, Option<GuardRules>);

struct SharedConnections {
    /// Limits on concurrent requests.
    requests: usize,
    clients: Mutex<BTreeMap<ClientKey, Client>>,
    net: Arc<net::SharedService>,
    jar: Arc<CookieJar>,
    marks: RandomState,
}

/// How long idle connections stay open.
const IDLE: Duration = Duration::from_secs(90);
/// Maximum number of redirects.
const REDIRECTIONS: usize = 10;

/// Default limit of concurrent requests.
const REQUESTS: usize = 256;

impl ConnectionPool {
    /// The limit of concurrent requests.
    pub fn requests(&self) -> usize {
        self.0.requests
    }

    /// No connections yet; at most this many requests will be in flight at once, to all hosts together.
    pub fn new(requests: usize) -> Self {
        Self(Arc::new(SharedConnections {
            clients: Mutex::default(),
            requests: requests.max(1),
            net: Arc::new(net::SharedService::new(requests)),
            jar: Arc::default(),
            marks: RandomState::default(),
        }))
    }

    /// The service for a host that accepts at most this many concurrent requests; redirects are followed, or returned
    /// like other answers.
    pub(crate) fn service(
        &self,
        (options, config): (&StoreOptions, &ConfigSettings),
        place: (&str, usize),
        follows: bool,
    ) -> Result<RequestService> {
        Ok(RequestService::new(self.client(options, config, follows)?, options, &self.0.net, place))
    }

    /// Cookies that servers set.
    pub(crate) fn jar(&self) -> Arc<CookieJar> {
        Arc::clone(&self.0.jar)
    }

    /// Totals sent and received so far.
    pub fn traffic(&self) -> NetworkTraffic {
        self.0.net.traffic()
    }

    /// A client, created on first use.
    fn client(&self, options: &StoreOptions, config: &ConfigSettings, follows: bool) -> Result<Client> {
        let connect = options.retry_policy.connect.min(options.timeout);
        let mut clients = self.0.clients.guard();
        let guard = guard_rules(options, config);
        let kind = (connect, follows, config.http(), guard.clone());
        if let Some(client) = clients.get(&kind) {
            return Ok(client.clone());
        }
        let policy = if follows { redirections() } else { Policy::none() };
        let client = build(config, connect, policy, guard)?;
        clients.insert(kind, client.clone());
        Ok(client)
    }

    /// A hash that distinguishes secrets without revealing them.
    pub fn mark(&self, secrets: impl Hash) -> String {
        format!("{:016x}", self.0.marks.hash_one(secrets))
    }
}

/// Which hosts may be reached with these options; `None` for all.
pub(crate) fn guard_rules(options: &StoreOptions, config: &ConfigSettings) -> Option<GuardRules> {
    let http = config.http();
    let of_program = options.settings.iter().find(|(name, _)| name.to_ascii_lowercase().contains("endpoint"));
    let endpoint = of_program.map(|(_, value)| value.as_str()).or_else(|| config.text(ConfigKey::Endpoint));
    GuardRules::of(options, http.proxy.as_ref().map(SecretText::exposed), endpoint)
}

fn build(
    config: &ConfigSettings,
    connect: Duration,
    policy: Policy,
    guard: Option<GuardRules>,
) -> Result<Client> {
    let failed = |error: &dyn fmt::Display| {
        Error::new(ErrorKind::Io { retryable: false }, format!("no connections can be made: {error}"))
    };
    let http = config.http();
    let tls = trust::tls(trust::certificates(config)?).map_err(|error| failed(&error))?;
    let builder = ClientBuilder::new()
        .user_agent(http.user_agent.as_deref().unwrap_or(concat!("ncirrus/", env!("CARGO_PKG_VERSION"))))
        .pool_idle_timeout(http.keepalive.unwrap_or(IDLE))
        .tls_backend_preconfigured(tls)
        .http1_only()
        .referer(false)
        .connect_timeout(connect)
        .redirect(policy);
    let builder = match guard {
        Some(rules) => builder.dns_resolver(Arc::new(HostGuard::new(rules))),
        None => builder,
    };
    trust::proxied(builder, config)?.build().map_err(|error| failed(&error.without_url()))
}

/// A request made over https is not redirected to http.
fn redirections() -> Policy {
    Policy::custom(|attempt| {
        let was_secret = attempt.previous().last().is_some_and(|from| from.scheme() == "https");
        if attempt.previous().len() > REDIRECTIONS {
            return attempt.error("too many redirects");
        }
        if was_secret && attempt.url().scheme() != "https" {
            return attempt.error("redirected from https to http");
        }
        attempt.follow()
    })
}

impl Default for ConnectionPool {
    fn default() -> Self {
        Self::new(REQUESTS)
    }
}

impl fmt::Debug for ConnectionPool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connections")
    }
}
