//! What a fragment repeats of its master, so that it describes itself: global attributes, coordinates, and the
//! variables that these and its own variable name, each in the fragment's part.
use super::super::origin;
use super::super::shape::{known, named};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Kind, Result, Selection};
use ncirrus_model::{Attribute, AttributeState, DimId, DimensionLen, Model, NodeId, TypeRef, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// The definitions of a fragment besides its own variable.
pub(super) struct RelatedVariables<'a> {
    model: &'a Model,
    /// The dimensions of the fragment's variable in the master, with the part of each.
    parts: Vec<DimensionPart>,
    /// Dimensions of the master, with those of the fragment.
    added: BTreeMap<DimId, DimId>,
    copied: Vec<CopiedPart>,
}

struct DimensionPart {
    dim: DimId,
    start: u64,
    len: u64,
    grows: bool,
}

/// A variable of the master, that of the fragment, and which elements it has.
struct CopiedPart {
    from: VarId,
    to: VarId,
    start: Vec<u64>,
    count: Vec<u64>,
}

/// Attributes that name variables that belong to a variable.
const NAMING: [&str; 6] =
    ["coordinates", "bounds", "climatology", "grid_mapping", "formula_terms", "cell_measures"];

impl<'a> RelatedVariables<'a> {
    pub(super) fn new(
        model: &'a Model,
        dims: &[DimId],
        (starts, lens, grows): (&[u64], &[u64], &[bool]),
    ) -> Self {
        let parts = dims.iter().zip(starts).zip(lens).zip(grows);
        let part = |(((dim, start), len), grows): (((&DimId, &u64), &u64), &bool)| DimensionPart {
            dim: *dim,
            start: *start,
            len: *len,
            grows: *grows,
        };
        Self { model, parts: parts.map(part).collect(), added: BTreeMap::new(), copied: Vec::new() }
    }

    /// Adds the dimensions of the fragment's variable, and returns them.
    pub(super) fn add_dimensions(&mut self, new: &mut Model) -> Result<Vec<DimId>> {
        let mut dims = Vec::new();
        for part in &self.parts {
            let size = if part.grows { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(part.len) };
            let name = self.model.dimension(part.dim).map(|dim| dim.name.clone()).unwrap_or_default();
            let own = new.add_dimension(new.root(), &name, size)?;
            self.added.insert(part.dim, own);
            dims.push(own);
        }
        Ok(dims)
    }

    /// Adds global attributes, and the variables that belong to the fragment's own.
    pub(super) fn add_variables(
        &mut self,
        new: &mut Model,
        var: VarId,
        divided: &BTreeSet<VarId>,
        (record, kind): (&Attribute, Kind),
    ) -> Result<()> {
        self.add_attributes(new, record);
        let scalars = origin::scalars(self.model, Some(kind));
        let others = self.belonging(var).into_iter().chain(scalars);
        for from in others.filter(|from| !divided.contains(from)) {
            self.add_variable(new, from)?;
        }
        Ok(())
    }

    fn add_attributes(&self, new: &mut Model, record: &Attribute) {
        let attributes = known(self.model, NodeId::Group(self.model.root()));
        let root = NodeId::Group(new.root());
        let Some(state) = new.attributes_mut(root) else { return };
        for attribute in attributes.iter() {
            let text = attribute.as_text().filter(|_| attribute.name == "Conventions");
            // A fragment is not an aggregation.
            let plain = text.map(|text| {
                let words = text.split_whitespace().filter(|word| !word.starts_with("CFA"));
                Attribute::text("Conventions", &words.collect::<Vec<_>>().join(" "))
            });
            state.known_mut().put(plain.unwrap_or_else(|| attribute.clone()));
        }
        state.known_mut().put(record.clone());
    }

    /// The coordinates of the fragment's dimensions, then what these and the variable name.
    fn belonging(&self, var: VarId) -> Vec<VarId> {
        let mut found: Vec<VarId> =
            self.parts.iter().filter_map(|part| self.model.coordinate_of(part.dim)).collect();
        let mut seen: BTreeSet<VarId> = found.iter().copied().chain([var]).collect();
        let mut next = [var].into_iter().chain(found.clone()).collect::<Vec<_>>();
        while let Some(from) = next.pop() {
            for other in named(self.model, from, &NAMING) {
                if seen.insert(other) {
                    found.push(other);
                    next.push(other);
                }
            }
        }
        found
    }

    fn add_variable(&mut self, new: &mut Model, from: VarId) -> Result<()> {
        let Some(variable) = self.model.variable(from) else { return Ok(()) };
        let attributes = known(self.model, NodeId::Variable(from));
        let grows = |dim: &DimId| self.parts.iter().any(|part| part.dim == *dim && part.grows);
        let root = new.root();
        // Along a dimension that grows it is written later than the fragment.
        if variable.dims.iter().any(grows)
            || variable.fault.is_some()
            || matches!(variable.ty, TypeRef::User(_))
            || new.variable_in(root, &variable.name).is_some()
        {
            return Ok(());
        }
        let (mut dims, mut start, mut count) = (Vec::new(), Vec::new(), Vec::new());
        for dim in &variable.dims {
            let len = self.model.dimension(*dim).map(|dim| dim.len.current()).unwrap_or(0);
            let part = self.parts.iter().find(|part| part.dim == *dim);
            // Along a dimension that grew with the aggregated variable alone there are no coordinates yet.
            if part.is_some_and(|part| part.start.saturating_add(part.len) > len) {
                return Ok(());
            }
            let (first, len) = part.map_or((0, len), |part| (part.start, part.len));
            let Some(own) = self.dimension(new, *dim, len)? else { return Ok(()) };
            dims.push(own);
            start.push(first);
            count.push(len);
        }
        let to = new.add_variable(root, &variable.name, variable.ty, &dims)?;
        if let Some(added) = new.variable_mut(to) {
            added.attributes = AttributeState::Known(attributes);
            added.fill = variable.fill.clone();
        }
        self.copied.push(CopiedPart { from, to, start, count });
        Ok(())
    }

    /// The fragment's dimension for one of the master; `None` if its name is another one's.
    fn dimension(&mut self, new: &mut Model, dim: DimId, len: u64) -> Result<Option<DimId>> {
        if let Some(own) = self.added.get(&dim) {
            return Ok(Some(*own));
        }
        let name = self.model.dimension(dim).map(|dim| dim.name.clone()).unwrap_or_default();
        if len == 0 || new.dimension_in(new.root(), &name).is_some() {
            return Ok(None);
        }
        let own = new.add_dimension(new.root(), &name, DimensionLen::Fixed(len))?;
        self.added.insert(dim, own);
        Ok(Some(own))
    }

    /// Copies the values.
    pub(super) fn copy(&self, master: &Dataset, fragment: &Dataset) -> Result<()> {
        for part in &self.copied {
            let values = master.read_values(part.from, &Selection::slab(&part.start, &part.count))?;
            let all = Selection::all(&part.count);
            fragment.write_values(part.to, &all, &values)?;
        }
        Ok(())
    }
}
