//! A small driver over arrays made in tests, and a store that answers with a delay and counts requests.

use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_codec::{ChunkInfo, CodecRegistry, CodecScratch, DecodedElement};
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store, StoreFacts};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// A driver that has one predefined dataset.
#[derive(Debug, Clone)]
pub(crate) struct Sample {
    pub(crate) model: Arc<Model>,
    pub(crate) sources: Arc<HashMap<VarId, Source>>,
}

impl Driver for Sample {
    fn name(&self) -> &'static str {
        "sample"
    }
    fn probe(&self, _: &dyn View, _: &ObjectId) -> Step<Confidence> {
        Ok(Confidence::Yes)
    }
    fn open(&self, _: &dyn View, _: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        Ok(Arc::new(self.clone()))
    }
}

impl Catalog for Sample {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.model))
    }
    fn attributes(&self, _: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        Ok(of.iter().map(|_| Ok(Attributes::new())).collect())
    }
    fn source(&self, _: &dyn View, variable: VarId) -> Step<Source> {
        Ok(self.sources[&variable].clone())
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
        None
    }
}

/// One object per chunk.
#[derive(Debug)]
pub(crate) struct ByKey {
    pub(crate) root: ObjectId,
}

impl ChunkIndex for ByKey {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        Ok(cells.iter().map(|cell| ChunkRef::new(Location::Object(self.root.child(&key(cell))))).collect())
    }
}

pub(crate) fn key(cell: &[u64]) -> String {
    if cell.is_empty() {
        return "0".to_owned();
    }
    cell.iter().map(u64::to_string).collect::<Vec<_>>().join(".")
}

/// An array of ints whose values are their own indices, stored in some way.
#[derive(Debug, Clone)]
pub(crate) struct Array {
    pub(crate) shape: Vec<u64>,
    pub(crate) chunk: Vec<u64>,
    pub(crate) extent: Vec<u64>,
    pub(crate) order: ByteOrder,
    pub(crate) edge: EdgeChunks,
    pub(crate) codecs: Vec<CodecSpec>,
    pub(crate) absent: BTreeSet<Vec<u64>>,
    pub(crate) fill: i32,
}

impl Array {
    pub(crate) fn new(shape: &[u64], chunk: &[u64]) -> Self {
        Self {
            shape: shape.to_vec(),
            chunk: chunk.to_vec(),
            extent: shape.to_vec(),
            order: ByteOrder::Little,
            edge: EdgeChunks::Full,
            codecs: Vec::new(),
            absent: BTreeSet::new(),
            fill: -7,
        }
    }

    pub(crate) fn zlib(mut self) -> Self {
        self.codecs = vec![CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[1])];
        self
    }

    fn encode(&self, value: i32) -> [u8; 4] {
        match self.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        }
    }

    pub(crate) fn grid(&self) -> ChunkGrid {
        ChunkGrid::regular(self.chunk.clone()).unwrap()
    }

    /// All chunks of the stored extent.
    pub(crate) fn cells(&self) -> Vec<Vec<u64>> {
        let counts: Vec<u64> =
            self.extent.iter().zip(&self.chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
        indices(&counts)
    }

    /// The stored bytes of each chunk that exists.
    pub(crate) fn chunks(&self) -> BTreeMap<Vec<u64>, Bytes> {
        let mut chunks = BTreeMap::new();
        for cell in self.cells() {
            if self.absent.contains(&cell) {
                continue;
            }
            let region = match self.edge {
                EdgeChunks::Full => self.grid().region(&cell).unwrap(),
                EdgeChunks::Clipped => self.grid().clipped_region(&cell, &self.extent).unwrap(),
            };
            let mut raw = Vec::new();
            for offset in indices(&region.count) {
                let index: Vec<u64> = offset.iter().zip(&region.start).map(|(a, b)| a + b).collect();
                raw.extend(self.encode(value_at(&index)));
            }
            let info = ChunkInfo { shape: region.count.clone(), element: DecodedElement::sized(Some(4)) };
            let chain = CodecRegistry::builtin().bind(&self.codecs, &info).unwrap();
            let (encoded, _) = chain.encode(&raw, &mut CodecScratch::default()).unwrap();
            chunks.insert(cell, encoded.into());
        }
        chunks
    }

    pub(crate) fn source(&self, root: &ObjectId) -> Source {
        Source {
            layout: Layout::Grid {
                grid: self.grid(),
                edge: self.edge,
                index: Arc::new(ByKey { root: root.clone() }),
                codecs: self.codecs.clone().into(),
            },
            stored: StoredType::Integer { size: 4, signed: true, order: self.order },
            extent: self.extent.clone(),
            fill: Values::Int(vec![self.fill]),
            resolver: None,
            swapped_fill: false,
        }
    }

    /// The value that an element reads as.
    pub(crate) fn expected(&self, index: &[u64]) -> i32 {
        let inside = index.iter().zip(&self.extent).all(|(at, len)| at < len);
        let cell: Vec<u64> = index.iter().zip(&self.chunk).map(|(at, len)| at / len).collect();
        if inside && !self.absent.contains(&cell) { value_at(index) } else { self.fill }
    }

    pub(crate) fn select(&self, selection: &Selection) -> Vec<i32> {
        select(selection, |index| self.expected(index))
    }

    pub(crate) fn objects(&self) -> Vec<(String, Bytes)> {
        self.chunks().into_iter().map(|(cell, body)| (key(&cell), body)).collect()
    }
}

pub(crate) fn select<T>(selection: &Selection, at: impl Fn(&[u64]) -> T) -> Vec<T> {
    let positions = indices(&selection.shape());
    let index = |position: Vec<u64>| -> Vec<u64> {
        position.iter().zip(selection.axes()).map(|(at, axis)| axis.index(*at).unwrap()).collect()
    };
    positions.into_iter().map(|position| at(&index(position))).collect()
}

pub(crate) fn value_at(index: &[u64]) -> i32 {
    index.iter().fold(1, |value, at| value * 1000 + *at as i32)
}

/// All indices of a box in row-major order.
pub(crate) fn indices(shape: &[u64]) -> Vec<Vec<u64>> {
    let mut all = vec![Vec::new()];
    for len in shape {
        all = all
            .into_iter()
            .flat_map(|start| {
                (0..*len).map(move |at| start.iter().copied().chain([at]).collect::<Vec<u64>>())
            })
            .collect();
    }
    all
}

/// A dataset with one variable `v`.
pub(crate) fn sample(shape: &[u64], ty: TypeRef, source: Source) -> (Sample, VarId) {
    let mut model = Model::new();
    sample_in(&mut model, shape, ty, source)
}

pub(crate) fn sample_in(model: &mut Model, shape: &[u64], ty: TypeRef, source: Source) -> (Sample, VarId) {
    let root = model.root();
    let dims: Vec<DimId> = shape
        .iter()
        .enumerate()
        .map(|(at, len)| model.add_dimension(root, &format!("d{at}"), DimensionLen::Fixed(*len)).unwrap())
        .collect();
    let var = model.add_variable(root, "v", ty, &dims).unwrap();
    let sources = Arc::new(HashMap::from([(var, source)]));
    (Sample { model: Arc::new(model.clone()), sources }, var)
}

pub(crate) fn memory(objects: impl IntoIterator<Item = (String, Bytes)>) -> MemoryStore {
    let store = MemoryStore::new("memory://test");
    for (key, body) in objects {
        store.put(&store.root().child(&key), &body, &PutCondition::None).unwrap();
    }
    store
}

pub(crate) fn open(session: &Session, store: Arc<dyn Store>, driver: Sample) -> Dataset {
    let root = ObjectId::new(store.id().clone(), "");
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(driver)];
    session.block_on(session.open(store, root, &drivers, &OpenOptions::default())).unwrap()
}

/// A store that answers with a delay, like a remote one, and counts requests.
#[derive(Debug)]
pub(crate) struct Late {
    pub(crate) inner: MemoryStore,
    pub(crate) delay: Duration,
    pub(crate) facts: StoreFacts,
    pub(crate) requests: Mutex<Vec<(String, Want)>>,
    pub(crate) in_flight: AtomicUsize,
    pub(crate) max_in_flight: AtomicUsize,
    pub(crate) bytes_in_flight: AtomicUsize,
    pub(crate) max_bytes: AtomicUsize,
    pub(crate) finished: AtomicUsize,
}

impl Late {
    pub(crate) fn new(inner: MemoryStore) -> Self {
        let facts = StoreFacts {
            latency: Duration::from_millis(1),
            concurrency: 16,
            merge_gap: 64,
            range_cap: 1 << 20,
            lists: true,
            writable: false,
            isolated: false,
        };
        Self {
            inner,
            delay: Duration::from_millis(1),
            facts,
            requests: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            max_in_flight: AtomicUsize::new(0),
            bytes_in_flight: AtomicUsize::new(0),
            max_bytes: AtomicUsize::new(0),
            finished: AtomicUsize::new(0),
        }
    }

    pub(crate) fn requested(&self) -> Vec<(String, Want)> {
        self.requests.lock().unwrap().clone()
    }
}

impl Store for Late {
    fn id(&self) -> &StoreId {
        LocalStore::id(&self.inner)
    }
    fn facts(&self) -> StoreFacts {
        self.facts
    }
    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }
    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move {
            self.requests.lock().unwrap().push((object.key().to_owned(), want.clone()));
            let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
            self.max_in_flight.fetch_max(now, Ordering::SeqCst);
            let blob = self.inner.read(object, want);
            let bytes = blob.as_ref().ok().and_then(Option::as_ref).map_or(0, |blob| blob.bytes.len());
            let held = self.bytes_in_flight.fetch_add(bytes, Ordering::SeqCst) + bytes;
            self.max_bytes.fetch_max(held, Ordering::SeqCst);
            tokio::time::sleep(self.delay).await;
            self.in_flight.fetch_sub(1, Ordering::SeqCst);
            self.bytes_in_flight.fetch_sub(bytes, Ordering::SeqCst);
            self.finished.fetch_add(1, Ordering::SeqCst);
            blob
        })
    }
    fn put<'a>(&'a self, _: &'a ObjectId, _: Bytes, _: PutCondition) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async { Err(Error::unsupported("read-only")) })
    }
    fn delete<'a>(&'a self, _: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Err(Error::unsupported("read-only")) })
    }
    fn delete_tree<'a>(&'a self, _: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async { Err(Error::unsupported("read-only")) })
    }
    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { self.inner.list(prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn ncirrus_store::StoreAbilities> {
        None
    }
}
