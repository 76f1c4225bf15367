//! A file in memory that is written through the placer, as an engine would do it.
use super::{KEY, done, open};
use ncirrus_classic::ClassicWriter;
use ncirrus_layout::{
    CellList, EdgeChunks, Encoding, Error, Location, Placer, PreparedPlacement, PutPhase, StorePut, Writing,
};
use ncirrus_model::{Fill, Model, Region, VarId};
use ncirrus_testkit::{MemoryView, ObjectView};

/// A file that is being written.
#[derive(Debug)]
pub(crate) struct Writing3 {
    pub(crate) bytes: Vec<u8>,
    pub(crate) model: Model,
    pub(crate) placer: Box<dyn Placer>,
}

impl Writing3 {
    pub(crate) fn create(writer: &ClassicWriter) -> Self {
        let placer = writer.create(&ObjectView::id(KEY)).expect("a placer");
        Self { bytes: Vec::new(), model: Model::new(), placer }
    }

    pub(crate) fn update(writer: &ClassicWriter, bytes: &[u8]) -> Result<Self, Error> {
        let opened = open(bytes)?;
        let model = opened.model.as_ref().clone();
        let placer = done(writer.update(&opened.view, &ObjectView::id(KEY), &model))?;
        Ok(Self { bytes: bytes.to_vec(), model, placer })
    }

    /// Changes the model and passes it to the placer.
    pub(crate) fn define<T>(&mut self, change: impl FnOnce(&mut Model) -> T) -> Result<T, Error> {
        let mut model = self.model.clone();
        let result = change(&mut model);
        let puts = done(self.placer.define(&view(), &model, None))?;
        self.model = model;
        self.apply(&puts);
        Ok(result)
    }

    /// The current chunks of a variable.
    pub(crate) fn cells(&self, var: VarId) -> (Encoding, CellList) {
        let encoding = self.placer.encoding(var).expect("an encoding").as_ref().clone();
        let shape = self.model.shape(var);
        let counts: Vec<u64> =
            shape.iter().enumerate().map(|(axis, len)| encoding.grid.cells_along(axis, *len)).collect();
        let mut cells = CellList::new(shape.len());
        for_each_index(&counts, |cell| cells.push(cell));
        (encoding, cells)
    }

    /// Writes one chunk; `element` returns the bytes of the element at an index.
    pub(crate) fn write_cell(
        &mut self,
        var: VarId,
        cell: &[u64],
        element: &mut dyn FnMut(&[u64]) -> Vec<u8>,
    ) {
        let encoding = self.placer.encoding(var).expect("an encoding");
        assert_eq!(encoding.edge, EdgeChunks::Clipped);
        let region = encoding.grid.clipped_region(cell, &self.model.shape(var)).expect("a cell inside");
        let mut body = Vec::new();
        for_each_element(&region, |index| body.extend(element(index)));
        let puts = self
            .placer
            .place(&PreparedPlacement::nothing(), var, cell, body.into(), 0)
            .expect("a placed cell");
        self.apply(&puts);
    }

    /// Writes all chunks of a variable.
    pub(crate) fn write(&mut self, var: VarId, element: &mut dyn FnMut(&[u64]) -> Vec<u8>) {
        let (_, cells) = self.cells(var);
        cells.iter().for_each(|cell| self.write_cell(var, cell, element));
    }

    /// The current bytes of a chunk, before any commit; shorter than the chunk if its end was never written.
    pub(crate) fn read_cell(&self, var: VarId, cell: &[u64]) -> Option<Vec<u8>> {
        let found = done(self.placer.locate(&view(), var, &CellList::one(cell))).expect("a location");
        match &found[0].location {
            Location::Absent => None,
            Location::Bytes(_, range) => {
                let range =
                    usize::try_from(range.start).expect("small")..usize::try_from(range.end).expect("small");
                Some(self.bytes[range].to_vec())
            }
            other => panic!("an unexpected location: {other:?}"),
        }
    }

    /// Fills what was never written and returns the phases of the commit.
    pub(crate) fn plan(&mut self) -> Result<Vec<PutPhase>, Error> {
        for var in self.model.variables() {
            if self.model.variable(var).expect("a variable").fill == Fill::None {
                continue;
            }
            let (encoding, cells) = self.cells(var);
            let fill = big_endian(&encoding.fill);
            for cell in cells.iter() {
                if self.read_cell(var, cell).is_none() {
                    self.write_cell(var, cell, &mut |_| fill.clone());
                }
            }
        }
        done(self.placer.plan_commit(&view(), &self.model))
    }

    /// Commits; returns the phases.
    pub(crate) fn commit(&mut self) -> Vec<PutPhase> {
        let phases = self.plan().expect("a commit");
        phases.iter().for_each(|phase| self.apply(&phase.puts));
        self.placer.committed();
        phases
    }

    pub(crate) fn apply(&mut self, puts: &[StorePut]) {
        puts.iter().for_each(|put| apply(&mut self.bytes, put));
    }
}

/// Executes a put.
pub(crate) fn apply(bytes: &mut Vec<u8>, put: &StorePut) {
    let size = |value: &u64| usize::try_from(*value).expect("a small file");
    match put {
        StorePut::Patch { offset, body, .. } => {
            let end = size(offset) + body.len();
            bytes.resize(bytes.len().max(end), 0);
            bytes[size(offset)..end].copy_from_slice(body);
        }
        StorePut::Resize { len, .. } => bytes.resize(size(len), 0),
        StorePut::Move { from, to, len, .. } => {
            assert!(size(from) + size(len) <= bytes.len(), "a move from behind the end");
            bytes.resize(bytes.len().max(size(to) + size(len)), 0);
            bytes.copy_within(size(from)..size(from) + size(len), size(to));
        }
        other => panic!("an unexpected put: {other:?}"),
    }
}

/// The bytes of values in a classic file.
pub(crate) fn big_endian(values: &ncirrus_model::Values) -> Vec<u8> {
    let size = values.atomic().and_then(ncirrus_model::Atomic::byte_len).expect("a fixed size");
    values.as_bytes().expect("bytes").chunks(size).flat_map(|element| element.iter().rev().copied()).collect()
}

/// An empty view: the placer needs none.
fn view() -> MemoryView {
    MemoryView::new(ObjectView::new())
}

fn for_each_element(region: &Region, mut f: impl FnMut(&[u64])) {
    for_each_index(&region.count, |index| {
        let at: Vec<u64> = region.start.iter().zip(index).map(|(start, index)| start + index).collect();
        f(&at);
    });
}

/// Calls `f` with every index of an array of that shape, in row-major order.
pub(crate) fn for_each_index(shape: &[u64], mut f: impl FnMut(&[u64])) {
    if shape.contains(&0) {
        return;
    }
    let mut index = vec![0; shape.len()];
    loop {
        f(&index);
        let Some(axis) = (0..shape.len()).rev().find(|axis| index[*axis] + 1 < shape[*axis]) else { return };
        index[axis] += 1;
        index[axis + 1..].fill(0);
    }
}
