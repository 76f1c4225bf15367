//! A master being built, and how it is written.
use super::names::Naming;
use super::shape::{known, unpacked};
use crate::overwrite;
use crate::whole::completed;
use ncirrus::internals::DatasetInternals;
use ncirrus::{CreateOptions, Dataset, Error, Kind, Result, Selection, Session, Storage, Values};
use ncirrus_aggregate::write::{Convention, FragmentArray, FragmentDescriber, MasterForm};
use ncirrus_engine::convert;
use ncirrus_model::{
    Atomic, Attribute, AttributeState, Attributes, DimId, DimensionLen, Fill, Model, NodeId, TypeRef, VarId,
    default_fill,
};
use std::collections::BTreeSet;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// How a master is written.
#[derive(Debug, Clone, Default)]
#[non_exhaustive]
pub struct MasterOptions {
    /// The convention that describes fragments.
    pub convention: Convention,
    /// Kind of the master; `None`: from the extension of its name, else netCDF-4.
    pub kind: Option<Kind>,
    /// How the locations of fragments are written; with `compat` always as URLs.
    pub naming: Naming,
    /// Write what most other readers understand.
    pub compat: bool,
    /// Replace an existing master.
    pub overwrite: bool,
    /// Replace any existing dataset except the files of the aggregation.
    pub overwrite_any: bool,
}

impl MasterOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// The convention that describes fragments.
    #[must_use]
    pub fn convention(mut self, convention: Convention) -> Self {
        self.convention = convention;
        self
    }

    /// Kind of the master; `None`: from the extension of its name, else netCDF-4.
    #[must_use]
    pub fn kind(mut self, kind: impl Into<Option<Kind>>) -> Self {
        self.kind = kind.into();
        self
    }

    /// How the locations of fragments are written; with `compat` always as URLs.
    #[must_use]
    pub fn naming(mut self, naming: Naming) -> Self {
        self.naming = naming;
        self
    }

    /// Write what most other readers understand.
    #[must_use]
    pub fn compat(mut self, compat: bool) -> Self {
        self.compat = compat;
        self
    }

    /// Replace an existing master.
    #[must_use]
    pub fn overwrite(mut self, overwrite: bool) -> Self {
        self.overwrite = overwrite;
        self
    }

    /// Replace any existing dataset except the files of the aggregation.
    #[must_use]
    pub fn overwrite_any(mut self, overwrite_any: bool) -> Self {
        self.overwrite_any = overwrite_any;
        self
    }
}

/// The definitions of a master, the values that it stores, and its fragments.
pub(super) struct MasterPlan {
    /// Aggregated variables have their dimensions until the master is written.
    pub(super) model: Model,
    pub(super) stored: Vec<StoredValues>,
    pub(super) aggregated: Vec<(VarId, FragmentArray)>,
    /// The values of `${NAME}` in names, besides those in the options.
    pub(super) substitutions: Vec<(String, String)>,
}

/// Values that a master stores.
pub(super) enum StoredValues {
    /// A part of a variable.
    Values(VarId, Selection, Values),
    /// The whole of the same variable of another dataset.
    Copied(VarId, Dataset, VarId),
}

impl MasterOptions {
    pub(super) fn kind_for(&self, url: &str) -> Kind {
        let path = url.split(['#', '?']).next().unwrap_or_default().trim_end_matches('/');
        let ending = path.rsplit_once('.').map(|(_, ending)| ending.to_ascii_lowercase());
        self.kind.unwrap_or(match ending.as_deref() {
            Some("zarr" | "nczarr" | "zip") => Kind::NcZarr,
            Some("nc3" | "cdf") => Kind::Nc3,
            Some("nc5") => Kind::Nc5,
            Some("nc6") => Kind::Nc6,
            _ => Kind::Nc4,
        })
    }

    pub(super) fn effective_naming(&self) -> Naming {
        match (&self.naming, self.compat) {
            (Naming::Relative, true) => Naming::Absolute,
            (naming, _) => naming.clone(),
        }
    }

    pub(super) fn form(&self, kind: Kind) -> Result<MasterForm> {
        Ok(MasterForm {
            convention: self.convention,
            compat: self.compat,
            is_classic: kind.is_classic(),
            substitutions: self.naming.substitutions()?,
        })
    }

    /// Fails if the master would replace one of those files, or something that is not an aggregation.
    pub(super) fn check_target<'a>(
        &self,
        target: &str,
        sources: impl Iterator<Item = &'a str>,
        session: &Session,
    ) -> Result<()> {
        overwrite::check(target, sources, overwrite::WrittenForm::Aggregation, self.overwrite_any, session)
    }

    pub(super) fn replaces(&self) -> bool {
        self.overwrite || self.overwrite_any
    }

    /// Checks everything that can be checked before anything is read.
    pub(super) fn check(&self, url: &str) -> Result<()> {
        FragmentDescriber::new(&mut Model::new(), self.form(self.kind_for(url))?).map(|_| ())
    }
}

impl MasterPlan {
    /// Nothing yet.
    pub(super) fn empty() -> Self {
        Self { model: Model::new(), stored: Vec::new(), aggregated: Vec::new(), substitutions: Vec::new() }
    }

    /// Writes the master, which appears or is replaced atomically.
    pub(super) fn write(mut self, url: &str, options: &MasterOptions, session: &Session) -> Result<()> {
        let kind = options.kind_for(url);
        let described = self.describe(options.form(kind)?, kind)?;
        let create = CreateOptions::new().kind(kind).overwrite(options.replaces());
        let master = Dataset::create_with(url, &create, session)?;
        let Self { model, stored, .. } = self;
        completed(master, |master| {
            define(master, model)?;
            fill_in(master, stored, described)
        })
    }

    /// Fails if writing the definitions would fail, before long work is begun.
    pub(super) fn rehearse(&self, url: &str, options: &MasterOptions, session: &Session) -> Result<()> {
        static REHEARSALS: AtomicU64 = AtomicU64::new(0);
        let kind = options.kind_for(url);
        let aggregated = self.aggregated.clone();
        let mut copy = Self { model: self.model.clone(), aggregated, ..Self::empty() };
        copy.describe(options.form(kind)?, kind)?;
        let name = format!("rehearsal-{}", REHEARSALS.fetch_add(1, Ordering::Relaxed));
        let create = CreateOptions::new().kind(kind);
        let scratch = Dataset::create_with(&format!("memory://{name}/master"), &create, session)?;
        let defined = define(&scratch, copy.model);
        drop(scratch);
        session.store_context().memory.remove(&name);
        defined
    }

    /// Converts the definitions to their stored form: aggregated variables are scalar, and others describe their
    /// fragments.
    fn describe(&mut self, mut form: MasterForm, kind: Kind) -> Result<Vec<(VarId, Arc<Values>)>> {
        self.record_substitutions(&mut form)?;
        super::origin::forget(&mut self.model);
        let is_classic = kind.is_classic() || kind == Kind::Nc4Classic;
        let aggregated = std::mem::take(&mut self.aggregated);
        let spanned: Vec<(VarId, Vec<DimId>, FragmentArray)> =
            aggregated.into_iter().map(|(var, array)| (var, self.make_scalar(var), array)).collect();
        let leading: BTreeSet<DimId> = spanned.iter().flat_map(|(_, dims, _)| dims).copied().collect();
        self.fix_dimensions(is_classic, &leading)?;
        if is_classic {
            crate::copy::make_attributes_classic(&mut self.model);
            self.drop_storage();
        } else {
            self.free_records();
        }
        let mut describer = FragmentDescriber::new(&mut self.model, form)?;
        for (var, dims, array) in &spanned {
            describer.describe(*var, dims, array)?;
        }
        Ok(describer.finish())
    }

    fn record_substitutions(&mut self, form: &mut MasterForm) -> Result<()> {
        for (key, value) in std::mem::take(&mut self.substitutions) {
            let name = key.trim_start_matches("${").trim_end_matches('}').to_owned();
            match form.substitutions.iter().find(|(other, _)| *other == name) {
                Some((_, other)) if *other != value => {
                    let message = format!("${{{name}}} is {value:?} in the aggregation, not {other:?}");
                    return Err(Error::invalid(message));
                }
                Some(_) => {}
                None => form.substitutions.push((name, value)),
            }
        }
        Ok(())
    }

    /// Makes an aggregated variable scalar, as in the master. Returns its dimensions.
    fn make_scalar(&mut self, var: VarId) -> Vec<DimId> {
        let Some(variable) = self.model.variable_mut(var) else { return Vec::new() };
        variable.storage = Storage::Default;
        variable.shards = None;
        variable.filters.clear();
        std::mem::take(&mut variable.dims)
    }

    /// A dimension stays unlimited if variables lie along it, those in the master in a way that the format allows.
    fn fix_dimensions(&mut self, is_classic: bool, of_aggregated: &BTreeSet<DimId>) -> Result<()> {
        let mut records = 0;
        let groups = self.model.walk();
        let dims: Vec<DimId> = groups
            .iter()
            .filter_map(|group| self.model.group(*group))
            .flat_map(|group| group.dims.clone())
            .collect();
        for dim in dims {
            let Some(len) = self.model.dimension(dim).map(|dimension| dimension.len) else { continue };
            let users: Vec<VarId> = self.model.users_of(dim).collect();
            let leads = |var: &VarId| {
                let dims =
                    self.model.variable(*var).map(|variable| variable.dims.as_slice()).unwrap_or_default();
                dims.first() == Some(&dim) && !dims.iter().skip(1).any(|other| *other == dim)
            };
            let is_used = !users.is_empty() || of_aggregated.contains(&dim);
            let may = is_used && (!is_classic || (records == 0 && users.iter().all(leads)));
            if len.is_unlimited() && may {
                records += 1;
            } else if len.is_unlimited() {
                self.model.set_dimension_len(dim, DimensionLen::Fixed(len.current()))?;
            }
        }
        Ok(())
    }

    /// Variables with records in netCDF-3 grow in chunks elsewhere.
    fn free_records(&mut self) {
        for var in self.model.variables() {
            let grows = self.model.growing(var).contains(&true);
            if let Some(variable) = self.model.variable_mut(var).filter(|_| grows)
                && variable.storage == Storage::Contiguous
            {
                variable.storage = Storage::Default;
            }
        }
    }

    /// netCDF-3 has no chunks and filters.
    fn drop_storage(&mut self) {
        for var in self.model.variables() {
            if let Some(variable) = self.model.variable_mut(var) {
                variable.filters.clear();
                variable.storage = Storage::Default;
                variable.shards = None;
                variable.endianness = ncirrus_model::Endianness::Native;
            }
        }
    }
}

fn define(dataset: &Dataset, model: Model) -> Result<()> {
    dataset.edit(|empty| {
        *empty = model;
        Ok(())
    })
}

/// Writes the values of a new master.
fn fill_in(master: &Dataset, stored: Vec<StoredValues>, described: Vec<(VarId, Arc<Values>)>) -> Result<()> {
    let model = master.snapshot();
    let place = |var: VarId| model.variable_path(var);
    for stored in stored {
        match stored {
            StoredValues::Values(var, selection, values) => {
                let values = fit(&model, var, values)?;
                master.write_values(var, &selection, &values).map_err(|error| error.at_path(place(var)))?;
            }
            StoredValues::Copied(var, source, from) => copy_values(master, var, &source, from)?,
        }
    }
    for (var, values) in described {
        let all = Selection::all(&model.shape(var));
        master.write_values(var, &all, &values).map_err(|error| error.at_path(place(var)))?;
    }
    Ok(())
}

/// Values in the variable's own type: those of one file may have become doubles, or have another file's type.
fn fit(model: &Model, var: VarId, values: Values) -> Result<Values> {
    let base = model.variable(var).and_then(|variable| model.base_atomic(variable.ty));
    match base {
        Some(base) if values.atomic().is_some_and(|atomic| atomic != base) => {
            Ok(convert::cast(&values, base)?.0)
        }
        _ => Ok(values),
    }
}

/// Copies a whole variable in parts.
pub(super) fn copy_values(master: &Dataset, var: VarId, source: &Dataset, from: VarId) -> Result<()> {
    let shape = source.snapshot().shape(from);
    if shape.contains(&0) {
        return Ok(());
    }
    let pair = crate::copy::CopiedVariable {
        path: source.snapshot().variable_path(from),
        var: from,
        selection: Selection::all(&shape),
        treatment: ncirrus_engine::ValueTreatment::default(),
    };
    pair.copy_to(source, master, var, &|_| ())
}

/// Converts the definition of an aggregated variable to what the convention requires: unpacked if fragments are
/// unpacked by their own attributes. `false` if there is nothing to unpack.
pub(super) fn unpack(model: &mut Model, var: VarId) -> bool {
    const PACKED: [&str; 9] = [
        "scale_factor",
        "add_offset",
        "_Unsigned",
        "_FillValue",
        "missing_value",
        "valid_min",
        "valid_max",
        "valid_range",
        "actual_range",
    ];
    let attributes = known(model, NodeId::Variable(var));
    let Some(variable) = model.variable_mut(var) else { return false };
    let (ty, is_packed) = unpacked(variable.ty, &attributes);
    if !is_packed {
        return false;
    }
    let had_fill = attributes.find("_FillValue").is_some() || attributes.find("missing_value").is_some();
    variable.ty = ty;
    variable.fill = Fill::Attribute;
    let kept = attributes.iter().filter(|attribute| !PACKED.contains(&attribute.name.as_str())).cloned();
    variable.attributes = AttributeState::Known(kept.collect::<Attributes>());
    if let (true, TypeRef::Atomic(atomic)) = (had_fill && ty != Atomic::String.into(), ty) {
        variable.attributes.known_mut().put(Attribute::atomic("_FillValue", default_fill(atomic)));
    }
    true
}
