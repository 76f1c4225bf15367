//! Connections that are kept open, shared by all stores of one set of options.
mod trust;

use crate::StoreOptions;
use crate::net::{self, Service, Traffic};
use ncirrus_layout::{Error, ErrorKind, Result};
use reqwest::redirect::Policy;
use reqwest::{Client, ClientBuilder};
use std::fmt;
use std::hash::{BuildHasher, Hash, RandomState};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

/// Connections that are kept open; clones share them.
#[derive(Clone, Default)]
pub struct Connections(Arc<Shared>);

#[derive(Default)]
struct Shared {
    client: OnceLock<Client>,
    net: Arc<net::Shared>,
    marks: RandomState,
}

/// How long connections that are not used stay open.
const IDLE: Duration = Duration::from_secs(90);
/// Most redirections followed.
const REDIRECTIONS: usize = 10;

impl Connections {
    /// What sends the requests of stores.
    pub(crate) fn service(&self, options: &StoreOptions) -> Result<Service> {
        Ok(Service::new(self.client(options)?, options, &self.0.net))
    }

    /// What was sent and received so far.
    pub fn traffic(&self) -> Traffic {
        self.0.net.traffic()
    }

    /// The client, made when it is first needed.
    fn client(&self, options: &StoreOptions) -> Result<Client> {
        if let Some(client) = self.0.client.get() {
            return Ok(client.clone());
        }
        let made = build(options)?;
        Ok(self.0.client.get_or_init(|| made).clone())
    }

    /// A mark that tells secrets apart without telling them.
    pub(crate) fn mark(&self, secrets: impl Hash) -> String {
        format!("{:016x}", self.0.marks.hash_one(secrets))
    }
}

fn build(options: &StoreOptions) -> Result<Client> {
    let failed = |error: &dyn fmt::Display| {
        Error::new(ErrorKind::Io { retryable: false }, format!("no connections can be made: {error}"))
    };
    let http = options.config.http();
    let tls = trust::tls(trust::certificates(options)?).map_err(|error| failed(&error))?;
    let builder = ClientBuilder::new()
        .user_agent(http.user_agent.as_deref().unwrap_or(concat!("ncirrus/", env!("CARGO_PKG_VERSION"))))
        .pool_idle_timeout(http.keepalive.unwrap_or(IDLE))
        .tls_backend_preconfigured(tls)
        .http1_only()
        .referer(false)
        .connect_timeout(options.patience.connect.min(options.timeout))
        .redirect(redirections());
    trust::proxied(builder, &http)?.build().map_err(|error| failed(&error.without_url()))
}

/// What was asked for in secret is not sent on in the open.
fn redirections() -> Policy {
    Policy::custom(|attempt| {
        let was_secret = attempt.previous().last().is_some_and(|from| from.scheme() == "https");
        if attempt.previous().len() > REDIRECTIONS {
            return attempt.error("too many redirections");
        }
        if was_secret && attempt.url().scheme() != "https" {
            return attempt.error("redirected from https to http");
        }
        attempt.follow()
    })
}

impl fmt::Debug for Connections {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Connections")
    }
}
