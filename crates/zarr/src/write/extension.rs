//! The object `_ncirrus`: what NCZarr cannot express (`docs/formats/zarr-writing.md`).
use super::attributes::type_name;
use ncirrus_model::{Field, Model, TypeId, TypeRef, UserKind, UserType};
use serde_json::{Map, Value, json};

/// Version of the extension that is written.
const VERSION: u32 = 1;

/// An extension object with these members; `None` if there are none.
pub(crate) fn object(members: Map<String, Value>) -> Option<Value> {
    if members.is_empty() {
        return None;
    }
    let version = std::iter::once(("version".to_owned(), json!(VERSION)));
    Some(Value::Object(version.chain(members).collect()))
}

/// The definition of a type.
pub(crate) fn definition(model: &Model, ty: &UserType) -> Value {
    let name = &ty.name;
    match &ty.kind {
        UserKind::Enum { base, members } => {
            let members: Map<String, Value> =
                members.iter().map(|member| (member.name.clone(), integer(member.value))).collect();
            json!({"name": name, "kind": "enum", "base": base.name(), "members": members})
        }
        UserKind::Opaque(size) => json!({"name": name, "kind": "opaque", "size": size}),
        UserKind::Vlen(base) => json!({"name": name, "kind": "vlen", "base": type_name(model, *base)}),
        UserKind::Compound(fields) => {
            let fields: Vec<Value> = fields.iter().map(|field| field_definition(model, field)).collect();
            json!({"name": name, "kind": "compound", "fields": fields})
        }
    }
}

fn field_definition(model: &Model, field: &Field) -> Value {
    let mut definition = json!({"name": field.name, "type": type_name(model, field.ty)});
    if !field.dims.is_empty() {
        definition["shape"] = json!(field.dims);
    }
    definition
}

/// Constants of enums fit 64 bits, signed or unsigned.
fn integer(value: i128) -> Value {
    u64::try_from(value)
        .map(Value::from)
        .or_else(|_| i64::try_from(value).map(Value::from))
        .unwrap_or(Value::Null)
}

/// A type in the form of the 2018 draft's `.ztypedefs` (docs/spec/nczarr.md 7); `None` if it has none.
pub(crate) fn draft_definition(model: &Model, id: TypeId) -> Option<Value> {
    use super::stored::kind_and_size;
    let dtype = |atomic: ncirrus_model::Atomic| {
        let mark = if atomic.byte_len() == Some(1) { '|' } else { '<' };
        format!("{mark}{}", kind_and_size(atomic))
    };
    match &model.user_type(id)?.kind {
        UserKind::Enum { base, members } => {
            let constants: Map<String, Value> =
                members.iter().map(|member| (member.name.clone(), integer(member.value))).collect();
            Some(json!({"basetype": dtype(*base), "constants": constants}))
        }
        UserKind::Opaque(size) => Some(json!(format!("|V{size}"))),
        UserKind::Vlen(_) => None,
        UserKind::Compound(fields) => {
            let field = |field: &Field| match field.ty {
                TypeRef::Atomic(atomic) if atomic.is_numeric() => Some(match field.dims.as_slice() {
                    [] => json!([field.name, dtype(atomic)]),
                    dims => json!([field.name, dtype(atomic), dims]),
                }),
                _ => None,
            };
            fields.iter().map(field).collect::<Option<Vec<_>>>().map(Value::Array)
        }
    }
}
