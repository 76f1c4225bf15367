//! Reading and driving without a session, a dataset or a format: a source, a store, and the resources that reads share.
use super::*;
use crate::drive::{NestedRead, ReadDepth};
use crate::resources::{ResourceOptions, SharedResources, block_on};
use crate::snapshot::StoreSnapshot;
use futures_util::future::BoxFuture;
use ncirrus_layout::{
    ByteOrder, CellList, ChunkGrid, ChunkIndex, ChunkRef, EdgeChunks, Layout, Location, Memo, ObjectId,
    Source, Step, StoredType, VariableRef, View,
};
use ncirrus_model::{Atomic, DimensionLen, TypeRef};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition};
use std::sync::Arc;

/// One object per chunk; chunks of even numbers were never written.
#[derive(Debug)]
struct ByNumber(ObjectId);

impl ChunkIndex for ByNumber {
    fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let location = |cell: &[u64]| match cell {
            [number] if number % 2 == 1 => Location::Object(self.0.child(&number.to_string())),
            _ => Location::Absent,
        };
        Ok(cells.iter().map(|cell| ChunkRef::new(location(cell))).collect())
    }
}

/// The same value for every element requested, and the depth of the request.
struct Constant(i32);

impl NestedRead for Constant {
    fn read_nested<'a>(
        self: Arc<Self>,
        variable: &'a VariableRef,
        selection: &'a Selection,
        _: ReadDepth,
    ) -> BoxFuture<'a, Result<Values>> {
        assert_eq!(&*variable.path, "/other");
        let count = usize::try_from(selection.element_count().unwrap()).unwrap();
        Box::pin(async move { Ok(Values::Int(vec![self.0; count])) })
    }
}

fn context(store: &MemoryStore) -> DriveContext {
    let shared = SharedResources::new(ResourceOptions { threads: 2, ..ResourceOptions::default() });
    DriveContext {
        shared: Arc::new(shared.unwrap()),
        snapshot: Arc::new(StoreSnapshot::new(store.shared(), 1 << 20, None)),
        memo: Arc::new(Memo::new(1 << 20)),
        values: None,
        read_depth: ReadDepth::default(),
    }
}

/// A variable of ten elements in chunks of four.
fn model() -> (Model, VarId) {
    let mut model = Model::new();
    let root = model.root();
    let dimension = model.add_dimension(root, "x", DimensionLen::Fixed(10)).unwrap();
    let variable = model.add_variable(root, "v", TypeRef::Atomic(Atomic::Int), &[dimension]).unwrap();
    (model, variable)
}

fn source(root: ObjectId) -> Source {
    Source {
        layout: Layout::Grid {
            grid: ChunkGrid::regular(vec![4]).unwrap(),
            edge: EdgeChunks::Full,
            index: Arc::new(ByNumber(root)),
            codecs: [].into(),
        },
        stored: StoredType::Integer { size: 4, signed: true, order: ByteOrder::Big },
        extent: vec![10],
        fill: Values::Int(vec![-1]),
        resolver: None,
        swapped_fill: false,
    }
}

#[test]
fn stored_elements_are_read_without_a_session() {
    let store = MemoryStore::new("memory://read");
    let stored: Vec<u8> = (4..8i32).flat_map(i32::to_be_bytes).collect();
    store.put(&store.root().child("1"), &stored, &PutCondition::None).unwrap();
    let (context, (model, variable)) = (context(&store), model());
    let shape = (TypeRef::Atomic(Atomic::Int), &[10][..]);
    let bound = BoundSource::new(source(store.root()), &model, shape, &context.shared).unwrap();
    let counters = Arc::clone(&context.shared);
    let reading = VariableRead::new((&model, variable), &bound, context, 1, MissingChunks::Report);
    let values = block_on(reading.read(Picked::Selection(&Selection::all(&[10])))).unwrap();
    assert_eq!(values, Values::Int(vec![-1, -1, -1, -1, 4, 5, 6, 7, -1, -1]));
    assert_eq!(reading.into_report().missing, [[0], [2]]);
    assert_eq!((counters.counters.read().requests, counters.counters.read().bytes_fetched), (1, 16));
}

#[test]
fn steps_are_driven_without_a_session() {
    let store = MemoryStore::new("memory://drive");
    let context = DriveContext { values: Some(Arc::new(Constant(7))), ..context(&store) };
    let other = VariableRef { dataset: None, path: "/other".into() };
    let requested = Selection::all(&[3]);
    let values = block_on(context.drive(|view| view.values(&other, &requested)));
    assert_eq!(values.unwrap(), Values::Int(vec![7; 3]));
}
