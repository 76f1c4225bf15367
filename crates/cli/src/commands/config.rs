//! `ncirrus config`: the effective configuration, and where it comes from.
use super::finish;
use crate::CommandStatus;
use clap::{Args as ClapArgs, Subcommand};
use ncirrus::{Result, Session};
use serde_json::json;
use std::io::{self, Write};

/// Show the effective configuration and where each value came from.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus config show
  ncirrus --config lab.toml config show --json
  ncirrus config path")]
pub(crate) struct Args {
    #[command(subcommand)]
    what: ConfigAction,
}

#[derive(Subcommand)]
enum ConfigAction {
    /// Print all effective values and where each came from; secrets are masked.
    Show {
        /// Print JSON.
        #[arg(long)]
        json: bool,
    },
    /// Print the configuration files that are searched for, and whether they exist.
    Path,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let mut out = anstream::stdout().lock();
    finish(match args.what {
        ConfigAction::Show { json: true } => show_json(&mut out, session),
        ConfigAction::Show { json: false } => show(&mut out, session),
        ConfigAction::Path => paths(&mut out, session),
    })
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
