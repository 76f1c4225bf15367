//! Removing the description of fragments from a model.
use ncirrus_model::{DimId, GroupId, Model, VarId};
use std::collections::BTreeSet;

/// Removes variables and groups, the dimensions that only they use, and the groups that become empty.
pub(crate) fn hide_internal(
    model: &mut Model,
    variables: impl IntoIterator<Item = VarId>,
    groups: &[GroupId],
) {
    let mut variables: BTreeSet<VarId> = variables.into_iter().collect();
    let mut dims = BTreeSet::new();
    let below: Vec<GroupId> = groups.iter().flat_map(|group| all_below(model, *group)).collect();
    for group in below.iter().filter_map(|id| model.group(*id)) {
        variables.extend(&group.vars);
        dims.extend(group.dims.iter().copied());
    }
    let mut touched: BTreeSet<GroupId> = below.into_iter().collect();
    let listed: BTreeSet<GroupId> = touched.clone();
    for id in variables {
        touched.extend(model.variable_group(id));
        if let Ok(variable) = model.remove_variable(id) {
            dims.extend(variable.dims);
        }
    }
    touched.extend(dims.iter().filter_map(|dim| model.dimension_group(*dim)));
    dims.into_iter().for_each(|dim| remove_unused(model, dim));
    // Inner groups have higher numbers than those around them.
    for group in touched.into_iter().rev() {
        remove_empty(model, group, &listed);
    }
}

/// A group and all below it.
fn all_below(model: &Model, group: GroupId) -> Vec<GroupId> {
    let mut all = Vec::new();
    let mut stack = vec![group];
    while let Some(id) = stack.pop() {
        if let Some(group) = model.group(id) {
            all.push(id);
            stack.extend(&group.groups);
        }
    }
    all
}

fn remove_unused(model: &mut Model, dim: DimId) {
    if model.users_of(dim).next().is_none() {
        // It exists and is unused: this cannot fail.
        _ = model.remove_dimension(dim);
    }
}

/// Removes a group that is empty now, and enclosing ones that held nothing else. A group with attributes is kept,
/// unless it is listed.
fn remove_empty(model: &mut Model, group: GroupId, listed: &BTreeSet<GroupId>) {
    let mut at = Some(group);
    while let Some(id) = at {
        let Some(group) = model.group(id) else { return };
        at = group.parent;
        let has_attributes = group.attributes.known().is_some_and(|attributes| !attributes.is_empty());
        if !group.is_empty() || (has_attributes && !listed.contains(&id)) {
            return;
        }
        if model.remove_group(id).is_err() {
            return;
        }
    }
}
