//! Extensible arrays of chunks (docs/spec/hdf5-netcdf4.md E.6, I.4, J.3).
mod array;

use super::array::{Block, CHECKSUM_LEN};
use super::{Chunks, Grid, Updated};
use crate::file::{Addr, File, Sizes};
use crate::place::{ArrayHome as Home, ArrayShape as Shape, IndexKind};
use crate::write::{Patch, Stored};
use array::{Array, Loaded};
use ncirrus_layout::{Error, Result, Step, View};
use std::collections::BTreeMap;

/// The parameters of new arrays: those of HDF5.
pub(super) const KIND: IndexKind = IndexKind::ExtensibleArray {
    max_bits: 32,
    in_index: 4,
    min_pointers: 4,
    min_elements: 16,
    page_bits: 10,
};

/// Chunks by the run of elements that they are in, and their places there.
type Runs<'a> = BTreeMap<Home, Vec<(usize, &'a Stored)>>;

/// Bytes of all structures for the first so many chunks.
pub(super) fn byte_len(kind: IndexKind, grid: &Grid, chunks: u64, sizes: Sizes) -> u64 {
    let array = Shape::of(kind).and_then(|shape| Array::new(Addr(0), shape, grid, sizes));
    array.map_or(0, |array| array.byte_len(chunks))
}

/// Builds the array; gives the address of its header.
pub(super) fn build(
    kind: IndexKind,
    grid: &Grid,
    chunks: &Chunks,
    sizes: Sizes,
    place: &mut dyn FnMut(u64) -> Addr,
) -> Result<(Vec<Patch>, Addr)> {
    let shape = Shape::of(kind)?;
    let array = Array::new(Addr(0), shape, grid, sizes)?;
    let header = place(array.header_len());
    let array = array.at(header);
    let (runs, end) = runs(&array, grid, chunks)?;
    let loaded = Loaded::default();
    let change = array.change(grid, loaded, &runs, end, place)?;
    Ok((change.fresh.into_iter().chain(change.then).collect(), header))
}

/// Changes blocks in place, each whole: data blocks, then those that point to them, and the header last.
pub(super) fn update(
    view: &dyn View,
    file: &File,
    addr: Addr,
    grid: &Grid,
    chunks: &Chunks,
    place: &mut dyn FnMut(u64) -> Addr,
) -> Step<Updated> {
    let (array, statistics, index) = Array::read(view, file, addr, grid)?;
    let (runs, end) = runs(&array, grid, chunks)?;
    let loaded = array.load(view, file, (statistics, index), &runs)?;
    Ok(Updated { change: array.change(grid, loaded, &runs, end, place)?, layout: None })
}

/// Where chunks go, and one more than the number of the last.
fn runs<'a>(array: &Array, grid: &Grid, chunks: &'a Chunks) -> Result<(Runs<'a>, u64)> {
    let first = grid.unlimited()?;
    let (mut runs, mut end) = (Runs::new(), 0);
    for (cell, stored) in chunks {
        let number = grid.number(cell, Some(first))?;
        let home = array.shape.home(number);
        let (home, at) =
            home.ok_or_else(|| Error::limit("more chunks than the index has room for").at_chunk(cell))?;
        runs.entry(home).or_default().push((at, stored));
        end = end.max(number.saturating_add(1));
    }
    Ok((runs, end))
}
