//! Adding aggregated variables to a dataset.
use crate::catalog::{AggregateCatalog, AggregatedVariable};
use crate::describe::FragmentDescription;
use crate::detect::{DetectedScheme, DetectedVariable, DetectionResult};
use crate::hide::hide_internal;
use crate::subject::{AggregationSubject, MasterDataset, OpenChoices};
use ncirrus_layout::{
    Error, FragmentAbsence, FragmentPacking, FragmentRules, ObjectId, Result, Step, View, join_each,
};
use ncirrus_model::{
    AttributeState, Attributes, DimId, DimensionLen, Endianness, Fault, Fill, Model, Storage, TypeRef,
    Values, VarId, default_fill,
};
use std::collections::{BTreeMap, HashMap};
use std::sync::{Arc, OnceLock};

/// The description of an aggregated variable, and its dimensions.
struct PreparedVariable {
    subject: Arc<AggregationSubject>,
    description: FragmentDescription,
    dims: Vec<DimId>,
}

/// Lengths of dimensions.
type DimensionLengths = Vec<(DimId, u64)>;

/// The dataset as it is to be shown.
///
/// # Errors
/// A need; errors in a variable are recorded in its place.
pub(crate) fn overlay(
    view: &dyn View,
    root: &ObjectId,
    inner: MasterDataset,
    finds: DetectionResult,
    choices: &Arc<OpenChoices>,
) -> Step<AggregateCatalog> {
    let fills = join_each(&finds.aggregated, |found| stored_fill(view, &inner, found))?;
    let pairs = finds.aggregated.iter().zip(fills);
    let prepared: Vec<Result<PreparedVariable>> =
        pairs.map(|(found, fill)| prepare(&inner, found, fill?, choices)).collect();
    let lengths = unwritten(view, &inner, &prepared)?;
    let mut overlay =
        AggregationOverlay { root, model: Model::clone(&inner.model), inner, warnings: Vec::new() };
    overlay.grow(&lengths);
    let mut variables = HashMap::new();
    for ((found, prepared), length) in finds.aggregated.into_iter().zip(prepared).zip(lengths) {
        let id = found.variable;
        let sound = prepared.and_then(|prepared| length.map(|_| prepared));
        overlay.show(id, found.attributes, sound.as_ref());
        if let Ok(PreparedVariable { subject, description, .. }) = sound {
            variables.insert(id, AggregatedVariable { subject, description, index: OnceLock::new() });
        }
    }
    let misshapen = overlay.misshapen(&finds.misshapen);
    Ok(AggregateCatalog { misshapen, ..overlay.finish(variables, finds.private) })
}

/// The value of unwritten elements of a user-defined type: that of the scalar that represents the variable.
fn stored_fill(view: &dyn View, inner: &MasterDataset, found: &DetectedVariable) -> Step<Option<Values>> {
    let variable = inner.model.variable(found.variable).filter(|variable| variable.fault.is_none());
    match variable.map(|variable| (variable.ty, variable.fill_value())) {
        Some((TypeRef::User(_), None)) => Ok(Some(inner.catalog.source(view, found.variable)?.fill)),
        Some((_, fill)) => Ok(fill),
        None => Ok(None),
    }
}

fn prepare(
    inner: &MasterDataset,
    found: &DetectedVariable,
    fill: Option<Values>,
    choices: &Arc<OpenChoices>,
) -> Result<PreparedVariable> {
    let model = &inner.model;
    let scheme = found.scheme.as_ref().map_err(Clone::clone)?;
    let missing = || Error::internal("a variable that is not there");
    let group = model.variable_group(found.variable).ok_or_else(missing)?;
    let variable = model.variable(found.variable).ok_or_else(missing)?;
    if let Some(fault) = &variable.fault {
        return Err(fault.clone().into());
    }
    let (DetectedScheme::Terms { dimensions, .. }
    | DetectedScheme::Table { dimensions, .. }
    | DetectedScheme::Json { dimensions }) = scheme;
    let names: Vec<String> = dimensions.split_whitespace().map(str::to_owned).collect();
    let dim = |name: &String| {
        let found = model.visible_dimension(group, name).or_else(|| model.dimension_at(name));
        found.ok_or_else(|| Error::not_found(format!("no dimension {name}, which the aggregated data have")))
    };
    let dims = names.iter().map(dim).collect::<Result<_>>()?;
    let attributes = found.attributes.clone();
    let subject = AggregationSubject {
        variable: found.variable,
        path: model.variable_path(found.variable),
        group,
        group_path: model.group_path(group).into(),
        dimensions: names,
        fill: missing_value(&attributes, variable.ty, fill)?,
        rules: Arc::new(rules(attributes, scheme, choices)),
        choices: Arc::clone(choices),
    };
    let description = FragmentDescription::new(inner, &subject, scheme)?;
    Ok(PreparedVariable { subject: Arc::new(subject), description, dims })
}

fn rules(attributes: Attributes, scheme: &DetectedScheme, choices: &OpenChoices) -> FragmentRules {
    let (packing, absent) = match scheme {
        DetectedScheme::Terms { .. } => (FragmentPacking::Unpack, FragmentAbsence::Error),
        DetectedScheme::Table { .. } | DetectedScheme::Json { .. } => {
            (FragmentPacking::Same, FragmentAbsence::Fill)
        }
    };
    FragmentRules { attributes, packing, absent, is_strict: !choices.lenient }
}

/// The value of missing elements: `_FillValue`, else `missing_value`, else the default of the type (docs/spec/cfa.md
/// 6.5).
fn missing_value(attributes: &Attributes, ty: TypeRef, fill: Option<Values>) -> Result<Values> {
    let named = |name: &str| attributes.find(name).map(|attribute| attribute.values.slice(0..1));
    let own = ["_FillValue", "missing_value"].into_iter().filter_map(named);
    let mut fitting = own.filter(|value| value.is_of(ty) && value.len() == 1);
    let default = || match ty {
        TypeRef::Atomic(atomic) => Some(default_fill(atomic)),
        TypeRef::User(_) => fill,
    };
    let value = fitting.next().or_else(default);
    value.ok_or_else(|| Error::unsupported("aggregated data of a type without a fill value"))
}

/// Lengths that aggregated variables give to dimensions without written data (docs/spec/cfa.md 5.2); an error if the
/// description that determines one is invalid.
fn unwritten(
    view: &dyn View,
    inner: &MasterDataset,
    all: &[Result<PreparedVariable>],
) -> Step<Vec<Result<DimensionLengths>>> {
    join_each(all, |prepared| {
        let Ok(prepared) = prepared else { return Ok(Vec::new()) };
        let len = |dim: &DimId| match inner.model.dimension(*dim).map(|dimension| dimension.len) {
            Some(DimensionLen::Unlimited(0)) => None,
            Some(len) => Some(len.current()),
            None => Some(0),
        };
        let lengths: Vec<Option<u64>> = prepared.dims.iter().map(len).collect();
        if !lengths.contains(&None) {
            return Ok(Vec::new());
        }
        let index = prepared.description.index(view, inner, &prepared.subject, &lengths)?;
        let found = prepared.dims.iter().zip(lengths).zip(index.lengths);
        Ok(found.filter(|((_, len), _)| len.is_none()).map(|((dim, _), len)| (*dim, len)).collect())
    })
}

/// A model being built.
struct AggregationOverlay<'a> {
    root: &'a ObjectId,
    inner: MasterDataset,
    model: Model,
    warnings: Vec<String>,
}

impl AggregationOverlay<'_> {
    fn grow(&mut self, lengths: &[Result<DimensionLengths>]) {
        for (dim, len) in lengths.iter().flatten().flatten() {
            // The dimension exists and is unlimited: this cannot fail.
            _ = self.model.grow(*dim, *len);
        }
    }

    /// Turns a scalar into an aggregated variable, or marks it as damaged.
    fn show(
        &mut self,
        id: VarId,
        attributes: Attributes,
        prepared: std::result::Result<&PreparedVariable, &Error>,
    ) {
        let path = self.model.variable_path(id);
        let Some(variable) = self.model.variable_mut(id) else { return };
        match prepared {
            Ok(prepared) => {
                variable.take_attributes(AttributeState::Known(attributes));
                variable.dims.clone_from(&prepared.dims);
                variable.storage = Storage::Virtual;
                variable.endianness = Endianness::Native;
                variable.filters.clear();
                if !variable.is_filled() {
                    variable.fill = Fill::Attribute;
                }
                self.warnings.extend(prepared.description.warnings(&prepared.subject));
            }
            Err(error) => {
                let error = error.clone().at_path(path).at_object(self.root);
                variable.fault = Some(Fault::from(&error));
            }
        }
    }

    /// Reports variables that should be scalars (docs/spec/cfa.md 5.1), and the value of their elements, all missing.
    fn misshapen(&mut self, found: &[(VarId, Attributes)]) -> HashMap<VarId, Values> {
        let mut fills = HashMap::new();
        for (id, attributes) in found {
            let Some(variable) = self.inner.model.variable(*id) else { continue };
            let names = variable.dims.iter().filter_map(|dim| self.inner.model.dimension(*dim));
            let names: Vec<&str> = names.map(|dim| dim.name.as_str()).collect();
            self.warnings.push(format!(
                "{} is aggregated but not a scalar (it has the dimensions {}): its values are missing",
                self.inner.model.variable_path(*id),
                names.join(", ")
            ));
            if let Ok(fill) = missing_value(attributes, variable.ty, variable.fill_value()) {
                fills.insert(*id, fill);
            }
        }
        fills
    }

    fn finish(
        mut self,
        variables: HashMap<VarId, AggregatedVariable>,
        private: Vec<VarId>,
    ) -> AggregateCatalog {
        let mut hidden = private;
        let mut groups = Vec::new();
        for found in variables.values() {
            let (plumbing, group) = found.description.plumbing();
            hidden.extend(plumbing);
            groups.extend(group);
        }
        hidden.retain(|id| !variables.contains_key(id));
        hide_internal(&mut self.model, hidden, &groups);
        let summary = summary(&self.inner, &variables);
        AggregateCatalog {
            inner: self.inner,
            model: Arc::new(self.model),
            variables,
            misshapen: HashMap::new(),
            warnings: self.warnings,
            summary,
        }
    }
}

/// Such as `CF-1.13, 3 variables of 72 fragments`.
fn summary(inner: &MasterDataset, variables: &HashMap<VarId, AggregatedVariable>) -> String {
    let mut by_convention: BTreeMap<&str, (usize, Option<u64>)> = BTreeMap::new();
    for found in variables.values() {
        let entry = by_convention.entry(found.description.convention()).or_insert((0, Some(0)));
        entry.0 += 1;
        let fragments = found.description.fragments(inner, &found.subject);
        entry.1 = entry.1.zip(fragments).and_then(|(all, more)| all.checked_add(more));
    }
    let line = |(convention, (count, fragments)): (&str, (usize, Option<u64>))| {
        let s = if count == 1 { "" } else { "s" };
        match fragments {
            Some(1) => format!("{convention}, {count} variable{s} of 1 fragment"),
            Some(fragments) => format!("{convention}, {count} variable{s} of {fragments} fragments"),
            None => format!("{convention}, {count} variable{s}"),
        }
    };
    by_convention.into_iter().map(line).collect::<Vec<_>>().join("; ")
}
