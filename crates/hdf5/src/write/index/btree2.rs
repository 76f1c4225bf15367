//! Version 2 B-trees of chunks (docs/spec/hdf5-netcdf4.md C.4, E.6, J.3).
mod node;
mod update;

pub(super) use update::update;

use super::{ChunkMap, IndexGrid};
use crate::address::{FieldSizes, FileAddress};
use crate::write::out::ByteSink;
use crate::write::{FilePatch, StoredChunk};
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use node::{ChunkRecord, NodePointer, RecordForm, RecordRow};

/// Size of a node of a new tree, and when HDF5 splits and merges nodes.
pub(crate) const NODE_LEN: u32 = 2048;
/// When nodes are split and merged, in percent of their capacity: HDF5's own settings for chunk indexes
/// (`H5D_BT2_SPLIT_PERC`, `H5D_BT2_MERGE_PERC`), which it expects in the header.
pub(crate) const SPLIT_PERCENT: u8 = 100;
pub(crate) const MERGE_PERCENT: u8 = 40;

/// The header of a tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct TreeHeader {
    kind: u8,
    node_len: u32,
    record_len: u16,
    depth: u16,
    split: u8,
    merge: u8,
    root: Option<FileAddress>,
    records: u16,
    total: u64,
}

impl TreeHeader {
    /// An empty tree for such chunks.
    fn new(grid: &IndexGrid, sizes: FieldSizes) -> Result<Self> {
        const UNFILTERED: u8 = 10;
        const FILTERED: u8 = 11;
        let record_len = grid.element_len(sizes)? + 8 * grid.rank() as u64;
        Ok(Self {
            kind: if grid.filtered { FILTERED } else { UNFILTERED },
            node_len: NODE_LEN,
            record_len: u16::try_from(record_len).map_err(|_| Error::limit("records of 64 KiB or more"))?,
            depth: 0,
            split: SPLIT_PERCENT,
            merge: MERGE_PERCENT,
            root: None,
            records: 0,
            total: 0,
        })
    }

    /// With another root.
    fn over(self, root: &NodePointer, depth: u16) -> Result<Self> {
        let records = u16::try_from(root.records).map_err(|_| Error::limit("a root of too many records"))?;
        Ok(Self { root: Some(root.addr), records, depth, total: root.total, ..self })
    }

    fn patch(&self, addr: FileAddress, sizes: FieldSizes) -> FilePatch {
        let mut out = ByteSink::new();
        out.bytes(b"BTHD\0").u8(self.kind).u32(self.node_len).u16(self.record_len).u16(self.depth);
        out.u8(self.split).u8(self.merge).addr(self.root, sizes).u16(self.records).length(self.total, sizes);
        FilePatch { addr, body: out.checksum().finish() }
    }
}

/// Size of a header with its checksum.
fn head_len(sizes: FieldSizes) -> u64 {
    22 + u64::from(sizes.offsets) + u64::from(sizes.lengths)
}

/// Size of header and nodes for that many chunks.
pub(super) fn byte_len(grid: &IndexGrid, chunks: u64, sizes: FieldSizes) -> u64 {
    let form = TreeHeader::new(grid, sizes).and_then(|head| RecordForm::new(&head, grid, sizes));
    let Ok(mut form) = form else { return 0 };
    let (mut nodes, mut records) = (0u64, chunks);
    for depth in 0..u16::MAX {
        let Ok(max) = form.max(depth) else { return 0 };
        let row = records.saturating_add(1).div_ceil(max as u64 + 1);
        nodes = nodes.saturating_add(row);
        if row == 1 {
            break;
        }
        records = row - 1;
    }
    let node_len = u64::from(NODE_LEN);
    head_len(sizes).next_multiple_of(8).saturating_add(nodes.saturating_mul(node_len))
}

/// Builds the tree from the leaves up; returns the address of its header.
pub(super) fn build(
    grid: &IndexGrid,
    chunks: &ChunkMap,
    sizes: FieldSizes,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<(Vec<FilePatch>, FileAddress)> {
    let head = TreeHeader::new(grid, sizes)?;
    let mut form = RecordForm::new(&head, grid, sizes)?;
    let addr = place(head_len(sizes));
    let records =
        chunks.iter().map(|(cell, stored)| record(grid, cell, stored, sizes)).collect::<Result<_>>()?;
    let mut patches = Vec::new();
    let (root, depth) =
        raise(&mut form, 0, RecordRow { records, children: Vec::new() }, &mut patches, place)?;
    patches.push(head.over(&root, depth)?.patch(addr, sizes));
    Ok((patches, addr))
}

/// The entry of a chunk in a tree.
fn record(grid: &IndexGrid, cell: &[u64], stored: &StoredChunk, sizes: FieldSizes) -> Result<ChunkRecord> {
    let mut out = ByteSink::new();
    grid.encode(&mut out, Some(stored), sizes).map_err(|error| error.at_chunk(cell))?;
    cell.iter().for_each(|at| _ = out.u64(*at));
    Ok(ChunkRecord(out.finish()))
}

/// Divides a row into nodes of that depth, and builds nodes above them until there is one; returns it and its depth.
fn raise(
    form: &mut RecordForm,
    lowest: u16,
    mut row: RecordRow,
    patches: &mut Vec<FilePatch>,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<(NodePointer, u16)> {
    for depth in lowest..u16::MAX {
        row = form.spread(depth, row, true, patches, place)?;
        if let [root] = row.children.as_slice() {
            return Ok((*root, depth));
        }
    }
    Err(Error::limit("a B-tree of too many levels"))
}

/// The coordinates at the end of a record.
fn cell_of(record: &Bytes, rank: usize) -> impl Iterator<Item = u64> + '_ {
    let (_, coords) = record.split_at(record.len().saturating_sub(8 * rank));
    coords.chunks_exact(8).map(|word| word.iter().rev().fold(0, |value, byte| value << 8 | u64::from(*byte)))
}
