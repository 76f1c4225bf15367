//! Members that are added to an existing file, one after the other, before a commit.
//!
//! The first of them plans the whole change, which shows that their group takes more links, and their dimensions more users. Those that come
//! into the same group along the same dimensions are then only described.
use super::{FileUpdate, PendingWrites};
use crate::group::links;
use crate::object::ObjectRef;
use crate::superblock::load;
use crate::write::objects::{FileObject, SIZES, listed, scale_of};
use crate::write::placer::{
    AddedMembers, FileStructures, HeldElements, ImageSource, StorageForm, VariableWrites,
};
use ncirrus_layout::{Stall, Step, View, settle};
use ncirrus_model::{Changes, DimId, GroupId, Model, NodeId, TypeRef, VarId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// The definitions that were accepted last, and what the plan of a whole change has shown since the last commit.
#[derive(Debug, Default)]
pub(super) struct AcceptedAdditions {
    model: Option<Model>,
    /// Groups of the file that take more links; all that they have is in the model.
    groups: HashSet<GroupId>,
    /// Dimensions of the file that take more users.
    dims: HashSet<DimId>,
}

impl FileUpdate {
    /// Notes what the plan for a model has shown.
    ///
    /// # Errors
    /// A need.
    pub(super) fn note_planned(&mut self, view: &dyn View, model: &Model) -> Step<()> {
        self.accepted = AcceptedAdditions::default();
        if self.sizes != SIZES {
            return Ok(());
        }
        let file = load(view, &self.root)?;
        let mut accepted = AcceptedAdditions { model: Some(model.clone()), ..AcceptedAdditions::default() };
        for id in self.model.walk() {
            let Some(addr) = self.known.addrs.get(&FileObject::Group(id)).copied() else { continue };
            if !has_more(&self.model, model, id) {
                continue;
            }
            let found =
                settle(links(view, &ObjectRef { file: Arc::clone(&file), addr })).map_err(Stall::Need)?;
            if let Ok(found) = found
                && found.list.len() == listed(&self.model, id).len()
            {
                accepted.groups.insert(id);
            }
        }
        let new = model.variables().into_iter().filter(|id| self.model.variable(*id).is_none());
        let dims = new.filter_map(|id| model.variable(id)).flat_map(|variable| &variable.dims);
        accepted.dims.extend(dims.filter(|dim| self.model.dimension(**dim).is_some()));
        self.accepted = accepted;
        Ok(())
    }

    /// Applies what was added to the model since the last definition; nothing is changed, and `false` is returned, if more changed
    /// or if it may not fit.
    pub(super) fn adopt_additions(&mut self, model: &Model, changes: &Changes) -> bool {
        let Some(former) = &self.accepted.model else { return false };
        let Some(added) = AddedMembers::find(former, model, changes) else { return false };
        let is_classic = !self.choices.classic_model || added.is_classic(model, changes);
        if !is_classic || !self.takes(&added, model) {
            return false;
        }
        let Some(new) = self.new_writes(&added, model) else { return false };
        let held = HashMap::new();
        let newer = self.choices.structures == FileStructures::V110;
        let images = ImageSource { model, pending_writes: &new, held: &held, newer, strict: false };
        if !added.check(&images, changes).unwrap_or(false) {
            return false;
        }
        for (id, VariableWrites { form, path, shape }) in new {
            let former = self.pending_writes.remove(&id).filter(PendingWrites::waits);
            let new = || {
                let held = HeldElements::nothing(form.arranged);
                PendingWrites { form, held, path, shape, late: BTreeMap::new() }
            };
            self.pending_writes.insert(id, former.unwrap_or_else(new));
        }
        if let Some(accepted) = &mut self.accepted.model {
            accepted.follow(model, changes);
        }
        true
    }

    /// Whether everything comes to what takes more of its kind, and nothing else of the file changes.
    fn takes(&self, added: &AddedMembers, model: &Model) -> bool {
        let is_in_file = |node: &NodeId| self.model.attributes(*node).is_some();
        let is_open = |group: Option<GroupId>| {
            group.is_some_and(|id| self.model.group(id).is_none() || self.accepted.groups.contains(&id))
        };
        let has_user_room = |dim: &DimId| {
            self.model.dimension(*dim).is_none()
                || (self.accepted.dims.contains(dim) && scale_of(model, *dim) == scale_of(&self.model, *dim))
        };
        let is_simple = |id: &VarId| {
            let variable = model.variable(*id).filter(|_| self.model.variable(*id).is_none());
            variable.is_some_and(|variable| {
                matches!(variable.ty, TypeRef::Atomic(_)) && variable.dims.iter().all(has_user_room)
            })
        };
        added.grown.is_empty()
            && !added.nodes.iter().any(is_in_file)
            && added.vars.iter().all(is_simple)
            && added.homes(model).all(is_open)
    }

    /// How new variables are written; those with data as before.
    fn new_writes(&self, added: &AddedMembers, model: &Model) -> Option<HashMap<VarId, VariableWrites>> {
        let writes = |id: &VarId| {
            let form = match self.pending_writes.get(id).filter(|track| track.waits()) {
                Some(track) => track.form.clone(),
                None => StorageForm::new(model, *id, &self.choices).ok()?,
            };
            Some((*id, VariableWrites { form, path: model.variable_path(*id), shape: model.shape(*id) }))
        };
        added.vars.iter().map(writes).collect()
    }
}

/// Whether members were added to a group.
fn has_more(old: &Model, new: &Model, id: GroupId) -> bool {
    let Some(group) = new.group(id) else { return false };
    let dims = group.dims.last().is_some_and(|id| old.dimension(*id).is_none());
    let types = group.types.last().is_some_and(|id| old.user_type(*id).is_none());
    let vars = group.vars.last().is_some_and(|id| old.variable(*id).is_none());
    dims || types || vars || group.groups.last().is_some_and(|id| old.group(*id).is_none())
}
