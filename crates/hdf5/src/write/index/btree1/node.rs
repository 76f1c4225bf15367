//! Encoding of nodes of version 1 B-trees of chunks.
use super::IndexGrid;
use crate::address::{FieldSizes, FileAddress};
use crate::cursor::ByteCursor;
use crate::write::FilePatch;
use crate::write::out::ByteSink;
use ncirrus_layout::{Error, Result};

/// The encoding of a tree's nodes.
#[derive(Debug, Clone, Copy)]
pub(super) struct NodeForm {
    /// Number of dimensions.
    pub(super) rank: usize,
    pub(super) sizes: FieldSizes,
    /// Capacity of a node in children.
    pub(super) max: usize,
}

/// A node with its location.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct PlacedNode {
    pub(super) addr: FileAddress,
    pub(super) level: u8,
    pub(super) left: Option<FileAddress>,
    pub(super) right: Option<FileAddress>,
    pub(super) entries: Vec<NodeEntry>,
    /// Behind all chunks.
    pub(super) end: NodeKey,
}

/// A chunk, or a node one level below with the key of its first chunk.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeEntry {
    pub(super) key: NodeKey,
    pub(super) addr: FileAddress,
}

/// Bytes and skipped filters of a chunk, and its first element.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NodeKey {
    pub(super) size: u32,
    pub(super) mask: u32,
    pub(super) offsets: Vec<u64>,
}

impl NodeKey {
    /// A key behind the chunk.
    pub(super) fn behind(&self, grid: &IndexGrid) -> Self {
        let ends = self.offsets.iter().zip(&grid.chunk).map(|(offset, chunk)| offset.saturating_add(*chunk));
        Self { size: 0, mask: 0, offsets: ends.collect() }
    }

    fn encode(&self, out: &mut ByteSink) {
        out.u32(self.size).u32(self.mask);
        self.offsets.iter().for_each(|offset| _ = out.u64(*offset));
        // The offset within the element.
        out.u64(0);
    }
}

impl NodeForm {
    pub(super) fn new(grid: &IndexGrid, sizes: FieldSizes, rank: u16) -> Self {
        Self { rank: grid.rank(), sizes, max: 2 * usize::from(rank.max(1)) }
    }

    /// Size of a node: all have the same capacity.
    pub(super) fn node_len(&self) -> u64 {
        let (offsets, key) = (u64::from(self.sizes.offsets), 16 + 8 * self.rank as u64);
        let max = self.max as u64;
        self.head_len() + (max + 1) * key + max * offsets
    }

    /// Size of what precedes a node's first key.
    pub(super) fn head_len(&self) -> u64 {
        8 + 2 * u64::from(self.sizes.offsets)
    }

    /// Offset of the addresses of a node's left and right sibling.
    pub(super) fn sibling(&self, node: FileAddress, is_right: bool) -> FileAddress {
        FileAddress(node.0.saturating_add(8 + if is_right { u64::from(self.sizes.offsets) } else { 0 }))
    }

    /// Nodes with these children, linked to each other; returns them as children of the next level. `is_last`: the
    /// tree grows behind them, so that all but the last are full.
    pub(super) fn spread(
        &self,
        level: u8,
        (entries, end): (Vec<NodeEntry>, NodeKey),
        is_last: bool,
        nodes: &mut Vec<PlacedNode>,
        place: &mut dyn FnMut(u64) -> FileAddress,
    ) -> Result<Vec<NodeEntry>> {
        let count = entries.len().div_ceil(self.max).max(1);
        let each = if is_last { self.max } else { entries.len().div_ceil(count).max(1) };
        let groups: Vec<&[NodeEntry]> = entries.chunks(each).collect();
        let addrs: Vec<FileAddress> = groups.iter().map(|_| place(self.node_len())).collect();
        let mut parents = Vec::with_capacity(groups.len());
        for (at, (group, addr)) in groups.iter().zip(&addrs).enumerate() {
            let first = group.first().ok_or_else(|| Error::internal("a node without children"))?;
            parents.push(NodeEntry { key: first.key.clone(), addr: *addr });
            let next = groups.get(at + 1).and_then(|group| group.first()).map_or(&end, |next| &next.key);
            nodes.push(PlacedNode {
                addr: *addr,
                level,
                left: at.checked_sub(1).and_then(|before| addrs.get(before).copied()),
                right: addrs.get(at + 1).copied(),
                entries: group.to_vec(),
                end: next.clone(),
            });
        }
        Ok(parents)
    }

    /// The whole node.
    pub(super) fn patch(&self, node: &PlacedNode) -> FilePatch {
        let mut out = ByteSink::new();
        out.bytes(b"TREE").u8(1).u8(node.level).uint(node.entries.len() as u64, 2);
        out.addr(node.left, self.sizes).addr(node.right, self.sizes);
        for entry in &node.entries {
            entry.key.encode(&mut out);
            out.addr(Some(entry.addr), self.sizes);
        }
        node.end.encode(&mut out);
        out.zeros(usize::try_from(self.node_len()).unwrap_or(0).saturating_sub(out.len()));
        FilePatch { addr: node.addr, body: out.finish() }
    }

    /// Parses a node.
    pub(super) fn parse(&self, addr: FileAddress, bytes: &[u8]) -> Result<PlacedNode> {
        let mut cursor = ByteCursor::new(bytes, "a B-tree node of chunks");
        let (level, count, left, right) = self.head(&mut cursor)?;
        if count > self.max {
            let text = format!("a B-tree node of {count} children, more than it has room for");
            return Err(Error::malformed(text));
        }
        let mut entries: Vec<NodeEntry> = Vec::with_capacity(count);
        for _ in 0..count {
            let key = self.key(&mut cursor)?;
            if entries.last().is_some_and(|last| last.key.offsets > key.offsets) {
                return Err(Error::malformed("the keys of a B-tree node are not in order"));
            }
            let addr = cursor.addr(self.sizes)?;
            let addr = addr.ok_or_else(|| Error::malformed("a child of a B-tree node has no address"))?;
            entries.push(NodeEntry { key, addr });
        }
        if level > 0 && entries.is_empty() {
            return Err(Error::malformed("a B-tree node without children"));
        }
        Ok(PlacedNode { addr, level, left, right, entries, end: self.key(&mut cursor)? })
    }

    /// Level, number of children and siblings.
    pub(super) fn head(
        &self,
        cursor: &mut ByteCursor<'_>,
    ) -> Result<(u8, usize, Option<FileAddress>, Option<FileAddress>)> {
        cursor.signature(b"TREE")?;
        let kind = cursor.u8()?;
        if kind != 1 {
            return Err(Error::malformed(format!("a B-tree node of type {kind} where chunks are")));
        }
        let (level, count) = (cursor.u8()?, usize::from(cursor.u16()?));
        Ok((level, count, cursor.addr(self.sizes)?, cursor.addr(self.sizes)?))
    }

    fn key(&self, cursor: &mut ByteCursor<'_>) -> Result<NodeKey> {
        let (size, mask) = (cursor.u32()?, cursor.u32()?);
        let offsets = (0..self.rank).map(|_| cursor.u64()).collect::<Result<_>>()?;
        cursor.skip(8)?;
        Ok(NodeKey { size, mask, offsets })
    }
}
