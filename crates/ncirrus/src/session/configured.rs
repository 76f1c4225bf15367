//! The effect of the user's configuration on a session.
use super::{Session, SessionBuilder};
use crate::{Error, Result};
#[cfg(feature = "plugins")]
use ncirrus_config::ValueOrigin;
use ncirrus_config::{ConfigKey, ConfigSettings};
use ncirrus_icechunk::IcechunkDriver;
use ncirrus_layout::Want;
use ncirrus_store::{ContainerRule, StoreContext, StoreOptions, Url};
use std::sync::Arc;

/// The configuration, or why it could not be read.
#[derive(Default)]
pub(super) struct SessionConfig {
    settings: Option<Arc<ConfigSettings>>,
    error: Option<Error>,
}

impl SessionConfig {
    /// The configuration.
    pub(super) fn settings(self) -> Result<Arc<ConfigSettings>> {
        match self.error {
            Some(error) => Err(error),
            None => Ok(self.settings.unwrap_or_default()),
        }
    }

    /// The driver of Icechunk, with the state that is shown if an address names none.
    pub(super) fn icechunk(&self) -> IcechunkDriver {
        let keys = [
            ("branch", ConfigKey::IcechunkBranch),
            ("tag", ConfigKey::IcechunkTag),
            ("snapshot", ConfigKey::IcechunkSnapshot),
            ("at", ConfigKey::IcechunkAt),
        ];
        let settings = self.settings.as_deref();
        let value = |(name, key): (&str, ConfigKey)| Some((name.to_owned(), settings?.text(key)?.to_owned()));
        IcechunkDriver::new(keys.into_iter().filter_map(value))
    }
}

impl SessionBuilder {
    /// Starts from the settings of the environment and the user's files.
    pub(super) fn configured(self) -> Self {
        match ConfigSettings::of_process() {
            Ok(settings) => self.settings(settings),
            Err(error) => Self { configured: SessionConfig { settings: None, error: Some(error) }, ..self },
        }
    }

    /// Starts from this configuration instead of that of the environment and the user's files. It overrides options
    /// that were set before; options that are set later override it.
    #[must_use]
    pub fn settings(mut self, settings: ConfigSettings) -> Self {
        let count = |key| settings.count(key).and_then(|count| usize::try_from(count).ok());
        let size = |key| settings.size(key).map(|size| usize::try_from(size).unwrap_or(usize::MAX));
        if let Some(threads) = count(ConfigKey::Threads) {
            self = self.threads(threads);
        }
        if let Some(memory) = size(ConfigKey::Memory) {
            self = self.memory(memory);
        }
        if let Some(handles) = count(ConfigKey::Handles) {
            self = self.handles(handles);
        }
        if let Some(requests) = count(ConfigKey::Requests) {
            self = self.requests(requests);
        }
        if let Some(reads_ahead) = settings.flag(ConfigKey::ReadAhead) {
            self = self.read_ahead(reads_ahead);
        }
        if let Some(folder) = settings.path(ConfigKey::CacheFolder) {
            self = self.cache_folder(folder);
            // A folder without a size is for arrays that are larger than memory.
            if let Some(bytes) = settings.size(ConfigKey::CacheSize) {
                self = self.block_cache(folder, bytes);
            }
        }
        if let Some(folder) = settings.path(ConfigKey::IndexCacheFolder) {
            self = self.index_cache(folder, settings.size(ConfigKey::IndexCacheSize).unwrap_or(1 << 30));
        }
        self = self.with_plugins_of(&settings);
        let error = configure(&mut self.stores, &settings).err();
        let settings = Some(Arc::new(settings)).filter(|_| error.is_none());
        self.configured = SessionConfig { settings, error };
        self
    }

    /// Plugin folders that a file names; environment variables and netCDF's files are read where plugins are looked up.
    #[cfg(feature = "plugins")]
    fn with_plugins_of(mut self, settings: &ConfigSettings) -> Self {
        let is_in_file = matches!(settings.origin(ConfigKey::PluginPath), Some(ValueOrigin::File(path, _)) if path.extension().is_some_and(|end| end == "toml"));
        if let Some(path) = settings.text(ConfigKey::PluginPath).filter(|_| is_in_file) {
            self.plugins = self.plugins.configured_directories(std::env::split_paths(path));
        }
        self
    }

    #[cfg(not(feature = "plugins"))]
    fn with_plugins_of(self, _: &ConfigSettings) -> Self {
        self
    }
}

/// Options for stores, as far as the configuration sets them.
///
/// # Errors
/// `Invalid` for a rule for containers that is not one.
fn configure(stores: &mut StoreOptions, settings: &ConfigSettings) -> Result<()> {
    if let Some(timeout) = settings.duration(ConfigKey::Timeout) {
        stores.timeout = timeout;
    }
    if let Some(wait) = settings.duration(ConfigKey::ConnectTimeout) {
        stores.retry_policy.connect = wait;
    }
    if let Some(retries) = settings.count(ConfigKey::Retries) {
        stores.retries = u32::try_from(retries).unwrap_or(u32::MAX);
    }
    if let Some(hosts) = settings.text(ConfigKey::ReferencesHosts) {
        stores.allowed_hosts = ncirrus_store::hosts_in(hosts);
    }
    if let Some(rules) = settings.text(ConfigKey::VirtualContainers) {
        let rules = rules.split_whitespace().map(ContainerRule::parse).collect::<Result<Vec<_>>>()?;
        stores.containers.splice(0..0, rules);
    }
    if let Some(folder) = settings.path(ConfigKey::Scratch) {
        stores.scratch = Some(folder.to_owned());
    }
    Ok(())
}

/// The result of one request to an address.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum AddressProbe {
    /// An object of this many bytes.
    Object(u64),
    /// A whole bucket or folder that may be listed, and the number of names on its first page.
    Prefix(usize),
    /// Nothing with that name.
    Absent,
}

impl Session {
    /// Sends one request, to find out whether an address is accessible with the credentials that are used.
    ///
    /// # Errors
    /// The errors of a read: `Denied`, `Io`, `Invalid` for an invalid address.
    pub fn probe(&self, url: &str) -> Result<AddressProbe> {
        let address = Url::parse(url)?;
        self.wait_for_store(url, async {
            let opened = ncirrus_store::open_url(&address, &self.stores).await?;
            let (store, root) = match opened.container {
                Some(container) => container,
                None => (opened.store, opened.root),
            };
            if root.key().is_empty() {
                return store.list(&root, None).await.map(|page| AddressProbe::Prefix(page.entries.len()));
            }
            let found = store.get(&root, &Want::Range(0..1)).await?;
            Ok(found.map_or(AddressProbe::Absent, |blob| AddressProbe::Object(blob.size)))
        })
    }

    /// Starts the log that an address (`#log`, `#log=FILE`) or netCDF's files request.
    pub(crate) fn start_log(&self, url: &str) -> Result<()> {
        let address = Url::parse(url)?;
        let file = match address.fragment().value("log") {
            Some(file) => Some(file),
            None => self.settings().log(&address),
        };
        match file {
            // A level instead of a file.
            None | Some("0") => Ok(()),
            Some(level) if level.bytes().all(|byte| byte.is_ascii_digit()) => {
                ncirrus_engine::request_log::start("")
            }
            Some(file) => ncirrus_engine::request_log::start(file),
        }
    }

    /// The configuration of the session.
    pub fn settings(&self) -> &ConfigSettings {
        &self.network.config
    }

    /// How the session opens stores.
    pub fn store_options(&self) -> &StoreOptions {
        &self.stores.options
    }

    /// The context with which the session opens stores: an argument of [`store::open`](crate::store::open).
    pub fn store_context(&self) -> &StoreContext {
        &self.stores
    }

    /// Notes for the user about the configuration, and about the credentials that were used so far.
    pub fn notes(&self) -> Vec<String> {
        #[cfg(feature = "cloud")]
        let others = self.network.cloud.identities.notes();
        #[cfg(not(feature = "cloud"))]
        let others = Vec::new();
        [self.network.config.warnings().to_vec(), others].concat()
    }
}
