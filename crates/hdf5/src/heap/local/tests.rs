use super::*;
use crate::testing::build::{FileBuilder, words};
use crate::testing::{KEY, done, view};
use ncirrus_testkit::ObjectView;
use rstest::rstest;

/// A heap with this data segment, and this length and address of it.
fn load(data: &[u8], len: Option<u64>, addr: Option<u64>) -> Result<Arc<LocalHeap>, Error> {
    let mut file = FileBuilder::new();
    let segment = file.put(data);
    let numbers = [len.unwrap_or(data.len() as u64), 1, addr.unwrap_or(segment)];
    let heap = file.put(&[b"HEAP\0\0\0\0".to_vec(), words(&numbers)].concat());
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY)))?;
    done(LocalHeap::load(&view, &file, FileAddress(heap)))
}

#[test]
fn texts_end_with_their_nul() {
    let heap = load(b"\0\0\0\0\0\0\0\0name\0\0\0\0last", None, None).expect("a heap");
    assert_eq!(heap.text(0).expect("a text"), b"");
    assert_eq!(heap.text(8).expect("a text"), b"name");
    assert_eq!(heap.text(10).expect("a text"), b"me");
    for offset in [16, 20, 21, u64::MAX] {
        assert!(heap.text(offset).is_err(), "{offset}");
    }
}

#[rstest]
#[case::too_long(Some(1 << 40), None)]
#[case::too_far(None, Some(1 << 40))]
#[case::longest(Some(u64::MAX), None)]
fn segments_beyond_the_file_are_errors(#[case] len: Option<u64>, #[case] addr: Option<u64>) {
    assert!(load(b"name\0", len, addr).expect_err("beyond").message().contains("beyond the end"));
}

#[test]
fn a_heap_without_segment_has_no_names() {
    assert!(load(b"name\0", None, Some(u64::MAX)).expect("a heap").text(0).is_err());
}
