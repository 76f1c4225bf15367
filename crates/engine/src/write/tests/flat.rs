//! A format of one file, like netCDF-3: every element has a place, rows of several records share a chunk, the number of
//! the valid model is in the first eight bytes and is put last.
use super::map::{MapFormat, ModelMap, fill_of, stored_type};
use super::*;
use bytes::Bytes;
use ncirrus_layout::{
    Abilities, CellList, ChunkGrid, ChunkRef, EdgeChunks, Encoding, Extent, FillStorage, Layout, Location,
    PhaseForm, Placer, PlacerWork, PreparedPlacement, PutPhase, Source, Step, StorePut, View, Writing,
};
use ncirrus_model::Changes;
use std::collections::HashMap;

#[derive(Debug, Clone)]
pub(super) struct FlatFormat(pub(super) MapFormat);

/// Bytes of the file that belong to one variable.
const SLAB: u64 = 1 << 16;
/// Rows of the first axis per chunk.
const ROWS: u64 = 3;

fn base(var: VarId) -> u64 {
    8 + SLAB * var.index() as u64
}

fn row_bytes(model: &Model, var: VarId) -> u64 {
    let element = model.packed_len(model.variable(var).unwrap().ty).unwrap();
    model.shape(var).iter().skip(1).product::<u64>() * element
}

pub(super) fn source(model: &Model, root: &ObjectId, var: VarId) -> Source {
    let variable = model.variable(var).unwrap();
    let shape = model.shape(var);
    let mut stride = model.packed_len(variable.ty).unwrap();
    let mut strides: Vec<u64> = shape
        .iter()
        .rev()
        .map(|len| {
            let this = stride;
            stride *= len;
            this
        })
        .collect();
    strides.reverse();
    let logical = 0..SLAB;
    let extents = vec![Extent { logical, object: root.clone(), offset: base(var) }];
    Source {
        layout: Layout::Affine { extents: extents.into(), base: 0, strides },
        stored: stored_type(model, variable.ty, true),
        extent: shape,
        fill: fill_of(model, var),
        resolver: None,
        swapped_fill: false,
    }
}

impl Writing for FlatFormat {
    fn create(&self, root: &ObjectId) -> Result<Box<dyn Placer>> {
        let models = Arc::clone(&self.0.models);
        Ok(Box::new(FlatPlacer { models, root: root.clone(), model: Model::new(), rows: HashMap::new() }))
    }

    fn update(&self, _: &dyn View, root: &ObjectId, model: &Model) -> Step<Box<dyn Placer>> {
        let mut rows = HashMap::new();
        for var in model.variables() {
            let len = model.shape(var).first().copied().unwrap_or(1);
            for cell in 0..len.div_ceil(ROWS) {
                rows.insert((var, cell), ROWS.min(len - cell * ROWS));
            }
        }
        let models = Arc::clone(&self.0.models);
        Ok(Box::new(FlatPlacer { models, root: root.clone(), model: model.clone(), rows }))
    }

    fn is_single_object(&self) -> bool {
        true
    }
}

#[derive(Debug)]
struct FlatPlacer {
    models: ModelMap,
    root: ObjectId,
    model: Model,
    /// Rows placed of each chunk.
    rows: HashMap<(VarId, u64), u64>,
}

impl FlatPlacer {
    fn offset(&self, var: VarId, cell: &[u64]) -> u64 {
        base(var) + cell.first().copied().unwrap_or(0) * ROWS * row_bytes(&self.model, var)
    }
}

impl Placer for FlatPlacer {
    fn abilities(&self) -> Abilities {
        Abilities {
            redefine: true,
            codecs: None,
            sparse: false,
            shards: false,
            patches: true,
            unlimits: false,
            keeps_unlimited: true,
            fills: FillStorage::Variable,
        }
    }

    fn define(&mut self, _: &dyn View, model: &Model, _: Option<&Changes>) -> Step<Vec<StorePut>> {
        self.model = model.clone();
        Ok(Vec::new())
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        let variable = self.model.variable(var).unwrap();
        let shape = self.model.shape(var);
        let rows = shape.first().map(|_| ROWS);
        let grid = rows.into_iter().chain(shape.iter().skip(1).copied()).collect();
        Ok(Arc::new(Encoding {
            grid: ChunkGrid::regular(grid).unwrap(),
            edge: EdgeChunks::Clipped,
            stored: stored_type(&self.model, variable.ty, true),
            codecs: Vec::new().into(),
            fill: fill_of(&self.model, var),
        }))
    }

    fn locate(&self, _: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let locate = |cell: &[u64]| {
            let Some(rows) = self.rows.get(&(var, cell.first().copied().unwrap_or(0))) else {
                return ChunkRef::new(Location::Absent);
            };
            let start = self.offset(var, cell);
            ChunkRef::new(Location::Bytes(
                self.root.clone(),
                start..start + rows * row_bytes(&self.model, var),
            ))
        };
        Ok(cells.iter().map(locate).collect())
    }

    fn prepare(&self, _: &dyn View, _: &[PlacerWork]) -> Step<PreparedPlacement> {
        Ok(PreparedPlacement::nothing())
    }

    fn intern(&mut self, _: VarId, _: &Values) -> Result<(Bytes, Vec<StorePut>)> {
        Err(Error::internal("no references"))
    }

    fn place(
        &mut self,
        _: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        body: Bytes,
        mask: u32,
    ) -> Result<Vec<StorePut>> {
        assert_eq!(mask, 0);
        let row = row_bytes(&self.model, var);
        assert!((body.len() as u64).is_multiple_of(row) && body.len() as u64 <= ROWS * row);
        self.rows.insert((var, cell.first().copied().unwrap_or(0)), body.len() as u64 / row);
        Ok(vec![StorePut::Patch { object: self.root.clone(), offset: self.offset(var, cell), body }])
    }

    fn plan_commit(&mut self, _: &dyn View, model: &Model) -> Step<Vec<PutPhase>> {
        for var in model.variables() {
            let shape = model.shape(var);
            if shape.contains(&0) || model.variable(var).unwrap().fill == Fill::None {
                continue;
            }
            let len = shape.first().copied().unwrap_or(1);
            for cell in 0..len.div_ceil(ROWS) {
                let rows = self.rows.get(&(var, cell)).copied();
                let wanted = if shape.is_empty() { 1 } else { ROWS.min(len - cell * ROWS) };
                assert_eq!(rows, Some(wanted), "{var:?} cell {cell} of {shape:?} is not stored");
            }
        }
        let mut models = self.models.lock().unwrap();
        models.push(Arc::new(model.clone()));
        let number = Bytes::copy_from_slice(&(models.len() as u64).to_le_bytes());
        let head = StorePut::Patch { object: self.root.clone(), offset: 0, body: number };
        Ok(vec![PutPhase { puts: vec![head], form: PhaseForm::Separate }])
    }

    fn committed(&mut self) {}
}
