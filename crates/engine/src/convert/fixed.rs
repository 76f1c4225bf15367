//! Elements of a fixed number of bytes.
use super::{
    RowCopier, decode_at, encode_at, kind_of, text, times, to_len, unreadable, wrong_values, zeros_at,
};
use half::{bf16, f16};
use ncirrus_layout::{ByteOrder, Error, Result, StoredField, StoredType};
use ncirrus_model::{Atomic, Field, Model, TypeRef, UserKind, Values};
use std::ops::Range;

pub(super) fn decode(
    model: &Model,
    ty: TypeRef,
    stored: &StoredType,
    raw: &[u8],
    count: usize,
    depth: u32,
) -> Result<Values> {
    let raw = exactly(stored, raw, count)?;
    // Numbers, characters and compounds of these are copied at once, with their byte order.
    if let Some(copier) = RowCopier::new(model, ty, stored) {
        let mut values = zeros_at(model, ty, count, depth)?;
        if let Some(native) = values.as_bytes_mut() {
            copier.copy(raw, native);
        }
        return Ok(values);
    }
    match (stored, ty) {
        (StoredType::Text { byte_len, encoding }, TypeRef::Atomic(Atomic::String)) => {
            text::decode(raw, to_len(*byte_len)?, *encoding)
        }
        (StoredType::Compound { byte_len, fields }, TypeRef::User(_)) => {
            let columns = paired(model, ty, stored, fields)?;
            let column = |(field, to): &(&StoredField, &Field)| {
                let bytes = column_of(raw, to_len(*byte_len)?, field)?;
                let elements = times(to_len(field.count)?, count)?;
                decode_at(model, to.ty, &field.stored, &bytes, elements, depth + 1)
            };
            let fields = columns.iter().map(column).collect::<Result<_>>()?;
            Ok(Values::Compound { len: count, fields })
        }
        (StoredType::Reference { .. }, _) => {
            Err(Error::internal("references to data elsewhere are followed by their resolver"))
        }
        _ => Err(unreadable(model, ty, stored)),
    }
}

/// The bytes of `count` elements; the bytes after them are ignored.
fn exactly<'a>(stored: &StoredType, raw: &'a [u8], count: usize) -> Result<&'a [u8]> {
    let each = to_len(stored.byte_len().unwrap_or(0))?;
    if each == 0 {
        return Err(Error::unsupported("elements of 0 bytes"));
    }
    let len = times(each, count)?;
    raw.get(..len).ok_or_else(|| {
        Error::malformed(format!("{} bytes where {count} elements of {each} bytes were expected", raw.len()))
    })
}

/// Stored fields paired with the model's fields, which must be equal in number and length.
fn paired<'a>(
    model: &'a Model,
    ty: TypeRef,
    stored: &StoredType,
    fields: &'a [StoredField],
) -> Result<Vec<(&'a StoredField, &'a Field)>> {
    let TypeRef::User(id) = ty else { return Err(unreadable(model, ty, stored)) };
    let UserKind::Compound(columns) = kind_of(model, id)? else { return Err(unreadable(model, ty, stored)) };
    let fits = columns.len() == fields.len()
        && columns.iter().zip(fields).all(|(column, field)| column.element_count() == field.count);
    if !fits {
        return Err(unreadable(model, ty, stored));
    }
    Ok(fields.iter().zip(columns).collect())
}

fn span(field: &StoredField, byte_len: usize) -> Result<Range<usize>> {
    let len = field.stored.byte_len().and_then(|len| len.checked_mul(field.count));
    let end = len.and_then(|len| len.checked_add(field.offset)).filter(|end| *end <= byte_len as u64);
    let end = end.ok_or_else(|| {
        Error::malformed(format!("a field at byte {} does not fit its compound of {byte_len}", field.offset))
    })?;
    Ok(to_len(field.offset)?..to_len(end)?)
}

/// The bytes of one field of every compound, contiguous.
fn column_of(raw: &[u8], byte_len: usize, field: &StoredField) -> Result<Vec<u8>> {
    let span = span(field, byte_len)?;
    let mut bytes = Vec::with_capacity(raw.len() / byte_len.max(1) * span.len());
    raw.chunks_exact(byte_len.max(1)).for_each(|element| bytes.extend_from_slice(&element[span.clone()]));
    Ok(bytes)
}

pub(super) fn encode(
    model: &Model,
    ty: TypeRef,
    stored: &StoredType,
    values: &Values,
    range: Range<usize>,
    depth: u32,
) -> Result<Vec<u8>> {
    let count = range.len();
    let each = to_len(stored.byte_len().unwrap_or(0))?;
    // Numbers are copied with at most a change of byte order, without a value for each.
    let copier = RowCopier::new(model, ty, stored).filter(RowCopier::is_reversible);
    if let (Some(copier), Some(native)) = (copier, values.as_bytes()) {
        let native = native.get(times(range.start, each)?..times(range.end, each)?);
        let native = native.filter(|_| super::matches(model, ty, values));
        let mut bytes = vec![0; times(each, count)?];
        copier.store(native.ok_or_else(|| wrong_values(model, ty))?, &mut bytes);
        return Ok(bytes);
    }
    match (stored, values) {
        (StoredType::Text { encoding, .. }, Values::String(strings)) => {
            text::encode(strings, range, each, *encoding)
        }
        (StoredType::Compound { fields, .. }, Values::Compound { fields: columns, .. }) => {
            let pairs = paired(model, ty, stored, fields)?;
            if pairs.len() != columns.len() {
                return Err(wrong_values(model, ty));
            }
            // Field by field, as values are stored in columns; bytes between fields stay zero.
            let mut bytes = vec![0; times(each, count)?];
            for ((field, to), column) in pairs.into_iter().zip(columns) {
                let per = to_len(field.count)?;
                let part = times(range.start, per)?..times(range.end, per)?;
                if part.end > column.len() {
                    return Err(wrong_values(model, ty));
                }
                let packed = encode_at(model, to.ty, &field.stored, column, part, depth + 1)?;
                interleave(&packed, field, each, &mut bytes)?;
            }
            Ok(bytes)
        }
        (StoredType::Float { .. } | StoredType::BFloat16 { .. }, Values::Float(_) | Values::Double(_)) => {
            floats(stored, values, range)
        }
        (StoredType::Integer { size, signed, order }, _) => narrow(values, range, (*size, *signed), *order),
        _ => Err(unreadable(model, ty, stored)),
    }
}

/// Distributes one field's bytes over the compounds.
fn interleave(packed: &[u8], field: &StoredField, byte_len: usize, bytes: &mut [u8]) -> Result<()> {
    let span = span(field, byte_len)?;
    if span.is_empty() {
        return Ok(());
    }
    for (element, part) in bytes.chunks_exact_mut(byte_len.max(1)).zip(packed.chunks_exact(span.len())) {
        element[span.clone()].copy_from_slice(part);
    }
    Ok(())
}

/// Integers in fewer bytes than the model's type has, each of which must fit.
fn narrow(
    values: &Values,
    range: Range<usize>,
    (size, signed): (u8, bool),
    order: ByteOrder,
) -> Result<Vec<u8>> {
    let bits = 8 * u32::from(size.clamp(1, 8));
    let (low, high) =
        if signed { (-(1i128 << (bits - 1)), (1i128 << (bits - 1)) - 1) } else { (0, (1i128 << bits) - 1) };
    let mut bytes = Vec::new();
    for index in range {
        let value = values.integer(index).ok_or_else(|| Error::invalid("the values are not integers"))?;
        if !(low..=high).contains(&value) {
            return Err(Error::invalid(format!("{value} does not fit the stored {size}-byte integer")));
        }
        push_word(&mut bytes, &value.to_le_bytes()[..usize::from(size)], order);
    }
    Ok(bytes)
}

/// Floats in another precision; a finite number that would become infinite is an error.
fn floats(stored: &StoredType, values: &Values, range: Range<usize>) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for index in range {
        let value = values.number(index).unwrap_or(f64::NAN);
        let (finite, order) = match stored {
            StoredType::BFloat16 { order } => {
                let near = bf16::from_f64(value);
                push_word(&mut bytes, &near.to_le_bytes(), *order);
                (near.is_finite(), *order)
            }
            StoredType::Float { size: 2, order } => {
                let near = f16::from_f64(value);
                push_word(&mut bytes, &near.to_le_bytes(), *order);
                (near.is_finite(), *order)
            }
            StoredType::Float { size: 4, order } => {
                #[expect(
                    clippy::cast_possible_truncation,
                    reason = "rounding is what a lower precision means"
                )]
                let near = value as f32;
                push_word(&mut bytes, &near.to_le_bytes(), *order);
                (near.is_finite(), *order)
            }
            _ => return Err(Error::unsupported(format!("floats stored as {stored:?}"))),
        };
        // Rounding may exceed the largest number of the type; infinities and NaN remain what they are.
        if value.is_finite() && !finite {
            return Err(Error::invalid(format!("{value} is too large for {stored:?}, order {order:?}")));
        }
    }
    Ok(bytes)
}

fn push_word(bytes: &mut Vec<u8>, little: &[u8], order: ByteOrder) {
    match order {
        ByteOrder::Little => bytes.extend_from_slice(little),
        ByteOrder::Big => bytes.extend(little.iter().rev()),
    }
}
