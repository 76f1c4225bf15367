//! `ncirrus reference`: a Zarr dataset whose chunks lie in other files.
use clap::Args as ClapArgs;
use ncirrus::{Error, ReferenceOptions, Result, Session, write_references};
use std::io::Write as _;
use std::process::ExitCode;

/// Write a reference file (kerchunk JSON) for existing files.
///
/// It says which bytes of the files are the chunks of a Zarr dataset. ncirrus, fsspec with zarr-python, and xarray read it.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus reference sst.nc sst.json                        one file
  ncirrus reference --axis time 2020.nc 2021.nc all.json   several, one after the other
  ncirrus info all.json                                    what is in it")]
pub(crate) struct Args {
    /// Files, Zarr stores or URLs, and then the reference file.
    #[arg(required = true, num_args = 2.., value_names = ["FILE", "OUT"])]
    files: Vec<String>,
    /// The dimension along which several files follow each other, in the order given.
    #[arg(long, value_name = "NAME")]
    axis: Option<String>,
    /// Put chunks of at most this many bytes into the reference file.
    #[arg(long, value_name = "BYTES", default_value_t = ReferenceOptions::default().inline_threshold)]
    inline_threshold: u64,
    /// Put variables of at most this many bytes into it that cannot be referred to; larger ones are left out.
    #[arg(long, value_name = "BYTES", default_value_t = ReferenceOptions::default().inline_values)]
    inline_values: u64,
    /// Name local files relative to the reference file (fsspec takes them from the working directory).
    #[arg(long)]
    relative: bool,
    /// Replace OUT if it exists.
    #[arg(short = 'f', long)]
    force: bool,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<ExitCode> {
    let (target, sources) = args.files.split_last().ok_or_else(|| Error::invalid("no files"))?;
    let options = ReferenceOptions {
        axis: args.axis.clone(),
        inline_threshold: args.inline_threshold,
        inline_values: args.inline_values,
        relative: args.relative,
        overwrite: args.force,
    };
    let report = write_references(sources, target, &options, session)?;
    let mut out = anstream::stdout().lock();
    let (variables, references, inline) = (report.variables, report.references, report.inline);
    let told = writeln!(out, "{variables} variables, {references} references, {inline} chunks inline");
    drop(out);
    Ok(crate::exit::after(super::finish(told)?, &report.left_out))
}
