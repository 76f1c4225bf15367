//! `ncirrus filters`: lists the available filters and codecs, or those that a dataset needs.
use super::finish;
use crate::CommandStatus;
use crate::exit;
use anstyle::{AnsiColor, Style};
use clap::Args as ClapArgs;
use ncirrus::{CodecEntry, CodecOrigin, CodecRegistry, CodecSpec, Dataset, Result, Session};
use std::io::{self, Write};
use std::path::Path;

/// List the available filters and codecs, or those that a dataset needs.
///
/// Filters that are not built in are loaded from HDF5 and netCDF plugins. The directories are those of HDF5_PLUGIN_PATH, else
/// of PLUGIN.PATH in ~/.ncrc, else the default ones. The list requires loading all plugins.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus filters                                   all filters and codecs
  ncirrus filters --url data.nc                     those that a dataset needs
  HDF5_PLUGIN_PATH=/opt/plugins ncirrus filters -v  also plugin directories and ignored files")]
pub(crate) struct Args {
    /// Show the directories and files of plugins, and why libraries are ignored.
    #[arg(short, long)]
    verbose: bool,
    /// Check the filters of each variable of this dataset.
    ///
    /// The exit code is 1 if data with one of them cannot be read.
    #[arg(long, value_name = "URL")]
    url: Option<String>,
}

const HEADING: Style = Style::new().bold();
const QUIET: Style = Style::new().dimmed();
const FAULT: Style = AnsiColor::Red.on_default();

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let mut out = anstream::stdout().lock();
    let registry = session.registry();
    let Some(url) = &args.url else {
        let listed = list(&mut out, registry, args.verbose);
        return finish(listed);
    };
    let dataset = super::open(url, session)?;
    let (rows, complete) = needs(&dataset, registry)?;
    let mut written = table(&mut out, &["VARIABLE", "FILTER", "ID", "READ", "WRITE", "FROM"], &rows);
    if args.verbose {
        written = written.and_then(|()| places(&mut out, registry));
    }
    let code = finish(written)?;
    Ok(if complete { code } else { CommandStatus::from(exit::PARTIAL) })
}

fn list(out: &mut impl Write, registry: &CodecRegistry, verbose: bool) -> io::Result<()> {
    let mut rows: Vec<Vec<String>> = Vec::new();
    for entry in registry.known() {
        let mut row = row(&entry, verbose);
        if let Some(from) = row.last_mut().filter(|_| is_shadowed(&entry, registry)) {
            from.push_str(" (the built-in one is used)");
        }
        rows.push(row);
    }
    table(out, &["ID", "ZARR 2", "ZARR 3", "READ", "WRITE", "PARAMETERS", "FROM"], &rows)?;
    if verbose { places(out, registry) } else { Ok(()) }
}

/// Whether a plugin has a filter that is overridden by a built-in one.
fn is_shadowed(entry: &CodecEntry, registry: &CodecRegistry) -> bool {
    let used = entry.hdf5.and_then(|id| registry.entry(&CodecSpec::hdf5(id, &[])));
    matches!(entry.origin, CodecOrigin::Plugin { filter: Some(_), .. })
        && used.is_some_and(|used| used.origin == CodecOrigin::BuiltIn)
}

fn row(entry: &CodecEntry, verbose: bool) -> Vec<String> {
    let first = |names: &[String]| names.first().cloned().unwrap_or_else(nothing);
    vec![
        entry.hdf5.map_or_else(nothing, |id| id.to_string()),
        first(&entry.v2),
        first(&entry.v3),
        yes(reads(entry)),
        writes(entry),
        if entry.parameters.is_empty() { nothing() } else { entry.parameters.join(",") },
        from(entry, verbose),
    ]
}

/// One row for each filter of each variable, and whether all can be read.
fn needs(dataset: &Dataset, registry: &CodecRegistry) -> Result<(Vec<Vec<String>>, bool)> {
    let (mut rows, mut complete) = (Vec::new(), true);
    let model = dataset.model()?;
    for var in model.variables() {
        let Some(variable) = model.variable(var) else { continue };
        for spec in &variable.filters {
            let entry = registry.entry(spec);
            complete &= entry.as_ref().is_some_and(reads);
            rows.push(need(&model.variable_path(var), spec, entry.as_ref()));
        }
    }
    Ok((rows, complete))
}

fn need(path: &str, spec: &CodecSpec, entry: Option<&CodecEntry>) -> Vec<String> {
    let name = entry.map_or_else(|| spec.identifier(), |entry| entry.name.clone());
    let id = match spec {
        CodecSpec::Hdf5 { id, .. } => Some(*id),
        _ => entry.and_then(|entry| entry.hdf5),
    };
    let id = id.map_or_else(nothing, |id| id.to_string());
    let (read, write) =
        entry.map_or_else(|| (yes(false), yes(false)), |entry| (yes(reads(entry)), writes(entry)));
    let from = match entry {
        Some(entry) if reads(entry) || entry.encodes => from(entry, true),
        _ if is_optional(spec) => "missing; chunks stored without it can be read".to_owned(),
        _ => "missing".to_owned(),
    };
    vec![path.to_owned(), name, id, read, write, from]
}

fn is_optional(spec: &CodecSpec) -> bool {
    matches!(spec, CodecSpec::Hdf5 { optional: true, .. })
}

/// Whether chunks encoded with it can be read.
fn reads(entry: &CodecEntry) -> bool {
    entry.decodes || is_layout(entry)
}

/// Shards are not a byte codec: their chunks are found through their index. They are written, too.
fn is_layout(entry: &CodecEntry) -> bool {
    entry.v3.iter().any(|name| name == "sharding_indexed")
}

fn nothing() -> String {
    "-".to_owned()
}

fn yes(can: bool) -> String {
    if can { "yes" } else { "no" }.to_owned()
}

fn writes(entry: &CodecEntry) -> String {
    let can = entry.encodes || is_layout(entry);
    if entry.needs_complete_parameters { "complete parameters".to_owned() } else { yes(can) }
}

fn from(entry: &CodecEntry, verbose: bool) -> String {
    let show = |path: &Path| match path.file_name() {
        Some(name) if !verbose => name.to_string_lossy().into_owned(),
        _ => path.display().to_string(),
    };
    match &entry.origin {
        CodecOrigin::Plugin { filter: None, codec } => {
            format!("built in, named by {}", codec.as_deref().map_or("configuration".to_owned(), show))
        }
        CodecOrigin::Plugin { filter: Some(filter), codec } => match codec {
            Some(codec) if codec != filter => format!("{}, named by {}", show(filter), show(codec)),
            None if !entry.v2.is_empty() => format!("{}, named by configuration", show(filter)),
            _ => show(filter),
        },
        _ if is_layout(entry) => "built in, as a chunk layout".to_owned(),
        _ if entry.decodes || entry.encodes => "built in".to_owned(),
        _ => "not available".to_owned(),
    }
}

/// Where plugins are looked for, and what was ignored there.
fn places(out: &mut impl Write, registry: &CodecRegistry) -> io::Result<()> {
    let directories = registry.plugin_directories();
    writeln!(out, "\n{HEADING}Plugin directories{HEADING:#}")?;
    if directories.is_empty() {
        writeln!(out, "  none")?;
    }
    for directory in directories {
        writeln!(out, "  {}", directory.display())?;
    }
    let ignored = registry.ignored();
    if !ignored.is_empty() {
        writeln!(out, "\n{HEADING}Ignored{HEADING:#}")?;
    }
    for ignored in ignored {
        let path =
            if ignored.path.as_os_str().is_empty() { Path::new("configuration") } else { &ignored.path };
        writeln!(out, "  {}\n    {QUIET}{}{QUIET:#}", path.display(), ignored.reason)?;
    }
    Ok(())
}

/// Columns as wide as their widest cell.
fn table(out: &mut impl Write, headings: &[&str], rows: &[Vec<String>]) -> io::Result<()> {
    let widest = |column: usize, heading: &str| {
        let cells = rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count());
        cells.chain([heading.len()]).max().unwrap_or(0)
    };
    let widths: Vec<usize> =
        headings.iter().enumerate().map(|(column, heading)| widest(column, heading)).collect();
    let line = |cells: &[&str]| {
        let cells = cells.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        cells.collect::<Vec<_>>().join("  ").trim_end().to_owned()
    };
    writeln!(out, "{HEADING}{}{HEADING:#}", line(headings))?;
    for row in rows {
        let cells: Vec<&str> = row.iter().map(String::as_str).collect();
        if row.last().is_some_and(|from| from.starts_with("missing")) {
            writeln!(out, "{FAULT}{}{FAULT:#}", line(&cells))?;
        } else {
            writeln!(out, "{}", line(&cells))?;
        }
    }
    Ok(())
}
