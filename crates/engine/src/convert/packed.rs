//! The packed form of one value of any type (docs/formats/zarr-writing.md, "packed form"): numbers little-endian,
//! fields without padding, a string as length and bytes, a vlen as number of elements and elements.
use super::{check_depth, kind_of, to_len, wrong_values};
use ncirrus_layout::{Error, Result};
use ncirrus_model::{Atomic, Model, TypeRef, UserKind, Values};
use std::ops::Range;

/// The length that represents a null string.
const NULL: u32 = u32::MAX;

/// Appends the value that `bytes` represent; they must hold nothing else.
pub(super) fn read_whole(model: &Model, ty: TypeRef, bytes: &[u8], into: &mut Values) -> Result<()> {
    let mut rest = bytes;
    if let (Some((base, each)), Values::Vlen { ends, elements }) = (bare_vlen(model, ty), &mut *into) {
        // The one case in which the number of elements is omitted.
        while !rest.is_empty() {
            read(model, base, &mut rest, elements, 1)?;
        }
        debug_assert!(each > 0, "elements of a bare vlen have a size");
        ends.push(elements.len());
        return Ok(());
    }
    read(model, ty, &mut rest, into, 0)?;
    if rest.is_empty() {
        return Ok(());
    }
    Err(Error::malformed(format!("a packed value of {} bytes has {} too many", bytes.len(), rest.len())))
}

/// The base of a vlen whose elements have a fixed size, and that size.
fn bare_vlen(model: &Model, ty: TypeRef) -> Option<(TypeRef, u64)> {
    let TypeRef::User(id) = ty else { return None };
    let UserKind::Vlen(base) = kind_of(model, id).ok()? else { return None };
    let each = model.packed_len(*base).filter(|len| *len > 0)?;
    Some((*base, each))
}

fn read(model: &Model, ty: TypeRef, rest: &mut &[u8], into: &mut Values, depth: u32) -> Result<()> {
    check_depth(depth)?;
    match into {
        Values::Byte(to) => to.push(i8::from_le_bytes(number(rest)?)),
        Values::Char(to) | Values::UByte(to) => to.push(u8::from_le_bytes(number(rest)?)),
        Values::Short(to) => to.push(i16::from_le_bytes(number(rest)?)),
        Values::UShort(to) => to.push(u16::from_le_bytes(number(rest)?)),
        Values::Int(to) => to.push(i32::from_le_bytes(number(rest)?)),
        Values::UInt(to) => to.push(u32::from_le_bytes(number(rest)?)),
        Values::Int64(to) => to.push(i64::from_le_bytes(number(rest)?)),
        Values::UInt64(to) => to.push(u64::from_le_bytes(number(rest)?)),
        Values::Float(to) => to.push(f32::from_le_bytes(number(rest)?)),
        Values::Double(to) => to.push(f64::from_le_bytes(number(rest)?)),
        Values::String(to) => match u32::from_le_bytes(number(rest)?) {
            NULL => to.push(None),
            len => to.push(Some(bytes(rest, to_len(len.into())?)?)),
        },
        Values::Opaque { size, bytes: to } => to.extend_from_slice(bytes(rest, *size)?),
        Values::Vlen { ends, elements } => {
            let base = base_of(model, ty)?;
            let count = to_len(u32::from_le_bytes(number(rest)?).into())?;
            // Every element takes at least one byte, so that a count cannot cost more than the bytes present.
            if count > rest.len() {
                return Err(short(count, rest.len()));
            }
            for _ in 0..count {
                read(model, base, rest, elements, depth + 1)?;
            }
            ends.push(elements.len());
        }
        Values::Compound { len, fields } => {
            for (field, column) in fields_of(model, ty)?.iter().zip(fields) {
                let count = to_len(field.element_count())?;
                if count > rest.len() {
                    return Err(short(count, rest.len()));
                }
                for _ in 0..count {
                    read(model, field.ty, rest, column, depth + 1)?;
                }
            }
            *len += 1;
        }
    }
    Ok(())
}

fn number<const N: usize>(rest: &mut &[u8]) -> Result<[u8; N]> {
    let (head, tail) = rest.split_first_chunk::<N>().ok_or_else(|| short(N, rest.len()))?;
    *rest = tail;
    Ok(*head)
}

fn bytes<'a>(rest: &mut &'a [u8], len: usize) -> Result<&'a [u8]> {
    let (head, tail) = rest.split_at_checked(len).ok_or_else(|| short(len, rest.len()))?;
    *rest = tail;
    Ok(head)
}

fn short(want: usize, have: usize) -> Error {
    Error::malformed(format!("a packed value ends where {want} more were expected and {have} are there"))
}

fn base_of(model: &Model, ty: TypeRef) -> Result<TypeRef> {
    match ty {
        TypeRef::User(id) => match kind_of(model, id)? {
            UserKind::Vlen(base) => Ok(*base),
            _ => Err(wrong_values(model, ty)),
        },
        TypeRef::Atomic(_) => Err(wrong_values(model, ty)),
    }
}

fn fields_of(model: &Model, ty: TypeRef) -> Result<&[ncirrus_model::Field]> {
    match ty {
        TypeRef::User(id) => match kind_of(model, id)? {
            UserKind::Compound(fields) => Ok(fields),
            _ => Err(wrong_values(model, ty)),
        },
        TypeRef::Atomic(_) => Err(wrong_values(model, ty)),
    }
}

/// Appends the packed form of `values[index]`.
pub(super) fn write_whole(
    model: &Model,
    ty: TypeRef,
    values: &Values,
    index: usize,
    to: &mut Vec<u8>,
) -> Result<()> {
    if let (Some((base, _)), Values::Vlen { ends, elements }) = (bare_vlen(model, ty), values) {
        return span(ends, index).try_for_each(|index| write(model, base, elements, index, to, 1));
    }
    write(model, ty, values, index, to, 0)
}

fn write(
    model: &Model,
    ty: TypeRef,
    values: &Values,
    index: usize,
    to: &mut Vec<u8>,
    depth: u32,
) -> Result<()> {
    check_depth(depth)?;
    if index >= values.len() {
        return Err(wrong_values(model, ty));
    }
    match values {
        Values::String(strings) => match strings.get(index) {
            None => to.extend_from_slice(&NULL.to_le_bytes()),
            Some(text) => {
                to.extend_from_slice(&length(text.len())?);
                to.extend_from_slice(text);
            }
        },
        Values::Opaque { size, bytes } => to.extend_from_slice(&bytes[index * size..(index + 1) * size]),
        Values::Vlen { ends, elements } => {
            let (base, span) = (base_of(model, ty)?, span(ends, index));
            to.extend_from_slice(&length(span.len())?);
            return span.into_iter().try_for_each(|at| write(model, base, elements, at, to, depth + 1));
        }
        Values::Compound { fields, .. } => {
            let described = fields_of(model, ty)?;
            if described.len() != fields.len() {
                return Err(wrong_values(model, ty));
            }
            for (field, column) in described.iter().zip(fields) {
                let count = to_len(field.element_count())?;
                for at in index.saturating_mul(count)..(index + 1).saturating_mul(count) {
                    write(model, field.ty, column, at, to, depth + 1)?;
                }
            }
        }
        fixed => native(model, ty, fixed, index, to)?,
    }
    Ok(())
}

fn native(model: &Model, ty: TypeRef, values: &Values, index: usize, to: &mut Vec<u8>) -> Result<()> {
    let atomic = values.atomic().filter(|atomic| model.base_atomic(ty) == Some(*atomic));
    let size = atomic.and_then(Atomic::byte_len).ok_or_else(|| wrong_values(model, ty))?;
    let bytes = values.as_bytes().and_then(|bytes| bytes.get(index * size..(index + 1) * size));
    let bytes = bytes.ok_or_else(|| wrong_values(model, ty))?;
    if cfg!(target_endian = "big") {
        to.extend(bytes.iter().rev());
    } else {
        to.extend_from_slice(bytes);
    }
    Ok(())
}

/// The range of elements of one vlen.
pub(super) fn span(ends: &[usize], index: usize) -> Range<usize> {
    let start = index.checked_sub(1).and_then(|before| ends.get(before)).copied().unwrap_or(0);
    start..ends.get(index).copied().unwrap_or(start).max(start)
}

/// A length in the form in which the framing stores it.
pub(super) fn length(len: usize) -> Result<[u8; 4]> {
    let len = u32::try_from(len)
        .map_err(|_| Error::invalid(format!("{len} is more than the 32 bits of a length can hold")))?;
    Ok(len.to_le_bytes())
}
