//! Existing datasets: their attributes, lengths and data (docs/spec/hdf5-netcdf4.md J.1, J.3, J.4).
use super::super::data::{ExistingStorage, chunk_of, has_fill, locate};
use super::super::layout_message::{with_address, with_data};
use super::{PendingWrites, UpdatePlanner};
use crate::address::FileAddress;
use crate::datatypes::{Dataspace, FillMessage};
use crate::layout::{ElementLayout, StoredDataset, dataset};
use crate::object::{HeaderMessage, kind, resolve};
use crate::write::FilePatch;
use crate::write::header::MessageDraft;
use crate::write::index::{self, IndexGrid};
use crate::write::message;
use crate::write::objects::{FileObject, dimension_of};
use crate::write::placer::{ChunkArrangement, HeldElements, run_of};
use crate::write::put::put_uint;
use crate::write::value::encode_values;
use bytes::Bytes;
use ncirrus_layout::grid::row_major_cell;
use ncirrus_layout::{CellList, Error, Location, Result, Step};
use ncirrus_model::{DimId, Fill, Model, NodeId, VarId, Variable};
use std::collections::{BTreeSet, HashSet};

impl UpdatePlanner<'_> {
    /// Brings a variable up to date.
    pub(super) fn variable(&mut self, id: VarId) -> Step<()> {
        let Some(addr) = self.known.addrs.get(&FileObject::Variable(id)).copied() else { return Ok(()) };
        self.ties(FileObject::Variable(id), addr)?;
        self.attributes(NodeId::Variable(id), addr)?;
        self.fill_value(id, addr)?;
        let pending = self.pending_writes.get(&id).filter(|pending| pending.waits());
        if pending.is_none() && !self.must_grow(id) {
            return Ok(());
        }
        let found = dataset(self.view, &self.object(addr))?;
        if pending.is_none() && has_odd_edges(&found) {
            return Ok(());
        }
        let mut lens = self.new.shape(id);
        let reaches_end = |user: VarId| {
            let pending = self.pending_writes.get(&user);
            pending.is_some_and(|pending| pending.held.reaches_end(self.new, user, pending.form.cell_shape()))
        };
        let records = pending
            .and_then(|pending| pending.held.records(self.new, id, pending.form.cell_shape(), reaches_end));
        if let (Some(records), Some(first)) = (records, lens.first_mut()) {
            *first = records;
        }
        let grown = grown(&found.space, &lens);
        if let (Some(pending), Some(existing)) = (pending, self.existing_storage.get(&id)) {
            self.data(id, (pending, existing), (&found, &grown))?;
        }
        self.lengths(addr, &found.space, &grown)
    }

    /// Whether the lengths of a variable without written data are stored all the same: those of a scale are the
    /// dimension's; netCDF-C mixes up the values of a variable that is shorter along an axis other than its first,
    /// and uses the length of the longest variable as the dimension's.
    fn must_grow(&self, id: VarId) -> bool {
        let (old, new) = (self.old.shape(id), self.new.shape(id));
        let is_inner = || old.iter().zip(&new).skip(1).any(|(old, new)| old != new);
        let dims = self.new.variable(id).map(|variable| variable.dims.as_slice()).unwrap_or_default();
        (old != new && (dimension_of(self.new, id).is_some() || is_inner()))
            || dims.iter().any(|dim| self.loses_user(*dim))
    }

    /// Whether a variable along a dimension is removed: it may have determined the length.
    fn loses_user(&self, dim: DimId) -> bool {
        let is_unlimited = self.new.dimension(dim).is_some_and(|dimension| dimension.len.is_unlimited());
        is_unlimited && self.losing.contains(&dim)
    }

    /// The dimensions of variables that are removed.
    pub(super) fn losing_users(&self) -> HashSet<DimId> {
        let removed = self.old.variables().into_iter().filter(|var| self.new.variable(*var).is_none());
        removed.filter_map(|var| self.old.variable(var)).flat_map(|variable| variable.dims.clone()).collect()
    }

    /// The value of elements never written is that of `_FillValue`, unless it is settled.
    fn fill_value(&mut self, id: VarId, addr: FileAddress) -> Step<()> {
        let Some(variable) = self.new.variable(id) else { return Ok(()) };
        let is_settled = matches!(variable.fill, Fill::Apart(_) | Fill::Default);
        // An attribute of another form is none of the dataset's value.
        let Some(new) = variable.fill_attribute().filter(|_| !is_settled) else { return Ok(()) };
        let old = self.old.variable(id).and_then(Variable::fill_attribute);
        if old.is_some_and(|old| old.is_identical(new)) {
            return Ok(());
        }
        // Values stored elsewhere, as in files outside, do not change.
        let Some(pending) = self.pending_writes.get(&id) else { return Ok(()) };
        let datatype = &pending.form.datatype;
        let value = encode_values(datatype, new, 0..1, &mut self.heap, &mut self.space)?;
        let allocation = match pending.form.arranged {
            ChunkArrangement::Compact => 1,
            ChunkArrangement::Contiguous => 2,
            ChunkArrangement::Chunked => 3,
        };
        let body = message::fill(&FillMessage { value: Some(value.into()), never: false }, allocation)?;
        let header = self.header(addr)?;
        let draft = MessageDraft { kind: kind::FILL, flags: 1, order: 0, body };
        match header.find(kind::FILL).map(|(number, _)| number) {
            Some(number) => header.replace(number, draft)?,
            None => _ = header.push(draft),
        }
        Ok(())
    }

    /// Brings the dataset of a dimension without variable up to date.
    pub(super) fn dimension(&mut self, id: DimId) -> Step<()> {
        let Some(addr) = self.known.addrs.get(&FileObject::Dimension(id)).copied() else { return Ok(()) };
        self.ties(FileObject::Dimension(id), addr)?;
        let len = |model: &Model| model.dimension(id).map_or(0, |dimension| dimension.len.current());
        let (before, now) = (len(self.old), len(self.new));
        if (before == now && !self.loses_user(id)) || self.is_reached(id) {
            return Ok(());
        }
        let found = dataset(self.view, &self.object(addr))?;
        let lens = grown(&found.space, &[now]);
        self.lengths(addr, &found.space, &lens)
    }

    /// Whether a variable becomes as long as a dimension: then its own length need not be stored.
    fn is_reached(&self, dim: DimId) -> bool {
        self.new.users_of(dim).any(|var| {
            let is_new = !self.known.addrs.contains_key(&FileObject::Variable(var));
            is_new || self.pending_writes.get(&var).is_some_and(|pending| pending.waits())
        })
    }

    /// Writes the lengths of a dataset.
    fn lengths(&mut self, addr: FileAddress, space: &Dataspace, lens: &[u64]) -> Step<()> {
        if space.dims() == lens {
            return Ok(());
        }
        let sizes = self.file.sizes;
        let (number, draft) = self.own(addr, kind::DATASPACE)?;
        let at = if draft.body.first() == Some(&1) { 8 } else { 4 };
        let width = sizes.lengths;
        let mut body = draft.body.to_vec();
        for (axis, len) in lens.iter().enumerate() {
            put_uint(&mut body, at + axis * usize::from(width), *len, width, "a dataspace")?;
        }
        Ok(self.header(addr)?.replace(number, MessageDraft { body: body.into(), ..draft })?)
    }

    /// A message of a header, as its own copy if it is shared now.
    fn own(&mut self, addr: FileAddress, kind: u16) -> Step<(usize, MessageDraft)> {
        const SHARED: u8 = 2;
        let found = self.header(addr)?.find(kind).map(|(number, draft)| (number, draft.clone()));
        let (number, draft) = found.ok_or_else(|| Error::malformed("a message is missing"))?;
        if draft.flags & SHARED == 0 {
            return Ok((number, draft));
        }
        let message = HeaderMessage { kind, flags: draft.flags, order: None, body: draft.body.clone() };
        let body = resolve(self.view, &self.file, &message)?.body;
        Ok((number, MessageDraft { flags: draft.flags & !SHARED, body, ..draft }))
    }

    /// Attaches placed data to the dataset.
    fn data(
        &mut self,
        id: VarId,
        (pending, existing): (&PendingWrites, &ExistingStorage),
        (found, lens): (&StoredDataset, &[u64]),
    ) -> Step<()> {
        let addr = existing.addr;
        // References in a run that readers know are overwritten in place, after their targets.
        for (cell, body) in &pending.late {
            let start = run_of(&pending.form, &pending.shape, cell)?.start;
            let run = existing.run.map_or(0, |run| run.0);
            self.late.push(FilePatch { addr: FileAddress(run.saturating_add(start)), body: body.clone() });
        }
        let body = match &pending.held {
            HeldElements::Compact(Some(data)) => {
                let (_, draft) = self.own(addr, kind::LAYOUT)?;
                with_data(&draft.body, data)?
            }
            HeldElements::Run { addr: Some(run), cells } => {
                self.fill(pending, *run, cells, !has_fill(self.new.variable(id)))?;
                let (_, draft) = self.own(addr, kind::LAYOUT)?;
                with_address(&draft.body, None, *run, self.file.sizes)?
            }
            HeldElements::Chunks(_) => match self.chunks((pending, existing), (found, lens))? {
                Some(body) => body,
                None => return Ok(()),
            },
            HeldElements::Compact(None) | HeldElements::Run { .. } => return Ok(()),
        };
        let (number, draft) = self.own(addr, kind::LAYOUT)?;
        Ok(self.header(addr)?.replace(number, MessageDraft { body, ..draft })?)
    }

    /// Changes the index of chunks; returns the layout message if it changes too.
    fn chunks(
        &mut self,
        (pending, existing): (&PendingWrites, &ExistingStorage),
        (found, lens): (&StoredDataset, &[u64]),
    ) -> Step<Option<Bytes>> {
        let (HeldElements::Chunks(held), ElementLayout::Chunked { shape, index, addr, version, .. }) =
            (&pending.held, &found.arrangement)
        else {
            return Err(Error::internal("chunks of a dataset without").into());
        };
        let max = match &found.space {
            Dataspace::Simple { max, .. } => max.clone(),
            Dataspace::Null | Dataspace::Scalar => Vec::new(),
        };
        let grid = IndexGrid {
            chunk: shape.clone(),
            element: found.datatype.byte_len,
            dims: lens.to_vec(),
            max,
            filtered: !found.filters.is_empty(),
            version: *version,
        };
        let mut cells = CellList::new(found.shape.len());
        held.keys().for_each(|cell| cells.push(cell));
        let old = locate(self.view, &self.file, existing, &pending.form, &cells)?;
        let chunks = held.iter().map(|(cell, stored)| (chunk_of(cell, shape.len()), *stored)).collect();
        let updated = index::update(self.view, &self.file, (*index, *addr), &grid, &chunks, &mut self.space)?;
        self.indexes.extend(updated.change.then);
        self.fresh.extend(updated.change.fresh);
        // Replaced nodes and chunks are given up, but not before the commit: the file on disk still refers to them.
        updated.change.released.into_iter().for_each(|(addr, len)| self.space.leave(addr, len));
        for found in old {
            if let Location::Bytes(_, range) = found.location {
                let start = range.start.saturating_sub(self.file.base);
                self.space.leave(FileAddress(start), range.end.saturating_sub(range.start));
            }
        }
        let Some((kind, addr)) = updated.layout else { return Ok(None) };
        let (_, draft) = self.own(existing.addr, kind::LAYOUT)?;
        Ok(Some(with_address(&draft.body, Some(kind), addr, self.file.sizes)?))
    }

    /// Fill in the unwritten chunks of a new run; without fill only in the last one, so that the file is long enough.
    fn fill(
        &mut self,
        pending: &PendingWrites,
        run: FileAddress,
        written: &BTreeSet<Vec<u64>>,
        only_last: bool,
    ) -> Result<()> {
        let (form, grid) = (&pending.form, &pending.form.encoding.grid);
        let all = pending.shape.iter().enumerate().map(|(axis, len)| grid.cells_along(axis, *len));
        let all: Vec<u64> = all.collect();
        let count = all.iter().fold(1u64, |count, along| count.saturating_mul(*along));
        let fill = &form.encoding.fill;
        let one = encode_values(&form.datatype, fill, 0..1, &mut self.heap, &mut self.space)?;
        let mut whole = Bytes::new();
        for number in if only_last { count.saturating_sub(1) } else { 0 }..count {
            let cell = row_major_cell(number, &all);
            if written.contains(&cell) {
                continue;
            }
            let range = run_of(form, &pending.shape, &cell)?;
            let len = usize::try_from(range.end - range.start).unwrap_or(0);
            if whole.len() < len {
                whole = one.iter().copied().cycle().take(len).collect();
            }
            self.fresh.push(FilePatch {
                addr: FileAddress(run.0.saturating_add(range.start)),
                body: whole.slice(..len),
            });
        }
        Ok(())
    }
}

/// Whether edge chunks are stored differently from others, so that none may become an inner one.
fn has_odd_edges(found: &StoredDataset) -> bool {
    matches!(found.arrangement, ElementLayout::Chunked { edges_unfiltered: true, .. })
}

/// Lengths of a dataset, with those of the model where it may grow.
fn grown(space: &Dataspace, lens: &[u64]) -> Vec<u64> {
    let Dataspace::Simple { dims, max } = space else { return Vec::new() };
    let axes = dims.iter().zip(max).zip(lens.iter().copied().chain(std::iter::repeat(0)));
    axes.map(|((len, max), new)| if max.is_none() { (*len).max(new) } else { *len }).collect()
}
