//! Defining the user-defined types that data types imply in the model.
use super::{ReaderType, ShownField};
use ncirrus_model::{Atomic, Field, GroupId, Model, ModelError, TypeRef, UserKind, UserType};

impl ReaderType {
    /// The model's type, defined in the model if it is not an atomic one: complex, opaque and vlen types at the root
    /// under a name that describes them, compounds in `group` under the name of their variable.
    ///
    /// # Errors
    /// `NotFound` if the group does not exist.
    pub(crate) fn define(
        &self,
        model: &mut Model,
        group: GroupId,
        owner: &str,
    ) -> Result<TypeRef, ModelError> {
        let root = model.root();
        let Some(kind) = self.kind(model, group, owner)? else { return Ok(self.atomic().into()) };
        let (home, name) = match (self, &kind) {
            (Self::Complex(Atomic::Float), _) => (root, "_Complex64_t".to_owned()),
            (Self::Complex(_), _) => (root, "_Complex128_t".to_owned()),
            (Self::Opaque(size), _) => (root, format!("_Opaque{size}_t")),
            (_, UserKind::Vlen(TypeRef::Atomic(base))) => (root, format!("_Vlen_{}_t", base.name())),
            _ => (group, format!("{owner}_t")),
        };
        shared(model, home, &name, kind)
    }

    /// The atomic type of the elements, or of the elements' parts.
    fn atomic(&self) -> Atomic {
        match self {
            Self::Atomic(atomic) | Self::Complex(atomic) => *atomic,
            Self::Vlen(base) => base.atomic(),
            Self::Opaque(_) | Self::Compound(_) => Atomic::UByte,
        }
    }

    /// The definition of a type of this form, with the types of its parts already defined; `None` for atomic types.
    ///
    /// # Errors
    /// As [`define`](Self::define).
    pub(crate) fn kind(
        &self,
        model: &mut Model,
        group: GroupId,
        owner: &str,
    ) -> Result<Option<UserKind>, ModelError> {
        Ok(Some(match self {
            Self::Atomic(_) => return Ok(None),
            Self::Complex(part) => {
                let field =
                    |name: &str| Field { name: name.to_owned(), ty: (*part).into(), dims: Vec::new() };
                UserKind::Compound(vec![field("r"), field("i")])
            }
            Self::Opaque(size) => UserKind::Opaque(*size),
            Self::Vlen(base) => UserKind::Vlen(base.define(model, group, &format!("{owner}_item"))?),
            Self::Compound(fields) => {
                let mut members = Vec::with_capacity(fields.len());
                for ShownField { name, shown, dims } in fields {
                    let ty = shown.define(model, group, &format!("{owner}_{name}"))?;
                    members.push(Field { name: name.clone(), ty, dims: dims.clone() });
                }
                UserKind::Compound(members)
            }
        }))
    }
}

/// The type of that kind in a group: the one of that name if it is the same, otherwise a new one with a free name.
fn shared(model: &mut Model, group: GroupId, name: &str, kind: UserKind) -> Result<TypeRef, ModelError> {
    let mut free = name.to_owned();
    let mut number = 1;
    while let Some(id) = model.type_in(group, &free) {
        if model.user_type(id).is_some_and(|ty| ty.kind == kind) {
            return Ok(TypeRef::User(id));
        }
        number += 1;
        free = format!("{name}{number}");
    }
    model.insert_type(group, UserType { name: free, kind }).map(TypeRef::User)
}
