use super::{TouchedCells, halves};
use crate::cuts::AxisCells;
use ncirrus_layout::{Limits, TileSource};
use ncirrus_model::Region;
use proptest::prelude::*;

/// The parts of a region that are not cut further.
fn cut(cuts: &[AxisCells], region: &Region, max: u64) -> Vec<Region> {
    match halves(cuts, region, max) {
        Some(halves) => halves.iter().flat_map(|half| cut(cuts, half, max)).collect(),
        None => vec![region.clone()],
    }
}

fn tiles(cuts: &[AxisCells], region: &Region) -> Vec<Region> {
    let touched = TouchedCells::new(cuts, region, &Limits::default()).unwrap();
    let tiles = touched.tiles(|_, _, _| Ok(TileSource::Missing)).unwrap();
    tiles.into_iter().map(|tile| tile.region).collect()
}

/// Blocks of some sizes, after gaps.
fn axis() -> impl Strategy<Value = AxisCells> {
    prop::collection::vec((0..2u64, 1..4u64), 1..16).prop_map(|steps| {
        let mut at = 0;
        let spans = steps.iter().map(|(gap, size)| {
            let start = at + gap;
            at = start + size;
            start..at
        });
        AxisCells::from_spans(spans.collect()).unwrap()
    })
}

proptest! {
    #[test]
    fn a_region_cut_in_halves_has_the_same_tiles_few_at_a_time(
        cuts in prop::collection::vec(axis(), 2),
        start in prop::collection::vec(0..12u64, 2),
        count in prop::collection::vec(1..40u64, 2),
        max in 1..20u64,
    ) {
        let region = Region { start, count };
        let mut found = Vec::new();
        for part in cut(&cuts, &region, max) {
            let tiles = tiles(&cuts, &part);
            // One block with a gap before and after it, along both axes, cannot be cut everywhere.
            prop_assert!(tiles.len() as u64 <= max.max(4), "{} tiles in {part:?}", tiles.len());
            found.extend(tiles.into_iter().map(|tile| (tile.start, tile.count)));
        }
        let mut due: Vec<_> =
            tiles(&cuts, &region).into_iter().map(|tile| (tile.start, tile.count)).collect();
        found.sort_unstable();
        due.sort_unstable();
        prop_assert_eq!(found, due);
    }
}

#[test]
fn a_billion_cells_are_cut_where_one_begins() {
    let cuts = [AxisCells::Even { size: 3, count: 1_000_000_000, end: 3_000_000_000 }];
    let region = Region { start: vec![1], count: vec![2_999_999_999] };
    let [first, second] = halves(&cuts, &region, 4096).unwrap();
    assert_eq!((first.start[0], first.count[0]), (1, 1_499_999_999));
    assert_eq!((second.start[0], second.count[0]), (1_500_000_000, 1_500_000_000));
    let few = Region { start: vec![5], count: vec![12_000] };
    assert_eq!(halves(&cuts, &few, 4096), None);
}
