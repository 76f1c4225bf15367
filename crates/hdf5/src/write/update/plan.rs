//! The changes that bring a file to the state of a changed model (docs/spec/hdf5-netcdf4.md J).
mod groups;
mod made;
mod stored;
mod ties;
mod unscaled;

use super::attributes::{AttributeChange, HeaderAttributes, differences};
use super::data::ExistingStorage;
use super::{KnownObjects, PendingWrites};
use crate::address::FileAddress;
use crate::file::Hdf5File;
use crate::object::ObjectRef;
use crate::write::FilePatch;
use crate::write::edit::EditableHeader;
use crate::write::heap::HeapBuilder;
use crate::write::objects::{FileObject, ObjectDescriber, check_name, listed, type_users};
use crate::write::space::SpaceAllocator;
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};
use ncirrus_model::{AttributeState, DimId, Model, NodeId, TypeId, VarId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
pub(super) use unscaled::UnscaledAxes;

/// The changes, in their order.
#[derive(Debug)]
pub(super) struct UpdatePlan {
    /// New bytes without references yet.
    pub(super) fresh: Vec<FilePatch>,
    /// References to those, in data that readers know.
    pub(super) late: Vec<FilePatch>,
    /// Changes of chunk indexes, in any order.
    pub(super) indexes: Vec<FilePatch>,
    /// Headers, in the order of their turns.
    pub(super) headers: BTreeMap<HeaderTurn, Vec<FilePatch>>,
    /// Whether the root group has no symbol table any more.
    pub(super) root_is_new: bool,
    pub(super) space: SpaceAllocator,
    pub(super) known: KnownObjects,
}

/// The turn in which the header of an object is written, so that references of readers are never dangling.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum HeaderTurn {
    /// A dataset that becomes a scale.
    BecomesScale,
    /// Another dataset, or a type.
    Dataset,
    /// A dataset that is not a scale any more.
    WasScale,
    Group,
}

/// The inputs of a plan.
pub(super) struct UpdatePlanner<'a> {
    pub(super) view: &'a dyn View,
    pub(super) file: Arc<Hdf5File>,
    pub(super) old: &'a Model,
    pub(super) new: &'a Model,
    pub(super) known: &'a KnownObjects,
    pub(super) pending_writes: &'a HashMap<VarId, PendingWrites>,
    pub(super) existing_storage: &'a HashMap<VarId, ExistingStorage>,
    /// Whether new chunk indexes are for HDF5 1.10 and newer.
    pub(super) newer: bool,
    pub(super) after: KnownObjects,
    pub(super) space: SpaceAllocator,
    pub(super) heap: HeapBuilder,
    pub(super) headers: BTreeMap<FileAddress, EditableHeader>,
    /// Dimensions that get the scale that they did not have.
    pub(super) unscaled: UnscaledAxes,
    /// Dimensions of variables that are removed.
    pub(super) losing: HashSet<DimId>,
    /// How many variables and attributes of the new model are of each type.
    pub(super) type_users: HashMap<TypeId, u32>,
    /// Datasets with a special turn.
    pub(super) turns: HashMap<FileAddress, HeaderTurn>,
    pub(super) fresh: Vec<FilePatch>,
    pub(super) late: Vec<FilePatch>,
    pub(super) indexes: Vec<FilePatch>,
    pub(super) root_is_new: bool,
    /// Whether objects are added to groups, removed or renamed.
    pub(super) links_are_changed: bool,
}

impl UpdatePlanner<'_> {
    /// The plan.
    ///
    /// # Errors
    /// A need, or what cannot be changed, by name.
    pub(super) fn plan(mut self) -> Step<UpdatePlan> {
        self.unscaled = self.newly_scaled();
        self.losing = self.losing_users();
        let made = self.new_objects();
        self.make(&made)?;
        for var in self.new.variables() {
            if self.is_kept(FileObject::Variable(var)) {
                let path = self.new.variable_path(var);
                self.variable(var).map_err(|stall| stall.map_error(|error| error.at_path(path)))?;
            }
        }
        for dim in self.dimensions() {
            if self.is_kept(FileObject::Dimension(dim)) {
                self.dimension(dim)?;
            }
        }
        self.count_types()?;
        for group in self.old.walk() {
            let path = self.old.group_path(group);
            self.group(group).map_err(|stall| stall.map_error(|error| error.at_path(path)))?;
        }
        Ok(self.finish()?)
    }

    /// Whether an object of the file remains.
    fn is_kept(&self, object: FileObject) -> bool {
        let there = match object {
            FileObject::Group(id) => self.new.group(id).is_some(),
            FileObject::Type(id) => self.new.user_type(id).is_some(),
            FileObject::Variable(id) => self.new.variable(id).is_some(),
            FileObject::Dimension(id) => {
                self.new.dimension(id).is_some() && crate::write::objects::scale_of(self.new, id) == object
            }
        };
        there && self.known.addrs.contains_key(&object)
    }

    /// All dimensions of the new model.
    fn dimensions(&self) -> Vec<DimId> {
        let groups = self.new.walk().into_iter().filter_map(|id| self.new.group(id));
        groups.flat_map(|group| group.dims.iter().copied()).collect()
    }

    fn object(&self, addr: FileAddress) -> ObjectRef {
        ObjectRef { file: Arc::clone(&self.file), addr }
    }

    /// The header at an address, for changing it.
    fn header(&mut self, addr: FileAddress) -> Step<&mut EditableHeader> {
        if !self.headers.contains_key(&addr) {
            let header = EditableHeader::load(self.view, &self.object(addr))?;
            self.headers.insert(addr, header);
        }
        Ok(self.headers.get_mut(&addr).ok_or_else(|| Error::internal("no header"))?)
    }

    fn describer(&mut self) -> ObjectDescriber<'_> {
        ObjectDescriber {
            model: self.new,
            sizes: self.file.sizes,
            addrs: &self.after.addrs,
            is_placed: true,
            ids: &self.after.ids,
            heap: &mut self.heap,
            space: &mut self.space,
        }
    }

    /// Updates the model's attributes.
    fn attributes(&mut self, node: NodeId, addr: FileAddress) -> Step<()> {
        let (old, new) = (self.old.attributes(node), self.new.attributes(node));
        let (Some(AttributeState::Known(old)), Some(AttributeState::Known(new))) = (old, new) else {
            return Ok(());
        };
        if old == new {
            return Ok(());
        }
        let found = differences(old, new);
        let mut puts = Vec::new();
        for difference in &found {
            match difference {
                AttributeChange::Remove(_) => {}
                AttributeChange::Add(attribute) => {
                    puts.push((None, &attribute.name, self.encoded(attribute)?));
                }
                AttributeChange::Replace(place, attribute) => {
                    puts.push((Some(*place), &attribute.name, self.encoded(attribute)?));
                }
            }
        }
        let (view, file) = (self.view, Arc::clone(&self.file));
        let mut named = HeaderAttributes::new(view, &file, self.header(addr)?)?;
        named.remove(found.iter().filter_map(|difference| match difference {
            AttributeChange::Remove(name) => Some(*name),
            AttributeChange::Replace(..) | AttributeChange::Add(_) => None,
        }))?;
        for (place, name, body) in puts {
            if place.is_some_and(|place| place != name) {
                // One in a form that cannot be shown gives its name up, as to a new one.
                named.remove([name.as_str()])?;
            }
            named.put(place.unwrap_or(name), name, body)?;
        }
        Ok(())
    }

    fn encoded(&mut self, attribute: &ncirrus_model::Attribute) -> Result<Bytes> {
        check_name(attribute)?;
        self.describer().encoded(attribute)
    }

    /// Types store the number of datasets and attributes that use them.
    fn count_types(&mut self) -> Step<()> {
        let before = type_users(self.old);
        for (id, count) in self.type_users.clone() {
            let more = count.saturating_sub(before.get(&id).copied().unwrap_or(0));
            if let Some(addr) = self.known.addrs.get(&FileObject::Type(id)).copied().filter(|_| more > 0) {
                let header = self.header(addr)?;
                header.set_references(header.references().saturating_add(more))?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<UpdatePlan> {
        let mut headers: BTreeMap<HeaderTurn, Vec<FilePatch>> = BTreeMap::new();
        let groups: HashSet<FileAddress> = self
            .known
            .addrs
            .iter()
            .filter(|(object, _)| matches!(object, FileObject::Group(_)))
            .map(|(_, addr)| *addr)
            .collect();
        for (addr, header) in &mut self.headers {
            let spread = header.spread(&mut self.space).map_err(|error| self.file.at(*addr, error))?;
            self.fresh.extend(spread);
            let change = header.change(&mut self.space).map_err(|error| self.file.at(*addr, error))?;
            self.fresh.extend(change.fresh);
            let turn = self.turns.get(addr).copied().unwrap_or(HeaderTurn::Dataset);
            let turn = if groups.contains(addr) { HeaderTurn::Group } else { turn };
            if !change.then.is_empty() {
                headers.entry(turn).or_default().extend(change.then);
            }
            change.released.into_iter().for_each(|(addr, len)| self.space.leave(addr, len));
        }
        if self.turns.is_empty() && !self.links_are_changed {
            // Lengths and attributes refer to nothing that is new or goes: they are written at once, since a program that is
            // killed at a barrier between them leaves the lengths of one commit and the attributes of another.
            let together = std::mem::take(&mut headers).into_values().flatten().collect();
            headers.insert(HeaderTurn::Group, together);
        }
        self.fresh.extend(self.heap.take());
        let Self { fresh, late, indexes, root_is_new, space, mut after, .. } = self;
        after.addrs.retain(|object, _| is_in(self.new, *object));
        after.ids.retain(|dim, _| self.new.dimension(*dim).is_some());
        Ok(UpdatePlan { fresh, late, indexes, headers, root_is_new, space, known: after })
    }
}

/// Whether a model has an object.
fn is_in(model: &Model, object: FileObject) -> bool {
    match object {
        FileObject::Group(id) => model.group(id).is_some(),
        FileObject::Type(id) => model.user_type(id).is_some(),
        FileObject::Variable(id) => model.variable(id).is_some(),
        FileObject::Dimension(id) => {
            model.dimension(id).is_some() && crate::write::objects::scale_of(model, id) == object
        }
    }
}

/// All objects of a model.
fn objects(model: &Model) -> Vec<FileObject> {
    let groups = model.walk().into_iter();
    groups.flat_map(|group| listed(model, group)).map(|(_, object)| object).collect()
}
