//! JSON that another program stored as an attribute, and that is shown as text (docs/spec/nczarr.md 3.10, 5.4).
use crate::json::{parse, verbatim_source};
use crate::write::text::render;
use bytes::Bytes;
use ncirrus_layout::Limits;
use serde_json::Value;

/// Whether an object, list or null that readers see as `text` can be written again as what it is. Where a type is
/// declared, readers see the source of the JSON, which must come out the same; elsewhere the JSON is the attribute for
/// other programs, and only its numbers may be spelt differently.
pub(super) fn keeps(text: &[u8], value: &Value, is_declared: bool) -> bool {
    let is_shown_whole = matches!(value, Value::Object(_) | Value::Array(_) | Value::Null);
    is_shown_whole
        && verbatim_source(value).is_none()
        && (render(value) == text || (!is_declared && is_all_of(text, value)))
}

/// Whether a value is all of the JSON that is shown as `text` where no type is declared.
fn is_all_of(text: &[u8], value: &Value) -> bool {
    if text.is_empty() {
        // An empty list is shown so.
        return value.as_array().is_some_and(Vec::is_empty);
    }
    let json = parse(&Bytes::copy_from_slice(text), &Limits::default());
    json.is_ok_and(|json| json.is_exact() && json.to_kept() == *value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::verbatim;
    use serde_json::json;

    #[test]
    fn json_is_kept_unless_it_would_be_read_as_something_else() {
        let cases = [
            (r#"{"a": [1,{"b": null}]}"#, json!({"a": [1, {"b": null}]}), [true, true]),
            ("null", Value::Null, [true, true]),
            ("[]", json!([]), [true, true]),
            ("", json!([]), [false, true]),
            // Spelt differently when it is written.
            (r#"{"a":1}"#, json!({"a": 1}), [false, true]),
            (r#"{"a": 1.50}"#, json!({"a": verbatim("1.50")}), [true, true]),
            (r#"{"a":1.50}"#, json!({"a": verbatim("1.50")}), [false, true]),
            (r#"{"a": NaN}"#, json!({"a": verbatim("NaN")}), [true, true]),
            (r#"[[NaN, 1]]"#, json!([[verbatim("NaN"), 1]]), [false, true]),
            // Other values when they are written.
            (r#"{"a": NaN}"#, json!({"a": "NaN"}), [false, false]),
            ("NaN", verbatim("NaN"), [false, false]),
            (r#"{"a": 1}"#, json!({"a": 2}), [false, false]),
            // The reference cuts numbers that are declared to be text.
            ("12", json!(12), [false, false]),
        ];
        for (text, value, expected) in cases {
            let found = [true, false].map(|is_declared| keeps(text.as_bytes(), &value, is_declared));
            assert_eq!(found, expected, "{text}");
        }
    }
}
