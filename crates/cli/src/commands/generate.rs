//! `ncirrus generate`: a dataset from CDL text.
use super::copy::KindName;
use super::dialect::DialectName;
use super::pipe::is_pipe;
use crate::CommandStatus;
use clap::Args as ClapArgs;
use ncirrus::{CreateOptions, Dialect, Error, Kind, Result, Session};
use ncirrus_tools::cdl::parse::CdlFault;
use ncirrus_tools::{
    ChunkRule, FilterRule, GenerateOptions, GenerateReport, TextInput, check_text, generate,
};
use std::io;
use std::path::Path;

/// Make a dataset from CDL text, such as `ncirrus dump` prints; it appears complete or not at all.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus generate sst.cdl sst.nc                 as the text's _Format says, else the first kind that has what it needs
  ncirrus generate -k nczarr sst.cdl sst.zarr     NCZarr
  ncirrus generate -c time/1,lat/,lon/ -F 'sst,zstd,level=5' sst.cdl sst.nc4
  ncirrus dump a.nc | sed s/Kelvin/K/ | ncirrus generate - b.nc
  ncirrus generate --check sst.cdl                only report what is wrong with the text")]
pub(crate) struct Args {
    /// The text; - for standard input.
    text: String,
    /// Path or URL of the dataset.
    #[arg(required_unless_present = "check")]
    target: Option<String>,
    /// Read the text to its end, tell what is wrong with it, and write nothing.
    #[arg(long, conflicts_with = "target")]
    check: bool,
    /// Kind of the dataset [default: from the target's name or mode, the text's _Format, or what the text needs].
    #[arg(short, long, value_enum, value_name = "KIND")]
    kind: Option<KindName>,
    /// Dialect of NCZarr, by the readers that it is for.
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectName>,
    /// Store text attributes that are JSON dictionaries as JSON in Zarr, or as text [default: yes in NCZarr, as netCDF-C
    /// does; no in plain Zarr].
    #[arg(long, value_name = "YES|NO", value_parser = super::yes_or_no)]
    json_attributes: Option<bool>,
    /// Chunk shapes: DIM/LEN,... (without LEN: the whole dimension), VAR:LEN,LEN,..., VAR: (contiguous), / (no chunking).
    #[arg(short, long, value_name = "RULE")]
    chunks: Vec<String>,
    /// Filters of individual variables: [VARS,]FILTER[|FILTER...], as `ncirrus copy` takes them; repeatable.
    #[arg(short = 'F', long = "filter", value_name = "RULE")]
    filter: Vec<String>,
    #[command(flatten)]
    overwrite: super::overwrite::Overwrite,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    if args.target.as_deref().is_some_and(is_pipe) {
        return Err(Error::invalid("generate writes no dataset to standard output: name a target"));
    }
    let name = name_of(&args.text);
    let input = input(&args.text, session)?;
    let print = |fault: &CdlFault| crate::message::print_fault(fault, name);
    let options = options(args)?.faults(&print);
    let made = match &args.target {
        Some(target) => generate(&input, target, &options, session),
        None => check_text(&input, &options, session),
    };
    let report = made.map_err(|error| in_text(error, name))?;
    print_cut(&report);
    Ok(CommandStatus::SUCCESS)
}

/// The name of a command's text in messages.
pub(crate) fn name_of(text: &str) -> &str {
    if is_pipe(text) { "standard input" } else { text }
}

/// An error about a text, unless it is about something else.
pub(crate) fn in_text(error: Error, name: &str) -> Error {
    if error.place().object.is_none() { error.at_object(name) } else { error }
}

/// The text of a command.
pub(crate) fn input(text: &str, session: &Session) -> Result<TextInput> {
    if is_pipe(text) {
        return TextInput::from_reader(io::stdin().lock(), session)
            .map_err(|error| error.at_object("standard input"));
    }
    TextInput::open(Path::new(text), session)
}

fn options<'a>(args: &Args) -> Result<GenerateOptions<'a>> {
    let create = CreateOptions::new()
        .kind(args.kind.map(Kind::from))
        .dialect(args.dialect.map(Dialect::from))
        .json_attributes(args.json_attributes)
        .overwrite(args.overwrite.is_wanted());
    Ok(GenerateOptions::new()
        .create(create)
        .chunks(args.chunks.iter().map(|rule| ChunkRule::parse(rule)).collect::<Result<Vec<_>>>()?)
        .filter_rules(args.filter.iter().map(|rule| FilterRule::parse(rule)).collect::<Result<Vec<_>>>()?)
        .overwrite_any(args.overwrite.is_any()))
}

/// Tells where the text is longer than what it is for.
pub(crate) fn print_cut(report: &GenerateReport) {
    for (path, line) in &report.cut {
        crate::message::print(format_args!(
            "{path}: the text in line {line} is longer than the variable, and was cut"
        ));
    }
}
