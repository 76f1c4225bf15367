//! Every kind of selection against a naive model, over every kind of layout and store.

use crate::support::*;
use ncirrus_engine::{MissingChunks, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::Store;
use proptest::prelude::*;
use std::sync::Arc;

/// A rectangular array stored at fixed strides, with other bytes between its rows as in a classic record file.
fn affine(array: &Array, pad: u64, root: &ObjectId) -> (Source, Vec<u8>) {
    let rank = array.extent.len();
    let mut strides = vec![0; rank];
    let mut step = 4;
    for axis in (0..rank).rev() {
        strides[axis] = step;
        step = step * array.extent[axis] + if axis == 1 { pad } else { 0 };
    }
    let base = 8;
    let mut bytes = vec![0xee; (base + step) as usize + 16];
    for index in indices(&array.extent) {
        let at = base + index.iter().zip(&strides).map(|(at, stride)| at * stride).sum::<u64>();
        let value = value_at(&index);
        let value = match array.order {
            ByteOrder::Little => value.to_le_bytes(),
            ByteOrder::Big => value.to_be_bytes(),
        };
        bytes[at as usize..at as usize + 4].copy_from_slice(&value);
    }
    let object = root.child("file");
    let extent = Extent { logical: 0..bytes.len() as u64, object, offset: 0 };
    let mut source = array.source(root);
    source.layout = Layout::Affine { extents: Arc::new([extent]), base, strides };
    (source, bytes)
}

fn axis(len: u64) -> BoxedStrategy<AxisSelection> {
    if len == 0 {
        return Just(AxisSelection::Slice { start: 0, count: 0, stride: 1 }).boxed();
    }
    let slice = (0..len, 1u64..4, 0u64..8).prop_map(move |(start, stride, count)| {
        let max = (len - start).div_ceil(stride);
        AxisSelection::Slice { start, count: count.min(max), stride }
    });
    let all = Just(AxisSelection::Slice { start: 0, count: len, stride: 1 });
    let list = prop::collection::vec(0..len, 0..7).prop_map(AxisSelection::Indices);
    prop_oneof![2 => slice, 1 => all, 1 => list].boxed()
}

prop_compose! {
    fn array()(rank in 0usize..4)(
        shape in prop::collection::vec(0u64..8, rank),
        chunk in prop::collection::vec(1u64..5, rank),
        stored in prop::collection::vec(0u64..9, rank),
        whole in any::<bool>(),
        big in any::<bool>(),
        clipped in any::<bool>(),
        zlib in any::<bool>(),
        absent in prop::collection::vec(any::<prop::sample::Index>(), 0..3),
        fill in prop_oneof![Just(0), Just(-7), Just(0x0101_0101)],
    ) -> Array {
        let mut array = Array::new(&shape, &chunk);
        if !whole {
            array.extent = stored;
        }
        array.order = if big { ByteOrder::Big } else { ByteOrder::Little };
        array.edge = if clipped { EdgeChunks::Clipped } else { EdgeChunks::Full };
        if zlib {
            array = array.zlib();
        }
        let cells = array.cells();
        if !cells.is_empty() {
            array.absent = absent.iter().map(|index| index.get(&cells).clone()).collect();
        }
        array.fill = fill;
        array
    }
}

fn case() -> impl Strategy<Value = (Array, Selection)> {
    array().prop_flat_map(|array| {
        let axes: Vec<_> = array.shape.iter().map(|len| axis(*len)).collect();
        (Just(array), axes.prop_map(Selection::new))
    })
}

fn check(session: &Session, store: Arc<dyn Store>, array: &Array, source: Source, selection: &Selection) {
    let (driver, var) = sample(&array.shape, Atomic::Int.into(), source);
    let dataset = open(session, store, driver);
    let expected = array.select(selection);
    let plan = session.block_on(dataset.plan(var, selection)).unwrap();
    let before = session.statistics();
    let values = session.block_on(dataset.read(var, selection)).unwrap();
    let after = session.statistics();
    if array.absent.is_empty() {
        assert_eq!(after.requests - before.requests, plan.requests, "{plan}");
        let moved = after.bytes_fetched - before.bytes_fetched;
        assert!(moved == plan.bytes || plan.whole_objects > 0, "{moved} bytes moved: {plan}");
    }
    assert_eq!(values, Values::Int(expected.clone()), "read {selection:?}");
    let mut out = vec![0xab; expected.len() * 4];
    session.block_on(dataset.read_into(var, selection, &mut out)).unwrap();
    assert_eq!(out, Values::Int(expected.clone()).as_bytes().unwrap(), "read_into {selection:?}");
    let again = session.block_on(dataset.read(var, selection)).unwrap();
    assert_eq!(again, Values::Int(expected), "read through the cache {selection:?}");
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, ..ProptestConfig::default() })]

    #[test]
    fn chunked_arrays_read_as_the_naive_model_says((array, selection) in case()) {
        let session = Session::builder().threads(2).build().unwrap();
        let store = memory(array.objects());
        let source = array.source(&store.root());
        check(&session, store.shared(), &array, source.clone(), &selection);
        check(&session, Arc::new(Late::new(store)), &array, source, &selection);
    }

    #[test]
    fn rows_at_fixed_strides_read_as_the_naive_model_says((mut array, selection) in case(), pad in 0u64..40) {
        array.absent.clear();
        let session = Session::builder().threads(2).build().unwrap();
        let root = memory([]).root();
        let (source, bytes) = affine(&array, pad, &root);
        let store = memory([("file".to_owned(), bytes.into())]);
        check(&session, store.shared(), &array, source.clone(), &selection);
        check(&session, Arc::new(Late::new(store)), &array, source, &selection);
    }

    #[test]
    fn rows_in_several_files_read_as_from_one((mut array, selection) in case(), cut in 0u64..200, hole in any::<bool>()) {
        array.absent.clear();
        let session = Session::builder().threads(2).build().unwrap();
        let root = memory([]).root();
        let (mut source, bytes) = affine(&array, 0, &root);
        let cut = (8 + cut * 4).min(bytes.len() as u64);
        let end = bytes.len() as u64;
        let mut extents = vec![
            Extent { logical: 0..cut, object: root.child("one"), offset: 3 },
            Extent { logical: cut..end, object: root.child("two"), offset: 0 },
        ];
        if hole {
            extents.pop();
        }
        let Layout::Affine { strides, base, .. } = source.layout.clone() else { unreachable!() };
        source.layout = Layout::Affine { extents: extents.into(), base, strides: strides.clone() };
        let one: Vec<u8> = [1, 2, 3].into_iter().chain(bytes[..cut as usize].iter().copied()).collect();
        let two = bytes[cut as usize..].to_vec();
        let store = memory([("one".to_owned(), one.into()), ("two".to_owned(), two.into())]);
        let expected = select(&selection, |index| {
            let at: u64 = base + index.iter().zip(&strides).map(|(at, stride)| at * stride).sum::<u64>();
            let inside = index.iter().zip(&array.extent).all(|(at, len)| at < len);
            if inside && (!hole || at < cut) { value_at(index) } else { array.fill }
        });
        let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
        for store in stores {
            let (driver, var) = sample(&array.shape, Atomic::Int.into(), source.clone());
            let dataset = open(&session, store, driver);
            let values = session.block_on(dataset.read(var, &selection)).unwrap();
            prop_assert_eq!(values, Values::Int(expected.clone()));
        }
    }
}

#[test]
fn rectilinear_chunks_are_read() {
    let session = Session::builder().build().unwrap();
    let store = memory([]);
    let grid = ChunkGrid::rectilinear(&[vec![1, 3, 2], vec![4, 1]]).unwrap();
    let array = Array::new(&[6, 5], &[1, 1]);
    for cell in indices(&[3, 2]) {
        let region = grid.region(&cell).unwrap();
        let raw: Vec<u8> = indices(&region.count)
            .into_iter()
            .flat_map(|at| value_at(&[at[0] + region.start[0], at[1] + region.start[1]]).to_le_bytes())
            .collect();
        use ncirrus_store::LocalStore;
        store.put(&store.root().child(&key(&cell)), &raw, &ncirrus_store::PutCondition::None).unwrap();
    }
    let mut source = array.source(&store.root());
    let Layout::Grid { grid: old, .. } = &mut source.layout else { unreachable!() };
    *old = grid;
    let selection = Selection::strided(&[0, 1], &[3, 2], &[2, 2]);
    check(&session, store.shared(), &array, source.clone(), &selection);
    check(&session, store.shared(), &array, source, &Selection::all(&[6, 5]));
}

#[test]
fn missing_chunks_are_fill_an_error_or_reported() {
    let session = Session::builder().build().unwrap();
    let mut array = Array::new(&[10], &[2]);
    array.absent = [vec![1], vec![3]].into();
    let store = memory(array.objects());
    let (driver, var) = sample(&[10], Atomic::Int.into(), array.source(&store.root()));
    let dataset = open(&session, store.shared(), driver);
    let all = Selection::all(&[10]);
    let read = |missing| session.block_on(dataset.read_reported(var, &all, missing));
    let (_, report) = read(MissingChunks::Fill).unwrap();
    assert_eq!((report.missing.len(), report.missing_count), (0, 2));
    let (values, report) = read(MissingChunks::Report).unwrap();
    assert_eq!(values, Values::Int(array.select(&all)));
    assert_eq!(report.missing, [vec![1], vec![3]]);
    let error = read(MissingChunks::Error).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Missing);
    assert!(error.to_string().contains("/v") && error.to_string().contains("chunk ["), "{error}");
}
