use super::*;
use proptest::prelude::*;

const MIB: u64 = 1 << 20;

fn task(shape: &[u64], source: &[u64], target: &[u64], memory: u64) -> CopyTask {
    CopyTask {
        shape: shape.to_vec(),
        offset: vec![0; shape.len()],
        source: source.to_vec(),
        target: target.to_vec(),
        element: 4,
        memory,
        comfort: 64 * MIB,
    }
}

#[test]
fn where_memory_allows_every_chunk_is_decoded_once() {
    // Blocks of 12 elements end with source chunks of 4 and with target chunks of 6.
    let cut = task(&[120], &[4], &[6], 96).cut();
    assert_eq!((cut.block.as_slice(), cut.chunks, cut.touched, cut.max), (&[12][..], 30, 30, 1));
    assert_eq!((cut.in_flight, cut.blocks), (2, 10));
    let whole = task(&[512, 1024, 1024], &[1, 1024, 1024], &[512, 16, 16], 8192 * MIB).cut();
    assert_eq!((whole.blocks, whole.in_flight, whole.touched), (1, 1, 512));
}

#[test]
fn maps_become_series_in_as_few_passes_as_fit_the_memory() {
    let cut = task(&[512, 1024, 1024], &[1, 1024, 1024], &[512, 16, 16], 448 * MIB).cut();
    assert_eq!((cut.blocks, cut.in_flight), (5, 1), "{cut:?}");
    assert_eq!((cut.chunks, cut.touched, cut.max), (512, 5 * 512, 5));
    assert!(cut.block_bytes <= 448 * MIB);
    let back = task(&[512, 1024, 1024], &[512, 16, 16], &[1, 1024, 1024], 448 * MIB).cut();
    assert_eq!((back.block.as_slice(), back.max), (&[103, 1024, 1024][..], 5));
}

#[test]
fn blocks_are_small_where_that_costs_nothing() {
    let cut = task(&[100, 1024, 1024], &[1, 1024, 1024], &[1, 256, 256], 448 * MIB).cut();
    assert_eq!((cut.block.as_slice(), cut.in_flight, cut.max), (&[16, 1024, 1024][..], 2, 1));
}

#[test]
fn a_cell_larger_than_the_memory_is_a_block() {
    let cut = task(&[100, 100], &[10, 10], &[100, 50], 1).cut();
    assert_eq!((cut.block.as_slice(), cut.in_flight, cut.touched), (&[100, 50][..], 1, 100));
}

#[test]
fn a_scalar_is_one_block() {
    let cut = task(&[], &[], &[], 1).cut();
    assert_eq!((cut.blocks, cut.touched, cut.max, cut.block_bytes), (1, 1, 1, 4));
}

/// Counts by looking at every block and chunk along one axis.
fn counted(axis: TaskAxis, block: u64) -> (u64, u64) {
    let mut touched = std::collections::BTreeMap::new();
    for first in (0..axis.len).step_by(usize::try_from(block).unwrap()) {
        let last = (first + block).min(axis.len) - 1;
        for chunk in axis.chunk_at(first)..=axis.chunk_at(last) {
            *touched.entry(chunk).or_insert(0u64) += 1;
        }
    }
    (touched.values().sum(), touched.values().copied().max().unwrap())
}

proptest! {
    #[test]
    fn figures_are_what_looking_at_every_chunk_gives(
        len in 1u64..80, offset in 0u64..20, chunk in 1u64..20, block in 1u64..90,
    ) {
        let axis = TaskAxis { len, offset, chunk, cell: 1 };
        prop_assert_eq!((axis.touched(block), axis.max(block)), counted(axis, block));
    }

    #[test]
    fn blocks_are_whole_cells_that_fit_the_memory(
        axes in prop::collection::vec((1u64..60, 0u64..9, 1u64..20, 1u64..20), 0..4),
        memory in 1u64..20_000,
    ) {
        let list = |pick: fn(&(u64, u64, u64, u64)) -> u64| axes.iter().map(pick).collect::<Vec<_>>();
        let target = list(|axis| axis.3);
        let task = CopyTask {
            offset: list(|axis| axis.1),
            comfort: memory / 4,
            ..task(&list(|axis| axis.0), &list(|axis| axis.2), &target, memory)
        };
        let cut = task.cut();
        prop_assert!(cut.block.iter().zip(&target).all(|(len, cell)| len % cell == 0));
        let one = task.describe(target.clone(), 1);
        prop_assert!(cut.block_bytes * cut.in_flight <= memory || cut.block_bytes == one.block_bytes, "{:?}", cut);
        prop_assert!(cut.chunks <= cut.touched && cut.touched <= one.touched, "{:?}", cut);
        // If everything fits, nothing is decoded twice.
        let all = task.describe(task.shape.clone(), 1);
        prop_assert!(all.block_bytes > memory || cut.touched == cut.chunks, "{:?}", cut);
    }

    #[test]
    fn no_length_overflows(
        len in any::<u64>(), offset in any::<u64>(), chunk in any::<u64>(), cell in any::<u64>(), memory in any::<u64>(),
    ) {
        let cut = CopyTask {
            offset: vec![offset; 2],
            ..task(&[len, len], &[chunk, chunk], &[cell, cell], memory)
        }.cut();
        prop_assert!(cut.blocks >= 1);
    }
}
