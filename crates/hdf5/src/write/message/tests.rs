use super::*;
use crate::address::FileAddress;
use crate::datatypes::{DatatypeClass, StringPadding, attributes};
use crate::layout::{ElementLayout, IndexKind, dataset};
use crate::object::{HeaderMessage, ObjectRef, kind};
use crate::pipeline::parse;
use crate::testing::done;
use crate::write::FilePatch;
use crate::write::header::{MessageDraft, encode_header};
use crate::write::tests::file_with;
use rstest::rstest;
use std::sync::Arc;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

const ARRAY: IndexKind = IndexKind::ExtensibleArray {
    max_bits: 32,
    in_index: 4,
    min_pointers: 8,
    min_elements: 16,
    page_bits: 10,
};

fn draft(kind: u16, body: Bytes) -> MessageDraft {
    MessageDraft { kind, flags: 0, order: 0, body }
}

fn text(len: u64) -> Datatype {
    Datatype { byte_len: len, class: DatatypeClass::Text(StringPadding::NulTerminated), committed: None }
}

#[rstest]
#[case(ElementLayout::Compact(Bytes::from_static(b"abcdef")))]
#[case(ElementLayout::Contiguous { addr: Some(FileAddress(99)), byte_len: 6 })]
#[case(ElementLayout::Contiguous { addr: None, byte_len: 0 })]
#[case(chunked(IndexKind::BTree1, 3))]
#[case(chunked(IndexKind::BTree2, 4))]
#[case(chunked(IndexKind::Implicit, 4))]
#[case(chunked(IndexKind::Single { filtered: None }, 4))]
#[case(chunked(IndexKind::Single { filtered: Some((300, 2)) }, 5))]
#[case(chunked(IndexKind::FixedArray { page_bits: 10 }, 4))]
#[case(chunked(ARRAY, 4))]
fn layouts_are_read_as_they_were_written(#[case] arrangement: ElementLayout) {
    let space = Dataspace::Simple { dims: vec![2, 300], max: vec![Some(2), None] };
    let fill_value = FillMessage { value: Some(Bytes::from_static(b"f")), never: false };
    let codecs =
        [CodecSpec::hdf5(2, &[1]), CodecSpec::Hdf5 { id: 32015, parameters: vec![3, 4], optional: true }];
    let drafts = [
        draft(kind::DATASPACE, dataspace(&space, SIZES)),
        draft(kind::DATATYPE, datatype(&text(1)).expect("a type")),
        draft(kind::FILL, fill(&fill_value, 3).expect("a fill value")),
        draft(kind::LAYOUT, layout(&arrangement, 1, SIZES).expect("a layout")),
        draft(kind::PIPELINE, pipeline(&codecs).expect("filters")),
    ];
    let (view, file) =
        file_with(&[FilePatch { addr: FileAddress(64), body: encode_header(&drafts, true, 0) }]);
    let object = ObjectRef { file: Arc::clone(&file), addr: FileAddress(64) };
    let read = done(dataset(&view, &object)).expect("a dataset");
    assert_eq!(read.space, space);
    assert_eq!(read.filters, codecs);
    assert_eq!(format!("{:?}", read.arrangement), format!("{arrangement:?}"));
    assert_eq!(done(crate::datatypes::fill(&view, &object)).expect("a fill value"), fill_value);
}

fn chunked(index: IndexKind, version: u8) -> ElementLayout {
    ElementLayout::Chunked {
        shape: vec![2, 257],
        index,
        addr: Some(FileAddress(77)),
        edges_unfiltered: false,
        version,
    }
}

#[test]
fn fill_values_that_are_never_written_say_so() {
    let never = FillMessage { value: None, never: true };
    assert_eq!(fill(&never, 2).expect("a message"), [3, 2 | 1 << 2].as_slice());
    let long = FillMessage { value: Some(Bytes::from(vec![1; 65_536])), never: false };
    assert!(fill(&long, 2).is_err());
}

#[test]
fn only_filters_of_others_have_names() {
    let codecs = [CodecSpec::hdf5(1, &[6]), CodecSpec::hdf5(32001, &[]), CodecSpec::hdf5(40_000, &[1, 2, 3])];
    let named: Vec<_> = parse(&pipeline(&codecs).expect("filters"), 4).expect("filters");
    let names: Vec<_> = named.iter().map(|(_, name)| name.as_str()).collect();
    assert_eq!(names, ["", "Blosc", ""]);
    assert!(named.iter().map(|(codec, _)| codec).eq(&codecs));
    assert!(pipeline(&[CodecSpec::v3("zstd")]).is_err());
    assert!(pipeline(&vec![CodecSpec::hdf5(1, &[]); 33]).is_err());
    assert!(pipeline(&[CodecSpec::hdf5(70_000, &[])]).is_err());
}

#[test]
fn attributes_are_read_as_they_were_written() {
    let spaces =
        [Dataspace::Scalar, Dataspace::Null, Dataspace::Simple { dims: vec![2], max: vec![Some(2)] }];
    let mut drafts = Vec::new();
    for (order, (space, name)) in (0..).zip(spaces.iter().zip(["plain", "grün", "two"])) {
        let data = vec![b'x'; usize::try_from(3 * space.count()).expect("small")];
        let body = attribute(name, &text(3), space, &data, SIZES).expect("an attribute");
        drafts.push(MessageDraft { order, ..draft(kind::ATTRIBUTE, body) });
    }
    let committed = Datatype { committed: Some(FileAddress(600)), ..text(3) };
    let body =
        attribute("of a committed type", &committed, &Dataspace::Null, &[], SIZES).expect("an attribute");
    drafts.push(MessageDraft { order: 3, ..draft(kind::ATTRIBUTE, body) });
    let own = [draft(kind::DATATYPE, datatype(&text(3)).expect("a type"))];
    let headers = [(64, encode_header(&drafts, true, 9)), (600, encode_header(&own, false, 0))];
    let (view, file) = file_with(&headers.map(|(addr, body)| FilePatch { addr: FileAddress(addr), body }));
    let read = done(attributes(&view, &ObjectRef { file, addr: FileAddress(64) })).expect("attributes");
    let read: Vec<_> = read.iter().map(|named| named.as_ref().expect("an attribute")).collect();
    assert_eq!(read.iter().map(|read| read.name.as_str()).collect::<Vec<_>>()[..2], ["plain", "grün"]);
    assert!(read.iter().zip(&spaces).all(|(read, space)| read.space == *space));
    assert_eq!(
        (read[2].data.as_ref(), read[3].datatype.committed),
        (b"xxxxxx".as_slice(), Some(FileAddress(600)))
    );
    let long = "n".repeat(65_535);
    assert!(attribute(&long, &text(1), &Dataspace::Null, &[], SIZES).is_err());
}

#[test]
fn links_have_names_of_any_length() {
    for len in [1, 255, 256, 1000] {
        let name = "é".repeat(len);
        let drafts = [
            draft(kind::LINK_INFO, link_info(1, SIZES)),
            draft(kind::GROUP_INFO, group_info()),
            draft(kind::LINK, link(&name, 5, FileAddress(300), SIZES).expect("a link")),
        ];
        let (view, file) =
            file_with(&[FilePatch { addr: FileAddress(64), body: encode_header(&drafts, true, 0) }]);
        let found =
            done(crate::group::links(&view, &ObjectRef { file, addr: FileAddress(64) })).expect("links");
        assert!(format!("{found:?}").contains(&name), "{len}");
    }
    assert!(link(&"n".repeat(65_535), 0, FileAddress(8), SIZES).is_err());
}

#[test]
fn a_committed_type_counts_its_users() {
    assert_eq!(reference_count(3), [0, 3, 0, 0, 0].as_slice());
    let message =
        HeaderMessage { kind: kind::DATATYPE, flags: 2, order: None, body: shared(FileAddress(600), SIZES) };
    let own = [draft(kind::DATATYPE, datatype(&text(3)).expect("a type"))];
    let (view, file) =
        file_with(&[FilePatch { addr: FileAddress(600), body: encode_header(&own, false, 0) }]);
    let read = done(crate::datatypes::datatype(&view, &file, &message)).expect("a type");
    assert_eq!(read.committed, Some(FileAddress(600)));
}
