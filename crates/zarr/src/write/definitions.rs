//! What is defined of a dataset: the variables with their plans, the groups, and what a change of definitions puts at once.
use super::ZarrWriter;
use super::cells::CellSet;
use super::plan::{self, VariablePlan};
use super::removed_trees::RemovedTrees;
use ncirrus_layout::{Error, ObjectId, Result, StorePut};
use ncirrus_model::{GroupId, Model, VarId, Variable};
use std::collections::{HashMap, HashSet};
use std::sync::Arc;

/// What a definition may change; replaced as a whole, so that a failed definition changes nothing.
#[derive(Debug, Clone, Default)]
pub(crate) struct DefinedState {
    pub(crate) plans: HashMap<VarId, Arc<VariablePlan>>,
    pub(crate) states: HashMap<VarId, Arc<VariableState>>,
    /// Keys of the groups.
    pub(crate) groups: HashMap<GroupId, String>,
    /// How many groups there ever were.
    pub(crate) group_slots: usize,
    /// Trees to be removed after the next commit.
    pub(crate) removed: RemovedTrees,
    /// The array that is the whole dataset, at the root.
    pub(crate) root_array: Option<VarId>,
}

/// The history of a variable.
#[derive(Debug, Clone)]
pub(crate) struct VariableState {
    /// Its description when its storage was planned.
    pub(crate) described: Variable,
    /// The committed shape; `None` if there is none.
    pub(crate) extent: Option<Vec<u64>>,
    /// Chunks that were placed outside of it.
    pub(crate) placed: CellSet,
    /// Whether any chunk was placed.
    pub(crate) has_data: bool,
}

impl DefinedState {
    /// Applies the definitions of a model; returns what must be put before data are placed.
    pub(super) fn redefine(
        &mut self,
        writer: &ZarrWriter,
        closed: &HashMap<VarId, Error>,
        model: &Model,
    ) -> Result<DefinitionMoves> {
        let taken = self.plans.values().map(|plan| plan.key.clone()).collect();
        let mut moves = DefinitionMoves { taken, ..DefinitionMoves::default() };
        let alive: HashSet<VarId> = model.variables().into_iter().collect();
        let gone: Vec<VarId> = self.plans.keys().filter(|var| !alive.contains(var)).copied().collect();
        for var in gone {
            let committed = self.states.remove(&var).is_some_and(|state| state.extent.is_some());
            if let Some(plan) = self.plans.remove(&var) {
                moves.taken.remove(&plan.key);
                let key = plan.key.clone();
                if committed { self.removed.push(key) } else { moves.dropped.push(key) }
            }
        }
        self.redefine_groups(model)?;
        for var in model.variables() {
            if self.plans.contains_key(&var) || !closed.contains_key(&var) {
                self.redefine_variable(writer, model, var, &mut moves)
                    .map_err(|error| error.at_path(model.variable_path(var)))?;
            }
        }
        Ok(moves)
    }

    fn redefine_groups(&mut self, model: &Model) -> Result<()> {
        let key = |id: GroupId| model.group_path(id).trim_start_matches('/').to_owned();
        let alive: HashMap<GroupId, String> = model.walk().into_iter().map(|id| (id, key(id))).collect();
        for (id, key) in &alive {
            if self.groups.get(id) != Some(key) && self.removed.contains(key) {
                return Err(not_free(key));
            }
        }
        for (id, key) in &self.groups {
            if alive.get(id) != Some(key) {
                self.removed.push(key.clone());
            }
        }
        (self.groups, self.group_slots) = (alive, model.group_slots());
        Ok(())
    }

    fn redefine_variable(
        &mut self,
        writer: &ZarrWriter,
        model: &Model,
        var: VarId,
        moves: &mut DefinitionMoves,
    ) -> Result<()> {
        let Some(variable) = model.variable(var) else { return Ok(()) };
        let key = match self.root_array {
            Some(_) => String::new(),
            None => model.variable_path(var).trim_start_matches('/').to_owned(),
        };
        let old_key = self.plans.get(&var).map(|plan| plan.key.clone());
        if old_key.as_ref() != Some(&key) && (moves.taken.contains(&key) || self.removed.contains(&key)) {
            return Err(not_free(&key));
        }
        if let Some(old) = old_key.filter(|old| *old != key) {
            if self.states.get(&var).is_some_and(|state| state.has_data || state.extent.is_some()) {
                moves.copied.push((old.clone(), key.clone()));
                self.removed.push(old);
            }
            let plan =
                self.plans.get_mut(&var).ok_or_else(|| Error::internal(format!("no plan for {key}")))?;
            Arc::make_mut(plan).key.clone_from(&key);
        }
        match self.states.get(&var) {
            Some(state) if state.extent.is_some() || state.has_data => {
                check_unchanged(&state.described, variable)?;
                self.extend_to(var, &model.shape(var))
            }
            Some(state) if state.described == *variable => Ok(()),
            _ => {
                let new = PlannedVariable::new(writer, model, var, key)?;
                self.insert(new.with_added_chunks(self));
                Ok(())
            }
        }
    }

    /// Adds chunks, or shards, to a grid of chunks of different lengths, so that it reaches to the end of the array.
    pub(super) fn extend_to(&mut self, var: VarId, shape: &[u64]) -> Result<()> {
        let Some(plan) = self.plans.get_mut(&var).filter(|plan| plan.is_uneven()) else { return Ok(()) };
        Arc::make_mut(plan).reach(shape)
    }

    /// Adds a variable without data.
    pub(super) fn insert(&mut self, PlannedVariable { var, plan, state }: PlannedVariable) {
        self.plans.insert(var, Arc::new(plan));
        self.states.insert(var, Arc::new(state));
    }
}

/// A variable without data, as its storage was chosen.
pub(super) struct PlannedVariable {
    var: VarId,
    plan: VariablePlan,
    state: VariableState,
}

impl PlannedVariable {
    /// Chooses how a variable is stored.
    ///
    /// # Errors
    /// `Invalid` or `Unsupported` with what cannot be stored.
    pub(super) fn new(writer: &ZarrWriter, model: &Model, var: VarId, key: String) -> Result<Self> {
        let described = model.variable(var).cloned().ok_or_else(|| Error::internal("no such variable"))?;
        let plan = plan::plan(writer, model, var, key)?;
        let placed = CellSet::new(longest_axis(model, var));
        Ok(Self { var, plan, state: VariableState { described, extent: None, placed, has_data: false } })
    }

    /// Keeps chunks that were added to the grid, unless the definition of the grid changed.
    pub(super) fn with_added_chunks(mut self, before: &DefinedState) -> Self {
        if let (Some(plan), Some(state)) = (before.plans.get(&self.var), before.states.get(&self.var)) {
            let (old, new) = (&state.described, &self.state.described);
            if plan.is_extended
                && (&old.storage, &old.dims, &old.shards) == (&new.storage, &new.dims, &new.shards)
            {
                self.plan.extend_grid(plan.encoding.grid.clone());
            }
        }
        self
    }
}

/// The immediate consequences of a definition.
#[derive(Debug, Default)]
pub(super) struct DefinitionMoves {
    /// Keys of variables before this definition, including those that it renames.
    taken: HashSet<String>,
    /// Trees of variables that were never committed.
    dropped: Vec<String>,
    /// Trees that get other keys.
    pub(super) copied: Vec<(String, String)>,
}

impl DefinitionMoves {
    /// Removes the trees that no commit has, and copies those that are renamed.
    pub(super) fn puts(self, root: &ObjectId) -> Vec<StorePut> {
        let dropped = self.dropped.iter().map(|key| StorePut::DeleteTree { prefix: root.child(key) });
        let copied = self
            .copied
            .iter()
            .map(|(from, to)| StorePut::CopyTree { from: root.child(from), to: root.child(to) });
        dropped.chain(copied).collect()
    }
}

fn not_free(key: &str) -> Error {
    Error::unsupported(format!(
        "the name {key:?} is in use until the removal of what had it is synced; sync first"
    ))
}

/// The axis along which most chunks will lie: the longest.
fn longest_axis(model: &Model, var: VarId) -> usize {
    let shape = model.shape(var);
    let growing = model.growing(var);
    growing
        .iter()
        .position(|grows| *grows)
        .or_else(|| (0..shape.len()).max_by_key(|axis| shape.get(*axis).copied()))
        .unwrap_or(0)
}

/// What cannot change once there are data (docs/spec/nczarr.md 3.11: NC_ELATEFILL).
pub(super) fn check_unchanged(old: &Variable, new: &Variable) -> Result<()> {
    let changed = [
        ("type", old.ty != new.ty),
        ("dimensions", old.dims != new.dims),
        ("fill value", !old.is_filled_as(new)),
        ("byte order", old.endianness != new.endianness),
        ("chunk shape", old.storage != new.storage),
        ("shape of shards", old.shards != new.shards),
    ];
    match changed.iter().find(|(_, changed)| *changed) {
        Some((what, _)) => Err(Error::invalid(format!("the {what} cannot change after data were written"))),
        None => Ok(()),
    }
}

impl VariableState {
    /// Whether a chunk may exist: committed, or placed since. Chunks outside of both are left over from a killed
    /// writer.
    pub(super) fn holds(&self, plan: &VariablePlan, cell: &[u64]) -> bool {
        self.is_committed(plan, cell) || self.placed.contains(cell)
    }

    pub(super) fn is_committed(&self, plan: &VariablePlan, cell: &[u64]) -> bool {
        let Some(extent) = &self.extent else { return false };
        cell.is_empty() || plan.encoding.grid.clipped_region(cell, extent).is_some()
    }
}
