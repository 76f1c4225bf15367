//! Changes that mostly add members: what they add is found and checked without looking at the rest of the model.
//!
//! Whatever is more than that, or does not fit, is left to the walk through the whole model, which also reports errors.
use super::image::ImageSource;
use crate::address::FileAddress;
use crate::group::NO_COORDINATE;
use crate::write::heap::HeapBuilder;
use crate::write::message;
use crate::write::objects::{FileObject, ObjectDescriber, SIZES, check_name, dataset_name, scale_of};
use crate::write::space::SpaceAllocator;
use ncirrus_layout::Result;
use ncirrus_model::{
    Attribute, Changes, DimId, Dimension, DimensionLen, GroupId, Model, NodeId, TypeId, TypeRef, VarId,
};
use std::borrow::Cow;
use std::collections::{BTreeSet, HashMap};

/// What a model has more than another one.
#[derive(Debug, Default)]
pub(crate) struct AddedMembers {
    groups: Vec<GroupId>,
    types: Vec<TypeId>,
    dims: Vec<DimId>,
    /// Unlimited dimensions that are longer now.
    pub(crate) grown: Vec<DimId>,
    /// Variables that are new, or of which more changed than attributes.
    pub(crate) vars: Vec<VarId>,
    /// Groups and variables with changed attributes.
    pub(crate) nodes: BTreeSet<NodeId>,
}

impl AddedMembers {
    /// What was added; `None` if more changed than that.
    pub(crate) fn find(old: &Model, new: &Model, changes: &Changes) -> Option<Self> {
        let mut added = Self { groups: new.groups_from(old.group_slots()).collect(), ..Self::default() };
        if !changes.groups().is_empty() {
            return None;
        }
        for &id in changes.types() {
            match (old.user_type(id), new.user_type(id)) {
                (None, Some(_)) => added.types.push(id),
                (None, None) => {}
                (Some(old), Some(new)) if old == new => {}
                (Some(_), _) => return None,
            }
        }
        for &id in changes.dimensions() {
            match (old.dimension(id), new.dimension(id)) {
                (None, Some(_)) => added.dims.push(id),
                (None, None) => {}
                (Some(old), Some(new)) if old == new => {}
                (Some(old), Some(new)) if has_grown(old, new) => added.grown.push(id),
                (Some(_), _) => return None,
            }
        }
        for &id in changes.described_variables() {
            match (old.variable(id), new.variable(id)) {
                (None, Some(_)) => added.vars.push(id),
                (None, None) => {}
                (Some(old), Some(new)) if (&old.name, &old.dims) == (&new.name, &new.dims) => {
                    added.vars.push(id);
                }
                (Some(_), _) => return None,
            }
        }
        let set = changes.attributes_set().map(|(node, _)| node);
        let nodes = changes.attribute_lists().iter().copied().chain(set);
        added.nodes = nodes.filter(|node| new.attributes(*node).is_some()).collect();
        added.are_named(old, new)?.then_some(added)
    }

    /// Whether every new link has a name of its own; `None` if a member is not where it should be.
    fn are_named(&self, old: &Model, new: &Model) -> Option<bool> {
        for &id in &self.groups {
            let group = new.group(id)?;
            let parent = group.parent?;
            if new.subgroup(parent, &group.name) != Some(id) || !is_only_link(new, parent, &group.name) {
                return Some(false);
            }
        }
        for &id in &self.types {
            let (group, name) = (new.type_group(id)?, &new.user_type(id)?.name);
            if new.type_in(group, name) != Some(id) || !is_only_link(new, group, name) {
                return Some(false);
            }
        }
        for &id in &self.dims {
            let (group, name) = (new.dimension_group(id)?, &new.dimension(id)?.name);
            let is_first = new.dimension_in(group, name) == Some(id);
            // A variable of that name may get another link.
            if !is_first || !is_only_link(new, group, name) || !is_unprefixed(new, group, name) {
                return Some(false);
            }
        }
        for &id in self.vars.iter().filter(|id| old.variable(**id).is_none()) {
            let (group, name) = (new.variable_group(id)?, &new.variable(id)?.name);
            let is_first = new.variable_in(group, name) == Some(id);
            let is_linked = if dataset_name(new, id) == name.as_str() {
                is_only_link(new, group, name)
            } else {
                !name.starts_with(NO_COORDINATE) && is_unprefixed(new, group, name)
            };
            if !is_first || !is_linked {
                return Some(false);
            }
        }
        Some(true)
    }

    /// Checks that everything can be described.
    ///
    /// # Errors
    /// The first such thing.
    pub(crate) fn check(&self, images: &ImageSource<'_>, changes: &Changes) -> Result<bool> {
        let (model, ids, addrs) = (images.model, HashMap::new(), HashMap::new());
        let (mut heap, mut space) = (HeapBuilder::new(SIZES), SpaceAllocator::new(0));
        let mut describer = ObjectDescriber {
            model,
            sizes: SIZES,
            addrs: &addrs,
            is_placed: false,
            ids: &ids,
            heap: &mut heap,
            space: &mut space,
        };
        for &id in &self.types {
            describer.committed(id, None)?;
        }
        for &id in self.dims.iter().filter(|id| scale_of(model, **id) == FileObject::Dimension(**id)) {
            describer.dimension(id)?;
        }
        for &id in &self.vars {
            images.variable(&mut describer, id, None)?;
        }
        let link = |name: Cow<'_, str>| message::link(&name, 0, FileAddress(0), SIZES).map(|_| ());
        self.names(model).try_for_each(link)?;
        let listed = changes.attribute_lists().iter();
        let listed = listed.filter_map(|node| model.attributes(*node)?.known()).flat_map(|list| list.iter());
        let set = changes.attributes_set();
        let set = set.filter_map(|(node, name)| model.attributes(node)?.known()?.find(name));
        for attribute in listed.chain(set) {
            check_name(attribute)?;
            describer.encoded(attribute)?;
        }
        let is_fitting = |node: &NodeId| {
            let list = model.attributes(*node).and_then(|state| state.known());
            list.is_some_and(|list| list.len() <= MAX_ATTRIBUTES)
        };
        let is_short = |dim: &DimId| model.dimension(*dim).is_some_and(|dim| dim.len.current() <= MAX_GROWN);
        Ok(self.nodes.iter().all(is_fitting) && self.grown.iter().all(is_short))
    }

    fn names<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = Cow<'a, str>> {
        let groups = self.groups.iter().filter_map(|id| Some(Cow::Borrowed(model.group(*id)?.name.as_str())));
        let types =
            self.types.iter().filter_map(|id| Some(Cow::Borrowed(model.user_type(*id)?.name.as_str())));
        let dims = self.dims.iter().filter_map(|id| Some(Cow::Borrowed(model.dimension(*id)?.name.as_str())));
        let vars = self.vars.iter().map(|id| dataset_name(model, *id));
        groups.chain(types).chain(dims).chain(vars)
    }

    /// The groups that get more members.
    pub(crate) fn homes<'a>(&'a self, model: &'a Model) -> impl Iterator<Item = Option<GroupId>> + 'a {
        let groups = self.groups.iter().map(|id| model.group(*id).and_then(|group| group.parent));
        let types = self.types.iter().map(|id| model.type_group(*id));
        let dims = self.dims.iter().map(|id| model.dimension_group(*id));
        groups.chain(types).chain(dims).chain(self.vars.iter().map(|id| model.variable_group(*id)))
    }

    /// Whether the classic model has everything that was added.
    pub(crate) fn is_classic(&self, model: &Model, changes: &Changes) -> bool {
        let is_classic = |ty: TypeRef| matches!(ty, TypeRef::Atomic(atomic) if atomic.is_classic());
        let has_fixed = |id: &DimId| model.dimension(*id).is_some_and(|dim| !dim.len.is_unlimited());
        let has_type = |id: &VarId| model.variable(*id).is_some_and(|variable| is_classic(variable.ty));
        let is_listed = |node: &NodeId| {
            let list = model.attributes(*node).and_then(|state| state.known());
            list.is_none_or(|list| list.iter().all(|attribute| is_classic(attribute.ty)))
        };
        let found = |(node, name): (NodeId, &str)| -> Option<&Attribute> {
            model.attributes(node)?.known()?.find(name)
        };
        let is_set = |attribute: &Attribute| is_classic(attribute.ty);
        self.groups.is_empty()
            && self.types.is_empty()
            && self.dims.iter().all(has_fixed)
            && self.vars.iter().all(has_type)
            && changes.attribute_lists().iter().all(is_listed)
            && self.vars.iter().all(|id| is_listed(&NodeId::Variable(*id)))
            && changes.attributes_set().filter_map(found).all(is_set)
    }

    /// Variables whose storage may have to be chosen anew: those that changed, and those along dimensions that are longer now.
    pub(crate) fn reshaped(&self, model: &Model) -> BTreeSet<VarId> {
        let users = self.grown.iter().flat_map(|dim| model.users_of(*dim));
        users.chain(self.vars.iter().copied()).collect()
    }
}

fn has_grown(old: &Dimension, new: &Dimension) -> bool {
    let are_unlimited =
        matches!((old.len, new.len), (DimensionLen::Unlimited(_), DimensionLen::Unlimited(_)));
    are_unlimited && old.name == new.name
}

/// Whether one member of a group has a link of that name. Of members of one kind only the first is looked at, and no link of a
/// variable that is named like a dimension.
fn is_only_link(model: &Model, group: GroupId, name: &str) -> bool {
    let variable = model.variable_in(group, name).filter(|id| dataset_name(model, *id) == name);
    let is_alone = |id: &DimId| scale_of(model, *id) == FileObject::Dimension(*id);
    let dimension = model.dimension_in(group, name).filter(is_alone);
    let links = [
        variable.is_some(),
        dimension.is_some(),
        model.type_in(group, name).is_some(),
        model.subgroup(group, name).is_some(),
    ];
    !name.starts_with(NO_COORDINATE) && links.into_iter().filter(|is_link| *is_link).count() == 1
}

/// Whether the link is free that a variable has which is named like a dimension without being its scale.
fn is_unprefixed(model: &Model, group: GroupId, name: &str) -> bool {
    let prefixed = format!("{NO_COORDINATE}{name}");
    let is_variable = model.variable_in(group, &prefixed).is_some();
    let is_dimension = model.dimension_in(group, &prefixed).is_some();
    !is_variable
        && !is_dimension
        && model.type_in(group, &prefixed).is_none()
        && model.subgroup(group, &prefixed).is_none()
}

/// HDF5 has at most 65,535 attributes of an object, of which netCDF hides some.
const MAX_ATTRIBUTES: usize = 65_000;
/// Well below the longest dimension that the format has.
const MAX_GROWN: u64 = 1 << 61;
