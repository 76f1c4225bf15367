//! Chunk indexes, built anew and changed (hdf5-netcdf4.md E.3 to E.6, I.4, J.3, J.4).
mod btree1;

pub(crate) mod tree2;

use super::space::Space;
use super::{Change, Stored};
use crate::file::{Addr, File, Sizes};
use crate::place::IndexKind;
use ncirrus_layout::{Error, Result, Step, View};
use std::collections::BTreeMap;

/// What an index is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Grid {
    /// Chunk lengths in elements, one per dimension of the dataspace.
    pub(crate) chunk: Vec<u64>,
    /// Bytes of one element.
    pub(crate) element: u64,
    /// Current lengths, and how far each may grow (`None`: without limit).
    pub(crate) dims: Vec<u64>,
    pub(crate) max: Vec<Option<u64>>,
    pub(crate) filtered: bool,
    /// Version of the layout message: it decides the width of chunk sizes (3, 4 or 5).
    pub(crate) version: u8,
}

/// A finished index: its structures with their places, and what the layout message says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Built {
    pub(crate) patches: Vec<super::Patch>,
    /// Address in the layout message.
    pub(crate) addr: Option<Addr>,
    pub(crate) kind: IndexKind,
}

/// The index that suits a grid: v1 B-tree, or for HDF5 1.10 and newer single, fixed array, extensible array, v2 B-tree.
pub(crate) fn choose(_grid: &Grid, _newer: bool) -> IndexKind {
    IndexKind::BTree1
}

/// Bytes that the index of all chunks of the grid takes at most: known before any chunk is.
pub(crate) fn byte_len(kind: IndexKind, grid: &Grid, chunks: u64, sizes: Sizes) -> u64 {
    match kind {
        IndexKind::BTree1 => btree1::byte_len(grid, chunks, sizes),
        _ => 0,
    }
}

/// Builds an index of these chunks (by chunk coordinates), its structures placed one after the other by `place` (which
/// gets their length and alignment).
pub(crate) fn build(
    kind: IndexKind,
    grid: &Grid,
    chunks: &BTreeMap<Vec<u64>, Stored>,
    sizes: Sizes,
    place: &mut dyn FnMut(u64) -> Addr,
) -> Result<Built> {
    match kind {
        IndexKind::BTree1 => btree1::build(grid, chunks, sizes, place),
        other => Err(Error::unsupported(format!("writing of chunk index {other:?}"))),
    }
}

/// Changes an index that exists: `chunks` are new or replace others. Gives the changes in the order in which the index
/// stays whole, and the address for the layout message when it changes (the caller then changes that, last).
pub(crate) fn update(
    _view: &dyn View,
    _file: &File,
    _kind: IndexKind,
    _addr: Option<Addr>,
    _grid: &Grid,
    _chunks: &BTreeMap<Vec<u64>, Stored>,
    _space: &mut Space,
) -> Step<(Change, Option<Addr>)> {
    Err(Error::unsupported("changing of chunk indexes").into())
}
