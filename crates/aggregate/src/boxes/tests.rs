use super::PartitionBoxes;
use ncirrus_layout::{Limits, Tile, TileSource};
use ncirrus_model::{Region, Values};
use proptest::prelude::*;
use std::ops::Range;

fn region(axes: &[Range<u64>]) -> Region {
    let (start, count) = axes.iter().map(|axis| (axis.start, axis.end - axis.start)).unzip();
    Region { start, count }
}

fn found(boxes: &[[Range<u64>; 2]], wanted: &Region, lenient: bool) -> ncirrus_layout::Result<Vec<Tile>> {
    let numbers = (0..boxes.len() as u64).collect();
    let all = PartitionBoxes::new(2, numbers, boxes.iter().flatten().cloned().collect());
    let touched = all.touched(wanted);
    let number = |at: usize| Values::UInt64(vec![touched[at].0]);
    all.tiles(&touched, wanted, (&Limits::default(), lenient), |at, _| Ok(TileSource::Constant(number(at))))
}

#[test]
fn irregular_partitions_and_the_holes_between_them_make_up_a_region() {
    let boxes = [[0..2, 0..3], [0..1, 3..5], [1..4, 3..5]];
    let tiles = found(&boxes, &region(&[0..4, 0..5]), false).unwrap();
    let missing: Vec<&Region> =
        tiles.iter().filter(|tile| tile.source == TileSource::Missing).map(|tile| &tile.region).collect();
    assert_eq!(missing, [&region(&[2..4, 0..3])]);
    assert_eq!(tiles.len(), 4);
}

#[test]
fn partitions_that_overlap_are_refused() {
    let boxes = [[0..2, 0..5], [0..4, 3..5]];
    let error = found(&boxes, &region(&[0..4, 0..5]), false).unwrap_err();
    assert!(error.message().contains("0 and 1 overlap"), "{error}");
    assert!(found(&boxes, &region(&[0..4, 0..5]), true).is_ok());
    assert!(found(&boxes, &region(&[0..2, 0..3]), false).is_ok());
}

#[test]
fn neighbours_may_share_one_element() {
    assert!(found(&[[0..3, 0..5], [2..4, 0..5]], &region(&[0..4, 0..5]), false).is_ok());
}

#[test]
fn scalar_data_have_one_partition() {
    let all = PartitionBoxes::new(0, vec![7], Vec::new());
    assert_eq!(all.touched(&region(&[])), [(7, region(&[]))]);
}

proptest! {
    #[test]
    fn touched_partitions_are_those_of_a_list(
        boxes in prop::collection::vec((0..9u64, 0..4u64, 0..9u64, 0..4u64), 0..12),
        wanted in (0..9u64, 1..5u64, 0..9u64, 1..5u64),
    ) {
        let boxes: Vec<[Range<u64>; 2]> =
            boxes.into_iter().map(|(y, ny, x, nx)| [y..y + ny, x..x + nx]).collect();
        let (y, ny, x, nx) = wanted;
        let wanted = region(&[y..y + ny, x..x + nx]);
        let numbers = (0..boxes.len() as u64).collect();
        let all = PartitionBoxes::new(2, numbers, boxes.iter().flatten().cloned().collect());
        let naive: Vec<(u64, Region)> = boxes
            .iter()
            .zip(0..)
            .map(|(one, number)| (number, region(one)))
            .filter(|(_, one)| one.intersect(&wanted).is_some())
            .collect();
        prop_assert_eq!(all.touched(&wanted), naive);
    }
}

#[test]
fn very_many_partitions_are_cut_where_that_leaves_fewer() {
    let row = |at: u64| [2 * at..2 * at + 2, 0..5];
    let all = |spans: Vec<[Range<u64>; 2]>| {
        let numbers = (0..spans.len() as u64).collect();
        PartitionBoxes::new(2, numbers, spans.into_iter().flatten().collect())
    };
    let rows = all((0..10).map(row).collect());
    let whole = region(&[0..20, 0..5]);
    assert_eq!(rows.halves(&whole, 10), None);
    assert_eq!(rows.halves(&whole, 9), Some([region(&[0..10, 0..5]), region(&[10..20, 0..5])]));
    assert_eq!(rows.halves(&region(&[4..6, 0..5]), 0), None);
    let long = all((0..10).map(|at| [at..at + 11, 0..5]).collect());
    assert_eq!(long.halves(&whole, 4), None, "nearly all would be in both");
}

#[test]
fn partitions_that_overlap_out_of_sight_or_at_seams_alone_are_let_pass() {
    let boxes = [[0..4, 0..9], [3..8, 0..9], [6..9, 0..9], [20..30, 0..9], [21..30, 0..9]];
    assert!(found(&boxes, &region(&[0..6, 0..9]), false).is_ok());
    assert!(found(&boxes, &region(&[3..20, 0..9]), false).is_err(), "two elements are no seam");
    assert!(found(&boxes, &region(&[10..21, 0..9]), false).is_ok(), "they overlap farther on");
    let error = found(&boxes, &region(&[10..22, 0..9]), false).unwrap_err();
    assert!(error.message().contains("3 and 4 overlap"), "{error}");
}
