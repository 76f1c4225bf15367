//! The draft of December 2018 (docs/spec/nczarr.md 7): sizes in bits, and strings in compounds, whose lengths are
//! attributes.
use super::node::{AttributeHolder, GroupNode};
use crate::dialect::Dialect;
use crate::dtype::v2::is_in_bits;
use crate::json::{JsonValue, parse};
use bytes::Bytes;
use ncirrus_layout::Limits;
use serde_json::{Value, json};

/// Whether a dataset of the draft has sizes in bits: one of its types has a size that no number has in bytes. `i8` alone
/// has 8 bytes, as in Zarr.
pub(super) fn has_sizes_in_bits(dialect: Dialect, root: &GroupNode) -> bool {
    let of_array = |json: &JsonValue| json.member("dtype").is_some_and(is_in_bits);
    dialect == Dialect::Draft2018
        && (root.any_array(&|array| array.metadata.as_ref().is_ok_and(|json| of_array(json)))
            || has_such_types(root))
}

fn has_such_types(group: &GroupNode) -> bool {
    let types = group.types.as_deref().and_then(JsonValue::as_object);
    let of_type = |json: &JsonValue| is_in_bits(json.member("basetype").unwrap_or(json));
    types.is_some_and(|types| types.iter().any(|(_, json)| of_type(json)))
        || group.groups.iter().any(has_such_types)
}

/// The spelling of a compound type with the lengths of its strings, which attributes `TYPE.FIELD` of its group have;
/// `None` if it has no strings without a length, or one has no attribute.
pub(super) fn with_lengths(
    spelling: &JsonValue,
    name: &str,
    group: &AttributeHolder,
    limits: &Limits,
) -> Option<JsonValue> {
    let mut has_unsized = false;
    let mut fields = Vec::new();
    for field in spelling.as_array()? {
        let Value::Array(mut parts) = field.to_value() else { return None };
        let field_name = parts.first()?.as_str()?.to_owned();
        let is_unsized = parts.get(1).and_then(Value::as_str).is_some_and(|text| {
            matches!(text.trim_start_matches(['<', '>', '|', '=']), "S" | "S0" | "a" | "string")
        });
        if is_unsized {
            let len = group.find(&format!("{name}.{field_name}"))?;
            let len = len.as_array().and_then(<[JsonValue]>::first).unwrap_or(len).as_u64()?;
            *parts.get_mut(1)? = json!(format!("|S{len}"));
            has_unsized = true;
        }
        fields.push(Value::Array(parts));
    }
    if !has_unsized {
        return None;
    }
    parse(&Bytes::from(Value::Array(fields).to_string()), limits).ok()
}

/// The metadata of an array with another `dtype`.
pub(super) fn with_dtype(array: &JsonValue, dtype: &JsonValue, limits: &Limits) -> Option<JsonValue> {
    let mut body = array.as_object()?.to_map();
    body.insert("dtype".to_owned(), dtype.to_value());
    parse(&Bytes::from(Value::Object(body).to_string()), limits).ok()
}
