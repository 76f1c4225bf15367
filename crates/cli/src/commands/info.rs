//! `ncirrus info`: a summary as text or JSON.
use super::{finish, show_size};
use crate::CommandStatus;
use anstyle::{AnsiColor, Style};
use clap::Args as ClapArgs;
use ncirrus::{Result, Session};
use ncirrus_tools::{GroupInfo, Info, VariableInfo};
use std::io::{self, Write};

/// Summarise a dataset: dimensions, variables with shapes, chunks, filters and sizes.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus info sst.nc
  ncirrus info -a s3://bucket/sst.zarr  with attributes
  ncirrus info --json s3://bucket/sst.zarr | jq .groups[0].variables")]
pub(crate) struct Args {
    /// Path or URL of the dataset; - for standard input.
    url: String,
    /// Print JSON.
    #[arg(long)]
    json: bool,
    /// Print attributes, too.
    #[arg(short, long)]
    attributes: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

const NAME: Style = Style::new().bold();
const TYPE: Style = AnsiColor::Cyan.on_default();
const QUIET: Style = Style::new().dimmed();
const FAULT: Style = AnsiColor::Red.on_default();

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let dataset = args.reading.open(&args.url, session)?;
    let info = ncirrus_tools::info(&dataset)?;
    let mut out = anstream::stdout().lock();
    let shown = if args.json {
        writeln!(out, "{:#}", info.to_json())
    } else {
        show(&mut out, &info, args.attributes)
    };
    drop(out);
    Ok(crate::exit::after(finish(shown)?, &info.left_out))
}

fn show(out: &mut impl Write, info: &Info, attributes: bool) -> io::Result<()> {
    writeln!(out, "{NAME}{}{NAME:#}  {}", info.name, info.kind)?;
    for (name, value) in info.facts.pairs() {
        writeln!(out, "  {QUIET}{name}: {value}{QUIET:#}")?;
    }
    for warning in &info.warnings {
        writeln!(out, "  {FAULT}warning: {}{FAULT:#}", crate::message::plain(warning))?;
    }
    info.groups.iter().try_for_each(|group| show_group(out, group, attributes))
}

fn show_group(out: &mut impl Write, group: &GroupInfo, attributes: bool) -> io::Result<()> {
    if group.path != "/" {
        writeln!(out, "\ngroup {NAME}{}{NAME:#}", group.path)?;
    }
    if let Some(fault) = &group.fault {
        writeln!(out, "  {FAULT}{fault}{FAULT:#}")?;
    }
    if !group.dimensions.is_empty() {
        let dimension = |(name, len, unlimited): &(String, u64, bool)| {
            format!("{name}={len}{}", if *unlimited { " (unlimited)" } else { "" })
        };
        let list: Vec<String> = group.dimensions.iter().map(dimension).collect();
        writeln!(out, "dimensions  {}", list.join(", "))?;
    }
    if !group.types.is_empty() {
        writeln!(out, "types       {}", group.types.join(", "))?;
    }
    let width = group.variables.iter().map(|variable| variable.name.chars().count()).max().unwrap_or(0);
    for variable in &group.variables {
        show_variable(out, variable, width, attributes)?;
    }
    if attributes {
        show_attributes(out, &group.attributes)?;
    }
    Ok(())
}

fn show_variable(
    out: &mut impl Write,
    variable: &VariableInfo,
    width: usize,
    attributes: bool,
) -> io::Result<()> {
    let axes = variable.dimensions.iter().zip(&variable.shape);
    let axes: Vec<String> = axes.map(|(name, len)| format!("{name}={len}")).collect();
    let pad = width.saturating_sub(variable.name.chars().count());
    write!(
        out,
        "  {NAME}{}{NAME:#}{:pad$}  {TYPE}{}{TYPE:#} ({})",
        variable.name,
        "",
        variable.ty,
        axes.join(", ")
    )?;
    if let Some(chunks) = variable.chunks.as_ref().filter(|chunks| !chunks.is_empty()) {
        let chunks: Vec<String> = chunks.iter().map(ToString::to_string).collect();
        write!(out, "  {QUIET}chunks{QUIET:#} {}", chunks.join("x"))?;
    }
    if let Some(shards) = &variable.shards {
        let shards: Vec<String> = shards.iter().map(ToString::to_string).collect();
        write!(out, "  {QUIET}shards{QUIET:#} {}", shards.join("x"))?;
    }
    if !variable.filters.is_empty() {
        write!(out, "  {QUIET}filters{QUIET:#} {}", variable.filters.join(" "))?;
    }
    match (variable.raw_bytes, variable.stored_bytes) {
        (Some(raw), Some(stored)) => {
            write!(out, "  {} {QUIET}stored as{QUIET:#} {}", show_size(raw), show_size(stored))?;
        }
        (Some(raw), None) => write!(out, "  {}", show_size(raw))?,
        (None, Some(stored)) => write!(out, "  {QUIET}stored as{QUIET:#} {}", show_size(stored))?,
        (None, None) => {}
    }
    writeln!(out)?;
    if let Some(fragments) = &variable.fragments {
        let shape: Vec<String> = fragments.shape.iter().map(ToString::to_string).collect();
        let first = fragments.first.as_deref().unwrap_or("nothing");
        let last = fragments.last.as_deref().unwrap_or("nothing");
        let shape = if shape.is_empty() { "1".to_owned() } else { shape.join("x") };
        writeln!(out, "    {QUIET}fragments{QUIET:#} {shape}  {first} {QUIET}to{QUIET:#} {last}")?;
    }
    if let Some(fault) = &variable.fault {
        writeln!(out, "    {FAULT}cannot be read: {fault}{FAULT:#}")?;
    }
    if attributes { show_attributes(out, &variable.attributes) } else { Ok(()) }
}

fn show_attributes(out: &mut impl Write, attributes: &[(String, String)]) -> io::Result<()> {
    for (name, value) in attributes {
        writeln!(out, "      {name}: {}", value.replace('\n', "\n        "))?;
    }
    Ok(())
}
