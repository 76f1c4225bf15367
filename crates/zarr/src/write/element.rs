//! Single values: as readable JSON, as packed bytes, and as zero (`docs/formats/zarr-writing.md`).
use ncirrus_layout::{ByteOrder, StoredType, TextEncoding, base64};
use ncirrus_model::{Atomic, Model, TypeRef, UserKind, Values};
use serde_json::{Map, Number, Value, json};

/// Maximum nesting of types; definitions are finite, but hand-made models need not be.
const DEPTH: u32 = 64;

/// A float as JSON: the shortest number that reads back, or the name of NaN or an infinity (docs/spec/nczarr.md 3.9).
pub(crate) fn double(value: f64) -> Value {
    match Number::from_f64(value) {
        Some(number) => Value::Number(number),
        None if value.is_nan() => json!("NaN"),
        None if value > 0.0 => json!("Infinity"),
        None => json!("-Infinity"),
    }
}

/// As [`double`], with just the digits that a float needs.
pub(crate) fn float(value: f32) -> Value {
    // The shortest digits of the float, read as a double, are also that double's shortest digits.
    double(if value.is_finite() {
        value.to_string().parse().unwrap_or(f64::from(value))
    } else {
        value.into()
    })
}

/// One number of an atomic numeric type; `None` for other values or past the end.
pub(crate) fn number(values: &Values, index: usize) -> Option<Value> {
    Some(match values {
        Values::Byte(v) => json!(v.get(index)?),
        Values::UByte(v) => json!(v.get(index)?),
        Values::Short(v) => json!(v.get(index)?),
        Values::UShort(v) => json!(v.get(index)?),
        Values::Int(v) => json!(v.get(index)?),
        Values::UInt(v) => json!(v.get(index)?),
        Values::Int64(v) => json!(v.get(index)?),
        Values::UInt64(v) => json!(v.get(index)?),
        Values::Float(v) => float(*v.get(index)?),
        Values::Double(v) => double(*v.get(index)?),
        _ => return None,
    })
}

/// A number as the fill value of an array whose elements have `byte_len` bytes. In Zarr v3 a NaN other than the usual one
/// is written by its bits.
pub(crate) fn fill_number(values: &Values, byte_len: u64, is_v3: bool) -> Option<Value> {
    let bits = match values {
        Values::Float(v) if is_v3 => v.first().filter(|value| value.is_nan()).map(|value| {
            let bits = value.to_bits();
            if byte_len == 2 {
                // The upper bits of the fraction, and the largest exponent.
                let half = (bits >> 16 & 0x8000) | 0x7c00 | (bits >> 13 & 0x3ff);
                (u64::from(half), 0x7e00, 4)
            } else {
                (u64::from(bits), 0x7fc0_0000, 8)
            }
        }),
        Values::Double(v) if is_v3 => {
            let nan = v.first().filter(|value| value.is_nan());
            nan.map(|value| (value.to_bits(), 0x7ff8_0000_0000_0000, 16))
        }
        _ => None,
    };
    match bits {
        Some((bits, usual, digits)) if bits != usual => Some(json!(format!("0x{bits:0digits$x}"))),
        _ => number(values, 0),
    }
}

/// Whether a structure has text in some field.
pub(crate) fn has_text(stored: &StoredType) -> bool {
    match stored {
        StoredType::Text { .. } => true,
        StoredType::Compound { fields, .. } => fields.iter().any(|field| has_text(&field.stored)),
        _ => false,
    }
}

/// The stored bytes of the first of some values; `None` for what has no fixed size or does not fit.
pub(crate) fn stored_bytes(values: &Values, stored: &StoredType) -> Option<Vec<u8>> {
    let len = usize::try_from(stored.byte_len()?).ok()?;
    let mut bytes = Vec::with_capacity(len);
    match (values, stored) {
        (Values::Compound { fields: columns, .. }, StoredType::Compound { fields, .. }) => {
            for (column, field) in columns.iter().zip(fields.iter()) {
                bytes.resize(usize::try_from(field.offset).ok()?, 0);
                if field.count != 1 {
                    return None;
                }
                bytes.extend(stored_bytes(column, &field.stored)?);
            }
        }
        (Values::String(strings), StoredType::Text { encoding, .. }) => {
            let text = strings.get(0).unwrap_or_default();
            match encoding {
                TextEncoding::Utf32(order) => {
                    for character in std::str::from_utf8(text).ok()?.chars().map(u32::from) {
                        bytes.extend(match order {
                            ByteOrder::Little => character.to_le_bytes(),
                            ByteOrder::Big => character.to_be_bytes(),
                        });
                    }
                }
                _ => bytes.extend_from_slice(text),
            }
        }
        (Values::Opaque { bytes: all, size }, _) => bytes.extend_from_slice(all.get(..*size)?),
        (numbers, _) => pack_number(numbers, 0, &mut bytes)?,
    }
    if bytes.len() > len {
        return None;
    }
    bytes.resize(len, 0);
    Some(bytes)
}

/// As [`number`], with all digits of the double that a float is.
pub(crate) fn exact_number(values: &Values, index: usize) -> Option<Value> {
    match values {
        Values::Float(v) => Some(double(f64::from(*v.get(index)?))),
        other => number(other, index),
    }
}

/// One value of any type, as an entry of the extension's `value`; `None` if the values are not of the type.
pub(crate) fn readable(model: &Model, ty: TypeRef, values: &Values, index: usize) -> Option<Value> {
    readable_at(model, ty, values, index, DEPTH)
}

fn readable_at(model: &Model, ty: TypeRef, values: &Values, index: usize, depth: u32) -> Option<Value> {
    let depth = depth.checked_sub(1)?;
    let kind = match ty {
        TypeRef::Atomic(_) => return plain(values, index),
        TypeRef::User(id) => &model.user_type(id)?.kind,
    };
    match (kind, values) {
        (UserKind::Enum { .. }, _) => {
            kind.member_name(values, index).map(|name| json!(name)).or_else(|| number(values, index))
        }
        (UserKind::Opaque(_), Values::Opaque { size, bytes }) => {
            let start = index.checked_mul(*size)?;
            Some(Value::String(hexadecimal(bytes.get(start..start.checked_add(*size)?)?)))
        }
        (UserKind::Vlen(base), Values::Vlen { ends, elements }) => {
            let start = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
            let items = start..*ends.get(index)?;
            items
                .map(|at| readable_at(model, *base, elements, at, depth))
                .collect::<Option<Vec<_>>>()
                .map(Value::Array)
        }
        (UserKind::Compound(fields), Values::Compound { fields: columns, .. }) => {
            let mut object = Map::new();
            for (field, column) in fields.iter().zip(columns) {
                let count = usize::try_from(field.element_count()).ok()?;
                let value = field_value(model, field, column, index.checked_mul(count)?..count, depth)?;
                object.insert(field.name.clone(), value);
            }
            Some(Value::Object(object))
        }
        _ => None,
    }
}

/// The value of a field; the range is its first element and the number of them.
fn field_value(
    model: &Model,
    field: &ncirrus_model::Field,
    column: &Values,
    elements: std::ops::Range<usize>,
    depth: u32,
) -> Option<Value> {
    let (start, count) = (elements.start, elements.end);
    let all = start..start.checked_add(count)?;
    if let Values::Char(bytes) = column {
        return Some(Value::String(latin1(bytes.get(all)?)));
    }
    if field.dims.is_empty() {
        return readable_at(model, field.ty, column, start, depth);
    }
    all.map(|at| readable_at(model, field.ty, column, at, depth))
        .collect::<Option<Vec<_>>>()
        .map(Value::Array)
}

fn plain(values: &Values, index: usize) -> Option<Value> {
    match values {
        Values::Char(bytes) => Some(Value::String(latin1(bytes.get(index..=index)?))),
        Values::String(strings) if index < strings.len() => Some(match strings.get(index) {
            None => Value::Null,
            Some(bytes) => match std::str::from_utf8(bytes) {
                Ok(text) => json!(text),
                Err(_) => json!({"base64": base64::encode(bytes)}),
            },
        }),
        other => number(other, index),
    }
}

/// Each byte as the character of that number.
fn latin1(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| char::from(*byte)).collect()
}

fn hexadecimal(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02X}")).collect()
}

/// One zero of a type: number 0, NUL, null string, opaque zeros, empty vlen; `None` if the type is not defined.
pub(crate) fn zero(model: &Model, ty: TypeRef) -> Option<Values> {
    model.zeros(ty, 1, DEPTH)
}

/// Appends one value in packed form; `None` if the values are not of the type or a length exceeds 32 bits.
pub(crate) fn pack(
    model: &Model,
    ty: TypeRef,
    values: &Values,
    index: usize,
    out: &mut Vec<u8>,
) -> Option<()> {
    pack_at(model, ty, values, index, out, DEPTH)
}

fn pack_at(
    model: &Model,
    ty: TypeRef,
    values: &Values,
    index: usize,
    out: &mut Vec<u8>,
    depth: u32,
) -> Option<()> {
    let depth = depth.checked_sub(1)?;
    match (ty, values) {
        (_, Values::String(strings)) => pack_text(strings.get(index), out),
        (_, Values::Opaque { size, bytes }) => {
            let start = index.checked_mul(*size)?;
            out.extend_from_slice(bytes.get(start..start.checked_add(*size)?)?);
            Some(())
        }
        (TypeRef::User(id), Values::Vlen { ends, elements }) => {
            let UserKind::Vlen(base) = &model.user_type(id)?.kind else { return None };
            let start = index.checked_sub(1).map_or(Some(0), |before| ends.get(before).copied())?;
            let mut items = start..*ends.get(index)?;
            out.extend_from_slice(&u32::try_from(items.len()).ok()?.to_le_bytes());
            items.try_for_each(|at| pack_at(model, *base, elements, at, out, depth))
        }
        (TypeRef::User(id), Values::Compound { fields: columns, .. }) => {
            let UserKind::Compound(fields) = &model.user_type(id)?.kind else { return None };
            fields.iter().zip(columns).try_for_each(|(field, column)| {
                let count = usize::try_from(field.element_count()).ok()?;
                let start = index.checked_mul(count)?;
                (start..start.checked_add(count)?)
                    .try_for_each(|at| pack_at(model, field.ty, column, at, out, depth))
            })
        }
        (_, numbers) => pack_number(numbers, index, out),
    }
}

fn pack_text(text: Option<&[u8]>, out: &mut Vec<u8>) -> Option<()> {
    let len =
        text.map_or(Some(u32::MAX), |text| u32::try_from(text.len()).ok().filter(|len| *len != u32::MAX))?;
    out.extend_from_slice(&len.to_le_bytes());
    out.extend_from_slice(text.unwrap_or_default());
    Some(())
}

fn pack_number(values: &Values, index: usize, out: &mut Vec<u8>) -> Option<()> {
    let size = values.atomic().and_then(Atomic::byte_len)?;
    let start = index.checked_mul(size)?;
    let bytes = values.as_bytes()?.get(start..start.checked_add(size)?)?;
    match ByteOrder::NATIVE {
        ByteOrder::Big => out.extend(bytes.iter().rev()),
        ByteOrder::Little => out.extend_from_slice(bytes),
    }
    Some(())
}

#[cfg(test)]
mod tests;
