//! Types, as Python describes them.
use crate::errors::{exception, invalid};
use ncirrus::{
    Atomic, EnumMember, Error, ExtendedType, Field, GroupId, Member, Model, TypeRef, UserKind, UserType,
};
use pyo3::prelude::*;
use pyo3::types::PyTuple;

/// A type in tuples: `("atomic", name)`, `("enum", name, base, [(name, value)])`, `("opaque", name, size)`,
/// `("vlen", name, base)`, `("compound", name, [(name, type, dims)])`.
pub(crate) type Described<'py> = Bound<'py, PyTuple>;

/// Types refer to types at most so deep.
const DEEPEST: u32 = 64;

pub(crate) fn describe<'py>(py: Python<'py>, model: &Model, ty: TypeRef) -> PyResult<Described<'py>> {
    describe_below(py, model, ty, DEEPEST)
}

fn describe_below<'py>(py: Python<'py>, model: &Model, ty: TypeRef, depth: u32) -> PyResult<Described<'py>> {
    let id = match ty {
        TypeRef::Atomic(atomic) => return ("atomic", atomic.name()).into_pyobject(py),
        TypeRef::User(id) => id,
    };
    let found = model.user_type(id).filter(|_| depth > 0);
    let ty =
        found.ok_or_else(|| exception(py, &Error::malformed("a type refers to one that is not there")))?;
    let name = ty.name.as_str();
    match &ty.kind {
        UserKind::Enum { base, members } => {
            let members: Vec<_> = members.iter().map(|member| (member.name.as_str(), member.value)).collect();
            ("enum", name, base.name(), members).into_pyobject(py)
        }
        UserKind::Opaque(size) => ("opaque", name, *size).into_pyobject(py),
        UserKind::Vlen(base) => {
            ("vlen", name, describe_below(py, model, *base, depth - 1)?).into_pyobject(py)
        }
        UserKind::Compound(fields) => {
            let described = |field: &Field| {
                let base = describe_below(py, model, field.ty, depth - 1)?;
                (field.name.as_str(), base, field.dims.clone()).into_pyobject(py)
            };
            let fields = fields.iter().map(described).collect::<PyResult<Vec<_>>>()?;
            ("compound", name, fields).into_pyobject(py)
        }
    }
}

/// The type that a description names: an atomic one, or one that is visible from a group.
pub(crate) fn named_type(model: &Model, group: GroupId, given: &Bound<'_, PyAny>) -> PyResult<TypeRef> {
    let name: String = given.extract()?;
    if let Some(atomic) = Atomic::from_name(&name) {
        return Ok(atomic.into());
    }
    let found = if name.starts_with('/') { model.type_at(&name) } else { model.visible_type(group, &name) };
    found.map(TypeRef::User).ok_or_else(|| {
        let error = Error::no_member(Member::Type, format_args!("{name:?}")).at_path(model.group_path(group));
        exception(given.py(), &error)
    })
}

/// A new type, of which the parts are named.
pub(crate) fn user_type(model: &Model, group: GroupId, described: &Bound<'_, PyAny>) -> PyResult<UserType> {
    let (word, name): (String, String) =
        (described.get_item(0)?.extract()?, described.get_item(1)?.extract()?);
    let content = described.get_item(2)?;
    let kind = match word.as_str() {
        "enum" => {
            let base = match named_type(model, group, &content)? {
                TypeRef::Atomic(base) => base,
                TypeRef::User(_) => return Err(invalid(content.py(), "an enum's base is an integer type")),
            };
            let members: Vec<(String, i128)> = described.get_item(3)?.extract()?;
            let members = members.into_iter().map(|(name, value)| EnumMember { name, value }).collect();
            UserKind::Enum { base, members }
        }
        "opaque" => UserKind::Opaque(content.extract()?),
        "vlen" => UserKind::Vlen(named_type(model, group, &content)?),
        _ => {
            let field = |item: PyResult<Bound<'_, PyAny>>| {
                let item = item?;
                let ty = named_type(model, group, &item.get_item(1)?)?;
                Ok(Field { name: item.get_item(0)?.extract()?, ty, dims: item.get_item(2)?.extract()? })
            };
            UserKind::Compound(content.try_iter()?.map(field).collect::<PyResult<_>>()?)
        }
    };
    Ok(UserType { name, kind })
}

/// The dtype of a type that is described.
pub(crate) fn dtype<'py>(py: Python<'py>, described: &Bound<'py, PyTuple>) -> PyResult<Bound<'py, PyAny>> {
    py.import("ncirrus.types")?.getattr("dtype_of")?.call1((described,))
}

/// The word of numpy for a type that netCDF does not have; `None` where numpy has none either.
pub(crate) fn numpy_word(ty: &ExtendedType) -> Option<String> {
    let times = |letter: char, unit: &str, scale: u64| match scale {
        1 => format!("{letter}8[{unit}]"),
        scale => format!("{letter}8[{scale}{unit}]"),
    };
    Some(match ty {
        ExtendedType::Bool => "?".to_owned(),
        ExtendedType::Float16 => "f2".to_owned(),
        ExtendedType::Complex64 => "c8".to_owned(),
        ExtendedType::Complex128 => "c16".to_owned(),
        ExtendedType::DateTime { unit, scale } => times('M', unit, *scale),
        ExtendedType::TimeDelta { unit, scale } => times('m', unit, *scale),
        ExtendedType::FixedBytes { len } => format!("S{len}"),
        ExtendedType::FixedText { len } => format!("U{len}"),
        // Half of a binary32 has no dtype of numpy's own.
        _ => return None,
    })
}
