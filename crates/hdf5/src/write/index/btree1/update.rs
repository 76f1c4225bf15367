//! Changing of version 1 B-trees: leaves that get new chunks are copied, with the path to the root.
//!
//! A leaf in which chunks are replaced only is written in place, whole.
use super::node::{Entry, Form, Key, Node};
use super::{entry, raise};
use crate::cursor::Cursor;
use crate::file::{Addr, File};
use crate::place::IndexKind;
use crate::write::index::{Chunks, Grid, Updated};
use crate::write::out::Out;
use crate::write::{Change, Patch};
use ncirrus_layout::{Error, Result, Step, View, join, settle};
use std::collections::{HashMap, HashSet};
use std::ops::Range;

/// A node on the way to chunks that change.
struct Touched {
    node: Node,
    /// Its place among the children of a touched node one level above, and among all touched there.
    child: usize,
    parent: usize,
    /// The chunks, among all that change.
    range: Range<usize>,
    /// Where the next node begins; `None` for the last of the tree.
    upper: Option<Key>,
    /// Whether it is written anew in its place.
    is_replaced: bool,
}

/// The siblings of a node: left and right.
type Links = (Option<Addr>, Option<Addr>);

/// What is known of a tree before it is changed.
struct Paths {
    form: Form,
    /// From the root down.
    levels: Vec<Vec<Touched>>,
    /// The links of siblings of touched nodes that are none themselves.
    siblings: HashMap<Addr, Links>,
}

pub(in crate::write::index) fn update(
    view: &dyn View,
    file: &File,
    root: Addr,
    grid: &Grid,
    chunks: &Chunks,
    place: &mut dyn FnMut(u64) -> Addr,
) -> Step<Updated> {
    let entries =
        chunks.iter().map(|(cell, stored)| entry(grid, cell, stored)).collect::<Result<Vec<_>>>()?;
    let paths = Paths::read(view, file, root, grid, &entries)?;
    Ok(paths.change(grid, &entries, place)?)
}

impl Paths {
    fn read(view: &dyn View, file: &File, root: Addr, grid: &Grid, entries: &[Entry]) -> Step<Self> {
        let form = Form::new(grid, file.sizes, file.ranks.chunk);
        let mut levels: Vec<Vec<Touched>> = Vec::new();
        let mut seen = HashSet::new();
        let mut wanted =
            vec![Wanted { addr: root, child: 0, parent: 0, range: 0..entries.len(), upper: None }];
        while !wanted.is_empty() {
            view.limits().depth(u32::try_from(levels.len()).unwrap_or(u32::MAX), "a chunk index")?;
            let below = levels.last().and_then(|level| level.first()).map(|touched| touched.node.level);
            let nodes = join(&wanted, |wanted| {
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
            let level: Vec<Touched> =
                wanted.into_iter().zip(nodes).map(|(wanted, node)| wanted.found(node)).collect();
            let below = level.iter().enumerate().map(|(at, touched)| touched.children(at, entries));
            wanted = below.collect::<Result<Vec<_>>>()?.into_iter().flatten().collect();
            levels.push(level);
        }
        let siblings = siblings(view, file, &form, &levels)?;
        Ok(Self { form, levels, siblings })
    }

    fn change(
        mut self,
        grid: &Grid,
        entries: &[Entry],
        place: &mut dyn FnMut(u64) -> Addr,
    ) -> Result<Updated> {
        let (mut change, mut new) = (Change::default(), Vec::new());
        let mut below: Vec<Option<Copied>> = Vec::new();
        let mut children: Vec<Touched> = Vec::new();
        for mut level in std::mem::take(&mut self.levels).into_iter().rev() {
            let mut copied = Vec::with_capacity(level.len());
            let mut made = Vec::new();
            let mut from = 0;
            for (at, touched) in level.iter_mut().enumerate() {
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
                    Grown::Nothing => None,
                    Grown::InPlace => {
                        touched.is_replaced = true;
                        None
                    }
                    Grown::Beyond => Some(self.copy(touched, &mut made, place)?),
                });
            }
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
        Ok(Updated { change, layout })
    }

    /// Puts a node into new places, as many as it needs.
    fn copy(
        &self,
        touched: &Touched,
        made: &mut Vec<Node>,
        place: &mut dyn FnMut(u64) -> Addr,
    ) -> Result<Copied> {
        let Node { addr, level, entries, end, .. } = &touched.node;
        let parents =
            self.form.spread(*level, (entries.clone(), end.clone()), touched.upper.is_none(), made, place)?;
        Ok(Copied { old: *addr, level: *level, entries: parents, end: end.clone() })
    }

    /// The root: the copy of the old one, or a new one above its copies.
    fn root(&self, old: Copied, nodes: &mut Vec<Node>, place: &mut dyn FnMut(u64) -> Addr) -> Result<Addr> {
        if let [root] = old.entries.as_slice() {
            return Ok(root.addr);
        }
        let above =
            old.level.checked_add(1).ok_or_else(|| Error::limit("a B-tree of more than 255 levels"))?;
        raise(&self.form, above, (old.entries, old.end), nodes, place)
    }

    /// Links copies to the neighbours of the old nodes, and these to them. Who goes down from the root never looks at
    /// these addresses, but HDF5 keeps them when it splits nodes.
    fn link(&self, level: &[Touched], copied: &[Option<Copied>], made: &mut [Node]) -> Vec<Link> {
        let mut links = Vec::new();
        let ends =
            |copied: &Copied| Some((copied.old, (copied.entries.first()?.addr, copied.entries.last()?.addr)));
        let moved: HashMap<Addr, (Addr, Addr)> = copied.iter().flatten().filter_map(ends).collect();
        let kept = level.iter().map(|touched| (touched.node.addr, (touched.node.left, touched.node.right)));
        let kept: HashMap<_, _> =
            kept.chain(self.siblings.iter().map(|(addr, links)| (*addr, *links))).collect();
        let mut at: HashMap<Addr, &mut Node> = made.iter_mut().map(|node| (node.addr, node)).collect();
        for touched in level {
            let Node { addr: old, left, right, .. } = touched.node;
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
                    links.push(Link { of: neighbour, is_right: !is_right, to: edge });
                }
            }
        }
        links
    }
}

/// A sibling that a node which stays in its place is to have.
struct Link {
    of: Addr,
    is_right: bool,
    to: Addr,
}

impl Link {
    /// Puts it into the node, if that is written anyway; else gives the patch.
    fn put(self, form: &Form, level: &mut [Touched]) -> Option<Patch> {
        let Self { of, is_right, to } = self;
        match level.iter_mut().find(|touched| touched.is_replaced && touched.node.addr == of) {
            Some(Touched { node, .. }) => {
                *(if is_right { &mut node.right } else { &mut node.left }) = Some(to);
                None
            }
            None => {
                let body = Out::new().addr(Some(to), form.sizes).finish();
                Some(Patch { addr: form.sibling(of, is_right), body })
            }
        }
    }
}

/// Reads the links of all neighbours that are not touched; what is no node of that level is left out.
fn siblings(
    view: &dyn View,
    file: &File,
    form: &Form,
    levels: &[Vec<Touched>],
) -> Step<HashMap<Addr, Links>> {
    let mut seen: HashSet<Addr> = levels.iter().flatten().map(|touched| touched.node.addr).collect();
    let neighbours = levels.iter().flatten().flat_map(|touched| {
        let node = &touched.node;
        [node.left, node.right].into_iter().flatten().map(|addr| (addr, node.level))
    });
    let neighbours: Vec<(Addr, u8)> = neighbours.filter(|(addr, _)| seen.insert(*addr)).collect();
    let found = join(neighbours, |(addr, level)| {
        let head = || -> Step<_> {
            let bytes = file.exact(view, addr, form.head_len())?;
            Ok(form.head(&mut Cursor::new(&bytes, "a B-tree node of chunks"))?)
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

/// A node that is to be read.
struct Wanted {
    addr: Addr,
    child: usize,
    parent: usize,
    range: Range<usize>,
    upper: Option<Key>,
}

impl Wanted {
    fn found(self, node: Node) -> Touched {
        let Self { child, parent, range, upper, .. } = self;
        Touched { node, child, parent, range, upper, is_replaced: false }
    }
}

/// A node that has new places.
struct Copied {
    old: Addr,
    level: u8,
    /// Its copies, as children of the next level.
    entries: Vec<Entry>,
    end: Key,
}

/// What became of a node.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Grown {
    Nothing,
    /// Chunks were replaced only.
    InPlace,
    /// There are new chunks or other children.
    Beyond,
}

impl Touched {
    /// The children that know of chunks that change. `at` is the node's place among the touched of its level.
    fn children(&self, at: usize, entries: &[Entry]) -> Result<Vec<Wanted>> {
        let mut wanted: Vec<Wanted> = Vec::new();
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
            wanted.push(Wanted { addr: found.addr, child, parent: at, range, upper });
        }
        Ok(wanted)
    }

    /// Takes chunks into a leaf.
    fn merge(&mut self, grid: &Grid, entries: &[Entry]) -> Grown {
        let old = std::mem::take(&mut self.node.entries);
        let mut merged = Vec::with_capacity(old.len() + entries.len());
        let mut is_grown = false;
        let mut old = old.into_iter().peekable();
        for entry in entries {
            while let Some(before) = old.next_if(|old| old.key.offsets < entry.key.offsets) {
                merged.push(before);
            }
            merged.push(entry.clone());
            // Of two records of one chunk the first counts, and the others go.
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
        if is_grown { Grown::Beyond } else { Grown::InPlace }
    }

    /// Takes over the copies of children.
    fn adopt<'a>(&mut self, parts: impl Iterator<Item = (&'a Touched, &'a Option<Copied>)>) -> Grown {
        let mut grown = Grown::Nothing;
        let moved: HashMap<usize, &Copied> =
            parts.filter_map(|(child, copied)| Some((child.child, copied.as_ref()?))).collect();
        let old = std::mem::take(&mut self.node.entries);
        let last = old.len().saturating_sub(1);
        for (at, entry) in old.into_iter().enumerate() {
            match moved.get(&at) {
                None => self.node.entries.push(entry),
                Some(copied) => {
                    grown = Grown::Beyond;
                    self.node.entries.extend(copied.entries.iter().cloned());
                    if at == last {
                        self.reach(copied.end.clone());
                    }
                }
            }
        }
        grown
    }

    /// Moves the end of the node behind its chunks, and never into the next node.
    fn reach(&mut self, end: Key) {
        match &self.upper {
            Some(upper) => self.node.end = upper.clone(),
            None if self.node.end.offsets < end.offsets => self.node.end = end,
            None => {}
        }
    }
}
