//! Version 1 B-trees of chunks, built from the leaves up (hdf5-netcdf4.md E.5, I.4).
use super::{Built, Grid};
use crate::file::{Addr, Sizes};
use crate::place::IndexKind;
use crate::write::out::Out;
use crate::write::{Patch, Stored};
use ncirrus_layout::{Error, Result};
use std::collections::BTreeMap;

/// Children of a node: twice the rank that files of version 2 superblocks have.
const MOST: u64 = 64;

/// A child of a node: the key before it, and where it is.
struct Child {
    key: Vec<u8>,
    addr: Addr,
}

/// Bytes of all nodes for that many chunks.
pub(super) fn byte_len(grid: &Grid, chunks: u64, sizes: Sizes) -> u64 {
    let (mut nodes, mut level) = (0u64, chunks.div_ceil(MOST).max(1));
    loop {
        nodes = nodes.saturating_add(level);
        if level == 1 {
            return nodes.saturating_mul(node_len(grid, sizes));
        }
        level = level.div_ceil(MOST);
    }
}

/// Builds the tree.
pub(super) fn build(
    grid: &Grid,
    chunks: &BTreeMap<Vec<u64>, Stored>,
    sizes: Sizes,
    place: &mut dyn FnMut(u64) -> Addr,
) -> Result<Built> {
    let mut children = Vec::with_capacity(chunks.len());
    for (coords, stored) in chunks {
        let len = u32::try_from(stored.len)
            .map_err(|_| Error::limit("a chunk of 4 GiB or more").at_chunk(coords))?;
        children.push(Child { key: key(grid, coords, len, stored.mask)?, addr: stored.addr });
    }
    let last = chunks.keys().next_back().map(|coords| {
        let mut beyond = coords.clone();
        if let Some(first) = beyond.first_mut() {
            *first = first.saturating_add(1);
        }
        key(grid, &beyond, 0, 0)
    });
    let Some(end) = last.transpose()? else {
        return Ok(Built { patches: Vec::new(), addr: None, kind: IndexKind::BTree1 });
    };
    let mut patches = Vec::new();
    for level in 0..=u8::MAX {
        children = nodes(&children, &end, (level, node_len(grid, sizes)), sizes, place, &mut patches);
        if let [root] = children.as_slice() {
            return Ok(Built { patches, addr: Some(root.addr), kind: IndexKind::BTree1 });
        }
    }
    Err(Error::limit("a B-tree of more than 255 levels"))
}

/// The nodes of one level, as children of the next.
fn nodes(
    children: &[Child],
    end: &[u8],
    (level, len): (u8, u64),
    sizes: Sizes,
    place: &mut dyn FnMut(u64) -> Addr,
    patches: &mut Vec<Patch>,
) -> Vec<Child> {
    let groups: Vec<&[Child]> = children.chunks(usize::try_from(MOST).unwrap_or(64)).collect();
    let addrs: Vec<Addr> = groups.iter().map(|_| place(len)).collect();
    let mut parents = Vec::with_capacity(groups.len());
    for (at, group) in groups.iter().enumerate() {
        let mut out = Out::new();
        out.bytes(b"TREE").u8(1).u8(level).uint(group.len() as u64, 2);
        out.addr(at.checked_sub(1).and_then(|before| addrs.get(before).copied()), sizes);
        out.addr(addrs.get(at + 1).copied(), sizes);
        for child in *group {
            out.bytes(&child.key).addr(Some(child.addr), sizes);
        }
        let next = groups.get(at + 1).and_then(|group| group.first()).map_or(end, |child| &child.key);
        out.bytes(next);
        out.zeros(usize::try_from(len).unwrap_or(0).saturating_sub(out.len()));
        let (Some(addr), Some(first)) = (addrs.get(at), group.first()) else { continue };
        patches.push(Patch { addr: *addr, body: out.finish() });
        parents.push(Child { key: first.key.clone(), addr: *addr });
    }
    parents
}

/// A key: bytes and filter mask of a chunk, and its first element.
fn key(grid: &Grid, coords: &[u64], len: u32, mask: u32) -> Result<Vec<u8>> {
    let mut out = Out::new();
    out.u32(len).u32(mask);
    for (at, chunk) in coords.iter().zip(&grid.chunk) {
        let element = at.checked_mul(*chunk);
        out.u64(element.ok_or_else(|| Error::limit("a chunk beyond 2^64 elements").at_chunk(coords))?);
    }
    out.u64(0);
    Ok(out.finish().into())
}

fn node_len(grid: &Grid, sizes: Sizes) -> u64 {
    let (offset, key) = (u64::from(sizes.offsets), 8 + 8 * (grid.chunk.len() as u64 + 1));
    8 + 2 * offset + (MOST + 1) * key + MOST * offset
}
