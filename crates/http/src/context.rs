//! What requests of a session go by.
use crate::ConnectionPool;
use crate::net::RequestService;
use ncirrus_config::{ConfigKey, ConfigSettings, ProcessEnvironment};
use ncirrus_layout::Result;
use ncirrus_store::{StoreOptions, Url};
use std::borrow::Cow;
use std::sync::Arc;

/// What requests go by: the options of stores, the configuration, and connections that are kept open.
#[derive(Debug, Clone)]
pub struct NetworkContext {
    /// Time limits, retries, settings of the program.
    pub options: StoreOptions,
    /// What files and the environment say: aliases, logins, proxies.
    pub config: Arc<ConfigSettings>,
    /// Connections, and how many requests are in flight at once.
    pub connections: ConnectionPool,
}

impl NetworkContext {
    /// The context with what netCDF's files say of one address alone.
    pub fn of_address(&self, url: &Url) -> Cow<'_, Self> {
        let Some(config) = self.config.of_address(url) else { return Cow::Borrowed(self) };
        let mut own = self.clone();
        let is_own = |key: &ConfigKey| config.origin(*key) != self.config.origin(*key);
        let wait = |key: ConfigKey| Some(key).filter(is_own).and_then(|key| config.duration(key));
        own.options.timeout = wait(ConfigKey::Timeout).unwrap_or(own.options.timeout);
        own.options.patience.connect =
            wait(ConfigKey::ConnectTimeout).unwrap_or(own.options.patience.connect);
        own.config = Arc::new(config);
        Cow::Owned(own)
    }

    /// What sends requests to a place that takes at most so many at once.
    ///
    /// # Errors
    /// `Io` when no connections can be made, `Invalid` for certificates or a proxy that cannot be used.
    pub fn service(&self, place: (&str, usize)) -> Result<RequestService> {
        self.connections.service((&self.options, &self.config), place, true)
    }

    /// As [`service`](Self::service), for requests of which redirections are answers as others are.
    ///
    /// # Errors
    /// As [`service`](Self::service).
    pub(crate) fn service_of_redirects(&self, place: (&str, usize)) -> Result<RequestService> {
        self.connections.service((&self.options, &self.config), place, false)
    }
}

/// Default options and connections, and what the process's environment says.
impl Default for NetworkContext {
    fn default() -> Self {
        StoreOptions::default().into()
    }
}

/// Connections of its own, and what the process's environment says.
impl From<StoreOptions> for NetworkContext {
    fn from(options: StoreOptions) -> Self {
        let config = Arc::new(ConfigSettings::of_environment(ProcessEnvironment::of_process()));
        Self { options, config, connections: ConnectionPool::default() }
    }
}
