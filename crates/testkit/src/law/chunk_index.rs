//! The law of chunk indexes.
use super::{RandomSource, settle_complete};
use crate::{MemoryView, ObjectView, StallingView, drive};
use ncirrus_layout::{
    CellList, ChunkGrid, ChunkIndex, ChunkRef, Driver, Layout, Limits, Location, OpenOptions,
};
use std::collections::BTreeMap;

/// Locations of chunks, or the error.
type LocatedChunks = Result<Vec<ChunkRef>, String>;

/// Maximum number of chunks of one array that are looked up.
const MAX_CHUNKS: u64 = 300;

/// Checks the chunk indexes of all variables of a dataset with [`chunk_index`]; returns their number.
///
/// # Panics
/// If one breaks the law, or the dataset cannot be opened.
#[expect(clippy::panic, reason = "a test cannot go on")]
pub fn chunk_indexes(driver: &dyn Driver, objects: &ObjectView, root: &str) -> usize {
    let view = MemoryView::new(objects.clone());
    let root = ObjectView::id(root);
    let catalog = settle_complete(driver.open(&view, &root, &OpenOptions::default()));
    let catalog = catalog.unwrap_or_else(|error| panic!("cannot be opened: {error}"));
    let model = settle_complete(catalog.tree(&view)).unwrap_or_else(|error| panic!("has no tree: {error}"));
    let mut count = 0;
    for var in model.variables() {
        let Ok(source) = settle_complete(catalog.source(&view, var)) else { continue };
        if let Layout::Grid { grid, index, .. } = &source.layout {
            chunk_index(index.as_ref(), objects, grid, &source.extent);
            count += 1;
        }
    }
    count
}

/// The law of an index over whole objects: each chunk has one location, in the order of the request; it does not matter
/// whether they are looked up together, in another order, again, or while bytes are still arriving; chunks do not
/// overlap and are inside their objects; tight limits and chunks beyond the array cause at most an error.
///
/// # Panics
/// If the index breaks the law.
pub fn chunk_index(index: &dyn ChunkIndex, objects: &ObjectView, grid: &ChunkGrid, shape: &[u64]) {
    let view = MemoryView::new(objects.clone());
    let locate = |cells: &[Vec<u64>]| -> LocatedChunks {
        settle_complete(index.locate(&view, &list(grid.rank(), cells))).map_err(|error| error.to_string())
    };
    assert_eq!(locate(&[]), Ok(Vec::new()), "no chunks, no answers");
    let cells = sample(grid, shape);
    let all = locate(&cells);
    assert_eq!(locate(&cells), all, "the same question has the same answer");
    assert_eq!(arriving_late(index, objects, &list(grid.rank(), &cells)), all, "whatever bytes are at hand");
    under_limits(index, objects, &list(grid.rank(), &cells), &all);
    let Ok(found) = all else { return };
    assert_eq!(found.len(), cells.len(), "an answer for each chunk");
    let reversed: Vec<_> = cells.iter().rev().cloned().collect();
    let backwards: Vec<_> = found.iter().rev().cloned().collect();
    assert_eq!(locate(&reversed), Ok(backwards), "answers are in the order of the questions");
    for (cell, found) in cells.iter().zip(&found) {
        assert_eq!(locate(std::slice::from_ref(cell)), Ok(vec![found.clone()]), "chunk {cell:?} by itself");
    }
    are_apart(objects, cells.iter().zip(&found));
    for beyond in [u64::MAX, u64::MAX / 2, 1 << 32] {
        let answers = locate(&[vec![beyond; grid.rank()]]);
        assert!(answers.is_err() || answers.is_ok_and(|answers| answers.len() == 1), "beyond the array");
    }
}

fn list(rank: usize, cells: &[Vec<u64>]) -> CellList {
    let mut list = CellList::new(rank);
    cells.iter().for_each(|cell| list.push(cell));
    list
}

/// All chunks of the array, or a limited number of them spread over it.
fn sample(grid: &ChunkGrid, shape: &[u64]) -> Vec<Vec<u64>> {
    let along: Vec<u64> =
        (0..grid.rank()).map(|axis| grid.cells_along(axis, shape.get(axis).copied().unwrap_or(0))).collect();
    let count = along.iter().copied().fold(1, u64::saturating_mul);
    let mut random = RandomSource(count);
    let numbers =
        (0..count.min(MAX_CHUNKS)).map(|at| if count <= MAX_CHUNKS { at } else { random.below(count) });
    let cell = |number: u64| {
        let mut rest = number;
        let mut cell = vec![0; along.len()];
        for (at, along) in cell.iter_mut().zip(&along).rev() {
            *at = rest % (*along).max(1);
            rest /= (*along).max(1);
        }
        cell
    };
    let mut cells: Vec<_> = numbers.map(cell).collect();
    // A chunk that is requested twice has two results.
    cells.extend(cells.first().cloned());
    cells
}

/// The results if each round of requests fetches only what was requested, and some of it is lost again.
fn arriving_late(index: &dyn ChunkIndex, objects: &ObjectView, cells: &CellList) -> LocatedChunks {
    let late = StallingView::new(objects.clone());
    let mut random = RandomSource(cells.len() as u64);
    let found = drive(&late, |view| {
        let found = index.locate(view, cells);
        if random.below(4) == 0 {
            late.evict();
        }
        found
    });
    found.map_err(|error| error.to_string())
}

/// Limits turn results into errors, never into other results.
fn under_limits(index: &dyn ChunkIndex, objects: &ObjectView, cells: &CellList, all: &LocatedChunks) {
    let tight = Limits { metadata_bytes: 16, chunk_bytes: 16, depth: 1, group_depth: 1, count: 1, rank: 1 };
    let view = MemoryView::new(objects.clone()).with_limits(tight);
    let found = settle_complete(index.locate(&view, cells)).map_err(|error| error.to_string());
    assert!(found.is_err() || &found == all, "tight limits make {found:?} of {all:?}");
}

/// Chunks are inside their objects and do not overlap.
fn are_apart<'a>(objects: &ObjectView, found: impl Iterator<Item = (&'a Vec<u64>, &'a ChunkRef)>) {
    let mut taken: BTreeMap<(String, u64), (u64, &Vec<u64>)> = BTreeMap::new();
    for (cell, found) in found {
        let (object, range) = match &found.location {
            Location::Bytes(object, range) => (object, range.clone()),
            Location::Object(object) => (object, 0..u64::MAX),
            Location::Inline(_) | Location::Absent => continue,
        };
        assert!(range.start <= range.end, "chunk {cell:?} lies at {range:?}");
        if let (Location::Bytes(..), Some(body)) = (&found.location, objects.find(object.key())) {
            assert!(range.end <= body.len() as u64, "chunk {cell:?} lies behind the end: {range:?}");
        }
        let key = object.key().to_owned();
        if let Some((_, other)) = taken.insert((key, range.start), (range.end, cell)) {
            assert_eq!(other, cell, "two chunks at byte {} of {}", range.start, object.key());
        }
    }
    let pairs = taken.iter().zip(taken.iter().skip(1));
    for (((key, _), (end, cell)), ((next_key, start), (_, next))) in pairs {
        assert!(key != next_key || end <= start, "chunks {cell:?} and {next:?} overlap in {key}");
    }
}
