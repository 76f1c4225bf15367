use super::*;
use crate::testing::build::{FileBuilder, summed, words};
use crate::testing::{KEY, done, view};
use ncirrus_testkit::ObjectView;
use rstest::rstest;

/// What the header of a heap says.
#[derive(Debug, Clone, Copy)]
struct HeapSays {
    id_len: u16,
    root: u64,
    rows: u16,
    huge: u64,
    /// Bytes of the pipeline message, of a filter that the view has not.
    filters_len: u16,
}

/// The header of a heap with rows of 4 blocks of 512 bytes, direct blocks up to 1024 bytes, checksums, 32 bits.
fn header(says: HeapSays) -> Vec<u8> {
    let start = [&b"FRHP\0"[..], &says.id_len.to_le_bytes(), &says.filters_len.to_le_bytes(), &[2]].concat();
    let numbers =
        [&500u32.to_le_bytes()[..], &words(&[0, says.huge, 0, u64::MAX, 0, 0, 0, 0, 0, 0, 0, 0])].concat();
    let table = [&[4, 0][..], &words(&[512, 1024]), &[32, 0, 1, 0]].concat();
    let filtered = match says.filters_len {
        0 => vec![],
        len => [&words(&[20])[..], &[0; 4], &[2, 1, 0, 9], &vec![0; usize::from(len) - 4]].concat(),
    };
    summed([start, numbers, table, words(&[says.root]), says.rows.to_le_bytes().to_vec(), filtered].concat())
}

const SAYS: HeapSays = HeapSays { id_len: 7, root: u64::MAX, rows: 0, huge: u64::MAX, filters_len: 0 };

/// A direct block of 512 bytes at `offset` of the heap whose header is at `heap`: each byte is that of its place.
fn direct(heap: u64, offset: u32) -> Vec<u8> {
    let mut bytes = [&b"FHDB\0"[..], &words(&[heap]), &offset.to_le_bytes(), &[0; 4]].concat();
    bytes.extend((bytes.len()..512).map(|at| at.to_le_bytes()[0]));
    let sum = crate::checksum::lookup3(&bytes);
    bytes[17..21].copy_from_slice(&sum.to_le_bytes());
    bytes
}

/// An indirect block of one row.
fn indirect(heap: u64, children: [u64; 4]) -> Vec<u8> {
    summed([&b"FHIB\0"[..], &words(&[heap]), &[0; 4], &words(&children)].concat())
}

/// The id of a managed object.
fn managed(offset: u32, len: u16) -> Bytes {
    [&[0][..], &offset.to_le_bytes(), &len.to_le_bytes()].concat().into()
}

/// The objects of a heap at this address.
fn objects(file: FileBuilder, heap: u64, ids: &[Bytes]) -> Result<Vec<Result<Bytes, Error>>, Error> {
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY)))?;
    let heap = done(FractalHeap::load(&view, &file, FileAddress(heap)))?;
    done(heap.objects(&view, &file, ids))
}

/// A heap with a root that is a direct block; returns its address.
fn small(says: HeapSays) -> (FileBuilder, u64) {
    let mut file = FileBuilder::new();
    let at = file.next();
    let root = at + header(says).len().next_multiple_of(8) as u64;
    let heap = file.put(&header(HeapSays { root, ..says }));
    assert_eq!(file.put(&direct(heap, 0)), root);
    (file, heap)
}

#[test]
fn managed_objects_count_from_the_start_of_the_block() {
    let (file, heap) = small(SAYS);
    let found = objects(file, heap, &[managed(100, 3), managed(21, 0), managed(510, 2)]).expect("a heap");
    let found: Vec<_> = found.into_iter().map(|object| object.expect("an object").to_vec()).collect();
    assert_eq!(found, [vec![100, 101, 102], vec![], vec![254, 255]]);
}

#[test]
fn one_damaged_id_does_not_hide_the_others() {
    let (file, heap) = small(SAYS);
    let other = |bytes: &[u8]| Bytes::copy_from_slice(bytes);
    let ids = [
        managed(510, 3),
        managed(600, 1),
        managed(u32::MAX, 1),
        other(&[0x40, 0, 0, 0, 0, 0, 0]),
        other(&[0x30, 0, 0, 0, 0, 0, 0]),
        other(&[0x10, 9, 0, 0, 0, 0, 0]),
        other(&[0x2f, 0]),
        other(&[]),
        managed(100, 1),
    ];
    let found = objects(file, heap, &ids).expect("a heap");
    let texts: Vec<_> =
        found.iter().map(|object| object.as_ref().map_or_else(Error::to_string, |_| "ok".into())).collect();
    let expected = [
        "3 bytes at 510",
        "at 600",
        "at 4294967295",
        "version 1",
        "kind 3",
        "has none",
        "ends early",
        "ends early",
        "ok",
    ];
    for (text, expected) in texts.iter().zip(expected) {
        assert!(text.contains(expected), "{text}: not {expected}");
    }
}

#[rstest]
#[case::short_ids(7, &[0x22, 1, 2, 3], &[1, 2, 3])]
#[case::ids_of_17_bytes(17, &[0x20, 9], &[9])]
#[case::long_ids(18, &[0x20, 2, 7, 8, 9], &[7, 8, 9])]
fn tiny_objects_lie_in_their_id(#[case] id_len: u16, #[case] id: &'static [u8], #[case] object: &[u8]) {
    let (file, heap) = small(HeapSays { id_len, ..SAYS });
    let found = objects(file, heap, &[Bytes::from_static(id)]).expect("a heap");
    assert_eq!(found[0].as_ref().expect("an object").as_ref(), object);
}

#[test]
fn ids_that_are_long_enough_say_where_huge_objects_are() {
    let (file, heap) = small(HeapSays { id_len: 17, ..SAYS });
    let id = |addr: u64, len: u64| Bytes::from([&[0x10][..], &words(&[addr, len])].concat());
    let found = objects(file, heap, &[id(heap, 4), id(heap, 1 << 60), id(u64::MAX, 4), id(heap + 1, 3)])
        .expect("a heap");
    assert_eq!(found[0].as_ref().expect("an object").as_ref(), b"FRHP");
    assert!(found[1].is_err() && found[2].is_err());
    assert_eq!(found[3].as_ref().expect("an object").as_ref(), b"RHP");
}

#[test]
fn ids_of_filtered_heaps_need_more_room_for_that() {
    let ids = |id_len| {
        HeapIds::new(id_len, DoublingTable { width: 4, first: 512, largest: 1024, bits: 32 }, 500, true)
    };
    let (file, _) = small(SAYS);
    let view = view(file.finish(48));
    let file = done(crate::superblock::load(&view, &ObjectView::id(KEY))).expect("a file");
    let id = [&[0x10][..], &words(&[5, 6]), &[1, 0, 0, 0], &words(&[7])].concat();
    assert!(
        matches!(ids(29).parse(&id, &file), Ok(HeapId::Huge(huge)) if huge.stored_len() == 6 && huge.len() == 7)
    );
    assert!(matches!(ids(28).parse(&id, &file), Ok(HeapId::HugeKey(5))));
}

#[test]
fn huge_objects_are_found_by_key_in_trees_of_both_types() {
    for (kind, record, sound) in [
        (1, words(&[48, 4, 9]), true),
        (2, [&words(&[48, 4])[..], &[0; 4], &words(&[4, 9])].concat(), true),
        (3, words(&[48, 4]), false),
        (8, words(&[48, 4, 9]), false),
    ] {
        let mut file = FileBuilder::new();
        file.put(b"huge");
        let leaf = file.put(&summed([&b"BTLF\0"[..], &[kind], &record].concat()));
        let len = u8::try_from(record.len()).expect("short");
        let tree = [
            &b"BTHD\0"[..],
            &[kind, 0, 2, 0, 0, len, 0, 0, 0, 100, 40],
            &words(&[leaf]),
            &[1, 0],
            &words(&[1]),
        ];
        let huge = file.put(&summed(tree.concat()));
        let heap = file.put(&header(HeapSays { huge, ..SAYS }));
        let found = objects(
            file,
            heap,
            &[Bytes::from_static(&[0x10, 9, 0, 0, 0, 0, 0]), Bytes::from_static(&[0x10, 8, 0, 0, 0, 0, 0])],
        );
        let found = found.expect("a heap");
        assert_eq!(
            found[0].as_ref().is_ok_and(|object| object.as_ref() == b"huge"),
            sound,
            "type {kind}: {found:?}"
        );
        assert!(found[1].is_err());
    }
}

#[test]
fn blocks_that_lie_about_their_place_are_errors() {
    let mut file = FileBuilder::new();
    let heap = 48 + 4096;
    let blocks = [0, 512, 7, 1536].map(|offset| file.put(&direct(heap, offset)));
    let root = file.put(&indirect(heap, [blocks[0], blocks[1], blocks[2], u64::MAX]));
    file.bytes.resize(48 + 4096, 0);
    assert_eq!(file.put(&header(HeapSays { root, rows: 1, ..SAYS })), heap);
    let ids = [managed(30, 1), managed(612, 1), managed(1124, 1), managed(1700, 1), managed(2048, 1)];
    let found = objects(file, heap, &ids).expect("a heap");
    assert_eq!(found[0].as_ref().expect("an object").as_ref(), [30]);
    assert_eq!(found[1].as_ref().expect("an object").as_ref(), [100]);
    for (object, text) in
        found[2..].iter().zip(["at offset 7 of the heap", "never made", "beyond the heap's blocks"])
    {
        let error = object.as_ref().expect_err("damage");
        assert!(error.message().contains(text), "{error}");
    }
}

#[test]
fn a_heap_header_must_be_sound() {
    let sound = header(SAYS);
    for at in 0..sound.len() {
        let mut file = FileBuilder::new();
        let mut bytes = sound.clone();
        bytes[at] ^= 1;
        let heap = file.put(&bytes);
        assert!(objects(file, heap, &[]).is_err(), "byte {at}");
    }
    for rows in [0, 1, 23, 24, u16::MAX] {
        let mut file = FileBuilder::new();
        let heap = file.put(&header(HeapSays { root: 48, rows, ..SAYS }));
        assert_eq!(objects(file, heap, &[]).is_ok(), rows <= 22, "{rows}");
    }
}

#[test]
fn unknown_filters_are_reported_for_each_object() {
    let (mut file, _) = small(SAYS);
    let heap = file.put(&header(HeapSays { root: 48, filters_len: 10, ..SAYS }));
    let found = objects(file, heap, &[managed(30, 1)]).expect("a heap");
    let error = found[0].as_ref().expect_err("no filter");
    assert!(error.message().contains("codec"), "{error}");
}
