//! The `ncirrus` command, as a library: its program is one call of [`run_command_line`], and so is the command in the
//! Python package.
#![forbid(unsafe_code)]

#[cfg(feature = "cloud")]
mod code;
mod commands;
mod exit;
mod hint;
mod message;
mod trace;

pub use exit::CommandStatus;

use clap::{Parser, Subcommand};
use ncirrus::store::config::{ConfigKey, ConfigSettings, ProcessEnvironment};
use ncirrus::{Result, Session};
use std::ffi::OsString;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use trace::RequestTrace;

/// netCDF for the cloud: show, copy and explain netCDF data of any kind, wherever it is stored.
///
/// A dataset is named by a path or URL: a netCDF-3 or netCDF-4/HDF5 file, a directory or zip with NCZarr or Zarr,
/// file://, http(s)://, s3://, gs://, az://; - is standard input or, for a target, standard output. The format is detected
/// from the content. A fragment such as `#mode=nczarr,file` is accepted; for a target it selects the format to write.
/// netCDF-4/HDF5 files are read and written.
#[derive(Parser)]
#[command(name = "ncirrus", version, after_help = exit::HELP, max_term_width = 110)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    /// Number of threads for decoding and encoding, at most four per core or 128 [default: all cores].
    #[arg(long, global = true, value_name = "N", help_heading = "Session")]
    threads: Option<NonZeroUsize>,
    /// Memory budget for reading and copying, such as 500M or 2G [default: 512M].
    #[arg(long, global = true, value_name = "SIZE", value_parser = commands::parse_size, help_heading = "Session")]
    memory: Option<usize>,
    /// Cache headers and chunk indexes of remote datasets in this directory, so that reopening one takes a single request [default: NCIRRUS_INDEX_CACHE, else none].
    #[arg(long, global = true, value_name = "DIR", help_heading = "Session")]
    index_cache: Option<PathBuf>,
    /// Maximum size of the index cache, such as 500M or 2G [default: 1G].
    #[arg(long, global = true, value_name = "SIZE", value_parser = commands::parse_size, help_heading = "Session")]
    index_cache_size: Option<usize>,
    /// Cache everything read from remote datasets, data included, in this directory; unchanged objects are not fetched again [default: cache.folder of the configuration, else none].
    #[arg(long, global = true, value_name = "DIR", help_heading = "Session")]
    cache: Option<PathBuf>,
    /// Maximum size of the cache, such as 500M or 20G [default: 1G].
    #[arg(long, global = true, value_name = "SIZE", value_parser = commands::parse_size, help_heading = "Session")]
    cache_size: Option<usize>,
    /// Assume that Zarr chunks never change once written: use cached ones without revalidating them.
    #[arg(long, global = true, help_heading = "Session")]
    cache_immutable: bool,
    /// Read this configuration file instead of ~/.config/ncirrus/config.toml (`ncirrus config path`).
    #[arg(long, global = true, value_name = "FILE", help_heading = "Session")]
    config: Option<PathBuf>,
    /// What to do about missing fragments of aggregations: fill (with missing values, and a warning), error, or report (fill,
    /// and list all of them) [default: as the aggregation's convention says].
    #[arg(long, global = true, value_enum, value_name = "WHAT", help_heading = "Aggregations")]
    absent: Option<commands::reading::AbsentChoice>,
    /// Do not wait until data is on stable storage when copying (faster, but a power failure may lose the output).
    #[arg(long, global = true, help_heading = "Session")]
    no_sync: bool,
    /// Log every network request, with a summary at the end, to standard error or to FILE. NCTRACING=1 does the same; 2 also logs what is read.
    #[arg(long, global = true, value_name = "FILE", num_args = 0..=1, require_equals = true, default_missing_value = "-", help_heading = "Session")]
    trace: Option<PathBuf>,
}

#[derive(Subcommand)]
enum Command {
    Dump(commands::dump::Args),
    Generate(commands::generate::Args),
    Copy(commands::copy::Args),
    Compare(commands::compare::Args),
    Check(commands::check::Args),
    Info(commands::info::Args),
    Explain(commands::explain::Args),
    Filters(commands::filters::Args),
    Ls(commands::ls::Args),
    Keys(commands::keys::Args),
    Rm(commands::rm::Args),
    Clean(commands::clean::Args),
    Whoami(commands::whoami::Args),
    Config(commands::config::Args),
    Aggregate(commands::aggregate::Args),
    Split(commands::split::Args),
    Fragments(commands::fragments::Args),
    Relocate(commands::relocate::Args),
    Reference(commands::reference::Args),
}

impl Cli {
    /// Runs the command, with the session and trace that the options and the configuration define.
    fn run(&self) -> Result<CommandStatus> {
        let settings = ConfigSettings::gather(ProcessEnvironment::of_process(), self.config.as_deref())?;
        let _trace = RequestTrace::start(self.trace.as_ref(), settings.count(ConfigKey::Trace))?;
        let session = self.session(settings)?;
        let outcome = run(&self.command, &session);
        commands::pipe::clear();
        message::notes(&session.notes());
        outcome
    }

    /// The session defined by the global options.
    fn session(&self, settings: ConfigSettings) -> Result<Session> {
        let cache = self.cache.clone().or(settings
            .path(ConfigKey::CacheFolder)
            .filter(|_| self.cache_size.is_some())
            .map(PathBuf::from));
        let cache_size = self.cache_size.map(|size| size as u64).or(settings.size(ConfigKey::CacheSize));
        let index_cache =
            self.index_cache.clone().or(settings.path(ConfigKey::IndexCacheFolder).map(PathBuf::from));
        let mut builder = Session::builder().settings(settings).durable(!self.no_sync);
        #[cfg(feature = "cloud")]
        {
            builder = builder.codes(code::codes());
        }
        if let Some(threads) = self.threads {
            builder = builder.threads(threads.get());
        }
        if let Some(memory) = self.memory {
            builder = builder.memory(memory);
        }
        if let Some(absent) = self.absent {
            builder = builder.fragments_absent(absent.into());
        }
        if let Some(folder) = cache {
            builder = builder.cache_folder(&folder).block_cache(folder, cache_size.unwrap_or(1 << 30));
        }
        builder = builder.immutable_chunks(self.cache_immutable);
        if let (Some(folder), true) =
            (index_cache, self.index_cache.is_some() || self.index_cache_size.is_some())
        {
            builder = builder.index_cache(folder, self.index_cache_size.unwrap_or(1 << 30) as u64);
        }
        builder.build()
    }
}

/// Whose name would be used with an address, and why: name, value and reason of each line that `ncirrus whoami` prints.
/// No secret is among them; nothing is sent.
///
/// # Errors
/// As opening the address: profiles that are not there, settings that contradict each other.
pub fn identity(
    url: &ncirrus::store::Url,
    session: &Session,
) -> Result<Vec<(&'static str, String, Option<String>)>> {
    commands::whoami::identity(url, session)
}

fn run(command: &Command, session: &Session) -> Result<CommandStatus> {
    match command {
        Command::Dump(args) => commands::dump::run(args, session),
        Command::Generate(args) => commands::generate::run(args, session),
        Command::Copy(args) => commands::copy::run(args, session),
        Command::Compare(args) => commands::compare::run(args, session),
        Command::Check(args) => commands::check::run(args, session),
        Command::Info(args) => commands::info::run(args, session),
        Command::Explain(args) => commands::explain::run(args, session),
        Command::Filters(args) => commands::filters::run(args, session),
        Command::Ls(args) => commands::ls::run(args, session),
        Command::Keys(args) => commands::keys::run(args, session),
        Command::Rm(args) => commands::rm::run(args, session),
        Command::Clean(args) => commands::clean::run(args, session),
        Command::Whoami(args) => commands::whoami::run(args, session),
        Command::Config(args) => commands::config::run(args, session),
        Command::Aggregate(args) => commands::aggregate::run(args, session),
        Command::Split(args) => commands::split::run(args, session),
        Command::Fragments(args) => commands::fragments::run(args, session),
        Command::Relocate(args) => commands::relocate::run(args, session),
        Command::Reference(args) => commands::reference::run(args, session),
    }
}

/// Runs the command: `arguments` are the program's name and its arguments. Results go to standard output; errors,
/// help and usage messages go where a command's usually go.
pub fn run_command_line(arguments: impl IntoIterator<Item = OsString>) -> CommandStatus {
    let command = match Cli::try_parse_from(arguments) {
        Ok(command) => command,
        Err(error) => {
            // The reader closed the pipe on purpose.
            let _ = error.print();
            return CommandStatus::from(u8::try_from(error.exit_code()).unwrap_or(exit::USAGE));
        }
    };
    command.run().unwrap_or_else(|error| hint::report(&error))
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    #[test]
    fn no_two_options_have_one_name() {
        super::Cli::command().debug_assert();
    }
}
