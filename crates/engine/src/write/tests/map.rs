//! A format with chunks in objects, like Zarr: metadata at commit, the root last. Models are kept outside the store,
//! and the root object says which one is valid.
use super::*;
use bytes::Bytes;
use ncirrus_layout::{
    Abilities, Catalog, CellList, ChunkGrid, ChunkIndex, ChunkRef, Confidence, Driver, EdgeChunks, Encoding,
    FillStorage, Layout, Location, OpenOptions, PhaseForm, Placer, PlacerWork, PreparedPlacement, PutPhase,
    Source, Step, StorePut, Tile, TileIndex, TileSource, VariableRef, View, Want, Writing,
};
use ncirrus_model::{
    AttributeState, Attributes, Changes, CodecSpace, CodecSpec, DatasetKind, Region, Storage, StorageFacts,
};

/// The models that root objects refer to by number.
pub(super) type ModelMap = Arc<Mutex<Vec<Arc<Model>>>>;

#[derive(Debug, Clone, Default)]
pub(super) struct MapFormat {
    pub(super) models: ModelMap,
    /// How chunks are arranged in the store, per format.
    pub(super) flat: bool,
}

/// The stored type for elements of a type.
pub(super) fn stored_type(model: &Model, ty: TypeRef, big: bool) -> StoredType {
    let order = if big { ByteOrder::Big } else { ByteOrder::Little };
    match model.base_atomic(ty) {
        Some(Atomic::Char) => StoredType::Char,
        Some(Atomic::String) => StoredType::Sequence(SequenceItem::Text),
        Some(Atomic::Float) => StoredType::Float { size: 4, order },
        Some(Atomic::Double) => StoredType::Float { size: 8, order },
        Some(atomic) => {
            let size = u8::try_from(atomic.byte_len().unwrap()).unwrap();
            let signed = matches!(atomic, Atomic::Byte | Atomic::Short | Atomic::Int | Atomic::Int64);
            StoredType::Integer { size, signed, order }
        }
        None => StoredType::Sequence(SequenceItem::Packed),
    }
}

pub(super) fn fill_of(model: &Model, var: VarId) -> Values {
    let variable = model.variable(var).unwrap();
    match (variable.own_fill(), model.base_atomic(variable.ty)) {
        (Some(own), _) => own.clone(),
        (_, Some(atomic)) => default_fill(atomic),
        (_, None) => convert::zeros(model, variable.ty, 1).unwrap(),
    }
}

fn encoding_of(model: &Model, var: VarId) -> Encoding {
    let variable = model.variable(var).unwrap();
    let grid = match &variable.storage {
        Storage::Chunked(shape) => shape.clone(),
        _ => vec![2; variable.rank()],
    };
    Encoding {
        grid: ChunkGrid::regular(grid).unwrap(),
        edge: EdgeChunks::Full,
        stored: stored_type(model, variable.ty, variable.name.ends_with("_big")),
        codecs: variable.filters.clone().into(),
        fill: fill_of(model, var),
    }
}

fn chunk(root: &ObjectId, var: VarId, cell: &[u64]) -> ObjectId {
    let name: Vec<String> = cell.iter().map(u64::to_string).collect();
    root.child(&format!("v{}/{}", var.index(), if cell.is_empty() { "0".to_owned() } else { name.join(".") }))
}

impl Writing for MapFormat {
    fn create(&self, root: &ObjectId) -> Result<Box<dyn Placer>> {
        Ok(Box::new(MapPlacer { models: Arc::clone(&self.models), root: root.clone(), model: Model::new() }))
    }

    fn update(&self, _: &dyn View, root: &ObjectId, model: &Model) -> Step<Box<dyn Placer>> {
        Ok(Box::new(MapPlacer { models: Arc::clone(&self.models), root: root.clone(), model: model.clone() }))
    }

    fn is_single_object(&self) -> bool {
        false
    }
}

#[derive(Debug)]
struct MapPlacer {
    models: ModelMap,
    root: ObjectId,
    model: Model,
}

impl Placer for MapPlacer {
    fn abilities(&self) -> Abilities {
        Abilities {
            redefine: true,
            codecs: Some(CodecSpace::V2),
            sparse: true,
            shards: false,
            patches: false,
            unlimits: false,
            keeps_unlimited: true,
            fills: FillStorage::Variable,
        }
    }

    fn define(&mut self, _: &dyn View, model: &Model, _: Option<&Changes>) -> Step<Vec<StorePut>> {
        for var in model.variables() {
            let variable = model.variable(var).unwrap();
            if variable.name.starts_with("bad") {
                return Err(Error::unsupported("a bad name").at_path(model.variable_path(var)).into());
            }
            assert!(variable.filters.iter().all(|filter| filter.space() == CodecSpace::V2));
        }
        self.model = model.clone();
        Ok(Vec::new())
    }

    fn encoding(&self, var: VarId) -> Result<Arc<Encoding>> {
        if self.model.variable(var).unwrap().name.starts_with("virtual") {
            return Err(Error::unsupported("a virtual variable cannot be written"));
        }
        Ok(Arc::new(encoding_of(&self.model, var)))
    }

    fn encoding_in(&self, model: &Model, var: VarId) -> Result<Arc<Encoding>> {
        Ok(Arc::new(encoding_of(model, var)))
    }

    fn locate(&self, _: &dyn View, var: VarId, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let locate = |cell: &[u64]| ChunkRef::new(Location::Object(chunk(&self.root, var, cell)));
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
        _: u32,
    ) -> Result<Vec<StorePut>> {
        Ok(vec![StorePut::Object { object: chunk(&self.root, var, cell), body }])
    }

    fn place_whole(
        &mut self,
        _: &PreparedPlacement,
        var: VarId,
        cell: &[u64],
        _: u32,
    ) -> Result<Option<ObjectId>> {
        Ok(Some(chunk(&self.root, var, cell)))
    }

    fn plan_commit(&mut self, _: &dyn View, model: &Model) -> Step<Vec<PutPhase>> {
        let mut models = self.models.lock().unwrap();
        if models.last().is_none_or(|last| **last != *model) {
            models.push(Arc::new(model.clone()));
        }
        let number = Bytes::from((models.len() - 1).to_string());
        let array = |var: VarId| StorePut::Object {
            object: self.root.child(&format!("v{}/meta", var.index())),
            body: number.clone(),
        };
        let arrays = model.variables().into_iter().map(array).collect();
        let document = |name: &str| StorePut::Object { object: self.root.child(name), body: number.clone() };
        // Like consolidated metadata, from which some readers see a dataset before others see its root.
        let is_covered = |var: &VarId| model.variable(*var).unwrap().name.starts_with("covered");
        let cover = model.variables().iter().any(is_covered).then(|| vec![document("cover")]);
        let phases = [Some(arrays), cover, Some(vec![document("root")])];
        Ok(phases.into_iter().flatten().map(|puts| PutPhase { puts, form: PhaseForm::Separate }).collect())
    }

    fn committed(&mut self) {}
}

/// Opens what [`MapFormat`] and [`FlatFormat`] wrote.
#[derive(Debug, Clone)]
pub(super) struct TestDriver(pub(super) MapFormat);

impl Driver for TestDriver {
    fn name(&self) -> &'static str {
        "test"
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        let object = if self.0.flat { root.clone() } else { root.child("root") };
        Ok(view.read(&object, Want::All)?.map_or(Confidence::No, |_| Confidence::Yes))
    }

    fn open(&self, view: &dyn View, root: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        let (object, want) =
            if self.0.flat { (root.clone(), Want::Range(0..8)) } else { (root.child("root"), Want::All) };
        let blob = view.read(&object, want)?.ok_or_else(|| Error::not_found("no root"))?;
        let number = if self.0.flat {
            usize::try_from(u64::from_le_bytes(blob.bytes[..].try_into().unwrap())).unwrap() - 1
        } else {
            std::str::from_utf8(&blob.bytes).unwrap().parse().unwrap()
        };
        let model = Arc::clone(&self.0.models.lock().unwrap()[number]);
        Ok(Arc::new(MapCatalog { format: self.0.clone(), root: root.clone(), model }))
    }
}

#[derive(Debug)]
struct MapCatalog {
    format: MapFormat,
    root: ObjectId,
    model: Arc<Model>,
}

#[derive(Debug)]
struct MapIndex {
    root: ObjectId,
    var: VarId,
}

impl ChunkIndex for MapIndex {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let locate = |cell: &[u64]| ChunkRef::new(Location::Object(chunk(&self.root, self.var, cell)));
        Ok(cells.iter().map(locate).collect())
    }
}

/// All elements are taken from the variable `v`.
#[derive(Debug)]
struct ModelCopy;

impl TileIndex for ModelCopy {
    fn tiles(&self, _: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        let variable = VariableRef { dataset: None, path: "/v".into() };
        let source = TileSource::Variable { variable, region: region.clone() };
        Ok(vec![Tile { region: region.clone(), source }])
    }
}

impl Catalog for MapCatalog {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.model))
    }

    fn attributes(&self, _: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        let known = |node: &NodeId| self.model.attributes(*node).and_then(AttributeState::known).cloned();
        Ok(of.iter().map(|node| Ok(known(node).unwrap_or_default())).collect())
    }

    fn source(&self, _: &dyn View, var: VarId) -> Step<Source> {
        if self.format.flat {
            return Ok(flat::source(&self.model, &self.root, var));
        }
        let encoding = encoding_of(&self.model, var);
        let layout = if self.model.variable(var).unwrap().name.starts_with("virtual") {
            Layout::Mosaic { tiles: Arc::new(ModelCopy) }
        } else {
            Layout::Grid {
                grid: encoding.grid,
                edge: encoding.edge,
                index: Arc::new(MapIndex { root: self.root.clone(), var }),
                codecs: encoding.codecs,
            }
        };
        Ok(Source {
            layout,
            stored: encoding.stored,
            extent: self.model.shape(var),
            fill: encoding.fill,
            resolver: None,
            swapped_fill: false,
        })
    }

    fn kind(&self) -> DatasetKind {
        DatasetKind::hdf5(false)
    }

    fn facts(&self) -> StorageFacts {
        StorageFacts::default()
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        if self.format.flat {
            Some(Arc::new(FlatFormat(self.format.clone())))
        } else {
            Some(Arc::new(self.format.clone()))
        }
    }
}

/// Deflate, as numcodecs describes it.
pub(super) fn zlib() -> CodecSpec {
    let map = serde_json::json!({"id": "zlib", "level": 1});
    CodecSpec::V2(map.as_object().unwrap().clone())
}
