use super::*;
use ncirrus_layout::{ErrorKind, Limits};
use proptest::prelude::*;

fn read(text: &str) -> JsonValue {
    parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap()
}

fn refuse(text: &[u8]) -> ncirrus_layout::Error {
    parse(&Bytes::copy_from_slice(text), &Limits::default()).unwrap_err()
}

#[test]
fn members_keep_their_order_and_the_last_of_a_repeated_key_wins() {
    let json = read(r#" { "b" : 1, "a": 2 ,"b":3 } trailing"#);
    let members: Vec<(&str, &[u8])> =
        json.as_object().unwrap().iter().map(|(key, value)| (key, value.source())).collect();
    assert_eq!(members, [("b", &b"3"[..]), ("a", b"2")]);
}

#[test]
fn numbers_keep_their_spelling() {
    for text in
        ["0.", "+1", "1e5", "-0.50", "NaN", "-Infinity", "Infinity", ".5", "123456789012345678901234567890"]
    {
        let json = read(&format!("[{text}]"));
        assert_eq!(json.as_array().unwrap()[0].source(), text.as_bytes());
    }
    assert_eq!(read("-12").as_number().unwrap().as_i128(), Some(-12));
    assert_eq!(read("+1").as_number().unwrap().as_i128(), Some(1));
    assert_eq!(read("1.").as_number().unwrap().as_i128(), None);
    assert!(read("NaN").as_number().unwrap().as_f64().is_nan());
    assert_eq!(read("-Infinity").as_number().unwrap().as_f64(), f64::NEG_INFINITY);
}

#[test]
fn strings_are_unescaped() {
    assert_eq!(read(r#""a\"b\\\/\b\f\n\r\t""#).source(), b"a\"b\\/\x08\x0c\n\r\t");
    assert_eq!(read(r#""it\'s""#).source(), b"it's");
    assert_eq!(read(r#""\u00e9\ud83d\ude00""#).as_str(), Some("é😀"));
    assert_eq!(read(r#""\ud83d!""#).as_str(), Some("\u{fffd}!"));
    assert_eq!(read("\"raw\u{1}\ttab\"").source(), b"raw\x01\ttab");
    let latin = parse(&Bytes::from_static(b"\"\xb5m\""), &Limits::default()).unwrap();
    assert_eq!((latin.source(), latin.as_str()), (&b"\xb5m"[..], None));
}

#[test]
fn lists_and_objects_keep_their_source() {
    let json = read(r#"{"a": [0.,0., 1.0], "b": {"c" :null}}"#);
    assert_eq!(json.member("a").unwrap().source(), b"[0.,0., 1.0]");
    assert_eq!(json.member("b").unwrap().source(), br#"{"c" :null}"#);
}

#[test]
fn values_are_written_on_one_line_as_the_reference_does() {
    let json = read("{\"a\": [1.0,\n 2,null],\n \"b\":{\"c\":\"q\\\"\\n\"}}");
    assert_eq!(json.compact(), br#"{"a": [1.0,2,null], "b": {"c": "q\"\n"}}"#);
}

#[test]
fn damage_is_reported_with_its_offset() {
    let cases: [(&[u8], u64); 8] = [
        (b"", 0),
        (b"  ", 2),
        (b"{\"a\" 1}", 5),
        (b"[1 2]", 3),
        (b"\"abc", 0),
        (b"<html>", 0),
        (b"[tru]", 1),
        (b"{1:2}", 1),
    ];
    for (text, offset) in cases {
        let error = refuse(text);
        assert_eq!((error.kind(), error.place().offset), (ErrorKind::Malformed, Some(offset)), "{text:?}");
    }
}

#[test]
fn nesting_and_sizes_are_limited() {
    assert_eq!(refuse("[".repeat(100_000).as_bytes()).kind(), ErrorKind::Limit);
    let limits = Limits { count: 3, metadata_bytes: 20, ..Limits::default() };
    let few = |text: &'static str| parse(&Bytes::from_static(text.as_bytes()), &limits).map_err(|e| e.kind());
    assert_eq!(few("[1,2,3,4]"), Err(ErrorKind::Limit));
    assert_eq!(few("[1,2,3]            234"), Err(ErrorKind::Limit));
    assert!(few("[1,2,3]").is_ok());
}

#[test]
fn codec_configurations_become_plain_values() {
    let json = read(r#"{"id": "x", "level": 5, "big": 18446744073709551615, "f": 0.5, "n": NaN}"#);
    let expected = serde_json::json!({"id": "x", "level": 5, "big": u64::MAX, "f": 0.5, "n": "NaN"});
    assert_eq!(json.to_value(), expected);
}

#[test]
fn only_text_that_is_not_utf8_cannot_be_kept() {
    for text in ["null", r#"{"a": [1,2.50,true,"é"]}"#, "[]", "{}", "NaN", "[-Infinity,1e999]"] {
        assert!(read(text).is_exact(), "{text}");
    }
    let latin = parse(&Bytes::from_static(b"[\"\xb5m\"]"), &Limits::default()).unwrap();
    assert!(!latin.is_exact());
}

fn strict_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<u64>().prop_map(Value::from),
        any::<f64>().prop_filter("JSON has no NaN", |f| f.is_finite()).prop_map(Value::from),
        ".*".prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
            prop::collection::btree_map(".*", inner, 0..6)
                .prop_map(|map| Value::Object(map.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn strict_json_is_read_as_it_was_written(value in strict_value()) {
        prop_assert_eq!(read(&value.to_string()).to_value(), value.clone());
        prop_assert_eq!(read(&serde_json::to_string_pretty(&value).unwrap()).to_value(), value);
    }

    #[test]
    fn any_bytes_are_read_or_refused(bytes in prop::collection::vec(any::<u8>(), 0..200)) {
        _ = parse(&Bytes::from(bytes), &Limits::default());
    }

    #[test]
    fn any_cut_or_changed_document_is_read_or_refused(value in strict_value(), at in any::<prop::sample::Index>(), byte in any::<u8>()) {
        let mut text = value.to_string().into_bytes();
        let at = at.index(text.len());
        _ = parse(&Bytes::copy_from_slice(&text[..at]), &Limits::default());
        text[at] = byte;
        _ = parse(&Bytes::from(text), &Limits::default());
    }
}
