//! Encoding of nodes of version 2 B-trees of chunks.
use super::{TreeHeader, cell_of};
use crate::address::{FieldSizes, FileAddress};
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::write::FilePatch;
use crate::write::index::IndexGrid;
use crate::write::out::ByteSink;
use bytes::Bytes;
use ncirrus_layout::{Error, Result};
use std::cmp::Ordering;

/// The encoding of a tree's nodes.
#[derive(Debug, Clone)]
pub(super) struct RecordForm {
    pub(super) sizes: FieldSizes,
    pub(super) rank: usize,
    kind: u8,
    node_len: u64,
    record_len: usize,
    /// Size of the number of records in a pointer.
    count_width: usize,
    /// One per depth, as far as they were needed.
    levels: Vec<NodeLevel>,
}

#[derive(Debug, Clone, Copy)]
struct NodeLevel {
    /// Maximum number of records of a node.
    max: usize,
    /// Maximum number of records in it and below.
    total: u64,
}

/// A chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct ChunkRecord(pub(super) Bytes);

/// A node as referenced by its parent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct NodePointer {
    pub(super) addr: FileAddress,
    /// Number of records in it, and in total below.
    pub(super) records: usize,
    pub(super) total: u64,
}

/// Records in order, and above leaves a child before each of them and one behind the last.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct RecordRow {
    pub(super) records: Vec<ChunkRecord>,
    pub(super) children: Vec<NodePointer>,
}

impl ChunkRecord {
    /// Compares the coordinates.
    pub(super) fn cmp(&self, other: &Self, rank: usize) -> Ordering {
        cell_of(&self.0, rank).cmp(cell_of(&other.0, rank))
    }
}

impl RecordRow {
    pub(super) fn total(&self) -> u64 {
        let below = self.children.iter().fold(0u64, |total, child| total.saturating_add(child.total));
        below.saturating_add(self.records.len() as u64)
    }
}

impl RecordForm {
    pub(super) fn new(head: &TreeHeader, grid: &IndexGrid, sizes: FieldSizes) -> Result<Self> {
        let (node_len, record_len) = (u64::from(head.node_len), usize::from(head.record_len));
        let max = node_len.saturating_sub(OVERHEAD).checked_div(record_len as u64).unwrap_or(0);
        if max == 0 {
            let text = format!("a version 2 B-tree with nodes of {node_len} bytes, records of {record_len}");
            return Err(Error::malformed(text));
        }
        Ok(Self {
            sizes,
            rank: grid.rank(),
            kind: head.kind,
            node_len,
            record_len,
            count_width: width(max),
            levels: vec![NodeLevel { max: usize::try_from(max).unwrap_or(usize::MAX), total: max }],
        })
    }

    /// Maximum number of records of a node of that depth.
    pub(super) fn max(&mut self, depth: u16) -> Result<usize> {
        while self.levels.len() <= usize::from(depth) {
            let pointer = self.pointer_len(self.levels.len()) as u64;
            let below = self.levels.last().map_or(0, |level| level.total);
            let room = self.node_len.saturating_sub(OVERHEAD + pointer);
            let max = room / (self.record_len as u64 + pointer);
            if max == 0 {
                return Err(Error::malformed("nodes of a version 2 B-tree have no room for children"));
            }
            let total = max.saturating_add(1).saturating_mul(below).saturating_add(max);
            self.levels.push(NodeLevel { max: usize::try_from(max).unwrap_or(usize::MAX), total });
        }
        let level = self.levels.get(usize::from(depth));
        level.map(|level| level.max).ok_or_else(|| Error::internal("a level that is not there"))
    }

    /// Size of the total number of records, in a pointer to a node of that depth.
    fn total_width(&self, depth: usize) -> usize {
        let below = depth.checked_sub(1).filter(|below| *below > 0).and_then(|below| self.levels.get(below));
        below.map_or(0, |level| width(level.total))
    }

    fn pointer_len(&self, depth: usize) -> usize {
        usize::from(self.sizes.offsets) + self.count_width + self.total_width(depth)
    }

    /// Used size of a node, with the checksum behind.
    pub(super) fn used_len(&mut self, depth: u16, records: usize) -> Result<u64> {
        let max = self.max(depth)?;
        if records > max {
            let text =
                format!("a node with {records} records in a version 2 B-tree whose nodes have at most {max}");
            return Err(Error::malformed(text));
        }
        let pointers = if depth == 0 { 0 } else { (records + 1) * self.pointer_len(usize::from(depth)) };
        Ok(OVERHEAD + (records * self.record_len + pointers) as u64)
    }

    /// Allocated size of a node.
    pub(super) fn node_len(&self) -> u64 {
        self.node_len
    }

    /// Divides a row into nodes of that depth, as many as it needs; returns them as a row of the next depth.
    /// `is_last`: the tree grows behind them, so that all but the last are full.
    pub(super) fn spread(
        &mut self,
        depth: u16,
        row: RecordRow,
        is_last: bool,
        patches: &mut Vec<FilePatch>,
        place: &mut dyn FnMut(u64) -> FileAddress,
    ) -> Result<RecordRow> {
        let max = self.max(depth)?;
        let mut above = RecordRow::default();
        for (row, separator) in split(row, max, is_last) {
            let addr = place(self.node_len);
            let mut patch = FilePatch { addr, body: self.encode(depth, &row) };
            let mut body = Vec::from(patch.body);
            body.resize(usize::try_from(self.node_len).unwrap_or(0).max(body.len()), 0);
            patch.body = body.into();
            patches.push(patch);
            above.children.push(NodePointer { addr, records: row.records.len(), total: row.total() });
            above.records.extend(separator);
        }
        Ok(above)
    }

    /// The used bytes of a node.
    pub(super) fn encode(&self, depth: u16, row: &RecordRow) -> Bytes {
        let mut out = ByteSink::new();
        out.bytes(if depth == 0 { b"BTLF" } else { b"BTIN" }).u8(0).u8(self.kind);
        row.records.iter().for_each(|record| _ = out.bytes(&record.0));
        let total_width = self.total_width(usize::from(depth));
        for child in &row.children {
            out.addr(Some(child.addr), self.sizes).uint(child.records as u64, self.count_width);
            out.uint(child.total, total_width);
        }
        out.checksum().finish()
    }

    /// Parses a node.
    pub(super) fn parse(&self, depth: u16, records: usize, bytes: &Bytes) -> Result<RecordRow> {
        let mut cursor = ByteCursor::new(bytes, "a node of a version 2 B-tree");
        cursor.signature(if depth == 0 { b"BTLF" } else { b"BTIN" })?;
        cursor.version(&[0])?;
        let kind = cursor.u8()?;
        if kind != self.kind {
            return Err(Error::malformed(format!("a node of type {kind} in a tree of type {}", self.kind)));
        }
        let mut row = RecordRow::default();
        for _ in 0..records {
            let record = ChunkRecord(bytes.slice_ref(cursor.take(self.record_len)?));
            if row.records.last().is_some_and(|last| last.cmp(&record, self.rank).is_ge()) {
                return Err(Error::malformed("the records of a version 2 B-tree are not in order"));
            }
            row.records.push(record);
        }
        let total_width = self.total_width(usize::from(depth));
        for _ in 0..if depth == 0 { 0 } else { records + 1 } {
            let addr = cursor.addr(self.sizes)?;
            let addr = addr.ok_or_else(|| Error::malformed("a child without address"))?;
            let records = cursor.uint(self.count_width)?;
            // Pointers to leaves have no total (docs/spec/hdf5-netcdf4.md C.4).
            let total = if depth > 1 { cursor.uint(total_width)? } else { records };
            row.children.push(NodePointer {
                addr,
                records: usize::try_from(records).unwrap_or(usize::MAX),
                total,
            });
        }
        let summed = cursor.taken();
        if cursor.u32()? != lookup3(summed) {
            return Err(Error::malformed("the checksum of a node of a version 2 B-tree is wrong"));
        }
        Ok(row)
    }
}

/// Rows of at most that many records, each but the last with the record between it and the next.
fn split(row: RecordRow, max: usize, is_last: bool) -> Vec<(RecordRow, Option<ChunkRecord>)> {
    let count = (row.records.len() + 1).div_ceil(max + 1);
    // The rest for rows after the records between them are removed.
    let mut left = row.records.len() - (count - 1);
    let (mut records, mut children) = (row.records.into_iter(), row.children.into_iter());
    let mut rows = Vec::with_capacity(count);
    for behind in (0..count).rev() {
        // Every following row has at least one record.
        let fair = left.div_ceil(behind + 1);
        let len = if is_last { max.min(left.saturating_sub(behind)) } else { fair };
        left -= len;
        let row = RecordRow {
            records: records.by_ref().take(len).collect(),
            children: children.by_ref().take(len + 1).collect(),
        };
        let separator = if behind > 0 { records.next() } else { None };
        rows.push((row, separator));
    }
    rows
}

/// Size of an integer that can hold that number.
fn width(max: u64) -> usize {
    max.max(1).ilog2() as usize / 8 + 1
}

/// Signature, version, type and checksum.
const OVERHEAD: u64 = 10;
