//! Which members are printed.
use crate::{CdlError, PrintOptions};
use ncirrus_model::{GroupId, Model, VarId};
use std::collections::HashSet;

/// The members that `-v` and `-g` select; `None` if they are not limited.
#[derive(Debug)]
pub(crate) struct MemberChoice {
    variables: Option<HashSet<VarId>>,
    groups: Option<HashSet<GroupId>>,
}

impl MemberChoice {
    /// The members that the options name.
    ///
    /// # Errors
    /// If they name a variable or group that does not exist.
    pub(crate) fn new(model: &Model, options: &PrintOptions) -> Result<Self, CdlError> {
        let variables = choose(&options.variables, |name| {
            if name.starts_with('/') {
                return model.variable_at(name).into_iter().collect();
            }
            if let Some((path, simple)) = name.rsplit_once('/') {
                let groups = groups_below(model, path).into_iter();
                return groups.filter_map(|group| model.variable_in(group, simple)).collect();
            }
            model.walk().into_iter().filter_map(|group| model.variable_in(group, name)).collect()
        });
        let groups = choose(&options.groups, |name| {
            if name.starts_with('/') {
                return model.group_at(name).into_iter().collect();
            }
            groups_below(model, name)
        });
        Ok(Self {
            variables: variables.map_err(CdlError::NoSuchVariable)?,
            groups: groups.map_err(CdlError::NoSuchGroup)?,
        })
    }

    pub(crate) fn has_variable(&self, id: VarId) -> bool {
        self.variables.as_ref().is_none_or(|chosen| chosen.contains(&id))
    }

    pub(crate) fn has_group(&self, id: GroupId) -> bool {
        self.groups.as_ref().is_none_or(|chosen| chosen.contains(&id))
    }
}

/// All groups that a relative path leads to, from whichever group.
fn groups_below(model: &Model, path: &str) -> Vec<GroupId> {
    let ending = format!("/{path}");
    model.walk().into_iter().filter(|id| model.group_path(*id).ends_with(&ending)).collect()
}

/// Whether the variables and groups that the options name exist.
///
/// # Errors
/// `NoSuchVariable`, `NoSuchGroup` with the first name that does not.
pub fn has_members(model: &Model, options: &PrintOptions) -> Result<(), CdlError> {
    MemberChoice::new(model, options).map(|_| ())
}

/// The members that the names match; the first name without a match is an error.
fn choose<Id: std::hash::Hash + Eq>(
    names: &[String],
    find: impl Fn(&str) -> Vec<Id>,
) -> Result<Option<HashSet<Id>>, String> {
    if names.is_empty() {
        return Ok(None);
    }
    let mut chosen = HashSet::new();
    for name in names {
        let found = find(name);
        if found.is_empty() {
            return Err(name.clone());
        }
        chosen.extend(found);
    }
    Ok(Some(chosen))
}
