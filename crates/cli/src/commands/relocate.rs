//! `ncirrus relocate`: changes the names of an aggregation's fragments.
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Error, Result, Session};
use ncirrus_tools::aggregate::{Relocation, relocate};
use std::io::Write as _;

/// Change the names of an aggregation's fragments; the fragments are not moved.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus relocate --prefix s3://bucket/run1 m.nca  another directory for all fragments
  ncirrus relocate --replace /old/=/new/ m.nca      another prefix
  ncirrus relocate --relative m.nca                 master and fragments can be moved together
  ncirrus relocate --absolute --dry-run m.nca       show what would change")]
pub(crate) struct Args {
    /// Path or URL of the master.
    url: String,
    #[command(flatten)]
    how: RenameRule,
    /// Change only the names of this variable's fragments.
    #[arg(short = 'V', long, value_name = "VAR")]
    variable: Option<String>,
    /// Print the names that would change, and change nothing.
    #[arg(long)]
    dry_run: bool,
}

/// How names change.
#[derive(ClapArgs)]
#[group(required = true, multiple = false)]
struct RenameRule {
    /// Replace the directory part of names; the last part is kept.
    #[arg(long, value_name = "P")]
    prefix: Option<String>,
    /// Replace the prefix OLD of names by NEW.
    #[arg(long, value_name = "OLD=NEW")]
    replace: Option<String>,
    /// Make names relative to the master.
    #[arg(long)]
    relative: bool,
    /// Make names absolute URLs.
    #[arg(long)]
    absolute: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let relocation = relocation(&args.how)?;
    let renamed = relocate(&args.url, &relocation, args.variable.as_deref(), args.dry_run, session)?;
    let mut out = anstream::stdout().lock();
    if args.dry_run {
        return super::finish(
            renamed
                .iter()
                .try_for_each(|name| writeln!(out, "{}\t{}\t{}", name.variable, name.from, name.to)),
        );
    }
    super::finish(writeln!(out, "{} names changed", renamed.len()))
}

fn relocation(how: &RenameRule) -> Result<Relocation> {
    if let Some(prefix) = &how.prefix {
        return Ok(Relocation::Prefix(prefix.clone()));
    }
    if let Some(replace) = &how.replace {
        let (old, new) = replace
            .split_once('=')
            .filter(|(old, _)| !old.is_empty())
            .ok_or_else(|| Error::invalid(format!("--replace {replace:?} is not of the form OLD=NEW")))?;
        return Ok(Relocation::Replace(old.to_owned(), new.to_owned()));
    }
    Ok(if how.relative { Relocation::Relative } else { Relocation::Absolute })
}
