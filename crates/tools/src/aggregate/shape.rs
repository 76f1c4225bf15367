//! What all files of an aggregation have in common, and the role of each of their variables.
use super::AggregateOptions;
use crate::copy::{forget_faults, in_scope};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Attributes, Dataset, Error, LeftOut, Result, Selection, Values};
use ncirrus_model::{Attribute, DimId, Model, NodeId, TypeRef, VarId, Variable};
use std::collections::BTreeSet;
use std::sync::Arc;

/// The definitions of the first file: the others must match them.
pub(super) struct FirstFile {
    pub(super) model: Arc<Model>,
    pub(super) axes: Vec<JoinAxis>,
    /// The axis is a new one, which no file has.
    pub(super) is_new: bool,
    pub(super) members: Vec<FirstVariable>,
    /// What cannot be read from the first file.
    pub(super) left_out: Vec<LeftOut>,
}

/// A dimension along which files are concatenated.
#[derive(Clone)]
pub(crate) struct JoinAxis {
    pub(super) name: String,
    /// The dimension in the files; `None` for a new one.
    pub(crate) dim: Option<DimId>,
    /// The variable that orders the files: its coordinate variable.
    pub(super) coordinate: Option<VarId>,
}

/// A variable of the first file.
pub(super) struct FirstVariable {
    pub(super) var: VarId,
    pub(super) path: String,
    pub(super) role: VariableRole,
    /// The axes that it lies along.
    pub(super) along: Vec<bool>,
}

/// The role of a variable.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum VariableRole {
    /// It stays in the files.
    Aggregated,
    /// The master stores the concatenated values of all files.
    Collected,
    /// It is the same in all files: the master stores it once.
    Common(Option<Values>),
    /// The same, and it lies in fragments of the existing aggregation.
    Kept(Option<Values>),
    /// Without comparable values: a container, or without elements.
    Bare,
}

impl FirstFile {
    /// The definitions of the first file.
    ///
    /// # Errors
    /// `Invalid` if there is no such axis, or it cannot be determined; errors of reading values.
    pub(super) fn of(first: &Dataset, options: &AggregateOptions<'_>) -> Result<Self> {
        let left_out = first.left_out()?;
        let model = readable(first.model()?.as_ref())?;
        let axes = axes(&model, options)?;
        let is_new = options.new_axis.is_some();
        let collected = if is_new { scalars(&model, &axes) } else { coordinates(&model, &axes) };
        let mut members = Vec::new();
        for var in model.variables() {
            let Some(variable) = model.variable(var) else { continue };
            let along: Vec<bool> = axes.iter().map(|axis| axis.is_of(variable)).collect();
            let stays = is_new && described_by_others(&model).contains(&var);
            // Fragments are of atomic types (docs/spec/cfa.md 2.2, 5.1).
            let is_own = matches!(variable.ty, TypeRef::User(_));
            let role = if collected.contains(&var) {
                VariableRole::Collected
            } else if is_new && !stays && !variable.dims.is_empty() {
                if is_own { VariableRole::Collected } else { VariableRole::Aggregated }
            } else if !along.contains(&true) {
                without_axis(&model, var)
            } else if along.contains(&false) || is_own {
                VariableRole::Collected
            } else {
                VariableRole::Aggregated
            };
            let along = if is_new {
                vec![matches!(role, VariableRole::Aggregated | VariableRole::Collected)]
            } else {
                along
            };
            members.push(FirstVariable { var, path: model.variable_path(var), role, along });
        }
        if options.compare {
            read_common(first, &mut members)?;
        }
        Ok(Self { model, axes, is_new, members, left_out })
    }

    /// The definitions of an existing aggregation: its files were like `model`. For each variable it is known which
    /// axes it lies along, and whether it lies in fragments.
    ///
    /// # Errors
    /// If values cannot be read.
    pub(super) fn of_master(
        master: &Dataset,
        model: Model,
        axes: Vec<JoinAxis>,
        is_new: bool,
        of: impl Fn(VarId) -> (Vec<bool>, bool),
        compare: bool,
    ) -> Result<Self> {
        let mut members = Vec::new();
        for var in model.variables() {
            let (along, in_fragments) = of(var);
            let role = match (along.contains(&true), in_fragments) {
                (true, true) => VariableRole::Aggregated,
                (true, false) => VariableRole::Collected,
                (false, in_fragments) => match common(master, var, compare)? {
                    VariableRole::Common(values) if in_fragments => VariableRole::Kept(values),
                    _ if in_fragments => VariableRole::Kept(None),
                    role => role,
                },
            };
            members.push(FirstVariable { var, path: model.variable_path(var), role, along });
        }
        Ok(Self { model: Arc::new(model), axes, is_new, members, left_out: master.left_out()? })
    }

    /// The axis that corresponds to a dimension of the files.
    pub(super) fn axis_of(&self, dim: DimId) -> Option<usize> {
        self.axes.iter().position(|axis| axis.dim == Some(dim))
    }

    /// Attributes of a variable of the first file.
    pub(super) fn attributes(&self, var: VarId) -> Attributes {
        known(&self.model, NodeId::Variable(var))
    }

    /// The index of a variable among those with its role.
    pub(super) fn collected(&self) -> impl Iterator<Item = &FirstVariable> {
        self.members.iter().filter(|member| member.role == VariableRole::Collected)
    }
}

/// The definitions without what cannot be read.
pub(super) fn readable(model: &Model) -> Result<Arc<Model>> {
    let mut sound = model.clone();
    let is_faulty = |var: &VarId| model.variable(*var).is_some_and(|variable| variable.fault.is_some());
    for var in model.variables().into_iter().filter(is_faulty) {
        sound.remove_variable(var)?;
    }
    forget_faults(&mut sound);
    Ok(Arc::new(sound))
}

impl JoinAxis {
    fn is_of(&self, variable: &Variable) -> bool {
        self.dim.is_some_and(|dim| variable.dims.contains(&dim))
    }
}

/// The attributes of a node, as far as they are known.
pub(crate) fn known(model: &Model, node: NodeId) -> Attributes {
    model.attributes(node).and_then(|state| state.known()).cloned().unwrap_or_default()
}

/// The requested axes; else the only unlimited dimension, or the only dimension of time.
fn axes(model: &Model, options: &AggregateOptions<'_>) -> Result<Vec<JoinAxis>> {
    if let Some(name) = &options.new_axis {
        if model.visible_dimension(model.root(), name).is_some() {
            let message = format!("dimension {name:?} already exists: use it as the axis, not as a new one");
            return Err(Error::invalid(message));
        }
        let scalar = model.variable_in(model.root(), name);
        let scalar = scalar.filter(|var| model.variable(*var).is_some_and(|scalar| scalar.dims.is_empty()));
        return Ok(vec![JoinAxis { name: name.clone(), dim: None, coordinate: scalar }]);
    }
    let names = if options.axes.is_empty() { vec![likely_axis(model)?] } else { options.axes.clone() };
    names.into_iter().map(|name| axis(model, &name)).collect()
}

pub(crate) fn axis(model: &Model, name: &str) -> Result<JoinAxis> {
    let by_name = || dimensions(model).find(|dim| model.dimension(*dim).is_some_and(|dim| dim.name == *name));
    let dim = if name.contains('/') { model.dimension_at(name) } else { by_name() };
    let dim = dim.ok_or_else(|| {
        Error::not_found(format!("no dimension {name:?}; --new-axis adds one to files of one step each"))
    })?;
    let name = model.dimension(dim).map(|dim| dim.name.clone()).unwrap_or_default();
    Ok(JoinAxis { name, dim: Some(dim), coordinate: model.coordinate_of(dim) })
}

fn dimensions(model: &Model) -> impl Iterator<Item = DimId> + '_ {
    let groups = model.walk().into_iter().filter_map(|group| model.group(group));
    groups.flat_map(|group| group.dims.iter().copied())
}

pub(crate) fn likely_axis(model: &Model) -> Result<String> {
    let name = |dim: DimId| model.dimension(dim).map(|dim| dim.name.clone());
    let grows = |dim: &DimId| model.dimension(*dim).is_some_and(|dim| dim.len.is_unlimited());
    let unlimited: Vec<String> = dimensions(model).filter(grows).filter_map(name).collect();
    let is_time = |dim: &DimId| {
        model.coordinate_of(*dim).is_some_and(|var| is_time(&known(model, NodeId::Variable(var))))
    };
    let times: Vec<String> = dimensions(model).filter(is_time).filter_map(name).collect();
    match (unlimited.as_slice(), times.as_slice()) {
        ([one], _) | (_, [one]) => Ok(one.clone()),
        _ => Err(Error::invalid(
            "the dimension along which to join the files is not clear: name it with --axis",
        )),
    }
}

/// Whether a coordinate is a time: by its units, `standard_name` or `axis`.
pub(crate) fn is_time(attributes: &Attributes) -> bool {
    let says = |name: &str, is: &dyn Fn(&str) -> bool| {
        attributes.find(name).and_then(Attribute::as_text).is_some_and(|text| is(&text))
    };
    says("units", &|units| units.contains(" since "))
        || says("standard_name", &|name| name == "time")
        || says("axis", &|axis| axis == "T")
}

/// Variables that the master stores whole: the coordinates of the axes with their bounds, and other coordinates along
/// axes only.
fn coordinates(model: &Model, axes: &[JoinAxis]) -> BTreeSet<VarId> {
    let mut found: BTreeSet<VarId> = axes.iter().filter_map(|axis| axis.coordinate).collect();
    let dims: Vec<DimId> = axes.iter().filter_map(|axis| axis.dim).collect();
    let only_axes = |var: &VarId| {
        model.variable(*var).is_some_and(|variable| {
            !variable.dims.is_empty() && variable.dims.iter().all(|dim| dims.contains(dim))
        })
    };
    for var in model.variables() {
        found.extend(named(model, var, &["coordinates"]).into_iter().filter(only_axes));
    }
    with_bounds(model, found)
}

/// With a new axis: scalar coordinates, with their bounds.
fn scalars(model: &Model, axes: &[JoinAxis]) -> BTreeSet<VarId> {
    let mut found: BTreeSet<VarId> = axes.iter().filter_map(|axis| axis.coordinate).collect();
    let is_scalar = |var: &VarId| model.variable(*var).is_some_and(|variable| variable.dims.is_empty());
    for var in model.variables() {
        found.extend(named(model, var, &["coordinates"]).into_iter().filter(is_scalar));
    }
    with_bounds(model, found)
}

fn with_bounds(model: &Model, mut found: BTreeSet<VarId>) -> BTreeSet<VarId> {
    for var in found.clone() {
        found.extend(named(model, var, &["bounds", "climatology"]));
    }
    found
}

/// With a new axis these stay as they are: coordinate variables, and variables that attributes of others name.
fn described_by_others(model: &Model) -> BTreeSet<VarId> {
    const NAMING: [&str; 7] = [
        "coordinates",
        "bounds",
        "climatology",
        "grid_mapping",
        "formula_terms",
        "cell_measures",
        "geometry",
    ];
    let mut found: BTreeSet<VarId> = dimensions(model).filter_map(|dim| model.coordinate_of(dim)).collect();
    for var in model.variables() {
        found.extend(named(model, var, &NAMING));
    }
    found
}

/// The variables that attributes of a variable name.
pub(crate) fn named(model: &Model, var: VarId, attributes: &[&str]) -> Vec<VarId> {
    let Some(variable) = model.variable(var) else { return Vec::new() };
    let home = model.variable_group(var).unwrap_or_else(|| model.root());
    let texts = attributes.iter().filter_map(|name| variable.attributes.known()?.find(name)?.as_text());
    let words: Vec<String> =
        texts.flat_map(|text| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>()).collect();
    words.iter().filter(|word| !word.ends_with(':')).filter_map(|word| in_scope(model, home, word)).collect()
}

/// A variable without the axis, whose values are not read yet.
fn without_axis(model: &Model, var: VarId) -> VariableRole {
    if model.shape(var).contains(&0) { VariableRole::Bare } else { VariableRole::Common(None) }
}

/// Reads the values of all variables without the axis together.
fn read_common(first: &Dataset, members: &mut [FirstVariable]) -> Result<()> {
    let model = first.snapshot();
    let common: Vec<_> =
        members.iter_mut().filter(|member| matches!(member.role, VariableRole::Common(_))).collect();
    let wanted: Vec<_> =
        common.iter().map(|member| (member.var, Selection::all(&model.shape(member.var)))).collect();
    for (member, values) in common.into_iter().zip(first.read_many(&wanted)?) {
        member.role = VariableRole::Common(Some(values));
    }
    Ok(())
}

/// A variable without the axis, with its values unless they are not to be compared.
fn common(first: &Dataset, var: VarId, compare: bool) -> Result<VariableRole> {
    let model = first.snapshot();
    let role = without_axis(&model, var);
    if !compare || !matches!(role, VariableRole::Common(_)) {
        return Ok(role);
    }
    let values = first.read_values(var, &Selection::all(&model.shape(var)));
    Ok(VariableRole::Common(Some(values.map_err(|e| e.at_path(model.variable_path(var)))?)))
}

/// The type of the unpacked values, and whether it differs from the stored one (CF 8.1).
pub(super) fn unpacked(ty: TypeRef, attributes: &Attributes) -> (TypeRef, bool) {
    use ncirrus::Atomic;
    let TypeRef::Atomic(stored) = ty else { return (ty, false) };
    let of = |name: &str| attributes.find(name).and_then(|attribute| attribute.values.atomic());
    let unsigned = attributes
        .find("_Unsigned")
        .and_then(Attribute::as_text)
        .is_some_and(|text| text.eq_ignore_ascii_case("true"));
    match (of("scale_factor"), of("add_offset")) {
        (Some(Atomic::Double), _) | (_, Some(Atomic::Double)) => (Atomic::Double.into(), true),
        (Some(Atomic::Float), _) | (_, Some(Atomic::Float)) => (Atomic::Float.into(), true),
        (Some(_), _) | (_, Some(_)) => (Atomic::Double.into(), true),
        (None, None) => match (unsigned, stored) {
            (true, Atomic::Byte) => (Atomic::Short.into(), true),
            (true, Atomic::Short) => (Atomic::Int.into(), true),
            (true, Atomic::Int) => (Atomic::Double.into(), true),
            _ => (ty, false),
        },
    }
}
