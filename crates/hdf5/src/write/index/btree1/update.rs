//! Changing version 1 B-trees: leaves that get new chunks are copied, with the path to the root.
//!
//! A leaf in which chunks are only replaced is rewritten in place.
use super::node::{NodeEntry, NodeForm, NodeKey, PlacedNode};
use super::{entry, raise};
use crate::address::FileAddress;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::layout::IndexKind;
use crate::write::index::{ChunkMap, IndexGrid, UpdatedIndex};
use crate::write::out::ByteSink;
use crate::write::{FilePatch, StructureChange};
use ncirrus_layout::{Error, Result, Step, View, join, settle};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A node on the way to chunks that change.
struct TouchedNode {
    node: PlacedNode,
    /// Its index among the children of a touched node one level above, and that one's index among all touched there.
    child: usize,
    parent: usize,
    /// Its chunks, among all that change.
    range: Range<usize>,
    /// Where the next node begins; `None` for the last of the tree.
    upper: Option<NodeKey>,
    /// Whether it is rewritten in place.
    is_replaced: bool,
}

/// The siblings of a node: left and right.
type NodeLinks = (Option<FileAddress>, Option<FileAddress>);

/// The state of a tree before it is changed.
struct KnownPaths {
    form: NodeForm,
    /// From the root down.
    levels: Vec<Vec<TouchedNode>>,
    /// The sibling links of siblings of touched nodes that are not touched themselves.
    siblings: HashMap<FileAddress, NodeLinks>,
}

pub(in crate::write::index) fn update(
    view: &dyn View,
    file: &Hdf5File,
    root: FileAddress,
    grid: &IndexGrid,
    chunks: &ChunkMap,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Step<UpdatedIndex> {
    let entries =
        chunks.iter().map(|(cell, stored)| entry(grid, cell, stored)).collect::<Result<Vec<_>>>()?;
    let paths = KnownPaths::read(view, file, root, grid, &entries)?;
    Ok(paths.change(grid, &entries, place)?)
}

impl KnownPaths {
    fn read(
        view: &dyn View,
        file: &Hdf5File,
        root: FileAddress,
        grid: &IndexGrid,
        entries: &[NodeEntry],
    ) -> Step<Self> {
        let form = NodeForm::new(grid, file.sizes, file.ranks.chunk);
        let mut levels: Vec<Vec<TouchedNode>> = Vec::new();
        let mut seen = HashSet::new();
        let mut wanted =
            vec![WantedNode { addr: root, child: 0, parent: 0, range: 0..entries.len(), upper: None }];
        while !wanted.is_empty() {
            view.limits().depth(u32::try_from(levels.len()).unwrap_or(u32::MAX), "a chunk index")?;
            let below = levels.last().and_then(|level| level.first()).map(|touched| touched.node.level);
            let nodes = join(&wanted, |wanted| {
                // Damaged files may have circles, or share nodes that a change would then alter twice.
                if !seen.insert(wanted.addr) {
                    let error = Error::malformed("a B-tree node with two parents");
                    return Err(file.at(wanted.addr, error).into());
                }
                let bytes = file.exact(view, wanted.addr, form.node_len())?;
                let node = form.parse(wanted.addr, &bytes).map_err(|error| file.at(wanted.addr, error))?;
                if below.is_some_and(|above| node.level.checked_add(1) != Some(above)) {
                    let error =
                        Error::malformed(format!("a B-tree node of level {} in the wrong place", node.level));
                    return Err(file.at(wanted.addr, error).into());
                }
                Ok(node)
            })?;
            let level: Vec<TouchedNode> =
                wanted.into_iter().zip(nodes).map(|(wanted, node)| wanted.found(node)).collect();
            // Only nodes on the way to a changed chunk are read, all of a level together.
            let below = level.iter().enumerate().map(|(at, touched)| touched.children(at, entries));
            wanted = below.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
            levels.push(level);
        }
        let siblings = siblings(view, file, &form, &levels)?;
        Ok(Self { form, levels, siblings })
    }

    fn change(
        mut self,
        grid: &IndexGrid,
        entries: &[NodeEntry],
        place: &mut dyn FnMut(u64) -> FileAddress,
    ) -> Result<UpdatedIndex> {
        let (mut change, mut new) = (StructureChange::default(), Vec::new());
        let mut below: Vec<Option<MovedNode>> = Vec::new();
        let mut children: Vec<TouchedNode> = Vec::new();
        // From the leaves up: a node learns from its children which of them were copied or split. `below` has one entry
        // for each of `children`, `None` for those that stay.
        for mut level in std::mem::take(&mut self.levels).into_iter().rev() {
            let mut copied = Vec::with_capacity(level.len());
            let mut made = Vec::new();
            let mut from = 0;
            for (at, touched) in level.iter_mut().enumerate() {
                // Children are in the order of their parents, so that those of a node are consecutive.
                let mine = part(&children, from..children.len())?;
                let count = mine.iter().take_while(|child| child.parent == at).count();
                let grown = if touched.node.level == 0 {
                    touched.merge(grid, part(entries, touched.range.clone())?)
                } else {
                    let parts = part(&below, from..below.len())?;
                    touched.adopt(mine.iter().zip(parts).take(count))
                };
                from += count;
                copied.push(match grown {
                    GrownNode::Nothing => None,
                    GrownNode::InPlace => {
                        touched.is_replaced = true;
                        None
                    }
                    // A node without room is copied, with its entries over several new nodes. The old one stays valid
                    // until the commit, since readers may be in it.
                    GrownNode::Beyond => Some(self.copy(touched, &mut made, place)?),
                });
            }
            // Siblings point to each other: neighbours of copied nodes are patched after the new nodes are there.
            for link in self.link(&level, &copied, &mut made) {
                change.then.extend(link.put(&self.form, &mut level));
            }
            let replaced = level.iter().filter(|touched| touched.is_replaced);
            change.then.extend(replaced.map(|touched| self.form.patch(&touched.node)));
            change.released.extend(copied.iter().flatten().map(|copied| (copied.old, self.form.node_len())));
            new.append(&mut made);
            (children, below) = (level, copied);
        }
        let layout = match below.into_iter().next().flatten() {
            None => None,
            Some(root) => Some((IndexKind::BTree1, self.root(root, &mut new, place)?)),
        };
        change.fresh = new.iter().map(|node| self.form.patch(node)).collect();
        Ok(UpdatedIndex { change, layout })
    }

    /// Moves a node to new locations, as many as it needs.
    fn copy(
        &self,
        touched: &TouchedNode,
        made: &mut Vec<PlacedNode>,
        place: &mut dyn FnMut(u64) -> FileAddress,
    ) -> Result<MovedNode> {
        let PlacedNode { addr, level, entries, end, .. } = &touched.node;
        let parents =
            self.form.spread(*level, (entries.clone(), end.clone()), touched.upper.is_none(), made, place)?;
        Ok(MovedNode { old: *addr, level: *level, entries: parents, end: end.clone() })
    }

    /// The root: the copy of the old one, or a new one above its copies.
    fn root(
        &self,
        old: MovedNode,
        nodes: &mut Vec<PlacedNode>,
        place: &mut dyn FnMut(u64) -> FileAddress,
    ) -> Result<FileAddress> {
        if let [root] = old.entries.as_slice() {
            return Ok(root.addr);
        }
        let above =
            old.level.checked_add(1).ok_or_else(|| Error::limit("a B-tree of more than 255 levels"))?;
        raise(&self.form, above, (old.entries, old.end), nodes, place)
    }

    /// Links copies to the neighbours of the old nodes, and vice versa. A search from the root never uses these
    /// addresses, but HDF5 maintains them when it splits nodes.
    fn link(
        &self,
        level: &[TouchedNode],
        copied: &[Option<MovedNode>],
        made: &mut [PlacedNode],
    ) -> Vec<SiblingLink> {
        let mut links = Vec::new();
        let ends = |copied: &MovedNode| {
            Some((copied.old, (copied.entries.first()?.addr, copied.entries.last()?.addr)))
        };
        let moved: HashMap<FileAddress, (FileAddress, FileAddress)> =
            copied.iter().flatten().filter_map(ends).collect();
        let kept = level.iter().map(|touched| (touched.node.addr, (touched.node.left, touched.node.right)));
        let kept: HashMap<_, _> =
            kept.chain(self.siblings.iter().map(|(addr, links)| (*addr, *links))).collect();
        let mut at: HashMap<FileAddress, &mut PlacedNode> =
            made.iter_mut().map(|node| (node.addr, node)).collect();
        for touched in level {
            let PlacedNode { addr: old, left, right, .. } = touched.node;
            let Some((first, last)) = moved.get(&old).copied() else { continue };
            for (neighbour, edge, is_right) in [(left, first, false), (right, last, true)] {
                let Some(neighbour) = neighbour else { continue };
                let theirs = moved.get(&neighbour).map(|(first, last)| if is_right { *first } else { *last });
                let slot =
                    at.get_mut(&edge).map(|node| if is_right { &mut node.right } else { &mut node.left });
                if let Some(slot) = slot {
                    *slot = Some(theirs.unwrap_or(neighbour));
                }
                let back =
                    kept.get(&neighbour).and_then(|(left, right)| if is_right { *left } else { *right });
                if theirs.is_none() && back == Some(old) {
                    links.push(SiblingLink { of: neighbour, is_right: !is_right, to: edge });
                }
            }
        }
        links
    }
}

/// The new sibling of a node that stays in place.
struct SiblingLink {
    of: FileAddress,
    is_right: bool,
    to: FileAddress,
}

impl SiblingLink {
    /// Sets it in the node, if that is rewritten anyway; otherwise returns the patch.
    fn put(self, form: &NodeForm, level: &mut [TouchedNode]) -> Option<FilePatch> {
        let Self { of, is_right, to } = self;
        match level.iter_mut().find(|touched| touched.is_replaced && touched.node.addr == of) {
            Some(TouchedNode { node, .. }) => {
                *(if is_right { &mut node.right } else { &mut node.left }) = Some(to);
                None
            }
            None => {
                let body = ByteSink::new().addr(Some(to), form.sizes).finish();
                Some(FilePatch { addr: form.sibling(of, is_right), body })
            }
        }
    }
}

/// Reads the links of all untouched neighbours; what is not a node of that level is left out.
fn siblings(
    view: &dyn View,
    file: &Hdf5File,
    form: &NodeForm,
    levels: &[Vec<TouchedNode>],
) -> Step<HashMap<FileAddress, NodeLinks>> {
    let mut seen: HashSet<FileAddress> = levels.iter().flatten().map(|touched| touched.node.addr).collect();
    let neighbours = levels.iter().flatten().flat_map(|touched| {
        let node = &touched.node;
        [node.left, node.right].into_iter().flatten().map(|addr| (addr, node.level))
    });
    let neighbours: Vec<(FileAddress, u8)> = neighbours.filter(|(addr, _)| seen.insert(*addr)).collect();
    let found = join(neighbours, |(addr, level)| {
        let head = || -> Step<_> {
            let bytes = file.exact(view, addr, form.head_len())?;
            Ok(form.head(&mut ByteCursor::new(&bytes, "a B-tree node of chunks"))?)
        };
        let head = settle(head()).map_err(ncirrus_layout::Stall::Need)?.ok();
        let links = head.filter(|(other, ..)| *other == level).map(|(_, _, left, right)| (left, right));
        Ok(links.map(|links| (addr, links)))
    })?;
    Ok(found.into_iter().flatten().collect())
}

/// A part of a level, or of the chunks.
fn part<T>(all: &[T], range: Range<usize>) -> Result<&[T]> {
    let outside = || Error::internal(format!("{range:?} of {} parts of a chunk index", all.len()));
    all.get(range.clone()).ok_or_else(outside)
}

/// A node to be read.
struct WantedNode {
    addr: FileAddress,
    child: usize,
    parent: usize,
    range: Range<usize>,
    upper: Option<NodeKey>,
}

impl WantedNode {
    fn found(self, node: PlacedNode) -> TouchedNode {
        let Self { child, parent, range, upper, .. } = self;
        TouchedNode { node, child, parent, range, upper, is_replaced: false }
    }
}

/// A node with new locations.
struct MovedNode {
    old: FileAddress,
    level: u8,
    /// Its copies, as children of the next level.
    entries: Vec<NodeEntry>,
    end: NodeKey,
}

/// The result of changing a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum GrownNode {
    Nothing,
    /// Chunks were only replaced.
    InPlace,
    /// There are new chunks or other children.
    Beyond,
}

impl TouchedNode {
    /// The children that contain changed chunks. `at` is the node's index among the touched of its level.
    fn children(&self, at: usize, entries: &[NodeEntry]) -> Result<Vec<WantedNode>> {
        let mut wanted: Vec<WantedNode> = Vec::new();
        if self.node.level == 0 {
            return Ok(wanted);
        }
        let mut start = self.range.start;
        while let Some(first) = entries.get(start).filter(|_| start < self.range.end) {
            let behind = self.node.entries.partition_point(|child| child.key.offsets <= first.key.offsets);
            let child = behind.saturating_sub(1);
            let next = self.node.entries.get(child + 1);
            let mine = part(entries, start..self.range.end)?;
            let count = next.map_or(mine.len(), |next| {
                mine.partition_point(|entry| entry.key.offsets < next.key.offsets)
            });
            let found = self.node.entries.get(child);
            let found =
                found.ok_or_else(|| Error::malformed("a B-tree node without children above others"))?;
            let upper = next.map(|next| next.key.clone()).or_else(|| self.upper.clone());
            let range = start..start + count.max(1);
            start = range.end;
            wanted.push(WantedNode { addr: found.addr, child, parent: at, range, upper });
        }
        Ok(wanted)
    }

    /// Inserts chunks into a leaf.
    fn merge(&mut self, grid: &IndexGrid, entries: &[NodeEntry]) -> GrownNode {
        let old = std::mem::take(&mut self.node.entries);
        let mut merged = Vec::with_capacity(old.len() + entries.len());
        let mut is_grown = false;
        let mut old = old.into_iter().peekable();
        for entry in entries {
            while let Some(before) = old.next_if(|old| old.key.offsets < entry.key.offsets) {
                merged.push(before);
            }
            merged.push(entry.clone());
            // Of two records of one chunk the first wins, and the others are removed.
            let mut is_new = true;
            while old.next_if(|old| old.key.offsets == entry.key.offsets).is_some() {
                is_new = false;
            }
            is_grown |= is_new;
        }
        merged.extend(old);
        self.node.entries = merged;
        if let Some(last) = self.node.entries.last() {
            let end = last.key.behind(grid);
            self.reach(end);
        }
        if is_grown { GrownNode::Beyond } else { GrownNode::InPlace }
    }

    /// Replaces children by their copies.
    fn adopt<'a>(
        &mut self,
        parts: impl Iterator<Item = (&'a TouchedNode, &'a Option<MovedNode>)>,
    ) -> GrownNode {
        let mut grown = GrownNode::Nothing;
        let moved: HashMap<usize, &MovedNode> =
            parts.filter_map(|(child, copied)| Some((child.child, copied.as_ref()?))).collect();
        let old = std::mem::take(&mut self.node.entries);
        let last = old.len().saturating_sub(1);
        for (at, entry) in old.into_iter().enumerate() {
            match moved.get(&at) {
                None => self.node.entries.push(entry),
                Some(copied) => {
                    grown = GrownNode::Beyond;
                    self.node.entries.extend(copied.entries.iter().cloned());
                    if at == last {
                        self.reach(copied.end.clone());
                    }
                }
            }
        }
        grown
    }

    /// Moves the end of the node behind its chunks, but never into the next node.
    fn reach(&mut self, end: NodeKey) {
        match &self.upper {
            Some(upper) => self.node.end = upper.clone(),
            None if self.node.end.offsets < end.offsets => self.node.end = end,
            None => {}
        }
    }
}
