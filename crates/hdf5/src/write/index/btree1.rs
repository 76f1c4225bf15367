//! Version 1 B-trees of chunks (docs/spec/hdf5-netcdf4.md E.5, I.4, J.3).
mod node;
mod update;

pub(super) use update::update;

use super::{ChunkMap, IndexGrid};
use crate::address::{FieldSizes, FileAddress};
use crate::write::{FilePatch, StoredChunk};
use ncirrus_layout::{Error, Result};
use node::{NodeEntry, NodeForm, NodeKey, PlacedNode};

/// Default for half the capacity of a node.
pub(super) const RANK: u16 = 32;

/// Size of all nodes for that many chunks.
pub(super) fn byte_len(grid: &IndexGrid, chunks: u64, sizes: FieldSizes) -> u64 {
    let form = NodeForm::new(grid, sizes, RANK);
    let (mut nodes, mut level) = (0u64, chunks);
    loop {
        level = level.div_ceil(form.max as u64).max(1);
        nodes = nodes.saturating_add(level);
        if level == 1 {
            return nodes.saturating_mul(form.node_len().next_multiple_of(8));
        }
    }
}

/// Builds the tree from the leaves up; returns the address of its root.
pub(super) fn build(
    grid: &IndexGrid,
    chunks: &ChunkMap,
    sizes: FieldSizes,
    rank: u16,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<(Vec<FilePatch>, FileAddress)> {
    let form = NodeForm::new(grid, sizes, rank);
    let entries =
        chunks.iter().map(|(cell, stored)| entry(grid, cell, stored)).collect::<Result<Vec<_>>>()?;
    let last = entries.last().ok_or_else(|| Error::internal("a tree of no chunks"))?;
    let end = last.key.behind(grid);
    let mut nodes = Vec::new();
    let root = raise(&form, 0, (entries, end), &mut nodes, place)?;
    Ok((nodes.iter().map(|node| form.patch(node)).collect(), root))
}

/// The entry of a chunk in a leaf.
fn entry(grid: &IndexGrid, cell: &[u64], stored: &StoredChunk) -> Result<NodeEntry> {
    let size = u32::try_from(stored.len);
    let size = size.map_err(|_| Error::limit("a chunk of 4 GiB or more").at_chunk(cell))?;
    Ok(NodeEntry {
        key: NodeKey { size, mask: stored.mask, offsets: grid.offsets(cell)? },
        addr: stored.addr,
    })
}

/// Builds nodes over these children, level by level, until there is one; returns its address.
fn raise(
    form: &NodeForm,
    lowest: u8,
    (mut entries, end): (Vec<NodeEntry>, NodeKey),
    nodes: &mut Vec<PlacedNode>,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<FileAddress> {
    for level in lowest..=u8::MAX {
        entries = form.spread(level, (entries, end.clone()), true, nodes, place)?;
        if let [root] = entries.as_slice() {
            return Ok(root.addr);
        }
    }
    Err(Error::limit("a B-tree of more than 255 levels"))
}
