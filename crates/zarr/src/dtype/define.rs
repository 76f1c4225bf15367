//! Finding a place in the model for the user-defined types that data types imply.
use super::{Shown, ShownField};
use ncirrus_model::{Atomic, Field, GroupId, Model, ModelError, TypeRef, UserKind, UserType};

impl Shown {
    /// The model's type, defined in the model when it is not an atomic one: complex, opaque and vlen types at the root
    /// under a name that tells what they are, compounds in `group` under the name of what has them.
    ///
    /// # Errors
    /// `NotFound` when the group does not exist.
    pub(crate) fn define(
        &self,
        model: &mut Model,
        group: GroupId,
        owner: &str,
    ) -> Result<TypeRef, ModelError> {
        let root = model.root();
        match self {
            Self::Atomic(atomic) => Ok(TypeRef::Atomic(*atomic)),
            Self::Complex(part) => {
                let name = if *part == Atomic::Float { "_Complex64_t" } else { "_Complex128_t" };
                let field =
                    |name: &str| Field { name: name.to_owned(), ty: (*part).into(), dims: Vec::new() };
                shared(model, root, name, UserKind::Compound(vec![field("r"), field("i")]))
            }
            Self::Opaque(size) => shared(model, root, &format!("_Opaque{size}_t"), UserKind::Opaque(*size)),
            Self::Vlen(base) => {
                let base = base.define(model, group, &format!("{owner}_item"))?;
                let name = match base {
                    TypeRef::Atomic(atomic) => format!("_Vlen_{}_t", atomic.name()),
                    TypeRef::User(_) => format!("{owner}_t"),
                };
                let home = if matches!(base, TypeRef::Atomic(_)) { root } else { group };
                shared(model, home, &name, UserKind::Vlen(base))
            }
            Self::Compound(fields) => {
                let mut members = Vec::with_capacity(fields.len());
                for ShownField { name, shown, dims } in fields {
                    let ty = shown.define(model, group, &format!("{owner}_{name}"))?;
                    members.push(Field { name: name.clone(), ty, dims: dims.clone() });
                }
                shared(model, group, &format!("{owner}_t"), UserKind::Compound(members))
            }
        }
    }
}

/// The type of that kind in a group: the one of that name if it is the same, else a new one with a free name.
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
