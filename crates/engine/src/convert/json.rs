//! Chunks that are one JSON list (numcodecs `json2`): the elements in order, then the data type and the shape.
use super::{times, to_len, unreadable};
use ncirrus_layout::{Error, Result, StoredType};
use ncirrus_model::{Atomic, Model, Strings, TypeRef, Values};
use serde_json::{Value, json};
use std::ops::Range;

pub(super) fn decode(model: &Model, ty: TypeRef, raw: &[u8], count: usize) -> Result<Values> {
    let list: Vec<Value> = serde_json::from_slice(raw)
        .map_err(|error| Error::malformed(format!("the chunk is not a JSON list: {error}")))?;
    let [items @ .., _dtype, Value::Array(shape)] = list.as_slice() else {
        return Err(Error::malformed("the chunk's list does not end in data type and shape"));
    };
    let lengths: Option<Vec<u64>> = shape.iter().map(Value::as_u64).collect();
    let lengths = lengths.ok_or_else(|| Error::malformed("the chunk's shape is not a list of lengths"))?;
    let total = lengths.iter().try_fold(1, |product, len| times(product, to_len(*len)?))?;
    let mut flat = Vec::new();
    items.iter().for_each(|item| flatten(item, lengths.len().saturating_sub(1), &mut flat));
    if flat.len() != count || total != count {
        let found = flat.len();
        return Err(Error::malformed(format!("a list of {found} elements where {count} were expected")));
    }
    match ty {
        TypeRef::Atomic(Atomic::String) => Ok(Values::String(texts(&flat))),
        TypeRef::Atomic(atomic) if atomic.is_numeric() => numbers(&flat, atomic),
        _ => Err(unreadable(model, ty, &StoredType::Json)),
    }
}

/// The elements of lists nested as deep as the number of axes after the first; the JSON parser limits that depth.
fn flatten<'a>(item: &'a Value, levels: usize, flat: &mut Vec<&'a Value>) {
    match item {
        Value::Array(items) if levels > 0 => items.iter().for_each(|item| flatten(item, levels - 1, flat)),
        item => flat.push(item),
    }
}

/// Strings as they are, `null` as null string, anything else as its JSON text.
fn texts(items: &[&Value]) -> Strings {
    let mut strings = Strings::new();
    for item in items {
        match item {
            Value::Null => strings.push(None),
            Value::String(text) => strings.push(Some(text.as_bytes())),
            other => strings.push(Some(other.to_string().as_bytes())),
        }
    }
    strings
}

fn numbers(items: &[&Value], atomic: Atomic) -> Result<Values> {
    let wrong = |item: &Value| Error::malformed(format!("{item} is not a {}", atomic.name()));
    if !atomic.is_integer() {
        let number = |item: &&Value| item.as_f64().ok_or_else(|| wrong(item));
        let doubles = items.iter().map(number).collect::<Result<Vec<f64>>>()?;
        return super::cast(&Values::Double(doubles), atomic).map(|(values, _)| values);
    }
    let mut bytes = Vec::new();
    let size = atomic.byte_len().unwrap_or(8);
    for item in items {
        let whole = item.as_i64().map(i128::from).or_else(|| item.as_u64().map(i128::from));
        let whole = whole.filter(|value| fits(atomic, *value)).ok_or_else(|| wrong(item))?;
        let little = whole.to_le_bytes();
        if cfg!(target_endian = "big") {
            bytes.extend(little[..size].iter().rev())
        } else {
            bytes.extend_from_slice(&little[..size])
        }
    }
    Values::from_native_bytes(atomic, &bytes).ok_or_else(|| Error::internal("integers of uneven size"))
}

fn fits(atomic: Atomic, value: i128) -> bool {
    atomic.integer_range().is_some_and(|(low, high)| (low..=high).contains(&value))
}

pub(super) fn encode(values: &Values, range: Range<usize>) -> Result<Vec<u8>> {
    let count = range.len();
    let Values::String(strings) = values else {
        return Err(Error::unsupported("only strings are stored as JSON"));
    };
    let mut list = Vec::with_capacity(count + 2);
    for index in range {
        list.push(match strings.get(index) {
            None => Value::Null,
            Some(text) => Value::from(std::str::from_utf8(text).map_err(|error| {
                Error::invalid(format!("string {index} is stored as JSON and is not UTF-8")).because(error)
            })?),
        });
    }
    list.push(json!("|O"));
    list.push(json!([count]));
    serde_json::to_vec(&list).map_err(|error| Error::internal("JSON text").because(error))
}
