//! Values from JSON: typed, or inferred if the type is unknown (`docs/spec/nczarr.md` 3.8, 3.9, 5.4).
use crate::json::{JsonNumber, JsonValue, parse_float};
use ncirrus_model::{Atomic, Strings, Values};

#[cfg(test)]
mod tests;

/// The numbers of a list, or of a single value, as that type; `None` if one does not fit or is not a number.
pub(crate) fn numbers(json: &JsonValue, atomic: Atomic) -> Option<Values> {
    let items = json.as_array().unwrap_or(std::slice::from_ref(json));
    fn integers<T: TryFrom<i128>>(items: &[JsonValue]) -> Option<Vec<T>> {
        items.iter().map(|json| T::try_from(integer(json)?).ok()).collect()
    }
    Some(match atomic {
        Atomic::Byte => Values::Byte(integers(items)?),
        Atomic::Short => Values::Short(integers(items)?),
        Atomic::Int => Values::Int(integers(items)?),
        Atomic::Int64 => Values::Int64(integers(items)?),
        Atomic::UByte => Values::UByte(integers(items)?),
        Atomic::UShort => Values::UShort(integers(items)?),
        Atomic::UInt => Values::UInt(integers(items)?),
        Atomic::UInt64 => Values::UInt64(integers(items)?),
        Atomic::Float => Values::Float(items.iter().map(float).collect::<Option<_>>()?),
        Atomic::Double => Values::Double(items.iter().map(double).collect::<Option<_>>()?),
        Atomic::Char | Atomic::String => return None,
    })
}

/// An integer, even if it is written with a decimal point.
fn integer(json: &JsonValue) -> Option<i128> {
    match json {
        JsonValue::Bool(value) => Some(i128::from(*value)),
        JsonValue::Number(number) => number.as_i128().or_else(|| whole(number.as_f64())),
        _ => None,
    }
}

/// A double without fraction as an integer.
fn whole(value: f64) -> Option<i128> {
    #[expect(clippy::cast_possible_truncation, reason = "checked to be whole and far inside the range")]
    let integer = value as i128;
    (value.fract() == 0.0 && value.abs() < 1e20).then_some(integer)
}

fn double(json: &JsonValue) -> Option<f64> {
    match json {
        JsonValue::Bool(value) => Some(f64::from(u8::from(*value))),
        JsonValue::Number(number) => Some(number.as_f64()),
        JsonValue::String(text) => parse_float(text.as_str()?),
        _ => None,
    }
}

fn float(json: &JsonValue) -> Option<f32> {
    match json {
        JsonValue::Number(number) => Some(number.as_f32()),
        #[expect(clippy::cast_possible_truncation, reason = "rounding to the declared type is meant")]
        other => double(other).map(|value| value as f32),
    }
}

/// Text of the values of a string attribute: one string, or a list of strings and nulls.
pub(crate) fn strings(json: &JsonValue) -> Option<Values> {
    let mut strings = Strings::new();
    for item in json.as_array().unwrap_or(std::slice::from_ref(json)) {
        match item {
            JsonValue::String(text) => strings.push(Some(text.as_bytes())),
            JsonValue::Null if json.as_array().is_some() => strings.push(None),
            _ => return None,
        }
    }
    Some(Values::String(strings))
}

/// The text of a char attribute: a string's content, or the source of anything else (3.10).
pub(crate) fn text(json: &JsonValue) -> Values {
    Values::Char(json.source().to_vec())
}

/// The value as the narrowest type that can represent all of it (5.4); never fails.
pub(crate) fn infer(json: &JsonValue) -> Values {
    let items = match json {
        JsonValue::String(_) => return text(json),
        JsonValue::Array(list) if list.items.is_empty() => return Values::Char(Vec::new()),
        JsonValue::Array(list) => list.items.as_slice(),
        other => std::slice::from_ref(other),
    };
    let shown = || Values::Char(json.compact());
    if items.iter().all(|item| matches!(item, JsonValue::String(_))) {
        return strings(json).unwrap_or_else(shown);
    }
    common_type(items).and_then(|atomic| numbers(json, atomic)).unwrap_or_else(shown)
}

/// The narrowest of ubyte (booleans only), int, uint, int64, uint64 and double that can represent all; `None` if some
/// are not numbers. The reference types 4294967295 as uint, whatever 5.4 says.
fn common_type(items: &[JsonValue]) -> Option<Atomic> {
    if items.iter().all(|item| matches!(item, JsonValue::Bool(_))) {
        return Some(Atomic::UByte);
    }
    let (mut low, mut high) = (0i128, 0i128);
    let mut is_whole = true;
    for item in items {
        match item {
            JsonValue::Bool(_) => {}
            JsonValue::Number(number) => match JsonNumber::as_i128(number) {
                Some(value) => (low, high) = (low.min(value), high.max(value)),
                None => is_whole = false,
            },
            _ => return None,
        }
    }
    let fits = |min: i128, max: i128| min <= low && high <= max;
    Some(match () {
        () if !is_whole => Atomic::Double,
        () if fits(i32::MIN.into(), i32::MAX.into()) => Atomic::Int,
        () if fits(0, u32::MAX.into()) => Atomic::UInt,
        () if fits(i64::MIN.into(), i64::MAX.into()) => Atomic::Int64,
        () if fits(0, u64::MAX.into()) => Atomic::UInt64,
        () => Atomic::Double,
    })
}
