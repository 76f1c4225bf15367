//! The model as it is being edited, and the state that the format has accepted.
use super::DatasetWriter;
use super::draft::{Draft, Spare, Spares, full_copy};
use super::growth::GrowthLog;
use super::target::WriteTarget;
use crate::convert;
use crate::decode::{codec_error, element_of};
use ncirrus_codec::{ChunkInfo, CodecRegistry, DecodedElement, NumberKind, NumberType, names};
use ncirrus_layout::{Abilities, Encoding, Error, ErrorKind, FilledElements, Placer, Result};
use ncirrus_model::{
    Atomic, Changes, CodecSpace, CodecSpec, DimId, DimensionLen, Endianness, Fill, Model, Selection, Storage,
    TypeRef, VarId, Variable,
};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::Arc;

/// The model as it is being edited, and the state that the format has accepted.
#[derive(Debug)]
pub(super) struct WriterDefinitions {
    /// As edited, including current lengths of growing dimensions.
    pub(super) model: Arc<Model>,
    /// Other copies of the model, for the next edit.
    spares: Spares,
    /// The state that the format accepted last; `None` if that is `model`.
    accepted: Option<Arc<Model>>,
    /// What was changed since then, besides growth of dimensions; `None` if that is not known.
    pending: Option<Changes>,
    /// How far dimensions had grown then.
    accepted_growth: u64,
    growth: GrowthLog,
    /// The model as the format got it last, if filters are described there in another way.
    pub(super) passed: Option<Arc<Model>>,
    /// Variables bound to codecs and conversions, made when first used.
    pub(super) targets: HashMap<VarId, Arc<WriteTarget>>,
    /// Variables that have data, whose storage cannot change any more.
    pub(super) written: HashSet<VarId>,
    /// Variables that existed when writing began.
    pub(super) existing: HashSet<VarId>,
    /// How far variables reach themselves along dimensions that grow: what is stored of them, and what was written since.
    reached: HashMap<VarId, Vec<u64>>,
    /// What may change of variables that have data.
    abilities: Abilities,
    /// How often the model was replaced, apart from growth.
    version: u64,
    /// Why edits were rolled back, until another edit or a write shows that the caller continues without them.
    refused: Option<Error>,
}

impl WriterDefinitions {
    /// Definitions of which the format has accepted `model` only.
    pub(super) fn new(model: Arc<Model>, written: HashSet<VarId>, abilities: Abilities) -> Self {
        let (accepted, existing) = (Some(Arc::clone(&model)), written.clone());
        Self {
            accepted,
            model,
            spares: Spares::default(),
            pending: None,
            accepted_growth: 0,
            growth: GrowthLog::default(),
            passed: None,
            targets: HashMap::new(),
            written,
            existing,
            reached: HashMap::new(),
            abilities,
            version: 0,
            refused: None,
        }
    }

    /// Starts an edit.
    pub(super) fn draft(&self) -> Draft {
        Draft::new(Arc::clone(&self.model), (self.version, self.growth.end()), None)
    }

    /// Starts an edit that is the only one, and that ends with [`keep`](Self::keep).
    pub(super) fn only_draft(&mut self) -> Draft {
        let spare = self.spares.take();
        Draft::new(Arc::clone(&self.model), (self.version, self.growth.end()), spare)
    }

    /// Keeps the second copy of a draft for the next edit.
    pub(super) fn keep(&mut self, draft: Draft) {
        let (base, model, spare) = draft.into_parts();
        if let Some(spare) = spare
            && Arc::ptr_eq(&model, &self.model)
        {
            drop(base);
            self.spares.put(spare);
        }
    }

    /// Brings a draft to the present lengths of dimensions, whatever else was changed.
    pub(super) fn refresh(&self, draft: &mut Draft) -> Result<()> {
        let is_older = draft.version != self.version;
        if !is_older && draft.is_of(&self.model) {
            return Ok(());
        }
        draft.follow_growth(&self.model, self.version, &self.growth)?;
        if is_older && !draft.is_unchanged() {
            draft.forget_changes();
        }
        draft.rebase(&self.model, self.version);
        Ok(())
    }

    /// Adopts the definitions of a draft, together with growth since it was begun; a failure leaves the model as it is.
    ///
    /// # Errors
    /// `Invalid` if the edit affects how written data are stored, `Conflict` if the definitions that it started with
    /// were rolled back.
    pub(super) fn adopt(&mut self, draft: &mut Draft) -> Result<()> {
        if draft.version != self.version {
            let message = "the definitions changed during the edit: repeat the edit";
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        if !Arc::ptr_eq(&draft.base, &self.model) {
            draft.follow_growth(&self.model, self.version, &self.growth)?;
        }
        let changes = draft.changes().cloned();
        self.settle_fills(draft, changes.as_ref())?;
        self.check_written(draft, changes.as_ref())?;
        self.keep_reach(draft, changes.as_ref());
        match draft.take_changes() {
            Some(changes) => {
                self.spares.note(|behind| behind.add(changes.clone()));
                self.pending.iter_mut().for_each(|pending| pending.add(changes.clone()));
            }
            None => {
                self.spares.clear();
                self.pending = None;
            }
        }
        let before = std::mem::replace(&mut self.model, draft.shared());
        self.version += 1;
        self.accepted.get_or_insert(before);
        self.refused = None;
        draft.rebase(&self.model, self.version);
        Ok(())
    }

    /// How far a variable reaches itself: along axes that grow to the end of its own elements, along the others to the end.
    pub(super) fn reach(&self, var: VarId) -> Vec<u64> {
        let reached = self.reached.get(&var);
        let axes = self.model.shape(var).into_iter().zip(self.model.growing(var)).enumerate();
        let own = |at: usize| reached.and_then(|reached| reached.get(at)).copied().unwrap_or(0);
        axes.map(|(at, (len, grows))| if grows { own(at).min(len) } else { len }).collect()
    }

    /// Notes that a variable has elements up to there.
    pub(super) fn add_reach(&mut self, var: VarId, end: &[u64]) {
        let reached = self.reached.entry(var).or_insert_with(|| vec![0; end.len()]);
        reached.iter_mut().zip(end).for_each(|(reached, end)| *reached = (*reached).max(*end));
    }

    fn dims_of(&self, var: VarId) -> Vec<DimId> {
        self.model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default()
    }

    /// Along dimensions that become unlimited, variables reach as far as they did.
    fn keep_reach(&mut self, draft: &Draft, changes: Option<&Changes>) {
        let is_unlimited =
            |model: &Model, dim| model.dimension(dim).is_some_and(|dimension| dimension.len.is_unlimited());
        let changed: Vec<DimId> = match changes {
            Some(changes) => changes.dimensions().iter().copied().collect(),
            None => self.model.variables().into_iter().flat_map(|var| self.dims_of(var)).collect(),
        };
        let opened =
            changed.into_iter().filter(|dim| is_unlimited(&self.model, *dim) != is_unlimited(draft, *dim));
        let users: BTreeSet<VarId> = opened.flat_map(|dim| self.model.users_of(dim)).collect();
        for var in users.into_iter().filter(|var| draft.variable(*var).is_some()) {
            self.add_reach(var, &self.reach(var));
        }
    }

    /// Settles fill values whose attribute `_FillValue` was changed, where the format stores them apart from it and some elements
    /// may be filled already: the attribute is then one that is not the fill value. Faces may refuse it before.
    fn settle_fills(&self, draft: &mut Draft, changes: Option<&Changes>) -> Result<()> {
        let changed: Vec<VarId> = match changes {
            Some(changes) => changes.variables().into_iter().collect(),
            None => draft.variables(),
        };
        for var in changed {
            if has_other_fill_attribute(draft, var) {
                // Formats take the fill value from the attribute: more than a value of it changes.
                draft.adjust(|_| Ok(()), |changes| changes.add_variable(var))?;
            }
            let Some(fill) = self.fill_after(draft, changes, var) else { continue };
            let set = |model: &mut Model| {
                if let Some(variable) = model.variable_mut(var) {
                    variable.fill = fill;
                }
                Ok(())
            };
            draft.adjust(set, |changes| changes.add_variable(var))?;
        }
        Ok(())
    }

    /// Where the fill value of a variable comes from after a change of its attribute `_FillValue`, if that changes; unless the
    /// caller chose it.
    fn fill_after(&self, draft: &Draft, changes: Option<&Changes>, var: VarId) -> Option<Fill> {
        let (old, new) = (draft.base.variable(var)?, draft.variable(var)?);
        if !has_other_fill_attribute(draft, var) || old.fill != new.fill || chose_fill(changes, var) {
            return None;
        }
        let is_removed = new.fill_attribute().is_none();
        match (&new.fill, self.abilities.fills.is_settled(self.filled(var), is_removed)) {
            (Fill::Attribute, true) => Some(old.settled_fill()),
            (Fill::Apart(_) | Fill::Default, false) => Some(Fill::Attribute),
            _ => None,
        }
    }

    fn check_written(&self, edited: &Draft, changes: Option<&Changes>) -> Result<()> {
        let check = |var: &VarId| self.check_variable(edited, changes, *var);
        let Some(changes) = changes else { return self.written.iter().try_for_each(check) };
        let reshaped = changes.dimensions().iter().filter(|dim| !self.has_only_grown(edited, **dim));
        let users = reshaped.flat_map(|dim| self.model.users_of(*dim));
        let affected: BTreeSet<VarId> = users.chain(changes.variables()).collect();
        affected.iter().filter(|var| self.written.contains(var)).try_for_each(check)
    }

    /// Whether a dimension is as it was, or unlimited and longer than before.
    fn has_only_grown(&self, edited: &Model, dim: DimId) -> bool {
        let len = |model: &Model| model.dimension(dim).map(|dimension| dimension.len);
        match (len(&self.model), len(edited)) {
            (Some(DimensionLen::Unlimited(old)), Some(DimensionLen::Unlimited(new))) => old <= new,
            (old, new) => old == new,
        }
    }

    fn check_variable(&self, edited: &Draft, changes: Option<&Changes>, var: VarId) -> Result<()> {
        let (Some(old), Some(new)) = (self.model.variable(var), edited.variable(var)) else { return Ok(()) };
        let same = old.ty == new.ty
            && old.dims == new.dims
            && self.keeps_fill(var, (old, new), chose_fill(changes, var))
            && old.endianness == new.endianness
            && old.storage == new.storage
            && old.shards == new.shards
            && old.filters == new.filters
            && self.keeps_shape(edited, var);
        if !same {
            let message =
                "the variable already has data: its type, shape, fill value and storage can no longer change";
            return Err(Error::invalid(message).at_path(edited.variable_path(var)));
        }
        Ok(())
    }

    /// Whether a variable has kept its fill value, apart from an attribute that the format follows.
    fn keeps_fill(&self, var: VarId, (old, new): (&Variable, &Variable), is_chosen: bool) -> bool {
        let is_attribute = || old.is_filled() && new.fill == Fill::Attribute && !is_chosen;
        let follows = || is_attribute() && !self.abilities.fills.is_settled(self.filled(var), false);
        old.is_filled_as(new) || follows()
    }

    fn filled(&self, var: VarId) -> FilledElements {
        match (self.existing.contains(&var), self.written.contains(&var)) {
            (true, _) => FilledElements::Existing,
            (false, true) => FilledElements::New,
            (false, false) => FilledElements::No,
        }
    }

    /// Whether a variable has kept its shape, apart from growth.
    fn keeps_shape(&self, edited: &Model, var: VarId) -> bool {
        let (old, new, growing) = (self.model.shape(var), edited.shape(var), edited.growing(var));
        let mut axes = old.iter().zip(&new).zip(&growing);
        let mut grew = self.model.growing(var).into_iter().zip(&growing);
        grew.all(|(before, now)| before == *now || (*now && self.abilities.unlimits))
            && axes.all(|((old, new), grows)| old == new || (*grows && new > old))
    }

    /// The model, if the format has not accepted it yet. It is to be followed by [`accept`](Self::accept) or
    /// [`roll_back`](Self::roll_back); otherwise everything counts as changed.
    pub(super) fn pending(&mut self) -> Option<PendingDefinitions> {
        self.accepted.as_ref()?;
        let mut changes = self.pending.take();
        if let Some(changes) = &mut changes {
            self.growth.since(self.accepted_growth).for_each(|dim| changes.add_dimension(dim));
        }
        Some(PendingDefinitions { model: Arc::clone(&self.model), changes, growth: self.growth.end() })
    }

    /// Notes that the format accepted the model.
    pub(super) fn accept(&mut self, accepted: &PendingDefinitions) {
        self.accepted = None;
        self.accepted_growth = accepted.growth;
        self.pending = Some(Changes::default());
        self.targets = HashMap::new();
        let is_gone = |var: &VarId| self.model.variable(*var).is_none();
        match &accepted.changes {
            Some(changes) => {
                let gone: Vec<VarId> = changes.variables().into_iter().filter(is_gone).collect();
                gone.iter().for_each(|var| _ = self.written.remove(var));
            }
            None => self.written.retain(|var| !is_gone(var)),
        }
    }

    /// Notes that data of the variable are being written.
    pub(super) fn mark_written(&mut self, var: VarId) {
        self.written.insert(var);
        self.refused = None;
    }

    /// Checks that no edits were rolled back without an edit or write since: a commit would omit them silently.
    ///
    /// # Errors
    /// The error with which the format refused them.
    pub(super) fn check_refused(&self) -> Result<()> {
        let Some(error) = &self.refused else { return Ok(()) };
        let message =
            "definitions were refused, and taken back: edit or write again before what is left is stored";
        Err(Error::new(error.kind(), message).because(error.clone()))
    }

    /// The caller has been informed why edits were rolled back.
    pub(super) fn forget_refusal(&mut self) {
        self.refused = None;
    }

    /// Notes that the format refused the model: restores the last accepted one, which will be passed to the format
    /// again.
    pub(super) fn roll_back(&mut self, error: &Error) {
        self.refused = Some(error.clone());
        if let Some(accepted) = &self.accepted {
            self.model = Arc::clone(accepted);
            self.spares.clear();
            (self.pending, self.passed) = (None, None);
            self.version += 1;
            self.targets.clear();
        }
    }

    /// Raises the lengths of unlimited dimensions so that a selection fits. True if any grew.
    ///
    /// # Errors
    /// `Invalid` if the selection does not fit the other axes.
    pub(super) fn grow(&mut self, var: VarId, selection: &Selection) -> Result<bool> {
        let shape = self.model.shape(var);
        selection.check_growing(&shape, &self.model.growing(var))?;
        let variable = self.model.variable(var);
        let dims = variable.ok_or_else(|| Error::not_found("no such variable"))?.dims.clone();
        let extent = selection.extent().ok_or_else(|| Error::limit("elements beyond 2^64"))?;
        if selection.element_count() == Some(0) {
            return Ok(false);
        }
        if self.model.growing(var).contains(&true) {
            self.add_reach(var, &extent);
        }
        if extent.iter().zip(&shape).all(|(end, len)| end <= len) {
            return Ok(false);
        }
        self.own_model();
        let grown = dims.into_iter().zip(extent).zip(shape).filter(|((_, end), len)| end > len);
        for ((dim, end), _) in grown {
            Arc::make_mut(&mut self.model).grow(dim, end)?;
            self.spares.note(|behind| behind.add_dimension(dim));
            self.growth.note(dim);
        }
        Ok(true)
    }

    /// Ensures that the model has no other owner.
    fn own_model(&mut self) {
        if Arc::get_mut(&mut self.model).is_some() {
            return;
        }
        let spare = self.spares.take().and_then(|spare| spare.up_to_date(&self.model));
        let copy = spare.unwrap_or_else(|| full_copy(&self.model));
        let model = std::mem::replace(&mut self.model, copy);
        self.spares.put(Spare { model, behind: Changes::default() });
    }
}

/// Definitions that the format is to accept.
#[derive(Debug)]
pub(super) struct PendingDefinitions {
    pub(super) model: Arc<Model>,
    /// What differs from those that it accepted last; `None` if that is not known.
    pub(super) changes: Option<Changes>,
    growth: u64,
}

impl PendingDefinitions {
    /// The variables that may have changed and still exist.
    pub(super) fn variables(&self) -> Vec<VarId> {
        match &self.changes {
            Some(changes) => {
                let there = |var: &VarId| self.model.variable(*var).is_some();
                changes.variables().into_iter().filter(there).collect()
            }
            None => self.model.variables(),
        }
    }
}

/// The model with the filters of some variables translated to the format's own descriptions.
///
/// # Errors
/// `Unsupported` naming the variable and the filter that has no such description, or cannot be used for writing.
pub(super) fn translated(
    mut model: Arc<Model>,
    vars: &[VarId],
    abilities: &Abilities,
    registry: &CodecRegistry,
) -> Result<Arc<Model>> {
    for &var in vars {
        let Some(variable) = model.variable(var).filter(|variable| !variable.filters.is_empty()) else {
            continue;
        };
        let chunk = chunk_of(&model, variable);
        let translate = |spec: &CodecSpec| in_space(spec, abilities.codecs, &chunk, registry);
        let filters = variable.filters.iter().map(translate).collect::<Result<Vec<_>>>();
        let filters = filters.map_err(|error| error.at_path(model.variable_path(var)))?;
        if filters != variable.filters
            && let Some(variable) = Arc::make_mut(&mut model).variable_mut(var)
        {
            variable.filters = filters;
        }
    }
    Ok(model)
}

impl DatasetWriter {
    /// The model with the filter parameters that depend on the chunks, for some variables; `encoding_of` has those chunks.
    /// Variables that existed before keep their recorded parameters.
    ///
    /// # Errors
    /// `Unsupported` naming the variable and the filter that cannot process its chunks, `Malformed` if its parameters
    /// are invalid.
    pub(super) fn completed(
        &self,
        mut model: Arc<Model>,
        vars: &[VarId],
        encoding_of: impl Fn(&dyn Placer, &Model, VarId) -> Result<Arc<Encoding>>,
    ) -> Result<Arc<Model>> {
        for &var in vars {
            let Some(variable) = model.variable(var).filter(|variable| !variable.filters.is_empty()) else {
                continue;
            };
            if self.definitions().existing.contains(&var) {
                continue;
            }
            let encoding = encoding_of(self.placer.guard().as_ref(), &model, var);
            let filters = encoding
                .and_then(|encoding| complete(&model, variable, &encoding, self.session.registry()))
                .map_err(|error| error.at_path(model.variable_path(var)))?;
            if filters != variable.filters
                && let Some(variable) = Arc::make_mut(&mut model).variable_mut(var)
            {
                variable.filters = filters;
            }
        }
        Ok(model)
    }

    /// Checks that a filter can be applied to the elements of a variable, and stored in the format.
    ///
    /// # Errors
    /// `Unsupported` naming the filter.
    pub fn check_filter(&self, spec: &CodecSpec, model: &Model, variable: &Variable) -> Result<()> {
        in_space(spec, self.placer.abilities.codecs, &chunk_of(model, variable), self.session.registry())
            .map(|_| ())
    }
}

/// Whether the caller chose a fill value, rather than changed the attribute.
fn chose_fill(changes: Option<&Changes>, var: VarId) -> bool {
    changes.is_some_and(|changes| changes.chose_fill(var))
}

/// The filters with all their parameters. They are also bound, so that errors are reported before anything is put.
fn complete(
    model: &Model,
    variable: &Variable,
    encoding: &Encoding,
    registry: &CodecRegistry,
) -> Result<Vec<CodecSpec>> {
    let shape = encoding.grid.cell_shape(&vec![0; encoding.grid.rank()]).unwrap_or_default();
    let chunk = ChunkInfo { shape, element: element_of(&encoding.stored) };
    let fill = match encoding.stored.byte_len() {
        Some(_) if chunk.element.number.is_some() => {
            Some(convert::encode(model, variable.ty, &encoding.stored, &encoding.fill, 0..1)?)
        }
        _ => None,
    };
    let filters = variable.filters.iter().map(|filter| names::complete(filter, &chunk, fill.as_deref()));
    let filters: Vec<CodecSpec> = filters.collect::<std::result::Result<_, _>>().map_err(codec_error)?;
    registry.bind(&filters, &chunk).map_err(codec_error)?;
    Ok(filters)
}

/// What the model says about the chunks of a variable.
fn chunk_of(model: &Model, variable: &Variable) -> ChunkInfo {
    let shape = match &variable.storage {
        Storage::Chunked(shape) => shape.clone(),
        _ => Vec::new(),
    };
    ChunkInfo { shape, element: element_in(model, variable) }
}

/// What codecs may know of a variable's elements.
pub fn element_in(model: &Model, variable: &Variable) -> DecodedElement {
    let byte_len = model.packed_len(variable.ty).and_then(|len| usize::try_from(len).ok());
    let atomic = match variable.ty {
        TypeRef::Atomic(atomic) => Some(atomic),
        TypeRef::User(_) => model.base_atomic(variable.ty),
    };
    let kind = match atomic {
        Some(Atomic::Float | Atomic::Double) => NumberKind::Float,
        Some(Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64) => NumberKind::Signed,
        Some(Atomic::UByte | Atomic::UShort | Atomic::UInt | Atomic::UInt64) => NumberKind::Unsigned,
        Some(Atomic::Char | Atomic::String) | None => return DecodedElement::sized(byte_len),
    };
    let big_endian = match variable.endianness {
        Endianness::Native => cfg!(target_endian = "big"),
        Endianness::Little => false,
        Endianness::Big => true,
    };
    match byte_len {
        Some(size) => DecodedElement::of(NumberType { kind, size, big_endian: big_endian && size > 1 }),
        None => DecodedElement::sized(None),
    }
}

fn in_space(
    spec: &CodecSpec,
    space: Option<CodecSpace>,
    chunk: &ChunkInfo,
    registry: &CodecRegistry,
) -> Result<CodecSpec> {
    let space = space.ok_or_else(|| {
        Error::unsupported(format!("the format has no filters, but {} was requested", spec.identifier()))
    })?;
    let translated = registry.translate(spec, space, chunk).map_err(codec_error)?;
    registry.check_encodes(&translated, chunk).map_err(codec_error)?;
    Ok(translated)
}

/// Whether a change sets or removes the attribute `_FillValue` of a variable that was there before.
fn has_other_fill_attribute(draft: &Draft, var: VarId) -> bool {
    let (Some(old), Some(new)) = (draft.base.variable(var), draft.variable(var)) else { return false };
    match (old.fill_attribute(), new.fill_attribute()) {
        (Some(was), Some(is)) => !was.is_identical(is),
        (was, is) => was.is_some() || is.is_some(),
    }
}
