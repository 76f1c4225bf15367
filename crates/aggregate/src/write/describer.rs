//! A master being built: definitions, and the values that belong to them.
use super::{Convention, FragmentArray, MasterForm, marks};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{
    Attribute, DimId, DimensionLen, GroupId, Model, NodeId, Strings, TypeRef, Values, VarId, default_fill,
};
use std::sync::Arc;

/// Describes the fragments of aggregated variables in a master's definitions.
#[derive(Debug)]
pub struct FragmentDescriber<'a> {
    pub(super) model: &'a mut Model,
    pub(super) form: MasterForm,
    /// The values of the variables that describe fragments.
    written: Vec<DescribingVariable>,
}

/// A variable that describes fragments.
#[derive(Debug)]
struct DescribingVariable {
    home: GroupId,
    /// Its name if it is the first of its kind.
    stem: &'static str,
    var: VarId,
    dims: Vec<DimId>,
    values: Arc<Values>,
}

impl<'a> FragmentDescriber<'a> {
    /// Describes fragments in these definitions.
    ///
    /// # Errors
    /// `Unsupported` if a master of its format cannot contain such descriptions.
    pub fn new(model: &'a mut Model, form: MasterForm) -> Result<Self> {
        if form.is_classic && form.convention == Convention::Cfa05 {
            return Err(Error::unsupported(
                "CFA-0.5 needs groups and strings: a netCDF-3 master cannot hold it",
            ));
        }
        if form.is_classic && form.compat && form.convention == Convention::Cf113 {
            return Err(Error::unsupported(
                "a netCDF-3 master has no strings, which other readers of CF-1.13 need: choose netCDF-4",
            ));
        }
        if !form.substitutions.is_empty() && form.convention != Convention::Cfa06 {
            let message = format!("{} has no substitutions; CFA-0.6 has", form.convention.name());
            return Err(Error::unsupported(message));
        }
        let root = NodeId::Group(model.root());
        if let Some(attributes) = model.attributes_mut(root) {
            marks::conventions(attributes.known_mut(), form.convention);
        }
        Ok(Self { model, form, written: Vec::new() })
    }

    /// Turns a scalar variable of the master into an aggregated one along these dimensions.
    ///
    /// # Errors
    /// `Invalid` or `Unsupported` if the convention cannot describe the fragments, or a name is taken.
    pub fn describe(&mut self, var: VarId, dims: &[DimId], fragments: &FragmentArray) -> Result<()> {
        let path = self.model.variable_path(var);
        self.describe_here(var, dims, fragments).map_err(|error| error.at_path(path))
    }

    fn describe_here(&mut self, var: VarId, dims: &[DimId], fragments: &FragmentArray) -> Result<()> {
        self.check(var, dims, fragments)?;
        if let Some(attributes) = self.model.attributes_mut(NodeId::Variable(var)) {
            marks::CFA_ATTRIBUTES.iter().for_each(|name| _ = attributes.known_mut().remove(name));
        }
        match self.form.convention {
            Convention::Cf113 | Convention::Cfa06 => self.describe_by_terms(var, dims, fragments),
            Convention::Cfa05 => self.describe_by_group(var, dims, fragments),
            Convention::Cfa04 => self.describe_by_json(var, dims, fragments),
        }
    }

    /// What is common to all conventions.
    fn check(&mut self, var: VarId, dims: &[DimId], fragments: &FragmentArray) -> Result<()> {
        let is_scalar = self.model.variable(var).is_some_and(|variable| variable.dims.is_empty());
        if !is_scalar || dims.len() != fragments.sizes.len() || dims.len() != fragments.lacking.len() {
            return Err(Error::internal("an aggregated variable is a scalar with sizes for each dimension"));
        }
        let cells: usize = fragments.sizes.iter().map(Vec::len).product();
        if cells != fragments.cells.len() || fragments.sizes.iter().flatten().any(|size| *size == 0) {
            return Err(Error::invalid("the array of fragments has holes, or fragments of no elements"));
        }
        // Names are listed with blanks between them (docs/spec/cfa.md 2.2, 4.2, 5.1).
        let names = self.dimension_names(dims);
        if let Some(name) = names.iter().find(|name| name.contains(char::is_whitespace)) {
            let message =
                format!("no aggregation can lie along dimension {name:?}: its name contains a space");
            return Err(Error::invalid(message));
        }
        let needs_all = self.form.compat || !self.form.convention.has_gaps();
        if needs_all && fragments.cells.iter().any(Option::is_none) {
            let message =
                format!("fragments are missing, which {} cannot describe", self.form.convention.name());
            return Err(Error::invalid(message));
        }
        let old = matches!(self.form.convention, Convention::Cfa04 | Convention::Cfa05);
        if old && self.form.compat {
            self.give_fill_value(var)?;
        }
        Ok(())
    }

    /// S3netCDF4 fills missing elements with this attribute (docs/spec/cfa.md D11).
    fn give_fill_value(&mut self, var: VarId) -> Result<()> {
        let ty = self.model.variable(var).map(|variable| variable.ty);
        if let Some(TypeRef::Atomic(atomic)) = ty
            && atomic.is_numeric()
            && self.model.variable(var).is_none_or(|variable| variable.own_fill().is_none())
        {
            self.model.set_fill(var, default_fill(atomic))?;
        }
        Ok(())
    }

    /// The variables that describe fragments, and the values to be written to them.
    pub fn finish(self) -> Vec<(VarId, Arc<Values>)> {
        self.written.into_iter().map(|written| (written.var, written.values)).collect()
    }

    /// Adds an attribute to a variable.
    pub(super) fn put(&mut self, var: VarId, name: &str, text: &str) {
        if let Some(attributes) = self.model.attributes_mut(NodeId::Variable(var)) {
            attributes.known_mut().put(Attribute::text(name, text));
        }
    }

    /// Texts for a scalar variable, or one on these dimensions; netCDF-3 stores them as characters, with a dimension
    /// for the longest of them.
    pub(super) fn texts(
        &mut self,
        home: GroupId,
        stem: &'static str,
        dims: &[DimId],
        texts: &Strings,
    ) -> Result<VarId> {
        if !self.form.is_classic {
            return self.variable(home, stem, dims, Values::String(texts.clone()));
        }
        let len = texts.max_len().max(1);
        let room = self.dimension(home, &format!("strlen{len}"), len as u64)?;
        let mut chars = Vec::new();
        for text in texts.iter() {
            let end = chars.len() + len;
            chars.extend_from_slice(text.unwrap_or_default());
            chars.resize(end, 0);
        }
        let dims: Vec<DimId> = dims.iter().copied().chain([room]).collect();
        self.variable(home, stem, &dims, Values::Char(chars))
    }

    /// A variable that describes fragments: an existing one if it is the same in everything (docs/spec/cfa.md P1),
    /// otherwise a new one.
    pub(super) fn variable(
        &mut self,
        home: GroupId,
        stem: &'static str,
        dims: &[DimId],
        values: Values,
    ) -> Result<VarId> {
        let same = |old: &&DescribingVariable| {
            old.home == home && old.stem == stem && old.dims == dims && *old.values == values
        };
        if let Some(old) = self.written.iter().find(same) {
            return Ok(old.var);
        }
        let name = free_name(stem, |name| self.model.variable_in(home, name).is_none());
        let var = self.new_variable(home, &name, dims, values)?;
        if let Some(written) = self.written.last_mut() {
            written.stem = stem;
        }
        Ok(var)
    }

    /// A new variable of exactly that name.
    pub(super) fn new_variable(
        &mut self,
        home: GroupId,
        name: &str,
        dims: &[DimId],
        values: Values,
    ) -> Result<VarId> {
        let ty = values.atomic().ok_or_else(|| Error::internal("descriptions are of atomic types"))?;
        let var = self.model.add_variable(home, name, TypeRef::Atomic(ty), dims)?;
        self.written.push(DescribingVariable {
            home,
            stem: "",
            var,
            dims: dims.to_vec(),
            values: Arc::new(values),
        });
        Ok(var)
    }

    /// A dimension of that name and length, under another name if this one is taken by another length.
    pub(super) fn dimension(&mut self, home: GroupId, stem: &str, len: u64) -> Result<DimId> {
        let len = DimensionLen::Fixed(len);
        let mut found = None;
        let name = free_name(stem, |name| {
            let dim = self.model.visible_dimension(home, name);
            found = dim.filter(|dim| self.model.dimension(*dim).is_some_and(|dim| dim.len == len));
            dim.is_none() || found.is_some()
        });
        match found {
            Some(dim) => Ok(dim),
            None => Ok(self.model.add_dimension(home, &name, len)?),
        }
    }

    /// Simple name of a dimension.
    pub(super) fn dimension_name(&self, dim: DimId) -> String {
        self.model.dimension(dim).map(|dimension| dimension.name.clone()).unwrap_or_default()
    }

    /// Simple names of dimensions.
    pub(super) fn dimension_names(&self, dims: &[DimId]) -> Vec<String> {
        dims.iter().map(|dim| self.dimension_name(*dim)).collect()
    }

    /// The group that a variable lies in.
    pub(super) fn home(&self, var: VarId) -> GroupId {
        self.model.variable_group(var).unwrap_or_else(|| self.model.root())
    }
}

/// The first of `stem`, `stem_1`, `stem_2`, ... that is usable.
fn free_name(stem: &str, mut will_do: impl FnMut(&str) -> bool) -> String {
    let mut name = stem.to_owned();
    let mut number = 0u32;
    while !will_do(&name) {
        number += 1;
        name = format!("{stem}_{number}");
    }
    name
}
