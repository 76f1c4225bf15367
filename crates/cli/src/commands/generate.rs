//! `ncirrus generate`: makes a dataset from CDL text.
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

/// Make a dataset from CDL text, such as `ncirrus dump` prints.
///
/// The dataset appears complete or not at all.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus generate sst.cdl sst.nc              the kind follows from the text
  ncirrus generate -k nczarr sst.cdl sst.zarr  NCZarr
  ncirrus generate --check sst.cdl             only report errors in the text
  ncirrus generate -c time/1,lat/,lon/ -F 'sst,zstd,level=5' sst.cdl sst.nc4
  ncirrus dump a.nc | sed s/Kelvin/K/ | ncirrus generate - b.nc")]
pub(crate) struct Args {
    /// File with the text; - for standard input.
    text: String,
    /// Path or URL of the dataset.
    #[arg(required_unless_present = "check")]
    target: Option<String>,
    /// Report all errors in the text, and write nothing.
    #[arg(long, conflicts_with = "target")]
    check: bool,
    /// Kind: nc3, nc6, nc5, nc4, nc4c, nczarr, zarr2 or zarr3.
    ///
    /// Without this option the kind follows from the target's name or mode, else from `_Format` in the text. Else it is the
    /// first kind that supports what the text contains.
    #[arg(short, long, value_enum, value_name = "KIND")]
    kind: Option<KindName>,
    /// Dialect of NCZarr: att (the newest), lc, uc, 2018 or plain.
    ///
    /// Choose it by the programs that will read the dataset.
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectName>,
    /// Store attributes that are JSON dictionaries as JSON in Zarr.
    ///
    /// With `no` they are stored as text. The default is yes in NCZarr, as in netCDF-C, and no in plain Zarr.
    #[arg(long, value_name = "YES|NO", value_parser = super::yes_or_no)]
    json_attributes: Option<bool>,
    /// Chunk shapes: DIM/LEN,... or VAR:LEN,LEN,...; repeatable.
    ///
    /// `DIM/` without a length is the whole dimension. `VAR:` without lengths is contiguous storage. `/` means no chunking.
    #[arg(short, long, value_name = "RULE")]
    chunks: Vec<String>,
    /// Filters of variables: [VARS,]FILTER[|FILTER...]; repeatable.
    ///
    /// `ncirrus help copy` describes the syntax.
    #[arg(short = 'F', long = "filter", value_name = "RULE")]
    filter: Vec<String>,
    #[command(flatten)]
    overwrite: super::overwrite::Overwrite,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    if args.target.as_deref().is_some_and(is_pipe) {
        return Err(Error::invalid("a dataset cannot be generated to standard output: name a target"));
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

/// Reports texts that are longer than their variable.
pub(crate) fn print_cut(report: &GenerateReport) {
    for (path, line) in &report.cut {
        crate::message::print(format_args!(
            "{path}: the text in line {line} is longer than the variable, and was cut"
        ));
    }
}
