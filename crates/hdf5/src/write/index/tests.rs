//! Indexes built and changed here are read by the reading code, after every single write.
mod peers;
mod world;

use super::{ChunkMap, IndexGrid, byte_len, choose};
use crate::address::{FieldSizes, FileAddress};
use crate::layout::IndexKind;
use crate::write::StoredChunk;
use proptest::prelude::*;
use rstest::rstest;
use world::IndexWorld;

const SIZES: FieldSizes = FieldSizes { offsets: 8, lengths: 8 };
/// Small blocks and pages, so that few chunks need all kinds of structures.
const SMALL_ARRAY: IndexKind =
    IndexKind::ExtensibleArray { max_bits: 16, in_index: 2, min_pointers: 2, min_elements: 2, page_bits: 2 };
/// The parameters of HDF5.
const LARGE_ARRAY: IndexKind = super::extensible::KIND;
const SMALL_PAGES: IndexKind = IndexKind::FixedArray { page_bits: 2 };
const ONE_BLOCK: IndexKind = IndexKind::FixedArray { page_bits: 10 };

fn grid(chunk: &[u64], dims: &[u64], grows: &[bool], filtered: bool, version: u8) -> IndexGrid {
    let max = dims.iter().zip(grows).map(|(len, grows)| (!grows).then_some(*len)).collect();
    IndexGrid { chunk: chunk.to_vec(), element: 4, dims: dims.to_vec(), max, filtered, version }
}

/// A grid of 3 by 40 chunks.
fn small(filtered: bool, version: u8, kind: IndexKind) -> IndexGrid {
    let grows = match kind {
        IndexKind::FixedArray { .. } => [false, false],
        IndexKind::ExtensibleArray { .. } => [false, true],
        _ => [true, true],
    };
    grid(&[2, 5], &[5, 200], &grows, filtered, version)
}

fn stored(grid: &IndexGrid, seed: u64) -> StoredChunk {
    let plain: u64 = grid.chunk.iter().product::<u64>() * grid.element;
    let addr = FileAddress((1 << 30) + seed * 1000);
    if grid.filtered {
        return StoredChunk { addr, len: 1 + seed % (2 * plain), mask: u32::try_from(seed % 4).unwrap_or(0) };
    }
    StoredChunk { addr, len: plain, mask: 0 }
}

/// Chunks of rows of the grid, in row-major order.
fn chunks(grid: &IndexGrid, numbers: impl IntoIterator<Item = u64>, seed: u64) -> ChunkMap {
    let counts: Vec<u64> =
        grid.dims.iter().zip(&grid.chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    let all: u64 = counts.iter().product();
    let cell = |number: u64| {
        let mut rest = number % all;
        let mut cell: Vec<u64> = counts
            .iter()
            .rev()
            .map(|count| {
                let at = rest % count;
                rest /= count;
                at
            })
            .collect();
        cell.reverse();
        cell
    };
    numbers.into_iter().map(|number| (cell(number), stored(grid, seed + number))).collect()
}

#[rstest]
#[case(IndexKind::BTree1, 3)]
#[case(IndexKind::BTree2, 4)]
#[case(ONE_BLOCK, 4)]
#[case(SMALL_PAGES, 4)]
#[case(SMALL_ARRAY, 4)]
#[case(LARGE_ARRAY, 5)]
fn what_is_built_is_read(
    #[case] kind: IndexKind,
    #[case] version: u8,
    #[values(false, true)] filtered: bool,
) {
    let grid = small(filtered, version, kind);
    for numbers in [vec![0], vec![119], (0..120).collect(), (0..120).step_by(7).collect()] {
        let mut world = IndexWorld::new(kind, grid.clone());
        let chunks = chunks(&grid, numbers.iter().copied(), 9);
        world.build(chunks.clone()).expect("an index");
        let found: Vec<_> = world.read(&ChunkMap::new()).into_iter().flatten().collect();
        assert_eq!(found, chunks.values().copied().collect::<Vec<_>>(), "{numbers:?}");
        let max = byte_len(kind, &grid, 120, SIZES);
        assert!(world.space.end() - 96 <= max, "{} bytes, {max} foreseen", world.space.end() - 96);
        assert!(world.bytes.len() as u64 + 8 > world.space.end(), "the file ends before its structures");
    }
}

#[rstest]
#[case(IndexKind::BTree1, 3)]
#[case(IndexKind::BTree2, 4)]
#[case(LARGE_ARRAY, 4)]
fn large_indexes_are_built_and_grow_by_many_chunks(#[case] kind: IndexKind, #[case] version: u8) {
    let grows = [kind != LARGE_ARRAY, true];
    let grid = grid(&[1, 1], &[2, 300_000], &grows, true, version);
    let mut world = IndexWorld::new(kind, grid.clone());
    world.build(chunks(&grid, 0..6000, 0)).expect("an index");
    // An array has space for both rows up to there.
    let foreseen = byte_len(kind, &grid, 12_000, SIZES);
    assert!(world.space.end() - 96 <= foreseen, "{} of {foreseen}", world.space.end() - 96);
    let all = chunks(&grid, (5000..9000).chain(200_000..200_010), 1 << 20);
    let updated = world.plan(&all).expect("a change");
    let patches: Vec<_> = updated.change.fresh.iter().chain(&updated.change.then).cloned().collect();
    patches.iter().for_each(|patch| world.put(patch));
    world.addr = updated.layout.map_or(world.addr, |(_, addr)| Some(addr));
    world.chunks.extend(all.clone());
    let found: Vec<_> = world.read(&ChunkMap::new()).into_iter().flatten().collect();
    assert_eq!(found, world.chunks.values().copied().collect::<Vec<_>>());
}

#[rstest]
#[case(IndexKind::BTree1, 3)]
#[case(IndexKind::BTree2, 4)]
fn a_tree_that_grows_at_its_end_takes_no_more_space_than_one_that_is_built(
    #[case] kind: IndexKind,
    #[case] version: u8,
) {
    let grid = grid(&[1, 1], &[1000, 1], &[true, true], true, version);
    let mut world = IndexWorld::new(kind, grid.clone());
    world.rank = 4;
    for number in 0..300 {
        world.change(&chunks(&grid, [number], 0)).expect("a change");
    }
    let mut built = IndexWorld::new(kind, grid.clone());
    built.rank = 4;
    built.change(&chunks(&grid, 0..300, 0)).expect("an index");
    let (grown, once) = (world.space.end(), built.space.end());
    // Every node of the path may have two locations.
    assert!(grown <= once + 8 * 2048, "{grown} bytes, {once} when built at once");
}

#[test]
fn siblings_of_copied_nodes_know_each_other() {
    let grid = grid(&[1], &[1000], &[true], false, 3);
    let mut world = IndexWorld::new(IndexKind::BTree1, grid.clone());
    world.rank = 2;
    for step in [7, 11, 3, 1] {
        world.change(&chunks(&grid, (0..200).step_by(step), 5 * step as u64)).expect("a change");
        assert_level(&world, &[world.addr.expect("a tree").0]);
    }
}

/// The nodes of a level lead from one to the next and back, and so below.
fn assert_level(world: &IndexWorld, nodes: &[u64]) {
    let number = |at: u64| {
        let at = usize::try_from(at).expect("small");
        u64::from_le_bytes(world.bytes[at..at + 8].try_into().expect("eight"))
    };
    let mut below = Vec::new();
    for (index, at) in nodes.iter().enumerate() {
        let before = index.checked_sub(1).map_or(u64::MAX, |before| nodes[before]);
        let after = nodes.get(index + 1).copied().unwrap_or(u64::MAX);
        assert_eq!((number(at + 8), number(at + 16)), (before, after), "node {index} of {}", nodes.len());
        let count = u64::from(world.bytes[usize::try_from(at + 6).expect("small")]);
        below.extend((0..count).map(|child| number(at + 24 + child * 32 + 24)));
        if world.bytes[usize::try_from(at + 5).expect("small")] == 0 {
            below.clear();
        }
    }
    if !below.is_empty() {
        assert_level(world, &below);
    }
}

#[test]
fn the_index_is_the_one_that_hdf5_would_choose() {
    let kind = |dims: &[u64], grows: &[bool]| choose(&grid(&[2, 2], dims, grows, true, 4), true);
    assert_eq!(kind(&[2, 2], &[false, false]), IndexKind::Single { filtered: None });
    assert_eq!(kind(&[4, 2], &[false, false]), ONE_BLOCK);
    assert_eq!(kind(&[4, 2], &[true, false]), LARGE_ARRAY);
    assert_eq!(kind(&[2, 2], &[true, true]), IndexKind::BTree2);
    assert_eq!(kind(&[1 << 40, 1 << 40], &[false, false]), IndexKind::BTree2);
    assert_eq!(choose(&grid(&[2], &[2], &[false], false, 3), false), IndexKind::BTree1);
}

#[test]
fn a_single_chunk_is_in_the_layout() {
    let grid = grid(&[4], &[4], &[false], true, 4);
    let mut world = IndexWorld::new(IndexKind::Single { filtered: None }, grid.clone());
    world.build(chunks(&grid, [0], 3)).expect("an index");
    world.change(&chunks(&grid, [0], 17)).expect("a change");
    assert_eq!(world.kind, IndexKind::Single { filtered: Some((18, 1)) });
}

#[test]
fn chunks_of_an_index_without_records_stay_where_they_are() {
    let grid = grid(&[2], &[6], &[false], false, 4);
    let mut world = IndexWorld::new(IndexKind::Implicit, grid.clone());
    let at =
        |number: u64| (vec![number], StoredChunk { addr: FileAddress(800 + 8 * number), len: 8, mask: 0 });
    world.build((0..3).map(at).collect()).expect("an index");
    world.change(&[at(1)].into()).expect("no change");
    assert!(
        world.change(&[(vec![1], StoredChunk { addr: FileAddress(80), len: 8, mask: 0 })].into()).is_err()
    );
    assert!(world.build((0..2).map(at).collect()).is_err(), "a chunk is missing");
}

#[test]
fn chunks_that_the_index_has_no_place_for_are_errors() {
    let grid = small(true, 4, ONE_BLOCK);
    let mut world = IndexWorld::new(ONE_BLOCK, grid.clone());
    let one = stored(&grid, 1);
    assert!(world.build([(vec![3, 0], one)].into()).is_err(), "there are three rows");
    let too_long = StoredChunk { len: 1 << 16, ..one };
    assert!(world.build([(vec![0, 0], too_long)].into()).is_err(), "sizes have two bytes");
    let far = StoredChunk { len: 1 << 32, ..one };
    let mut old = IndexWorld::new(IndexKind::BTree1, grid);
    assert!(old.build([(vec![0, 0], far)].into()).is_err(), "sizes have four bytes");
}

#[test]
fn addresses_that_a_file_has_no_room_for_are_errors() {
    let grid = small(true, 3, IndexKind::BTree1);
    let mut world = IndexWorld::new(IndexKind::BTree1, grid.clone());
    world.sizes = FieldSizes { offsets: 4, lengths: 4 };
    let far = StoredChunk { addr: FileAddress(1 << 32), ..stored(&grid, 1) };
    assert!(world.plan(&[(vec![0, 0], far)].into()).is_err());
}

fn any_kind() -> impl Strategy<Value = (IndexKind, u8)> {
    prop_oneof![
        Just((IndexKind::BTree1, 3)),
        Just((IndexKind::BTree2, 4)),
        Just((ONE_BLOCK, 4)),
        Just((SMALL_PAGES, 5)),
        Just((SMALL_ARRAY, 4)),
        Just((LARGE_ARRAY, 5)),
    ]
}

proptest! {
    #[test]
    fn after_every_write_each_chunk_is_old_or_new(
        (kind, version) in any_kind(),
        filtered: bool,
        is_built: bool,
        rank in 1u16..4,
        sizes in prop::sample::select(vec![(8, 8), (4, 8), (8, 4), (4, 4)]),
        changes in prop::collection::vec(prop::collection::btree_set(0u64..120, 1..40), 1..6),
    ) {
        let grid = small(filtered, version, kind);
        let mut world = IndexWorld::new(kind, grid.clone());
        world.sizes = FieldSizes { offsets: sizes.0, lengths: sizes.1 };
        for (seed, numbers) in (1u64..).zip(changes) {
            let chunks = chunks(&grid, numbers, 200 * seed);
            if is_built && seed == 1 {
                world.build(chunks).expect("an index");
                continue;
            }
            // Trees that are built have the rank of new files.
            world.rank = if is_built { 32 } else { rank };
            world.change(&chunks).expect("a change");
        }
    }

    #[test]
    fn a_damaged_index_is_an_error_or_changes_but_never_a_panic(
        (kind, version) in any_kind(),
        damage in prop::collection::vec((0usize..6000, any::<u8>()), 1..8),
        is_summed: bool,
    ) {
        let grid = small(true, version, kind);
        let mut world = IndexWorld::new(kind, grid.clone());
        world.build(chunks(&grid, 0..100, 0)).expect("an index");
        for (at, byte) in damage {
            let len = world.bytes.len();
            world.bytes[96 + at % (len - 96)] = byte;
        }
        if is_summed {
            resum(&mut world.bytes);
        }
        if let Ok(updated) = world.plan(&chunks(&grid, 50..120, 300)) {
            prop_assert!(updated.change.fresh.len() < 1000);
        }
    }
}

/// Corrects the checksums of the headers that have one.
fn resum(bytes: &mut [u8]) {
    for (signature, len) in [(b"BTHD", 34), (b"FAHD", 24), (b"EAHD", 68)] {
        let at = bytes.windows(4).position(|four| four == signature).filter(|at| at + len + 4 <= bytes.len());
        if let Some(at) = at {
            let sum = crate::checksum::lookup3(&bytes[at..at + len]);
            bytes[at + len..at + len + 4].copy_from_slice(&sum.to_le_bytes());
        }
    }
}
