//! Parameters in the forms that writers use: numbers, numeric strings, or nothing (docs/spec/nczarr.md 11.2).
use crate::CodecError;
use serde_json::{Map, Value};

/// The configuration of one codec.
#[derive(Debug, Clone, Copy)]
pub(crate) struct CodecParameters<'a> {
    codec: &'a str,
    map: &'a Map<String, Value>,
}

impl<'a> CodecParameters<'a> {
    pub(crate) fn new(codec: &'a str, map: &'a Map<String, Value>) -> Self {
        Self { codec, map }
    }

    /// The member, unless it is missing or null.
    pub(crate) fn get(&self, key: &str) -> Option<&'a Value> {
        self.map.get(key).filter(|value| !value.is_null())
    }

    pub(crate) fn integer(&self, key: &str) -> Result<Option<i64>, CodecError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        as_integer(value).map(Some).ok_or_else(|| self.bad(key, value))
    }

    pub(crate) fn size(&self, key: &str) -> Result<Option<usize>, CodecError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let size = as_integer(value).and_then(|size| usize::try_from(size).ok());
        size.map(Some).ok_or_else(|| self.bad(key, value))
    }

    pub(crate) fn number(&self, key: &str) -> Result<Option<f64>, CodecError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        let number = match value {
            Value::String(text) => text.trim().parse().ok(),
            other => other.as_f64(),
        };
        number.map(Some).ok_or_else(|| self.bad(key, value))
    }

    pub(crate) fn text(&self, key: &str) -> Result<Option<&'a str>, CodecError> {
        let Some(value) = self.get(key) else { return Ok(None) };
        value.as_str().map(Some).ok_or_else(|| self.bad(key, value))
    }

    pub(crate) fn flag(&self, key: &str) -> Result<bool, CodecError> {
        let Some(value) = self.get(key) else { return Ok(false) };
        match value {
            Value::Bool(flag) => Ok(*flag),
            Value::String(text) if text == "true" || text == "false" => Ok(text == "true"),
            other => as_integer(other).map(|number| number != 0).ok_or_else(|| self.bad(key, value)),
        }
    }

    /// The unnamed parameters of an HDF5 filter.
    pub(crate) fn numbers(&self) -> Result<Vec<u32>, CodecError> {
        const KEY: &str = "parameters";
        let Some(value) = self.get(KEY) else { return Ok(Vec::new()) };
        let number = |value: &Value| as_integer(value).and_then(|number| u32::try_from(number).ok());
        let numbers = value.as_array().and_then(|list| list.iter().map(number).collect());
        numbers.ok_or_else(|| self.bad(KEY, value))
    }

    pub(crate) fn codec(&self) -> &'a str {
        self.codec
    }

    /// The error for a missing member.
    pub(crate) fn missing(&self, key: &str) -> CodecError {
        CodecError::malformed(self.codec, format!("parameter {key:?} is missing"))
    }

    /// The error for a member with an invalid value.
    pub(crate) fn bad(&self, key: &str, value: &Value) -> CodecError {
        CodecError::malformed(self.codec, format!("parameter {key:?} cannot be {value}"))
    }
}

fn as_integer(value: &Value) -> Option<i64> {
    match value {
        Value::String(text) => text.trim().parse().ok(),
        Value::Number(number) => number.as_i64().or_else(|| whole(number.as_f64()?)),
        _ => None,
    }
}

#[expect(clippy::cast_possible_truncation, reason = "the number is whole and small")]
fn whole(number: f64) -> Option<i64> {
    (number.fract() == 0.0 && number.abs() < 9e15).then_some(number as i64)
}
