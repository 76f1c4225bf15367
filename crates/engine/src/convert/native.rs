//! Conversion between columns of values and bytes of the caller's memory: elements in the machine's byte order, the
//! fields of compounds contiguous, without padding.
use super::{check_depth, kind_of, times, to_len, type_name, wrong_values};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Model, TypeRef, UserKind, Values};

/// Bytes of one element of a type in memory.
///
/// # Errors
/// `Invalid` naming the type if it has no fixed size.
pub fn packed_len(model: &Model, ty: TypeRef) -> Result<usize> {
    match model.packed_len(ty) {
        Some(len) => to_len(len),
        None => Err(Error::invalid(format!("values of type {} have no fixed size", type_name(model, ty)))),
    }
}

/// The bytes of all values.
///
/// # Errors
/// `Invalid` if the values are not of the type, or it has no fixed size.
pub fn pack(model: &Model, ty: TypeRef, values: &Values, out: &mut [u8]) -> Result<()> {
    let len = times(packed_len(model, ty)?, values.len())?;
    if len != out.len() {
        return Err(Error::invalid(format!("{} bytes of memory for {len} bytes of values", out.len())));
    }
    pack_at(model, ty, values, out, 0)
}

fn pack_at(model: &Model, ty: TypeRef, values: &Values, out: &mut [u8], depth: u32) -> Result<()> {
    check_depth(depth)?;
    let Values::Compound { len, fields } = values else {
        let bytes = values.as_bytes().filter(|bytes| bytes.len() == out.len());
        out.copy_from_slice(bytes.ok_or_else(|| wrong_values(model, ty))?);
        return Ok(());
    };
    let element = packed_len(model, ty)?;
    for (at, ((member, per), column)) in members(model, ty)?.into_iter().zip(fields).enumerate() {
        let each = times(packed_len(model, member)?, per)?;
        if column.len() != times(per, *len)? {
            return Err(wrong_values(model, ty));
        }
        let mut packed = vec![0; times(each, *len)?];
        pack_at(model, member, column, &mut packed, depth + 1)?;
        let start = offset(model, ty, at)?;
        for (element, field) in out.chunks_exact_mut(element.max(1)).zip(packed.chunks_exact(each.max(1))) {
            element[start..start + each].copy_from_slice(field);
        }
    }
    Ok(())
}

/// The values that the bytes represent: the inverse of [`pack`].
///
/// # Errors
/// `Invalid` if the last element is incomplete, or the type has no fixed size.
pub fn unpack(model: &Model, ty: TypeRef, bytes: &[u8]) -> Result<Values> {
    unpack_at(model, ty, bytes, 0)
}

fn unpack_at(model: &Model, ty: TypeRef, bytes: &[u8], depth: u32) -> Result<Values> {
    check_depth(depth)?;
    let element = packed_len(model, ty)?;
    if element == 0 || !bytes.len().is_multiple_of(element) {
        let message = format!("{} bytes are no elements of {element} bytes", bytes.len());
        return Err(Error::invalid(message));
    }
    let native = |atomic: Atomic| Values::from_native_bytes(atomic, bytes);
    let values = match ty {
        TypeRef::Atomic(atomic) => native(atomic),
        TypeRef::User(id) => match kind_of(model, id)? {
            UserKind::Enum { base, .. } => native(*base),
            UserKind::Opaque(_) => Some(Values::Opaque { size: element, bytes: bytes.to_vec() }),
            UserKind::Vlen(_) => None,
            UserKind::Compound(_) => {
                let mut columns = Vec::new();
                for (at, (member, per)) in members(model, ty)?.into_iter().enumerate() {
                    let (start, each) = (offset(model, ty, at)?, times(packed_len(model, member)?, per)?);
                    let of_element = |element: &[u8]| element[start..start + each].to_vec();
                    let column: Vec<u8> = bytes.chunks_exact(element).flat_map(of_element).collect();
                    columns.push(unpack_at(model, member, &column, depth + 1)?);
                }
                Some(Values::Compound { len: bytes.len() / element, fields: columns })
            }
        },
    };
    values.ok_or_else(|| wrong_values(model, ty))
}

/// Types and element counts of the fields of a compound.
fn members(model: &Model, ty: TypeRef) -> Result<Vec<(TypeRef, usize)>> {
    let TypeRef::User(id) = ty else { return Err(wrong_values(model, ty)) };
    let UserKind::Compound(fields) = kind_of(model, id)? else { return Err(wrong_values(model, ty)) };
    fields.iter().map(|field| Ok((field.ty, to_len(field.element_count())?))).collect()
}

/// Bytes before a field of a compound.
fn offset(model: &Model, ty: TypeRef, field: usize) -> Result<usize> {
    let before = members(model, ty)?.into_iter().take(field);
    before.map(|(member, per)| times(packed_len(model, member)?, per)).sum()
}
