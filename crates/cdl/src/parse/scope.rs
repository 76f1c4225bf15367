//! Which member a name means (ncgen(1), "Scoping Rules"): dimensions are looked for outwards, types and the constants of
//! enums outwards and then in the whole tree, the rest in its own group.
use super::words;
use ncirrus_model::{DimId, GroupId, Model, NodeId, TypeId, TypeRef, UserKind, VarId};
use std::collections::HashMap;

/// A name as it stands in the text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Reference {
    /// Without a group.
    Simple(String),
    /// From the root down; never empty.
    Path(Vec<String>),
}

impl std::fmt::Display for Reference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Simple(name) => write!(f, "{:?}", super::token::shortened(name)),
            Self::Path(parts) => write!(f, "{:?}", super::token::shortened(&format!("/{}", parts.join("/")))),
        }
    }
}

/// The members of a group by name.
#[derive(Debug, Default)]
struct GroupNames {
    groups: HashMap<String, GroupId>,
    dims: HashMap<String, DimId>,
    types: HashMap<String, TypeId>,
    vars: HashMap<String, VarId>,
}

/// All names that are declared so far.
#[derive(Debug, Default)]
pub(crate) struct NameTable {
    groups: HashMap<GroupId, GroupNames>,
    /// Types by name, in the order of the text, which is depth first.
    types: HashMap<String, Vec<TypeId>>,
    /// The constants of each enum.
    enums: HashMap<TypeId, HashMap<String, i128>>,
    /// Which enums have a constant, in the order of the text.
    constants: HashMap<String, Vec<TypeId>>,
}

/// What a constant of an enum means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum EnumConstant {
    /// This type has it, with this value.
    Of(TypeId, i128),
    /// Two types have it.
    Ambiguous(TypeId, TypeId),
}

impl NameTable {
    pub(crate) fn add_group(&mut self, parent: GroupId, name: &str, id: GroupId) {
        self.groups.entry(parent).or_default().groups.insert(name.to_owned(), id);
    }

    pub(crate) fn add_dimension(&mut self, group: GroupId, name: &str, id: DimId) {
        self.groups.entry(group).or_default().dims.insert(name.to_owned(), id);
    }

    pub(crate) fn add_variable(&mut self, group: GroupId, name: &str, id: VarId) {
        self.groups.entry(group).or_default().vars.insert(name.to_owned(), id);
    }

    pub(crate) fn add_type(&mut self, group: GroupId, name: &str, id: TypeId, kind: &UserKind) {
        self.groups.entry(group).or_default().types.insert(name.to_owned(), id);
        self.types.entry(name.to_owned()).or_default().push(id);
        let UserKind::Enum { members, .. } = kind else { return };
        for member in members {
            self.constants.entry(member.name.clone()).or_default().push(id);
        }
        let values = members.iter().map(|member| (member.name.clone(), member.value));
        self.enums.insert(id, values.collect());
    }

    /// The subgroup of that name.
    pub(crate) fn subgroup(&self, group: GroupId, name: &str) -> Option<GroupId> {
        self.groups.get(&group)?.groups.get(name).copied()
    }

    /// Whether a dimension of the group has the name.
    pub(crate) fn has_dimension(&self, group: GroupId, name: &str) -> bool {
        self.groups.get(&group).is_some_and(|names| names.dims.contains_key(name))
    }

    /// What in the group has the name, which no other group, type or variable of the group may have.
    pub(crate) fn taken(&self, group: GroupId, name: &str) -> Option<&'static str> {
        let names = self.groups.get(&group)?;
        match () {
            () if names.vars.contains_key(name) => Some("variable"),
            () if names.types.contains_key(name) => Some("type"),
            () if names.groups.contains_key(name) => Some("group"),
            () => None,
        }
    }

    /// The group in front of a path's last name, and that name.
    fn split<'r>(&self, root: GroupId, parts: &'r [String]) -> Option<(GroupId, &'r str)> {
        let (last, groups) = parts.split_last()?;
        let group = groups.iter().try_fold(root, |group, name| self.subgroup(group, name))?;
        Some((group, last))
    }

    pub(crate) fn dimension(&self, model: &Model, group: GroupId, reference: &Reference) -> Option<DimId> {
        match reference {
            Reference::Simple(name) => {
                model.scope(group).into_iter().find_map(|id| self.groups.get(&id)?.dims.get(name).copied())
            }
            Reference::Path(parts) => {
                let (group, name) = self.split(model.root(), parts)?;
                self.groups.get(&group)?.dims.get(name).copied()
            }
        }
    }

    pub(crate) fn variable(&self, model: &Model, group: GroupId, reference: &Reference) -> Option<VarId> {
        let (group, name) = match reference {
            Reference::Simple(name) => (group, name.as_str()),
            Reference::Path(parts) => self.split(model.root(), parts)?,
        };
        self.groups.get(&group)?.vars.get(name).copied()
    }

    /// The user-defined type.
    pub(crate) fn user_type(&self, model: &Model, group: GroupId, reference: &Reference) -> Option<TypeId> {
        match reference {
            Reference::Simple(name) => {
                let mut scope = model.scope(group).into_iter();
                let near = scope.find_map(|id| self.groups.get(&id)?.types.get(name).copied());
                near.or_else(|| self.types.get(name)?.first().copied())
            }
            Reference::Path(parts) => {
                let (group, name) = self.split(model.root(), parts)?;
                self.groups.get(&group)?.types.get(name).copied()
            }
        }
    }

    /// The type, primitive ones included.
    pub(crate) fn any_type(&self, model: &Model, group: GroupId, reference: &Reference) -> Option<TypeRef> {
        let primitive = match reference {
            Reference::Simple(name) => words::atomic(name),
            Reference::Path(_) => None,
        };
        let user = || self.user_type(model, group, reference).map(TypeRef::User);
        primitive.map(TypeRef::Atomic).or_else(user)
    }

    /// Whether the word before an attribute's colon is its type or its variable. A variable of the same group
    /// comes before types of other groups and the words of newer types, which are names in classic kinds.
    pub(crate) fn attribute_holder(
        &self,
        model: &Model,
        group: GroupId,
        reference: &Reference,
    ) -> Option<Result<TypeRef, NodeId>> {
        let here = match reference {
            Reference::Simple(name) => self.groups.get(&group).and_then(|names| names.types.get(name)),
            Reference::Path(_) => None,
        };
        if let Some(id) = here {
            return Some(Ok(TypeRef::User(*id)));
        }
        if let Some(id) = self.variable(model, group, reference) {
            return Some(Err(NodeId::Variable(id)));
        }
        self.any_type(model, group, reference).map(Ok)
    }

    /// The value of a constant where the type is known; the reference may name the type: `A`, `t.A`, `/g/t.A`.
    pub(crate) fn constant_of(
        &self,
        model: &Model,
        group: GroupId,
        ty: TypeId,
        reference: &Reference,
    ) -> Option<i128> {
        if let Reference::Simple(name) = reference
            && let Some(value) = self.enums.get(&ty)?.get(name)
        {
            return Some(*value);
        }
        match self.constant(model, group, reference)? {
            EnumConstant::Of(found, value) if found == ty => Some(value),
            _ => None,
        }
    }

    /// What a constant means where its type is not written.
    pub(crate) fn constant(
        &self,
        model: &Model,
        group: GroupId,
        reference: &Reference,
    ) -> Option<EnumConstant> {
        let last = match reference {
            Reference::Simple(name) => {
                if let Some(types) = self.constants.get(name) {
                    return match types.as_slice() {
                        [one, other, ..] => Some(EnumConstant::Ambiguous(*one, *other)),
                        [one] => Some(EnumConstant::Of(*one, *self.enums.get(one)?.get(name)?)),
                        [] => None,
                    };
                }
                name
            }
            Reference::Path(parts) => parts.last()?,
        };
        // Names may have dots of their own.
        last.match_indices('.').find_map(|(dot, _)| {
            let (ty, constant) = (last.get(..dot)?, last.get(dot + 1..)?);
            let ty = match reference {
                Reference::Simple(_) => Reference::Simple(ty.to_owned()),
                Reference::Path(parts) => {
                    let mut parts = parts.clone();
                    ty.clone_into(parts.last_mut()?);
                    Reference::Path(parts)
                }
            };
            let ty = self.user_type(model, group, &ty)?;
            Some(EnumConstant::Of(ty, *self.enums.get(&ty)?.get(constant)?))
        })
    }
}
