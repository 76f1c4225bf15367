//! The definitions of a copy, and which values are copied where.
use super::choice::CopyChoice;
use super::chunking::{fit_shards, shards_by_rules, storage_by_rules};
use super::irregular::IrregularChunks;
use super::{CopyOptions, FilterRule, Filters, QuantizeRule};
use ncirrus::{AxisSelection, CreateOptions, Dataset, Kind, LeftOut, Result, Selection};
use ncirrus_engine::ValueTreatment;
use ncirrus_engine::convert::Quantize;
use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, Detail, DimensionLen, Group, GroupId, Model, NodeId,
    Storage, TypeRef, Values, VarId,
};

/// The definitions of a copy, and which values are copied where.
pub(super) struct CopyBlueprint {
    pub(super) model: Model,
    pub(super) pairs: Vec<CopiedVariable>,
    /// Members that cannot be read from the source.
    pub(super) left_out: Vec<LeftOut>,
}

/// A variable that is copied; it has the same id in the copy, which starts as the source itself.
pub(crate) struct CopiedVariable {
    pub(crate) path: String,
    pub(crate) var: VarId,
    pub(crate) selection: Selection,
    pub(crate) treatment: ValueTreatment,
}

impl CopyBlueprint {
    /// Builds the copy's definitions.
    ///
    /// # Errors
    /// If names are unknown or chunk rules do not fit.
    pub(super) fn draw(
        source: &Dataset,
        options: &CopyOptions<'_>,
        left_out: &[String],
        create: &CreateOptions,
    ) -> Result<Self> {
        let whole = source.model()?;
        super::effect::check(options, &whole)?;
        let choice = CopyChoice::make(&whole, options, left_out)?;
        // The copy starts as the source itself, so that ids, order and everything not mentioned here stay.
        let mut draft = Self { model: Model::clone(&whole), pairs: Vec::new(), left_out: Vec::new() };
        draft.cut_dimensions(&choice, options)?;
        let irregular = IrregularChunks::find(source, options, &choice, create)?;
        for var in whole.variables() {
            if choice.variables.contains(&var) {
                draft.take_variable(&whole, var, &choice, options, create)?;
                irregular.apply(&whole, &mut draft.model, var)?;
                super::widened_types::keep_or_forget(source, &mut draft.model, var, create);
                super::packing::apply(options, &mut draft.model, var, create)?;
            } else {
                draft.model.remove_variable(var)?;
            }
        }
        draft.drop_what_is_not_copied(options, &choice)?;
        draft.leave_out(source, &choice)?;
        if create.kind.is_some_and(|kind| kind.is_classic() || kind == Kind::Nc4Classic) {
            make_attributes_classic(&mut draft.model);
        }
        Ok(draft)
    }

    /// Records what is not copied because it cannot be read, among the members that are copied.
    fn leave_out(&mut self, source: &Dataset, choice: &CopyChoice) -> Result<()> {
        let whole = source.model()?;
        for (node, left_out) in source.left_out_members()? {
            let is_wanted = match node {
                NodeId::Variable(var) => choice.variables.contains(&var),
                NodeId::Group(group) => self.model.group(group).is_some(),
            };
            if is_wanted {
                check_values(source, &whole, node)?;
                self.left_out.push(left_out);
            }
        }
        forget_faults(&mut self.model);
        Ok(())
    }

    /// Lengths of the dimensions that are copied in part, and of unlimited ones that become fixed.
    fn cut_dimensions(&mut self, choice: &CopyChoice, options: &CopyOptions<'_>) -> Result<()> {
        let copies_all = options.data_of.is_empty() && options.data_of_groups.is_empty() && !options.alone;
        for group in self.model.walk() {
            let dims = self.model.group(group).map(|group| group.dims.clone()).unwrap_or_default();
            for dim in dims {
                let Some(len) = self.model.dimension(dim).map(|dimension| dimension.len) else { continue };
                let current = choice.parts.get(&dim).map_or(len.current(), AxisSelection::count);
                let grows = len.is_unlimited() && !options.fix_unlimited;
                // As long as the data that are copied.
                let is_empty = grows && !copies_all && !choice.has_data_along(&self.model, dim);
                let current = if is_empty { 0 } else { current };
                let len = if grows { DimensionLen::Unlimited(current) } else { DimensionLen::Fixed(current) };
                self.model.set_dimension_len(dim, len)?;
            }
        }
        Ok(())
    }

    fn take_variable(
        &mut self,
        whole: &Model,
        var: VarId,
        choice: &CopyChoice,
        options: &CopyOptions<'_>,
        create: &CreateOptions,
    ) -> Result<()> {
        let path = whole.variable_path(var);
        let Some(variable) = whole.variable(var) else { return Ok(()) };
        if variable.fault.is_some() {
            return Ok(self.model.remove_variable(var).map(|_| ())?);
        }
        let prescribed = options.prescribed.as_ref().and_then(|all| all.get(&var));
        let storage = storage_by_rules(&options.chunks, &self.model, var)?;
        let filters = FilterRule::choose(&options.filter_rules, whole, var);
        let fixed_size = whole.packed_len(variable.ty).is_some();
        let (shape, growing) = (self.model.shape(var), self.model.growing(var));
        if let Some(copy) = self.model.variable_mut(var) {
            // Contiguous storage in another format does not require contiguous storage here.
            match storage {
                Some(storage) => copy.storage = storage,
                None if matches!(copy.storage, Storage::Chunked(_)) => {}
                None => copy.storage = Storage::Default,
            }
            if let Some(prescribed) = prescribed {
                copy.storage = prescribed.storage.clone();
                copy.shards = None;
                copy.filters.clone_from(&prescribed.filters);
            }
            fit_chunks(&mut copy.storage, &shape, &growing);
            fit_shards(&mut copy.shards, &copy.storage);
            let filters = match (filters, &options.filters) {
                _ if prescribed.is_some() => None,
                (Some(rule), _) => Some(rule),
                (None, Filters::Keep) => None,
                (None, Filters::Remove) => Some(&[][..]),
                (None, Filters::Replace(filters)) => Some(filters.as_slice()),
            };
            if let Some(filters) = filters {
                let applies = fixed_size && !shape.is_empty();
                copy.filters = if applies { filters.to_vec() } else { Vec::new() };
            }
            if create.kind.is_some_and(Kind::is_classic) {
                copy.filters.clear();
                copy.storage = Storage::Default;
                copy.endianness = ncirrus_model::Endianness::Native;
            }
            if create.kind.is_some_and(|kind| kind != Kind::Zarr3) {
                copy.shards = None;
            }
        }
        if let Some(shards) = shards_by_rules(&options.shards, &self.model, var)?
            && let Some(copy) = self.model.variable_mut(var)
        {
            copy.shards = shards;
        }
        let shards = self.model.variable_mut(var).and_then(|copy| copy.shards.as_mut());
        if let (Some(shards), Some(index_first)) = (shards, options.index_first) {
            shards.index_first = index_first;
        }
        if !choice.with_data.contains(&var) {
            return Ok(());
        }
        let quantize = QuantizeRule::choose(&options.quantize, whole, var)?;
        if let Some(quantize) = quantize {
            self.record(var, quantize, options.cf_quantization)?;
        }
        let selection = selection_of(whole, var, choice);
        let treatment = ValueTreatment { quantize, check: options.check() };
        self.pairs.push(CopiedVariable { path, var, selection, treatment });
        Ok(())
    }

    /// Records how a variable is quantized: as netCDF-C does and, if requested, as CF 1.12 (8.4) defines.
    fn record(&mut self, var: VarId, quantize: Quantize, cf: bool) -> Result<()> {
        let Some(variable) = self.model.variable_mut(var) else { return Ok(()) };
        if let AttributeState::Known(attributes) = &mut variable.attributes {
            attributes.put(quantize.attribute());
            if cf {
                cf_attributes(quantize).into_iter().for_each(|attribute| attributes.put(attribute));
            }
        }
        let root = self.model.root();
        if !cf || self.model.variable_in(root, quantize.container()).is_some() {
            return Ok(());
        }
        let container = self.model.add_variable(root, quantize.container(), Atomic::Char.into(), &[])?;
        let mut described = Attributes::new();
        described.put(Attribute::text("algorithm", quantize.algorithm()));
        described.put(Attribute::text("implementation", &format!("ncirrus version {}", ncirrus::VERSION)));
        if let Some(container) = self.model.variable_mut(container) {
            container.attributes = AttributeState::Known(described);
        }
        Ok(())
    }

    /// Removes groups, dimensions and types that only the left-out variables needed. If variables are selected by
    /// name, the dimensions of the others are removed too.
    fn drop_what_is_not_copied(&mut self, options: &CopyOptions<'_>, choice: &CopyChoice) -> Result<()> {
        let chosen =
            !(options.variables.is_empty() && options.groups.is_empty() && options.select.is_empty());
        if !chosen {
            return Ok(());
        }
        let mut groups = self.model.walk();
        // Inner groups first: a group may become empty by the removal of those in it.
        groups.reverse();
        if options.alone {
            let root = self.model.root();
            let left_out = |id: &GroupId| {
                *id != root && choice.groups.as_ref().is_some_and(|wanted| !wanted.contains(id))
            };
            for id in groups.into_iter().filter(left_out) {
                for dim in self.model.group(id).map(|group| group.dims.clone()).unwrap_or_default() {
                    self.model.remove_dimension(dim)?;
                }
                self.model.remove_group(id)?;
            }
            return Ok(());
        }
        for id in groups {
            let dims = self.model.group(id).map(|group| group.dims.clone()).unwrap_or_default();
            for dim in dims {
                if self.model.users_of(dim).next().is_none() {
                    self.model.remove_dimension(dim)?;
                }
            }
            let is_empty = self.model.group(id).is_some_and(Group::is_empty);
            if id != self.model.root() && is_empty {
                self.model.remove_group(id)?;
            }
        }
        Ok(())
    }
}

/// Refuses a variable whose fault is in the values that determine its shape, not in its definition: as any values that cannot
/// be read, they end the copy.
fn check_values(source: &Dataset, model: &Model, node: NodeId) -> Result<()> {
    let NodeId::Variable(var) = node else { return Ok(()) };
    let fault = model.variable(var).and_then(|variable| variable.fault.as_ref());
    match fault.and_then(|fault| fault.detail.as_ref()) {
        Some(Detail::ShapeUnread) => source.source(&source.variable(&model.variable_path(var))?).map(|_| ()),
        _ => Ok(()),
    }
}

/// Definitions of a new dataset have no faults: what cannot be read is not in them.
pub(crate) fn forget_faults(model: &mut Model) {
    for node in model.nodes() {
        if let NodeId::Group(group) = node
            && let Some(group) = model.group_mut(group)
        {
            *group.fault = None;
        }
        match model.attributes_mut(node) {
            Some(AttributeState::Known(attributes)) => attributes.faults.clear(),
            Some(damaged) => *damaged = AttributeState::Known(Attributes::new()),
            None => {}
        }
    }
}

/// netCDF-3 has no strings: an attribute of one string becomes text.
pub(crate) fn make_attributes_classic(model: &mut Model) {
    for node in model.nodes() {
        let Some(AttributeState::Known(attributes)) = model.attributes_mut(node) else { continue };
        *attributes = attributes.iter().cloned().map(string_to_text).collect::<Attributes>();
    }
}

/// The attributes that CF 1.12 (8.4) requires for a quantized variable.
fn cf_attributes(quantize: Quantize) -> [Attribute; 2] {
    let kept = match quantize {
        Quantize::BitRound(_) => "quantization_nsb",
        Quantize::BitGroom(_) | Quantize::GranularBitRound(_) => "quantization_nsd",
    };
    let number = i32::try_from(quantize.kept()).unwrap_or(i32::MAX);
    [
        Attribute::text("quantization", quantize.container()),
        Attribute::atomic(kept, Values::Int(vec![number])),
    ]
}

fn string_to_text(attribute: Attribute) -> Attribute {
    match &attribute.values {
        Values::String(strings) if strings.len() == 1 && matches!(attribute.ty, TypeRef::Atomic(_)) => {
            let text = strings.get(0).unwrap_or_default().to_vec();
            Attribute::atomic(attribute.name, Values::Char(text))
        }
        _ => attribute,
    }
}

/// Chunks are not longer than a fixed axis, which may have been cut or have been shorter before.
fn fit_chunks(storage: &mut Storage, shape: &[u64], growing: &[bool]) {
    if let Storage::Chunked(chunks) = storage {
        if chunks.len() != shape.len() {
            *storage = Storage::Default;
            return;
        }
        for ((chunk, len), grows) in chunks.iter_mut().zip(shape).zip(growing) {
            if !grows {
                *chunk = (*chunk).min(*len).max(1);
            }
        }
    }
}

fn selection_of(model: &Model, var: VarId, choice: &CopyChoice) -> Selection {
    let dims = model.variable(var).map(|variable| variable.dims.as_slice()).unwrap_or_default();
    let axes = dims.iter().zip(model.shape(var));
    let axis = |(dim, count)| {
        choice.parts.get(dim).cloned().unwrap_or(AxisSelection::Slice { start: 0, count, stride: 1 })
    };
    Selection::new(axes.map(axis).collect())
}
