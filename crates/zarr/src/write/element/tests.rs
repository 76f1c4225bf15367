use super::*;
use ncirrus_model::{EnumMember, Field, Strings, UserType};

fn model() -> (Model, TypeRef) {
    let mut model = Model::new();
    let root = model.root();
    let mut add =
        |name: &str, kind| model.add_type(root, UserType { name: name.into(), kind }).map(TypeRef::User);
    let level = add(
        "level",
        UserKind::Enum { base: Atomic::Byte, members: vec![EnumMember { name: "High".into(), value: 1 }] },
    );
    let row = add("row", UserKind::Vlen(Atomic::Int.into()));
    let field = |name: &str, ty, dims: &[u64]| Field { name: name.into(), ty, dims: dims.to_vec() };
    let compound = add(
        "obs",
        UserKind::Compound(vec![
            field("a", Atomic::Int.into(), &[]),
            field("s", Atomic::String.into(), &[]),
            field("v", row.unwrap(), &[]),
            field("e", level.unwrap(), &[2]),
            field("c", Atomic::Char.into(), &[3]),
        ]),
    );
    let compound = compound.unwrap();
    (model, compound)
}

fn observation() -> Values {
    Values::Compound {
        len: 1,
        fields: vec![
            Values::Int(vec![7]),
            Values::String(Strings::from_iter([Some("hi")])),
            Values::Vlen { ends: vec![2], elements: Box::new(Values::Int(vec![1, 2])) },
            Values::Byte(vec![1, 5]),
            Values::Char(b"a\xe9\0".to_vec()),
        ],
    }
}

#[test]
fn a_compound_is_readable_json() {
    let (model, ty) = model();
    let expected = json!({"a": 7, "s": "hi", "v": [1, 2], "e": ["High", 5], "c": "a\u{e9}\0"});
    assert_eq!(readable(&model, ty, &observation(), 0), Some(expected));
    assert_eq!(readable(&model, ty, &observation(), 1), None);
}

#[test]
fn the_packed_form_is_the_documented_one() {
    let (model, ty) = model();
    let mut bytes = Vec::new();
    pack(&model, ty, &observation(), 0, &mut bytes).unwrap();
    let expected = b"\x07\0\0\0\x02\0\0\0hi\x02\0\0\0\x01\0\0\0\x02\0\0\0\x01\x05a\xe9\0";
    assert_eq!(bytes, expected);
    let mut null = Vec::new();
    pack(&model, Atomic::String.into(), &Values::zeroed(Atomic::String, 1), 0, &mut null).unwrap();
    assert_eq!(null, [255; 4]);
}

#[test]
fn zeros_have_the_shape_of_their_type() {
    let (model, ty) = model();
    let zero = zero(&model, ty).unwrap();
    let mut bytes = Vec::new();
    pack(&model, ty, &zero, 0, &mut bytes).unwrap();
    assert_eq!(bytes, [[0; 4], [255; 4], [0; 4]].concat().into_iter().chain([0; 5]).collect::<Vec<_>>());
}

#[test]
fn numbers_have_the_fewest_digits_that_read_back() {
    assert_eq!(float(0.1).to_string(), "0.1");
    assert_eq!(float(9.969_21e36).to_string(), "9.96921e+36");
    assert_eq!(float(1.0).to_string(), "1.0");
    assert_eq!(double(9.969_209_968_386_869e36).to_string(), "9.969209968386869e+36");
    assert_eq!(double(f64::NEG_INFINITY), json!("-Infinity"));
    assert_eq!(float(f32::NAN), json!("NaN"));
    assert_eq!(number(&Values::UInt64(vec![u64::MAX]), 0).unwrap().to_string(), "18446744073709551615");
    assert_eq!(number(&Values::Int64(vec![i64::MIN]), 0).unwrap().to_string(), "-9223372036854775808");
}

proptest::proptest! {
    #[test]
    fn every_float_reads_back(bits: u32) {
        let value = f32::from_bits(bits);
        if value.is_finite() {
            let text = float(value).to_string();
            proptest::prop_assert_eq!(text.parse::<f32>().unwrap().to_bits(), bits);
        }
    }
}
