//! Finding members: by id, by name, by path, and by netCDF's scope rules.
use super::{DimId, Dimension, Group, GroupId, GroupMut, Model, NodeId, TypeId, VarId};
use crate::{Atomic, AttributeState, Field, FileRoom, TypeRef, UserKind, UserType, Values, Variable};

impl Model {
    /// The root group.
    pub fn root(&self) -> GroupId {
        GroupId(0)
    }

    /// A group by id. Ids come from this model or from an earlier state of it; `None` once deleted.
    pub fn group(&self, id: GroupId) -> Option<&Group> {
        self.groups.get(id.index())?.as_ref()
    }

    /// A group by id, for changing what is not subject to rules (attributes, fault).
    pub fn group_mut(&mut self, id: GroupId) -> Option<GroupMut<'_>> {
        self.tracking.group(id);
        let Group { attributes, fault, .. } = self.group_slot(id)?;
        Some(GroupMut { attributes, fault })
    }

    pub(super) fn group_slot(&mut self, id: GroupId) -> Option<&mut Group> {
        self.groups.get_mut(id.index())?.as_mut()
    }

    /// A dimension by id.
    pub fn dimension(&self, id: DimId) -> Option<&Dimension> {
        self.dims.get(id.index())?.as_ref().map(|(_, dimension)| dimension)
    }

    /// Where the parts of a netCDF-3 file begin, if somebody determined it.
    pub fn room(&self) -> Option<FileRoom> {
        self.room
    }

    /// A user-defined type by id.
    pub fn user_type(&self, id: TypeId) -> Option<&UserType> {
        self.types.get(id.index())?.as_ref().map(|(_, ty)| ty)
    }

    /// The kind of a user-defined type, for adding members while nothing has values of it. Rules are not checked.
    pub fn user_kind_mut(&mut self, id: TypeId) -> Option<&mut UserKind> {
        self.tracking.ty(id);
        self.types.get_mut(id.index())?.as_mut().map(|(_, ty)| &mut ty.kind)
    }

    /// A variable by id.
    pub fn variable(&self, id: VarId) -> Option<&Variable> {
        self.vars.get(id.index())?.as_ref().map(|(_, variable)| variable)
    }

    /// A variable by id, for changing what is not subject to rules (attributes, fill, storage, filters, fault).
    pub fn variable_mut(&mut self, id: VarId) -> Option<&mut Variable> {
        self.tracking.var(id);
        self.lend(id);
        self.users.lend(&self.vars, id);
        self.vars.get_mut(id.index())?.as_mut().map(|(_, variable)| variable)
    }

    /// The attributes of a group or variable.
    pub fn attributes(&self, node: NodeId) -> Option<&AttributeState> {
        match node {
            NodeId::Group(id) => self.group(id).map(|group| &group.attributes),
            NodeId::Variable(id) => self.variable(id).map(|variable| &variable.attributes),
        }
    }

    /// The attributes of a group or variable, for changing.
    pub fn attributes_mut(&mut self, node: NodeId) -> Option<&mut AttributeState> {
        self.tracking.attributes(node);
        self.attributes_slot(node)
    }

    /// Takes over attributes of a group or variable that were read after the rest, as
    /// [`Variable::take_attributes`](crate::Variable::take_attributes).
    pub fn take_attributes(&mut self, node: NodeId, attributes: AttributeState) {
        match node {
            NodeId::Group(_) => {
                if let Some(state) = self.attributes_mut(node) {
                    *state = attributes;
                }
            }
            NodeId::Variable(id) => {
                self.tracking.var(id);
                if let Some(Some((_, variable))) = self.vars.get_mut(id.index()) {
                    variable.take_attributes(attributes);
                }
            }
        }
    }

    pub(super) fn attributes_slot(&mut self, node: NodeId) -> Option<&mut AttributeState> {
        match node {
            NodeId::Group(id) => self.group_slot(id).map(|group| &mut group.attributes),
            NodeId::Variable(id) => {
                let slot = self.vars.get_mut(id.index())?.as_mut();
                slot.map(|(_, variable)| &mut variable.attributes)
            }
        }
    }

    /// A member with a dangling id, in words: `dimension 3 of the variable /v`. A model that is changed only by its
    /// own methods has none. Writers check this first, because the output would look valid without the member.
    pub fn dangling(&self) -> Option<String> {
        let lost = |what: &str, id: Option<usize>, of: &str, path: &dyn Fn() -> String| {
            id.map(|id| format!("{what} {id} of the {of} {}", path()))
        };
        let of_group = |id: GroupId| {
            let (group, path) = (self.group(id)?, || self.group_path(id));
            let sub = group.groups.iter().find(|id| self.group(**id).is_none()).map(|id| id.index());
            let dim = group.dims.iter().find(|id| self.dimension(**id).is_none()).map(|id| id.index());
            let ty = group.types.iter().find(|id| self.user_type(**id).is_none()).map(|id| id.index());
            let var = group.vars.iter().find(|id| self.variable(**id).is_none()).map(|id| id.index());
            let all = [("group", sub), ("dimension", dim), ("type", ty), ("variable", var)];
            all.into_iter().find_map(|(what, id)| lost(what, id, "group", &path))
        };
        let of_variable = |id: VarId| {
            let (variable, path) = (self.variable(id)?, || self.variable_path(id));
            let dim = variable.dims.iter().find(|id| self.dimension(**id).is_none()).map(|id| id.index());
            let ty = match variable.ty {
                TypeRef::User(id) if self.user_type(id).is_none() => Some(id.index()),
                _ => None,
            };
            let all = [("dimension", dim), ("type", ty)];
            all.into_iter().find_map(|(what, id)| lost(what, id, "variable", &path))
        };
        let groups = self.walk().into_iter().find_map(of_group);
        groups.or_else(|| self.variables().into_iter().find_map(of_variable))
    }

    /// The group in which a dimension is defined.
    pub fn dimension_group(&self, id: DimId) -> Option<GroupId> {
        self.dims.get(id.index())?.as_ref().map(|(group, _)| *group)
    }

    /// The group in which a type is defined.
    pub fn type_group(&self, id: TypeId) -> Option<GroupId> {
        self.types.get(id.index())?.as_ref().map(|(group, _)| *group)
    }

    /// The group in which a variable is defined.
    pub fn variable_group(&self, id: VarId) -> Option<GroupId> {
        self.vars.get(id.index())?.as_ref().map(|(group, _)| *group)
    }

    /// All groups, the root first, each before its subgroups, siblings in definition order.
    pub fn walk(&self) -> Vec<GroupId> {
        let mut order = Vec::new();
        let mut stack = vec![self.root()];
        while let Some(id) = stack.pop() {
            if let Some(group) = self.group(id) {
                order.push(id);
                stack.extend(group.groups.iter().rev());
            }
        }
        order
    }

    /// All variables, in the order of [`walk`](Self::walk) and of definition.
    pub fn variables(&self) -> Vec<VarId> {
        self.walk().into_iter().filter_map(|id| self.group(id)).flat_map(|group| group.vars.clone()).collect()
    }

    /// All types, in the order of [`walk`](Self::walk) and of definition.
    pub fn types(&self) -> Vec<TypeId> {
        self.walk()
            .into_iter()
            .filter_map(|id| self.group(id))
            .flat_map(|group| group.types.clone())
            .collect()
    }

    /// Everything that has attributes: all groups, then all variables.
    pub fn nodes(&self) -> Vec<NodeId> {
        let groups = self.walk().into_iter().map(NodeId::Group);
        groups.chain(self.variables().into_iter().map(NodeId::Variable)).collect()
    }

    /// Current shape of a variable, one length per dimension; empty for a scalar.
    pub fn shape(&self, id: VarId) -> Vec<u64> {
        let dims = self.variable(id).map(|variable| variable.dims.as_slice()).unwrap_or_default();
        dims.iter().map(|&dim| self.dimension(dim).map_or(0, |dimension| dimension.len.current())).collect()
    }

    /// Which axes of a variable may grow, one entry per dimension.
    pub fn growing(&self, id: VarId) -> Vec<bool> {
        let dims = self.variable(id).map(|variable| variable.dims.as_slice()).unwrap_or_default();
        dims.iter()
            .map(|&dim| self.dimension(dim).is_some_and(|dimension| dimension.len.is_unlimited()))
            .collect()
    }

    /// Absolute path of a group, `/` for the root.
    pub fn group_path(&self, id: GroupId) -> String {
        let mut names = Vec::new();
        let mut at = Some(id);
        while let Some(group) = at.and_then(|id| self.group(id)) {
            names.push(group.name.as_str());
            at = group.parent;
        }
        names.pop();
        names.reverse();
        format!("/{}", names.join("/"))
    }

    /// Absolute path of a variable, such as `/g1/v`.
    pub fn variable_path(&self, id: VarId) -> String {
        self.path_in(self.variable_group(id), self.variable(id).map(|variable| variable.name.as_str()))
    }

    /// Absolute path of a dimension.
    pub fn dimension_path(&self, id: DimId) -> String {
        self.path_in(self.dimension_group(id), self.dimension(id).map(|dimension| dimension.name.as_str()))
    }

    /// Absolute path of a user-defined type.
    pub fn type_path(&self, id: TypeId) -> String {
        self.path_in(self.type_group(id), self.user_type(id).map(|ty| ty.name.as_str()))
    }

    fn path_in(&self, group: Option<GroupId>, name: Option<&str>) -> String {
        let path = group.map(|group| self.group_path(group)).unwrap_or_default();
        format!("{}/{}", path.trim_end_matches('/'), name.unwrap_or("?"))
    }

    /// A subgroup of a group by simple name. If a damaged file has several members of one name, it is the first here
    /// and in the functions below.
    pub fn subgroup(&self, group: GroupId, name: &str) -> Option<GroupId> {
        self.member_in(group, name)
    }

    /// A variable of a group by simple name.
    pub fn variable_in(&self, group: GroupId, name: &str) -> Option<VarId> {
        self.variable_named(group, name)
    }

    /// A dimension of a group (not of its parents) by simple name.
    pub fn dimension_in(&self, group: GroupId, name: &str) -> Option<DimId> {
        self.member_in(group, name)
    }

    /// A type of a group (not of its parents) by simple name.
    pub fn type_in(&self, group: GroupId, name: &str) -> Option<TypeId> {
        self.member_in(group, name)
    }

    /// The group itself and the enclosing ones, innermost first: the scope in which dimensions and types are visible.
    pub fn scope(&self, group: GroupId) -> Vec<GroupId> {
        let mut scope = Vec::new();
        let mut at = Some(group);
        while let Some(id) = at {
            scope.push(id);
            at = self.group(id).and_then(|group| group.parent);
        }
        scope
    }

    /// The dimension that a simple name refers to in a group: the nearest enclosing one.
    pub fn visible_dimension(&self, group: GroupId, name: &str) -> Option<DimId> {
        self.scope(group).into_iter().find_map(|id| self.dimension_in(id, name))
    }

    /// The user-defined type that a simple name refers to in a group: the nearest enclosing one.
    pub fn visible_type(&self, group: GroupId, name: &str) -> Option<TypeId> {
        self.scope(group).into_iter().find_map(|id| self.type_in(id, name))
    }

    /// The group at a path; relative to the root, a leading `/` is optional.
    pub fn group_at(&self, path: &str) -> Option<GroupId> {
        let mut parts = path.split('/').filter(|part| !part.is_empty());
        parts.try_fold(self.root(), |group, part| self.subgroup(group, part))
    }

    /// The variable at a path; relative to the root, a leading `/` is optional.
    pub fn variable_at(&self, path: &str) -> Option<VarId> {
        let (group, name) = split_path(path);
        self.variable_in(self.group_at(group)?, name)
    }

    /// The dimension at a path.
    pub fn dimension_at(&self, path: &str) -> Option<DimId> {
        let (group, name) = split_path(path);
        self.dimension_in(self.group_at(group)?, name)
    }

    /// The user-defined type at a path.
    pub fn type_at(&self, path: &str) -> Option<TypeId> {
        let (group, name) = split_path(path);
        self.type_in(self.group_at(group)?, name)
    }

    /// The coordinate variable of a dimension: one-dimensional, of the same name, in the dimension's group.
    pub fn coordinate_of(&self, dim: DimId) -> Option<VarId> {
        let group = self.dimension_group(dim)?;
        let id = self.variable_in(group, &self.dimension(dim)?.name)?;
        (self.variable(id)?.dims == [dim]).then_some(id)
    }

    /// The atomic type that holds a type's values: itself, or the base of an enum.
    pub fn base_atomic(&self, ty: TypeRef) -> Option<Atomic> {
        match ty {
            TypeRef::Atomic(atomic) => Some(atomic),
            TypeRef::User(id) => match self.user_type(id)?.kind {
                UserKind::Enum { base, .. } => Some(base),
                UserKind::Compound(_) | UserKind::Opaque(_) | UserKind::Vlen(_) => None,
            },
        }
    }

    /// Size of one packed element (no padding between fields); `None` if the type contains strings or vlens, is not
    /// defined, or does not fit 64 bits.
    pub fn packed_len(&self, ty: TypeRef) -> Option<u64> {
        match ty {
            TypeRef::Atomic(atomic) => atomic.byte_len().map(|len| len as u64),
            TypeRef::User(id) => match &self.user_type(id)?.kind {
                UserKind::Enum { base, .. } => base.byte_len().map(|len| len as u64),
                UserKind::Opaque(size) => Some(*size),
                UserKind::Vlen(_) => None,
                UserKind::Compound(fields) => fields.iter().try_fold(0u64, |sum, field| {
                    sum.checked_add(self.packed_len(field.ty)?.checked_mul(field.element_count())?)
                }),
            },
        }
    }

    /// `count` zeros of a type: 0, NUL, null strings, opaque zeros, empty vlens; `None` if it is not defined, nested
    /// in `depth` types or more, or does not fit this machine.
    pub fn zeros(&self, ty: TypeRef, count: usize, depth: u32) -> Option<Values> {
        let depth = depth.checked_sub(1)?;
        let kind = match ty {
            TypeRef::Atomic(atomic) => return Some(Values::zeroed(atomic, count)),
            TypeRef::User(id) => &self.user_type(id)?.kind,
        };
        Some(match kind {
            UserKind::Enum { base, .. } => Values::zeroed(*base, count),
            UserKind::Opaque(size) => {
                let size = usize::try_from(*size).ok()?;
                Values::Opaque { size, bytes: vec![0; size.checked_mul(count)?] }
            }
            UserKind::Vlen(base) => {
                Values::Vlen { ends: vec![0; count], elements: Box::new(self.zeros(*base, 0, depth)?) }
            }
            UserKind::Compound(fields) => {
                let column = |field: &Field| {
                    let each = usize::try_from(field.element_count()).ok()?;
                    self.zeros(field.ty, each.checked_mul(count)?, depth)
                };
                Values::Compound { len: count, fields: fields.iter().map(column).collect::<Option<_>>()? }
            }
        })
    }
}

fn split_path(path: &str) -> (&str, &str) {
    path.rsplit_once('/').unwrap_or(("", path))
}
