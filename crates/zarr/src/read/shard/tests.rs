use super::*;
use crate::chunk_key::{ChunkKeys, KeySeparator};
use ncirrus_layout::{ChunkGrid, ErrorKind};
use ncirrus_testkit::{MemoryView, ObjectView, StallingView, drive, law};

fn index(form: ShardingLayout) -> ShardIndex {
    let keys = ChunkKeys::v3(KeySeparator::Slash);
    ShardIndex { shards: KeyIndex { prefix: ObjectView::id("v"), keys, hidden_axes: 0 }, form }
}

fn form() -> ShardingLayout {
    ShardingLayout {
        shards: ChunkGrid::Regular(vec![2, 2]),
        axes: vec![0, 1],
        index_at_end: true,
        index_order: ByteOrder::Little,
        has_checksum: true,
        outer: Vec::new(),
        inner: None,
    }
}

/// An index of four chunks of ten bytes each, the second of them absent.
fn index_bytes() -> Vec<u8> {
    let entries = [0, 10, ABSENT, ABSENT, 10, 10, 20, 10];
    let mut bytes: Vec<u8> = entries.iter().flat_map(|word: &u64| word.to_le_bytes()).collect();
    let sum = crc32c(&bytes);
    bytes.extend(sum.to_le_bytes());
    bytes
}

fn cells(list: &[[u64; 2]]) -> CellList {
    let mut cells = CellList::new(2);
    list.iter().for_each(|cell| cells.push(cell));
    cells
}

#[test]
fn the_checksum_is_that_of_the_rfc() {
    assert_eq!(crc32c(&[0; 32]), 0x8a91_36aa);
    assert_eq!(crc32c(b"123456789"), 0xe306_9283);
}

#[test]
fn chunks_are_found_by_the_index_of_their_shard() {
    let mut objects = ObjectView::new();
    objects.put("v/c/1/0", [vec![0; 30], index_bytes()].concat());
    let rounds = StallingView::new(objects);
    let wanted = cells(&[[2, 0], [2, 1], [3, 0], [3, 1], [0, 0]]);
    let refs = drive(&rounds, |view| index(form()).locate(view, &wanted)).unwrap();
    let shard = ObjectView::id("v/c/1/0");
    let expected = [
        Location::Bytes(shard.clone(), 0..10),
        Location::Absent,
        Location::Bytes(shard.clone(), 10..20),
        Location::Bytes(shard, 20..30),
        Location::Absent,
    ];
    let got: Vec<Location> = refs.into_iter().map(|chunk| chunk.location).collect();
    assert_eq!(got, expected);
    assert_eq!((rounds.rounds(), rounds.requests().len()), (1, 2), "both shards' indexes travel together");
}

#[test]
fn indexes_of_shards_keep_the_law() {
    let mut objects = ObjectView::new();
    objects.put("v/c/0/0", [vec![0; 30], index_bytes()].concat());
    objects.put("v/c/1/1", [vec![0; 30], index_bytes()].concat());
    let grid = ChunkGrid::regular(vec![3, 5]).unwrap();
    law::chunk_index(&index(form()), &objects, &grid, &[11, 18]);
    let transposed = ShardingLayout { axes: vec![1, 0], ..form() };
    law::chunk_index(&index(transposed), &objects, &grid, &[11, 18]);
}

#[test]
fn transposed_shards_are_indexed_in_stored_order() {
    let mut objects = ObjectView::new();
    objects.put("v/c/0/0", [index_bytes(), vec![0; 30]].concat());
    let transposed = ShardingLayout { axes: vec![1, 0], index_at_end: false, ..form() };
    let view = MemoryView::new(objects);
    let refs = index(transposed).locate(&view, &cells(&[[0, 1], [1, 0]])).unwrap();
    assert!(matches!(refs[0].location, Location::Bytes(_, ref range) if *range == (10..20)));
    assert_eq!(refs[1].location, Location::Absent);
}

#[test]
fn damaged_indexes_are_refused() {
    let whole = index_bytes();
    let mut wrong_sum = whole.clone();
    wrong_sum[3] ^= 1;
    let short = whole[..40].to_vec();
    for (body, what) in [(wrong_sum, "checksum"), (short, "short"), (whole, "chunks past the end")] {
        let view = MemoryView::new(ObjectView::one("v/c/0/0", body));
        let before = if what == "chunks past the end" {
            ShardingLayout { index_at_end: false, ..form() }
        } else {
            form()
        };
        let result = index(before).locate(&view, &cells(&[[0, 0]]));
        let failed = ncirrus_layout::settle(result.map(drop)).unwrap();
        match failed {
            Err(error) => assert_eq!(error.kind(), ErrorKind::Malformed, "{what}"),
            Ok(()) => assert_eq!(what, "chunks past the end", "chunks may lie over the index"),
        }
    }
    let huge = ShardingLayout { shards: ChunkGrid::Regular(vec![1 << 40, 1 << 40]), ..form() };
    let view = MemoryView::new(ObjectView::one("v/c/0/0", vec![0; 10]));
    assert!(index(huge).locate(&view, &cells(&[[0, 0]])).is_err());
}

/// Shards of two chunks, each of which is a shard of two chunks of ten bytes along the other axis.
fn nested() -> (ShardingLayout, Vec<u8>) {
    let level = |counts, inner| ShardingLayout { shards: ChunkGrid::Regular(counts), inner, ..form() };
    let sealed = |entries: &[u64]| {
        let mut bytes: Vec<u8> = entries.iter().flat_map(|word| word.to_le_bytes()).collect();
        bytes.extend(crc32c(&bytes).to_le_bytes());
        bytes
    };
    let inner = [vec![0; 20], sealed(&[0, 10, 10, 10])].concat();
    let len = inner.len() as u64;
    let outer = [vec![0; 5], inner, sealed(&[5, len, ABSENT, ABSENT])].concat();
    (level(vec![2, 1], Some(Box::new(level(vec![1, 2], None)))), outer)
}

#[test]
fn chunks_of_nested_shards_are_found_in_two_rounds() {
    let (form, body) = nested();
    let rounds = StallingView::new(ObjectView::one("v/c/0/0", body));
    let wanted = cells(&[[0, 0], [0, 1], [1, 0], [2, 0]]);
    let refs = drive(&rounds, |view| index(form.clone()).locate(view, &wanted)).unwrap();
    let shard = ObjectView::id("v/c/0/0");
    let got: Vec<Location> = refs.into_iter().map(|chunk| chunk.location).collect();
    let expected = [
        Location::Bytes(shard.clone(), 5..15),
        Location::Bytes(shard, 15..25),
        Location::Absent,
        Location::Absent,
    ];
    assert_eq!(got, expected);
    assert_eq!(rounds.rounds(), 2, "an index of each level");
}

#[test]
fn shards_of_different_sizes_have_indexes_of_their_own_size() {
    let shards = ChunkGrid::rectilinear(&[vec![1, 2], vec![2]]).unwrap();
    let uneven = ShardingLayout { shards, ..form() };
    let mut objects = ObjectView::new();
    objects.put("v/c/1/0", [vec![0; 30], index_bytes()].concat());
    let view = MemoryView::new(objects);
    let refs = index(uneven).locate(&view, &cells(&[[0, 0], [1, 0], [2, 1]])).unwrap();
    assert_eq!(refs[0].location, Location::Absent);
    assert!(matches!(refs[1].location, Location::Bytes(_, ref range) if *range == (0..10)));
    assert!(matches!(refs[2].location, Location::Bytes(_, ref range) if *range == (20..30)));
}

#[test]
fn shards_with_codecs_around_them_are_decoded_whole() {
    let outer = vec![ncirrus_model::CodecSpec::v3("crc32c")];
    let body = [vec![7; 30], index_bytes(), vec![0; 4]].concat();
    let wrapped = ShardingLayout { outer, ..form() };
    let rounds = StallingView::new(ObjectView::one("v/c/0/0", body));
    let refs = drive(&rounds, |view| index(wrapped.clone()).locate(view, &cells(&[[0, 0], [0, 1]]))).unwrap();
    assert!(matches!(refs[0].location, Location::Inline(ref bytes) if bytes.as_ref() == [7; 10]));
    assert_eq!(refs[1].location, Location::Absent);
    // Cut short, it has no index.
    let view = MemoryView::new(ObjectView::one("v/c/0/0", vec![0; 30]));
    assert!(index(wrapped).locate(&view, &cells(&[[0, 0]])).is_err());
}
