use super::*;
use crc32fast::hash as crc32;

/// An answer of these chunks: flags and payload.
fn body(chunks: &[(u8, &[u8])]) -> Bytes {
    let mut body = Vec::new();
    for (flags, payload) in chunks {
        let [_, high, middle, low] = u32::try_from(payload.len()).unwrap().to_be_bytes();
        body.extend([*flags, high, middle, low]);
        body.extend_from_slice(payload);
    }
    body.into()
}

fn dmr(inside: &str) -> Vec<u8> {
    format!("<?xml version='1.0'?><Dataset name='x'>{inside}</Dataset>\r\n").into_bytes()
}

fn values(body: &Bytes) -> Result<DapValues> {
    let limits = Limits::default();
    DapAnswer::parse(body, &limits)?.values(ChecksumRule::Verify, &limits)
}

const INTS: &str = "<Int32 name='v'><Dim size='4'/></Int32>";

#[test]
fn chunks_are_cut_anywhere_and_checksums_found_out() {
    let data: Vec<u8> = (1..=4_u32).flat_map(u32::to_le_bytes).collect();
    let sum = [&data[..], &crc32(&data).to_le_bytes()].concat();
    let expected = [Values::Int(vec![1, 2, 3, 4])];
    for cut in 0..=sum.len() {
        let found = values(&body(&[(4, &dmr(INTS)), (4, &sum[..cut]), (5, &sum[cut..])])).unwrap();
        assert_eq!((&found.variables[..], found.checksums), (&expected[..], true));
    }
    // The last chunk is empty, an unknown flag is set, and only one of the chunks states the byte order.
    for flags in [(4, 0), (0, 4), (0x0c, 8)] {
        let found = values(&body(&[(flags.0, &dmr(INTS)), (flags.1, &data), (1, b"")])).unwrap();
        assert_eq!((&found.variables[..], found.checksums), (&expected[..], false));
    }
    let big: Vec<u8> = (1..=4_u32).flat_map(u32::to_be_bytes).collect();
    let big = [&big[..], &crc32(&big).to_be_bytes()].concat();
    assert_eq!(values(&body(&[(0, &dmr(INTS)), (1, &big)])).unwrap().variables, expected);
}

#[test]
fn a_wrong_checksum_names_the_variable() {
    let data = [&[0; 16][..], &[1, 2, 3, 4]].concat();
    let answer = body(&[(4, &dmr(&format!("<Group name='g h'>{INTS}</Group>"))), (5, &data)]);
    let error = values(&answer).unwrap_err();
    assert_eq!(error.to_string(), "the checksum of the values is wrong (/g h/v)");
    let limits = Limits::default();
    let ignored = DapAnswer::parse(&answer, &limits).unwrap().values(ChecksumRule::Ignore, &limits).unwrap();
    assert_eq!(ignored.variables, [Values::Int(vec![0; 4])]);
}

#[test]
fn errors_name_the_path_of_the_member_that_cannot_be_read() {
    let inside =
        "<Group name='g h'><Structure name='s'><Int16 name='a'/><String name='b.c'/></Structure></Group>";
    let error =
        values(&body(&[(0, &dmr(inside)), (1, &[0, 1, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])]));
    assert!(error.unwrap_err().to_string().ends_with("(/g h/s.b.c, at byte 2)"));
    let error = values(&body(&[(0, &dmr(INTS)), (1, &[0; 3])])).unwrap_err().to_string();
    assert!(error.ends_with("(/v, at byte 0)"), "{error}");
}

#[test]
fn errors_come_before_values() {
    let message = b"<Error httpcode='500'><Message>disk failed</Message></Error>";
    for chunks in [&[(4, &dmr(INTS)[..]), (4, &[0; 16]), (2, message)][..], &[(2, message)], &[(3, message)]]
    {
        let error = values(&body(chunks)).unwrap_err().to_string();
        assert!(error.contains("error 500: disk failed"), "{error}");
    }
    assert!(values(&Bytes::from_static(message)).unwrap_err().to_string().contains("disk failed"));
    assert!(
        values(&body(&[(4, &dmr(INTS)), (4, &[0; 16])]))
            .unwrap_err()
            .to_string()
            .contains("last chunk is missing")
    );
    assert!(values(&body(&[(4, &dmr(INTS)), (5, &[0; 15])])).unwrap_err().to_string().contains("truncated"));
    assert!(
        values(&body(&[(4, &dmr(INTS)), (5, &[0; 17])])).unwrap_err().to_string().contains("1 bytes follow")
    );
    assert!(
        values(&Bytes::from_static(b"<html><title>Login</title>")).unwrap_err().to_string().contains("login")
    );
}

#[test]
fn variable_lengths() {
    let inside = "<String name='s'><Dim size='2'/></String><Opaque name='o'><Dim size='2'/></Opaque>\
                  <Sequence name='q'><Int8 name='a'/><Sequence name='n'><UInt8 name='b'/></Sequence></Sequence>\
                  <Structure name='t'><Int16 name='c'><Dim size='2'/></Int16><Dim size='2'/></Structure>";
    let count = |count: i64| count.to_be_bytes().to_vec();
    let data = [
        [count(2), b"ab".to_vec(), count(0)].concat(),
        [count(1), vec![7], count(2), vec![8, 9]].concat(),
        [count(2), vec![1], count(1), vec![5], vec![0xff], count(0)].concat(),
        [1_i16, 2, 3, 4].into_iter().flat_map(i16::to_be_bytes).collect(),
    ]
    .concat();
    let vlen = |ends: Vec<usize>, elements| Values::Vlen { ends, elements: Box::new(elements) };
    let compound = |len, fields| Values::Compound { len, fields };
    let inner = vlen(vec![1, 1], compound(1, vec![Values::UByte(vec![5])]));
    let found = values(&body(&[(0, &dmr(inside)), (1, &data)])).unwrap();
    let expected = [
        Values::String([Some("ab"), Some("")].into_iter().collect()),
        vlen(vec![1, 3], Values::UByte(vec![7, 8, 9])),
        vlen(vec![2], compound(2, vec![Values::Byte(vec![1, -1]), inner])),
        compound(2, vec![Values::Short(vec![1, 2, 3, 4])]),
    ];
    assert_eq!(found.variables, expected);
}

#[test]
fn sizes_are_refused_before_there_is_memory_for_them() {
    let cases = [
        ("<Int32 name='v'><Dim size='1000000000000000000'/></Int32>", &[][..], "truncated"),
        ("<Int8 name='v'><Dim size='10000000000'/><Dim size='10000000000'/></Int8>", &[], "64 bits"),
        ("<String name='v'/>", &[0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff], "truncated"),
        ("<String name='v'/>", &[0xff; 8], "a count of -1 bytes"),
        ("<Sequence name='v'><Int8 name='a'/></Sequence>", &[0, 0, 0, 0, 0, 1, 0, 0], "truncated"),
        ("<Sequence name='v'/>", &[0, 0, 1, 0, 0, 1, 0, 0], "limit"),
    ];
    for (inside, data, expected) in cases {
        let error = values(&body(&[(0, &dmr(inside)), (1, data)])).unwrap_err().to_string();
        assert!(error.contains(expected), "{inside}: {error}");
    }
    let nothing =
        "<Structure name='s'><Int8 name='a'><Dim size='0'/></Int8><Dim size='1000000000000'/></Structure>";
    assert_eq!(values(&body(&[(0, &dmr(nothing)), (1, b"")])).unwrap().variables[0].len(), 1_000_000_000_000);
}
