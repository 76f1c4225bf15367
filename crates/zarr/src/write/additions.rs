//! Definitions that mostly add members: the work is in proportion to what they add. Whatever is more than that, or cannot be stored,
//! is left to the walk through the whole model, which also reports errors.
use super::definitions::{PlannedVariable, check_unchanged};
use super::names;
use super::placer::ZarrPlacer;
use ncirrus_layout::Result;
use ncirrus_model::{Changes, GroupId, Model, NodeId, VarId};

/// What is added to a dataset.
#[derive(Default)]
struct Additions {
    groups: Vec<(GroupId, String)>,
    vars: Vec<PlannedVariable>,
}

impl ZarrPlacer {
    /// Applies what was added to the model since the last definition; nothing is changed, and `false` is returned, if more changed
    /// or if it cannot be stored.
    pub(super) fn define_additions(&mut self, model: &Model, changes: &Changes) -> bool {
        let Some(Additions { groups, vars }) = self.additions(model, changes) else { return false };
        self.defined.group_slots = model.group_slots();
        self.defined.groups.extend(groups);
        vars.into_iter().for_each(|new| self.defined.insert(new));
        true
    }

    fn additions(&self, model: &Model, changes: &Changes) -> Option<Additions> {
        if self.defined.root_array.is_some()
            || !changes.groups().is_empty()
            || self.check_added_names(model, changes).is_err()
        {
            return None;
        }
        let mut added = Additions::default();
        for id in model.groups_from(self.defined.group_slots) {
            let group = model.group(id)?;
            let key = model.group_path(id).trim_start_matches('/').to_owned();
            if model.subgroup(group.parent?, &group.name) != Some(id) || self.defined.removed.contains(&key) {
                return None;
            }
            added.groups.push((id, key));
        }
        for id in changes.variables() {
            if model.variable(id).is_none() && !self.is_known(id) {
                continue;
            }
            added.vars.extend(self.added_variable(model, id)?);
        }
        Some(added)
    }

    fn is_known(&self, var: VarId) -> bool {
        self.defined.plans.contains_key(&var) || self.closed.contains_key(&var)
    }

    /// How a changed variable is stored, if that is chosen now; the outer `None` if that cannot be found out here.
    fn added_variable(&self, model: &Model, var: VarId) -> Option<Option<PlannedVariable>> {
        let variable = model.variable(var)?;
        let key = model.variable_path(var).trim_start_matches('/').to_owned();
        match self.defined.plans.get(&var) {
            Some(plan) if plan.key == key => {}
            None if !self.closed.contains_key(&var) => {
                let is_first = model.variable_in(model.variable_group(var)?, &variable.name) == Some(var);
                if !is_first || self.defined.removed.contains(&key) {
                    return None;
                }
            }
            _ => return None,
        }
        match self.defined.states.get(&var) {
            Some(state) if state.extent.is_some() || state.has_data => {
                check_unchanged(&state.described, variable).ok().map(|()| None)
            }
            Some(state) if state.described == *variable => Some(None),
            _ => {
                let new = PlannedVariable::new(&self.writer, model, var, key).ok()?;
                Some(Some(new.with_added_chunks(&self.defined)))
            }
        }
    }

    fn check_added_names(&self, model: &Model, changes: &Changes) -> Result<()> {
        let dialect = self.writer.dialect;
        for group in model.groups_from(self.defined.group_slots).filter_map(|id| model.group(id)) {
            names::check_member(&group.name, dialect)?;
        }
        for dimension in changes.dimensions().iter().filter_map(|id| model.dimension(*id)) {
            names::check_dimension(&dimension.name)?;
        }
        for &id in changes.described_variables() {
            let Some(variable) = model.variable(id) else { continue };
            names::check_member(&variable.name, dialect)?;
            self.check_attributes(model, NodeId::Variable(id))?;
        }
        changes.attribute_lists().iter().try_for_each(|node| self.check_attributes(model, *node))?;
        for (node, name) in changes.attributes_set() {
            let old = self.present.as_ref().and_then(|present| present.model.attributes(node)?.known());
            if old.is_none_or(|old| old.find(name).is_none()) {
                names::check_attribute(name)?;
            }
        }
        Ok(())
    }
}
