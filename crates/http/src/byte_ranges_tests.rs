//! Of `byte_ranges`, which other crates include without its tests.
use crate::byte_ranges::*;
use bytes::Bytes;
use proptest::prelude::*;

fn range(first: u64, last: u64, size: Option<u64>) -> ContentRange {
    ContentRange { first, last, size }
}

#[test]
fn content_ranges_are_parsed_as_the_standard_has_them() {
    for (text, parsed) in [
        ("bytes 2-5/10", Some(range(2, 5, Some(10)))),
        ("Bytes  2-5/ 10 ", Some(range(2, 5, Some(10)))),
        ("bytes\t2-5/*", Some(range(2, 5, None))),
        ("bytes 0-0/1", Some(range(0, 0, Some(1)))),
        ("bytes 5-2/10", None),
        ("bytes 2-10/10", None),
        ("bytes 0-18446744073709551615/*", None),
        ("bytes 0-18446744073709551616/*", None),
        ("bytes +2-5/10", None),
        ("bytes 2-5", None),
        ("bytes */10", None),
        ("bytes -5/10", None),
        ("items 2-5/10", None),
        ("bytes=2-5/10", None),
        ("", None),
    ] {
        assert_eq!(ContentRange::parse(text), parsed, "{text}");
    }
    assert_eq!((range(2, 5, None).byte_len(), range(2, 5, None).bytes()), (4, 2..6));
    for (text, size) in
        [("bytes */10", Some(10)), ("BYTES */ 0", Some(0)), ("bytes */*", None), ("*/10", None)]
    {
        assert_eq!(unsatisfied_size(text), size, "{text}");
    }
}

#[test]
fn boundaries_are_tokens_or_quoted() {
    for (text, found) in [
        ("multipart/byteranges; boundary=THIS_STRING_SEPARATES", Some("THIS_STRING_SEPARATES")),
        ("Multipart/ByteRanges;charset=\"a;b=c\" ; Boundary=\"x \\\"y;z\" ; q=1", Some("x \"y;z")),
        ("multipart/x-byteranges; boundary=a ;b=c", Some("a")),
        ("multipart/mixed; boundary=a", None),
        ("multipart/byteranges", None),
        ("multipart/byteranges; boundary=", None),
        ("multipart/byteranges; boundary=\"a", None),
        ("multipart/byteranges; other=a", None),
        ("application/octet-stream", None),
    ] {
        assert_eq!(boundary(text).as_deref(), found, "{text}");
    }
    let long = |len| boundary(&format!("multipart/byteranges; boundary={}", "a".repeat(len))).is_some();
    assert!(long(MAX_BOUNDARY) && !long(MAX_BOUNDARY + 1));
}

/// The example of RFC 9110 14.6, with short bodies.
const EXAMPLE: &[u8] = b"\r\n--THIS\r\nContent-Type: application/pdf\r\nContent-Range: bytes 5-9/80\r\n\r\n56789\r\n--THIS  \r\n\
content-range: Bytes 1-3/*\r\n\r\n123\r\n--THIS--\r\nepilogue";

#[test]
fn parts_have_ranges_and_bytes() {
    let found = parts(&Bytes::from_static(EXAMPLE), "THIS").unwrap();
    let seen: Vec<_> = found.parts.iter().map(|part| (part.range.bytes(), part.bytes.as_ref())).collect();
    assert_eq!(seen, [(1..4, &b"123"[..]), (5..10, b"56789")]);
    assert_eq!(found.size, Some(80));
}

#[test]
fn a_truncated_body_is_cut() {
    let end = EXAMPLE.len() - b"\r\nepilogue".len();
    for len in 0..end {
        assert_eq!(parts(&Bytes::from_static(&EXAMPLE[..len]), "THIS"), Err(MultipartFault::Cut), "{len}");
    }
    assert!(parts(&Bytes::from_static(&EXAMPLE[..end]), "THIS").is_ok());
}

#[test]
fn bodies_that_are_something_else_are_malformed() {
    let line = "x".repeat(MAX_LINE_BYTES);
    let part = "Content-Range: bytes 0-0/9\r\n\r\n0\r\n--b";
    for (body, why) in [
        ("\r\n".repeat(MAX_LINES), "first boundary"),
        (line.clone(), "too long"),
        ("--b\r\n\r\n0\r\n--b--".to_owned(), "no Content-Range"),
        ("--b\r\nContent-Range: bytes 3-1/9\r\n\r\n".to_owned(), "invalid"),
        ("--b\r\nContent-Range: bytes 0-1/9\r\nContent-Range: bytes 0-1/9\r\n\r\n".to_owned(), "invalid"),
        (format!("--b\r\n{}", "a: b\r\n".repeat(MAX_LINES)), "too many headers"),
        (format!("--b\r\na: {line}"), "too long"),
        ("--b\r\nContent-Range: bytes 0-1/9\r\n\r\n0\r\n--b--".to_owned(), "another length"),
        ("--b\r\nContent-Range: bytes 0-0/9\r\n\r\n0123\r\n--b--".to_owned(), "another length"),
        (format!("--b\r\n{part}c\r\n"), "longer than it should be"),
        (format!("--b\r\n{part}\r\nContent-Range: bytes 1-1/8\r\n\r\n1\r\n--b--"), "different sizes"),
        (format!("--b\r\n{}", format!("{part}\r\n").repeat(MAX_PARTS + 1)), "too many parts"),
    ] {
        match parts(&Bytes::from(body.clone()), "b") {
            Err(MultipartFault::Malformed(found)) => assert!(found.contains(why), "{found}: {body:.60}"),
            other => panic!("{other:?}: {body:.60}"),
        }
    }
    let huge = "--b\r\nContent-Range: bytes 0-18446744073709551614/*\r\n\r\n0";
    assert_eq!(parts(&Bytes::from_static(huge.as_bytes()), "b"), Err(MultipartFault::Cut));
}

/// Parts of an object, with the boundary in some of them.
fn bodies() -> impl Strategy<Value = Vec<(u64, Vec<u8>)>> {
    let bytes = prop_oneof![
        proptest::collection::vec(any::<u8>(), 1..40),
        Just(b"\r\n--b--\r\n".to_vec()),
        Just(b"\r\n--b\r\nContent-Range: bytes 0-0/1\r\n\r\n".to_vec()),
    ];
    proptest::collection::vec((0..1000_u64, bytes), 1..6)
}

fn encoded(bodies: &[(u64, Vec<u8>)]) -> Bytes {
    let mut text = Vec::new();
    for (first, bytes) in bodies {
        let last = first + bytes.len() as u64 - 1;
        text.extend_from_slice(format!("--b\r\nContent-Range: bytes {first}-{last}/9999\r\n\r\n").as_bytes());
        text.extend_from_slice(bytes);
        text.extend_from_slice(b"\r\n");
    }
    text.extend_from_slice(b"--b--");
    text.into()
}

proptest! {
    #[test]
    fn what_is_encoded_is_parsed_and_no_beginning_of_it(mut bodies in bodies(), cut in any::<proptest::sample::Index>()) {
        let body = encoded(&bodies);
        let found = parts(&body, "b").unwrap();
        bodies.sort_by_key(|(first, _)| *first);
        let seen: Vec<_> = found.parts.iter().map(|part| (part.range.first, part.bytes.to_vec())).collect();
        prop_assert_eq!(seen, bodies);
        prop_assert_eq!(parts(&body.slice(..cut.index(body.len())), "b"), Err(MultipartFault::Cut));
    }

    #[test]
    fn any_bytes_are_parsed_or_rejected(bodies in bodies(), at in any::<proptest::sample::Index>(), byte in any::<u8>()) {
        let mut body = encoded(&bodies).to_vec();
        let at = at.index(body.len());
        body[at] = byte;
        _ = parts(&body.into(), "b");
    }

    #[test]
    fn any_text_is_a_range_or_not(text in "\\PC{0,40}") {
        _ = (ContentRange::parse(&text), unsatisfied_size(&text), boundary(&text));
        _ = boundary(&format!("multipart/byteranges;{text}"));
    }
}
