use super::*;

fn written(dialect: Dialect, attributes: &[Attribute]) -> WrittenAttributes {
    let mut written = WrittenAttributes::default();
    for (index, attribute) in attributes.iter().enumerate() {
        written.add(&Model::new(), dialect, index, attribute).unwrap();
    }
    written
}

fn strings(items: &[Option<&str>]) -> Values {
    Values::String(items.iter().copied().collect())
}

#[test]
fn numbers_and_text_have_the_types_of_the_reference() {
    let written = written(
        Dialect::Attributes,
        &[
            Attribute::text("title", "basic"),
            Attribute::atomic("version", Values::Int(vec![2])),
            Attribute::atomic("pi", Values::Double(vec![0.123_456_789_012_345_6])),
            Attribute::atomic("range", Values::Float(vec![0.1, f32::NAN])),
            Attribute::atomic("b", Values::Byte(vec![-1])),
            Attribute::atomic("names", strings(&[Some("a"), Some("bcd")])),
            Attribute::atomic("one", strings(&[Some("")])),
            Attribute::atomic("none", Values::Int(vec![])),
        ],
    );
    let plain = json!({"title": "basic", "version": 2, "pi": 0.1234567890123456, "range": [0.10000000149011612, "NaN"], "b": -1,
        "names": ["a", "bcd"], "one": "", "none": []});
    let types = json!({"title": ">S1", "version": "<i4", "pi": "<f8", "range": "<f4", "b": "<i1",
        "names": "|S3", "one": "|S1", "none": "<i4"});
    assert_eq!(Value::Object(written.plain), plain);
    assert_eq!(Value::Object(written.types), types);
    assert!(written.extension.is_empty());
}

#[test]
fn text_that_looks_like_json_stays_text() {
    let written =
        written(Dialect::Attributes, &[Attribute::text("n", "12"), Attribute::text("o", "{\"a\": 1}")]);
    assert_eq!(Value::Object(written.plain), json!({"n": "12", "o": "{\"a\": 1}"}));
}

#[test]
fn text_that_json_cannot_hold_is_kept_whole_and_shown_in_part() {
    let latin = Attribute::atomic("who", Values::Char(b"Jos\xe9\0".to_vec()));
    let written = written(Dialect::Attributes, &[Attribute::text("a", ""), latin]);
    assert_eq!(written.plain["who"], json!("Jos\u{fffd}"));
    let entry =
        json!({"name": "who", "index": 1, "type": "char", "base64": "Sm9z6QA=", "shown": "Jos\u{fffd}"});
    assert_eq!(written.extension, [entry]);
}

#[test]
fn null_strings_and_strings_of_old_dialects_go_into_the_extension() {
    let null = Attribute::atomic("s", strings(&[Some("a"), None]));
    let entry = json!({"name": "s", "index": 0, "type": "string", "value": ["a", null]});
    assert_eq!(written(Dialect::Attributes, &[null]).extension, [entry]);
    let whole = Attribute::atomic("s", strings(&[Some("a")]));
    assert_eq!(written(Dialect::UpperCase, &[whole]).extension.len(), 1);
}

#[test]
fn reserved_names_are_refused() {
    let mut written = WrittenAttributes::default();
    let refused = written.add(&Model::new(), Dialect::Plain, 0, &Attribute::text("_nczarr_attr", "x"));
    assert!(refused.unwrap_err().message().contains("_nczarr_attr"));
}

#[test]
fn numbers_without_digits_stay_numbers_where_nothing_tells_types() {
    let nan = Attribute::atomic("nan", Values::Double(vec![f64::NAN]));
    let range = Attribute::atomic("range", Values::Float(vec![f32::NEG_INFINITY, 1.0]));
    let written = written(Dialect::Xarray, &[nan, range]);
    assert_eq!(Value::Object(written.plain), json!({"nan": "NaN"}));
    let entries = [
        json!({"name": "nan", "index": 0, "type": "double", "value": ["NaN"], "shown": "NaN"}),
        json!({"name": "range", "index": 1, "type": "float", "value": ["-Infinity", 1.0]}),
    ];
    assert_eq!(written.extension, entries);
}
