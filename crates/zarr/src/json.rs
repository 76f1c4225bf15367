//! JSON in stores: a lenient reader that keeps member order and the source text (docs/spec/nczarr.md 3.1).
use bytes::Bytes;
use serde_json::{Value, json};
use std::fmt;

mod parse;

#[cfg(test)]
mod tests;

pub(crate) use parse::parse;

/// A JSON value with its source text, where that can matter.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum JsonValue {
    /// `null`
    Null,
    /// `true` or `false`
    Bool(bool),
    /// A number, `NaN` or an infinity, as written.
    Number(JsonNumber),
    /// Text; UTF-8 unless the writer violated the rules.
    String(JsonText),
    /// A list.
    Array(JsonArray),
    /// A dictionary.
    Object(JsonObject),
}

/// A number as written.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct JsonNumber(Bytes);

/// Text as bytes.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct JsonText(Vec<u8>);

/// A list and its source text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonArray {
    /// The entries.
    pub(crate) items: Vec<JsonValue>,
    source: Bytes,
}

/// A dictionary, members in the order of the source, and its source text.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct JsonObject {
    members: Vec<(String, JsonValue)>,
    source: Bytes,
}

impl JsonNumber {
    /// The source text.
    pub(crate) fn as_str(&self) -> &str {
        std::str::from_utf8(&self.0).unwrap_or_default()
    }

    /// Whether it has neither fraction nor exponent and is finite.
    pub(crate) fn is_integer(&self) -> bool {
        self.0.iter().enumerate().all(|(at, byte)| byte.is_ascii_digit() || (at == 0 && b"+-".contains(byte)))
    }

    /// The value of an integer; `None` for other numbers and beyond 128 bits.
    pub(crate) fn as_i128(&self) -> Option<i128> {
        if self.is_integer() { self.as_str().parse().ok() } else { None }
    }

    /// The nearest double.
    pub(crate) fn as_f64(&self) -> f64 {
        parse_float(self.as_str()).unwrap_or(f64::NAN)
    }

    /// The nearest float.
    pub(crate) fn as_f32(&self) -> f32 {
        self.as_str().parse().unwrap_or(f32::NAN)
    }
}

/// The value of a floating-point number in any of the notations in use, `NaN` and infinities included.
pub(crate) fn parse_float(text: &str) -> Option<f64> {
    text.trim().parse().ok()
}

impl fmt::Debug for JsonNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl JsonText {
    /// The bytes.
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    /// The text; `None` if it is not UTF-8.
    pub(crate) fn as_str(&self) -> Option<&str> {
        std::str::from_utf8(&self.0).ok()
    }
}

impl fmt::Debug for JsonText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", String::from_utf8_lossy(&self.0))
    }
}

impl JsonObject {
    /// The members, in the order of the source; a repeated key has its last value.
    pub(crate) fn iter(&self) -> impl ExactSizeIterator<Item = (&str, &JsonValue)> + '_ {
        self.members.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// Number of members.
    pub(crate) fn len(&self) -> usize {
        self.members.len()
    }

    /// The member of that name.
    pub(crate) fn find(&self, key: &str) -> Option<&JsonValue> {
        self.members.iter().find(|(name, _)| name == key).map(|(_, value)| value)
    }
}

impl JsonValue {
    /// The member of that name, if this is a dictionary that has it.
    pub(crate) fn member(&self, key: &str) -> Option<&Self> {
        self.as_object()?.find(key)
    }

    /// The dictionary.
    pub(crate) fn as_object(&self) -> Option<&JsonObject> {
        if let Self::Object(object) = self { Some(object) } else { None }
    }

    /// The list.
    pub(crate) fn as_array(&self) -> Option<&[Self]> {
        if let Self::Array(array) = self { Some(&array.items) } else { None }
    }

    /// The text.
    pub(crate) fn as_str(&self) -> Option<&str> {
        if let Self::String(text) = self { text.as_str() } else { None }
    }

    /// The number.
    pub(crate) fn as_number(&self) -> Option<&JsonNumber> {
        if let Self::Number(number) = self { Some(number) } else { None }
    }

    /// A size or count: an integer that fits 64 bits, also as a numeric string (docs/spec/nczarr.md 11.2).
    pub(crate) fn as_u64(&self) -> Option<u64> {
        match self {
            Self::Number(number) => u64::try_from(number.as_i128()?).ok(),
            Self::String(text) => text.as_str()?.trim().parse().ok(),
            _ => None,
        }
    }

    /// The text that the value was read from; for strings, their content.
    pub(crate) fn source(&self) -> &[u8] {
        match self {
            Self::Null => b"null",
            Self::Bool(true) => b"true",
            Self::Bool(false) => b"false",
            Self::Number(number) => &number.0,
            Self::String(text) => &text.0,
            Self::Array(array) => &array.source,
            Self::Object(object) => &object.source,
        }
    }

    /// The value on one line in the format of the reference: `": "` and `", "` in dictionaries, `","` in lists;
    /// numbers as written.
    pub(crate) fn compact(&self) -> Vec<u8> {
        let mut text = Vec::new();
        self.append_compact(&mut text);
        text
    }

    fn append_compact(&self, text: &mut Vec<u8>) {
        match self {
            Self::String(content) => quote(&content.0, text),
            Self::Array(array) => {
                text.push(b'[');
                for (at, item) in array.items.iter().enumerate() {
                    text.extend_from_slice(if at > 0 { b"," } else { b"" });
                    item.append_compact(text);
                }
                text.push(b']');
            }
            Self::Object(object) => {
                text.push(b'{');
                for (at, (key, value)) in object.iter().enumerate() {
                    text.extend_from_slice(if at > 0 { b", " } else { b"" });
                    quote(key.as_bytes(), text);
                    text.extend_from_slice(b": ");
                    value.append_compact(text);
                }
                text.push(b'}');
            }
            scalar => text.extend_from_slice(scalar.source()),
        }
    }

    /// The value as codecs expect their configuration: NaN and infinities become strings.
    pub(crate) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(value) => Value::Bool(*value),
            Self::Number(number) => number_value(number),
            Self::String(text) => Value::String(String::from_utf8_lossy(&text.0).into_owned()),
            Self::Array(array) => Value::Array(array.items.iter().map(Self::to_value).collect()),
            Self::Object(object) => Value::Object(object.to_map()),
        }
    }

    /// The value as it is written again where it does not change: numbers that would be spelt differently, NaN and
    /// infinities among them, keep their source text.
    pub(crate) fn to_kept(&self) -> Value {
        match self {
            Self::Number(number) => {
                let value = number_value(number);
                let spelt = value.to_string();
                let is_same = spelt == number.as_str();
                // netCDF-C writes numbers such as `0.`, which no other reader takes.
                let is_foreign = serde_json::from_str::<serde_json::Number>(number.as_str()).is_err();
                if value.is_number() && (is_same || is_foreign) { value } else { verbatim(number.as_str()) }
            }
            Self::Array(array) => Value::Array(array.items.iter().map(Self::to_kept).collect()),
            Self::Object(object) => {
                let members = object.iter().map(|(key, value)| (key.to_owned(), value.to_kept()));
                let value = Value::Object(members.collect());
                match std::str::from_utf8(&object.source) {
                    // It looks as if it were one.
                    Ok(source) if verbatim_source(&value).is_some() => verbatim(source),
                    _ => value,
                }
            }
            other => other.to_value(),
        }
    }

    /// Whether [`to_kept`](Self::to_kept) changes nothing: text that is not UTF-8 becomes something else.
    pub(crate) fn is_exact(&self) -> bool {
        match self {
            Self::Null | Self::Bool(_) | Self::Number(_) => true,
            Self::String(text) => text.as_str().is_some(),
            Self::Array(array) => array.items.iter().all(Self::is_exact),
            Self::Object(object) => object.iter().all(|(_, value)| value.is_exact()),
        }
    }
}

impl JsonObject {
    /// The members as codecs expect their configuration.
    pub(crate) fn to_map(&self) -> serde_json::Map<String, Value> {
        self.iter().map(|(key, value)| (key.to_owned(), value.to_value())).collect()
    }
}

/// The only member of an object that stands for JSON as it was read. No name contains NUL.
const VERBATIM: &str = "\0verbatim";

/// A value that is written as that text: JSON of another program that has no equal here, such as a bare `NaN`.
pub(crate) fn verbatim(source: &str) -> Value {
    json!({ VERBATIM: source })
}

/// The text of a [`verbatim`] value.
pub(crate) fn verbatim_source(value: &Value) -> Option<&str> {
    value.as_object().filter(|members| members.len() == 1)?.get(VERBATIM)?.as_str()
}

/// A string in quotes, with the escapes that the reference writes.
fn quote(content: &[u8], text: &mut Vec<u8>) {
    text.push(b'"');
    for &byte in content {
        match byte {
            b'"' | b'\\' => text.extend_from_slice(&[b'\\', byte]),
            8 => text.extend_from_slice(b"\\b"),
            12 => text.extend_from_slice(b"\\f"),
            b'\n' => text.extend_from_slice(b"\\n"),
            b'\r' => text.extend_from_slice(b"\\r"),
            b'\t' => text.extend_from_slice(b"\\t"),
            other => text.push(other),
        }
    }
    text.push(b'"');
}

fn number_value(number: &JsonNumber) -> Value {
    let integer = number.as_i128();
    if let Some(value) = integer.and_then(|value| i64::try_from(value).ok()) {
        return Value::from(value);
    }
    if let Some(value) = integer.and_then(|value| u64::try_from(value).ok()) {
        return Value::from(value);
    }
    match serde_json::Number::from_f64(number.as_f64()) {
        Some(value) => Value::Number(value),
        None => Value::String(number.as_str().to_owned()),
    }
}
