//! What a read costs: requests, bytes, memory; and what happens if something fails meanwhile.

use crate::support::*;
use ncirrus_engine::Session;
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::{LocalStore, PutCondition, Store};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

fn remote(array: &Array) -> (Session, Arc<Late>, ncirrus_engine::Dataset, VarId) {
    remote_with(Session::builder(), array, |_| {})
}

fn remote_with(
    builder: ncirrus_engine::SessionBuilder,
    array: &Array,
    change: impl FnOnce(&mut Late),
) -> (Session, Arc<Late>, ncirrus_engine::Dataset, VarId) {
    let session = builder.build().unwrap();
    let store = memory(array.objects());
    let (driver, var) = sample(&array.shape, Atomic::Int.into(), array.source(&store.root()));
    let mut late = Late::new(store);
    change(&mut late);
    let late = Arc::new(late);
    let dataset = open(&session, Arc::clone(&late) as Arc<dyn Store>, driver);
    (session, late, dataset, var)
}

#[test]
fn a_point_series_fetches_each_encoded_chunk_once_and_nothing_else() {
    let array = Array::new(&[30, 8, 8], &[1, 8, 8]).zlib();
    let (session, late, dataset, var) = remote(&array);
    let series = Selection::slab(&[0, 3, 4], &[30, 1, 1]);
    let values = session.block_on(dataset.read(var, &series)).unwrap();
    assert_eq!(values, Values::Int(array.select(&series)));
    let mut requests = late.requested();
    requests.sort_by_key(|(key, _)| key.split('.').next().unwrap().parse::<u64>().unwrap());
    let expected: Vec<_> = (0..30).map(|at| (format!("{at}.0.0"), Want::All)).collect();
    assert_eq!(requests, expected);
    assert!(late.max_in_flight.load(Ordering::SeqCst) > 8, "requests travel together");
}

#[test]
fn a_point_series_through_raw_chunks_fetches_single_elements() {
    let array = Array::new(&[5, 8, 8], &[1, 8, 8]);
    let (session, late, dataset, var) = remote(&array);
    let series = Selection::slab(&[0, 3, 4], &[5, 1, 1]);
    let values = session.block_on(dataset.read(var, &series)).unwrap();
    assert_eq!(values, Values::Int(array.select(&series)));
    let offset = (3 * 8 + 4) * 4;
    let mut requests = late.requested();
    requests.sort_by(|a, b| a.0.cmp(&b.0));
    let expected: Vec<_> = (0..5).map(|at| (format!("{at}.0.0"), Want::Range(offset..offset + 4))).collect();
    assert_eq!(requests, expected);
    assert_eq!(session.statistics().bytes_fetched, 20);
}

#[test]
fn rows_of_a_raw_chunk_merge_when_they_are_near() {
    let array = Array::new(&[64, 64], &[64, 64]);
    let (session, late, dataset, var) = remote(&array);
    let far = Selection::strided(&[0, 0], &[4, 64], &[16, 1]);
    session.block_on(dataset.read(var, &far)).unwrap();
    assert_eq!(late.requested().len(), 4, "rows 4 KiB apart are fetched one by one");
    assert_eq!(session.statistics().bytes_fetched, 4 * 256);
    let near = Selection::slab(&[8, 2], &[4, 60]);
    session.block_on(dataset.read(var, &near)).unwrap();
    assert_eq!(late.requested().len(), 5, "rows 16 bytes apart are fetched as one");
}

#[test]
fn chunks_that_are_neighbours_in_one_object_merge() {
    #[derive(Debug)]
    struct InFile(ObjectId);
    impl ChunkIndex for InFile {
        fn locate(&self, _: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
            let range = |cell: &[u64]| Location::Bytes(self.0.clone(), cell[0] * 40..cell[0] * 40 + 40);
            Ok(cells.iter().map(|cell| ChunkRef::new(range(cell))).collect())
        }
    }
    let array = Array::new(&[100], &[10]);
    let body: Vec<u8> = array.chunks().into_values().flatten().collect();
    let store = memory([("file".to_owned(), body.into())]);
    let mut source = array.source(&store.root());
    let Layout::Grid { index, .. } = &mut source.layout else { panic!() };
    *index = Arc::new(InFile(store.root().child("file")));
    let (driver, var) = sample(&array.shape, Atomic::Int.into(), source);
    let late = Arc::new(Late::new(store));
    let session = Session::builder().build().unwrap();
    let dataset = open(&session, Arc::clone(&late) as Arc<dyn Store>, driver);
    let all = Selection::all(&[100]);
    assert_eq!(session.block_on(dataset.read(var, &all)).unwrap(), Values::Int(array.select(&all)));
    assert_eq!(late.requested(), [("file".to_owned(), Want::Range(0..400))]);
    let plan = session.block_on(dataset.plan(var, &all)).unwrap();
    assert_eq!((plan.requests, plan.bytes, plan.chunks), (1, 400, Some(10)));
}

#[test]
fn a_plan_reports_requests_and_bytes_and_fetches_nothing() {
    let array = Array::new(&[100, 100], &[10, 100]).zlib();
    let (session, late, dataset, var) = remote(&array);
    let plan = session.block_on(dataset.plan(var, &Selection::slab(&[5, 0], &[20, 1]))).unwrap();
    assert_eq!((plan.chunks, plan.requests, plan.whole_objects), (Some(3), 3, 3));
    assert_eq!((plan.decoded_bytes, plan.needed_bytes), (3 * 4000, 80));
    let text = plan.to_string();
    assert!(text.contains("chunks of [10, 100]") && text.contains("2 -> 1"), "{text}");
    assert!(late.requested().is_empty());
}

#[test]
fn a_plan_for_a_gigantic_selection_is_made_without_its_memory() {
    let mut array = Array::new(&[1], &[1]);
    array.shape = vec![1 << 40, 1 << 20];
    array.extent = array.shape.clone();
    array.chunk = vec![1 << 20, 1 << 8];
    let (driver, var) = sample(&array.shape, Atomic::Int.into(), array.source(&memory([]).root()));
    let session = Session::builder().build().unwrap();
    let dataset = open(&session, memory([]).shared(), driver);
    let plan =
        session.block_on(dataset.plan(var, &Selection::strided(&[0, 0], &[1 << 20, 8], &[1 << 20, 1])));
    let plan = plan.unwrap();
    assert_eq!(plan.chunks, Some(1 << 20));
    let error = session.block_on(dataset.read(var, &Selection::all(&array.shape))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn bytes_in_flight_stay_within_the_budget() {
    let array = Array::new(&[64, 1024], &[1, 1024]).zlib();
    let budget = 40 << 10;
    let (session, late, dataset, var) = remote_with(Session::builder().memory(budget), &array, |late| {
        late.facts.concurrency = 64;
    });
    let all = Selection::all(&array.shape);
    let values = session.block_on(dataset.read(var, &all)).unwrap();
    assert_eq!(values, Values::Int(array.select(&all)));
    // A chunk decodes to 4 KiB, and counts twice: five fit.
    assert!(late.max_in_flight.load(Ordering::SeqCst) <= 5);
    assert!(late.max_bytes.load(Ordering::SeqCst) <= budget);
}

#[test]
fn a_chunk_larger_than_the_budget_travels_alone() {
    let array = Array::new(&[4, 4096], &[1, 4096]).zlib();
    let (session, late, dataset, var) = remote_with(Session::builder().memory(1000), &array, |_| {});
    let all = Selection::all(&array.shape);
    assert_eq!(session.block_on(dataset.read(var, &all)).unwrap(), Values::Int(array.select(&all)));
    assert_eq!(late.max_in_flight.load(Ordering::SeqCst), 1);
}

#[test]
fn requests_to_one_store_stay_within_its_concurrency() {
    let array = Array::new(&[50], &[1]).zlib();
    let (session, late, dataset, var) = remote_with(Session::builder(), &array, |late| {
        late.facts.concurrency = 3;
    });
    let all = Selection::all(&array.shape);
    session.block_on(dataset.read(var, &all)).unwrap();
    assert_eq!(late.max_in_flight.load(Ordering::SeqCst), 3);
}

#[test]
fn long_ranges_are_cut_at_the_cap_of_the_store() {
    let array = Array::new(&[1000], &[1000]);
    let (session, late, dataset, var) = remote_with(Session::builder(), &array, |late| {
        late.facts.range_cap = 1024;
    });
    let all = Selection::all(&array.shape);
    assert_eq!(session.block_on(dataset.read(var, &all)).unwrap(), Values::Int(array.select(&all)));
    let mut ranges = late.requested();
    ranges.sort_by_key(|(_, want)| match want {
        Want::Range(range) => range.start,
        _ => panic!("{want:?}"),
    });
    let expected = [0..1024, 1024..2048, 2048..3072, 3072..4000];
    assert_eq!(ranges, expected.map(|range| ("0".to_owned(), Want::Range(range))));
}

#[test]
fn dropping_a_read_cancels_its_requests() {
    let array = Array::new(&[50], &[1]).zlib();
    let (session, late, dataset, var) = remote_with(Session::builder(), &array, |late| {
        late.delay = Duration::from_millis(100);
        late.facts.concurrency = 4;
    });
    let all = Selection::all(&array.shape);
    session.block_on(async {
        let mut read = std::pin::pin!(dataset.read(var, &all));
        let nothing = futures_util::poll!(read.as_mut());
        assert!(nothing.is_pending());
        std::thread::sleep(Duration::from_millis(20));
    });
    std::thread::sleep(Duration::from_millis(300));
    assert_eq!(late.finished.load(Ordering::SeqCst), 0, "nothing was carried on");
    // Four at once; the turn of one that is cancelled may be taken by another before that is cancelled, too.
    let requested = late.requested().len();
    assert!(requested < 25, "{requested} of 50");
    let again = session.block_on(dataset.read(var, &Selection::slab(&[0], &[2]))).unwrap();
    assert_eq!(again, Values::Int(vec![array.expected(&[0]), array.expected(&[1])]));
}

#[test]
fn many_threads_read_one_dataset() {
    let array = Array::new(&[40, 40], &[7, 9]).zlib();
    let session = Session::builder().threads(2).build().unwrap();
    let store = memory(array.objects());
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    for shared in stores {
        let (driver, var) = sample(&array.shape, Atomic::Int.into(), array.source(&store.root()));
        let dataset = open(&session, shared, driver);
        std::thread::scope(|scope| {
            for thread in 0..8u64 {
                let (session, dataset, array) = (&session, &dataset, &array);
                scope.spawn(move || {
                    for round in 0..20 {
                        let at = (thread * 5 + round) % 30;
                        let selection = Selection::strided(&[at, 0], &[5, 20], &[2, 2]);
                        let values = session.block_on(dataset.read(var, &selection)).unwrap();
                        assert_eq!(values, Values::Int(array.select(&selection)));
                    }
                });
            }
        });
    }
}

#[test]
fn repeated_small_reads_are_served_from_decoded_chunks() {
    let array = Array::new(&[100, 100], &[50, 100]).zlib();
    let session = Session::builder().build().unwrap();
    let store = memory(array.objects());
    let (driver, var) = sample(&array.shape, Atomic::Int.into(), array.source(&store.root()));
    let dataset = open(&session, store.shared(), driver);
    for row in 0..10 {
        let selection = Selection::slab(&[row, 3], &[1, 20]);
        let values = session.block_on(dataset.read(var, &selection)).unwrap();
        assert_eq!(values, Values::Int(array.select(&selection)));
    }
    let statistics = session.statistics();
    assert_eq!((statistics.chunks_cached, statistics.requests), (8, 2));
    let all = Selection::all(&array.shape);
    session.block_on(dataset.read(var, &all)).unwrap();
    assert_eq!(session.statistics().chunks_cached, 8, "whole reads leave the cache alone");
}

#[test]
fn a_file_that_changes_under_a_reader_is_an_error() {
    let array = Array::new(&[100], &[100]);
    let root = memory([]).root();
    let mut source = array.source(&root);
    let object = root.child("file");
    let extent = Extent { logical: 0..400, object: object.clone(), offset: 0 };
    source.layout = Layout::Affine { extents: Arc::new([extent]), base: 0, strides: vec![4] };
    let body = array.chunks().remove([0].as_slice()).unwrap();
    let store = memory([("file".to_owned(), body.clone())]);
    let stores: [Arc<dyn Store>; 2] = [store.shared(), Arc::new(Late::new(store.clone()))];
    let session = Session::builder().build().unwrap();
    for shared in stores {
        let (driver, var) = sample(&array.shape, Atomic::Int.into(), source.clone());
        let dataset = open(&session, shared, driver);
        let part = Selection::slab(&[3], &[4]);
        assert_eq!(session.block_on(dataset.read(var, &part)).unwrap(), Values::Int(array.select(&part)));
        store.put(&object, &body, &PutCondition::None).unwrap();
        let error = session.block_on(dataset.read(var, &part)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{error}");
        assert!(error.to_string().contains("file"), "{error}");
    }
}

#[test]
fn block_on_works_inside_a_runtime() {
    let array = Array::new(&[20], &[3]).zlib();
    let (session, _, dataset, var) = remote(&array);
    let all = Selection::all(&array.shape);
    let expected = Values::Int(array.select(&all));
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    runtime.block_on(async {
        assert_eq!(session.block_on(dataset.read(var, &all)).unwrap(), expected);
        assert_eq!(dataset.read(var, &all).await.unwrap(), expected);
    });
    runtime.block_on(async move {
        drop(dataset);
        drop(session);
    });
}

#[test]
fn reads_in_a_foreign_runtime_let_other_tasks_run() {
    let array = Array::new(&[64, 1 << 18], &[1, 1 << 18]);
    let session = Session::builder().threads(1).build().unwrap();
    let mut small = array.clone();
    small.absent = array.cells().into_iter().collect();
    let body = bytes::Bytes::from(vec![0u8; 4 << 18]);
    let store = memory(array.cells().iter().map(|cell| (key(cell), body.clone())));
    let (driver, var) = sample(&array.shape, Atomic::Int.into(), array.source(&store.root()));
    let dataset = open(&session, store.shared(), driver);
    let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
    let turns = std::rc::Rc::new(std::cell::Cell::new(0));
    tokio::task::LocalSet::new().block_on(&runtime, async {
        let counted = std::rc::Rc::clone(&turns);
        tokio::task::spawn_local(async move {
            loop {
                counted.set(counted.get() + 1);
                tokio::task::yield_now().await;
            }
        });
        dataset.read(var, &Selection::all(&array.shape)).await.unwrap();
    });
    assert!(turns.get() >= 1, "64 MiB are read in two turns");
}
