//! Changing a model by the rules of netCDF-4.
use super::{
    AttributeState, DimId, Dimension, DimensionLen, FileRoom, GroupId, Model, ModelError, NodeId, TypeId,
    TypeRef, UserType, VarId, Variable, check_name, new_group, next_id,
};
use crate::{Attribute, Fill, Member, UserKind, Values};
use std::collections::HashSet;

impl Model {
    /// An empty root group.
    pub fn new() -> Self {
        Self {
            groups: vec![Some(new_group(String::new(), None))],
            dims: Vec::new(),
            types: Vec::new(),
            vars: Vec::new(),
            room: None,
            tracking: super::Tracking::default(),
            lent: None,
            users: super::DimensionUsers::default(),
        }
    }

    /// Determines where the parts of a netCDF-3 file begin. Until it is called again, what is in its place stays there
    /// as far as there is room.
    pub fn set_room(&mut self, room: FileRoom) {
        self.room = Some(room);
    }

    /// Adds a group.
    ///
    /// # Errors
    /// `BadName`, `NameInUse` (also by a variable or type of that group), `NotFound` for the parent.
    pub fn add_group(&mut self, parent: GroupId, name: &str) -> Result<GroupId, ModelError> {
        let name = check_name(name)?;
        self.free_name(parent, &name)?;
        self.insert_group(parent, name)
    }

    /// Adds a group as found in a file: the name is not checked.
    ///
    /// # Errors
    /// `NotFound` if there is no such parent.
    pub fn insert_group(&mut self, parent: GroupId, name: impl Into<String>) -> Result<GroupId, ModelError> {
        let id = GroupId(next_id(self.groups.len()));
        self.existing(parent)?;
        self.groups.push(Some(new_group(name.into(), Some(parent))));
        self.enlist(parent, id);
        Ok(id)
    }

    /// Adds a dimension.
    ///
    /// # Errors
    /// `BadName`, `NameInUse` by another dimension of the group, `NotFound` for the group.
    pub fn add_dimension(
        &mut self,
        group: GroupId,
        name: &str,
        len: DimensionLen,
    ) -> Result<DimId, ModelError> {
        let name = check_name(name)?;
        if self.dimension_in(group, &name).is_some() {
            return Err(self.in_use(group, name));
        }
        self.insert_dimension(group, Dimension { name, len })
    }

    /// Adds a dimension as found in a file: the name is not checked.
    ///
    /// # Errors
    /// `NotFound` if there is no such group.
    pub fn insert_dimension(&mut self, group: GroupId, dimension: Dimension) -> Result<DimId, ModelError> {
        let id = DimId(next_id(self.dims.len()));
        self.existing(group)?;
        self.tracking.dim(id);
        self.dims.push(Some((group, dimension)));
        self.enlist(group, id);
        Ok(id)
    }

    /// Adds a user-defined type; the types that it refers to must be visible from the group.
    ///
    /// # Errors
    /// `BadName`, `NameInUse`, `BadType` (no members, repeated member, value outside an enum's base), `OutOfScope`.
    pub fn add_type(&mut self, group: GroupId, mut ty: UserType) -> Result<TypeId, ModelError> {
        ty.name = check_name(&ty.name)?;
        self.free_name(group, &ty.name)?;
        self.check_type(group, &ty)?;
        self.insert_type(group, ty)
    }

    /// Adds a user-defined type as found in a file.
    ///
    /// # Errors
    /// `NotFound` if there is no such group.
    pub fn insert_type(&mut self, group: GroupId, ty: UserType) -> Result<TypeId, ModelError> {
        let id = TypeId(next_id(self.types.len()));
        self.existing(group)?;
        self.tracking.ty(id);
        self.types.push(Some((group, ty)));
        self.enlist(group, id);
        Ok(id)
    }

    /// Adds a variable with no attributes and everything else default.
    ///
    /// # Errors
    /// `BadName`, `NameInUse`, `OutOfScope` if a dimension or the type is not visible from the group.
    pub fn add_variable(
        &mut self,
        group: GroupId,
        name: &str,
        ty: TypeRef,
        dims: &[DimId],
    ) -> Result<VarId, ModelError> {
        let name = check_name(name)?;
        self.free_name(group, &name)?;
        let scope = self.scope(group);
        for &dim in dims {
            if !self.dimension_group(dim).is_some_and(|home| scope.contains(&home)) {
                let (what, name) = ("dimension", self.dimension_path(dim));
                return Err(ModelError::OutOfScope { what, name, group: self.group_path(group) });
            }
        }
        self.type_in_scope(group, ty)?;
        self.insert_variable(group, Variable::new(name, ty, dims.to_vec()))
    }

    /// Adds a variable as found in a file: names and scopes are not checked.
    ///
    /// # Errors
    /// `NotFound` if there is no such group.
    pub fn insert_variable(&mut self, group: GroupId, variable: Variable) -> Result<VarId, ModelError> {
        let id = VarId(next_id(self.vars.len()));
        self.existing(group)?;
        self.take_back();
        self.tracking.var(id);
        self.vars.push(Some((group, variable)));
        self.users.add(&self.vars, id);
        self.enlist(group, id);
        Ok(id)
    }

    /// Adds or replaces an attribute, as [`Attributes::set`](crate::Attributes::set).
    ///
    /// # Errors
    /// `BadName`; `NotFound` if there is no such group or variable.
    pub fn set_attribute(&mut self, node: NodeId, mut attribute: Attribute) -> Result<(), ModelError> {
        attribute.name = check_name(&attribute.name)?;
        self.put_attribute(node, attribute)
    }

    /// Adds or replaces an attribute without checking its name.
    ///
    /// # Errors
    /// `NotFound` if there is no such group or variable.
    pub fn put_attribute(&mut self, node: NodeId, attribute: Attribute) -> Result<(), ModelError> {
        match self.attributes(node) {
            None => return Err(missing(Member::Attribute, &attribute.name)),
            Some(AttributeState::Known(_)) => self.tracking.attribute(node, &attribute.name),
            Some(AttributeState::Pending | AttributeState::Damaged(_)) => self.tracking.attributes(node),
        }
        if let Some(state) = self.attributes_slot(node) {
            state.known_mut().put(attribute);
        }
        Ok(())
    }

    /// Sets a variable's fill value (one element of its type), which its attribute `_FillValue` holds. Unlike a change of
    /// the attribute it counts as a choice ([`Changes::chose_fill`](crate::Changes::chose_fill)).
    ///
    /// # Errors
    /// `BadValue` if it is not one element of the variable's type; `NotFound`.
    pub fn set_fill(&mut self, id: VarId, fill: Values) -> Result<(), ModelError> {
        let Some(variable) = self.variable(id) else { return Err(missing(Member::Variable, "?")) };
        let ty = variable.ty;
        let fits = match self.base_atomic(ty) {
            Some(atomic) => fill.atomic() == Some(atomic),
            None => fill.is_of(ty),
        };
        if !fits || fill.len() != 1 {
            let reason = format!("{} needs one element of its own type", self.variable_path(id));
            return Err(ModelError::BadValue { what: "fill value", reason });
        }
        self.tracking.fill(id);
        if let Some(variable) = self.variable_mut(id) {
            variable.attributes.known_mut().put(Attribute {
                name: "_FillValue".to_owned(),
                ty,
                values: fill,
                is_json: false,
            });
            variable.fill = Fill::Attribute;
        }
        Ok(())
    }

    /// Raises the current length of an unlimited dimension to at least `len`.
    ///
    /// # Errors
    /// `BadValue` if the dimension is fixed and shorter; `NotFound`.
    pub fn grow(&mut self, id: DimId, len: u64) -> Result<(), ModelError> {
        let path = self.dimension_path(id);
        self.tracking.dim(id);
        let Some(Some((_, dimension))) = self.dims.get_mut(id.index()) else {
            return Err(missing(Member::Dimension, &path));
        };
        match &mut dimension.len {
            DimensionLen::Unlimited(current) => *current = len.max(*current),
            DimensionLen::Fixed(current) if len <= *current => {}
            DimensionLen::Fixed(current) => {
                let reason = format!("{path} is fixed at {current} and cannot grow to {len}");
                return Err(ModelError::BadValue { what: "dimension length", reason });
            }
        }
        Ok(())
    }

    /// Sets a dimension's length, whatever it was.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn set_dimension_len(&mut self, id: DimId, len: DimensionLen) -> Result<(), ModelError> {
        self.tracking.dim(id);
        match self.dims.get_mut(id.index()) {
            Some(Some((_, dimension))) => {
                dimension.len = len;
                Ok(())
            }
            _ => Err(missing(Member::Dimension, "?")),
        }
    }

    /// Renames a dimension.
    ///
    /// # Errors
    /// `BadName`, `NameInUse`, `NotFound`.
    pub fn rename_dimension(&mut self, id: DimId, name: &str) -> Result<(), ModelError> {
        let name = check_name(name)?;
        let group = self.dimension_group(id).ok_or_else(|| missing(Member::Dimension, &name))?;
        if self.dimension_in(group, &name).is_some_and(|other| other != id) {
            return Err(self.in_use(group, name));
        }
        self.tracking.dim(id);
        if let Some(Some((_, dimension))) = self.dims.get_mut(id.index()) {
            let former = std::mem::replace(&mut dimension.name, name);
            self.renamed(group, id, &former);
        }
        Ok(())
    }

    /// Renames a variable.
    ///
    /// # Errors
    /// `BadName`, `NameInUse`, `NotFound`.
    pub fn rename_variable(&mut self, id: VarId, name: &str) -> Result<(), ModelError> {
        let name = check_name(name)?;
        let group = self.variable_group(id).ok_or_else(|| missing(Member::Variable, &name))?;
        if self.variable(id).is_some_and(|variable| variable.name == name) {
            return Ok(());
        }
        self.free_name(group, &name)?;
        if let Some(variable) = self.variable_mut(id) {
            variable.name = name;
        }
        Ok(())
    }

    /// Renames a group; the root has no name to change.
    ///
    /// # Errors
    /// `BadName`, `NameInUse`, `NotFound`.
    pub fn rename_group(&mut self, id: GroupId, name: &str) -> Result<(), ModelError> {
        let name = check_name(name)?;
        let parent =
            self.group(id).and_then(|group| group.parent).ok_or_else(|| missing(Member::Group, &name))?;
        if self.group(id).is_some_and(|group| group.name == name) {
            return Ok(());
        }
        self.free_name(parent, &name)?;
        self.tracking.group(parent);
        self.tracking.group(id);
        if let Some(group) = self.group_slot(id) {
            let former = std::mem::replace(&mut group.name, name);
            self.renamed(parent, id, &former);
        }
        Ok(())
    }

    /// Renames a user-defined type.
    ///
    /// # Errors
    /// `BadName`, `NameInUse`, `NotFound`.
    pub fn rename_type(&mut self, id: TypeId, name: &str) -> Result<(), ModelError> {
        let name = check_name(name)?;
        let group = self.type_group(id).ok_or_else(|| missing(Member::Type, &name))?;
        if self.user_type(id).is_some_and(|ty| ty.name == name) {
            return Ok(());
        }
        self.free_name(group, &name)?;
        self.tracking.ty(id);
        if let Some(Some((_, ty))) = self.types.get_mut(id.index()) {
            let former = std::mem::replace(&mut ty.name, name);
            self.renamed(group, id, &former);
        }
        Ok(())
    }

    /// Removes a variable.
    ///
    /// # Errors
    /// `NotFound`.
    pub fn remove_variable(&mut self, id: VarId) -> Result<Variable, ModelError> {
        self.tracking.var(id);
        self.take_back();
        self.users.remove(&self.vars, id);
        let slot = self.vars.get_mut(id.index()).and_then(Option::take);
        let (group, variable) = slot.ok_or_else(|| missing(Member::Variable, "?"))?;
        self.delist(group, id, &variable.name);
        Ok(variable)
    }

    /// Removes a dimension that no variable uses.
    ///
    /// # Errors
    /// `InUse` with the variable's path, `NotFound`.
    pub fn remove_dimension(&mut self, id: DimId) -> Result<Dimension, ModelError> {
        if let Some(user) = self.users_of(id).next() {
            let (name, by) = (self.dimension_path(id), self.variable_path(user));
            return Err(ModelError::InUse { what: "dimension", name, by });
        }
        self.tracking.dim(id);
        let slot = self.dims.get_mut(id.index()).and_then(Option::take);
        let (group, dimension) = slot.ok_or_else(|| missing(Member::Dimension, "?"))?;
        self.delist(group, id, &dimension.name);
        Ok(dimension)
    }

    /// Removes a group that has no members.
    ///
    /// # Errors
    /// `InUse` if it has members, `NotFound` (also for the root).
    pub fn remove_group(&mut self, id: GroupId) -> Result<(), ModelError> {
        let path = self.group_path(id);
        let group = self.group(id).ok_or_else(|| missing(Member::Group, &path))?;
        let parent = group.parent.ok_or_else(|| missing(Member::Group, "/"))?;
        if !group.is_empty() {
            return Err(ModelError::InUse { what: "group", name: path, by: "its members".to_owned() });
        }
        self.tracking.group(parent);
        self.tracking.group(id);
        let slot = self.groups.get_mut(id.index()).and_then(Option::take);
        self.delist(parent, id, &slot.map(|group| group.name).unwrap_or_default());
        Ok(())
    }

    /// Whether a type refers, directly or through its members, to strings or vlens.
    pub fn is_variable_length(&self, ty: TypeRef) -> bool {
        self.packed_len(ty).is_none()
    }

    fn existing(&self, group: GroupId) -> Result<(), ModelError> {
        self.group(group).map(|_| ()).ok_or_else(|| missing(Member::Group, "?"))
    }

    fn in_use(&self, group: GroupId, name: String) -> ModelError {
        ModelError::NameInUse { name, group: self.group_path(group) }
    }

    /// Groups, variables and types of one group share a name space; dimensions have their own.
    fn free_name(&self, group: GroupId, name: &str) -> Result<(), ModelError> {
        let taken = self.subgroup(group, name).is_some()
            || self.variable_in(group, name).is_some()
            || self.type_in(group, name).is_some();
        if taken { Err(self.in_use(group, name.to_owned())) } else { Ok(()) }
    }

    fn type_in_scope(&self, group: GroupId, ty: TypeRef) -> Result<(), ModelError> {
        let TypeRef::User(id) = ty else { return Ok(()) };
        match self.type_group(id) {
            Some(home) if self.scope(group).contains(&home) => Ok(()),
            Some(_) => {
                let name = self.type_path(id);
                Err(ModelError::OutOfScope { what: "type", name, group: self.group_path(group) })
            }
            None => Err(missing(Member::Type, "?")),
        }
    }

    fn check_type(&self, group: GroupId, ty: &UserType) -> Result<(), ModelError> {
        let bad = |reason: String| ModelError::BadType { name: ty.name.clone(), reason };
        match &ty.kind {
            UserKind::Opaque(0) => Err(bad("an opaque type has at least one byte".to_owned())),
            UserKind::Opaque(_) => Ok(()),
            UserKind::Vlen(base) => self.type_in_scope(group, *base),
            UserKind::Compound(fields) => {
                if fields.is_empty() {
                    return Err(bad("a compound has at least one field".to_owned()));
                }
                let mut names = HashSet::new();
                for field in fields {
                    check_name(&field.name)?;
                    self.type_in_scope(group, field.ty)?;
                    if !names.insert(&field.name) {
                        return Err(bad(format!("field {:?} occurs twice", field.name)));
                    }
                }
                Ok(())
            }
            UserKind::Enum { base, members } => check_enum(*base, members, bad),
        }
    }
}

fn check_enum(
    base: crate::Atomic,
    members: &[crate::EnumMember],
    bad: impl Fn(String) -> ModelError,
) -> Result<(), ModelError> {
    let Some((low, high)) = base.integer_range() else {
        return Err(bad(format!("an enum cannot be based on {}", base.name())));
    };
    if members.is_empty() {
        return Err(bad("an enum has at least one member".to_owned()));
    }
    let (mut names, mut values) = (HashSet::new(), HashSet::new());
    for member in members {
        check_name(&member.name)?;
        if !(low..=high).contains(&member.value) {
            return Err(bad(format!("{} = {} is outside {}", member.name, member.value, base.name())));
        }
        if !names.insert(&member.name) || !values.insert(member.value) {
            return Err(bad(format!("{} = {} occurs twice", member.name, member.value)));
        }
    }
    Ok(())
}

fn missing(what: Member, name: &str) -> ModelError {
    ModelError::NotFound { what, name: name.to_owned() }
}
