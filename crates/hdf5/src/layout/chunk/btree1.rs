//! Version 1 B-trees of chunks (docs/spec/hdf5-netcdf4.md E.5).
use super::descend::{NodeSeek, descend};
use super::{ChunkLookup, ChunkRecord};
use crate::address::FileAddress;
use crate::cursor::ByteCursor;
use ncirrus_layout::{CellList, Error, Result, Step, View};
use std::sync::Arc;

/// A node: children in order, each with the coordinates of its first chunk.
#[derive(Debug)]
struct ChunkNode {
    level: u8,
    rank: usize,
    /// Coordinates of chunks, `rank` per child.
    keys: Vec<u64>,
    children: Vec<ChunkChild>,
    /// Coordinates of a possible further child behind the counted ones.
    uncounted: Option<Vec<u64>>,
}

/// A node to be read.
#[derive(Debug, Clone, PartialEq)]
struct NodeRef {
    addr: FileAddress,
    /// Known except for the root's.
    level: Option<u8>,
    /// Coordinates at which its right sibling begins; `None` for the last node of a level.
    end: Option<Vec<u64>>,
}

/// A chunk, or a node one level below.
#[derive(Debug, Clone, Copy)]
struct ChunkChild {
    addr: FileAddress,
    byte_len: u32,
    mask: u32,
}

pub(super) fn find(
    view: &dyn View,
    chunks: &ChunkLookup,
    root: FileAddress,
    cells: &CellList,
) -> Step<Vec<Option<ChunkRecord>>> {
    let root = NodeRef { addr: root, level: None, end: None };
    let load = |at: &NodeRef| {
        chunks.visit(at.addr);
        Ok((node(view, chunks, at)?, at.end.clone()))
    };
    descend(view, (cells, chunks.shape.len()), root, load, |(node, end), cell| seek(node, end.as_ref(), cell))
}

/// The chunk, or the child that may contain it: the last one that does not begin behind it.
fn seek(node: &ChunkNode, end: Option<&Vec<u64>>, cell: &[u64]) -> Result<NodeSeek<NodeRef>> {
    let found = match node.level.checked_sub(1) {
        None => {
            let at = node.count_while(|key| key < cell)?;
            match node.children.get(at) {
                Some(child) if node.key(at)? == cell => Some(NodeSeek::Found(child.stored())),
                _ => None,
            }
        }
        Some(below) => {
            let behind = node.count_while(|key| key <= cell)?;
            let child = behind.checked_sub(1).and_then(|at| node.children.get(at));
            let is_last = behind == node.children.len();
            let end = if is_last { end.cloned() } else { Some(node.key(behind)?.to_vec()) };
            child.map(|child| NodeSeek::Below(NodeRef { addr: child.addr, level: Some(below), end }))
        }
    };
    Ok(found.unwrap_or(NodeSeek::Absent))
}

impl ChunkNode {
    fn key(&self, at: usize) -> Result<&[u64]> {
        let key = self.keys.get(at * self.rank..(at + 1) * self.rank);
        key.ok_or_else(|| Error::internal(format!("no key {at} in a B-tree node of chunks")))
    }

    /// Number of children before the first whose key does not satisfy the test, by binary search.
    fn count_while(&self, is_wanted: impl Fn(&[u64]) -> bool) -> Result<usize> {
        let (mut low, mut high) = (0, self.children.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_wanted(self.key(middle)?) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

impl ChunkChild {
    fn stored(self) -> ChunkRecord {
        ChunkRecord { addr: self.addr, byte_len: Some(u64::from(self.byte_len)), mask: self.mask }
    }
}

/// Reads a node, once.
fn node(view: &dyn View, chunks: &ChunkLookup, at: &NodeRef) -> Step<Arc<ChunkNode>> {
    let node = chunks.file.memo(view, at.addr, "chunk tree node", || {
        let bytes = chunks.file.exact(view, at.addr, node_len(chunks))?;
        let node = parse(&bytes, chunks)?;
        let cost =
            size_of::<ChunkNode>() + node.keys.len() * 8 + node.children.len() * size_of::<ChunkChild>();
        Ok((node, cost))
    })?;
    let wrong = if at.level.is_some_and(|level| level != node.level) {
        format!("a B-tree node of level {} in the wrong place", node.level)
    } else if node.uncounted.as_ref().is_some_and(|key| at.end.as_ref() != Some(key)) {
        let counted = node.children.len();
        format!("a B-tree node of chunks counts {counted} children, and one more lies behind them")
    } else {
        return Ok(node);
    };
    Err(chunks.file.at(at.addr, Error::malformed(wrong)).into())
}

/// Size of a node: all have the same capacity.
fn node_len(chunks: &ChunkLookup) -> u64 {
    let offsets = u64::from(chunks.file.sizes.offsets);
    let max = 2 * u64::from(chunks.file.ranks.chunk);
    let key = 16 + 8 * chunks.shape.len() as u64;
    8 + 2 * offsets + (max + 1) * key + max * offsets
}

fn parse(bytes: &[u8], chunks: &ChunkLookup) -> Result<ChunkNode> {
    let sizes = chunks.file.sizes;
    let mut cursor = ByteCursor::new(bytes, "a B-tree node of chunks");
    cursor.signature(b"TREE")?;
    let kind = cursor.u8()?;
    if kind != 1 {
        return Err(Error::malformed(format!("a B-tree node of type {kind} where chunks are")));
    }
    let level = cursor.u8()?;
    let count = usize::from(cursor.u16()?);
    if count > 2 * usize::from(chunks.file.ranks.chunk) {
        return Err(Error::malformed(format!(
            "a B-tree node of {count} children, more than it has room for"
        )));
    }
    cursor.skip(2 * usize::from(sizes.offsets))?;
    let rank = chunks.shape.len();
    let mut node = ChunkNode {
        level,
        rank,
        keys: Vec::with_capacity(count * rank),
        children: Vec::with_capacity(count),
        uncounted: None,
    };
    for at in 0..count {
        let (byte_len, mask) = (cursor.u32()?, cursor.u32()?);
        for chunk in &chunks.shape {
            node.keys.push(cell_of(cursor.u64()?, *chunk)?);
        }
        // The offset within the element, always 0.
        cursor.skip(8)?;
        let addr = cursor.addr(sizes)?;
        let addr = addr.ok_or_else(|| Error::malformed("a child of a B-tree node has no address"))?;
        node.children.push(ChunkChild { addr, byte_len, mask });
        if at > 0 && node.key(at - 1)?.cmp(node.key(at)?).is_gt() {
            return Err(Error::malformed("the keys of a B-tree node are not in order"));
        }
    }
    node.uncounted = uncounted(&mut cursor, chunks);
    Ok(node)
}

/// A possible further child behind the counted ones. The key there is that of the right sibling, or in the last node
/// of a level one of no bytes behind the last chunk; libraries may leave behind it what a split or a removal moved
/// away. So it is a lost child only if it does not begin as the right sibling does.
fn uncounted(cursor: &mut ByteCursor<'_>, chunks: &ChunkLookup) -> Option<Vec<u64>> {
    let (byte_len, _mask) = (cursor.u32().ok()?, cursor.u32().ok()?);
    let cells = chunks.shape.iter().map(|chunk| cell_of(cursor.u64().ok()?, *chunk).ok());
    let key = cells.collect::<Option<Vec<u64>>>()?;
    let in_element = cursor.u64().ok()?;
    let addr = cursor.addr(chunks.file.sizes).ok()??;
    let is_child = byte_len > 0 && in_element == 0 && addr.0 > 0 && addr.0 < chunks.file.size;
    is_child.then_some(key)
}

fn cell_of(offset: u64, chunk: u64) -> Result<u64> {
    match (offset.checked_div(chunk), offset.checked_rem(chunk)) {
        (Some(cell), Some(0)) => Ok(cell),
        _ => Err(Error::malformed(format!(
            "a chunk at element {offset}, not a multiple of its length {chunk}"
        ))),
    }
}
