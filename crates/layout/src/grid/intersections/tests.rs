use super::*;
use proptest::prelude::*;

fn axis() -> impl Strategy<Value = (u64, AxisSelection)> {
    (1u64..40).prop_flat_map(|len| {
        let slice = (0..len, 1u64..9).prop_flat_map(move |(start, stride)| {
            (0..=(len - start).div_ceil(stride)).prop_map(move |count| AxisSelection::Slice {
                start,
                count,
                stride,
            })
        });
        let list = prop::collection::vec(0..len, 0..12).prop_map(AxisSelection::Indices);
        (Just(len), prop_oneof![slice, list])
    })
}

fn grid_of(lengths: &[u64], chunk: u64, rectilinear: bool) -> ChunkGrid {
    if rectilinear {
        ChunkGrid::rectilinear(&[lengths.to_vec()]).unwrap()
    } else {
        ChunkGrid::Regular(vec![chunk])
    }
}

proptest! {
    #[test]
    fn every_position_lies_in_exactly_one_segment(
        (_, selection) in axis(),
        chunk in 1u64..10,
        extent in 0u64..50,
        lengths in prop::collection::vec(1u64..10, 1..8),
        rectilinear in any::<bool>(),
    ) {
        let grid = grid_of(&lengths, chunk, rectilinear);
        let whole = Selection::new(vec![selection.clone()]);
        let mut cuts = ChunkIntersections::new(&whole, &grid, &[extent]);
        let cells = cuts.cell_count().unwrap();
        let mut seen = vec![0; usize::try_from(selection.count()).unwrap()];
        let mut met = std::collections::BTreeSet::new();
        while let Some(piece) = cuts.next_piece() {
            let segment = &piece[0];
            let start = segment.cell.map_or(0, |cell| grid.span(0, cell).unwrap().start);
            let picks: Vec<IndexPair> = match &segment.picks {
                Some(picks) => picks.to_vec(),
                None => (0..segment.count)
                    .map(|at| IndexPair { position: segment.position + at, offset: segment.offset + at * segment.stride })
                    .collect(),
            };
            prop_assert_eq!(picks.len() as u64, segment.count);
            for pick in picks {
                seen[usize::try_from(pick.position).unwrap()] += 1;
                let index = selection.index(pick.position).unwrap();
                match segment.cell {
                    Some(cell) => {
                        prop_assert!(index < extent && grid.span(0, cell).unwrap().contains(&index));
                        prop_assert_eq!(start + pick.offset, index);
                    }
                    None => prop_assert!(index >= extent || grid.cell_at(0, index).is_none()),
                }
            }
            if let Some(cell) = segment.cell {
                prop_assert!(met.insert(cell), "cell {} comes up twice", cell);
            }
        }
        prop_assert!(seen.iter().all(|times| *times == 1), "{:?}", seen);
        prop_assert_eq!(met.len() as u64, cells);
    }
}

#[test]
fn a_scalar_is_one_piece_without_axes() {
    let mut cuts = ChunkIntersections::new(&Selection::new(Vec::new()), &ChunkGrid::Regular(Vec::new()), &[]);
    assert_eq!(cuts.cell_count(), Some(1));
    assert_eq!(cuts.next_piece(), Some(Vec::new()));
    assert_eq!(cuts.next_piece(), None);
}

#[test]
fn nothing_selected_is_no_piece() {
    let selection = Selection::slab(&[0, 3], &[4, 0]);
    let mut cuts = ChunkIntersections::new(&selection, &ChunkGrid::Regular(vec![2, 2]), &[4, 4]);
    assert_eq!(cuts.cell_count(), Some(0));
    assert_eq!(cuts.next_piece(), None);
}

#[test]
fn a_selection_of_10_to_the_18_elements_costs_nothing_to_cut() {
    let selection = Selection::all(&[1 << 40, 1 << 20]);
    let mut cuts = ChunkIntersections::new(&selection, &ChunkGrid::Regular(vec![1, 1]), &[1 << 40, 1 << 20]);
    assert_eq!(cuts.cell_count(), Some(1 << 60));
    assert_eq!(cuts.next_piece().map(|piece| piece.len()), Some(2));
}

#[test]
fn sorted_index_lists_are_recognised_as_strides() {
    let selection = Selection::new(vec![AxisSelection::Indices(vec![0, 2, 4, 5, 7])]);
    let mut cuts = ChunkIntersections::new(&selection, &ChunkGrid::Regular(vec![5]), &[10]);
    let first = cuts.next_piece().unwrap().remove(0);
    assert_eq!((first.count, first.stride, first.picks), (3, 2, None));
    let second = cuts.next_piece().unwrap().remove(0);
    assert_eq!((second.position, second.offset, second.stride), (3, 0, 2));
}

proptest! {
    #[test]
    fn groups_come_one_after_the_other_with_the_same_pieces(
        axes in prop::collection::vec((axis(), 1u64..5, prop::collection::vec(1u64..4, 1..40)), 1..4), even: bool,
    ) {
        let selection = Selection::new(axes.iter().map(|((_, axis), ..)| axis.clone()).collect());
        let extent: Vec<u64> = axes.iter().map(|((len, _), ..)| *len).collect();
        let grid = ChunkGrid::Regular(axes.iter().map(|(_, chunk, _)| *chunk).collect());
        let groups: Vec<Vec<u64>> = axes.iter().map(|(.., groups)| groups.clone()).collect();
        let groups = match even {
            true => ChunkGrid::Regular(groups.iter().map(|groups| groups[0]).collect()),
            false => ChunkGrid::rectilinear(&groups).unwrap(),
        };
        let pieces = |mut cuts: ChunkIntersections| std::iter::from_fn(move || cuts.next_piece()).collect::<Vec<_>>();
        let cell = |piece: &Vec<AxisSlab>| piece.iter().map(|slab| slab.cell.unwrap()).collect::<Vec<_>>();
        let group = |piece: &Vec<AxisSlab>| {
            let number = |(axis, cell): (usize, &u64)| groups.cell_at(axis, *cell).unwrap_or(u64::MAX);
            cell(piece).iter().enumerate().map(number).collect::<Vec<_>>()
        };
        let cuts = ChunkIntersections::new(&selection, &grid, &extent);
        let mut plain = pieces(cuts.clone());
        let grouped = pieces(cuts.by_groups(&groups));
        plain.sort_by_key(|piece| (group(piece), cell(piece)));
        prop_assert_eq!(grouped, plain);
    }
}
