//! Types of structures, sequences and opaque values.
use super::refused;
use crate::conversion::ValueConversion;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Field, GroupId, Model, TypeId, TypeRef, UserKind, UserType};

/// The type of a variable, member or column, before it has names.
#[derive(Debug, Clone)]
pub(super) enum TypeTree {
    /// Numbers, characters or strings, of that type in answers and of this one in the view.
    Atomic { shown: Atomic, conversion: ValueConversion },
    /// One that is defined.
    Defined(TypeId),
    /// Bytes: of one size, or of any.
    Opaque(Option<u64>),
    /// Members.
    Structure(Vec<MemberTree>),
    /// Rows of columns; `unwrapped`: there is one column, and rows are its values.
    Sequence { columns: Vec<MemberTree>, unwrapped: bool },
}

/// A member of a structure, or a column.
#[derive(Debug, Clone)]
pub(super) struct MemberTree {
    pub(super) name: String,
    pub(super) ty: TypeTree,
    pub(super) dims: Vec<u64>,
}

/// Defines what a type needs, named after its variable, in a group.
pub(super) fn define(
    model: &mut Model,
    group: GroupId,
    name: &str,
    tree: &TypeTree,
) -> Result<(TypeRef, ValueConversion)> {
    Ok(match tree {
        TypeTree::Atomic { shown, conversion } => (TypeRef::Atomic(*shown), conversion.clone()),
        TypeTree::Defined(id) => (TypeRef::User(*id), ValueConversion::Same),
        TypeTree::Opaque(Some(size)) => {
            let id = shared(model, &format!("opaque{size}_t"), UserKind::Opaque(*size))?;
            (id, ValueConversion::Opaque(*size))
        }
        TypeTree::Opaque(None) => {
            let kind = UserKind::Vlen(TypeRef::Atomic(Atomic::UByte));
            (shared(model, "opaque_t", kind)?, ValueConversion::Same)
        }
        TypeTree::Structure(members) => compound(model, group, (name, "_t"), members)?,
        TypeTree::Sequence { columns, unwrapped: true } if columns.len() == 1 => {
            let only = columns.first().ok_or_else(|| Error::internal("a sequence without columns"))?;
            let (base, _) = define(model, group, &format!("{name}_base"), &only.ty)?;
            let id = insert(model, group, &format!("{name}_t"), UserKind::Vlen(base))?;
            (id, ValueConversion::Unwrapped)
        }
        TypeTree::Sequence { columns, .. } => {
            let (base, conversion) = compound(model, group, (name, "_base_t"), columns)?;
            let id = insert(model, group, &format!("{name}_t"), UserKind::Vlen(base))?;
            (id, ValueConversion::Vlen(Box::new(conversion)))
        }
    })
}

fn compound(
    model: &mut Model,
    group: GroupId,
    (name, ending): (&str, &str),
    members: &[MemberTree],
) -> Result<(TypeRef, ValueConversion)> {
    let (mut fields, mut conversions) = (Vec::new(), Vec::new());
    for member in members {
        let (ty, conversion) = define(model, group, &format!("{name}_{}", member.name), &member.ty)?;
        fields.push(Field { name: member.name.clone(), ty, dims: member.dims.clone() });
        conversions.push(conversion);
    }
    let all_same = conversions.iter().all(|conversion| *conversion == ValueConversion::Same);
    let conversion = if all_same { ValueConversion::Same } else { ValueConversion::Compound(conversions) };
    Ok((insert(model, group, &format!("{name}{ending}"), UserKind::Compound(fields))?, conversion))
}

/// A type of the root group that all variables share.
fn shared(model: &mut Model, name: &str, kind: UserKind) -> Result<TypeRef> {
    let root = model.root();
    if let Some(id) = model.type_in(root, name)
        && model.user_type(id).is_some_and(|ty| ty.kind == kind)
    {
        return Ok(TypeRef::User(id));
    }
    insert(model, root, name, kind)
}

/// Defines a type; if its name is in use it is numbered.
fn insert(model: &mut Model, group: GroupId, name: &str, kind: UserKind) -> Result<TypeRef> {
    let is_free = |name: &str| {
        model.type_in(group, name).is_none()
            && model.variable_in(group, name).is_none()
            && model.subgroup(group, name).is_none()
    };
    let numbered = |number: usize| if number == 0 { name.to_owned() } else { format!("{name}_{number}") };
    let name = (0..).map(numbered).find(|candidate| is_free(candidate)).unwrap_or_default();
    let id = model.insert_type(group, UserType { name, kind }).map_err(|error| refused(&error))?;
    Ok(TypeRef::User(id))
}
