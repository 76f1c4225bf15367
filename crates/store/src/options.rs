//! How stores are opened: plain data.
use crate::{HostAccess, RetryPolicy};
use ncirrus_layout::Limits;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;
use std::path::PathBuf;
use std::time::Duration;

/// How stores are opened and datasets are created. What stores share at run time is in a
/// [`StoreContext`](crate::StoreContext).
#[derive(Clone)]
pub struct StoreOptions {
    /// Whether a barrier or a commit returns only when what was written is on disk.
    pub durable: bool,
    /// Limits for untrusted input: directories of zip files, answers of servers.
    pub limits: Limits,
    /// How new zip files are laid out.
    pub zip_layout: ZipLayout,
    /// How single files are sent to object stores.
    pub uploads: UploadMode,
    /// Memory of an upload in bytes; at least that of three of its parts.
    pub upload_memory: usize,
    /// Whether a local file is read as it was opened, by the same descriptor, whatever becomes of its name and its content: what a
    /// program expects that keeps a file open. Otherwise a file that was changed since is an error.
    pub holds_files: bool,
    /// Whether the part after a `#` belongs to the name of a new dataset that has no scheme, even if it reads like modes.
    pub exact_paths: bool,
    /// Whether single remote files may be changed: they are fetched whole, changed here, and sent again whole.
    pub rewrite: bool,
    /// Whether remote reference files may name files of this machine, and stores in its memory.
    pub local_references: bool,
    /// What is done with the virtual chunk containers of repositories, by their names or prefixes; the last one counts. Files
    /// of this machine are read only if that is allowed here or by `local_references`.
    pub containers: Vec<(String, ContainerRule)>,
    /// Which hosts may be reached: all, unless a dataset that came over the network names them.
    pub hosts: HostAccess,
    /// Hosts of private networks that such datasets may name, too.
    pub allowed_hosts: BTreeSet<String>,
    /// Folder for files that are to be uploaded, and for rechunking that does not fit in memory;
    /// [`ScratchFile::usual_folder`](crate::ScratchFile::usual_folder) by default.
    pub scratch: Option<PathBuf>,
    /// Timeout for an answer of a server.
    pub timeout: Duration,
    /// How often a request is retried that may succeed later.
    pub retries: u32,
    /// How slow a network may be, and how long requests are retried.
    pub retry_policy: RetryPolicy,
    /// Maximum size of an object that is read whole because its server does not support ranges.
    pub whole_bytes: u64,
    /// Which credentials are used with object stores.
    pub credentials: Credentials,
    /// Settings of object stores by the names of their environment variables, in lower or upper case, such as
    /// `aws_endpoint_url`; they override the environment.
    pub settings: BTreeMap<String, String>,
}

/// What is done with a virtual chunk container of a repository.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContainerRule {
    /// It may be read, wherever it is.
    Allow,
    /// Nothing of it is read.
    Deny,
    /// Its objects are below this address instead.
    At(String),
}

impl ContainerRule {
    /// A rule as users write it: `NAME=allow`, `NAME=deny` or `NAME=ADDRESS`, with the prefix of a container instead of its
    /// name if that has none.
    ///
    /// # Errors
    /// `Invalid` if it is none of these.
    pub fn parse(text: &str) -> ncirrus_layout::Result<(String, Self)> {
        let odd = || {
            let message = format!("{text:?} is not NAME=allow, NAME=deny or NAME=ADDRESS");
            ncirrus_layout::Error::invalid(message)
        };
        let (name, rule) = text.rsplit_once('=').ok_or_else(odd)?;
        let rule = match rule.trim() {
            "allow" => Self::Allow,
            "deny" => Self::Deny,
            address if address.contains("://") || address.starts_with('/') => Self::At(address.to_owned()),
            _ => return Err(odd()),
        };
        let name = name.trim();
        if name.is_empty() { Err(odd()) } else { Ok((name.to_owned(), rule)) }
    }
}

/// Only names of the settings: values may be secret.
impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let settings: Vec<&str> = self.settings.keys().map(String::as_str).collect();
        f.debug_struct("StoreOptions")
            .field("durable", &self.durable)
            .field("limits", &self.limits)
            .field("zip_layout", &self.zip_layout)
            .field("uploads", &self.uploads)
            .field("upload_memory", &self.upload_memory)
            .field("holds_files", &self.holds_files)
            .field("exact_paths", &self.exact_paths)
            .field("rewrite", &self.rewrite)
            .field("local_references", &self.local_references)
            .field("containers", &self.containers)
            .field("hosts", &self.hosts)
            .field("allowed_hosts", &self.allowed_hosts)
            .field("timeout", &self.timeout)
            .field("retries", &self.retries)
            .field("retry_policy", &self.retry_policy)
            .field("whole_bytes", &self.whole_bytes)
            .field("credentials", &self.credentials)
            .field("settings", &settings)
            .field("scratch", &self.scratch)
            .finish()
    }
}

impl StoreOptions {
    /// The folder for large temporary files.
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
            holds_files: false,
            exact_paths: false,
            rewrite: false,
            local_references: false,
            containers: Vec::new(),
            hosts: HostAccess::default(),
            allowed_hosts: BTreeSet::new(),
            scratch: None,
            timeout: Duration::from_secs(60),
            retries: 8,
            retry_policy: RetryPolicy::default(),
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

/// How single files (netCDF-3, HDF5) are sent to object stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum UploadMode {
    /// Sent in parts while they are written. Incomplete parts that do not fit in memory wait in a scratch file.
    #[default]
    Streamed,
    /// As `Streamed`, without a scratch file: what does not fit in memory is an error.
    InMemory,
    /// Written to a scratch file, which is sent when it is complete: everything can be read back meanwhile.
    Scratch,
}

/// Which credentials are used with object stores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Credentials {
    /// Those that the environment provides; otherwise none.
    #[default]
    Auto,
    /// None: requests are not signed.
    Anonymous,
    /// The whole chain of the provider, including the instance metadata service.
    Chain,
}
