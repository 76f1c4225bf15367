//! Which members of a model were changed, so that another copy of it is brought to the same state without copying all.
use super::members::MemberId;
use super::{DimId, GroupId, Model, NodeId, TypeId, VarId};
use crate::AttributeState;
use std::collections::BTreeSet;
use std::sync::{Mutex, PoisonError};

/// The members of a model that were added, changed or removed since [`Model::track`].
#[derive(Debug, Clone, Default)]
pub struct Changes {
    groups: BTreeSet<GroupId>,
    dims: BTreeSet<DimId>,
    types: BTreeSet<TypeId>,
    vars: BTreeSet<VarId>,
    /// Variables whose fill value was chosen, not only the attribute that may be it.
    fills: BTreeSet<VarId>,
    /// Nodes of which any attribute may have changed.
    attributes: BTreeSet<NodeId>,
    /// Attributes that were set one by one, in that order, each once: an attribute may be set with each time step.
    set: Vec<(NodeId, String)>,
    is_set: BTreeSet<(NodeId, String)>,
}

impl Changes {
    /// Adds later changes: the work depends on the number of these only.
    pub fn add(&mut self, mut later: Self) {
        // `BTreeSet::append` would go through both sets.
        self.groups.extend(later.groups);
        self.dims.extend(later.dims);
        self.types.extend(later.types);
        self.vars.extend(later.vars);
        self.fills.extend(later.fills);
        self.attributes.extend(later.attributes);
        later.set.drain(..).for_each(|(node, name)| self.add_attribute(node, name));
    }

    /// Adds an attribute that was set.
    fn add_attribute(&mut self, node: NodeId, name: String) {
        let attribute = (node, name);
        if !self.is_set.contains(&attribute) {
            self.is_set.insert(attribute.clone());
            self.set.push(attribute);
        }
    }

    /// Adds a dimension that grew.
    pub fn add_dimension(&mut self, dim: DimId) {
        self.dims.insert(dim);
    }

    /// Adds a variable that was changed.
    pub fn add_variable(&mut self, var: VarId) {
        self.vars.insert(var);
    }

    /// Variables that were added, changed or removed, or have other attributes.
    pub fn variables(&self) -> BTreeSet<VarId> {
        let set = self.set.iter().map(|(node, _)| node);
        let of_nodes = self.attributes.iter().chain(set).filter_map(|node| match node {
            NodeId::Variable(id) => Some(*id),
            NodeId::Group(_) => None,
        });
        of_nodes.chain(self.vars.iter().copied()).collect()
    }

    /// Whether [`Model::set_fill`] chose the fill value of a variable.
    pub fn chose_fill(&self, var: VarId) -> bool {
        self.fills.contains(&var)
    }

    /// Dimensions that were added, changed or removed.
    pub fn dimensions(&self) -> &BTreeSet<DimId> {
        &self.dims
    }

    /// Types that were added, changed or removed.
    pub fn types(&self) -> &BTreeSet<TypeId> {
        &self.types
    }

    /// Groups that were renamed or removed, or lost members. Groups that were only added are not among them:
    /// [`Model::groups_from`].
    pub fn groups(&self) -> &BTreeSet<GroupId> {
        &self.groups
    }

    /// Variables that were added or removed, or changed otherwise than by attributes that were set one by one.
    pub fn described_variables(&self) -> &BTreeSet<VarId> {
        &self.vars
    }

    /// Nodes of which any attribute may have changed.
    pub fn attribute_lists(&self) -> &BTreeSet<NodeId> {
        &self.attributes
    }

    /// Attributes that were set one by one, in that order.
    pub fn attributes_set(&self) -> impl Iterator<Item = (NodeId, &str)> {
        self.set.iter().map(|(node, name)| (*node, name.as_str()))
    }
}

/// Notes changes for one who asked for it. A copy of the model does not go on with that.
#[derive(Debug, Default)]
pub(super) struct Tracking(Mutex<Option<Box<TrackedChanges>>>);

/// The token of the caller that tracks changes, and the changes since.
type TrackedChanges = (usize, Changes);

impl Clone for Tracking {
    fn clone(&self) -> Self {
        Self::default()
    }
}

/// The description of a dataset does not depend on who follows its changes.
impl PartialEq for Tracking {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Tracking {
    pub(super) fn dim(&mut self, id: DimId) {
        self.note(|changes| _ = changes.dims.insert(id));
    }

    pub(super) fn ty(&mut self, id: TypeId) {
        self.note(|changes| _ = changes.types.insert(id));
    }

    pub(super) fn var(&mut self, id: VarId) {
        self.note(|changes| _ = changes.vars.insert(id));
    }

    pub(super) fn fill(&mut self, id: VarId) {
        self.note(|changes| _ = changes.fills.insert(id));
    }

    /// More of a group changed than that members were added.
    pub(super) fn group(&mut self, id: GroupId) {
        self.note(|changes| _ = changes.groups.insert(id));
    }

    pub(super) fn attributes(&mut self, node: NodeId) {
        self.note(|changes| _ = changes.attributes.insert(node));
    }

    pub(super) fn attribute(&mut self, node: NodeId, name: &str) {
        self.note(|changes| changes.add_attribute(node, name.to_owned()));
    }

    fn note(&mut self, note: impl FnOnce(&mut Changes)) {
        if let Some(tracked) = self.0.get_mut().unwrap_or_else(PoisonError::into_inner) {
            note(&mut tracked.1);
        }
    }
}

impl Model {
    /// How many groups there ever were.
    pub fn group_slots(&self) -> usize {
        self.groups.len()
    }

    /// Groups that were added since there were so many slots ([`group_slots`](Self::group_slots)), and that still exist.
    pub fn groups_from(&self, slots: usize) -> impl Iterator<Item = GroupId> {
        let later = self.groups.iter().enumerate().skip(slots).filter(|(_, group)| group.is_some());
        later.map(|(at, _)| GroupId(super::next_id(at)))
    }

    /// Notes changes from now on, until [`take_changes`](Self::take_changes) is called with the same token.
    pub fn track(&mut self, token: usize) {
        self.tracking = Tracking(Mutex::new(Some(Box::new((token, Changes::default())))));
    }

    /// The changes since [`track`](Self::track) was called with the token; `None` if this is another model, which
    /// replaced that one.
    pub fn take_changes(&self, token: usize) -> Option<Changes> {
        let tracked = self.tracking.0.lock().unwrap_or_else(PoisonError::into_inner).take();
        tracked.filter(|tracked| tracked.0 == token).map(|tracked| tracked.1)
    }

    /// Makes this model equal to another one from which it differs in `changes` only. What is not in them is not looked
    /// at: the work depends on the number of changes, not on the size of the model.
    pub fn follow(&mut self, other: &Self, changes: &Changes) {
        self.take_back();
        self.room = other.room;
        if other.vars.len() < self.vars.len() {
            self.users.forget();
        }
        changes.vars.iter().for_each(|id| self.users.remove(&self.vars, *id));
        // Lists and names of these groups are taken over in one piece.
        let mut whole = changes.groups.clone();
        follow_table(&mut self.dims, &other.dims, changes.dims.iter().map(|id| id.index()), &mut whole);
        follow_table(&mut self.types, &other.types, changes.types.iter().map(|id| id.index()), &mut whole);
        let (known, first_new_var) = (self.vars.len(), super::next_id(self.vars.len()));
        follow_table(&mut self.vars, &other.vars, changes.vars.iter().map(|id| id.index()), &mut whole);
        let changed = changes.vars.iter().copied().filter(|id| id.index() < known);
        let new = (first_new_var..super::next_id(self.vars.len())).map(VarId);
        changed.chain(new).for_each(|id| self.users.add(&self.vars, id));
        let dropped = self.groups.drain(other.groups.len().min(self.groups.len())..);
        whole.extend(dropped.flatten().filter_map(|group| group.parent));
        let first_new = self.groups.len();
        self.groups.extend_from_slice(&other.groups[first_new..]);
        for id in whole.iter().filter(|id| id.index() < first_new) {
            self.groups[id.index()].clone_from(&other.groups[id.index()]);
        }
        let parents = other.groups[first_new..].iter().flatten().filter_map(|group| group.parent);
        let homes = (changes.dims.iter().filter_map(|id| other.dimension_group(*id)))
            .chain(changes.types.iter().filter_map(|id| other.type_group(*id)))
            .chain(changes.vars.iter().filter_map(|id| other.variable_group(*id)))
            .chain(parents);
        let homes: BTreeSet<GroupId> = homes.collect();
        for id in homes.iter().filter(|id| id.index() < first_new && !whole.contains(id)) {
            self.enlist_new::<GroupId>(*id, other);
            self.enlist_new::<DimId>(*id, other);
            self.enlist_new::<TypeId>(*id, other);
            self.enlist_new::<VarId>(*id, other);
        }
        // The index of its group may have it under a former name.
        let is_whole = |id: GroupId| id.index() >= first_new || whole.contains(&id);
        self.lent = other.lent.filter(|lent| other.variable_group(lent.id).is_some_and(is_whole));
        self.follow_attributes(other, changes);
    }

    /// Adds members that another state of a group has at the end.
    fn enlist_new<I: MemberId>(&mut self, group: GroupId, other: &Self) {
        let own_len = self.group(group).map_or(0, |group| I::list(group).len());
        let theirs = other.group(group).map(I::list).unwrap_or_default();
        for id in theirs.get(own_len..).unwrap_or_default() {
            self.enlist(group, *id);
        }
    }

    fn follow_attributes(&mut self, other: &Self, changes: &Changes) {
        for node in &changes.attributes {
            if let (Some(own), Some(theirs)) = (self.attributes_slot(*node), other.attributes(*node)) {
                own.clone_from(theirs);
            }
        }
        for (node, name) in changes.set.iter().filter(|(node, _)| !changes.attributes.contains(node)) {
            let Some(theirs) = other.attributes(*node).and_then(AttributeState::known) else { continue };
            let Some(own) = self.attributes_slot(*node).map(AttributeState::known_mut) else { continue };
            match theirs.find(name) {
                Some(attribute) => own.put(attribute.clone()),
                None => _ = own.remove(name),
            }
        }
    }
}

/// Takes over the changed members of a table, and notes groups whose lists or names differ by more than new members at
/// the end.
fn follow_table<T: Clone + Named>(
    own: &mut Vec<Option<(GroupId, T)>>,
    theirs: &[Option<(GroupId, T)>],
    changed: impl Iterator<Item = usize>,
    whole: &mut BTreeSet<GroupId>,
) {
    let dropped = own.drain(theirs.len().min(own.len())..);
    whole.extend(dropped.flatten().map(|(group, _)| group));
    let first_new = own.len();
    for at in changed.filter(|at| *at < first_new) {
        let (before, now) = (&own[at], &theirs[at]);
        let name = |slot: &Option<(GroupId, T)>| slot.as_ref().map(|(_, item)| item.name().to_owned());
        if name(before) != name(now) {
            whole.extend(before.iter().chain(now).map(|(group, _)| *group));
        }
        own[at].clone_from(&theirs[at]);
    }
    own.extend_from_slice(&theirs[first_new..]);
}

/// A member with a name of its own.
trait Named {
    fn name(&self) -> &str;
}

impl Named for super::Dimension {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for crate::UserType {
    fn name(&self) -> &str {
        &self.name
    }
}

impl Named for crate::Variable {
    fn name(&self) -> &str {
        &self.name
    }
}
