//! Text attributes that are stored as JSON (docs/spec/nczarr.md 3.10).
use crate::json::{JsonValue, parse, verbatim};
use bytes::Bytes;
use ncirrus_layout::Limits;
use serde_json::{Value, json};

/// The JSON that is stored for a text: `was_json` if the source stores it as JSON, otherwise if it is a dictionary and
/// `json_text` asks for it. `None`: it is stored as a string.
pub(super) fn stored(text: &[u8], was_json: bool, json_text: bool) -> Option<Value> {
    if text.is_empty() {
        // An empty list is shown so.
        return was_json.then(|| json!([]));
    }
    let is_dictionary = || json_text && text.trim_ascii_start().starts_with(b"{");
    if !was_json && !is_dictionary() {
        return None;
    }
    let text = std::str::from_utf8(text).ok()?;
    let is_strict = serde_json::from_str::<Value>(text).is_ok();
    if !is_strict && !was_json {
        return None;
    }
    let json = parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).ok()?;
    let is_shown_so = matches!(json, JsonValue::Object(_) | JsonValue::Array(_) | JsonValue::Null);
    if !is_shown_so || !json.is_exact() {
        return None;
    }
    // Readers show the source of the JSON: all of the text but the white space around it, line breaks included.
    Some(if is_strict { verbatim(text.trim_ascii()) } else { json.to_kept() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::write::text::render;

    #[test]
    fn dictionaries_are_json_and_other_text_stays_text() {
        let cases = [
            (r#"{"a":1, "b" : [1.50,"\u00e9"]}"#, Some(r#"{"a":1, "b" : [1.50,"\u00e9"]}"#)),
            ("{\n\"a\":1.50,\n\t\"b\": [ ] }", Some("{\n\"a\":1.50,\n\t\"b\": [ ] }")),
            (" {\"a\":1.50 }\n", Some("{\"a\":1.50 }")),
            ("{}", Some("{}")),
            // Not strict, or no dictionary.
            ("{'a': 1}", None),
            (r#"{"a": NaN}"#, None),
            (r#"{"a": 1} x"#, None),
            (r#"{"a": 1"#, None),
            ("{\"a\": \"\u{1}\"}", None),
            ("[1]", None),
            ("[{}]", None),
            ("null", None),
            ("12", None),
            ("", None),
            ("{braces}", None),
        ];
        for (text, expected) in cases {
            let found = stored(text.as_bytes(), false, true).map(|json| render(&json));
            assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{text}");
            assert_eq!(stored(text.as_bytes(), false, false), None, "{text}");
        }
        assert_eq!(stored(b"{\"a\": \"\xe9\"}", false, true), None);
    }

    #[test]
    fn json_of_the_source_stays_json() {
        let cases = [
            ("", Some("[]")),
            ("null", Some("null")),
            (r#"["a",1]"#, Some(r#"["a",1]"#)),
            (r#"[[1,2]]"#, Some("[[1,2]]")),
            (r#"{"a": NaN}"#, Some(r#"{"a": NaN}"#)),
            // Not JSON, but netCDF-C writes it.
            ("[0.,1.,-2.5]", Some("[0.0,1.0,-2.5]")),
            // Changed since.
            ("12", None),
            ("text", None),
        ];
        for (text, expected) in cases {
            for json_text in [true, false] {
                let found = stored(text.as_bytes(), true, json_text).map(|json| render(&json));
                assert_eq!(found.as_deref(), expected.map(str::as_bytes), "{text}");
            }
        }
    }
}
