use super::*;
use crate::address::FileAddress;
use crate::testing::build::words;
use proptest::prelude::*;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

fn read(body: &[u8]) -> Result<LayoutMessage> {
    parse(&Bytes::copy_from_slice(body), SIZES, 96)
}

fn arrangement(body: &[u8]) -> String {
    format!("{:?}", read(body).expect("a layout").arrangement)
}

fn dims(lengths: &[u32]) -> Vec<u8> {
    lengths.iter().flat_map(|len| len.to_le_bytes()).collect()
}

/// One message of every class and version, and what it says.
fn samples() -> Vec<(Vec<u8>, ElementLayout)> {
    let contiguous = |byte_len| ElementLayout::Contiguous { addr: Some(FileAddress(512)), byte_len };
    let chunked = |index, edges_unfiltered, version| ElementLayout::Chunked {
        shape: vec![2, 3],
        index,
        addr: Some(FileAddress(512)),
        edges_unfiltered,
        version,
    };
    let old = |class: u8| vec![1, 3, class, 0, 0, 0, 0, 0];
    let new = |flags: u8, index: &[u8]| [&[4, 2, flags, 3, 1, 2, 3, 4], index, &words(&[512])].concat();
    let grows = IndexKind::ExtensibleArray {
        max_bits: 32,
        in_index: 4,
        min_pointers: 5,
        min_elements: 16,
        page_bits: 10,
    };
    vec![
        (
            [old(0), dims(&[1, 2, 3, 2]), b"ab".to_vec()].concat(),
            ElementLayout::Compact(Bytes::from_static(b"ab")),
        ),
        ([old(1), words(&[512]), dims(&[2, 3, 4])].concat(), contiguous(96)),
        ([old(2), words(&[512]), dims(&[2, 3, 4])].concat(), chunked(IndexKind::BTree1, false, 3)),
        (b"\x03\x00\x02\x00ab".to_vec(), ElementLayout::Compact(Bytes::from_static(b"ab"))),
        ([&[3, 1][..], &words(&[512, 77])].concat(), contiguous(77)),
        ([&[3, 2, 3][..], &words(&[512]), &dims(&[2, 3, 4])].concat(), chunked(IndexKind::BTree1, false, 3)),
        (new(1, &[1]), chunked(IndexKind::Single { filtered: None }, true, 4)),
        (
            new(2, &[&[1][..], &words(&[99]), &[7, 0, 0, 0]].concat()),
            chunked(IndexKind::Single { filtered: Some((99, 7)) }, false, 4),
        ),
        (new(0, &[2]), chunked(IndexKind::Implicit, false, 4)),
        (new(0, &[3, 10]), chunked(IndexKind::FixedArray { page_bits: 10 }, false, 4)),
        (new(0, &[4, 32, 4, 5, 16, 10]), chunked(grows, false, 4)),
        (new(0, &[5, 0, 8, 0, 0, 100, 40]), chunked(IndexKind::BTree2, false, 4)),
        (
            [&[4, 3][..], &words(&[512]), &[9, 0, 0, 0]].concat(),
            ElementLayout::Virtual { collection: Some(FileAddress(512)), index: 9 },
        ),
    ]
}

#[test]
fn layouts_of_every_version_and_class_are_read() {
    for (body, expected) in samples() {
        assert_eq!(arrangement(&body), format!("{expected:?}"), "{body:?}");
    }
    let chunked = [&[3, 2, 3][..], &words(&[512]), &dims(&[2, 3, 4])].concat();
    assert_eq!(read(&chunked).expect("a layout").element_len, Some(4));
}

#[test]
fn data_that_were_never_written_have_no_address() {
    let body = [&[3, 1][..], &words(&[u64::MAX, 0])].concat();
    assert_eq!(arrangement(&body), "Contiguous { addr: None, byte_len: 0 }");
}

#[test]
fn impossible_layouts_are_errors_that_name_what_is_wrong() {
    let no_len = [&[4, 2, 0, 3, 1, 2, 0, 4, 2][..], &words(&[512])].concat();
    let no_width = [&[4, 2, 0, 3, 0, 2][..], &words(&[512])].concat();
    let no_dims = [&[4, 2, 0, 0, 1, 2][..], &words(&[512])].concat();
    let cases: [(&[u8], &str); 8] = [
        (&[6, 1], "version 6"),
        (&[3, 3], "class 3"),
        (&[4, 9], "class 9"),
        (&no_len, "axis 1 is 0"),
        (&no_width, "0 bytes each"),
        (&no_dims, "without dimensions"),
        (&[4, 2, 0, 3, 1, 2, 3, 4, 6], "unknown type 6"),
        (b"\x03\x00\x09\x00ab", "9"),
    ];
    for (body, expected) in cases {
        let error = read(body).expect_err("an impossible layout");
        assert!(error.message().contains(expected), "{error}");
    }
}

#[test]
fn cut_layouts_are_errors() {
    for (body, _) in samples() {
        for len in 0..body.len() {
            // Only the dimensions behind the address of contiguous data may be lacking.
            let is_old = body.starts_with(&[1, 3, 1]) && len >= 16;
            assert_eq!(read(&body[..len]).is_ok(), is_old, "{len} of {body:?}");
        }
    }
}

proptest! {
    #[test]
    fn no_bytes_make_it_panic(version in 1u8..6, class in 0u8..4, rest in prop::collection::vec(any::<u8>(), 0..80)) {
        _ = read(&[&[version, class][..], &rest].concat());
        _ = read(&[&[version, 3, class][..], &rest].concat());
    }
}
