//! Attributes as the reader gets them: typed by whichever dictionary exists, inferred otherwise
//! (`docs/spec/nczarr.md` 3.8, 3.10, 3.14, 5.4).
use super::node::AttributeHolder;
use crate::dialect::Dialect;
use crate::json::JsonValue;
use crate::json_values::{infer, numbers, strings, text};
use crate::special::is_virtual;
use ncirrus_model::{Atomic, Attribute, Values};
use ncirrus_netcdf_view::AttributeSpace;

#[cfg(test)]
mod tests;

/// The entry of a type dictionary for an attribute.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum DeclaredType {
    /// One of the atomic types.
    Atomic(Atomic),
    /// JSON, shown as text.
    Json,
}

/// The attributes of a group or variable, without those that have a meaning of their own.
pub(super) fn attributes(
    holder: &AttributeHolder,
    dialect: Dialect,
    warnings: &mut Vec<String>,
) -> Vec<Attribute> {
    let Some(object) = holder.object() else { return Vec::new() };
    let mut list = Vec::with_capacity(object.len());
    let for_others = super::extension::for_others(holder);
    for (name, json) in object.iter() {
        if AttributeSpace::Zarr.is_hidden(name) || for_others.contains(name) {
            continue;
        }
        if is_virtual(name) {
            warnings.push(format!("attribute {name:?} is ignored: the name is the library's own"));
            continue;
        }
        let declared = holder.type_of(name).and_then(|text| declared(text, dialect));
        let values = declared.and_then(|declared| typed(json, declared)).unwrap_or_else(|| infer(json));
        let is_json = is_json(json, &values) || (declared.is_none() && is_undetermined(json, &values));
        list.push(Attribute { is_json, ..Attribute::atomic(name, values) });
    }
    list
}

/// Whether text is shown instead of JSON that is stored.
fn is_json(json: &JsonValue, values: &Values) -> bool {
    matches!(values, Values::Char(_))
        && matches!(json, JsonValue::Object(_) | JsonValue::Array(_) | JsonValue::Null)
}

/// Whether the values alone do not determine the JSON: booleans, and lists of one element.
fn is_undetermined(json: &JsonValue, values: &Values) -> bool {
    let is_bool = |json: &JsonValue| matches!(json, JsonValue::Bool(_));
    match (values, json) {
        (Values::UByte(_), JsonValue::Array(list)) => list.items.iter().all(is_bool),
        (Values::UByte(_), json) => is_bool(json),
        (Values::Char(_), _) => false,
        (_, JsonValue::Array(list)) => list.items.len() == 1,
        _ => false,
    }
}

/// The value in its declared type; `None` if it does not fit, and is inferred instead.
fn typed(json: &JsonValue, declared: DeclaredType) -> Option<Values> {
    let is_list = matches!(json, JsonValue::Array(_) | JsonValue::Object(_) | JsonValue::Null);
    match declared {
        DeclaredType::Json => (is_list || matches!(json, JsonValue::String(_))).then(|| text(json)),
        // An empty list is shown as empty text, as where no type is declared.
        DeclaredType::Atomic(Atomic::Char) if is_empty(json) => Some(infer(json)),
        DeclaredType::Atomic(Atomic::Char) => Some(text(json)),
        DeclaredType::Atomic(Atomic::String) => {
            strings(json).or_else(|| is_list.then(|| strings_of_source(json)))
        }
        DeclaredType::Atomic(atomic) => numbers(json, atomic),
    }
}

fn is_empty(json: &JsonValue) -> bool {
    json.as_array().is_some_and(|items| items.is_empty())
}

/// One string that holds the source text.
fn strings_of_source(json: &JsonValue) -> Values {
    let mut one = ncirrus_model::Strings::new();
    one.push(Some(json.source()));
    Values::String(one)
}

/// The type for a dictionary's entry: a NumPy type, a decimal `nc_type` (V1), or a CDL name (N3, D18). The byte order
/// is ignored.
fn declared(word: &str, dialect: Dialect) -> Option<DeclaredType> {
    if let Ok(number) = word.parse::<u8>() {
        return Atomic::ALL.into_iter().find(|atomic| atomic.number() == number).map(DeclaredType::Atomic);
    }
    let word_without_order = word.trim_start_matches(['<', '>', '|', '=']);
    let atomic = match word_without_order {
        "i1" => Atomic::Byte,
        "i2" => Atomic::Short,
        "i4" => Atomic::Int,
        "i8" => Atomic::Int64,
        "u1" => Atomic::UByte,
        "u2" => Atomic::UShort,
        "u4" => Atomic::UInt,
        "u8" => Atomic::UInt64,
        "f4" => Atomic::Float,
        "f8" => Atomic::Double,
        "S1" if word.starts_with('>') => Atomic::Char,
        "U1" if dialect.has_one_byte_unicode() => Atomic::Char,
        "J0" | "json" => return Some(DeclaredType::Json),
        // The names of Zarr v3, as NZ has them.
        "int8" => Atomic::Byte,
        "int16" => Atomic::Short,
        "int32" => Atomic::Int,
        "int64" => Atomic::Int64,
        "uint8" => Atomic::UByte,
        "uint16" => Atomic::UShort,
        "uint32" => Atomic::UInt,
        "uint64" => Atomic::UInt64,
        "float32" => Atomic::Float,
        "float64" => Atomic::Double,
        other if is_sized_text(other) => Atomic::String,
        other => Atomic::from_name(other)?,
    };
    Some(DeclaredType::Atomic(atomic))
}

fn is_sized_text(word: &str) -> bool {
    word.strip_prefix('S')
        .is_some_and(|digits| !digits.is_empty() && digits.bytes().all(|b| b.is_ascii_digit()))
}
