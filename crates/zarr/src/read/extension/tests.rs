use super::*;
use crate::json::parse;
use bytes::Bytes;
use std::sync::Arc;

fn json(text: &str) -> JsonValue {
    parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap()
}

fn holder(members: &str) -> AttributeHolder {
    let text = format!(r#"{{"_ncirrus": {{"version": 1, {members}}}}}"#);
    AttributeHolder::whole(Some(Ok(Arc::new(json(&text)))))
}

const TYPES: &str = r#""types": [
    {"name": "level_t", "kind": "enum", "base": "byte", "members": {"Low": 0, "High": 1}},
    {"name": "raw_t", "kind": "opaque", "size": 3},
    {"name": "row_t", "kind": "vlen", "base": "int"},
    {"name": "words_t", "kind": "vlen", "base": "string"},
    {"name": "obs_t", "kind": "compound", "fields": [
      {"name": "id", "type": "int"}, {"name": "level", "type": "/level_t"}, {"name": "u", "type": "float", "shape": [2, 3]},
      {"name": "c", "type": "char", "shape": [2]}]}]"#;

fn model() -> Model {
    let mut model = Model::new();
    let root = model.root();
    let damaged =
        define_types(&mut model, root, &holder(TYPES), &mut TypeNesting::default(), &Limits::default());
    assert_eq!(damaged, Vec::<String>::new());
    model
}

#[test]
fn types_are_defined_in_order() {
    let model = model();
    let names: Vec<&str> = model
        .group(model.root())
        .unwrap()
        .types
        .iter()
        .map(|id| model.user_type(*id).unwrap().name.as_str())
        .collect();
    assert_eq!(names, ["level_t", "raw_t", "row_t", "words_t", "obs_t"]);
    assert_eq!(model.packed_len(TypeRef::User(model.type_at("/obs_t").unwrap())), Some(4 + 1 + 24 + 2));
}

#[test]
fn stored_types_follow_the_named_type() {
    let model = model();
    let of = |name: &str, stored: &StoredType| {
        let holder = holder(&format!(r#""type": "{name}""#));
        array_type(&model, &holder, stored).map(|known| known.map(|(_, stored)| stored))
    };
    let byte = crate::dtype::stored_number(Atomic::Byte, ByteOrder::Little);
    assert_eq!(of("/level_t", &byte).unwrap(), Some(byte.clone()));
    assert!(of("/level_t", &crate::dtype::stored_number(Atomic::Int, ByteOrder::Little)).is_err());
    let raw = StoredType::Opaque { byte_len: 3 };
    assert_eq!(of("/raw_t", &raw).unwrap(), Some(raw));
    let bytes = StoredType::Sequence(SequenceItem::Bytes);
    let ints = Box::new(crate::dtype::stored_number(Atomic::Int, ByteOrder::Little));
    assert_eq!(of("/row_t", &bytes).unwrap(), Some(StoredType::Sequence(SequenceItem::Array(ints))));
    assert_eq!(of("/words_t", &bytes).unwrap(), Some(StoredType::Sequence(SequenceItem::Packed)));
    let packed = of("/obs_t", &StoredType::Opaque { byte_len: 31 }).unwrap().unwrap();
    assert!(matches!(packed, StoredType::Compound { byte_len: 31, .. }));
    assert!(of("/obs_t", &StoredType::Opaque { byte_len: 30 }).is_err());
    assert!(of("/nope", &byte).is_err());
    let text = StoredType::Text { byte_len: 1, encoding: TextEncoding::NulPaddedEmpty };
    assert_eq!(of("char", &text).unwrap(), Some(StoredType::Char));
    assert_eq!(array_type(&model, &AttributeHolder::default(), &text).unwrap(), None);
}

#[test]
fn attributes_of_every_type_are_read_into_their_places() {
    let model = model();
    let entries = r#""attributes": [
        {"name": "worst", "index": 1, "type": "/level_t", "value": ["High", 0]},
        {"name": "raw", "index": 2, "type": "/raw_t", "value": ["00ffA1"]},
        {"name": "rows", "index": 3, "type": "/row_t", "value": [[1, 2], []]},
        {"name": "words", "index": 4, "type": "string", "value": ["a", null, {"base64": "/w=="}]},
        {"name": "obs", "index": 5, "type": "/obs_t", "value": [{"id": 7, "level": "Low", "u": [1, 2, 3, 4, 5, "NaN"], "c": "aÿ"}]},
        {"name": "text", "index": 7, "type": "char", "base64": "YQBi", "shown": "a"},
        {"name": "changed", "index": 8, "type": "char", "base64": "YQBi", "shown": "a"},
        {"name": "bad", "index": 9, "type": "/nope", "value": []}]"#;
    let mut list = vec![
        Attribute::text("first", "1"),
        Attribute::text("text", "a"),
        Attribute::text("changed", "other"),
    ];
    let damaged = insert_attributes(&model, &holder(entries), &mut list);
    assert_eq!(damaged.len(), 1);
    let names: Vec<&str> = list.iter().map(|attribute| attribute.name.as_str()).collect();
    assert_eq!(names, ["first", "worst", "raw", "rows", "words", "obs", "changed", "text"]);
    assert_eq!(list[1].values, Values::Byte(vec![1, 0]));
    assert_eq!(list[2].values, Values::Opaque { size: 3, bytes: vec![0, 255, 161] });
    let rows = Values::Vlen { ends: vec![2, 2], elements: Box::new(Values::Int(vec![1, 2])) };
    assert_eq!(list[3].values, rows);
    let Values::Compound { len: 1, fields } = &list[5].values else { panic!("no compound") };
    assert_eq!((&fields[0], &fields[3]), (&Values::Int(vec![7]), &Values::Char(vec![b'a', 255])));
    assert_eq!(list[7].values, Values::Char(b"a\0b".to_vec()));
    assert_eq!(list[6].values, Values::Char(b"other".to_vec()), "another program changed it");
}

#[test]
fn types_of_types_of_types_are_bounded() {
    let doubled = |at: usize| {
        let before = if at == 0 { "int".to_owned() } else { format!("/t{}", at - 1) };
        format!(
            r#"{{"name": "t{at}", "kind": "compound", "fields": [{{"name": "a", "type": "{before}"}}, {{"name": "b", "type": "{before}"}}]}}"#
        )
    };
    let list: Vec<String> = (0..40).map(doubled).collect();
    let mut model = Model::new();
    let root = model.root();
    let holder = holder(&format!(r#""types": [{}]"#, list.join(",")));
    let damaged = define_types(&mut model, root, &holder, &mut TypeNesting::default(), &Limits::default());
    assert!(damaged.len() > 20 && model.type_at("/t10").is_some());
}

#[test]
fn newer_versions_are_ignored_with_a_word() {
    let newer =
        AttributeHolder::whole(Some(Ok(Arc::new(json(r#"{"_ncirrus": {"version": 2, "arrays": ["a"]}}"#)))));
    assert!(array_order(&newer).is_empty() && ignored(&newer).is_some());
    assert_eq!(array_order(&holder(r#""arrays": ["b", "a"]"#)), ["b", "a"]);
    assert_eq!(ignored(&holder(r#""arrays": []"#)), None);
}
