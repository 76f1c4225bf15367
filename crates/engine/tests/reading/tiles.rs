//! The memory for lists of tiles does not grow with the selection.

use crate::library::*;
use crate::support::select;
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

const ROWS: u64 = 400;
const COLUMNS: u64 = 500;
/// Maximum number of tiles that are alive at once.
const MAX_TILES: usize = 4096;

/// Tiles of two elements below each other, each of one value, which remember the longest list requested.
#[derive(Debug, Clone, Default)]
struct Cells(Arc<AtomicUsize>);

impl Cells {
    fn rows(region: &Region) -> (u64, u64) {
        (region.start[0] / 2, (region.start[0] + region.count[0]).div_ceil(2))
    }
}

impl TileIndex for Cells {
    fn tiles(&self, _: &dyn View, wanted: &Region) -> Step<Vec<Tile>> {
        let (first, end) = Self::rows(wanted);
        let columns = wanted.start[1]..wanted.start[1] + wanted.count[1];
        let cells = (first..end).flat_map(|row| columns.clone().map(move |column| (row, column)));
        let tile = |(row, column)| Tile {
            region: region(&[2 * row, column], &[2, 1]),
            source: TileSource::Constant(Values::Int(vec![value(row, column)])),
        };
        let tiles: Vec<Tile> = cells.map(tile).collect();
        self.0.fetch_max(tiles.len(), Ordering::Relaxed);
        Ok(tiles)
    }

    fn halves(&self, wanted: &Region, max: u64) -> Option<[Region; 2]> {
        let (first, end) = Self::rows(wanted);
        let (start, count) = (&wanted.start, &wanted.count);
        if (end - first) * count[1] <= max {
            return None;
        }
        if end - first > 1 {
            let before = (first + end) / 2 * 2 - start[0];
            let below = region(&[start[0] + before, start[1]], &[count[0] - before, count[1]]);
            return Some([region(start, &[before, count[1]]), below]);
        }
        let before = count[1] / 2;
        let right = region(&[start[0], start[1] + before], &[count[0], count[1] - before]);
        Some([region(start, &[count[0], before]), right])
    }
}

fn value(row: u64, column: u64) -> i32 {
    (row * COLUMNS + column) as i32
}

/// The dataset of 200,000 tiles, its variable, and the longest list so far.
fn opened(limits: Limits) -> (Session, Dataset, VarId, Arc<AtomicUsize>) {
    let (cells, shape) = (Cells::default(), [2 * ROWS, COLUMNS]);
    let longest = Arc::clone(&cells.0);
    let source = mosaic(&shape, Values::Int(vec![-1]), Vec::new());
    let source = Source { layout: Layout::Mosaic { tiles: Arc::new(cells) }, ..source };
    let mut makers = Makers::default();
    makers.add("whole", "v", Atomic::Int.into(), &shape, source);
    let (library, store) = makers.finish();
    let session = Session::builder().threads(2).limits(limits).build().unwrap();
    let dataset = open_in(&session, store.shared(), &library, "whole");
    let var = variable(&dataset, "/v");
    (session, dataset, var, longest)
}

#[test]
fn a_selection_of_very_many_tiles_is_read_some_at_a_time() {
    let columns = AxisSelection::Slice { start: 0, count: COLUMNS, stride: 1 };
    let every_third_row = AxisSelection::Slice { start: 1, count: 266, stride: 3 };
    let rows_far_apart = AxisSelection::Indices(vec![2 * ROWS - 1, 7, 0, 7]);
    let selections = [
        Selection::all(&[2 * ROWS, COLUMNS]),
        Selection::slab(&[1, 3], &[2 * ROWS - 2, COLUMNS - 3]),
        Selection::new(vec![every_third_row, columns.clone()]),
        Selection::new(vec![rows_far_apart, columns]),
    ];
    let limits = Limits { count: 10_000, ..Limits::default() };
    let (session, dataset, var, longest) = opened(limits);
    for selection in selections {
        let read = session.block_on(dataset.read(var, &selection)).unwrap();
        let due = select(&selection, |index| value(index[0] / 2, index[1]));
        assert_eq!(read, Values::Int(due));
        assert!(longest.load(Ordering::Relaxed) <= MAX_TILES, "{longest:?} tiles at once");
    }
}

#[test]
fn very_many_tiles_are_planned_and_listed_some_at_a_time() {
    let (session, dataset, var, longest) = opened(Limits::default());
    let all = Selection::all(&[2 * ROWS, COLUMNS]);
    assert_eq!(session.block_on(dataset.plan(var, &all)).unwrap().tiles, ROWS * COLUMNS);
    let fragments = session.block_on(dataset.fragments(var, &all)).unwrap();
    assert_eq!(fragments.len() as u64, ROWS * COLUMNS);
    assert_eq!(session.block_on(dataset.check_fragments(var, &all)).unwrap().len(), fragments.len());
    assert!(longest.load(Ordering::Relaxed) <= MAX_TILES, "{longest:?} tiles at once");
}
