use super::*;
use crate::testing::build::{FileBuilder, words};
use crate::testing::{KEY, done, view};
use ncirrus_testkit::{ObjectView, StallingView, drive};
use proptest::prelude::*;

/// An object of a collection with 8-byte lengths; its data are padded.
fn entry(index: u16, data: &[u8]) -> Vec<u8> {
    let mut bytes =
        [&index.to_le_bytes()[..], &[1, 0, 0, 0, 0, 0], &words(&[data.len() as u64]), data].concat();
    bytes.resize(bytes.len().next_multiple_of(8), 0xee);
    bytes
}

/// A collection with these objects.
fn collection(entries: &[Vec<u8>], len: u64) -> Vec<u8> {
    [b"GCOL\x01\0\0\0".to_vec(), words(&[len]), entries.concat()].concat()
}

fn read(bytes: &[u8], index: u32) -> Result<Bytes, Error> {
    let mut file = FileBuilder::new();
    let addr = file.put(bytes);
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY)))?;
    done(object(&view, &file, FileAddress(addr), index))
}

#[test]
fn objects_are_found_by_their_index_whatever_their_order() {
    let free = [&[0; 8][..], &words(&[32]), &[0; 16]].concat();
    let entries = [entry(7, b"seven"), entry(2, b""), entry(3, &[3; 16]), free];
    let bytes = collection(&entries, 16 + 24 + 16 + 32 + 32);
    assert_eq!(read(&bytes, 7).expect("an object").as_ref(), b"seven");
    assert_eq!(read(&bytes, 2).expect("an object").as_ref(), b"");
    assert_eq!(read(&bytes, 3).expect("an object").as_ref(), [3; 16]);
    for index in [0, 1, 0x1_0007] {
        assert!(read(&bytes, index).expect_err("no object").message().contains("no object"), "{index}");
    }
}

#[test]
fn the_rest_of_a_collection_may_be_too_short_for_free_space() {
    let bytes = collection(&[entry(1, b"one"), vec![9; 8]], 16 + 24 + 8);
    assert_eq!(read(&bytes, 1).expect("an object").as_ref(), b"one");
}

#[test]
fn damage_hides_only_what_lies_behind_it() {
    let long = [&[2, 0, 1, 0, 0, 0, 0, 0][..], &words(&[u64::MAX])].concat();
    let bytes = collection(&[entry(1, b"one"), long, entry(3, b"three")], 16 + 24 + 16 + 24);
    assert_eq!(read(&bytes, 1).expect("an object").as_ref(), b"one");
    assert!(read(&bytes, 2).is_err() && read(&bytes, 3).is_err());
}

#[test]
fn collections_of_impossible_length_are_errors() {
    for len in [0, 15, 1 << 40, u64::MAX] {
        assert!(read(&collection(&[entry(1, b"one")], len), 1).is_err(), "{len}");
    }
}

#[test]
fn headers_are_padded_to_eight_bytes_with_narrow_lengths() {
    let sizes = FieldSizes { offsets: 4, lengths: 4 };
    let object = [&[5, 0, 1, 0, 0, 0, 0, 0][..], &[3, 0, 0, 0], &[0; 4], b"abc", &[0; 5]].concat();
    let bytes = [b"GCOL\x01\0\0\0\x28\0\0\0\0\0\0\0".to_vec(), object].concat();
    let found = GlobalCollection::scan(&bytes.into(), sizes);
    assert_eq!(found.object(5).expect("an object").as_ref(), b"abc");
}

#[test]
fn collections_are_requested_together_and_once() {
    let mut file = FileBuilder::new();
    let mut wanted = Vec::new();
    file.put(&[0; 1 << 15]);
    for number in 0..5u8 {
        let entries = [entry(1, &[number]), entry(2, &[number; 2]), vec![0; 4096]];
        let addr = file.put(&collection(&entries, 4096));
        wanted.extend([(FileAddress(addr), 2), (FileAddress(addr), 1)]);
    }
    let view = StallingView::new(ObjectView::one(KEY, file.finish(48)));
    let found = drive(&view, |view| {
        let file = crate::superblock::load(view, &ObjectView::id(KEY))?;
        objects(view, &file, &wanted)
    });
    let lens: Vec<usize> = found.expect("objects").iter().map(Bytes::len).collect();
    assert_eq!(lens, [2, 1, 2, 1, 2, 1, 2, 1, 2, 1]);
    assert_eq!((view.rounds(), view.requests().len()), (2, 6));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn noise_is_scanned_to_an_end(noise in prop::collection::vec(0..4u8, 0..400), lengths in 1..4u32) {
        let sizes = FieldSizes { offsets: 8, lengths: 1 << lengths };
        let found = GlobalCollection::scan(&noise.clone().into(), sizes);
        prop_assert!(found.objects.len() <= noise.len() / 16);
    }
}
