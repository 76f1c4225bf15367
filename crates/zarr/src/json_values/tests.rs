use super::*;
use crate::json::parse;
use bytes::Bytes;
use ncirrus_layout::Limits;

fn json(text: &str) -> JsonValue {
    parse(&Bytes::copy_from_slice(text.as_bytes()), &Limits::default()).unwrap()
}

fn chars(text: &str) -> Values {
    Values::Char(text.as_bytes().to_vec())
}

#[test]
fn types_are_inferred_from_the_whole_list() {
    let cases = [
        ("5", Values::Int(vec![5])),
        ("200", Values::Int(vec![200])),
        ("4294967295", Values::UInt(vec![u32::MAX])),
        ("[-1,4294967295]", Values::Int64(vec![-1, 4_294_967_295])),
        ("1099511627776", Values::Int64(vec![1 << 40])),
        ("18446744073709551615", Values::UInt64(vec![u64::MAX])),
        ("18446744073709551616", Values::Double(vec![18_446_744_073_709_551_616.0])),
        ("-9223372036854775809", Values::Double(vec![-9_223_372_036_854_775_809.0])),
        ("1.5", Values::Double(vec![1.5])),
        ("1.", Values::Double(vec![1.0])),
        ("1e3", Values::Double(vec![1000.0])),
        ("true", Values::UByte(vec![1])),
        ("[1,2.5]", Values::Double(vec![1.0, 2.5])),
        ("[2.5,1]", Values::Double(vec![2.5, 1.0])),
        ("[1,-300,70000]", Values::Int(vec![1, -300, 70000])),
        ("[1,1099511627776]", Values::Int64(vec![1, 1 << 40])),
        ("[-1,18446744073709551615]", Values::Double(vec![-1.0, 18_446_744_073_709_551_615.0])),
        ("[true,false]", Values::UByte(vec![1, 0])),
        ("[true,7]", Values::Int(vec![1, 7])),
        ("Infinity", Values::Double(vec![f64::INFINITY])),
        ("\"NaN\"", chars("NaN")),
        ("[]", chars("")),
        ("null", chars("null")),
        ("{}", chars("{}")),
        ("[1, null]", chars("[1,null]")),
        ("[1, \"a\"]", chars("[1,\"a\"]")),
        ("[[1,2],[3]]", chars("[[1,2],[3]]")),
        ("\"\u{b5}\"", chars("\u{b5}")),
    ];
    for (text, expected) in cases {
        assert_eq!(infer(&json(text)), expected, "{text}");
    }
    let strings = infer(&json(r#"["a", "b"]"#));
    assert_eq!(strings, Values::String([Some("a"), Some("b")].into_iter().collect()));
}

#[test]
fn declared_types_are_kept_or_refused() {
    assert_eq!(numbers(&json("[1, 2.0]"), Atomic::Short), Some(Values::Short(vec![1, 2])));
    assert_eq!(numbers(&json("1"), Atomic::Double), Some(Values::Double(vec![1.0])));
    assert_eq!(numbers(&json("0.1"), Atomic::Float), Some(Values::Float(vec![0.1])));
    let floats = numbers(&json(r#"["Infinity","-Infinity",-Infinity]"#), Atomic::Float);
    assert_eq!(floats, Some(Values::Float(vec![f32::INFINITY, f32::NEG_INFINITY, f32::NEG_INFINITY])));
    for (text, atomic) in
        [("300", Atomic::Byte), ("1.5", Atomic::Int), ("\"x\"", Atomic::Double), ("-1", Atomic::UByte)]
    {
        assert_eq!(numbers(&json(text), atomic), None, "{text}");
    }
}

#[test]
fn text_that_a_writer_turned_into_json_is_its_source_again() {
    for source in ["0", "-12", "3.25", "true", "null", "NaN", "[0.,0.,1.]", r#"{"a": [1,2]}"#] {
        assert_eq!(text(&json(source)), chars(source));
    }
}
