//! `ncirrus copy`: copies a dataset to any format and place that can be written.
use super::dialect::DialectName;
use super::pipe::Outlet;
use crate::CommandStatus;
use crate::exit;
use clap::{Args as ClapArgs, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};
use ncirrus::{
    CodecSpec, CreateOptions, Dataset, DefaultChunks, Detail, Dialect, Error, ErrorKind, FileStructures,
    Kind, PackedArrays, Result, Session, StringForm, VariableSelect,
};
use ncirrus_tools::{
    ChunkRule, CopyOptions, CopyReport, FilterRule, Filters, LongNames, PackingForm, Progress, QuantizeRule,
    ShardRule, SkippedPart,
};
use std::io::Write as _;
use std::time::Duration;

/// Options of one format only, which the list of options does not show.
const ZARR: &str = "Zarr v3";

/// Copy a dataset to another format or place; the target appears complete or not at all.
#[derive(ClapArgs)]
#[command(before_long_help = "Examples:
  ncirrus copy sst.nc sst.zarr                             netCDF-3 to NCZarr
  ncirrus copy -c time/1,lat/,lon/ -d 4 -s a.nc b.zarr     rechunked and compressed
  ncirrus copy --select 'sst[0:10:2,5,:]' a.zarr b.nc      a box with its coordinates
  ncirrus copy sst.zarr sst.nc4                            as netCDF-4
  ncirrus copy sst.zarr sst.nc -k nc5                      as CDF-5
  ncirrus copy -F 'sst,zstd,level=5' -F 'lat|lon,2|1,4' a.nc b.zarr
  ncirrus copy --quantize 'sst,granular=3' -d 4 -s a.nc b.zarr
  ncirrus copy --codec '{\"id\":\"zstd\",\"level\":3}' a.nc b.zarr
  ncirrus copy --dry-run -c time/,lat/8,lon/8 a.nc b.zarr  the cost of rechunking to time series
  ncirrus copy a.nc 'file:///data/b#mode=zarr'             plain Zarr v2, by the mode in the URL
  curl -s https://h/a.nc | ncirrus copy -k nc4 - - > b.nc  from pipe to pipe")]
pub(crate) struct Args {
    /// Path or URL of the dataset; - for standard input.
    source: String,
    /// Path or URL of the copy; - for standard output, with -k nc3, nc6, nc5, nc4 or nc4c.
    target: String,
    /// Kind: nc3, nc6, nc5, nc4, nc4c, nczarr, zarr2 or zarr3.
    ///
    /// Without this option the name of the target or the mode in its address determines the kind.
    #[arg(short, long, value_enum, value_name = "KIND")]
    kind: Option<KindName>,
    /// Dialect of NCZarr: att (the newest), lc, uc, 2018 or plain.
    ///
    /// Choose it by the programs that will read the copy.
    #[arg(long, value_enum, value_name = "DIALECT", hide_short_help = true)]
    dialect: Option<DialectName>,
    /// Leave out `_ARRAY_DIMENSIONS` (Zarr v2).
    #[arg(long, hide_short_help = true)]
    no_array_dimensions: bool,
    /// Leave out consolidated metadata.
    #[arg(long, hide_short_help = true)]
    no_consolidated: bool,
    /// Chunk shapes: DIM/LEN,... or VAR:LEN,LEN,...; repeatable.
    ///
    /// `DIM/` without a length is the whole dimension. `VAR:` without lengths is contiguous storage. `/` means no chunking.
    /// `DIM/[LEN,LEN,...]`, `DIM/monthly` and `DIM/files` make chunks of different lengths, in Zarr v3 only.
    #[arg(short, long, value_name = "RULE")]
    chunks: Vec<String>,
    /// Shards in Zarr v3: DIM/LEN,..., VAR:LEN,LEN,..., auto or none.
    ///
    /// A shard is an object that contains many chunks. Its lengths are multiples of the chunk's; `DIM/` without a length is
    /// the whole dimension, and along dimensions that are not named a shard is as long as a chunk. `auto` makes shards of
    /// about 256 MiB. `VAR:` without lengths and `none` mean no shards. Without this option a copy from Zarr v3 to Zarr v3
    /// keeps the shards.
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    shards: Vec<String>,
    /// Where the index of each shard is: start or end.
    ///
    /// Without this option it is where it is in the source, and otherwise at the end of the object.
    #[arg(long, value_enum, value_name = "PLACE", hide_short_help = true, help_heading = ZARR)]
    shard_index: Option<IndexPlace>,
    /// Compress with deflate at level 0 to 9; 0 removes all filters.
    #[arg(short, long, value_name = "LEVEL", value_parser = clap::value_parser!(u32).range(0..=9))]
    deflate: Option<u32>,
    /// Shuffle bytes before compressing.
    #[arg(short, long)]
    shuffle: bool,
    /// Compress with zstd, blosc, lz4, bz2, zlib or gzip; repeatable.
    ///
    /// The JSON of a Zarr v2 codec is accepted as well.
    #[arg(long, value_name = "CODEC", conflicts_with = "deflate")]
    codec: Vec<String>,
    /// Filters of variables: [VARS,]FILTER[|FILTER...]; repeatable.
    ///
    /// The syntax is that of nccopy with extensions. VARS is `*` or names joined by `|`. FILTER is an HDF5 id with
    /// parameters, NAME,KEY=VALUE,..., the JSON of a codec, @FILE, or none.
    #[arg(short = 'F', long = "filter", value_name = "RULE", hide_short_help = true)]
    filter: Vec<String>,
    /// Drop filters that the target cannot store, instead of failing.
    ///
    /// Filters that cannot be applied are dropped as well. Filters that only the source has are always dropped.
    #[arg(long, hide_short_help = true)]
    drop_filters: bool,
    /// Quantize floats: [VARS,]MODE=N; bitgroom, granular or bitround.
    ///
    /// N is a number of digits for bitgroom and granular, and a number of bits for bitround.
    #[arg(long, value_name = "RULE", hide_short_help = true)]
    quantize: Vec<String>,
    /// Also record quantization in the attributes of CF 1.12.
    #[arg(long, requires = "quantize", hide_short_help = true)]
    cf_quantization: bool,
    /// Packed variables in Zarr v3: integers with attributes, or floats with codecs.
    ///
    /// `codecs` stores variables with `scale_factor` or `add_offset` as floats with the codecs scale_offset and cast_value.
    /// It is an error if the floats would not be the same, bit for bit.
    #[arg(long, value_enum, value_name = "FORM", default_value = "attributes", hide_short_help = true, help_heading = ZARR)]
    packing: PackingName,
    /// Copy only these variables, with their coordinates.
    #[arg(short = 'V', long, value_name = "VAR,...", value_delimiter = ',')]
    variables: Vec<String>,
    /// Copy only these groups, with everything below them.
    #[arg(short, long, value_name = "GROUP,...", value_delimiter = ',', hide_short_help = true)]
    groups: Vec<String>,
    /// Copy all definitions, but only the data of these variables.
    ///
    /// The other variables have fill values.
    #[arg(long, value_name = "VAR,...", value_delimiter = ',', hide_short_help = true)]
    data_of: Vec<String>,
    /// Copy only this box of a variable: VAR[0:10:2,5,:]; repeatable.
    ///
    /// Its coordinates are copied as well.
    #[arg(long, value_name = "VAR[SEL]")]
    select: Vec<String>,
    /// Make unlimited dimensions fixed.
    #[arg(short = 'u', long, hide_short_help = true)]
    fixed: bool,
    /// Continue past damaged chunks: their elements become fill values.
    ///
    /// Each chunk that cannot be decoded is reported, and the exit code is 1. Every chunk is decoded, including those that
    /// could be copied as they are.
    #[arg(long, hide_short_help = true)]
    skip_damaged: bool,
    /// Names longer than 256 bytes: refuse or shorten.
    ///
    /// They are too long for netCDF-C. `refuse` rejects the copy, `shorten` cuts the names and reports each.
    #[arg(long, value_enum, value_name = "WAY", default_value = "refuse", hide_short_help = true)]
    long_names: LongNamesWay,
    /// Change names that the copy's format reserves, and report each.
    ///
    /// Reserved are names that the format keeps for itself, or that it would read as another path. Without this option the
    /// copy is refused.
    #[arg(long, hide_short_help = true)]
    rename_reserved: bool,
    /// Decode every chunk, also those copied as they are, to find damage.
    ///
    /// Without this option chunks that are copied in encoded form are only checked where that is cheap: lengths, headers,
    /// checksums.
    #[arg(long, hide_short_help = true)]
    verify: bool,
    /// Oldest HDF5 for a netCDF-4 copy: v18 or v110.
    ///
    /// It is the oldest version that can read the copy. Copies for v110 have faster chunk indexes.
    #[arg(long, value_enum, value_name = "VERSION", default_value = "v18", hide_short_help = true)]
    libver: LibraryVersion,
    /// Chunk shapes by default: balanced or netcdf-c.
    ///
    /// They apply to the variables of a netCDF-4 copy whose chunk shape is not given.
    #[arg(long, value_enum, value_name = "RULE", default_value = "balanced", hide_short_help = true)]
    default_chunks: DefaultChunksName,
    /// Strings in Zarr: variable, fixed or fixed=BYTES.
    ///
    /// `variable` stores strings of any length. `fixed` stores as many bytes as the longest string has. The default is fixed in
    /// the NCZarr dialects of netCDF-C 4.9.1 and newer, which cannot read others, and variable elsewhere.
    #[arg(long, value_name = "FORM", hide_short_help = true)]
    strings: Option<String>,
    /// Store attributes that are JSON dictionaries as JSON in Zarr.
    ///
    /// With `no` text attributes are stored as text. The default is yes in NCZarr, as in netCDF-C, and no in plain Zarr. JSON in
    /// the source stays JSON.
    #[arg(long, value_name = "YES|NO", value_parser = super::yes_or_no, hide_short_help = true)]
    json_attributes: Option<bool>,
    /// Align chunks of a netCDF-4 copy to BYTES, a power of two.
    #[arg(long, value_name = "BYTES", hide_short_help = true)]
    align: Option<u64>,
    #[command(flatten)]
    overwrite: super::overwrite::Overwrite,
    /// Print the cost of the copy, and write nothing.
    ///
    /// The cost per variable and in total: passes, memory, requests, and chunks that are copied as they are, decoded and
    /// encoded.
    #[arg(long)]
    dry_run: bool,
    /// Print nothing but errors.
    #[arg(short, long, hide_short_help = true)]
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
    /// netCDF-4 with the classic model.
    Nc4c,
    /// NCZarr, in Zarr v2.
    Nczarr,
    /// Plain Zarr v2.
    Zarr2,
    /// Zarr v3, as NCZarr unless --dialect plain is given.
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

/// The treatment of long names.
#[derive(Clone, Copy, ValueEnum)]
enum LongNamesWay {
    /// The copy is refused.
    Refuse,
    /// The names are cut, and numbered where two would become equal.
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

/// How packed variables are stored in Zarr v3.
#[derive(Clone, Copy, ValueEnum)]
enum PackingName {
    /// Integers, with `scale_factor` and `add_offset`.
    Attributes,
    /// Floats, with the codecs `scale_offset` and `cast_value`.
    Codecs,
}

impl From<PackingName> for PackingForm {
    fn from(name: PackingName) -> Self {
        match name {
            PackingName::Attributes => Self::Attributes,
            PackingName::Codecs => Self::Codecs,
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
    let packed = match args.kind {
        Some(KindName::Zarr3) => PackedArrays::Stored,
        _ => PackedArrays::Exact,
    };
    let source = args.reading.open_packed(&args.source, packed, session)?;
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
        // The other netCDF-3 kinds support less than this one.
        Err(error) if matches!(args.kind, Some(KindName::Nc5)) && is_beyond_classic(&error) => {
            return Ok(crate::hint::report_with(
                &error,
                "choose a kind that supports it: -k nc4 or -k nczarr",
            ));
        }
        report => report?,
    };
    if let Some(outlet) = outlet {
        outlet.send()?;
    }
    Ok(print_copied(&report, &source))
}

/// Reports what differs from the source or was left out of a copy, and returns the command's status.
pub(crate) fn print_copied(report: &CopyReport, source: &Dataset) -> CommandStatus {
    crate::message::notes(&report.notes);
    for name in &report.stays {
        crate::message::print(format_args!(
            "{name} was kept: it is not part of the dataset that was replaced"
        ));
    }
    report.losses.iter().for_each(crate::message::print);
    report.unread.iter().for_each(crate::message::print);
    report.skipped.iter().for_each(print_skipped);
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
            let message = "only a single file can be written to standard output: choose its kind with -k nc3, nc6, nc5, nc4 or nc4c";
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

fn print_skipped(part: &SkippedPart) {
    let SkippedPart { path, chunk, region, error } = part;
    let place = match chunk {
        Some(chunk) => format!("chunk {chunk:?}"),
        None => format!("elements from {:?}, {:?} of them,", region.start, region.count),
    };
    crate::message::print(format_args!(
        "{path}: {place} cannot be decoded and has fill values in the copy: {error}"
    ));
}

/// Where the index of a shard is in its object.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum IndexPlace {
    Start,
    End,
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
        .packing(args.packing.into())
        .chunks(args.chunks.iter().map(|rule| ChunkRule::parse(rule)).collect::<Result<Vec<_>>>()?)
        .shards(args.shards.iter().map(|rule| ShardRule::parse(rule)).collect::<Result<Vec<_>>>()?)
        .index_first(args.shard_index.map(|place| matches!(place, IndexPlace::Start)))
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
