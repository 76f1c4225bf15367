use super::dense::Info;
use super::message::Parts;
use crate::file::{Addr, Sizes};
use bytes::Bytes;
use proptest::prelude::*;

/// An attribute `answer` of one big-endian short, of any version.
fn message(version: u8) -> Vec<u8> {
    let pad = |part: &[u8]| {
        let mut part = part.to_vec();
        if version == 1 {
            part.resize(part.len().next_multiple_of(8), 9);
        }
        part
    };
    let datatype = [0x10, 9, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0];
    let space = [2, 0, 0, 0];
    let charset: &[u8] = if version == 3 { &[1] } else { &[] };
    [&[version, 0, 7, 0, 12, 0, 4, 0], charset, &pad(b"answer\0"), &pad(&datatype), &pad(&space), &[0, 42]]
        .concat()
}

fn parse(bytes: &[u8]) -> ncirrus_layout::Result<Parts> {
    Parts::parse(&Bytes::copy_from_slice(bytes))
}

#[test]
fn every_version_has_its_parts_in_place() {
    for version in 1..=3 {
        let parts = parse(&message(version)).unwrap();
        assert_eq!(
            (parts.name.as_str(), &parts.data[..]),
            ("answer", [0, 42].as_slice()),
            "version {version}"
        );
    }
}

#[test]
fn names_end_at_the_first_nul_and_bytes_that_are_no_text_are_escaped() {
    let bytes = [&[2, 0, 5, 0, 0, 0, 0, 0], b"\xe9t\xc3\0x".as_slice()].concat();
    assert_eq!(parse(&bytes).unwrap().name, "\\xe9t\\xc3");
}

#[test]
fn parts_beyond_the_end_are_an_error() {
    for version in 1..=3 {
        let whole = message(version);
        let data = whole.len() - 2;
        let padding = if version == 1 { 4 } else { 0 };
        assert!((0..data - padding).all(|len| parse(&whole[..len]).is_err()));
    }
}

#[test]
fn the_info_has_addresses_only_where_its_flags_say_so() {
    let sizes = Sizes { offsets: 2, lengths: 2 };
    let info = Info::parse(&[0, 3, 7, 0, 1, 0, 2, 0, 3, 0], sizes).unwrap();
    assert_eq!((info.tracked, info.heap, info.orders), (true, Some(Addr(1)), Some(Addr(3))));
    let info = Info::parse(&[0, 0, 0xff, 0xff, 0xff, 0xff], sizes).unwrap();
    assert_eq!((info.tracked, info.heap, info.orders), (false, None, None));
    assert!((0..10).all(|len| Info::parse(&[0, 3, 7, 0, 1, 0, 2, 0, 3, 0][..len], sizes).is_err()));
}

proptest! {
    #[test]
    fn any_bytes_are_parts_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(parts) = parse(&bytes) {
            prop_assert!(parts.name.len() <= 4 * bytes.len());
        }
    }
}
