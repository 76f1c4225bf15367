//! JSON text in the layout of the reference (docs/spec/nczarr.md 3.1), strictly valid.
use bytes::Bytes;
use serde_json::Value;

/// One line: `": "` after keys, `", "` between members, `","` between the elements of a list.
pub(crate) fn render(value: &Value) -> Bytes {
    let mut text = String::new();
    append(value, &mut text);
    Bytes::from(text)
}

/// The depth is that of documents that this crate built, or parsed under a limit.
pub(crate) fn append(value: &Value, text: &mut String) {
    match value {
        Value::Array(items) => {
            text.push('[');
            for (at, item) in items.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { "," });
                append(item, text);
            }
            text.push(']');
        }
        Value::Object(members) => {
            text.push('{');
            for (at, (key, member)) in members.iter().enumerate() {
                text.push_str(if at == 0 { "" } else { ", " });
                append(&Value::String(key.clone()), text);
                text.push_str(": ");
                append(member, text);
            }
            text.push('}');
        }
        scalar => text.push_str(&scalar.to_string()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn separators_are_those_of_the_reference() {
        let value = json!({"zarr_format": 2, "shape": [3, 4], "a": {"b": null, "c": 1.0}});
        assert_eq!(render(&value), r#"{"zarr_format": 2, "shape": [3,4], "a": {"b": null, "c": 1.0}}"#);
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(render(&json!("a\u{1}\"\n")), r#""a\u0001\"\n""#);
    }
}
