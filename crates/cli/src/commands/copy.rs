//! `ncirrus copy`: any readable dataset to any writable kind and place.
use super::dialect::DialectName;
use super::pipe::Outlet;
use crate::CommandStatus;
use crate::exit;
use clap::{Args as ClapArgs, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use ncirrus::{
    CodecSpec, CreateOptions, Dataset, DefaultChunks, Detail, Dialect, Error, ErrorKind, FileStructures,
    Kind, Result, Session, StringForm, VariableSelect,
};
use ncirrus_tools::{
    ChunkRule, CopyOptions, CopyReport, FilterRule, Filters, LongNames, Progress, QuantizeRule, SkippedPart,
};
use std::io::Write as _;
use std::time::Duration;

/// Copy a dataset to another format or place; the target appears complete or not at all.
#[derive(ClapArgs)]
#[command(after_help = "Examples:
  ncirrus copy sst.nc sst.zarr                            netCDF-3 to NCZarr
  ncirrus copy sst.zarr sst.nc -k nc5                     and back, as CDF-5
  ncirrus copy sst.zarr sst.nc4                           as netCDF-4
  ncirrus copy -c time/1,lat/,lon/ -d 4 -s a.nc b.zarr    rechunked and compressed
  ncirrus copy --select 'sst[0:10:2,5,:]' a.zarr b.nc     a box with its coordinates
  ncirrus copy -F 'sst,zstd,level=5' -F 'lat|lon,2|1,4' a.nc b.zarr
  ncirrus copy --quantize 'sst,granular=3' -d 4 -s a.nc b.zarr
  ncirrus copy --codec '{\"id\":\"zstd\",\"level\":3}' a.nc b.zarr
  ncirrus copy --dry-run -c time/,lat/8,lon/8 a.nc b.zarr  the cost of rechunking maps into time series
  ncirrus copy a.nc 'file:///data/b#mode=zarr'            plain Zarr v2, as the URL asks
  curl -s https://h/a.nc | ncirrus copy -k nc4 - - > b.nc  from pipe to pipe")]
pub(crate) struct Args {
    /// Path or URL of the dataset; - for standard input.
    source: String,
    /// Path or URL of the copy; - for standard output, with -k nc3, nc6, nc5, nc4 or nc4c.
    target: String,
    /// Kind of the copy [default: from the target's name or mode].
    #[arg(short, long, value_enum, value_name = "KIND")]
    kind: Option<KindName>,
    /// Dialect of NCZarr, by the readers that it is for.
    #[arg(long, value_enum, value_name = "DIALECT")]
    dialect: Option<DialectName>,
    /// Leave out `_ARRAY_DIMENSIONS` (Zarr v2).
    #[arg(long)]
    no_array_dimensions: bool,
    /// Leave out consolidated metadata.
    #[arg(long)]
    no_consolidated: bool,
    /// Chunk shapes: DIM/LEN,... (without LEN: the whole dimension), VAR:LEN,LEN,..., VAR: (contiguous), / (no chunking).
    #[arg(short, long, value_name = "RULE")]
    chunks: Vec<String>,
    /// Compress with deflate at this level; 0 removes all filters.
    #[arg(short, long, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(0..=9))]
    deflate: Option<u32>,
    /// Shuffle bytes before compressing.
    #[arg(short, long)]
    shuffle: bool,
    /// Compress with this codec: a name (zstd, blosc, lz4, bz2, zlib, gzip) or the JSON of a Zarr v2 codec; repeatable.
    #[arg(long, value_name = "CODEC", conflicts_with = "deflate")]
    codec: Vec<String>,
    /// Filters of individual variables, in nccopy's syntax with extensions: [VARS,]FILTER[|FILTER...] with VARS names joined
    /// by | or *, FILTER an HDF5 id with parameters, NAME,KEY=VALUE,..., the JSON of a codec, @FILE, or none; repeatable.
    #[arg(short = 'F', long = "filter", value_name = "RULE")]
    filter: Vec<String>,
    /// Drop filters that the target format cannot store or that cannot be applied, instead of failing. Those that only the
    /// source has are always dropped.
    #[arg(long)]
    drop_filters: bool,
    /// Quantize floating-point values: [VARS,]MODE=N with bitgroom or granular (N digits) or bitround (N bits).
    #[arg(long, value_name = "RULE")]
    quantize: Vec<String>,
    /// Also record quantization in the attributes of CF 1.12.
    #[arg(long, requires = "quantize")]
    cf_quantization: bool,
    /// Copy only these variables, with their coordinates.
    #[arg(short = 'V', long, value_name = "VAR,...", value_delimiter = ',')]
    variables: Vec<String>,
    /// Copy only these groups, with everything below them.
    #[arg(short, long, value_name = "GROUP,...", value_delimiter = ',')]
    groups: Vec<String>,
    /// Copy the definitions of all variables, but the data of these only; the others have fill values.
    #[arg(long, value_name = "VAR,...", value_delimiter = ',')]
    data_of: Vec<String>,
    /// Copy only this box of a variable, with its coordinates: VAR[0:10:2,5,:]; repeatable.
    #[arg(long, value_name = "VAR[SEL]")]
    select: Vec<String>,
    /// Make unlimited dimensions fixed.
    #[arg(short = 'u', long)]
    fixed: bool,
    /// Continue past chunks that cannot be decoded: their elements become fill values, each such chunk is reported, and the
    /// exit code is 1. Every chunk is decoded, including those that could be copied as they are.
    #[arg(long)]
    skip_damaged: bool,
    /// Names too long for netCDF-C (more than 256 bytes): refuse the copy, or shorten them and report each.
    #[arg(long, value_enum, value_name = "WAY", default_value = "refuse")]
    long_names: LongNamesWay,
    /// Change names that the copy's format keeps for itself or would make another path of, and report each; without this
    /// option the copy is refused.
    #[arg(long)]
    rename_reserved: bool,
    /// Decode every chunk, including those copied in encoded form, so that damage is detected. Without this option those
    /// are only checked where it is cheap: lengths, headers, checksums.
    #[arg(long)]
    verify: bool,
    /// Oldest HDF5 that must be able to read a netCDF-4 copy: v18 (1.8 and newer) or v110 (1.10 and newer; faster chunk indexes).
    #[arg(long, value_enum, value_name = "VERSION", default_value = "v18")]
    libver: LibraryVersion,
    /// How chunk shapes of a netCDF-4 copy are chosen where none is given: balanced (about 4 MiB, for maps and series alike) or
    /// netcdf-c.
    #[arg(long, value_enum, value_name = "RULE", default_value = "balanced")]
    default_chunks: DefaultChunksName,
    /// How strings are stored in Zarr: variable (any length), fixed (as many bytes as the longest has) or fixed=BYTES
    /// [default: fixed in the NCZarr dialects of netCDF-C 4.9.1 and newer, which cannot read others; else variable].
    #[arg(long, value_name = "FORM")]
    strings: Option<String>,
    /// Store text attributes that are JSON dictionaries as JSON in Zarr, or as text [default: yes in NCZarr, as netCDF-C
    /// does; no in plain Zarr]. What is JSON in the source stays JSON.
    #[arg(long, value_name = "YES|NO", value_parser = super::yes_or_no)]
    json_attributes: Option<bool>,
    /// Align chunks of a netCDF-4 copy to multiples of this many bytes, a power of two.
    #[arg(long, value_name = "BYTES")]
    align: Option<u64>,
    #[command(flatten)]
    overwrite: super::overwrite::Overwrite,
    /// Print the cost of the copy (passes, memory, requests, chunks copied as they are, decoded and encoded) per variable
    /// and in total, and write nothing.
    #[arg(long)]
    dry_run: bool,
    /// Print nothing but errors.
    #[arg(short, long)]
    quiet: bool,
    #[command(flatten)]
    reading: super::reading::ReadingOptions,
}

/// Kinds by their short names.
#[derive(Clone, Copy, ValueEnum)]
pub(crate) enum KindName {
    /// netCDF-3 classic (CDF-1).
    Nc3,
    /// netCDF-3 with 64-bit offsets (CDF-2).
    Nc6,
    /// netCDF-3 with 64-bit data (CDF-5).
    Nc5,
    /// netCDF-4 (HDF5).
    Nc4,
    /// netCDF-4 by the rules of the classic model.
    Nc4c,
    /// NCZarr, Zarr v2 underneath.
    Nczarr,
    /// Plain Zarr v2.
    Zarr2,
    /// Zarr v3, with NCZarr's information unless --dialect plain.
    Zarr3,
}

/// Versions of HDF5.
#[derive(Clone, Copy, ValueEnum)]
enum LibraryVersion {
    /// HDF5 1.8 and newer.
    #[value(name = "v18", alias = "earliest")]
    V18,
    /// HDF5 1.10 and newer.
    #[value(name = "v110", alias = "latest")]
    V110,
}

/// What is done about long names.
#[derive(Clone, Copy, ValueEnum)]
enum LongNamesWay {
    /// The copy is refused.
    Refuse,
    /// They are cut, and numbered where two would become the same.
    Shorten,
}

impl From<LongNamesWay> for LongNames {
    fn from(way: LongNamesWay) -> Self {
        match way {
            LongNamesWay::Refuse => Self::Refuse,
            LongNamesWay::Shorten => Self::Shorten,
        }
    }
}

/// Rules for chunk shapes.
#[derive(Clone, Copy, ValueEnum)]
enum DefaultChunksName {
    /// About 4 MiB, for reading maps and time series equally well.
    Balanced,
    /// As netCDF-C does.
    NetcdfC,
}

pub(crate) fn run(args: &Args, session: &Session) -> Result<CommandStatus> {
    let outlet = outlet(args)?;
    let source = args.reading.open(&args.source, session)?;
    super::reading::print_odd(&source);
    let target = outlet.as_ref().map_or_else(|| args.target.clone(), Outlet::address);
    if args.dry_run {
        let plans = ncirrus_tools::plan_copy(&source, &target, &options(args)?, session)?;
        let done = super::finish(write!(anstream::stdout().lock(), "{plans}"))?;
        crate::message::notes(&plans.notes);
        plans.losses.iter().for_each(crate::message::print);
        return Ok(exit::after(done, &plans.left_out));
    }
    let bar = if args.quiet { ProgressBar::hidden() } else { progress_bar() };
    let show = |at: Progress<'_>| show_progress(&bar, at.variable, at.done, at.total);
    let options = options(args)?.progress(&show);
    let report = ncirrus_tools::copy(&source, &target, &options, session);
    bar.finish_and_clear();
    let report = match report {
        Err(error) if is_damaged_chunk(&error) && !args.skip_damaged => {
            return Ok(crate::hint::report_with(&error, SKIP_HINT));
        }
        // The other netCDF-3 kinds have no more than this one.
        Err(error) if matches!(args.kind, Some(KindName::Nc5)) && is_beyond_classic(&error) => {
            return Ok(crate::hint::report_with(&error, "choose a richer kind: -k nc4 or -k nczarr"));
        }
        report => report?,
    };
    if let Some(outlet) = outlet {
        outlet.send()?;
    }
    Ok(print_copied(&report, &source))
}

/// Prints what of a copy differs from its source or was left out, and returns how the command ended.
pub(crate) fn print_copied(report: &CopyReport, source: &Dataset) -> CommandStatus {
    crate::message::notes(&report.notes);
    for name in &report.stays {
        crate::message::print(format_args!(
            "{name} was kept: it is not part of the dataset that was replaced"
        ));
    }
    report.losses.iter().for_each(crate::message::print);
    report.unread.iter().for_each(crate::message::print);
    report.skipped.iter().for_each(tell_skipped);
    super::reading::print_absent(source);
    let done = exit::after(CommandStatus::SUCCESS, &report.left_out);
    let is_all = report.is_complete() && report.unread.is_empty();
    if is_all { done } else { CommandStatus::from(exit::PARTIAL) }
}

/// The output file for standard output, if that is the target, for formats that can be written to a file.
fn outlet(args: &Args) -> Result<Option<Outlet>> {
    if !super::pipe::is_pipe(&args.target) {
        return Ok(None);
    }
    let ending = match args.kind {
        Some(KindName::Nc3 | KindName::Nc6 | KindName::Nc5) => "nc",
        Some(KindName::Nc4 | KindName::Nc4c) => "nc4",
        _ => {
            let message =
                "standard output takes a single file: choose its kind with -k nc3, nc6, nc5, nc4 or nc4c";
            return Err(Error::invalid(message));
        }
    };
    Outlet::new(ending).map(Some)
}

const SKIP_HINT: &str = "--skip-damaged continues with fill values for each chunk that cannot be decoded; -V copies other variables only";

/// Whether data of a variable are damaged, so that other data may be intact.
fn is_damaged_chunk(error: &Error) -> bool {
    error.kind() == ErrorKind::Malformed && error.place().path.is_some()
}

fn is_beyond_classic(error: &Error) -> bool {
    error.detail() == Some(&Detail::BeyondClassic)
}

fn tell_skipped(part: &SkippedPart) {
    let SkippedPart { path, chunk, region, error } = part;
    let place = match chunk {
        Some(chunk) => format!("chunk {chunk:?}"),
        None => format!("elements from {:?}, {:?} of them,", region.start, region.count),
    };
    crate::message::print(format_args!(
        "{path}: {place} cannot be decoded and has fill values in the copy: {error}"
    ));
}

fn options<'a>(args: &Args) -> Result<CopyOptions<'a>> {
    let create = CreateOptions::new()
        .kind(args.kind.map(Kind::from))
        .dialect(args.dialect.map(Dialect::from))
        .array_dimensions(!args.no_array_dimensions)
        .consolidated(!args.no_consolidated)
        .overwrite(args.overwrite.is_wanted())
        .structures(args.libver.into())
        .default_chunks(args.default_chunks.into())
        .align(args.align)
        .json_attributes(args.json_attributes)
        .strings(args.strings.as_deref().map(StringForm::parse).transpose()?.unwrap_or_default());
    Ok(CopyOptions::new()
        .create(create)
        .chunks(args.chunks.iter().map(|rule| ChunkRule::parse(rule)).collect::<Result<Vec<_>>>()?)
        .filters(filters(args)?)
        .filter_rules(args.filter.iter().map(|rule| FilterRule::parse(rule)).collect::<Result<Vec<_>>>()?)
        .drop_filters(args.drop_filters)
        .quantize(args.quantize.iter().map(|rule| QuantizeRule::parse(rule)).collect::<Result<Vec<_>>>()?)
        .cf_quantization(args.cf_quantization)
        .variables(args.variables.clone())
        .groups(args.groups.clone())
        .data_of(args.data_of.clone())
        .select(args.select.iter().map(|select| VariableSelect::parse(select)).collect::<Result<Vec<_>>>()?)
        .skip_damaged(args.skip_damaged)
        .overwrite_any(args.overwrite.is_any())
        .fix_unlimited(args.fixed)
        .long_names(args.long_names.into())
        .rename_reserved(args.rename_reserved)
        .verify(args.verify))
}

fn filters(args: &Args) -> Result<Filters> {
    let mut filters = Vec::new();
    if args.shuffle {
        filters.push(CodecSpec::hdf5(2, &[]));
    }
    match args.deflate {
        Some(0) => return Ok(Filters::Remove),
        Some(level) => filters.push(CodecSpec::hdf5(1, &[level])),
        None => {}
    }
    for codec in &args.codec {
        filters.push(parse_codec(codec)?);
    }
    Ok(if filters.is_empty() { Filters::Keep } else { Filters::Replace(filters) })
}

/// A codec by name, or as the JSON object of Zarr v2.
fn parse_codec(text: &str) -> Result<CodecSpec> {
    if !text.starts_with('{') {
        let mut object = serde_json::Map::new();
        object.insert("id".to_owned(), text.into());
        return Ok(CodecSpec::V2(object));
    }
    match serde_json::from_str(text) {
        Ok(serde_json::Value::Object(object)) if object.contains_key("id") => Ok(CodecSpec::V2(object)),
        _ => Err(Error::invalid(format!("{text:?} is not the JSON of a codec; it needs an \"id\""))),
    }
}

/// Shows how many elements are done, and which variable is being worked on.
pub(super) fn show_progress(bar: &ProgressBar, variable: &str, done: u64, total: u64) {
    bar.set_length(total);
    bar.set_position(done);
    bar.set_message(variable.to_owned());
}

/// A bar on a terminal; hidden elsewhere.
pub(super) fn progress_bar() -> ProgressBar {
    let bar = crate::trace::BARS.add(ProgressBar::new(0));
    if let Ok(style) = ProgressStyle::with_template("{bar:30} {percent:>3}% {elapsed} {msg}") {
        bar.set_style(style);
    }
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}

impl From<KindName> for Kind {
    fn from(name: KindName) -> Self {
        match name {
            KindName::Nc3 => Self::Nc3,
            KindName::Nc6 => Self::Nc6,
            KindName::Nc5 => Self::Nc5,
            KindName::Nc4 => Self::Nc4,
            KindName::Nc4c => Self::Nc4Classic,
            KindName::Nczarr => Self::NcZarr,
            KindName::Zarr2 => Self::Zarr2,
            KindName::Zarr3 => Self::Zarr3,
        }
    }
}

impl From<LibraryVersion> for FileStructures {
    fn from(version: LibraryVersion) -> Self {
        match version {
            LibraryVersion::V18 => Self::V18,
            LibraryVersion::V110 => Self::V110,
        }
    }
}

impl From<DefaultChunksName> for DefaultChunks {
    fn from(name: DefaultChunksName) -> Self {
        match name {
            DefaultChunksName::Balanced => Self::Balanced,
            DefaultChunksName::NetcdfC => Self::NetcdfC,
        }
    }
}
