//! Version 1 B-trees of chunks (docs/spec/hdf5-netcdf4.md E.5).
use super::descend::{Seek, descend};
use super::{Chunks, Stored};
use crate::cursor::Cursor;
use crate::file::Addr;
use ncirrus_layout::{Cells, Error, Result, Step, View};
use std::sync::Arc;

/// A node: children in order, each with the coordinates of its first chunk.
#[derive(Debug)]
struct Node {
    level: u8,
    rank: usize,
    /// Coordinates of cells, `rank` per child.
    keys: Vec<u64>,
    children: Vec<Child>,
}

/// A chunk, or a node one level below.
#[derive(Debug, Clone, Copy)]
struct Child {
    addr: Addr,
    byte_len: u32,
    mask: u32,
}

pub(super) fn find(view: &dyn View, chunks: &Chunks, root: Addr, cells: &Cells) -> Step<Vec<Option<Stored>>> {
    let root = (root, None);
    descend(view, (cells, chunks.shape.len()), root, |&(addr, level)| node(view, chunks, addr, level), seek)
}

/// The chunk, or the child that knows it: the last one that does not begin behind it.
fn seek(node: &Arc<Node>, cell: &[u64]) -> Result<Seek<(Addr, Option<u8>)>> {
    let found = match node.level.checked_sub(1) {
        None => {
            let at = node.count_while(|key| key < cell)?;
            match node.children.get(at) {
                Some(child) if node.key(at)? == cell => Some(Seek::Found(child.stored())),
                _ => None,
            }
        }
        Some(below) => {
            let at = node.count_while(|key| key <= cell)?.checked_sub(1);
            let child = at.and_then(|at| node.children.get(at));
            child.map(|child| Seek::Below((child.addr, Some(below))))
        }
    };
    Ok(found.unwrap_or(Seek::Absent))
}

impl Node {
    fn key(&self, at: usize) -> Result<&[u64]> {
        let key = self.keys.get(at * self.rank..(at + 1) * self.rank);
        key.ok_or_else(|| Error::internal(format!("no key {at} in a B-tree node of chunks")))
    }

    /// Number of children before the first whose key is not wanted, by halving.
    fn count_while(&self, is_wanted: impl Fn(&[u64]) -> bool) -> Result<usize> {
        let (mut low, mut high) = (0, self.children.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if is_wanted(self.key(middle)?) { low = middle + 1 } else { high = middle }
        }
        Ok(low)
    }
}

impl Child {
    fn stored(self) -> Stored {
        Stored { addr: self.addr, byte_len: Some(u64::from(self.byte_len)), mask: self.mask }
    }
}

/// Reads a node, once; its level is known but for the root's.
fn node(view: &dyn View, chunks: &Chunks, addr: Addr, level: Option<u8>) -> Step<Arc<Node>> {
    let node = chunks.file.memo(view, addr, "chunk tree node", || {
        let bytes = chunks.file.exact(view, addr, node_len(chunks))?;
        let node = parse(&bytes, chunks)?;
        let cost = size_of::<Node>() + node.keys.len() * 8 + node.children.len() * size_of::<Child>();
        Ok((node, cost))
    })?;
    if level.is_some_and(|level| level != node.level) {
        let error = Error::malformed(format!("a B-tree node of level {} in the wrong place", node.level));
        return Err(chunks.file.at(addr, error).into());
    }
    Ok(node)
}

/// Bytes of a node: all have room for as many children.
fn node_len(chunks: &Chunks) -> u64 {
    let offsets = u64::from(chunks.file.sizes.offsets);
    let most = 2 * u64::from(chunks.file.ranks.chunk);
    let key = 16 + 8 * chunks.shape.len() as u64;
    8 + 2 * offsets + (most + 1) * key + most * offsets
}

fn parse(bytes: &[u8], chunks: &Chunks) -> Result<Node> {
    let sizes = chunks.file.sizes;
    let mut cursor = Cursor::new(bytes, "a B-tree node of chunks");
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
    let mut node =
        Node { level, rank, keys: Vec::with_capacity(count * rank), children: Vec::with_capacity(count) };
    for at in 0..count {
        let (byte_len, mask) = (cursor.u32()?, cursor.u32()?);
        for chunk in &chunks.shape {
            node.keys.push(cell_of(cursor.u64()?, *chunk)?);
        }
        // The offset within the element, always 0.
        cursor.skip(8)?;
        let addr = cursor.addr(sizes)?;
        let addr = addr.ok_or_else(|| Error::malformed("a child of a B-tree node has no address"))?;
        node.children.push(Child { addr, byte_len, mask });
        if at > 0 && node.key(at - 1)?.cmp(node.key(at)?).is_gt() {
            return Err(Error::malformed("the keys of a B-tree node are not in order"));
        }
    }
    Ok(node)
}

fn cell_of(offset: u64, chunk: u64) -> Result<u64> {
    match (offset.checked_div(chunk), offset.checked_rem(chunk)) {
        (Some(cell), Some(0)) => Ok(cell),
        _ => Err(Error::malformed(format!("a chunk at element {offset}, no multiple of its length {chunk}"))),
    }
}
