//! What makes a file what a changed model says (docs/spec/hdf5-netcdf4.md J).
mod groups;
mod made;
mod stored;
mod ties;

use super::attributes::{Difference, Named, differences};
use super::data::Stand;
use super::{Known, Track};
use crate::file::{Addr, File};
use crate::object::ObjectRef;
use crate::write::Patch;
use crate::write::edit::Editable;
use crate::write::heap::HeapBuilder;
use crate::write::objects::{Describer, Object, check_name, listed};
use crate::write::space::Space;
use bytes::Bytes;
use ncirrus_layout::{Error, Result, Step, View};
use ncirrus_model::{AttributeState, Attributes, DimId, Model, NodeId, TypeRef, VarId};
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

/// What is changed, and in which order.
#[derive(Debug)]
pub(super) struct Plan {
    /// What nobody points to yet.
    pub(super) fresh: Vec<Patch>,
    /// References to what is fresh, in data that readers know.
    pub(super) late: Vec<Patch>,
    /// Changes of chunk indexes, in any order.
    pub(super) indexes: Vec<Patch>,
    /// Headers, turn after turn.
    pub(super) headers: BTreeMap<Turn, Vec<Patch>>,
    /// The root group has no symbol table any more.
    pub(super) root_is_new: bool,
    pub(super) space: Space,
    pub(super) known: Known,
}

/// When the header of an object is written, so that what readers follow is always there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Turn {
    /// A dataset that becomes a scale.
    BecomesScale,
    /// Another dataset, or a type.
    Dataset,
    /// A dataset that is no scale any more.
    WasScale,
    Group,
}

/// What a plan is made from.
pub(super) struct Planner<'a> {
    pub(super) view: &'a dyn View,
    pub(super) file: Arc<File>,
    pub(super) old: &'a Model,
    pub(super) new: &'a Model,
    pub(super) known: &'a Known,
    pub(super) tracks: &'a HashMap<VarId, Track>,
    pub(super) stands: &'a HashMap<VarId, Stand>,
    /// New chunk indexes are for HDF5 1.10 and newer.
    pub(super) newer: bool,
    pub(super) after: Known,
    pub(super) space: Space,
    pub(super) heap: HeapBuilder,
    pub(super) headers: BTreeMap<Addr, Editable>,
    /// Datasets that have another turn than others.
    pub(super) turns: HashMap<Addr, Turn>,
    pub(super) fresh: Vec<Patch>,
    pub(super) late: Vec<Patch>,
    pub(super) indexes: Vec<Patch>,
    pub(super) root_is_new: bool,
}

impl Planner<'_> {
    /// The plan.
    ///
    /// # Errors
    /// A need, or what cannot be changed, by name.
    pub(super) fn plan(mut self) -> Step<Plan> {
        let made = self.new_objects();
        self.make(&made)?;
        for var in self.new.variables() {
            if self.is_kept(Object::Variable(var)) {
                let path = self.new.variable_path(var);
                self.variable(var).map_err(|stall| stall.map_error(|error| error.at_path(path)))?;
            }
        }
        for dim in self.dimensions() {
            if self.is_kept(Object::Dimension(dim)) {
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

    /// Whether an object of the file stays one.
    fn is_kept(&self, object: Object) -> bool {
        let there = match object {
            Object::Group(id) => self.new.group(id).is_some(),
            Object::Type(id) => self.new.user_type(id).is_some(),
            Object::Variable(id) => self.new.variable(id).is_some(),
            Object::Dimension(id) => {
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

    fn object(&self, addr: Addr) -> ObjectRef {
        ObjectRef { file: Arc::clone(&self.file), addr }
    }

    /// The header at an address, for changing it.
    fn header(&mut self, addr: Addr) -> Step<&mut Editable> {
        if !self.headers.contains_key(&addr) {
            let header = Editable::load(self.view, &self.object(addr))?;
            self.headers.insert(addr, header);
        }
        Ok(self.headers.get_mut(&addr).ok_or_else(|| Error::internal("no header"))?)
    }

    fn describer(&mut self) -> Describer<'_> {
        Describer {
            model: self.new,
            sizes: self.file.sizes,
            addrs: &self.after.addrs,
            ids: &self.after.ids,
            heap: &mut self.heap,
            space: &mut self.space,
        }
    }

    /// Brings the attributes that the model shows up to date.
    fn attributes(&mut self, node: NodeId, addr: Addr) -> Step<()> {
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
                Difference::Remove(_) => {}
                Difference::Add(attribute) => puts.push((None, &attribute.name, self.encoded(attribute)?)),
                Difference::Replace(place, attribute) => {
                    puts.push((Some(*place), &attribute.name, self.encoded(attribute)?));
                }
            }
        }
        let (view, file) = (self.view, Arc::clone(&self.file));
        let mut named = Named::new(view, &file, self.header(addr)?)?;
        for difference in &found {
            if let Difference::Remove(name) = difference {
                named.remove(name)?;
            }
        }
        for (place, name, body) in puts {
            if place.is_none() && named.has(name) {
                let message = format!("attribute {name:?} is there already, in a form that cannot be shown");
                return Err(Error::unsupported(message).into());
            }
            named.put(place.unwrap_or(name), name, body)?;
        }
        Ok(())
    }

    fn encoded(&mut self, attribute: &ncirrus_model::Attribute) -> Result<Bytes> {
        check_name(attribute)?;
        if let TypeRef::User(id) = attribute.ty
            && !self.after.addrs.contains_key(&Object::Type(id))
        {
            let message = format!("attribute {:?}: its type has no object in the file", attribute.name);
            return Err(Error::unsupported(message));
        }
        self.describer().encoded(attribute)
    }

    /// Types know how many datasets and attributes are of them.
    fn count_types(&mut self) -> Step<()> {
        let (before, after) = (users(self.old), users(self.new));
        for (ty, count) in after {
            let more = count.saturating_sub(before.get(&ty).copied().unwrap_or(0));
            let TypeRef::User(id) = ty else { continue };
            if let Some(addr) = self.known.addrs.get(&Object::Type(id)).copied().filter(|_| more > 0) {
                let header = self.header(addr)?;
                header.set_references(header.references().saturating_add(more))?;
            }
        }
        Ok(())
    }

    fn finish(mut self) -> Result<Plan> {
        let mut headers: BTreeMap<Turn, Vec<Patch>> = BTreeMap::new();
        let groups: HashSet<Addr> = self
            .known
            .addrs
            .iter()
            .filter(|(object, _)| matches!(object, Object::Group(_)))
            .map(|(_, addr)| *addr)
            .collect();
        for (addr, header) in &mut self.headers {
            let spread = header.spread(&mut self.space).map_err(|error| self.file.at(*addr, error))?;
            self.fresh.extend(spread);
            let change = header.change(&mut self.space).map_err(|error| self.file.at(*addr, error))?;
            self.fresh.extend(change.fresh);
            let turn = self.turns.get(addr).copied().unwrap_or(Turn::Dataset);
            let turn = if groups.contains(addr) { Turn::Group } else { turn };
            if !change.then.is_empty() {
                headers.entry(turn).or_default().extend(change.then);
            }
            change.released.into_iter().for_each(|(addr, len)| self.space.leave(addr, len));
        }
        self.fresh.extend(self.heap.take());
        let Self { fresh, late, indexes, root_is_new, space, mut after, .. } = self;
        after.addrs.retain(|object, _| is_in(self.new, *object));
        after.ids.retain(|dim, _| self.new.dimension(*dim).is_some());
        Ok(Plan { fresh, late, indexes, headers, root_is_new, space, known: after })
    }
}

/// Whether a model has an object.
fn is_in(model: &Model, object: Object) -> bool {
    match object {
        Object::Group(id) => model.group(id).is_some(),
        Object::Type(id) => model.user_type(id).is_some(),
        Object::Variable(id) => model.variable(id).is_some(),
        Object::Dimension(id) => {
            model.dimension(id).is_some() && crate::write::objects::scale_of(model, id) == object
        }
    }
}

/// How many variables and attributes are of each user-defined type.
fn users(model: &Model) -> HashMap<TypeRef, u32> {
    let variables =
        model.variables().into_iter().filter_map(|id| model.variable(id).map(|variable| variable.ty));
    let lists = model.nodes().into_iter().filter_map(|node| model.attributes(node)?.known());
    let attributes = lists.flat_map(Attributes::iter).map(|attribute| attribute.ty);
    let mut counts = HashMap::new();
    for ty in variables.chain(attributes).filter(|ty| matches!(ty, TypeRef::User(_))) {
        let count: &mut u32 = counts.entry(ty).or_default();
        *count = count.saturating_add(1);
    }
    counts
}

/// All objects of a model.
fn objects(model: &Model) -> Vec<Object> {
    let groups = model.walk().into_iter();
    groups.flat_map(|group| listed(model, group)).map(|(_, object)| object).collect()
}
