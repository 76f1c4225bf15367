//! The context of a session's requests.
use crate::ConnectionPool;
use crate::net::RequestService;
use ncirrus_config::{ConfigKey, ConfigSettings, ProcessEnvironment};
use ncirrus_layout::Result;
use ncirrus_store::{StoreOptions, Url};
use std::borrow::Cow;
use std::sync::Arc;

/// The context of requests: the options of stores, the configuration, and connections kept open.
#[derive(Debug, Clone)]
pub struct NetworkContext {
    /// Time limits, retries, settings given by the program.
    pub options: StoreOptions,
    /// Settings from files and the environment: aliases, logins, proxies.
    pub config: Arc<ConfigSettings>,
    /// Connections, and the limits on concurrent requests.
    pub connections: ConnectionPool,
}

impl NetworkContext {
    /// The context with the entries of netCDF's files for one address only.
    pub fn of_address(&self, url: &Url) -> Cow<'_, Self> {
        let Some(config) = self.config.of_address(url) else { return Cow::Borrowed(self) };
        let mut own = self.clone();
        let is_own = |key: &ConfigKey| config.origin(*key) != self.config.origin(*key);
        let wait = |key: ConfigKey| Some(key).filter(is_own).and_then(|key| config.duration(key));
        own.options.timeout = wait(ConfigKey::Timeout).unwrap_or(own.options.timeout);
        own.options.retry_policy.connect =
            wait(ConfigKey::ConnectTimeout).unwrap_or(own.options.retry_policy.connect);
        own.config = Arc::new(config);
        Cow::Owned(own)
    }

    /// The service for a host that accepts at most this many concurrent requests.
    ///
    /// # Errors
    /// `Io` if no connections can be made, `Invalid` for certificates or a proxy that cannot be used.
    pub fn service(&self, place: (&str, usize)) -> Result<RequestService> {
        self.connections.service((&self.options, &self.config), place, true)
    }

    /// As [`service`](Self::service), but redirects are returned like other answers, and so are parts of objects that
    /// are not the requested ones.
    ///
    /// # Errors
    /// As [`service`](Self::service).
    pub(crate) fn service_of_redirects(&self, place: (&str, usize)) -> Result<RequestService> {
        let service = self.connections.service((&self.options, &self.config), place, false)?;
        Ok(service.of_any_parts())
    }
}

/// Default options and connections, and the process's environment.
impl Default for NetworkContext {
    fn default() -> Self {
        StoreOptions::default().into()
    }
}

/// Connections of its own, and the process's environment.
impl From<StoreOptions> for NetworkContext {
    fn from(options: StoreOptions) -> Self {
        let config = Arc::new(ConfigSettings::of_environment(ProcessEnvironment::of_process()));
        Self { options, config, connections: ConnectionPool::default() }
    }
}
