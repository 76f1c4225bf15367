//! `ncirrus aggregate`: one dataset out of many files.
use super::master::{MasterArgs, progress_bar};
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Detail, Error, ErrorKind, Result, Session, Variable};
use ncirrus_tools::aggregate::{
    AggregateOptions, Aggregation, PreparedAggregation, list, master_options, rebuild, recorded_options,
};
use std::io::Write as _;

/// Make one dataset out of many files without copying their data.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus aggregate sst.nca 'sst_*.nc'                    concatenate along the unlimited dimension
  ncirrus aggregate --axis time --sort sst.nca data/      all files of a directory, ordered by time
  ncirrus aggregate --axis lat --axis lon m.nca 'tile_*.nc'  tiles of a grid
  ncirrus aggregate --new-axis member m.nca run?.nc       each file is one step of a new dimension
  ncirrus aggregate --dry-run m.nca 's3://bucket/run1/*.nc' show the result, gaps and files that do not fit
  ncirrus aggregate --add sst.nca sst_2027.nc             add one file
  ncirrus aggregate --add --sort sst.nca 'sst_*.nc'       add the files that are not in it yet, anywhere along the axis
  ncirrus aggregate --rebuild sst sst.nca                 recreate a lost master from the fragments in directory sst
  ncirrus aggregate --convention cfa-0.4 --compat m.nca 'sst_*.nc'
  ncirrus aggregate --convention cfa-0.6 --substitute BASE=s3://bucket/run1/ m.nca a.nc b.nc

Files follow each other in the order given; with several axes, and with --sort, their coordinates say where they lie. Overlaps,
a wrong order and whatever does not fit are reported with the file's name before anything is written, and so are gaps. Variables
along the axis stay in the files; coordinates, and variables that all files have alike, are stored in the master.")]
pub(crate) struct Args {
    /// Path or URL of the master.
    target: String,
    /// Files: paths, URLs, wildcards, directories.
    files: Vec<String>,
    /// Also read file names from this file, one per line; empty lines and lines starting with # are skipped; - is
    /// standard input.
    #[arg(long, value_name = "FILE")]
    from_list: Option<String>,
    /// Dimension along which the files are concatenated; repeatable for a grid of files [default: the unlimited one].
    #[arg(long, value_name = "NAME")]
    axis: Vec<String>,
    /// Each file is one step along this new dimension, which the files do not have.
    #[arg(long, value_name = "NAME", conflicts_with = "axis")]
    new_axis: Option<String>,
    /// Order the files by their coordinates along the axis.
    #[arg(long)]
    sort: bool,
    /// Do not compare the values of variables that have no aggregated axis; take them from the first file.
    #[arg(long)]
    no_compare: bool,
    /// Add the files to the existing aggregation, along the axes that it has (name them if it has a single file); its
    /// present files are not opened. Its kind and convention are kept. With --sort the files may belong anywhere.
    #[arg(long)]
    add: bool,
    /// Recreate a lost master from the fragments that `split` or S3netCDF4 wrote to this directory. Its convention, scalars and unlimited
    /// dimensions are those that the fragments record, unless --convention names another one.
    #[arg(long, value_name = "DIR", conflicts_with_all = ["files", "from_list", "axis", "new_axis", "add", "dry_run"])]
    rebuild: Option<String>,
    #[command(flatten)]
    master: MasterArgs,
    /// Print what would be written, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
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
    let message = "is one of the files to aggregate and not an aggregation, and would be replaced: is the target missing from the command?";
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
