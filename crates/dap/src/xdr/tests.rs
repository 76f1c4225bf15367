use crate::{DodsAnswer, XdrPeculiarities};
use bytes::Bytes;
use ncirrus_layout::{Limits, Result};
use ncirrus_model::Values;

/// The values of a DDS from words in hexadecimal, and the bytes that are left.
fn read(dds: &str, hex: &str, peculiarities: XdrPeculiarities) -> Result<Vec<Values>> {
    let digits: Vec<u8> = hex.bytes().filter(u8::is_ascii_hexdigit).collect();
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).unwrap(), 16).unwrap();
    let mut body = format!("Dataset {{ {dds} }} x;\nData:\n").into_bytes();
    body.extend(digits.chunks(2).map(byte));
    let limits = Limits::default();
    let values = DodsAnswer::parse(&Bytes::from(body), &limits)?.values(peculiarities, &limits)?;
    assert_eq!(values.rest, 0, "{dds}");
    Ok(values.variables)
}

fn values(dds: &str, hex: &str) -> Result<Vec<Values>> {
    read(dds, hex, XdrPeculiarities::default())
}

fn strings(texts: &[&str]) -> Values {
    Values::String(texts.iter().map(Some).collect())
}

fn compound(len: usize, fields: Vec<Values>) -> Values {
    Values::Compound { len, fields }
}

fn vlen(ends: Vec<usize>, elements: Values) -> Values {
    Values::Vlen { ends, elements: Box::new(elements) }
}

#[test]
fn captured_bytes_are_read_as_the_specification_has_them() {
    let cases: [(&str, &str, Values); 10] = [
        ("Byte u[4];", "00000004 00000004 000180ff", Values::UByte(vec![0, 1, 128, 255])),
        ("Byte b[5];", "00000005 00000005 000180ff 07000000", Values::UByte(vec![0, 1, 128, 255, 7])),
        ("Byte s;", "fffffffb", Values::UByte(vec![251])),
        (
            "Int16 b[4];",
            "00000004 00000004 ffffff80 ffffffff 00000000 0000007f",
            Values::Short(vec![-128, -1, 0, 127]),
        ),
        ("UInt16 u[3];", "00000003 00000003 00000000 00000001 0000ffff", Values::UShort(vec![0, 1, 65535])),
        (
            "Float32 l[3];",
            "00000003 00000003 c1200000 00000000 41200000",
            Values::Float(vec![-10.0, 0.0, 10.0]),
        ),
        (
            "Float64 t[2];",
            "00000002 00000002 3fe0000000000000 3ff8000000000000",
            Values::Double(vec![0.5, 1.5]),
        ),
        ("String c;", "00000005 68656c6c 6f000000", strings(&["hello"])),
        (
            "Url n[3];",
            "00000003 00000003 6f6e6500 00000000 00000005 74687265 65000000",
            strings(&["one", "", "three"]),
        ),
        ("Int32 none[0][3];", "00000000 00000000", Values::Int(Vec::new())),
    ];
    for (dds, hex, expected) in cases {
        assert_eq!(values(dds, hex).unwrap(), [expected], "{dds}");
    }
}

#[test]
fn members_follow_each_other() {
    let dds = "Structure { Int32 a; Float64 b[2]; Structure { String c; } t; } s;";
    let hex = "00000005 00000002 00000002 3ff8000000000000 4004000000000000 00000005 68656c6c 6f000000";
    let fields =
        vec![Values::Int(vec![5]), Values::Double(vec![1.5, 2.5]), compound(1, vec![strings(&["hello"])])];
    assert_eq!(values(dds, hex).unwrap(), [compound(1, fields)]);
}

#[test]
fn arrays_have_two_counts_those_of_strings_and_structures_one_and_grids_none() {
    let dds = "Structure { Int16 a[2]; } s[2];";
    let hex = "00000002 00000002 00000002 00000001 00000002 00000002 00000002 00000003 00000004";
    assert_eq!(values(dds, hex).unwrap(), [compound(2, vec![Values::Short(vec![1, 2, 3, 4])])]);
    assert_eq!(values("String s[2];", "00000002 00000001 61000000 00000000").unwrap(), [strings(&["a", ""])]);
    let grid = "Grid { Array: Int16 g[x = 2]; Maps: Int32 x[x = 2]; } g;";
    let hex = "00000002 00000002 00000005 00000006 00000002 00000002 00000007 00000008";
    let members = vec![Values::Short(vec![5, 6]), Values::Int(vec![7, 8])];
    assert_eq!(values(grid, hex).unwrap(), [compound(1, members)]);
}

#[test]
fn a_grid_has_no_count() {
    let dds = "Grid { Array: Byte g[x = 1]; Maps: Byte x[x = 1]; } g;";
    let fields = vec![Values::UByte(vec![9]), Values::UByte(vec![8])];
    let hex = "00000001 00000001 09000000 00000001 00000001 08000000";
    assert_eq!(values(dds, hex).unwrap(), [compound(1, fields)]);
}

#[test]
fn sequences_end_with_their_mark() {
    assert_eq!(
        values("Sequence { Int32 i; } q;", "5a000000 0000000a 5a123456 0000000b a5654321").unwrap(),
        [vlen(vec![2], compound(2, vec![Values::Int(vec![10, 11])]))]
    );
    let nested = "Sequence { Int32 i; Sequence { Int16 d; } p; } q;";
    let hex = "5a000000 00000001 5a000000 00000007 a5000000 5a000000 00000002 a5000000 a5000000";
    let inner = vlen(vec![1, 1], compound(1, vec![Values::Short(vec![7])]));
    assert_eq!(
        values(nested, hex).unwrap(),
        [vlen(vec![2], compound(2, vec![Values::Int(vec![1, 2]), inner]))]
    );
    let empty = values("Sequence { Int32 i; } q;", "a5000000").unwrap();
    assert_eq!(empty, [vlen(vec![0], compound(0, vec![Values::Int(Vec::new())]))]);
    assert!(values("Sequence { Int32 i; } q;", "5b000000").unwrap_err().to_string().contains("0x5b"));
}

#[test]
fn a_scalar_byte_is_read_from_its_first_byte_where_the_server_puts_it_there() {
    let first = XdrPeculiarities { first_byte: true };
    assert_eq!(read("Byte b;", "c8000000", first).unwrap(), [Values::UByte(vec![200])]);
    assert_eq!(read("Byte b;", "ffffff81", first).unwrap(), [Values::UByte(vec![0x81])]);
    assert_eq!(values("Byte b;", "c8000000").unwrap(), [Values::UByte(vec![0])]);
}

#[test]
fn errors_name_the_path_of_the_member_that_cannot_be_read() {
    let cases = [
        ("Int32 a; Float64 b;", "00000001 0000", "(/b, at byte 4)"),
        (
            "Structure { Int32 a; Structure { Byte b[2]; } t; } s;",
            "00000001 00000002 00000003",
            "(/s.t.b, at byte 4)",
        ),
        ("Sequence { Int32 i; String n; } q;", "5a000000 00000001 00000009", "(/q.n, at byte 8)"),
        (
            "Grid { Array: Byte g[x = 1]; Maps: Byte x[x = 1]; } g;",
            "00000001 00000001 09000000 00000002",
            "(/g.x, at byte 12)",
        ),
        ("Structure { Int32 a[10000000000][10000000000]; } s;", "00000000", "(/s.a, at byte 0)"),
    ];
    for (dds, hex, place) in cases {
        let error = values(dds, hex).unwrap_err().to_string();
        assert!(error.ends_with(place), "{dds}: {error}");
    }
}

#[test]
fn sizes_are_refused_before_there_is_memory_for_them() {
    let cases = [
        ("Int32 a[5];", "00000004 00000004", "the count 4 of elements does not match the 5"),
        ("Int32 a[2];", "00000002 00000003 00000000 00000000", "differ"),
        ("Float64 a[4294967295];", "ffffffff ffffffff", "truncated"),
        ("String a[4294967295];", "ffffffff", "truncated"),
        ("String a;", "ffffffff", "more than the limit"),
        ("Structure { Byte b; } a[4294967295];", "ffffffff", "truncated"),
        ("Int32 a[1000000000][1000000000];", "00000000", "does not match"),
        ("Int32 a[10000000000][10000000000];", "00000000", "64 bits"),
        ("Byte a[3];", "00000003 00000003 010203", "truncated"),
    ];
    for (dds, hex, expected) in cases {
        let error = values(dds, hex).unwrap_err().to_string();
        assert!(error.contains(expected) && error.contains("(/a, at byte 0)"), "{dds}: {error}");
    }
    let nothing = values("Structure { Structure { } t; } s[4294967295];", "ffffffff").unwrap();
    assert_eq!(nothing, [compound(4_294_967_295, vec![compound(4_294_967_295, Vec::new())])]);
}
