use super::v2::TextRules;
use super::*;
use crate::json::{JsonValue, parse};
use bytes::Bytes;
use ncirrus_layout::{ErrorKind, Limits, TextEncoding};

const NCZARR: TextRules = TextRules { big_s1_is_char: true, u1_is_char: false, sizes_in_bits: false };
const FOREIGN: TextRules = TextRules { big_s1_is_char: false, u1_is_char: false, sizes_in_bits: false };

fn json(text: &str) -> JsonValue {
    parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap()
}

fn v2_of(text: &str, rules: TextRules) -> DataType {
    v2::parse(&json(&format!("{text:?}")), &[], rules).unwrap().0
}

#[test]
fn numbers_of_every_size_and_order_are_known() {
    let cases = [
        ("<i2", Atomic::Short),
        (">i2", Atomic::Short),
        ("i4", Atomic::Int),
        ("|i1", Atomic::Byte),
        (">u1", Atomic::UByte),
        ("<u8", Atomic::UInt64),
        ("|b1", Atomic::UByte),
        ("<f2", Atomic::Float),
        (">f4", Atomic::Float),
        ("f8", Atomic::Double),
    ];
    for (text, atomic) in cases {
        let data_type = v2_of(text, NCZARR);
        assert_eq!(data_type.shown, ReaderType::Atomic(atomic), "{text}");
    }
    assert_eq!(v2_of(">i2", NCZARR).stored, stored_number(Atomic::Short, ByteOrder::Big));
}

#[test]
fn one_byte_of_text_depends_on_the_writer() {
    let text = |byte_len, encoding| StoredType::Text { byte_len, encoding };
    assert_eq!(v2_of(">S1", NCZARR).stored, StoredType::Char);
    assert_eq!(v2_of(">S1", FOREIGN).stored, text(1, TextEncoding::NulPadded));
    assert_eq!(v2_of("|S1", NCZARR).stored, text(1, TextEncoding::NulPadded));
    assert_eq!(v2_of("|S7", FOREIGN).stored, text(7, TextEncoding::NulPadded));
    let old = TextRules { u1_is_char: true, ..NCZARR };
    assert_eq!(v2_of("<U1", old).stored, StoredType::Char);
    assert_eq!(v2_of("<U3", old).stored, text(12, TextEncoding::Utf32(ByteOrder::Little)));
}

#[test]
fn times_are_integers_with_units() {
    assert_eq!(v2_of("<M8[ns]", FOREIGN).time.unwrap().cf_units(), "nanoseconds since 1970-01-01");
    assert_eq!(v2_of("<M8[25s]", FOREIGN).time.unwrap().cf_units(), "25 seconds since 1970-01-01");
    assert_eq!(v2_of("<m8[D]", FOREIGN).time.unwrap().cf_units(), "days");
    assert_eq!(v2_of("<m8", FOREIGN).time, None);
    assert_eq!(v2_of("<m8", FOREIGN).shown, ReaderType::Atomic(Atomic::Int64));
}

#[test]
fn structured_types_nest_and_define_compounds() {
    let dtype = json(r#"[["a", "<i4"], ["p", [["x", "<f8"], ["y", ">f8"]], [2]], ["z", "<c8"]]"#);
    let (data_type, _) = v2::parse(&dtype, &[], FOREIGN).unwrap();
    assert_eq!(data_type.stored.byte_len(), Some(4 + 2 * 16 + 8));
    let mut model = Model::new();
    let root = model.root();
    let TypeRef::User(id) = data_type.shown.define(&mut model, root, "v").unwrap() else {
        panic!("no compound")
    };
    assert_eq!(model.user_type(id).unwrap().name, "v_t");
    assert!(model.type_in(root, "v_p_t").is_some() && model.type_in(root, "_Complex64_t").is_some());
    let again = data_type.shown.define(&mut model, root, "v").unwrap();
    assert_eq!(again, TypeRef::User(id), "the same type is defined once");
    assert_eq!(packed(&model, again, ByteOrder::Little).unwrap().byte_len(), Some(44));
}

#[test]
fn object_arrays_are_what_their_filter_says() {
    let filters = [json(r#"{"id": "vlen-utf8"}"#)];
    let (text, at) = v2::parse(&json("\"|O\""), &filters, FOREIGN).unwrap();
    assert_eq!((text.stored, at), (StoredType::Sequence(SequenceItem::Text), Some(0)));
    let filters = [json(r#"{"id": "vlen-array", "dtype": "<i4"}"#)];
    let (list, _) = v2::parse(&json("\"|O\""), &filters, FOREIGN).unwrap();
    assert_eq!(list.shown, ReaderType::Vlen(Box::new(ReaderType::Atomic(Atomic::Int))));
    let pickled = [json(r#"{"id": "pickle"}"#)];
    let refused = v2::parse(&json("\"|O\""), &pickled, FOREIGN).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Unsupported);
}

#[test]
fn unknown_types_are_refused() {
    for text in
        ["", "<", "<i3", "<f16", "<c32", "x9", "|S0", "|V0", "<i4[s]", "S99999999999999999999", "\u{e9}4"]
    {
        assert!(v2::parse(&json(&format!("{text:?}")), &[], FOREIGN).is_err(), "{text}");
    }
    for text in ["[]", "[1]", "[[\"a\"]]", "{}", "null", "[[\"a\", \"<i4\", -1]]"] {
        assert_eq!(v2::parse(&json(text), &[], FOREIGN).unwrap_err().kind(), ErrorKind::Malformed, "{text}");
    }
}

#[test]
fn version_3_types_are_known_by_name() {
    let of = |text: &str| v3::parse(&json(text), ByteOrder::Big);
    assert_eq!(of("\"uint16\"").unwrap().stored, stored_number(Atomic::UShort, ByteOrder::Big));
    assert_eq!(of("\"r24\"").unwrap().shown, ReaderType::Opaque(3));
    assert_eq!(of("\"complex128\"").unwrap().shown, ReaderType::Complex(Atomic::Double));
    assert_eq!(of("\"string\"").unwrap().stored, StoredType::Sequence(SequenceItem::Text));
    let time = r#"{"name": "numpy.datetime64", "configuration": {"unit": "s", "scale_factor": 1}}"#;
    assert_eq!(of(time).unwrap().time.unwrap().cf_units(), "seconds since 1970-01-01");
    let text = r#"{"name": "fixed_length_utf32", "configuration": {"length_bytes": 20}}"#;
    assert_eq!(of(text).unwrap().stored.byte_len(), Some(20));
    let pair = r#"{"name": "structured", "configuration": {"fields": [["a", "int32"], ["b", "float64"]]}}"#;
    assert_eq!(of(pair).unwrap().stored.byte_len(), Some(12));
    for (text, kind) in [("\"int24\"", ErrorKind::Unsupported), ("3", ErrorKind::Malformed)] {
        assert_eq!(of(text).unwrap_err().kind(), kind);
    }
}

#[test]
fn what_a_data_type_is_beyond_the_readers_is_kept() {
    let time = |unit: &str, scale| ExtendedType::DateTime { unit: unit.to_owned(), scale };
    let cases = [
        ("|b1", Some(ExtendedType::Bool)),
        ("<f2", Some(ExtendedType::Float16)),
        (">c8", Some(ExtendedType::Complex64)),
        ("<c16", Some(ExtendedType::Complex128)),
        ("<M8[25s]", Some(time("s", 25))),
        ("<M8", Some(time("generic", 1))),
        ("<m8[D]", Some(ExtendedType::TimeDelta { unit: "D".to_owned(), scale: 1 })),
        ("|S7", Some(ExtendedType::FixedBytes { len: 7 })),
        ("<U3", Some(ExtendedType::FixedText { len: 3 })),
        ("<f4", None),
        ("|u1", None),
        ("|V3", None),
    ];
    for (text, extended) in cases {
        assert_eq!(v2_of(text, FOREIGN).extended, extended, "{text}");
    }
    let v3 = |text: &str| v3::parse(&json(text), ByteOrder::Little).unwrap().extended;
    assert_eq!(v3(r#""bool""#), Some(ExtendedType::Bool));
    assert_eq!(v3(r#""bfloat16""#), Some(ExtendedType::BFloat16));
    assert_eq!(v3(r#""complex128""#), Some(ExtendedType::Complex128));
    let text = r#"{"name": "numpy.datetime64", "configuration": {"unit": "ns", "scale_factor": 10}}"#;
    assert_eq!(v3(text), Some(time("ns", 10)));
}

#[test]
fn sizes_of_the_draft_may_be_in_bits() {
    for (text, is_certain) in [
        (r#""<i32""#, true),
        (r#""u64""#, true),
        (r#""f32""#, true),
        (r#"[["a", "|u1"], ["b", ">i16", [2]]]"#, true),
        (r#""<i8""#, false),
        (r#""<i4""#, false),
        (r#""|S32""#, false),
        (r#"[["a", "<f8"]]"#, false),
    ] {
        assert_eq!(v2::is_in_bits(&json(text)), is_certain, "{text}");
    }
    let bits = TextRules { sizes_in_bits: true, ..NCZARR };
    for (in_bits, in_bytes) in [
        ("<i8", "|i1"),
        (">u16", ">u2"),
        ("<i32", "<i4"),
        ("<u64", "<u8"),
        ("<f32", "<f4"),
        ("<f64", "<f8"),
        ("|S8", "|S8"),
    ] {
        let (found, expected) = (v2_of(in_bits, bits), v2_of(in_bytes, NCZARR));
        assert_eq!(found.shown, expected.shown, "{in_bits}");
        assert_eq!(found.stored.byte_len(), expected.stored.byte_len(), "{in_bits}");
    }
}
