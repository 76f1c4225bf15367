//! Version 2 B-trees of chunks (docs/spec/hdf5-netcdf4.md C.4, E.6).
use super::descend::{NodeSeek, descend};
use super::{ChunkLookup, ChunkRecord};
use crate::address::FileAddress;
use crate::btree::{BtreeHeader, BtreeNode, NodeRef, NodeRequest};
use ncirrus_layout::{CellList, Error, Result, Step, View};
use std::cmp::Ordering;

const UNFILTERED: u8 = 10;
const FILTERED: u8 = 11;

pub(super) fn find(
    view: &dyn View,
    chunks: &ChunkLookup,
    addr: FileAddress,
    cells: &CellList,
) -> Step<Vec<Option<ChunkRecord>>> {
    let tree = BtreeHeader::load(view, &chunks.file, addr, NodeRequest::Among)?;
    check(chunks, &tree).map_err(|error| chunks.file.at(addr, error))?;
    let Some(root) = tree.root else { return Ok(vec![None; cells.len()]) };
    chunks.visit(addr);
    let load = |node: &NodeRef| {
        chunks.visit(node.addr);
        tree.node(view, &chunks.file, *node, NodeRequest::Alone)
    };
    descend(view, (cells, chunks.shape.len()), root, load, |node, cell| seek(chunks, node, cell))
}

fn check(chunks: &ChunkLookup, tree: &BtreeHeader) -> Result<()> {
    let kind = if chunks.is_filtered { FILTERED } else { UNFILTERED };
    let len = chunks.array_element_len() + 8 * chunks.shape.len() as u64;
    if tree.kind == kind && tree.record_len as u64 == len {
        return Ok(());
    }
    Err(Error::malformed(format!(
        "a B-tree of type {} with records of {} bytes where chunks need type {kind} and {len} bytes",
        tree.kind, tree.record_len
    )))
}

/// The record of a chunk, or the child in which it would be.
fn seek(chunks: &ChunkLookup, node: &BtreeNode, cell: &[u64]) -> Result<NodeSeek<NodeRef>> {
    let (mut low, mut high) = (0, node.records.len());
    while low < high {
        let middle = low + (high - low) / 2;
        let record = node.records.get(middle);
        let record = record.ok_or_else(|| Error::internal(format!("no record {middle} in a B-tree node")))?;
        match coords(chunks, record).cmp(cell.iter().copied()) {
            Ordering::Equal => return Ok(chunks.stored(record)?.map_or(NodeSeek::Absent, NodeSeek::Found)),
            Ordering::Less => low = middle + 1,
            Ordering::Greater => high = middle,
        }
    }
    Ok(node.children.get(low).map_or(NodeSeek::Absent, |child| NodeSeek::Below(*child)))
}

/// The coordinates at the end of a record.
fn coords<'a>(chunks: &ChunkLookup, record: &'a [u8]) -> impl Iterator<Item = u64> + use<'a> {
    let (_, coords) = record.split_at(record.len().saturating_sub(8 * chunks.shape.len()));
    coords.chunks_exact(8).map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}
