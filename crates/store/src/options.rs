//! Choices that all stores share.
use crate::cache::BlockCache;
use crate::config::ConfigSettings;
use crate::{HandleBudget, MemoryStore, RetryPolicy, SchemeRegistry};
use ncirrus_layout::Limits;
use ncirrus_layout::LockExt;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Choices that all stores share. Clones share the stores in memory and the connections.
#[derive(Clone)]
pub struct StoreOptions {
    /// Whether what is written is on the disk when a barrier or a commit returns.
    pub durable: bool,
    /// Budgets for what comes from outside: directories of zip files, answers of servers.
    pub limits: Limits,
    /// What `memory://name` means.
    pub memory: MemoryStores,
    /// How new zip files are laid out.
    pub zip_layout: ZipLayout,
    /// How single files come to object stores.
    pub uploads: UploadMode,
    /// Bytes that an upload may hold; never fewer than three of its parts have.
    pub upload_memory: usize,
    /// Whether single files on other machines may be changed: they are fetched whole, changed here, and sent again whole.
    pub rewrite: bool,
    /// Whether reference files on other machines may name files of this one, and stores in its memory.
    pub local_references: bool,
    /// Where files lie that are to be uploaded, and what a copy cuts anew and memory has no room for;
    /// [`ScratchFile::usual_folder`](crate::ScratchFile::usual_folder) unless given.
    pub scratch: Option<PathBuf>,
    /// Longest wait for an answer of a server.
    pub timeout: Duration,
    /// How often a request is tried again that may succeed later.
    pub retries: u32,
    /// How slow a network may be, and how long requests are made again.
    pub patience: RetryPolicy,
    /// Most bytes of an object that is read whole because its server does not know ranges.
    pub whole_bytes: u64,
    /// Whose name is used with object stores.
    pub credentials: Credentials,
    /// Settings of object stores by the names of their environment variables, in lower or upper case, such as
    /// `aws_endpoint_url`; they go before the environment.
    pub settings: BTreeMap<String, String>,
    /// What files and the environment say: aliases, whose name is used, proxies. That of the process's environment unless
    /// given; sessions read the files, too.
    pub config: Arc<ConfigSettings>,
    /// Keeps what is fetched of objects on other machines, data as well as metadata.
    pub cache: Option<BlockCache>,
    /// Stores of the program's own.
    pub schemes: SchemeRegistry,
    /// Files that are kept open.
    pub handles: HandleBudget,
    /// Who types the codes that profiles with `mfa_serial` want; nobody unless given.
    #[cfg(feature = "cloud")]
    pub codes: crate::cloud::MfaCodes,
    /// What was learnt of buckets, and credentials that are still good.
    #[cfg(feature = "cloud")]
    pub identities: crate::cloud::CredentialRegistry,
    /// Connections that are kept open.
    #[cfg(any(feature = "http", feature = "cloud"))]
    pub connections: crate::connections::ConnectionPool,
}

/// Names of the settings only: values may be secret.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<&str> = self.settings.keys().map(String::as_str).collect();
        f.debug_struct("StoreOptions")
            .field("durable", &self.durable)
            .field("limits", &self.limits)
            .field("zip_layout", &self.zip_layout)
            .field("uploads", &self.uploads)
            .field("upload_memory", &self.upload_memory)
            .field("rewrite", &self.rewrite)
            .field("local_references", &self.local_references)
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("patience", &self.patience)
            .field("whole_bytes", &self.whole_bytes)
            .field("credentials", &self.credentials)
            .field("settings", &settings)
            .finish_non_exhaustive()
    }
}

impl StoreOptions {
    /// Where large files lie that are needed for a while.
    pub fn scratch_folder(&self) -> PathBuf {
        self.scratch.clone().unwrap_or_else(crate::ScratchFile::usual_folder)
    }
}

impl Default for StoreOptions {
    fn default() -> Self {
        Self {
            durable: true,
            limits: Limits::default(),
            memory: MemoryStores::default(),
            zip_layout: ZipLayout::default(),
            uploads: UploadMode::default(),
            upload_memory: 128 << 20,
            rewrite: false,
            local_references: false,
            scratch: None,
            timeout: Duration::from_secs(60),
            retries: 8,
            patience: RetryPolicy::default(),
            whole_bytes: 1 << 30,
            credentials: Credentials::default(),
            settings: BTreeMap::new(),
            config: Arc::new(ConfigSettings::implicit()),
            cache: None,
            schemes: SchemeRegistry::default(),
            handles: HandleBudget::default(),
            #[cfg(feature = "cloud")]
            codes: crate::cloud::MfaCodes::default(),
            #[cfg(feature = "cloud")]
            identities: crate::cloud::CredentialRegistry::default(),
            #[cfg(any(feature = "http", feature = "cloud"))]
            connections: crate::connections::ConnectionPool::default(),
        }
    }
}

/// How the entries of a new zip file are named (docs/spec/nczarr.md 10.2).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ZipLayout {
    /// Keys are names: what zarr-python reads.
    #[default]
    Root,
    /// Below one folder named after the file, each folder with an entry of its own: what netcdf-c reads.
    TopFolder,
}

/// How single files (netCDF-3, HDF5) come to object stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UploadMode {
    /// Sent in parts while they are written. Parts that are not complete wait in a scratch file when there is no memory
    /// for them.
    #[default]
    Streamed,
    /// As streamed, without a scratch file: what does not fit in memory is an error.
    InMemory,
    /// Written to a scratch file, which is sent when it is complete: everything can be read back meanwhile.
    Scratch,
}

/// Whose name is used with object stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Credentials {
    /// What the environment says; nobody when it says nothing.
    #[default]
    Auto,
    /// Nobody: requests are not signed.
    Anonymous,
    /// The whole chain of the provider, down to asking the machine's metadata service.
    Chain,
}

/// The stores in memory that `memory://name` means; clones share them.
#[derive(Debug, Clone, Default)]
pub struct MemoryStores(Arc<Mutex<BTreeMap<String, MemoryStore>>>);

impl MemoryStores {
    /// The store of that name, if it was created.
    pub fn find(&self, name: &str) -> Option<MemoryStore> {
        self.0.guard().get(name).cloned()
    }

    /// The store of that name, empty when it is new.
    pub fn create(&self, name: &str) -> MemoryStore {
        let mut stores = self.0.guard();
        let new = || MemoryStore::new(&format!("memory://{name}"));
        stores.entry(name.to_owned()).or_insert_with(new).clone()
    }

    /// Forgets the store of that name; who has it keeps it.
    pub fn remove(&self, name: &str) {
        self.0.guard().remove(name);
    }
}
