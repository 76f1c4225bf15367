//! Old-style groups: a B-tree of symbol nodes, with the names in a local heap (C.1).
use super::{FoundLink, FoundLinks, LinkTarget};
use crate::address::FileAddress;
use crate::cursor::{ByteCursor, escaped};
use crate::file::Hdf5File;
use crate::heap::LocalHeap;
use ncirrus_layout::{Error, Step, View, both, join_each};
use std::collections::HashSet;
use std::sync::Arc;

/// The links of a symbol table message.
pub(super) fn read(view: &dyn View, file: &Hdf5File, message: &[u8]) -> Step<FoundLinks> {
    let mut cursor = ByteCursor::new(message, "a symbol table message");
    let (tree, heap) = (cursor.addr(file.sizes)?, cursor.addr(file.sizes)?);
    let (Some(tree), Some(heap)) = (tree, heap) else {
        return Err(Error::malformed("a symbol table without tree or heap").into());
    };
    let (heap, leaves) = both(LocalHeap::load(view, file, heap), leaves(view, file, tree))?;
    let (mut found, mut budget) = (leaves.found, file.budget());
    let mut read_nodes = |addrs: Vec<FileAddress>| {
        join_each(addrs, |addr| {
            let node = symbols(view, file, addr)?;
            budget.take((node.entries.len() + node.uncounted.len()) as u64 * entry_len(file))?;
            Ok(node)
        })
    };
    let (nodes, beside) = both(read_nodes(leaves.nodes), read_nodes(leaves.uncounted))?;
    let mut uncounted = Vec::new();
    for node in nodes {
        match node {
            Ok(node) => {
                node.entries.iter().for_each(|symbol| found.take(symbol.link(&heap)));
                uncounted.push(node.uncounted.clone());
            }
            Err(error) => found.lose_some(&error),
        }
    }
    // An address without a symbol node was left behind by a library.
    uncounted.extend(beside.into_iter().flatten().map(|node| node.entries.clone()));
    lose_uncounted(&mut found, &uncounted.concat(), &heap);
    view.limits().count(found.list.len() as u64, "a group")?;
    Ok(found)
}

/// Records links behind those that nodes count. Libraries may leave there what a split or a removal moved away:
/// entries that another node has, or whose name no longer exists.
fn lose_uncounted(found: &mut FoundLinks, uncounted: &[SymbolEntry], heap: &LocalHeap) {
    if uncounted.is_empty() {
        return;
    }
    let names: HashSet<Vec<u8>> = found.list.iter().map(|link| link.name.clone()).collect();
    for symbol in uncounted.iter().filter(|symbol| !heap.is_free(symbol.name)) {
        let link = symbol.link(heap).ok().filter(|link| !link.name.is_empty() && !names.contains(&link.name));
        if let Some(link) = link {
            let name = escaped(&link.name);
            found.lose(Error::malformed(format!("link {name:?} lies behind those that its node counts")));
        }
    }
}

/// The symbol nodes of a group.
#[derive(Debug, Default)]
struct LinkLeaves {
    nodes: Vec<FileAddress>,
    /// Nodes behind the counted children that are not a child of any node.
    uncounted: Vec<FileAddress>,
    /// Records damage below the root.
    found: FoundLinks,
}

/// The addresses of the symbol nodes, level by level.
fn leaves(view: &dyn View, file: &Hdf5File, root: FileAddress) -> Step<LinkLeaves> {
    let mut found = FoundLinks::default();
    let mut seen = HashSet::from([root]);
    let top = node(view, file, root, None)?;
    view.limits().depth(u32::from(top.level), "a tree of links")?;
    let (mut level, mut children) = (top.level, top.children.clone());
    let mut uncounted: Vec<FileAddress> = top.uncounted.into_iter().collect();
    let mut budget = file.budget();
    loop {
        let (new, again): (Vec<FileAddress>, Vec<FileAddress>) =
            children.into_iter().partition(|child| seen.insert(*child));
        children = new;
        for child in again {
            found.lose_some(&file.at(child, Error::malformed("a node of a tree of links with two parents")));
        }
        view.limits().count(seen.len() as u64, "a tree of links")?;
        let Some(below) = level.checked_sub(1) else {
            uncounted.retain(|child| seen.insert(*child));
            return Ok(LinkLeaves { nodes: children, uncounted, found });
        };
        // Only entries below symbol nodes may be lost links; those below inner nodes would require a tree.
        uncounted.clear();
        let mut next = Vec::new();
        for read in join_each(children, |child| {
            let node = node(view, file, child, Some(below))?;
            budget.take(node.children.len() as u64)?;
            Ok(node)
        })? {
            match read {
                Ok(node) => {
                    next.extend(&node.children);
                    uncounted.extend(&node.uncounted);
                }
                Err(error) => found.lose_some(&error),
            }
        }
        (level, children) = (below, next);
    }
}

/// A node of a version 1 B-tree of links.
#[derive(Debug)]
struct LinkNode {
    /// 0 if the children are symbol nodes.
    level: u8,
    children: Vec<FileAddress>,
    /// A possible further child behind the counted ones.
    uncounted: Option<FileAddress>,
}

fn node(view: &dyn View, file: &Hdf5File, addr: FileAddress, level: Option<u8>) -> Step<Arc<LinkNode>> {
    let node = file.memo(view, addr, "hdf5 link tree node", || {
        let first = file.parse(view, addr, node_len(file))?;
        let mut cursor = ByteCursor::new(&first, "a tree of links");
        cursor.signature(b"TREE")?;
        let (kind, level, used) = (cursor.u8()?, cursor.u8()?, cursor.u16()?);
        if kind != 0 {
            return Err(Error::malformed(format!("a tree of links with a node of type {kind}")).into());
        }
        let (offsets, lengths) = (usize::from(file.sizes.offsets), usize::from(file.sizes.lengths));
        let entries_len = u64::from(used) * (offsets + lengths) as u64;
        // Nodes have room for more entries than they use; only the used ones are read (docs/spec/hdf5-netcdf4.md
        // C.1).
        let bytes = file.parse_all(view, addr, (8 + 2 * offsets) as u64 + entries_len)?;
        let mut cursor = ByteCursor::new(&bytes, "a tree of links");
        cursor.skip(8 + 2 * offsets)?;
        let mut children = Vec::with_capacity(usize::from(used));
        for _ in 0..used {
            cursor.skip(lengths)?;
            let child = cursor.addr(file.sizes)?;
            children.push(
                child.ok_or_else(|| Error::malformed("a tree of links with a child without an address"))?,
            );
        }
        let uncounted = uncounted_child(&first, children.len(), file);
        let cost = children.len() * size_of::<FileAddress>() + size_of::<LinkNode>();
        Ok((LinkNode { level, children, uncounted }, cost))
    })?;
    match level.filter(|level| *level != node.level) {
        None => Ok(node),
        Some(level) => {
            let message = format!("a tree of links with a node of level {} at level {level}", node.level);
            Err(file.at(addr, Error::malformed(message)).into())
        }
    }
}

/// The address behind the counted children of a node, if there is space for one more.
fn uncounted_child(node: &[u8], used: usize, file: &Hdf5File) -> Option<FileAddress> {
    let (offsets, lengths) = (usize::from(file.sizes.offsets), usize::from(file.sizes.lengths));
    let has_room = used < 2 * usize::from(file.ranks.group_internal);
    let start = 8 + 2 * offsets + used * (offsets + lengths) + lengths;
    let mut cursor = ByteCursor::new(node.get(start..).filter(|_| has_room)?, "a tree of links");
    let child = cursor.addr(file.sizes).ok()??;
    (child.0 > 0 && child.0 < file.size).then_some(child)
}

/// Size of a node on disk.
fn node_len(file: &Hdf5File) -> u64 {
    let (offsets, lengths) = (u64::from(file.sizes.offsets), u64::from(file.sizes.lengths));
    let room = 2 * u64::from(file.ranks.group_internal);
    8 + 2 * offsets + (room + 1) * lengths + room * offsets
}

/// A symbol-table entry.
#[derive(Debug, Clone)]
struct SymbolEntry {
    /// Offset of the name in the local heap.
    name: u64,
    header: Option<FileAddress>,
    /// Offset of a soft link's target in the local heap.
    soft: Option<u32>,
}

/// Size of a symbol-table entry.
fn entry_len(file: &Hdf5File) -> u64 {
    u64::from(file.sizes.lengths) + u64::from(file.sizes.offsets) + 24
}

/// A leaf of the tree: symbols in the order of their names.
#[derive(Debug)]
struct SymbolNode {
    entries: Vec<SymbolEntry>,
    /// Possible further symbols behind the counted ones.
    uncounted: Vec<SymbolEntry>,
}

fn symbols(view: &dyn View, file: &Hdf5File, addr: FileAddress) -> Step<Arc<SymbolNode>> {
    let entry_len = entry_len(file);
    let room = 2 * u32::from(file.ranks.group_leaf);
    file.memo(view, addr, "hdf5 symbol node", || {
        let first = file.parse(view, addr, 8 + u64::from(room) * entry_len)?;
        let mut cursor = ByteCursor::new(&first, "a symbol node");
        cursor.signature(b"SNOD")?;
        cursor.version(&[1])?;
        cursor.skip(1)?;
        let used = cursor.u16()?;
        let bytes = file.parse_all(view, addr, 8 + u64::from(used) * entry_len)?;
        let mut cursor = ByteCursor::new(&bytes, "a symbol node");
        cursor.skip(8)?;
        let entries = (0..used).map(|_| symbol(&mut cursor, file)).collect::<Result<Vec<_>, Error>>()?;
        let behind = cursor.position();
        let mut cursor = ByteCursor::new(first.get(behind..).unwrap_or_default(), "a symbol node");
        let rest = (u32::from(used)..room).map_while(|_| symbol(&mut cursor, file).ok());
        let is_entry = |symbol: &SymbolEntry| {
            symbol.soft.is_some() || symbol.header.is_some_and(|addr| addr.0 > 0 && addr.0 < file.size)
        };
        let uncounted: Vec<_> = rest.take_while(is_entry).collect();
        let cost = (entries.len() + uncounted.len()) * size_of::<SymbolEntry>();
        Ok((SymbolNode { entries, uncounted }, cost))
    })
}

fn symbol(cursor: &mut ByteCursor<'_>, file: &Hdf5File) -> Result<SymbolEntry, Error> {
    let name = cursor.len(file.sizes)?;
    let header = cursor.addr(file.sizes)?;
    let cache = cursor.u32()?;
    cursor.skip(4)?;
    let mut scratch = ByteCursor::new(cursor.take(16)?, "a symbol-table entry");
    let soft = if cache == SOFT { Some(scratch.u32()?) } else { None };
    Ok(SymbolEntry { name, header, soft })
}

impl SymbolEntry {
    fn link(&self, heap: &LocalHeap) -> Result<FoundLink, Error> {
        let name = heap.text(self.name)?.to_vec();
        let target = match (self.soft, self.header) {
            (Some(offset), _) => LinkTarget::Soft(escaped(heap.text(u64::from(offset))?)),
            (None, Some(addr)) => LinkTarget::Hard(addr),
            (None, None) => {
                return Err(Error::malformed(format!("{}: a hard link without an address", escaped(&name))));
            }
        };
        Ok(FoundLink { name, order: None, target })
    }
}

/// The cache type of soft links.
const SOFT: u32 = 2;
