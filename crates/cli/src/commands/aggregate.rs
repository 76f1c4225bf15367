//! `ncirrus aggregate`: makes one dataset of many files.
use super::master::{MasterArgs, progress_bar};
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Detail, Error, ErrorKind, Result, Session, Variable};
use ncirrus_tools::aggregate::{
    AggregateOptions, Aggregation, PreparedAggregation, list, master_options, rebuild, recorded_options,
};
use std::io::Write as _;

/// Make one dataset of many files without copying their data.
#[derive(ClapArgs)]
#[command(
    before_long_help = "Examples:
  ncirrus aggregate sst.nca 'sst_*.nc'                       join along the unlimited dimension
  ncirrus aggregate --axis time --sort sst.nca data/         files of a directory, ordered by time
  ncirrus aggregate --new-axis member m.nca run?.nc          each file is a step of a new dimension
  ncirrus aggregate --axis lat --axis lon m.nca 'tile_*.nc'  tiles of a grid
  ncirrus aggregate --dry-run m.nca 's3://bucket/run1/*.nc'  show the result, gaps and errors
  ncirrus aggregate --add sst.nca sst_2027.nc                add one file
  ncirrus aggregate --add --sort sst.nca 'sst_*.nc'          add new files, anywhere along the axis
  ncirrus aggregate --rebuild sst sst.nca                    recreate a lost master from its fragments
  ncirrus aggregate --convention cfa-0.4 --compat m.nca 'sst_*.nc'
  ncirrus aggregate --convention cfa-0.6 --substitute BASE=s3://bucket/run1/ m.nca a.nc b.nc",
    after_long_help = "\
Files are joined in the order given. With several axes, and with --sort, they are ordered by their coordinates. Overlaps, gaps, \
a wrong order and other mismatches are reported with the file's name before anything is written. The data of variables along \
the axis remains in the files. The master contains coordinates, and variables that are equal in all files."
)]
pub(crate) struct Args {
    /// Path or URL of the master.
    target: String,
    /// Files: paths, URLs, wildcards, directories.
    files: Vec<String>,
    /// Read more file names from FILE, one per line; - is standard input.
    ///
    /// Empty lines and lines that start with # are skipped.
    #[arg(long, value_name = "FILE")]
    from_list: Option<String>,
    /// Dimension along which files are joined; repeatable for a grid.
    ///
    /// The default is the unlimited dimension.
    #[arg(long, value_name = "NAME")]
    axis: Vec<String>,
    /// Make each file one step along this new dimension.
    ///
    /// The files must not have a dimension of this name.
    #[arg(long, value_name = "NAME", conflicts_with = "axis")]
    new_axis: Option<String>,
    /// Order the files by their coordinates along the axis.
    #[arg(long)]
    sort: bool,
    /// Take variables without the axis from the first file.
    ///
    /// Their values in the other files are not compared.
    #[arg(long, hide_short_help = true)]
    no_compare: bool,
    /// Add the files to the existing aggregation.
    ///
    /// They are added along its axes; if it has a single file, name the axes. Its present files are not opened, and its kind and
    /// convention are kept. Without --sort the files must follow the present ones.
    #[arg(long)]
    add: bool,
    /// Recreate a lost master from the fragments in this directory.
    ///
    /// The fragments are those that `split` or S3netCDF4 wrote. The convention, scalars and unlimited dimensions are those that the
    /// fragments record, unless --convention names another one.
    #[arg(long, value_name = "DIR", hide_short_help = true, conflicts_with_all = ["files", "from_list", "axis", "new_axis", "add", "dry_run"])]
    rebuild: Option<String>,
    #[command(flatten)]
    master: MasterArgs,
    /// Print what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print nothing but errors.
    #[arg(short, long, hide_short_help = true)]
    quiet: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    if let Some(folder) = &args.rebuild {
        let like = recorded_options(&args.target, folder, session)?;
        return print(&rebuild(&args.target, folder, &args.master.changing(like)?, session)?);
    }
    let mut files = list(&names(args)?, session)?;
    let count = files.len();
    files.retain(|file| *file != args.target);
    if files.len() < count {
        check_master(&args.target, session)?;
    }
    let bar = if args.quiet { indicatif::ProgressBar::hidden() } else { progress_bar() };
    let show = |done: usize, total: usize| {
        bar.set_length(total as u64);
        bar.set_position(done as u64);
    };
    let options = AggregateOptions::new()
        .axes(args.axis.clone())
        .new_axis(args.new_axis.clone())
        .sort(args.sort)
        .compare(!args.no_compare)
        .steps(&show);
    let prepared = if args.add {
        PreparedAggregation::adding(&args.target, &files, &options, session)
    } else {
        PreparedAggregation::of(&files, &options, session)
    };
    bar.finish_and_clear();
    let prepared = prepared?;
    print_problems(prepared.report());
    if args.dry_run {
        return print(prepared.report());
    }
    let master = if args.add {
        args.master.changing(master_options(&args.target, session)?.overwrite(true))?
    } else {
        args.master.options()?
    };
    let report = prepared.write(&args.target, &master, session)?;
    if args.quiet { Ok(crate::exit::after(CommandStatus::SUCCESS, &report.left_out)) } else { print(&report) }
}

/// A folder may also contain an older master; inputs of the aggregation are not replaced.
fn check_master(target: &str, session: &Session) -> Result<()> {
    let there = match super::open(target, session) {
        Ok(there) => there,
        // It could not be determined.
        Err(error) if matches!(error.kind(), ErrorKind::Io { .. } | ErrorKind::Denied) => return Err(error),
        Err(_) => return Ok(()),
    };
    if there.variables().iter().any(Variable::is_aggregated) {
        return Ok(());
    }
    let message = "is one of the files to aggregate, not an aggregation, and would be replaced: is the target missing from the command?";
    Err(Error::new(ErrorKind::Conflict, message)
        .with_detail(Detail::IsSource)
        .at_object(super::shown(target)))
}

/// The names on the command line and in the list.
fn names(args: &Args) -> Result<Vec<String>> {
    let mut names = args.files.clone();
    if let Some(file) = &args.from_list {
        let text = match file.as_str() {
            "-" => std::io::read_to_string(std::io::stdin()),
            file => std::fs::read_to_string(file),
        };
        let text = text.map_err(|error| Error::not_found(error.to_string()).at_object(file))?;
        let is_name = |line: &&str| !line.is_empty() && !line.starts_with('#');
        names.extend(text.lines().map(str::trim).filter(is_name).map(str::to_owned));
    }
    Ok(names)
}

fn print_problems(report: &Aggregation) {
    report.problems.iter().for_each(crate::message::print);
    crate::message::notes(&report.notes);
}

fn print(report: &Aggregation) -> Result<CommandStatus> {
    let mut out = anstream::stdout().lock();
    let mut write = || {
        writeln!(out, "files       {}", report.files)?;
        for (name, blocks, len) in &report.axes {
            writeln!(out, "axis        {name}: {blocks} blocks, {len} elements")?;
        }
        writeln!(out, "aggregated  {}", report.aggregated.join(" "))?;
        writeln!(out, "stored      {}", report.stored.join(" "))
    };
    super::finish(write())?;
    drop(out);
    let done = crate::exit::after(CommandStatus::SUCCESS, &report.left_out);
    Ok(if report.problems.is_empty() { done } else { crate::exit::code(ErrorKind::Invalid) })
}
