//! The users of dimensions: which variables extend along each.
use super::{DimId, GroupId, Model, VarId, Variable};
use std::collections::BTreeSet;
use std::sync::OnceLock;

/// What is known of users: nothing before the first query, and in a copy of a model.
#[derive(Debug, Default)]
pub(super) struct DimensionUsers(OnceLock<UserPairs>);

/// Dimensions with their users.
#[derive(Debug, Default)]
struct UserPairs {
    pairs: BTreeSet<(DimId, VarId)>,
    /// A variable that was lent for changing. It is not in the pairs, as its dimensions may be others by now.
    apart: Option<VarId>,
}

/// A copy of the model finds out by itself.
impl Clone for DimensionUsers {
    fn clone(&self) -> Self {
        Self::default()
    }
}

type VariableSlot = Option<(GroupId, Variable)>;

impl UserPairs {
    fn of(vars: &[VariableSlot]) -> Self {
        let ids = (0..super::next_id(vars.len())).map(VarId);
        Self { pairs: ids.flat_map(|id| pairs(vars, id)).collect(), apart: None }
    }

    /// Adds the variable that was lent.
    fn take_back(&mut self, vars: &[VariableSlot]) {
        if let Some(id) = self.apart.take() {
            self.pairs.extend(pairs(vars, id));
        }
    }

    fn remove(&mut self, vars: &[VariableSlot], id: VarId) {
        for pair in pairs(vars, id) {
            self.pairs.remove(&pair);
        }
    }
}

fn pairs(vars: &[VariableSlot], id: VarId) -> impl Iterator<Item = (DimId, VarId)> {
    let variable = vars.get(id.index()).and_then(Option::as_ref).map(|(_, variable)| variable);
    variable.into_iter().flat_map(|variable| &variable.dims).map(move |dim| (*dim, id))
}

impl DimensionUsers {
    /// Notes that a variable's dimensions may change without notice.
    pub(super) fn lend(&mut self, vars: &[VariableSlot], id: VarId) {
        let Some(known) = self.0.get_mut() else { return };
        if known.apart != Some(id) {
            known.take_back(vars);
            known.remove(vars, id);
            known.apart = Some(id);
        }
    }

    /// Removes a variable that is about to leave its table, or to be replaced there.
    pub(super) fn remove(&mut self, vars: &[VariableSlot], id: VarId) {
        let Some(known) = self.0.get_mut() else { return };
        known.take_back(vars);
        known.remove(vars, id);
    }

    /// Adds a variable of the table.
    pub(super) fn add(&mut self, vars: &[VariableSlot], id: VarId) {
        if let Some(known) = self.0.get_mut() {
            known.pairs.extend(pairs(vars, id));
        }
    }

    /// Forgets everything: it is determined again at the next query.
    pub(super) fn forget(&mut self) {
        self.0.take();
    }
}

impl Model {
    /// The variables that use a dimension, in the order in which they were added. The work depends on their number, not on that of
    /// all variables.
    pub fn users_of(&self, dim: DimId) -> impl Iterator<Item = VarId> + '_ {
        let known = self.users.0.get_or_init(|| UserPairs::of(&self.vars));
        let apart = known.apart.filter(|id| pairs(&self.vars, *id).any(|(used, _)| used == dim));
        let (first, last) = ((dim, VarId(0)), (dim, VarId(u32::MAX)));
        let middle = apart.map_or(last, |id| (dim, id));
        // The one that was lent is not in the pairs.
        let before = known.pairs.range(first..middle);
        let after = known.pairs.range(middle..=last);
        let id = |pair: &(DimId, VarId)| pair.1;
        before.map(id).chain(apart).chain(after.map(id))
    }
}
