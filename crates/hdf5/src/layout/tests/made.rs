//! Datasets made for the test: cases missing from real files.
use super::super::{dataset, layout};
use super::reading::{open, read};
use crate::testing::build::{FileBuilder, hard, message, words};
use crate::testing::{KEY, done, view};
use ncirrus_layout::Result;
use ncirrus_model::Region;
use ncirrus_testkit::MemoryView;

/// A file whose dataset `d` has that shape, elements of a byte, and that layout message; bytes 4000 to 4100 are 0 to 99.
fn file(dims: &[u64], layout: &[u8]) -> MemoryView {
    let mut builder = FileBuilder::new();
    let rank = u8::try_from(dims.len()).expect("few");
    let space = [&[2, rank, 0, 1][..], &words(dims)].concat();
    let unsigned_byte = [0x10, 0, 0, 0, 1, 0, 0, 0, 0, 0, 8, 0];
    // A filter applies only to chunks.
    let filters = [2, 1, 1, 0, 0, 0, 0, 0];
    let messages = [
        message(1, 0, &space),
        message(3, 0, &unsigned_byte),
        message(8, 0, layout),
        message(11, 0, &filters),
    ];
    let made = builder.header(&messages);
    let root = builder.group(&[hard("d", made)]);
    builder.bytes.resize(4000, 0xee);
    builder.bytes.extend(0..100);
    view(builder.finish(root))
}

fn values(dims: &[u64], layout_message: &[u8]) -> Result<Vec<u8>> {
    let view = file(dims, layout_message);
    read(&view, &open(&view, KEY, "d")?, &Region::all(dims))
}

fn contiguous(addr: u64, byte_len: u64) -> Vec<u8> {
    [&[3, 1][..], &words(&[addr, byte_len])].concat()
}

#[test]
fn contiguous_data_may_have_more_room_than_they_need_but_not_less() {
    assert_eq!(values(&[2, 3], &contiguous(4000, 6)).expect("values"), [0, 1, 2, 3, 4, 5]);
    assert_eq!(values(&[2, 3], &contiguous(4010, 60)).expect("values"), [10, 11, 12, 13, 14, 15]);
    let error = values(&[2, 3], &contiguous(4000, 5)).expect_err("too little");
    assert!(error.message().contains("5 bytes instead of 6"), "{error}");
    assert!(values(&[2, 3], &contiguous(u64::MAX - 3, 6)).is_err(), "beyond 2^64");
}

#[test]
fn contiguous_data_that_were_never_allocated_are_fill() {
    for message in [contiguous(u64::MAX, 0), contiguous(u64::MAX, 6), contiguous(4000, 0)] {
        assert_eq!(values(&[2, 3], &message).expect("values"), [0; 6]);
    }
    assert!(values(&[2, 0], &contiguous(4000, 8)).expect("values").is_empty());
}

#[test]
fn compact_data_go_through_no_filter() {
    let message = [&[3, 0, 7, 0][..], b"abcdefg"].concat();
    assert_eq!(values(&[2, 3], &message).expect("values"), b"abcdef");
    assert_eq!(values(&[], &message).expect("a scalar"), b"a");
    assert!(values(&[0, 3], &message).expect("nothing").is_empty());
    assert!(values(&[2, 4], &message).is_err(), "seven bytes of eight");
}

#[test]
fn chunks_that_do_not_go_with_their_dataset_are_errors() {
    let single = |shape: [u8; 2], element: u8| {
        [&[4, 2, 0, 3, 1, shape[0], shape[1], element, 1][..], &words(&[4000])].concat()
    };
    let problem = |dims: &[u64], message: &[u8]| {
        let view = file(dims, message);
        let object = open(&view, KEY, "d").expect("an object");
        let described = done(dataset(&view, &object));
        described
            .and_then(|dataset| done(layout(&view, &object, &dataset)))
            .expect_err("a problem")
            .message()
            .to_owned()
    };
    assert!(problem(&[2, 3], &single([2, 3], 4)).contains("4 bytes where the datatype has 1"));
    assert!(problem(&[6], &single([2, 3], 1)).contains("rank 2 in a dataset of rank 1"));
    assert!(problem(&[3, 3], &single([2, 3], 1)).contains("single chunk of [2, 3]"));
}
