use super::*;
use crate::json::parse;
use bytes::Bytes;
use ncirrus_layout::{Limits, TextEncoding};
use ncirrus_model::{Field, UserType};

fn json(text: &str) -> JsonValue {
    parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap()
}

fn atomic(text: &str, atomic: Atomic, in_base64: bool) -> Result<Option<Values>> {
    let model = Model::new();
    let stored = match atomic {
        Atomic::String => StoredType::Text { byte_len: 5, encoding: TextEncoding::NulPadded },
        other => crate::dtype::stored_number(other, ByteOrder::Little),
    };
    FillElement { model: &model, ty: atomic.into(), stored: &stored, in_base64 }.parse(&json(text))
}

fn text(content: &str) -> Values {
    Values::String([Some(content)].into_iter().collect())
}

#[test]
fn numbers_are_bare_quoted_or_in_a_list_of_one() {
    let cases = [
        ("-1", Atomic::Int, Values::Int(vec![-1])),
        ("[-1]", Atomic::Int, Values::Int(vec![-1])),
        ("0.0", Atomic::Short, Values::Short(vec![0])),
        ("\"Infinity\"", Atomic::Float, Values::Float(vec![f32::INFINITY])),
        ("-Infinity", Atomic::Double, Values::Double(vec![f64::NEG_INFINITY])),
        ("18446744073709551615", Atomic::UInt64, Values::UInt64(vec![u64::MAX])),
        ("true", Atomic::UByte, Values::UByte(vec![1])),
        ("\"0x3f800000\"", Atomic::Float, Values::Float(vec![1.0])),
        ("\"0xc000\"", Atomic::Float, Values::Float(vec![-2.0])),
        ("\"0x0001\"", Atomic::Float, Values::Float(vec![2f32.powi(-24)])),
        ("\"0x7c00\"", Atomic::Float, Values::Float(vec![f32::INFINITY])),
        ("\"NaT\"", Atomic::Int64, Values::Int64(vec![i64::MIN])),
    ];
    for (source, ty, expected) in cases {
        assert_eq!(atomic(source, ty, false).unwrap(), Some(expected), "{source}");
    }
    assert!(
        matches!(atomic("\"NaN\"", Atomic::Float, true).unwrap(), Some(Values::Float(v)) if v[0].is_nan())
    );
    assert_eq!(atomic("null", Atomic::Int, false).unwrap(), None);
    for (source, ty) in
        [("300", Atomic::Byte), ("\"x\"", Atomic::Int), ("[1,2]", Atomic::Int), ("{}", Atomic::Double)]
    {
        assert!(atomic(source, ty, false).is_err(), "{source}");
    }
}

#[test]
fn text_is_plain_or_in_base64() {
    assert_eq!(atomic("\"\"", Atomic::Char, false).unwrap(), Some(Values::Char(vec![0])));
    assert_eq!(atomic("\"X\"", Atomic::Char, false).unwrap(), Some(Values::Char(b"X".to_vec())));
    assert_eq!(atomic("\"WA==\"", Atomic::Char, true).unwrap(), Some(Values::Char(b"X".to_vec())));
    assert_eq!(atomic("\"eno=\"", Atomic::String, true).unwrap(), Some(text("zz")));
    assert_eq!(atomic("\"eno=\"", Atomic::String, false).unwrap(), Some(text("eno=")));
    assert_eq!(atomic("\"no base64\"", Atomic::String, true).unwrap(), Some(text("no base64")));
    assert_eq!(
        atomic("\"MTIzNDU2Nzg5\"", Atomic::String, true).unwrap(),
        Some(text("MTIzNDU2Nzg5")),
        "too long decoded"
    );
    assert_eq!(atomic("0", Atomic::String, false).unwrap(), Some(text("")));
}

#[test]
fn compounds_are_packed_bytes_lists_or_objects() {
    let mut model = Model::new();
    let root = model.root();
    let field = |name: &str, ty: Atomic| Field { name: name.to_owned(), ty: ty.into(), dims: Vec::new() };
    let kind = UserKind::Compound(vec![field("r", Atomic::Float), field("i", Atomic::Float)]);
    let id = model.add_type(root, UserType { name: "c".to_owned(), kind }).unwrap();
    let stored = crate::dtype::packed(&model, TypeRef::User(id), ByteOrder::Big).unwrap();
    let element = FillElement { model: &model, ty: TypeRef::User(id), stored: &stored, in_base64: true };
    let pair =
        |r, i| Values::Compound { len: 1, fields: vec![Values::Float(vec![r]), Values::Float(vec![i])] };
    assert_eq!(element.parse(&json("[1.0, \"Infinity\"]")).unwrap(), Some(pair(1.0, f32::INFINITY)));
    assert_eq!(element.parse(&json(r#"{"i": 2, "r": 1}"#)).unwrap(), Some(pair(1.0, 2.0)));
    assert_eq!(element.parse(&json("\"P4AAAEAAAAA=\"")).unwrap(), Some(pair(1.0, 2.0)));
    assert_eq!(element.parse(&json("0")).unwrap(), Some(pair(0.0, 0.0)));
    assert_eq!(element.default().unwrap(), pair(0.0, 0.0));
    assert!(element.parse(&json("\"P4AA\"")).is_err());
}

#[test]
fn elements_too_large_to_hold_are_refused() {
    let mut model = Model::new();
    let root = model.root();
    let dims = vec![1 << 40, 1 << 40];
    let kind = UserKind::Compound(vec![Field { name: "a".to_owned(), ty: Atomic::Int.into(), dims }]);
    let id = model.add_type(root, UserType { name: "c".to_owned(), kind }).unwrap();
    let stored = StoredType::Opaque { byte_len: 4 };
    let element = FillElement { model: &model, ty: TypeRef::User(id), stored: &stored, in_base64: false };
    assert_eq!(element.default().unwrap_err().kind(), ncirrus_layout::ErrorKind::Limit);
}

#[test]
fn lists_are_numbers_or_bytes_in_base64() {
    let mut model = Model::new();
    let root = model.root();
    let mut vlen = |base: Atomic| {
        let ty = UserType { name: format!("{}_list", base.name()), kind: UserKind::Vlen(base.into()) };
        TypeRef::User(model.add_type(root, ty).unwrap())
    };
    let (ints, bytes) = (vlen(Atomic::Int), vlen(Atomic::UByte));
    let stored = StoredType::Sequence(ncirrus_layout::SequenceItem::Bytes);
    let read = |ty, text: &str| {
        FillElement { model: &model, ty, stored: &stored, in_base64: true }.parse(&json(text)).ok().flatten()
    };
    let list =
        |elements: Values| Some(Values::Vlen { ends: vec![elements.len()], elements: Box::new(elements) });
    assert_eq!(read(ints, "[1, 2]"), list(Values::Int(vec![1, 2])));
    assert_eq!(read(bytes, "\"AAE=\""), list(Values::UByte(vec![0, 1])));
    for empty in ["[]", "\"\"", "0"] {
        assert_eq!(read(ints, empty), list(Values::Int(Vec::new())), "{empty}");
    }
    assert_eq!(read(ints, "\"AAE=\""), None);
}
