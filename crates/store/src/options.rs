//! How stores are opened: plain data.
use crate::RetryPolicy;
use ncirrus_layout::Limits;
use std::collections::BTreeMap;
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How stores are opened and datasets are created. What stores share at run time is in a
/// [`StoreContext`](crate::StoreContext).
#[derive(Clone)]
pub struct StoreOptions {
    /// Whether what is written is on the disk when a barrier or a commit returns.
    pub durable: bool,
    /// Budgets for what comes from outside: directories of zip files, answers of servers.
    pub limits: Limits,
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
    /// Which credentials are used with object stores.
    pub credentials: Credentials,
    /// Settings of object stores by the names of their environment variables, in lower or upper case, such as
    /// `aws_endpoint_url`; they go before the environment.
    pub settings: BTreeMap<String, String>,
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
            .field("scratch", &self.scratch)
            .finish()
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

/// Which credentials are used with object stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Credentials {
    /// Those that the environment names; none when it names none.
    #[default]
    Auto,
    /// None: requests are not signed.
    Anonymous,
    /// The whole chain of the provider, down to asking the machine's metadata service.
    Chain,
}
