//! The nodes of version 2 B-trees.
use super::{BtreeHeader, BtreeNode, NodeRef, ReadAs};
use crate::address::FieldSizes;
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use bytes::Bytes;
use ncirrus_layout::Error;

/// Capacity of nodes by depth, and the encoding of their pointers.
#[derive(Debug)]
pub(super) struct TreeShape {
    record_len: usize,
    offsets: u8,
    /// Size of the number of records in a pointer.
    count_width: usize,
    /// One level per depth, leaves first.
    levels: Vec<DepthLevel>,
}

/// Properties of the nodes of one depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct DepthLevel {
    /// Maximum number of records of a node.
    max: u64,
    /// Size of the number of records below a node, in pointers to nodes of this depth; 0 for leaves.
    total_width: usize,
}

impl TreeShape {
    pub(super) fn new(
        node_len: u32,
        record_len: usize,
        depth: u16,
        sizes: FieldSizes,
    ) -> Result<Self, Error> {
        let damaged = || {
            Error::malformed(format!(
                "a version 2 B-tree of depth {depth} with nodes of {node_len} bytes, records of {record_len}"
            ))
        };
        let (node_len, record) = (u64::from(node_len), record_len as u64);
        let room = node_len.checked_sub(OVERHEAD).ok_or_else(damaged)?;
        let max = room.checked_div(record).filter(|max| *max > 0).ok_or_else(damaged)?;
        let count_width = width(max);
        // Pointers to leaves have no total, so the width of totals is zero there (docs/spec/hdf5-netcdf4.md C.4,
        // arithmetic).
        let mut levels = vec![DepthLevel { max, total_width: 0 }];
        let (mut below, mut total) = (0, max);
        for _ in 0..depth {
            let pointer = (usize::from(sizes.offsets) + count_width + below) as u64;
            let room = room.checked_sub(pointer).ok_or_else(damaged)?;
            let max = room / (record + pointer);
            if max == 0 {
                return Err(damaged());
            }
            total = max.saturating_add(1).saturating_mul(total).saturating_add(max);
            below = width(total);
            levels.push(DepthLevel { max, total_width: below });
        }
        Ok(Self { record_len, offsets: sizes.offsets, count_width, levels })
    }

    pub(super) fn depth(&self) -> u16 {
        u16::try_from(self.levels.len().saturating_sub(1)).unwrap_or(u16::MAX)
    }

    pub(super) fn cost(&self) -> usize {
        self.levels.len() * size_of::<DepthLevel>()
    }

    /// Size of a pointer in a node of that depth.
    fn pointer_len(&self, depth: u16) -> usize {
        usize::from(self.offsets) + self.count_width + self.total_width(depth)
    }

    /// Size of the total number of records, in a pointer of a node of that depth.
    fn total_width(&self, depth: u16) -> usize {
        let below = usize::from(depth).checked_sub(1).and_then(|below| self.levels.get(below));
        below.map_or(0, |level| level.total_width)
    }

    /// Used size of a node: the checksum follows the last record or pointer.
    pub(super) fn node_len(&self, node: NodeRef) -> Result<u64, Error> {
        let records = node.records as u64;
        let max = self.levels.get(usize::from(node.depth)).map_or(0, |level| level.max);
        if records > max {
            return Err(Error::malformed(format!(
                "a node with {records} records in a version 2 B-tree whose nodes have at most {max}"
            )));
        }
        let pointers = if node.depth == 0 { 0 } else { (records + 1) * self.pointer_len(node.depth) as u64 };
        Ok(OVERHEAD + records * self.record_len as u64 + pointers)
    }
}

impl BtreeHeader {
    /// Parses a node; `bytes` are exactly the used ones.
    pub(super) fn parse_node(
        &self,
        bytes: &Bytes,
        node: NodeRef,
        file: &Hdf5File,
    ) -> Result<BtreeNode, Error> {
        let mut cursor = ByteCursor::new(bytes, "a node of a version 2 B-tree");
        cursor.signature(if node.depth == 0 { b"BTLF" } else { b"BTIN" })?;
        cursor.version(&[0])?;
        let kind = cursor.u8()?;
        if kind != self.kind {
            return Err(Error::malformed(format!("a node of type {kind} in a tree of type {}", self.kind)));
        }
        let mut records = Vec::with_capacity(node.records);
        for _ in 0..node.records {
            records.push(bytes.slice_ref(cursor.take(self.record_len)?));
        }
        let pointers = if node.depth == 0 { 0 } else { node.records + 1 };
        let mut children = Vec::with_capacity(pointers);
        for _ in 0..pointers {
            children.push(self.child(&mut cursor, node.depth, file)?);
        }
        let summed = cursor.taken();
        if cursor.u32()? != lookup3(summed) {
            return Err(Error::malformed("the checksum of a node of a version 2 B-tree is wrong"));
        }
        Ok(BtreeNode { records, children, read_as: self.read_as(node) })
    }

    pub(super) fn read_as(&self, node: NodeRef) -> ReadAs {
        let pointer_len = self.shape.pointer_len(node.depth);
        ReadAs { node, kind: self.kind, record_len: self.record_len, pointer_len }
    }

    /// A pointer in a node of that depth, at least 1.
    fn child(&self, cursor: &mut ByteCursor<'_>, depth: u16, file: &Hdf5File) -> Result<NodeRef, Error> {
        let addr = cursor.addr(file.sizes)?;
        let addr = addr.ok_or_else(|| Error::malformed("a child without address"))?;
        let records = cursor.uint(self.shape.count_width)?;
        let records = usize::try_from(records).unwrap_or(usize::MAX);
        cursor.skip(self.shape.total_width(depth))?;
        Ok(NodeRef { addr, records, depth: depth.saturating_sub(1) })
    }
}

/// Size of an integer that can hold that number.
fn width(max: u64) -> usize {
    max.max(1).ilog2() as usize / 8 + 1
}

/// Signature, version, type and checksum.
const OVERHEAD: u64 = 10;

#[cfg(test)]
mod tests;
