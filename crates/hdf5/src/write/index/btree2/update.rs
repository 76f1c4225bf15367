//! Changing version 2 B-trees: nodes that get new chunks are copied, with the path to the root, and one write of the
//! header switches to the new root. A node in which chunks are only replaced is rewritten in place.
use super::node::{ChunkRecord, NodePointer, RecordForm, RecordRow};
use super::{TreeHeader, head_len, raise, record};
use crate::address::{FieldSizes, FileAddress};
use crate::checksum::lookup3;
use crate::cursor::ByteCursor;
use crate::file::Hdf5File;
use crate::write::index::{ChunkMap, IndexGrid, UpdatedIndex};
use crate::write::{FilePatch, StructureChange};
use ncirrus_layout::{Error, Result, Step, View, join};
use std::collections::{HashMap, HashSet};

/// A node on the way to chunks that change.
struct TouchedLeaf {
    pointer: NodePointer,
    depth: u16,
    row: RecordRow,
    /// Its index among the children of a touched node one level above, and that one's among the touched of its level.
    child: usize,
    parent: usize,
    /// Whether it is the last of its level.
    is_last: bool,
    /// Chunks that change in it or below it; once its children are known, only in it.
    records: Vec<ChunkRecord>,
}

pub(in crate::write::index) fn update(
    view: &dyn View,
    file: &Hdf5File,
    addr: FileAddress,
    grid: &IndexGrid,
    chunks: &ChunkMap,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Step<UpdatedIndex> {
    let sizes = file.sizes;
    let head = TreeHeader::read(view, file, addr, grid)?;
    let mut form = RecordForm::new(&head, grid, sizes)?;
    let records =
        chunks.iter().map(|(cell, stored)| record(grid, cell, stored, sizes)).collect::<Result<Vec<_>>>()?;
    let levels = match head.root {
        Some(root) => read(view, file, &mut form, (&head, root), records.clone())?,
        None => Vec::new(),
    };
    let mut change = StructureChange::default();
    let (row, depth) = if head.root.is_none() {
        (Some(RecordRow { records, children: Vec::new() }), 0)
    } else {
        (change_levels(&mut form, levels, &mut change, place)?, head.depth + 1)
    };
    let (root, depth) = match row {
        // Chunks were only replaced.
        None => return Ok(UpdatedIndex { change, layout: None }),
        Some(RecordRow { children, .. }) if children.len() == 1 => (children, head.depth),
        Some(row) => {
            raise(&mut form, depth, row, &mut change.fresh, place).map(|(root, depth)| (vec![root], depth))?
        }
    };
    let root = root.first().ok_or_else(|| Error::internal("a tree without root"))?;
    change.then.push(head.over(root, depth)?.patch(addr, sizes));
    Ok(UpdatedIndex { change, layout: None })
}

impl TreeHeader {
    fn read(view: &dyn View, file: &Hdf5File, addr: FileAddress, grid: &IndexGrid) -> Step<Self> {
        let bytes = file.exact(view, addr, head_len(file.sizes))?;
        let head = Self::parse(&bytes, file.sizes).and_then(|head| head.checked(grid, file.sizes));
        let head = head.map_err(|error| file.at(addr, error))?;
        view.limits().depth(u32::from(head.depth), "a version 2 B-tree")?;
        Ok(head)
    }

    fn parse(bytes: &[u8], sizes: FieldSizes) -> Result<Self> {
        let mut cursor = ByteCursor::new(bytes, "the header of a version 2 B-tree");
        cursor.signature(b"BTHD")?;
        cursor.version(&[0])?;
        let (kind, node_len, record_len) = (cursor.u8()?, cursor.u32()?, cursor.u16()?);
        let (depth, split, merge) = (cursor.u16()?, cursor.u8()?, cursor.u8()?);
        let (root, records, total) = (cursor.addr(sizes)?, cursor.u16()?, cursor.len(sizes)?);
        let summed = cursor.taken();
        if cursor.u32()? != lookup3(summed) {
            return Err(Error::malformed("the checksum of the header of a version 2 B-tree is wrong"));
        }
        let root = root.filter(|_| total > 0);
        Ok(Self { kind, node_len, record_len, depth, split, merge, root, records, total })
    }

    /// Refuses a tree of anything but these chunks.
    fn checked(self, grid: &IndexGrid, sizes: FieldSizes) -> Result<Self> {
        let new = Self::new(grid, sizes)?;
        if (self.kind, self.record_len) != (new.kind, new.record_len) {
            let (kind, len) = (self.kind, self.record_len);
            return Err(Error::malformed(format!(
                "a B-tree of type {kind} with records of {len} bytes where chunks need type {} and {} bytes",
                new.kind, new.record_len
            )));
        }
        Ok(if self.root.is_none() { Self { depth: 0, ..self } } else { self })
    }
}

/// Reads the nodes on the way to chunks, from the root down.
fn read(
    view: &dyn View,
    file: &Hdf5File,
    form: &mut RecordForm,
    (head, root): (&TreeHeader, FileAddress),
    records: Vec<ChunkRecord>,
) -> Step<Vec<Vec<TouchedLeaf>>> {
    let pointer = NodePointer { addr: root, records: usize::from(head.records), total: head.total };
    let depth = head.depth;
    let root = TouchedLeaf {
        pointer,
        depth,
        row: RecordRow::default(),
        child: 0,
        parent: 0,
        is_last: true,
        records,
    };
    let (mut wanted, mut levels, mut seen) = (vec![root], Vec::new(), HashSet::new());
    while !wanted.is_empty() {
        let rows = join(&wanted, |touched| {
            let NodePointer { addr, records, .. } = touched.pointer;
            let at = |error| file.at(addr, error);
            if !seen.insert(addr) {
                return Err(at(Error::malformed("a node of a version 2 B-tree with two parents")).into());
            }
            let len = form.used_len(touched.depth, records).map_err(at)?;
            let bytes = file.exact(view, addr, len)?;
            Ok(form.parse(touched.depth, records, &bytes).map_err(at)?)
        })?;
        wanted.iter_mut().zip(rows).for_each(|(touched, row)| touched.row = row);
        let nodes = wanted.iter_mut().enumerate();
        let below = nodes.flat_map(|(at, touched)| touched.children(at, form.rank)).collect();
        levels.push(std::mem::replace(&mut wanted, below));
    }
    Ok(levels)
}

/// Changes level by level from below; returns the new root if it was copied.
fn change_levels(
    form: &mut RecordForm,
    levels: Vec<Vec<TouchedLeaf>>,
    change: &mut StructureChange,
    place: &mut dyn FnMut(u64) -> FileAddress,
) -> Result<Option<RecordRow>> {
    let mut below: Vec<(TouchedLeaf, Option<RecordRow>)> = Vec::new();
    for nodes in levels.into_iter().rev() {
        let mut children = std::mem::take(&mut below).into_iter().peekable();
        for (at, mut touched) in nodes.into_iter().enumerate() {
            let mut copied = HashMap::new();
            while let Some((child, row)) = children.next_if(|(child, _)| child.parent == at) {
                copied.extend(row.map(|row| (child.child, row)));
            }
            let row = if touched.take_in(copied, form.rank) {
                change.released.push((touched.pointer.addr, form.node_len()));
                let row = std::mem::take(&mut touched.row);
                Some(form.spread(touched.depth, row, touched.is_last, &mut change.fresh, place)?)
            } else {
                // Chunks were only replaced and no child was copied: the node is overwritten where it is.
                if !touched.records.is_empty() {
                    let body = form.encode(touched.depth, &touched.row);
                    change.then.push(FilePatch { addr: touched.pointer.addr, body });
                }
                None
            };
            below.push((touched, row));
        }
    }
    Ok(below.into_iter().next().and_then(|(_, row)| row))
}

impl TouchedLeaf {
    /// The children to which chunks belong that are not in the node itself. `at` is its index among the touched of
    /// its level.
    fn children(&mut self, at: usize, rank: usize) -> Vec<Self> {
        if self.depth == 0 {
            return Vec::new();
        }
        let mut wanted: Vec<Self> = Vec::new();
        for record in std::mem::take(&mut self.records) {
            let found = self.row.records.binary_search_by(|own| own.cmp(&record, rank));
            let Err(child) = found else {
                self.records.push(record);
                continue;
            };
            match (wanted.last_mut(), self.row.children.get(child)) {
                (Some(last), _) if last.child == child => last.records.push(record),
                (_, Some(pointer)) => wanted.push(Self {
                    pointer: *pointer,
                    depth: self.depth - 1,
                    row: RecordRow::default(),
                    child,
                    parent: at,
                    is_last: self.is_last && child == self.row.records.len(),
                    records: vec![record],
                }),
                (_, None) => {}
            }
        }
        wanted
    }

    /// Inserts chunks and the copies of children; returns whether chunks were more than replaced.
    fn take_in(&mut self, mut copied: HashMap<usize, RecordRow>, rank: usize) -> bool {
        let RecordRow { records, children } = std::mem::take(&mut self.row);
        let (count, is_moved) = (records.len(), !copied.is_empty());
        let mut own = self.records.iter().cloned().peekable();
        for record in records {
            while let Some(before) = own.next_if(|own| own.cmp(&record, rank).is_lt()) {
                self.row.records.push(before);
            }
            let same = own.next_if(|own| own.cmp(&record, rank).is_eq());
            self.row.records.push(same.unwrap_or(record));
        }
        self.row.records.extend(own);
        let is_grown = self.row.records.len() != count;
        let mut separators = std::mem::take(&mut self.row.records).into_iter();
        for (at, child) in children.into_iter().enumerate() {
            match copied.remove(&at) {
                None => self.row.children.push(child),
                Some(row) => {
                    self.row.records.extend(row.records);
                    self.row.children.extend(row.children);
                }
            }
            self.row.records.extend(separators.next());
        }
        self.row.records.extend(separators);
        is_grown || is_moved
    }
}
