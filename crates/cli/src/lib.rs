//! The `ncirrus` command, as a library: its program is one call of [`run_command_line`], and so is the command in the
//! Python package.
#![forbid(unsafe_code)]

#[cfg(feature = "cloud")]
mod code;
mod commands;
mod exit;
mod help;
mod hint;
mod message;
mod session;
mod tools;
mod trace;

pub use exit::CommandStatus;

use clap::{Args, CommandFactory, FromArgMatches, Parser, Subcommand};
use help::HelpLength;
use ncirrus::{Result, Session};
use session::{SessionNeeds, SessionOptions};
use std::ffi::OsString;
use tools::{CalledAs, NetcdfTool};

/// netCDF for the cloud: show, copy and explain netCDF data of any kind, wherever it is stored.
///
/// A dataset is named by a path or URL: file://, http(s)://, s3://, gs:// or az://. It is a netCDF-3 or netCDF-4/HDF5
/// file, or a directory or zip file with NCZarr or Zarr. The format is detected from the content. `-` is standard input
/// or, for a target, standard output. A fragment such as `#mode=nczarr,file` is accepted; for a target it selects the
/// format to write.
#[derive(Parser)]
#[command(
    name = "ncirrus",
    version,
    max_term_width = help::MAX_WIDTH,
    before_long_help = "Example:
  ncirrus copy sst.nc s3://bucket/sst.zarr  a netCDF file as NCZarr on an object store",
    after_long_help = exit::HELP
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
    #[command(flatten)]
    session: SessionOptions,
}

#[derive(Subcommand)]
enum Command {
    Dump(commands::dump::Args),
    Generate(commands::generate::Args),
    Copy(commands::copy::Args),
    Append(commands::append::Args),
    Optimize(commands::optimize::Args),
    Compare(commands::compare::Args),
    Check(commands::check::Args),
    Info(commands::info::Args),
    Log(commands::log::Args),
    Explain(commands::explain::Args),
    #[cfg(feature = "serve")]
    View(commands::view::Args),
    #[cfg(feature = "plot")]
    Plot(commands::plot::Args),
    Filters(commands::filters::Args),
    Ls(commands::ls::Args),
    Keys(commands::keys::Args),
    #[cfg(feature = "serve")]
    Serve(commands::serve::Args),
    Rm(commands::rm::Args),
    Clean(commands::clean::Args),
    Whoami(commands::whoami::Args),
    Config(commands::config::Args),
    Aggregate(commands::aggregate::Args),
    Split(commands::split::Args),
    Fragments(commands::fragments::Args),
    Relocate(commands::relocate::Args),
    Reference(commands::reference::Args),
    Link(tools::link::Args),
    Completions(tools::completions::Args),
    Manual(tools::manual::Args),
}

impl Cli {
    /// Runs the command, with the session and trace that the options and the configuration define.
    fn run(&self) -> Result<CommandStatus> {
        let rewrites = matches!(&self.command, Command::Append(args) if args.rewrite);
        let memory = matches!(&self.command, Command::Optimize(_)).then_some(commands::optimize::MEMORY);
        self.session.run_with(None, SessionNeeds { rewrites, memory }, |session| run(&self.command, session))
    }
}

/// The credentials that would be used for an address, and why: name, value and reason of each line that `ncirrus whoami`
/// prints. Secrets are not included, and no request is sent.
///
/// # Errors
/// As opening the address: profiles that do not exist, settings that contradict each other.
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
        Command::Append(args) => commands::append::run(args, session),
        Command::Optimize(args) => commands::optimize::run(args, session),
        Command::Compare(args) => commands::compare::run(args, session),
        Command::Check(args) => commands::check::run(args, session),
        Command::Info(args) => commands::info::run(args, session),
        Command::Log(args) => commands::log::run(args, session),
        Command::Explain(args) => commands::explain::run(args, session),
        #[cfg(feature = "serve")]
        Command::View(args) => commands::view::run(args, session),
        #[cfg(feature = "plot")]
        Command::Plot(args) => commands::plot::run(args, session),
        Command::Filters(args) => commands::filters::run(args, session),
        Command::Ls(args) => commands::ls::run(args, session),
        Command::Keys(args) => commands::keys::run(args, session),
        #[cfg(feature = "serve")]
        Command::Serve(args) => commands::serve::run(args, session),
        Command::Rm(args) => commands::rm::run(args, session),
        Command::Clean(args) => commands::clean::run(args, session),
        Command::Whoami(args) => commands::whoami::run(args, session),
        Command::Config(args) => commands::config::run(args, session),
        Command::Aggregate(args) => commands::aggregate::run(args, session),
        Command::Split(args) => commands::split::run(args, session),
        Command::Fragments(args) => commands::fragments::run(args, session),
        Command::Relocate(args) => commands::relocate::run(args, session),
        Command::Reference(args) => commands::reference::run(args, session),
        Command::Link(args) => tools::link::run(args, session),
        Command::Completions(args) => tools::completions::run(args, session),
        Command::Manual(args) => tools::manual::run(args, session),
    }
}

/// Runs the command: `arguments` are the program's name and its arguments. Results go to standard output; errors,
/// help and usage messages go where a command's usually go. Called `ncdump`, `ncgen`, `ncgen3` or `nccopy`, the program
/// is that tool.
pub fn run_command_line(arguments: impl IntoIterator<Item = OsString>) -> CommandStatus {
    let arguments: Vec<OsString> = arguments.into_iter().collect();
    match arguments.first().map_or(CalledAs::Ncirrus, CalledAs::of) {
        CalledAs::Tool(tool) => return tool.run(arguments.into_iter().skip(1), &SessionOptions::default()),
        CalledAs::Unknown(name) => return tools::print_names(&name),
        CalledAs::Ncirrus => {}
    }
    if let Some((tool, session, rest)) = tool_call(&arguments) {
        return tool.run(rest, &session);
    }
    let read = command_table(HelpLength::of(&arguments)).try_get_matches_from(arguments);
    match read.and_then(|matches| Cli::from_arg_matches(&matches)) {
        Ok(command) => command.run().unwrap_or_else(|error| hint::report(&error)),
        Err(error) => {
            // The reader closed the pipe on purpose.
            let _ = error.print();
            CommandStatus::from(u8::try_from(error.exit_code()).unwrap_or(exit::USAGE))
        }
    }
}

/// The tool that is a command of the program, the options of the session in front of it, and the tool's arguments, which
/// it reads itself.
fn tool_call(arguments: &[OsString]) -> Option<(&'static NetcdfTool, SessionOptions, Vec<OsString>)> {
    let table = SessionOptions::augment_args(clap::Command::new("ncirrus")).allow_external_subcommands(true);
    let matches = table.try_get_matches_from(arguments).ok()?;
    let (name, given) = matches.subcommand()?;
    let tool = NetcdfTool::named(name)?;
    let session = SessionOptions::from_arg_matches(&matches).ok()?;
    Some((tool, session, given.get_many::<OsString>("").into_iter().flatten().cloned().collect()))
}

/// The table of all commands and tools with their options, and with help of that length.
pub(crate) fn command_table(length: HelpLength) -> clap::Command {
    let commands = help::of_commands(Cli::command(), length);
    help::of_program(commands.subcommands(tools::TOOLS.iter().map(NetcdfTool::command)), length)
}

#[cfg(test)]
mod tests {
    use crate::help::HelpLength;

    #[test]
    fn no_two_options_have_one_name() {
        for length in [HelpLength::Brief, HelpLength::Listing, HelpLength::Manual] {
            super::command_table(length).debug_assert();
        }
    }
}
