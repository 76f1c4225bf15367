//! Copying a dataset to any writable kind and location.
mod blueprint;
mod choice;
mod chunking;
mod damage;
mod dry_run;
mod effect;
mod fill_values;
mod filtering;
mod irregular;
mod names;
mod older_readers;
mod packing;
mod reserved;
mod setters;
mod settle;
mod strings;
mod transfer;
mod widened_types;

pub(crate) use choice::{ends_with, in_scope};
pub use chunking::{ChunkLengths, ChunkRule, ShardRule};
pub(crate) use chunking::{names as is_named, storage_by_rules};
pub use dry_run::{CopyPlans, plan_copy};
pub(crate) use filtering::filters_by_number;
pub use filtering::{FilterRule, QuantizeRule};
pub(crate) use irregular::{Month, check_regular, months, runs};
pub use names::LongNames;
use ncirrus_layout::LockExt;
pub use packing::PackingForm;

use crate::overwrite;
use crate::whole::completed;
use blueprint::CopyBlueprint;
pub(crate) use blueprint::{CopiedVariable, forget_faults, make_attributes_classic};
use ncirrus::internals::{DatasetInternals, StringLengths, resolve};
use ncirrus::{
    CodecSpec, CreateOptions, Dataset, Error, LeftOut, Result, Selection, Session, Values, VariableSelect,
};
use ncirrus_engine::{DatasetWriter, PassedChunkCheck, SkippedPart};
use ncirrus_model::{Attribute, Model, NodeId, Storage, VarId};
use ncirrus_store::check_apart;
use settle::settle;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Options for [`copy`].
///
/// Built from the defaults, one choice after the other:
///
/// ```
/// use ncirrus::{CreateOptions, Kind};
/// use ncirrus_tools::{ChunkRule, CopyOptions, Filters};
///
/// let options = CopyOptions::new()
///     .create(CreateOptions::new().kind(Kind::NcZarr))
///     .chunks([ChunkRule::parse("time/1")?])
///     .filters(Filters::Remove);
/// # Ok::<(), ncirrus::Error>(())
/// ```
#[derive(Default)]
#[non_exhaustive]
pub struct CopyOptions<'a> {
    /// Kind, dialect and layout of the copy.
    pub create: CreateOptions,
    /// Chunk shapes; rules for a variable override rules for dimensions.
    pub chunks: Vec<ChunkRule>,
    /// Shards of the copy, in Zarr v3; rules for a variable override the others. Without a rule the shards of a source in
    /// Zarr v3 are kept, as long as they consist of whole chunks.
    pub shards: Vec<ShardRule>,
    /// Whether the index of each shard is at the start of its object; `None`: as in the source, otherwise at the end.
    pub index_first: Option<bool>,
    /// Filters of the copy.
    pub filters: Filters,
    /// Filters of single variables; they override `filters`.
    pub filter_rules: Vec<FilterRule>,
    /// Leave out filters that the copy's format cannot store, or that cannot be applied, instead of failing.
    pub drop_filters: bool,
    /// How values are quantized; recorded in the attributes that netCDF-C writes.
    pub quantize: Vec<QuantizeRule>,
    /// Also record quantization as CF 1.12 defines it (section 8.4, "Lossy Compression via Quantization").
    pub cf_quantization: bool,
    /// How packed variables are stored in Zarr v3.
    pub packing: PackingForm,
    /// Copy only these variables (paths or simple names) and what they need; empty: all.
    pub variables: Vec<String>,
    /// Copy only these groups (paths or simple names); empty: all.
    pub groups: Vec<String>,
    /// Copy `variables` and `groups` alone, as nccopy does for `-V` and `-G`: without the variables that they need to be
    /// interpreted and without groups below the named ones, but with all dimensions, types and attributes of the groups.
    pub alone: bool,
    /// Copy the data of these variables only (paths, or ends of paths), and the definitions of all; empty: of all.
    pub data_of: Vec<String>,
    /// Copy the data of variables in these groups only (paths, or ends of paths), and the definitions of all; empty: of
    /// all.
    pub data_of_groups: Vec<String>,
    /// Copy no data at all, only definitions. With [`fix_unlimited`](Self::fix_unlimited) dimensions keep their lengths.
    pub definitions_only: bool,
    /// Copy only these boxes, with their coordinates.
    pub select: Vec<VariableSelect>,
    /// Chunks that cannot be decoded become fill, and are reported; otherwise the copy fails at the first one.
    pub skip_damaged: bool,
    /// With [`CreateOptions::overwrite`]: any dataset may be replaced, also the source by its copy.
    pub overwrite_any: bool,
    /// Make unlimited dimensions fixed.
    pub fix_unlimited: bool,
    /// What to do about names that netCDF-C cannot read.
    pub long_names: LongNames,
    /// Whether names that the copy's format keeps for itself, or would make another path of, are changed and reported.
    /// Otherwise the copy is refused, naming the first of them.
    pub rename_reserved: bool,
    /// Decode every chunk that passes through in encoded form. Otherwise only its framing, lengths and checksums are
    /// checked.
    pub verify: bool,
    /// Storage and filters of every variable, as nccopy chooses them; `chunks`, `filters` and `filter_rules` are not
    /// used then.
    pub(crate) prescribed: Option<BTreeMap<VarId, PrescribedStorage>>,
    /// Chunks pass through in encoded form without any check.
    pub(crate) pass_unchecked: bool,
    /// Receives values as they are read from the source, with their selection. Chunks that pass through in encoded form,
    /// and values that go through a scratch file, are not passed to it. Damaged chunks are errors then.
    pub(crate) observe: Option<ObserveValues<'a>>,
    /// Called as elements are copied.
    pub progress: Option<&'a (dyn Fn(Progress<'_>) + Sync)>,
}

/// Receives values of a variable of the source, with their selection.
pub(crate) type ObserveValues<'a> = &'a (dyn Fn(VarId, &Selection, &Values) + Sync);

/// How a variable of a copy is stored.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct PrescribedStorage {
    /// Chunks, or left to the format.
    pub(crate) storage: Storage,
    /// Filters in the order of encoding.
    pub(crate) filters: Vec<CodecSpec>,
}

/// Filters of a copy.
#[derive(Debug, Clone, Default, PartialEq)]
pub enum Filters {
    /// Those of the source.
    #[default]
    Keep,
    /// None.
    Remove,
    /// These, for every variable that is chunked and of fixed element size.
    Replace(Vec<CodecSpec>),
}

/// Progress of a copy.
#[derive(Debug, Clone, Copy)]
pub struct Progress<'a> {
    /// Path of the variable that is being copied.
    pub variable: &'a str,
    /// Elements copied so far, of all variables.
    pub done: u64,
    /// Elements to copy.
    pub total: u64,
}

/// The result of a copy.
#[derive(Debug, Clone, Default)]
pub struct CopyReport {
    /// Variables copied.
    pub variables: usize,
    /// Elements copied.
    pub elements: u64,
    /// Members that cannot be read from the source.
    pub left_out: Vec<LeftOut>,
    /// Chunks that could not be decoded and became fill, on request.
    pub skipped: Vec<SkippedPart>,
    /// Filters that were left out and names that were shortened, on request.
    pub losses: Vec<String>,
    /// Differences from the source that lose nothing (other filters in place of lossy ones, for instance), and
    /// options that have no effect on a copy of this kind.
    pub notes: Vec<String>,
    /// What the dialect's intended readers cannot read, although it is stored as the dialect defines.
    pub unread: Vec<String>,
    /// Foreign objects in the replaced dataset, which stay.
    pub stays: Vec<String>,
}

impl CopyReport {
    /// Whether the copy has all data and attributes that were to be copied.
    pub fn is_complete(&self) -> bool {
        self.left_out.is_empty() && self.skipped.is_empty()
    }
}

/// Copies a dataset to `target`, which appears atomically. Memory is bounded by the session's budget. [`plan_copy`]
/// returns the cost.
///
/// # Errors
/// If the source cannot be read or the target cannot represent it (the error names the member), exists already, or
/// lies inside the source or around it. Only datasets are replaced, and neither the source nor a part of another
/// dataset.
pub fn copy(
    source: &Dataset,
    target: &str,
    options: &CopyOptions<'_>,
    session: &Session,
) -> Result<CopyReport> {
    let mut stays = Vec::new();
    if options.create.overwrite {
        let create = options.create.clone();
        let create = create
            .for_model(target, source.model()?.as_ref(), options.fix_unlimited)?
            .for_address(target, session)?;
        let shape = resolve(&create, target, &StringLengths::default(), session.settings())?.shape();
        check_apart(source.url(), target, shape, session.store_context())?;
        overwrite::check(
            target,
            std::iter::once(source.url()),
            overwrite::WrittenForm::Dataset,
            options.overwrite_any,
            session,
        )?;
        overwrite::check_around(target, session)?;
        stays = overwrite::others_in(target, session);
    }
    let mut report = copy_fragment(source, target, options, (&[], None), session)?;
    report.stays = stays;
    Ok(report)
}

/// As [`copy`], without the variables of these paths, even if others name them, and with a further global attribute.
pub(crate) fn copy_fragment(
    source: &Dataset,
    target: &str,
    options: &CopyOptions<'_>,
    (left_out, attribute): (&[String], Option<&Attribute>),
    session: &Session,
) -> Result<CopyReport> {
    let create = options
        .create
        .clone()
        .for_model(target, source.model()?.as_ref(), options.fix_unlimited)?
        .for_address(target, session)?;
    check_apart(
        source.url(),
        target,
        resolve(&create, target, &StringLengths::default(), session.settings())?.shape(),
        session.store_context(),
    )?;
    let CopyBlueprint { mut model, pairs, mut left_out } =
        CopyBlueprint::draw(source, options, left_out, &create)?;
    let root = NodeId::Group(model.root());
    if let (Some(attribute), Some(attributes)) = (attribute, model.attributes_mut(root)) {
        attributes.known_mut().put(attribute.clone());
    }
    left_out.extend(fill_values::fit(&mut model, &create));
    let mut losses = Vec::new();
    reserved::fit(&mut model, &create, options.rename_reserved, &mut losses)?;
    names::fit(&mut model, &create, options.long_names, &mut losses)?;
    let (lengths, reported) = strings::look(source, &model, &pairs, &create, options.skip_damaged)?;
    let copy = <Dataset as DatasetInternals>::create_sized(target, &create, &lengths, session)?;
    completed(copy, |copy| {
        if options.drops_filters() {
            drop_filters(copy.writer()?, &mut model, &mut losses)?;
        }
        copy.edit(|empty| {
            *empty = model;
            Ok(())
        })?;
        let mut notes = effect::without(options, &create);
        notes.extend(reported);
        notes.extend(widened_types::reported(source.model()?.as_ref(), &copy.writer()?.model(), &create));
        notes.extend(settle(source, copy.writer()?, &pairs, options, session)?);
        notes.extend(older_readers::misread(&copy.writer()?.model(), &create));
        let mut report = CopyReport { left_out, losses, notes, ..CopyReport::default() };
        copy_values(source, copy, &pairs, options, &mut report)?;
        // Lengths of dimensions may have grown with the data.
        report.unread = older_readers::unread(&copy.writer()?.model(), &create);
        Ok(report)
    })
}

/// Copies the values of all variables.
fn copy_values(
    source: &Dataset,
    copy: &Dataset,
    pairs: &[CopiedVariable],
    options: &CopyOptions<'_>,
    report: &mut CopyReport,
) -> Result<()> {
    if let Some(pair) = pairs.iter().find(|pair| pair.element_count() == u64::MAX) {
        return Err(Error::limit("the variable has more than 2^64 elements").at_path(pair.path.as_str()));
    }
    let total = pairs.iter().map(CopiedVariable::element_count).fold(0, u64::saturating_add);
    let done = AtomicU64::new(0);
    let skipped = Mutex::new(Vec::new());
    let skip = |part: SkippedPart| damage::note(&mut skipped.guard(), part);
    let skip: Option<&(dyn Fn(SkippedPart) + Sync)> = options.skip_damaged.then_some(&skip);
    source.announce_reads(&pairs.iter().map(|pair| (pair.var, pair.selection.clone())).collect::<Vec<_>>());
    for pair in pairs {
        let progress = |elements| {
            let done = done.fetch_add(elements, Ordering::Relaxed) + elements;
            if let Some(progress) = options.progress {
                progress(Progress { variable: &pair.path, done, total });
            }
        };
        match options.observe {
            Some(observe) => pair.copy_observed(source, copy, &progress, observe)?,
            None => pair.copy(source, copy, &progress, skip)?,
        }
        report.variables += 1;
        report.elements = report.elements.saturating_add(pair.element_count());
    }
    report.skipped = skipped.into_inner().unwrap_or_else(PoisonError::into_inner);
    Ok(())
}

impl CopyOptions<'_> {
    /// How chunks that pass through in encoded form are checked.
    fn check(&self) -> PassedChunkCheck {
        match (self.verify, self.pass_unchecked) {
            (true, _) => PassedChunkCheck::Decoding,
            (false, true) => PassedChunkCheck::Nothing,
            (false, false) => PassedChunkCheck::Framing,
        }
    }

    /// Whether filters that the copy's format does not have are left out: chunks can be decoded and stored without those
    /// that only the source has; filters that were requested are an error.
    fn drops_filters(&self) -> bool {
        let are_of_source = matches!(self.filters, Filters::Keep) && self.filter_rules.is_empty();
        self.drop_filters || (are_of_source && self.prescribed.is_none())
    }
}

/// Leaves out the filters that the copy's format cannot store, or that cannot be applied.
fn drop_filters(writer: &DatasetWriter, model: &mut Model, losses: &mut Vec<String>) -> Result<()> {
    for var in model.variables() {
        let path = model.variable_path(var);
        let Some(variable) = model.variable(var) else { continue };
        let mut kept = Vec::with_capacity(variable.filters.len());
        for filter in &variable.filters {
            match writer.check_filter(filter, model, variable) {
                Ok(()) => kept.push(filter.clone()),
                Err(error) => {
                    losses.push(format!("{path} is copied without filter {}: {error}", filter.identifier()));
                }
            }
        }
        if let Some(variable) = model.variable_mut(var) {
            variable.filters = kept;
        }
    }
    Ok(())
}
