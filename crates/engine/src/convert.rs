//! The one place for conversion: stored bytes to [`Values`] and back, casts between types, gathering of elements.
//!
//! Stored elements of a fixed type that become machine numbers one by one go through a [`RowCopier`]: a copy that swaps
//! bytes where needed. Everything else (text, compounds, sequences) goes through [`decode`] and [`encode`]. Nothing is
//! ever truncated: a value that does not fit is an error that names the value and the space available.
use ncirrus_layout::{Error, Result, SequenceItem, StoredType};
use ncirrus_model::{Atomic, Model, TypeRef, UserKind, Values};
use std::ops::Range;

mod cast;
mod copier;
mod fixed;
mod json;
mod native;
mod packed;
mod quantize;
mod sequence;
mod take;
mod text;

#[cfg(test)]
mod tests;

pub use cast::{ByteRule, CastRules, RangeExcess, RangeReport, cast, cast_with};
pub use copier::RowCopier;
pub use native::{pack, packed_len, unpack};
pub use quantize::Quantize;
pub use take::{assign, take};

/// Numbers as another numeric type: fractions are rounded to the nearest integer, ties to even. Also returns the
/// positions of the numbers outside its range; the results at these positions are meaningless (docs/spec/cfa.md 6.5).
///
/// # Errors
/// `Invalid` for text and user-defined types.
pub(crate) fn cast_to_nearest(values: &Values, to: Atomic) -> Result<(Values, Vec<usize>)> {
    ncirrus_units::cast_to_nearest(values, to).map_err(|error| Error::invalid(error.message()))
}

/// Maximum nesting depth of types; a description from a file might even be circular.
const TYPE_DEPTH: u32 = 32;

/// The values of `count` stored elements. For sequences and JSON, `raw` is the whole decoded chunk.
///
/// # Errors
/// `Malformed` if the bytes are fewer than the elements or are damaged, `Unsupported` if the stored type cannot be read
/// as the model's, `Internal` for references, which only the source's resolver can follow.
pub fn decode(model: &Model, ty: TypeRef, stored: &StoredType, raw: &[u8], count: usize) -> Result<Values> {
    decode_at(model, ty, stored, raw, count, 0)
}

fn decode_at(
    model: &Model,
    ty: TypeRef,
    stored: &StoredType,
    raw: &[u8],
    count: usize,
    depth: u32,
) -> Result<Values> {
    check_depth(depth)?;
    match stored {
        StoredType::Sequence(item) => sequence::decode(model, ty, item, raw, count, depth),
        StoredType::Json => json::decode(model, ty, raw, count),
        fixed => fixed::decode(model, ty, fixed, raw, count, depth),
    }
}

/// The stored bytes of `values[range]`. For sequences and JSON this is the whole chunk.
///
/// # Errors
/// `Invalid` if a value cannot be represented in the stored type (text longer than its field, NUL inside text, a null
/// string where there are none), or if the values are of another type; `Unsupported` if the model's type cannot be
/// stored this way.
pub fn encode(
    model: &Model,
    ty: TypeRef,
    stored: &StoredType,
    values: &Values,
    range: Range<usize>,
) -> Result<Vec<u8>> {
    if range.start > range.end || range.end > values.len() {
        return Err(Error::invalid(format!("values {range:?} of {} are to be stored", values.len())));
    }
    encode_at(model, ty, stored, values, range, 0)
}

fn encode_at(
    model: &Model,
    ty: TypeRef,
    stored: &StoredType,
    values: &Values,
    range: Range<usize>,
    depth: u32,
) -> Result<Vec<u8>> {
    check_depth(depth)?;
    match stored {
        StoredType::Sequence(item) => sequence::encode(model, ty, item, values, range, depth),
        StoredType::Json => json::encode(values, range),
        fixed => fixed::encode(model, ty, fixed, values, range, depth),
    }
}

/// An empty set of values of a type, to append to.
///
/// # Errors
/// `Invalid` if the type is not defined, `Limit` if it is nested too deeply.
pub fn empty(model: &Model, ty: TypeRef) -> Result<Values> {
    zeros(model, ty, 0)
}

/// `count` zeros of a type: 0, NUL, null strings, empty vlens.
///
/// # Errors
/// As [`empty`]; `Limit` if they exceed the address space.
pub fn zeros(model: &Model, ty: TypeRef, count: usize) -> Result<Values> {
    zeros_at(model, ty, count, 0)
}

fn zeros_at(model: &Model, ty: TypeRef, count: usize, depth: u32) -> Result<Values> {
    check_depth(depth)?;
    let id = match ty {
        TypeRef::Atomic(atomic) => return Ok(Values::zeroed(atomic, count)),
        TypeRef::User(id) => id,
    };
    Ok(match &kind_of(model, id)? {
        UserKind::Enum { base, .. } => Values::zeroed(*base, count),
        UserKind::Opaque(size) => {
            let size = to_len(*size)?;
            Values::Opaque { size, bytes: vec![0; times(size, count)?] }
        }
        UserKind::Vlen(base) => {
            Values::Vlen { ends: vec![0; count], elements: Box::new(zeros_at(model, *base, 0, depth + 1)?) }
        }
        UserKind::Compound(fields) => {
            let column = |field: &ncirrus_model::Field| {
                zeros_at(model, field.ty, times(to_len(field.element_count())?, count)?, depth + 1)
            };
            Values::Compound { len: count, fields: fields.iter().map(column).collect::<Result<_>>()? }
        }
    })
}

/// Whether `values` are values of the type, at every depth.
pub fn matches(model: &Model, ty: TypeRef, values: &Values) -> bool {
    empty(model, ty).is_ok_and(|pattern| same_shape(&pattern, values))
}

/// Whether two sets of values are of the same type, as far as their columns show.
fn same_shape(one: &Values, other: &Values) -> bool {
    match (one, other) {
        (Values::Opaque { size, .. }, Values::Opaque { size: same, .. }) => size == same,
        (Values::Vlen { elements, .. }, Values::Vlen { elements: others, .. }) => {
            same_shape(elements, others)
        }
        (Values::Compound { fields, .. }, Values::Compound { fields: others, .. }) => {
            fields.len() == others.len()
                && fields.iter().zip(others).all(|(one, other)| same_shape(one, other))
        }
        _ => one.atomic().is_some() && one.atomic() == other.atomic(),
    }
}

fn kind_of(model: &Model, id: ncirrus_model::TypeId) -> Result<&UserKind> {
    let ty = model.user_type(id).ok_or_else(|| Error::invalid("the type is not defined"))?;
    Ok(&ty.kind)
}

/// The CDL name of a type, for messages.
fn type_name(model: &Model, ty: TypeRef) -> String {
    match ty {
        TypeRef::Atomic(atomic) => atomic.name().to_owned(),
        TypeRef::User(id) => model.type_path(id),
    }
}

/// The atomic type that a type's values are stored as; `None` for opaque, vlen and compound.
fn atomic_of(model: &Model, ty: TypeRef) -> Option<Atomic> {
    model.base_atomic(ty)
}

fn check_depth(depth: u32) -> Result<()> {
    if depth > TYPE_DEPTH {
        return Err(Error::limit(format!("the type is nested more than {TYPE_DEPTH} deep")));
    }
    Ok(())
}

fn to_len(len: u64) -> Result<usize> {
    usize::try_from(len).map_err(|_| Error::limit(format!("{len} bytes are too many for this machine")))
}

fn times(one: usize, other: usize) -> Result<usize> {
    one.checked_mul(other)
        .filter(|len| isize::try_from(*len).is_ok())
        .ok_or_else(|| Error::limit(format!("{other} elements of {one} bytes are too many for this machine")))
}

fn unreadable(model: &Model, ty: TypeRef, stored: &impl std::fmt::Debug) -> Error {
    Error::unsupported(format!("stored {stored:?} cannot be read or written as {}", type_name(model, ty)))
}

fn wrong_values(model: &Model, ty: TypeRef) -> Error {
    Error::invalid(format!("the values are not of type {}", type_name(model, ty)))
}

/// The model's type of the elements of a sequence: the base of a vlen.
fn vlen_base(model: &Model, ty: TypeRef, item: &SequenceItem) -> Result<TypeRef> {
    match ty {
        TypeRef::User(id) => match kind_of(model, id)? {
            UserKind::Vlen(base) => Ok(*base),
            _ => Err(unreadable(model, ty, item)),
        },
        TypeRef::Atomic(_) => Err(unreadable(model, ty, item)),
    }
}
