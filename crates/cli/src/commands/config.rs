//! `ncirrus config`: the effective configuration, and where it comes from.
use super::finish;
use crate::CommandStatus;
use clap::{Args as ClapArgs, Subcommand};
use ncirrus::store::config::ConfigSettings;
use ncirrus::{Error, ErrorKind, Result, Session};
use serde_json::json;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Show the effective configuration and the origin of each value; write a template.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus config show                           every value and its origin
  ncirrus config init                           write a commented configuration file
  ncirrus config path                           the files that are searched for
  ncirrus --config lab.toml config show --json  the values with another file, as JSON")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: ConfigAction,
}

#[derive(Subcommand)]
enum ConfigAction {
    /// Print all effective values and the origin of each; secrets are masked.
    #[command(before_long_help = "Examples:
  ncirrus config show
  ncirrus config show --json")]
    Show {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Write a configuration file with every key as a comment, unless it exists.
    #[command(before_long_help = "Examples:
  ncirrus config init            ~/.config/ncirrus/config.toml
  ncirrus config init -          to standard output")]
    Init {
        /// Write this file instead; - is standard output.
        file: Option<PathBuf>,
    },
    /// Print the configuration files that are searched for, and whether they exist.
    #[command(before_long_help = "Examples:
  ncirrus config path")]
    Path,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let mut out = anstream::stdout().lock();
    finish(match &args.what {
        ConfigAction::Init { file } => return init(&mut out, file.clone(), session),
        ConfigAction::Show { json: true } => show_json(&mut out, session),
        ConfigAction::Show { json: false } => show(&mut out, session),
        ConfigAction::Path => paths(&mut out, session),
    })
}

fn init(out: &mut impl Write, file: Option<PathBuf>, session: &Session) -> Result<CommandStatus> {
    let path = file.or_else(|| session.settings().file_place());
    let path = path.ok_or_else(|| Error::invalid("the home folder is not known: name a file"))?;
    if path.as_os_str() == "-" {
        return finish(out.write_all(ConfigSettings::template().as_bytes()));
    }
    write_new(&path).map_err(|error| {
        let (kind, text) = match error.kind() {
            io::ErrorKind::AlreadyExists => (ErrorKind::Conflict, "the file exists".to_owned()),
            _ => (ErrorKind::Io { retryable: false }, format!("cannot write the file: {error}")),
        };
        Error::new(kind, text).at_object(path.display())
    })?;
    finish(writeln!(out, "{}", path.display()))
}

/// Writes the template to a new file, which only its owner may read: keys will be in it.
fn write_new(path: &Path) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    let mut options = std::fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    options.open(path)?.write_all(ConfigSettings::template().as_bytes())
}

fn show(out: &mut impl Write, session: &Session) -> io::Result<()> {
    for shown in session.effective() {
        let why = shown.without_effect.map(|why| format!("; no effect: {why}")).unwrap_or_default();
        writeln!(out, "{} = {}  # {}{why}", shown.name, shown.value, shown.origin)?;
    }
    Ok(())
}

fn show_json(out: &mut impl Write, session: &Session) -> io::Result<()> {
    let values = session.effective().into_iter().map(|shown| {
        let mut value = json!({"value": shown.value, "origin": shown.origin.to_string()});
        if let Some(why) = shown.without_effect {
            value["without_effect"] = why.into();
        }
        (shown.name, value)
    });
    let values: serde_json::Map<_, _> = values.collect();
    writeln!(out, "{:#}", json!({"values": values, "warnings": session.settings().warnings()}))
}

fn paths(out: &mut impl Write, session: &Session) -> io::Result<()> {
    for path in session.settings().files() {
        let is_there = if path.is_file() { "" } else { "  (not found)" };
        writeln!(out, "{}{is_there}", path.display())?;
    }
    Ok(())
}
