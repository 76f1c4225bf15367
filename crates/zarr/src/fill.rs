//! Fill values as written in metadata (`docs/spec/nczarr.md` 3.11, 6.2).
use crate::json::JsonValue;
use crate::json_values;
use ncirrus_layout::{ByteOrder, Error, Result, StoredField, StoredType, base64};
use ncirrus_model::{Atomic, ExactNumber, Model, Strings, TypeRef, UserKind, Values, default_fill};

#[cfg(test)]
mod tests;

/// The element type whose fill value is parsed, and how it is stored.
#[derive(Debug, Clone, Copy)]
pub(crate) struct FillElement<'a> {
    /// Where user-defined types are defined.
    pub(crate) model: &'a Model,
    /// The type.
    pub(crate) ty: TypeRef,
    /// How it is stored.
    pub(crate) stored: &'a StoredType,
    /// Whether bytes are in base64.
    pub(crate) in_base64: bool,
}

impl FillElement<'_> {
    /// The fill value in the metadata; `None` for `null`.
    ///
    /// # Errors
    /// `Malformed` if it cannot be a value of the type.
    pub(crate) fn parse(self, json: &JsonValue) -> Result<Option<Values>> {
        let json = match json {
            JsonValue::Null => return Ok(None),
            JsonValue::Array(list) => match list.items.as_slice() {
                [one] => one,
                _ => json,
            },
            other => other,
        };
        let value = match self.model.base_atomic(self.ty) {
            Some(Atomic::Char) => self.char(json),
            Some(Atomic::String) => self.string(json),
            Some(Atomic::Float) if matches!(self.stored, StoredType::BFloat16 { .. }) => brain_float(json),
            Some(atomic) => number(json, atomic),
            None => self.user(json),
        };
        let bad = || {
            Error::malformed(format!(
                "fill value {:?} does not fit the type",
                String::from_utf8_lossy(json.source())
            ))
        };
        value.map(Some).ok_or_else(bad)
    }

    /// The default fill value: the type's default; zero for user-defined types.
    ///
    /// # Errors
    /// `Limit` if one element is too large for memory.
    pub(crate) fn default(self) -> Result<Values> {
        match self.ty {
            TypeRef::Atomic(atomic) => Ok(default_fill(atomic)),
            TypeRef::User(_) => zero(self.model, self.ty, 1)
                .ok_or_else(|| Error::limit(format!("one element has more than {LARGEST} bytes"))),
        }
    }

    fn char(self, json: &JsonValue) -> Option<Values> {
        let byte = match json {
            JsonValue::String(text) => {
                let decoded = self.in_base64.then(|| base64::decode(text.as_bytes())).flatten();
                let bytes =
                    decoded.filter(|bytes| bytes.len() <= 1).unwrap_or_else(|| text.as_bytes().to_vec());
                bytes.first().copied().unwrap_or(0)
            }
            other => u8::try_from(other.as_u64()?).ok()?,
        };
        Some(Values::Char(vec![byte]))
    }

    /// Text; numbers mean empty text (zarr-python's default for objects is 0).
    fn string(self, json: &JsonValue) -> Option<Values> {
        let mut strings = Strings::new();
        match json {
            JsonValue::String(text) => {
                let limit = match self.stored {
                    StoredType::Text { byte_len, .. } if self.in_base64 => *byte_len,
                    _ => 0,
                };
                let decoded = if limit > 0 { base64::decode(text.as_bytes()) } else { None };
                let fitting = decoded.filter(|bytes| bytes.len() as u64 <= limit);
                let bytes = fitting.unwrap_or_else(|| text.as_bytes().to_vec());
                let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
                strings.push(bytes.get(..end));
            }
            JsonValue::Number(number) if number.as_i128() == Some(0) => strings.push(Some(b"")),
            _ => return None,
        }
        Some(Values::String(strings))
    }

    /// A list: of numbers, or bytes in base64; any other representation of nothing is empty.
    fn vlen(self, base: TypeRef, json: &JsonValue) -> Option<Values> {
        let elements = match json {
            JsonValue::Array(list) if !list.items.is_empty() => {
                json_values::numbers(json, self.model.base_atomic(base)?)?
            }
            JsonValue::String(text) if !text.as_bytes().is_empty() => {
                let bytes = base64::decode(text.as_bytes())?;
                if base != TypeRef::Atomic(Atomic::UByte) {
                    return None;
                }
                Values::UByte(bytes)
            }
            _ => zero(self.model, base, 0)?,
        };
        Some(Values::Vlen { ends: vec![elements.len()], elements: Box::new(elements) })
    }

    fn user(self, json: &JsonValue) -> Option<Values> {
        let TypeRef::User(id) = self.ty else { return None };
        if let UserKind::Vlen(base) = self.model.user_type(id)?.kind {
            return self.vlen(base, json);
        }
        let is_zero = matches!(json, JsonValue::Number(number) if number.as_i128() == Some(0));
        if is_zero || json.as_str() == Some("") {
            return zero(self.model, self.ty, 1);
        }
        if let JsonValue::String(text) = json {
            let bytes = base64::decode(text.as_bytes())
                .filter(|bytes| Some(bytes.len() as u64) == self.stored.byte_len());
            return decode(self.model, self.ty, self.stored, &bytes?);
        }
        if let StoredType::Opaque { byte_len } = self.stored {
            // Zarr v3 has raw bytes as a list of numbers.
            let list = json.as_array().unwrap_or(std::slice::from_ref(json));
            let byte = |item: &JsonValue| u8::try_from(item.as_u64()?).ok();
            let bytes = list.iter().map(byte).collect::<Option<Vec<u8>>>()?;
            return (bytes.len() as u64 == *byte_len).then_some(Values::Opaque { size: bytes.len(), bytes });
        }
        let UserKind::Compound(fields) = &self.model.user_type(id)?.kind else { return None };
        let StoredType::Compound { fields: stored, .. } = self.stored else { return None };
        let parts = fields.iter().zip(stored.iter()).enumerate();
        let column = |(at, (field, stored)): (usize, (&ncirrus_model::Field, &StoredField))| {
            let part = json.member(&field.name).or_else(|| json.as_array()?.get(at))?;
            let element = FillElement { ty: field.ty, stored: &stored.stored, ..self };
            element.parse(part).ok()?
        };
        Some(Values::Compound { len: 1, fields: parts.map(column).collect::<Option<_>>()? })
    }
}

/// A number, or its bits as `bfloat16`.
fn brain_float(json: &JsonValue) -> Option<Values> {
    let Some(digits) = json.as_str().and_then(|text| text.strip_prefix("0x")) else {
        return number(json, Atomic::Float);
    };
    let bits = u16::from_str_radix(digits, 16).ok()?;
    Some(Values::Float(vec![f32::from_bits(u32::from(bits) << 16)]))
}

/// A number; Zarr v3 also writes floats as their bits (`"0x7fc00000"`), and NumPy has an invalid time (`"NaT"`).
fn number(json: &JsonValue, atomic: Atomic) -> Option<Values> {
    if atomic == Atomic::Int64 && json.as_str() == Some("NaT") {
        return Some(Values::Int64(vec![i64::MIN]));
    }
    let Some(digits) = json.as_str().and_then(|text| text.strip_prefix("0x")) else {
        let number = json_values::numbers(json, atomic).filter(|values| values.len() == 1);
        return number.or_else(|| quoted_integer(json.as_str()?, atomic));
    };
    let bits = u64::from_str_radix(digits, 16).ok()?;
    match atomic {
        Atomic::Float if digits.len() == 4 => Some(Values::Float(vec![from_half(u16::try_from(bits).ok()?)])),
        Atomic::Float => Some(Values::Float(vec![f32::from_bits(u32::try_from(bits).ok()?)])),
        Atomic::Double => Some(Values::Double(vec![f64::from_bits(bits)])),
        integer => ExactNumber::all_as(&[ExactNumber::Integer(bits.into())], integer),
    }
}

/// An integer as text, as some writers have it: `"-9999"`, also with a point or an exponent.
fn quoted_integer(text: &str, atomic: Atomic) -> Option<Values> {
    let text = text.trim();
    let integer = text.parse().map(ExactNumber::Integer);
    let number = integer.ok().or_else(|| text.parse().ok().map(ExactNumber::Real))?;
    atomic.integer_range().and_then(|_| ExactNumber::all_as(&[number], atomic))
}

/// The value of an IEEE 754 binary16.
pub(crate) fn from_half(bits: u16) -> f32 {
    let fraction = f32::from(bits & 0x3ff);
    let magnitude = match (bits >> 10) & 0x1f {
        0 => fraction * 2f32.powi(-24),
        31 if fraction == 0.0 => f32::INFINITY,
        31 => f32::NAN,
        exponent => (1024.0 + fraction) * 2f32.powi(i32::from(exponent) - 25),
    };
    if bits >> 15 == 1 { -magnitude } else { magnitude }
}

/// `count` zeros of any type: numbers 0, opaque zeros, empty vlens, null strings; `None` if the type is undefined or
/// the values are too large.
pub(crate) fn zero(model: &Model, ty: TypeRef, count: usize) -> Option<Values> {
    let total = weight(model, ty)?.checked_mul(count as u64)?;
    if total > LARGEST { None } else { model.zeros(ty, count, u32::MAX) }
}

/// Maximum size of one element.
const LARGEST: u64 = 1 << 26;

/// Approximate size of one value in memory; `None` if it does not fit 64 bits.
fn weight(model: &Model, ty: TypeRef) -> Option<u64> {
    let id = match ty {
        TypeRef::Atomic(atomic) => return Some(atomic.byte_len().map_or(16, |len| len as u64)),
        TypeRef::User(id) => id,
    };
    match &model.user_type(id)?.kind {
        UserKind::Enum { .. } | UserKind::Vlen(_) => Some(8),
        UserKind::Opaque(size) => Some(*size),
        UserKind::Compound(fields) => fields.iter().try_fold(0u64, |sum, field| {
            sum.checked_add(weight(model, field.ty)?.checked_mul(field.element_count())?)
        }),
    }
}

/// One element from its stored bytes.
fn decode(model: &Model, ty: TypeRef, stored: &StoredType, bytes: &[u8]) -> Option<Values> {
    if let Some(atomic) = model.base_atomic(ty) {
        return scalar(atomic, stored, bytes);
    }
    let TypeRef::User(id) = ty else { return None };
    match (&model.user_type(id)?.kind, stored) {
        (UserKind::Opaque(_), StoredType::Opaque { .. }) => {
            Some(Values::Opaque { size: bytes.len(), bytes: bytes.to_vec() })
        }
        (UserKind::Compound(fields), StoredType::Compound { fields: stored, .. }) => {
            let column = |(field, place): (&ncirrus_model::Field, &StoredField)| {
                let size = usize::try_from(place.stored.byte_len()?).ok()?;
                let start = usize::try_from(place.offset).ok()?;
                let mut column = zero(model, field.ty, 0)?;
                for at in 0..usize::try_from(place.count).ok()? {
                    let from = start.checked_add(at.checked_mul(size)?)?;
                    let part = bytes.get(from..from.checked_add(size)?)?;
                    let one = decode(model, field.ty, &place.stored, part)?;
                    column.extend_from(&one, 0..one.len());
                }
                Some(column)
            };
            let fields = fields.iter().zip(stored.iter()).map(column).collect::<Option<_>>()?;
            Some(Values::Compound { len: 1, fields })
        }
        _ => None,
    }
}

fn scalar(atomic: Atomic, stored: &StoredType, bytes: &[u8]) -> Option<Values> {
    match stored {
        StoredType::Integer { order, .. } | StoredType::Float { order, .. } => {
            let mut native = bytes.to_vec();
            if *order != ByteOrder::NATIVE {
                native.reverse();
            }
            Values::from_native_bytes(atomic, &native).filter(|values| values.len() == 1)
        }
        StoredType::Char => Values::from_native_bytes(atomic, bytes),
        StoredType::Text { .. } => {
            let end = bytes.iter().rposition(|byte| *byte != 0).map_or(0, |last| last + 1);
            let mut strings = Strings::new();
            strings.push(bytes.get(..end));
            Some(Values::String(strings))
        }
        _ => None,
    }
}
