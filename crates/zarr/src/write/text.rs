//! JSON text in the layout of the reference (docs/spec/nczarr.md 3.1), strictly valid.
use crate::json::verbatim_source;
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
    if let Some(source) = verbatim_source(value) {
        return text.push_str(source);
    }
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
                append_string(key, text);
                text.push_str(": ");
                append(member, text);
            }
            text.push('}');
        }
        Value::String(string) => append_string(string, text),
        Value::Bool(true) => text.push_str("true"),
        Value::Bool(false) => text.push_str("false"),
        Value::Null => text.push_str("null"),
        Value::Number(number) => text.push_str(&number.to_string()),
    }
}

/// A string in quotes. Most strings have nothing to escape, and are copied.
fn append_string(string: &str, text: &mut String) {
    let is_plain = string.bytes().all(|byte| byte >= b' ' && byte != b'"' && byte != b'\\');
    if is_plain {
        text.push('"');
        text.push_str(string);
        text.push('"');
    } else {
        text.push_str(&Value::from(string).to_string());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::json::{parse, verbatim};
    use ncirrus_layout::Limits;
    use serde_json::json;

    #[test]
    fn separators_are_those_of_the_reference() {
        let value = json!({"zarr_format": 2, "shape": [3, 4], "a": {"b": null, "c": 1.0}});
        assert_eq!(render(&value), r#"{"zarr_format": 2, "shape": [3,4], "a": {"b": null, "c": 1.0}}"#);
    }

    #[test]
    fn verbatim_values_are_written_as_they_are() {
        let value = json!({"a": verbatim("NaN"), "b": [verbatim("1.50"), 2]});
        assert_eq!(render(&value), r#"{"a": NaN, "b": [1.50,2]}"#);
    }

    #[test]
    fn what_is_kept_is_written_as_it_was() {
        for text in [
            "null",
            r#"{"a": [1,2.50,1e-05,18446744073709551615,-1,true,"é"], "b": {}}"#,
            "[]",
            "NaN",
            r#"{"a": [-Infinity,1E5]}"#,
            "[123456789012345678901234567890]",
            "[1e999,1.0,-0.0]",
            // Looks like a value that is kept, and is not.
            r#"[{"\u0000verbatim": "x"},{"\u0000verbatim": 1}]"#,
        ] {
            let json = parse(&Bytes::from_static(text.as_bytes()), &Limits::default()).unwrap();
            assert_eq!(render(&json.to_kept()), text);
        }
    }

    #[test]
    fn control_characters_are_escaped() {
        assert_eq!(render(&json!("a\u{1}\"\n")), r#""a\u0001\"\n""#);
        for text in ["", "plain", "é\u{7f}\u{2028}", "\\", "\"", "\t", "\0"] {
            let value = json!({ text: text });
            assert_eq!(render(&value), value.to_string().replace("\":\"", "\": \""));
        }
    }
}
