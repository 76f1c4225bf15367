//! Several small datasets in one store, and mosaics over them.

use crate::support::*;
use bytes::Bytes;
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::{MemoryStore, Store};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A driver of predefined datasets, by the key of their root.
#[derive(Debug, Clone, Default)]
pub(crate) struct Library {
    pub(crate) shelves: Arc<BTreeMap<String, Sample>>,
    pub(crate) opened: Arc<AtomicUsize>,
}

impl Driver for Library {
    fn name(&self) -> &'static str {
        "library"
    }
    fn probe(&self, _: &dyn View, root: &ObjectId) -> Step<Confidence> {
        Ok(if self.shelves.contains_key(root.key()) { Confidence::Yes } else { Confidence::No })
    }
    fn open(&self, _: &dyn View, root: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        self.opened.fetch_add(1, Ordering::SeqCst);
        Ok(Arc::new(self.shelves[root.key()].clone()))
    }
}

/// Tiles as they are listed.
#[derive(Debug, Clone)]
pub(crate) struct Listed(Vec<Tile>);

impl TileIndex for Listed {
    fn tiles(&self, _: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        let touches = |tile: &&Tile| tile.region.intersect(region).is_some() || region.rank() == 0;
        Ok(self.0.iter().filter(touches).cloned().collect())
    }
}

/// A library of datasets under construction.
#[derive(Default)]
pub(crate) struct Makers {
    pub(crate) made: BTreeMap<String, (Model, HashMap<VarId, Source>)>,
    pub(crate) objects: Vec<(String, Bytes)>,
}

impl Makers {
    pub(crate) fn add(&mut self, dataset: &str, name: &str, ty: TypeRef, shape: &[u64], source: Source) {
        let (model, sources) =
            self.made.entry(dataset.to_owned()).or_insert_with(|| (Model::new(), HashMap::new()));
        let root = model.root();
        let dims: Vec<DimId> = (0..shape.len())
            .map(|at| {
                model.add_dimension(root, &format!("{name}_{at}"), DimensionLen::Fixed(shape[at])).unwrap()
            })
            .collect();
        let var = model.add_variable(root, name, ty, &dims).unwrap();
        sources.insert(var, source);
    }

    /// A variable of ints whose values are their own indices.
    pub(crate) fn add_array(&mut self, dataset: &str, name: &str, array: &Array) {
        let root = store_root().child(&format!("data/{dataset}/{name}"));
        let objects = array.objects();
        self.objects.extend(objects.into_iter().map(|(key, body)| (root.child(&key).key().to_owned(), body)));
        self.add(dataset, name, Atomic::Int.into(), &array.shape, array.source(&root));
    }

    pub(crate) fn add_mosaic(&mut self, dataset: &str, name: &str, shape: &[u64], tiles: Vec<Tile>) {
        self.add(dataset, name, Atomic::Int.into(), shape, mosaic(shape, Values::Int(vec![-1]), tiles));
    }

    pub(crate) fn finish(self) -> (Library, MemoryStore) {
        let sample = |(model, sources)| Sample { model: Arc::new(model), sources: Arc::new(sources) };
        let shelves = self.made.into_iter().map(|(key, made)| (key, sample(made))).collect();
        (Library { shelves: Arc::new(shelves), opened: Arc::default() }, memory(self.objects))
    }
}

pub(crate) fn mosaic(shape: &[u64], fill: Values, tiles: Vec<Tile>) -> Source {
    Source {
        layout: Layout::Mosaic { tiles: Arc::new(Listed(tiles)) },
        stored: StoredType::Integer { size: 4, signed: true, order: ByteOrder::Little },
        extent: shape.to_vec(),
        fill,
        resolver: None,
        swapped_fill: false,
    }
}

pub(crate) fn store_root() -> ObjectId {
    ObjectId::new(StoreId::new("memory://test"), "")
}

pub(crate) fn region(start: &[u64], count: &[u64]) -> Region {
    Region { start: start.to_vec(), count: count.to_vec() }
}

pub(crate) fn from(dataset: Option<&str>, path: &str, region: Region) -> TileSource {
    let dataset = dataset.map(|key| store_root().child(key));
    TileSource::Variable { variable: VariableRef { dataset, path: path.to_owned() }, region }
}

pub(crate) fn open_in(session: &Session, store: Arc<dyn Store>, library: &Library, key: &str) -> Dataset {
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(library.clone())];
    session.block_on(session.open(store, store_root().child(key), &drivers, &OpenOptions::default())).unwrap()
}

pub(crate) fn stores(store: &MemoryStore) -> [Arc<dyn Store>; 2] {
    [store.shared(), Arc::new(Late::new(store.clone()))]
}

pub(crate) fn variable(dataset: &Dataset, path: &str) -> VarId {
    dataset.model().variable_at(path).unwrap()
}
