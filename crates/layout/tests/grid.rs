//! Cutting arrays into cells.
use ncirrus_layout::{CellList, ChunkGrid};
use proptest::prelude::*;

#[test]
fn impossible_grids_are_refused() {
    assert!(ChunkGrid::regular(vec![1, 0]).is_err());
    assert!(ChunkGrid::rectilinear(&[vec![]]).is_err());
    assert!(ChunkGrid::rectilinear(&[vec![3, 0]]).is_err());
    assert!(ChunkGrid::rectilinear(&[vec![u64::MAX, 1]]).is_err());
}

#[test]
fn chunks_are_added_where_an_array_grows() {
    let lengths = |grid: &ChunkGrid, axis: usize| -> Vec<u64> {
        (0..).map_while(|cell| grid.span(axis, cell)).map(|span| span.end - span.start).collect()
    };
    let grid = ChunkGrid::rectilinear(&[vec![31, 28], vec![4, 4], vec![9]]).unwrap();
    assert_eq!(grid.reaching(&[59, 7, 9]).unwrap(), None, "it reaches there");
    let grown = grid.reaching(&[90, 13, 12]).unwrap().unwrap();
    assert_eq!(lengths(&grown, 0), [31, 28, 31], "one chunk with all that is missing");
    assert_eq!(lengths(&grown, 1), [4, 4, 4, 4], "equal chunks are repeated");
    assert_eq!(lengths(&grown, 2), [9, 3], "a single chunk is not a rule");
    let given = grid.with_chunks(0, &[10, 20]).unwrap();
    assert_eq!((lengths(&given, 0), given.reaching(&[89, 8, 9]).unwrap()), (vec![31, 28, 10, 20], None));
    assert!(grid.with_chunks(0, &[0]).is_err() && grid.with_chunks(3, &[1]).is_err());
    assert!(grid.with_chunks(0, &[u64::MAX]).is_err());
    let far = ChunkGrid::rectilinear(&[vec![1, 1]]).unwrap().reaching(&[u64::MAX]).unwrap().unwrap();
    assert_eq!(lengths(&far, 0), [1, 1, u64::MAX - 2], "instead of too many chunks");
    let regular = ChunkGrid::regular(vec![4]).unwrap();
    assert_eq!(regular.reaching(&[100]).unwrap(), None);
    assert!(regular.with_chunks(0, &[1]).is_err());
}

#[test]
fn a_scalar_has_one_cell() {
    let grid = ChunkGrid::regular(Vec::new()).unwrap();
    assert_eq!(grid.region(&[]).unwrap().element_count(), Some(1));
    assert!(grid.clipped_region(&[], &[]).is_some());
    let mut cells = CellList::new(0);
    cells.push(&[]);
    assert_eq!((cells.len(), cells.get(0).len()), (1, 0));
}

#[test]
fn huge_coordinates_are_no_cells_rather_than_overflows() {
    let grid = ChunkGrid::regular(vec![1 << 40]).unwrap();
    assert_eq!(grid.span(0, u64::MAX), None);
    assert_eq!(grid.cells_along(0, u64::MAX), 1 << 24);
}

fn covers_each_element_once(grid: &ChunkGrid, len: u64) -> Result<(), TestCaseError> {
    let mut next = 0;
    for cell in 0..grid.cells_along(0, len) {
        let region =
            grid.clipped_region(&[cell], &[len]).ok_or_else(|| TestCaseError::fail("no such cell"))?;
        prop_assert_eq!(region.start[0], next);
        for element in region.start[0]..region.start[0] + region.count[0] {
            prop_assert_eq!(grid.cell_at(0, element), Some(cell));
        }
        next += region.count[0];
    }
    prop_assert_eq!(next, len);
    Ok(())
}

proptest! {
    #[test]
    fn cells_of_a_regular_grid_cover_each_element_once(len in 0u64..200, chunk in 1u64..50) {
        covers_each_element_once(&ChunkGrid::regular(vec![chunk]).unwrap(), len)?;
    }

    #[test]
    fn cells_of_a_rectilinear_grid_cover_each_element_once(lengths in prop::collection::vec(1u64..9, 1..12)) {
        let len = lengths.iter().sum();
        covers_each_element_once(&ChunkGrid::rectilinear(&[lengths]).unwrap(), len)?;
    }
}
