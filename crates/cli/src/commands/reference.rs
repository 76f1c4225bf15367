//! `ncirrus reference`: writes a Zarr dataset whose chunks are in other files.
use super::pipe::{Outlet, is_pipe};
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{Error, Result, Session};
use ncirrus_tools::{ReferenceForm, ReferenceOptions, write_references};
use std::io::Write as _;

/// Write references (kerchunk JSON or Parquet) for existing files.
///
/// The references are a Zarr dataset whose chunks are byte ranges of the files. ncirrus, fsspec with zarr-python, and
/// xarray read them.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus reference sst.nc sst.json                        one file
  ncirrus reference --axis time 2020.nc 2021.nc all.json   several, concatenated
  ncirrus reference --axis time 20*.nc all.parq            as a folder of Parquet files
  ncirrus reference --axis time --add 2022.nc all.parq     with one more file
  ncirrus reference sst.nc - | jq .refs                    to standard output
  ncirrus info all.json                                    show what it contains")]
pub(crate) struct Args {
    /// Files, Zarr stores or URLs; the references are last, - for standard output.
    #[arg(required = true, value_names = ["FILE", "OUT"])]
    files: Vec<String>,
    /// Form of the references [default: parquet if OUT ends in .parq or .parquet, else json].
    #[arg(short, long, value_name = "FORM")]
    kind: Option<Form>,
    /// Chunks for each Parquet file of references.
    #[arg(long, value_name = "N", default_value_t = ReferenceOptions::default().record_size)]
    record_size: u64,
    /// Add the files to the references that exist already.
    ///
    /// Only the new files are scanned. They continue the dimension that --axis names.
    #[arg(long, requires = "axis")]
    add: bool,
    /// Dimension along which the files are concatenated, in their order.
    #[arg(long, value_name = "NAME")]
    axis: Option<String>,
    /// Embed chunks of at most this size.
    #[arg(long, value_name = "BYTES", default_value_t = ReferenceOptions::default().inline_threshold)]
    inline_threshold: u64,
    /// Embed variables of at most this size.
    ///
    /// This applies to variables that cannot be referenced. Larger ones are left out.
    #[arg(long, value_name = "BYTES", default_value_t = ReferenceOptions::default().inline_values)]
    inline_values: u64,
    /// Name local files relative to the reference file.
    ///
    /// fsspec resolves such names against the working directory.
    #[arg(long)]
    relative: bool,
    #[command(flatten)]
    overwrite: super::overwrite::Overwrite,
    /// Old name of --overwrite.
    #[arg(short = 'f', long, hide = true)]
    force: bool,
}

/// The forms of references.
#[derive(Debug, Clone, Copy, clap::ValueEnum)]
enum Form {
    /// A JSON file, which is read whole
    Json,
    /// A folder of Parquet files, which are read as needed: for more than about 100,000 chunks
    Parquet,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let (target, sources) =
        args.files.split_last().ok_or_else(|| Error::invalid("there are no files to refer to"))?;
    if sources.is_empty() {
        return Err(Error::invalid(format!(
            "only {target:?} is given: name the files first and the reference file last"
        )));
    }
    if let Some(pipe) = sources.iter().find(|source| is_pipe(source)) {
        return Err(Error::invalid(format!("{pipe:?}: data from a pipe cannot be referenced")));
    }
    if is_pipe(target) && args.add {
        return Err(Error::invalid("--add needs references that exist"));
    }
    if is_pipe(target) && matches!(args.kind, Some(Form::Parquet)) {
        return Err(Error::invalid("references in Parquet are a folder, which cannot be written to a pipe"));
    }
    let outlet = if is_pipe(target) { Some(Outlet::new("json")?) } else { None };
    let target = outlet.as_ref().map_or_else(|| target.clone(), Outlet::address);
    let options = ReferenceOptions::new()
        .form(args.kind.map(|form| match form {
            Form::Json => ReferenceForm::Json,
            Form::Parquet => ReferenceForm::Parquet,
        }))
        .record_size(args.record_size)
        .add_files(args.add)
        .axis(args.axis.clone())
        .inline_threshold(args.inline_threshold)
        .inline_values(args.inline_values)
        .relative(args.relative)
        .overwrite(args.overwrite.is_wanted() || args.force)
        .overwrite_any(args.overwrite.is_any());
    let report = write_references(sources, &target, &options, session)?;
    if let Some(outlet) = outlet {
        outlet.send()?;
        return Ok(crate::exit::after(CommandStatus::SUCCESS, &report.left_out));
    }
    let mut out = anstream::stdout().lock();
    let (variables, references, inline) = (report.variables, report.references, report.inline);
    let reported = writeln!(out, "{variables} variables, {references} references, {inline} chunks inline");
    drop(out);
    Ok(crate::exit::after(super::finish(reported)?, &report.left_out))
}
