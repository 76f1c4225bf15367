use super::*;
use crate::heap::object;
use crate::testing::done;
use crate::write::tests::file_with;
use rstest::rstest;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };

/// The object is found again, in whichever collection it is.
fn check(patches: &[FilePatch], added: &[(FileAddress, u32, Vec<u8>)]) {
    let (view, file) = file_with(patches);
    for (addr, index, content) in added {
        assert_eq!(done(object(&view, &file, *addr, *index)).expect("an object"), *content);
    }
}

#[rstest]
#[case(&[0, 1, 7, 8, 9], 4096)]
#[case(&[2000, 2000, 2000], 4096 + 8192)]
#[case(&[10, 5000, 10], 4096 + 32 + 5000)]
#[case(&[3000], 4096)]
fn objects_are_found_again(#[case] lens: &[usize], #[case] taken: u64) {
    let (mut heap, mut space) = (HeapBuilder::new(SIZES), SpaceAllocator::new(4096));
    let add = |(number, len): (u8, &usize)| {
        let content = vec![number; *len];
        let (addr, index) = heap.add(&content, &mut space).expect("an object");
        (addr, index, content)
    };
    let added: Vec<_> = (1..).zip(lens).map(add).collect();
    check(&heap.take(), &added);
    assert_eq!(space.end() - 4096, taken);
    assert!(heap.take().is_empty(), "nothing new");
}

#[test]
fn a_collection_that_was_taken_is_not_changed() {
    let (mut heap, mut space) = (HeapBuilder::new(SIZES), SpaceAllocator::new(4096));
    let first = heap.add(b"first", &mut space).expect("an object");
    assert_eq!(heap.take().len(), 1);
    let second = heap.add(b"second", &mut space).expect("an object");
    assert_ne!(first.0, second.0);
    let again = heap.take();
    check(&again, &[(second.0, 1, b"second".to_vec())]);
    assert_eq!((again.len(), again[0].body.len()), (1, 4096));
}

#[test]
fn many_objects_go_to_larger_collections() {
    let (mut heap, mut space) = (HeapBuilder::new(SIZES), SpaceAllocator::new(4096));
    let added: Vec<_> = (0..9000u32)
        .map(|number| {
            let content = number.to_le_bytes().to_vec();
            let (addr, index) = heap.add(&content, &mut space).expect("an object");
            (addr, index, content)
        })
        .collect();
    let patches = heap.take();
    assert!(patches.len() < 12, "{} collections", patches.len());
    check(&patches, &added);
}

#[test]
fn collections_are_whole_to_the_byte() {
    let (mut heap, mut space) = (HeapBuilder::new(SIZES), SpaceAllocator::new(4096));
    // 16 bytes of the collection, and three objects that leave 8 bytes: too few for a header of free space.
    for len in [1336, 1336, 1352] {
        heap.add(&vec![1; len], &mut space).expect("an object");
    }
    let patches = heap.take();
    assert_eq!((patches.len(), patches[0].body.len()), (1, 4096));
    assert_eq!(patches[0].body[4088..], [0; 8]);
}
