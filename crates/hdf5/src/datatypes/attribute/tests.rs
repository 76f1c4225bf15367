use super::dense::AttributeInfo;
use super::message::MessageParts;
use super::{RawAttribute, attributes};
use crate::address::{FieldSizes, FileAddress};
use crate::testing::{build, done, root, view};
use bytes::Bytes;
use ncirrus_layout::Error;
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

fn parse(bytes: &[u8]) -> ncirrus_layout::Result<MessageParts> {
    MessageParts::parse(&Bytes::copy_from_slice(bytes))
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
    let sizes = FieldSizes { offsets: 2, lengths: 2 };
    let info = AttributeInfo::parse(&[0, 3, 7, 0, 1, 0, 2, 0, 3, 0], sizes).unwrap();
    assert_eq!((info.tracked, info.heap, info.orders), (true, Some(FileAddress(1)), Some(FileAddress(3))));
    let info = AttributeInfo::parse(&[0, 0, 0xff, 0xff, 0xff, 0xff], sizes).unwrap();
    assert_eq!((info.tracked, info.heap, info.orders), (false, None, None));
    assert!((0..10).all(|len| AttributeInfo::parse(&[0, 3, 7, 0, 1, 0, 2, 0, 3, 0][..len], sizes).is_err()));
}

proptest! {
    #[test]
    fn any_bytes_are_parts_or_an_error(bytes in proptest::collection::vec(any::<u8>(), 0..80)) {
        if let Ok(parts) = parse(&bytes) {
            prop_assert!(parts.name.len() <= 4 * bytes.len());
        }
    }
}

/// A short attribute of version 2; its datatype may be a record of a shared message.
fn short(name: &str, shared: bool, datatype: &[u8], data: &[u8]) -> Vec<u8> {
    let len = |part: &[u8]| [u8::try_from(part.len()).unwrap(), 0];
    let name = [name.as_bytes(), b"\0"].concat();
    let space = [2, 0, 0, 0];
    let head = [[2, u8::from(shared)], len(&name), len(datatype), len(&space)].concat();
    build::message(0x0c, 0, &[&head, name.as_slice(), datatype, &space, data].concat())
}

const SHORT: [u8; 12] = [0x10, 8, 0, 0, 2, 0, 0, 0, 0, 0, 16, 0];

/// The attributes of the root of a file.
fn attributes_of(bytes: Vec<u8>) -> Vec<Result<RawAttribute, (String, Error)>> {
    let view = view(bytes);
    let root = root(&view).unwrap();
    done(attributes(&view, &root)).unwrap().to_vec()
}

#[test]
fn a_damaged_attribute_is_an_error_with_its_name_and_others_go_on() {
    let messages = [
        short("good", false, &SHORT, &[42, 0]),
        short("cut", false, &SHORT, &[42]),
        short("typeless", false, &[0xff; 12], &[42, 0]),
        build::message(0x0c, 0, &[9, 0]),
        build::message(0x0c, 2, &[3, 7]),
        short("last", false, &SHORT, &[7, 0]),
    ];
    let mut builder = build::FileBuilder::new();
    let root = builder.header(&messages);
    let found = attributes_of(builder.finish(root));
    let described = found.iter().map(|found| match found {
        Ok(raw) => format!("{} {:?}", raw.name, &raw.data[..]),
        Err((name, error)) => format!("{name}: {}", error.message()),
    });
    let wanted = [
        "good [42, 0]",
        "cut: attribute cut has 1 bytes of values, not 2",
        "typeless: a datatype of version 15",
        "#3: attribute of version 9",
        "#4: a shared message of unknown kind 7",
        "last [7, 0]",
    ];
    assert_eq!(described.collect::<Vec<_>>(), wanted);
}

#[test]
fn a_committed_type_is_known_by_its_address() {
    let mut builder = build::FileBuilder::new();
    let committed = builder.header(&[build::message(3, 1, &SHORT)]);
    let record = [&[2, 2], committed.to_le_bytes().as_slice()].concat();
    let root = builder.header(&[short("a", true, &record, &[7, 0]), short("b", false, &SHORT, &[8, 0])]);
    let found = attributes_of(builder.finish(root));
    let committed_at = |index: usize| found[index].as_ref().unwrap().datatype.committed;
    assert_eq!((committed_at(0), committed_at(1)), (Some(FileAddress(committed)), None));
}
