//! Finding the variables that attributes name (CF, section 2.7).
use ncirrus_model::{GroupId, Model, VarId};

/// The variable that a name in an attribute of a variable of `group` refers to: by its path, or by a path relative to
/// the group or an enclosing one.
pub(crate) fn variable(model: &Model, group: GroupId, name: &str) -> Option<VarId> {
    if name.starts_with('/') {
        return model.variable_at(name);
    }
    model.scope(group).into_iter().find_map(|group| below(model, group, name))
}

/// The group that a name in an attribute of a variable of `group` refers to.
pub(crate) fn group(model: &Model, group: GroupId, name: &str) -> Option<GroupId> {
    if name.starts_with('/') {
        return model.group_at(name);
    }
    model.scope(group).into_iter().find_map(|group| steps(model, group, name))
}

fn below(model: &Model, group: GroupId, name: &str) -> Option<VarId> {
    let (path, name) = name.rsplit_once('/').unwrap_or(("", name));
    model.variable_in(steps(model, group, path)?, name)
}

fn steps(model: &Model, group: GroupId, path: &str) -> Option<GroupId> {
    let mut steps = path.split('/').filter(|step| !step.is_empty());
    steps.try_fold(group, |group, step| match step {
        "." => Some(group),
        ".." => model.group(group)?.parent,
        name => model.subgroup(group, name),
    })
}
