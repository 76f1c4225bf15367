//! Attributes as JSON.
use crate::dmr::DmrAttribute;
use ncirrus_model::Values;
use serde_json::{Map, Number, Value};

/// Attributes as members of an object. Those of containers get the names of both, with a dot between them.
pub(super) fn json(attributes: &[DmrAttribute]) -> Map<String, Value> {
    let mut members = Map::new();
    put(&mut members, "", attributes);
    members
}

fn put(members: &mut Map<String, Value>, prefix: &str, attributes: &[DmrAttribute]) {
    for attribute in attributes {
        let name = format!("{prefix}{}", attribute.name);
        match attribute.values() {
            None => put(members, &format!("{name}."), &attribute.children),
            Some((values, _)) => _ = members.insert(name, value(&values)),
        }
    }
}

/// One value becomes a scalar, several become a list.
pub(super) fn value(values: &Values) -> Value {
    let mut list = match values {
        Values::Byte(list) => numbers(list),
        Values::UByte(list) => numbers(list),
        Values::Short(list) => numbers(list),
        Values::UShort(list) => numbers(list),
        Values::Int(list) => numbers(list),
        Values::UInt(list) => numbers(list),
        Values::Int64(list) => numbers(list),
        Values::UInt64(list) => numbers(list),
        Values::Float(list) => list.iter().map(|value| real(f64::from(*value))).collect(),
        Values::Double(list) => list.iter().map(|value| real(*value)).collect(),
        Values::Char(bytes) => vec![Value::from(String::from_utf8_lossy(bytes))],
        Values::String(strings) => strings
            .iter()
            .map(|text| Value::from(String::from_utf8_lossy(text.unwrap_or_default())))
            .collect(),
        _ => Vec::new(),
    };
    match (list.pop(), list.is_empty()) {
        (Some(only), true) => only,
        (last, _) => Value::Array(list.into_iter().chain(last).collect()),
    }
}

fn numbers<T: Copy + Into<Value>>(list: &[T]) -> Vec<Value> {
    list.iter().map(|value| (*value).into()).collect()
}

/// Numbers that JSON does not have are texts, as in Zarr.
pub(super) fn real(value: f64) -> Value {
    let text = if value.is_nan() {
        "NaN"
    } else if value > 0.0 {
        "Infinity"
    } else {
        "-Infinity"
    };
    Number::from_f64(value).map_or_else(|| Value::from(text), Value::Number)
}
