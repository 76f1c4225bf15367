//! The options that every command has, and the session that they define.
use crate::commands;
use crate::message;
use crate::trace::RequestTrace;
use clap::Args;
use ncirrus::store::config::{ConfigKey, ConfigSettings, ProcessEnvironment};
use ncirrus::store::{ContainerRule, StoreOptions};
use ncirrus::{Result, Session};
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// Options of a session. The configuration and the environment provide values that they do not set.
#[derive(Args, Default)]
pub(crate) struct SessionOptions {
    /// Number of threads for decoding and encoding, at most four per core or 128 [default: all cores].
    #[arg(long, global = true, value_name = "N", help_heading = "Session")]
    threads: Option<NonZeroUsize>,
    /// Memory budget for reading and copying, such as 500M or 2G [default: 512M].
    #[arg(long, global = true, value_name = "SIZE", value_parser = commands::parse_size, help_heading = "Session")]
    memory: Option<usize>,
    /// Cache headers and chunk indexes of remote datasets in this directory [default: NCIRRUS_INDEX_CACHE, else none].
    ///
    /// A dataset in the cache is opened again with a single request.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Session")]
    index_cache: Option<PathBuf>,
    /// Maximum size of the index cache, such as 500M or 2G [default: 1G].
    #[arg(long, global = true, value_name = "SIZE", value_parser = commands::parse_size, help_heading = "Session")]
    index_cache_size: Option<usize>,
    /// Cache everything read from remote datasets, also data, in this directory [default: cache.folder of the configuration, else none].
    ///
    /// Objects that have not changed are not downloaded again.
    #[arg(long, global = true, value_name = "DIR", help_heading = "Session")]
    cache: Option<PathBuf>,
    /// Maximum size of the cache, such as 500M or 20G [default: 1G].
    #[arg(long, global = true, value_name = "SIZE", value_parser = commands::parse_size, help_heading = "Session")]
    cache_size: Option<usize>,
    /// Use cached Zarr chunks without checking whether they have changed.
    #[arg(long, global = true, help_heading = "Session")]
    cache_immutable: bool,
    /// Read this configuration file instead of ~/.config/ncirrus/config.toml (`ncirrus config path`).
    #[arg(long, global = true, value_name = "FILE", help_heading = "Session")]
    config: Option<PathBuf>,
    /// Missing fragments of aggregations: fill, error or report [default: by the convention of the aggregation].
    #[arg(long, global = true, value_enum, value_name = "WHAT", help_heading = "Aggregations")]
    absent: Option<commands::reading::AbsentChoice>,
    /// Allow remote datasets to refer to this host; repeatable.
    ///
    /// HOST is a name, an address, or a domain with a leading dot, such as .example.org. Otherwise datasets from public
    /// networks may not refer to hosts of private networks. Behind a proxy, they may refer only to their own host and to
    /// hosts that can be looked up on this machine. The key references.hosts of the configuration allows hosts, too.
    #[arg(long, global = true, value_name = "HOST", help_heading = "Session")]
    allow_host: Vec<String>,
    /// Allow (NAME=allow) or deny a virtual chunk container of an Icechunk repository, or read it at ADDRESS; repeatable.
    ///
    /// The prefix of a container can be given instead of its name. Files of this machine are read only if they are
    /// allowed. Rules can also be listed in virtual.containers of the configuration.
    #[arg(long = "virtual", value_name = "NAME=ADDRESS|allow|deny", value_parser = ContainerRule::parse, global = true, help_heading = "Session")]
    containers: Vec<(String, ContainerRule)>,
    /// Do not wait until written data is on stable storage.
    ///
    /// Writing is faster, but a power failure may lose the output.
    #[arg(long, global = true, help_heading = "Session")]
    no_sync: bool,
    /// Log every network request, with a summary at the end, to standard error or to FILE.
    ///
    /// NCTRACING=1 in the environment does the same; NCTRACING=2 also logs reads.
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-", help_heading = "Session")]
    trace: Option<PathBuf>,
}

/// What a command needs of its session.
#[derive(Clone, Copy, Default)]
pub(crate) struct SessionNeeds {
    /// It may change single files on object stores.
    pub(crate) rewrites: bool,
    /// The memory budget, if neither an option nor the configuration sets it.
    pub(crate) memory: Option<usize>,
}

impl SessionOptions {
    /// Runs a command in the session that the options and the configuration define. Requests are traced at `level`, if
    /// that is more than the configuration asks for.
    pub(crate) fn run<T>(
        &self,
        level: Option<u64>,
        command: impl FnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        self.run_with(level, SessionNeeds::default(), command)
    }

    /// As [`run`](Self::run), in a session with what the command needs.
    pub(crate) fn run_with<T>(
        &self,
        level: Option<u64>,
        needs: SessionNeeds,
        command: impl FnOnce(&Session) -> Result<T>,
    ) -> Result<T> {
        let settings = ConfigSettings::gather(ProcessEnvironment::of_process(), self.config.as_deref())?;
        let _trace = RequestTrace::start(self.trace.as_ref(), level.max(settings.count(ConfigKey::Trace)))?;
        let session = self.build(settings, needs)?;
        let outcome = command(&session);
        commands::pipe::clear();
        message::notes(&session.notes());
        outcome
    }

    /// The session defined by the global options.
    fn build(&self, settings: ConfigSettings, needs: SessionNeeds) -> Result<Session> {
        let cache = self.cache.clone().or(settings
            .path(ConfigKey::CacheFolder)
            .filter(|_| self.cache_size.is_some())
            .map(PathBuf::from));
        let cache_size = self.cache_size.map(|size| size as u64).or(settings.size(ConfigKey::CacheSize));
        let index_cache =
            self.index_cache.clone().or(settings.path(ConfigKey::IndexCacheFolder).map(PathBuf::from));
        let is_configured = settings.size(ConfigKey::Memory).is_some();
        let memory = self.memory.or(needs.memory.filter(|_| !is_configured));
        let mut builder = Session::builder().settings(settings).durable(!self.no_sync);
        #[cfg(feature = "cloud")]
        {
            builder = builder.codes(crate::code::codes());
        }
        if needs.rewrites {
            let stores = builder.store_options().clone();
            builder = builder.stores(StoreOptions { rewrite: true, ..stores });
        }
        if let Some(threads) = self.threads {
            builder = builder.threads(threads.get());
        }
        if let Some(memory) = memory {
            builder = builder.memory(memory);
        }
        if let Some(absent) = self.absent {
            builder = builder.fragments_absent(absent.into());
        }
        if let Some(folder) = cache {
            builder = builder.cache_folder(&folder).block_cache(folder, cache_size.unwrap_or(1 << 30));
        }
        builder =
            builder.immutable_chunks(self.cache_immutable).allowed_hosts(self.allow_host.iter().cloned());
        builder = builder.containers(self.containers.iter().cloned());
        if let (Some(folder), true) =
            (index_cache, self.index_cache.is_some() || self.index_cache_size.is_some())
        {
            builder = builder.index_cache(folder, self.index_cache_size.unwrap_or(1 << 30) as u64);
        }
        builder.build()
    }
}
