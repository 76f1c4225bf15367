//! Which variables are copied, and which part of each dimension.
use super::CopyOptions;
use super::chunking::names;
use ncirrus::{AxisSelection, Error, Member, Result};
use ncirrus_model::{DimId, GroupId, Model, VarId};
use std::collections::{BTreeMap, BTreeSet};

/// The members that are copied.
pub(super) struct CopyChoice {
    /// Variables, in the order of the model.
    pub(super) variables: Vec<VarId>,
    /// Groups that are copied; `None`: all that are needed.
    pub(super) groups: Option<BTreeSet<GroupId>>,
    /// Those of which the data are copied, too.
    pub(super) with_data: BTreeSet<VarId>,
    /// Dimensions that are copied in part.
    pub(super) parts: BTreeMap<DimId, AxisSelection>,
}

impl CopyChoice {
    /// Applies the options to a model.
    ///
    /// # Errors
    /// `NotFound` for an unknown name, `Invalid` if two selections need different parts of a dimension.
    pub(super) fn make(model: &Model, options: &CopyOptions<'_>, left_out: &[String]) -> Result<Self> {
        let parts = selected_parts(model, options)?;
        let mut chosen = wanted_variables(model, options)?;
        if let Some(chosen) = chosen.as_mut().filter(|_| !options.alone) {
            add_coordinates(model, chosen);
        }
        let groups = if options.alone {
            lone_groups(model, &options.groups)?
        } else {
            wanted_groups(model, &options.groups)?
        };
        let mut variables = model.variables();
        variables.retain(|var| !left_out.contains(&model.variable_path(*var)));
        variables.retain(|var| chosen.as_ref().is_none_or(|chosen| chosen.contains(var)));
        variables.retain(|var| match (&groups, model.variable_group(*var)) {
            (Some(groups), Some(home)) => groups.contains(&home),
            _ => true,
        });
        let with_data = with_data(model, options, &variables)?;
        let groups = groups.filter(|_| options.alone);
        Ok(Self { variables, groups, with_data, parts })
    }

    /// Whether data are copied that extend along a dimension.
    pub(super) fn has_data_along(&self, model: &Model, dim: DimId) -> bool {
        model.users_of(dim).any(|var| self.with_data.contains(&var))
    }
}

/// The variables of which data are copied.
fn with_data(model: &Model, options: &CopyOptions<'_>, copied: &[VarId]) -> Result<BTreeSet<VarId>> {
    if options.definitions_only {
        return Ok(BTreeSet::new());
    }
    let mut chosen: BTreeSet<VarId> = copied.iter().copied().collect();
    if !options.data_of.is_empty() {
        let wanted = matching(model, &options.data_of, true)?;
        chosen.retain(|var| wanted.contains(var));
    }
    if !options.data_of_groups.is_empty() {
        let groups = named_groups(model, &options.data_of_groups)?;
        chosen.retain(|var| model.variable_group(*var).is_some_and(|home| groups.contains(&home)));
    }
    Ok(chosen)
}

/// Whether a name means a member: an absolute path is the whole path, any other its end.
pub(crate) fn ends_with(path: &str, name: &str) -> bool {
    if name.starts_with('/') {
        return path == name;
    }
    path.strip_suffix(name).is_some_and(|before| before.ends_with('/'))
}

/// The groups of these names, without those below them.
fn named_groups(model: &Model, names: &[String]) -> Result<BTreeSet<GroupId>> {
    let mut wanted = BTreeSet::new();
    for name in names {
        let found: Vec<GroupId> =
            model.walk().into_iter().filter(|id| ends_with(&model.group_path(*id), name)).collect();
        if found.is_empty() {
            return Err(Error::no_member(Member::Group, format_args!("{name:?}")));
        }
        wanted.extend(found);
    }
    Ok(wanted)
}

/// The named groups alone; `None` for all.
fn lone_groups(model: &Model, names: &[String]) -> Result<Option<BTreeSet<GroupId>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let wanted = named_groups(model, names)?;
    for group in &wanted {
        let is_missing = |above: &GroupId| *above != model.root() && !wanted.contains(above);
        if let Some(missing) = model.scope(*group).into_iter().find(is_missing) {
            let (group, missing) = (model.group_path(*group), model.group_path(missing));
            let message = format!("group {group} cannot be copied without {missing}, which is not named");
            return Err(Error::invalid(message));
        }
    }
    Ok(Some(wanted))
}

/// The part of each dimension that `--select` requests.
fn selected_parts(model: &Model, options: &CopyOptions<'_>) -> Result<BTreeMap<DimId, AxisSelection>> {
    let mut parts: BTreeMap<DimId, AxisSelection> = BTreeMap::new();
    for select in &options.select {
        let var = find(model, &select.path)?;
        let shape = model.shape(var);
        let selection = select.resolve(&shape)?;
        let dims = model.variable(var).map(|variable| variable.dims.clone()).unwrap_or_default();
        for ((dim, axis), len) in dims.into_iter().zip(selection.axes()).zip(shape) {
            if *axis == (AxisSelection::Slice { start: 0, count: len, stride: 1 }) {
                continue;
            }
            if parts.insert(dim, axis.clone()).is_some_and(|other| other != *axis) {
                let message = format!("two selections give different parts of {}", model.dimension_path(dim));
                return Err(Error::invalid(message).at_path(&*select.path));
            }
        }
    }
    Ok(parts)
}

/// The named variables, or `None` for all.
fn wanted_variables(model: &Model, options: &CopyOptions<'_>) -> Result<Option<BTreeSet<VarId>>> {
    if options.variables.is_empty() && options.select.is_empty() {
        return Ok(None);
    }
    let mut wanted = BTreeSet::new();
    for select in &options.select {
        wanted.insert(find(model, &select.path)?);
    }
    wanted.extend(matching(model, &options.variables, options.alone)?);
    Ok(Some(wanted))
}

/// The variables of these names: paths or simple names, or ends of paths.
fn matching(model: &Model, given: &[String], by_end: bool) -> Result<BTreeSet<VarId>> {
    let mut wanted = BTreeSet::new();
    for name in given {
        let is = |var: &VarId| {
            if by_end { ends_with(&model.variable_path(*var), name) } else { names(model, *var, name) }
        };
        let found: Vec<VarId> = model.variables().into_iter().filter(is).collect();
        if found.is_empty() {
            return Err(Error::no_member(Member::Variable, format_args!("{name:?}")));
        }
        wanted.extend(found);
    }
    Ok(wanted)
}

fn find(model: &Model, path: &str) -> Result<VarId> {
    let by_path = model.variable_at(path);
    let by_name = || model.variables().into_iter().find(|var| names(model, *var, path));
    by_path.or_else(by_name).ok_or_else(|| Error::no_member(Member::Variable, format_args!("{path:?}")))
}

/// Adds what the variables need to be interpreted: coordinate variables, and those that CF attributes name.
fn add_coordinates(model: &Model, chosen: &mut BTreeSet<VarId>) {
    const NAMING: [&str; 6] =
        ["coordinates", "bounds", "grid_mapping", "ancillary_variables", "formula_terms", "cell_measures"];
    let mut queue: Vec<VarId> = chosen.iter().copied().collect();
    while let Some(var) = queue.pop() {
        let Some(variable) = model.variable(var) else { continue };
        let mut needed: Vec<VarId> =
            variable.dims.iter().filter_map(|dim| model.coordinate_of(*dim)).collect();
        let group = model.variable_group(var);
        let named = NAMING.iter().filter_map(|name| variable.attributes.known()?.find(name)?.as_text());
        for text in named {
            let words = text.split_whitespace().filter(|word| !word.ends_with(':'));
            needed.extend(words.filter_map(|word| in_scope(model, group?, word)));
        }
        queue.extend(needed.into_iter().filter(|var| chosen.insert(*var)));
    }
}

/// The variable that a name in an attribute refers to: in the group or the nearest enclosing one, or by path.
pub(crate) fn in_scope(model: &Model, group: GroupId, word: &str) -> Option<VarId> {
    if word.starts_with('/') {
        return model.variable_at(word);
    }
    model.scope(group).into_iter().find_map(|group| model.variable_in(group, word))
}

/// The named groups, with all below them; `None` for all.
fn wanted_groups(model: &Model, names: &[String]) -> Result<Option<BTreeSet<GroupId>>> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut wanted = BTreeSet::new();
    for name in names {
        let path = format!("/{}", name.trim_matches('/'));
        let is = |id: &GroupId| {
            let own = model.group_path(*id);
            own == path || (!name.contains('/') && model.group(*id).is_some_and(|group| group.name == *name))
        };
        let tops: Vec<GroupId> = model.walk().into_iter().filter(is).collect();
        if tops.is_empty() {
            return Err(Error::no_member(Member::Group, format_args!("{name:?}")));
        }
        wanted.extend(
            model.walk().into_iter().filter(|id| model.scope(*id).iter().any(|above| tops.contains(above))),
        );
    }
    Ok(Some(wanted))
}
