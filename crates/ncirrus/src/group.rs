//! A group and its members.
use crate::{Atomic, Attribute, Dataset, DimensionLen, Error, Member, Result, TypeRef, Variable};
use ncirrus_model::{Attributes, Dimension, GroupId, NodeId};

/// A group of a dataset: a handle, cheap to clone.
#[derive(Debug, Clone)]
pub struct Group {
    dataset: Dataset,
    id: GroupId,
}

impl Group {
    pub(crate) fn new(dataset: Dataset, id: GroupId) -> Self {
        Self { dataset, id }
    }

    /// Simple name, empty for the root.
    pub fn name(&self) -> String {
        self.dataset.snapshot().group(self.id).map(|group| group.name.clone()).unwrap_or_default()
    }

    /// Absolute path, `/` for the root.
    pub fn path(&self) -> String {
        self.dataset.snapshot().group_path(self.id)
    }

    /// The model's id of the group.
    pub fn id(&self) -> GroupId {
        self.id
    }

    /// Subgroups in definition order.
    pub fn groups(&self) -> Vec<Self> {
        let model = self.dataset.snapshot();
        let ids = model.group(self.id).map(|group| group.groups.clone()).unwrap_or_default();
        ids.into_iter().map(|id| Self::new(self.dataset.clone(), id)).collect()
    }

    /// Variables in definition order.
    pub fn variables(&self) -> Vec<Variable> {
        let model = self.dataset.snapshot();
        let ids = model.group(self.id).map(|group| group.vars.clone()).unwrap_or_default();
        ids.into_iter().map(|id| Variable::new(self.dataset.clone(), id)).collect()
    }

    /// Dimensions defined in this group, in definition order.
    pub fn dimensions(&self) -> Vec<Dimension> {
        let model = self.dataset.snapshot();
        let ids = model.group(self.id).map(|group| group.dims.as_slice()).unwrap_or_default();
        ids.iter().filter_map(|id| model.dimension(*id).cloned()).collect()
    }

    /// A variable by simple name.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn variable(&self, name: &str) -> Result<Variable> {
        let id = self.dataset.snapshot().variable_in(self.id, name);
        let id = id.ok_or_else(|| {
            Error::no_member(Member::Variable, format_args!("{name:?}")).at_path(self.path())
        })?;
        Ok(Variable::new(self.dataset.clone(), id))
    }

    /// A subgroup by simple name.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn group(&self, name: &str) -> Result<Self> {
        let id = self.dataset.snapshot().subgroup(self.id, name);
        let id =
            id.ok_or_else(|| Error::no_member(Member::Group, format_args!("{name:?}")).at_path(self.path()))?;
        Ok(Self::new(self.dataset.clone(), id))
    }

    /// All attributes, in definition order.
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn attributes(&self) -> Result<Attributes> {
        self.dataset.node_attributes(NodeId::Group(self.id))
    }

    /// An attribute by name; `None` if there is none.
    ///
    /// # Errors
    /// If attributes cannot be read.
    pub fn attribute(&self, name: &str) -> Result<Option<Attribute>> {
        Ok(self.attributes()?.find(name).cloned())
    }

    /// Adds or replaces an attribute.
    ///
    /// # Errors
    /// `Invalid` for a bad name; if the dataset is not open for writing.
    pub fn set_attribute(&self, attribute: Attribute) -> Result<()> {
        self.dataset.set_node_attribute(NodeId::Group(self.id), attribute)
    }

    /// Removes an attribute.
    ///
    /// # Errors
    /// `NotFound`; if the dataset is not open for writing.
    pub fn remove_attribute(&self, name: &str) -> Result<Attribute> {
        self.dataset.remove_node_attribute(NodeId::Group(self.id), name)
    }

    /// Adds a subgroup.
    ///
    /// # Errors
    /// `Invalid` for a bad name, `Conflict` if it is in use.
    pub fn add_group(&self, name: &str) -> Result<Self> {
        let id = self.dataset.edit(|model| Ok(model.add_group(self.id, name)?))?;
        Ok(Self::new(self.dataset.clone(), id))
    }

    /// Adds a dimension.
    ///
    /// # Errors
    /// `Invalid` for a bad name, `Conflict` if it is in use.
    pub fn add_dimension(&self, name: &str, len: DimensionLen) -> Result<()> {
        self.dataset.edit(|model| Ok(model.add_dimension(self.id, name, len).map(|_| ())?))
    }

    /// Adds a variable of an atomic type on dimensions that are visible from this group, by simple name.
    ///
    /// # Errors
    /// `Invalid` for a bad name, `Conflict` if it is in use, `NotFound` for a dimension.
    pub fn add_variable(&self, name: &str, ty: Atomic, dimensions: &[&str]) -> Result<Variable> {
        let id = self.dataset.edit(|model| {
            let find = |name: &&str| {
                let found = model.visible_dimension(self.id, name);
                found.ok_or_else(|| Error::no_member(Member::Dimension, format_args!("{name:?}")))
            };
            let dims = dimensions.iter().map(find).collect::<Result<Vec<_>>>()?;
            Ok(model.add_variable(self.id, name, TypeRef::Atomic(ty), &dims)?)
        })?;
        Ok(Variable::new(self.dataset.clone(), id))
    }
}

impl Dataset {
    pub(crate) fn node_attributes(&self, node: NodeId) -> Result<Attributes> {
        match self.model()?.attributes(node) {
            Some(ncirrus_model::AttributeState::Known(attributes)) => Ok(attributes.clone()),
            Some(ncirrus_model::AttributeState::Damaged(fault)) => Err(fault.clone().into()),
            Some(ncirrus_model::AttributeState::Pending) => Err(Error::internal("attributes are pending")),
            None => Err(Error::not_found("the group or variable was removed")),
        }
    }

    pub(crate) fn set_node_attribute(&self, node: NodeId, attribute: Attribute) -> Result<()> {
        self.edit(|model| {
            model.attributes(node).ok_or_else(|| Error::not_found("it was removed"))?;
            Ok(model.set_attribute(node, attribute)?)
        })
    }

    pub(crate) fn remove_node_attribute(&self, node: NodeId, name: &str) -> Result<Attribute> {
        self.edit(|model| {
            let state = model.attributes_mut(node).ok_or_else(|| Error::not_found("it was removed"))?;
            let removed = state.known_mut().remove(name);
            removed.ok_or_else(|| Error::not_found(format!("no attribute {name:?}")))
        })
    }
}
