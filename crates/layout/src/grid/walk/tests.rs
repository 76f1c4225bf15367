use super::super::{ChunkGrid, ChunkIntersections};
use super::*;
use ncirrus_model::{AxisSelection, Selection};
use proptest::prelude::*;

/// One axis: its length, its selection, the lengths of its chunks.
fn any_axis() -> impl Strategy<Value = (u64, AxisSelection, Vec<u64>)> {
    (1u64..12).prop_flat_map(|len| {
        let slice = (0..len, 1u64..5).prop_flat_map(move |(start, stride)| {
            (0..=(len - start).div_ceil(stride)).prop_map(move |count| AxisSelection::Slice {
                start,
                count,
                stride,
            })
        });
        let list = prop::collection::vec(0..len, 0..6).prop_map(AxisSelection::Indices);
        (Just(len), prop_oneof![slice, list], prop::collection::vec(1u64..6, 12))
    })
}

/// Numbers of the elements of an array at the indices of a selection, in order.
fn numbers(shape: &[u64], selection: &Selection) -> Vec<u64> {
    let mut numbers = vec![0];
    for (len, axis) in shape.iter().zip(selection.axes()) {
        let along = |number: u64| (0..axis.count()).map(move |at| number * len + axis.index(at).unwrap());
        numbers = numbers.into_iter().flat_map(along).collect();
    }
    numbers
}

fn run_pairs(walk: &ElementWalk) -> Vec<(usize, usize)> {
    let mut pairs = Vec::new();
    walk.for_each_run(|run| pairs.extend(pairs_of(run)));
    pairs
}

fn pairs_of(run: ElementRun) -> impl Iterator<Item = (usize, usize)> + Clone {
    (0..run.count).map(move |at| (run.source + at * run.source_step, run.target + at * run.target_step))
}

#[test]
fn a_window_of_consecutive_elements_is_one_run_of_each_row() {
    let shape = [3, 1000];
    let slabs: Vec<AxisSlab> = shape.iter().map(|len| AxisSlab::first(0, *len)).collect();
    for (target, expected) in [([1000, 1], 1), ([2000, 1], 3)] {
        let sizes = ElementSizes { stored: 1, native: 1 };
        let walk = ElementWalk::new(&slabs, &[1000, 1], &target, sizes).unwrap();
        let mut runs = 0;
        walk.for_each_run_within(501..2777, &mut |_| runs += 1);
        assert_eq!(runs, expected, "{target:?}");
    }
}

proptest! {
    /// Every element of a selection comes from the chunk that holds it, on regular and irregular grids alike.
    #[test]
    fn chunks_hold_what_an_array_holds(
        axes in prop::collection::vec(any_axis(), 0..4),
        is_regular in any::<bool>(),
    ) {
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let selection = Selection::new(axes.iter().map(|axis| axis.1.clone()).collect());
        let lengths: Vec<Vec<u64>> = axes.iter().map(|axis| axis.2.clone()).collect();
        let grid = if is_regular { ChunkGrid::Regular(lengths.iter().map(|lengths| lengths[0]).collect()) } else { ChunkGrid::rectilinear(&lengths).unwrap() };
        let expected = numbers(&shape, &selection);
        let mut found = vec![None; expected.len()];
        let target = row_major(&selection.shape(), 1).unwrap();
        let mut cuts = ChunkIntersections::new(&selection, &grid, &shape);
        let (count, mut cells) = (cuts.cell_count().unwrap(), Vec::new());
        while let Some(piece) = cuts.next_piece() {
            let cell: Vec<u64> = piece.iter().map(|slab| slab.cell.unwrap()).collect();
            let region = grid.region(&cell).unwrap();
            let source = row_major(&region.count, 1).unwrap();
            let walk = ElementWalk::new(&piece, &source, &target, ElementSizes { stored: 1, native: 1 }).unwrap();
            for (inside, position) in run_pairs(&walk) {
                let (mut rest, mut number) = (inside as u64, 0);
                for ((step, start), len) in source.iter().zip(&region.start).zip(&shape) {
                    number = number * len + start + rest / step;
                    rest %= step;
                }
                prop_assert_eq!(found[position].replace(number), None, "position {} comes twice", position);
            }
            cells.push(cell);
        }
        prop_assert_eq!(found, expected.into_iter().map(Some).collect::<Vec<_>>());
        prop_assert!(cells.is_sorted(), "{:?}", cells);
        prop_assert_eq!(cells.len() as u64, count);
    }

    #[test]
    fn a_box_is_walked_in_order(axes in prop::collection::vec((1u64..9, 0u64..9, 1u64..9), 0..5)) {
        let axes: Vec<(u64, u64, u64)> =
            axes.iter().map(|(len, start, count)| (*len, start % len, 1 + count % (len - start % len))).collect();
        let list = |pick: fn(&(u64, u64, u64)) -> u64| axes.iter().map(pick).collect::<Vec<_>>();
        let (shape, start, count) = (list(|axis| axis.0), list(|axis| axis.1), list(|axis| axis.2));
        let walk = ElementWalk::of_box(&shape, &start, &count).unwrap();
        let expected = numbers(&shape, &Selection::slab(&start, &count));
        let pairs: Vec<(u64, usize)> = run_pairs(&walk).iter().map(|(from, to)| (*from as u64, *to)).collect();
        prop_assert_eq!(pairs, expected.into_iter().zip(0usize..).collect::<Vec<_>>());
    }

    /// The windows of a source together are the whole walk, wherever it is cut.
    #[test]
    fn windows_are_the_walk_in_parts(
        axes in prop::collection::vec(any_axis(), 0..4),
        gap in 0u64..3,
        window in 1usize..40,
    ) {
        let selection = Selection::new(axes.iter().map(|axis| axis.1.clone()).collect());
        let shape: Vec<u64> = axes.iter().map(|axis| axis.0).collect();
        let grid = ChunkGrid::Regular(shape.clone());
        let mut cuts = ChunkIntersections::new(&selection, &grid, &shape);
        let padded: Vec<u64> = shape.iter().map(|len| len + gap).collect();
        let (source, target) = (row_major(&padded, 2).unwrap(), row_major(&selection.shape(), 1).unwrap());
        while let Some(piece) = cuts.next_piece() {
            let walk = ElementWalk::new(&piece, &source, &target, ElementSizes { stored: 2, native: 1 }).unwrap();
            let mut expected = run_pairs(&walk);
            let end = walk.source_span().end;
            let mut found = Vec::new();
            for start in (0..end).step_by(2 * window) {
                let range = start..start + 2 * window;
                let mut outside = 0;
                walk.for_each_run_within(range.clone(), &mut |run| {
                    let pairs = pairs_of(run).map(|(from, to)| (from + start, to));
                    outside += pairs.clone().filter(|(from, _)| !range.contains(from)).count();
                    found.extend(pairs);
                });
                prop_assert_eq!(outside, 0, "{:?}", range);
            }
            expected.sort_unstable();
            found.sort_unstable();
            prop_assert_eq!(found, expected);
        }
    }
}
