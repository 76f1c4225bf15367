//! The cost of opening and reading HDF5 files over a network: requests, how many of them wait for others, and bytes.
//! The files are made by netCDF4-python and h5py.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::far::Far;
use ncirrus_engine::{Dataset, Session};
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_layout::{Driver, OpenOptions};
use ncirrus_model::{NodeId, Selection, Values};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store};
use ncirrus_testkit::corpus::peers_python;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// Steps, and the side of the square tiles, of the maps in `make.py`.
const STEPS: u64 = 30;
const SIDE: u64 = 187;
/// Bytes of one of their chunks: float32 and a checksum.
const CHUNK: u64 = SIDE * SIDE * 4 + 4;

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

/// A remote file of that kind; `None` without the peers.
fn far(kind: &str) -> Option<Arc<Far>> {
    let python = peers_python()?;
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("made.nc");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5_requests/make.py");
    let output = Command::new(python).arg(script).arg(kind).arg(&path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let memory = MemoryStore::new("memory://far");
    let body = std::fs::read(path).unwrap();
    LocalStore::put(&memory, &memory.root().child("data"), &body, &PutCondition::None).unwrap();
    Some(Arc::new(Far::new(memory)))
}

fn open(session: &Session, far: &Arc<Far>) -> Dataset {
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    let store = Arc::clone(far) as Arc<dyn Store>;
    let root = far.inner.root().child("data");
    session.block_on(session.open(store, root, &drivers, &OpenOptions::default())).unwrap()
}

/// Accesses everything except values; returns how many variables there are.
fn look_at_all(session: &Session, dataset: &Dataset) -> usize {
    let variables = dataset.model().variables();
    let nodes: Vec<NodeId> = variables.iter().map(|var| NodeId::Variable(*var)).collect();
    for attributes in session.block_on(dataset.attributes(&nodes)) {
        assert!(attributes.unwrap().iter().next().is_some());
    }
    for var in &variables {
        session.block_on(dataset.source(*var)).unwrap();
    }
    variables.len()
}

#[test]
fn metadata_in_the_first_block_cost_two_requests() {
    let Some(far) = far("small") else { return };
    let session = session();
    let dataset = open(&session, &far);
    assert_eq!(look_at_all(&session, &dataset), 20);
    let requests = far.requests();
    assert!(requests.len() <= 2, "{requests:?}");
}

/// The cost of reading all metadata of a kind of file.
struct Opening {
    variables: usize,
    rounds: usize,
    requests: usize,
    /// Bytes fetched, and size of the file in bytes.
    bytes: (u64, u64),
}

fn opening(kind: &str) -> Option<Opening> {
    let far = far(kind)?;
    let session = session();
    let dataset = open(&session, &far);
    let variables = look_at_all(&session, &dataset);
    let (size, _) = far.inner.stat(&far.inner.root().child("data")).unwrap().unwrap();
    let (rounds, requests, bytes) = (far.rounds(), far.requests().len(), (far.bytes(), size));
    Some(Opening { variables, rounds, requests, bytes })
}

#[test]
fn scattered_metadata_of_a_thousand_variables_cost_six_rounds_and_few_bytes_twice() {
    for kind in ["many", "old-nested", "new-nested", "old-flat", "new-flat"] {
        let Some(Opening { variables, rounds, requests, bytes }) = opening(kind) else { return };
        let cost = format!("{kind}: {rounds} rounds of {requests} requests, {bytes:?} bytes");
        assert_eq!(variables, 1000, "{cost}");
        assert!(rounds <= 6 && requests <= 64 && bytes.0 <= bytes.1 + 16_384, "{cost}");
    }
}

#[test]
fn metadata_between_large_variables_bring_few_of_their_bytes() {
    let Some(Opening { variables, rounds, requests, bytes }) = opening("large") else { return };
    let cost = format!("{rounds} rounds of {requests} requests, {bytes:?} bytes");
    assert_eq!(variables, 300, "{cost}");
    assert!(rounds <= 8 && requests <= 320 && bytes.0 <= bytes.1 / 4, "{cost}");
}

/// The cost of one point of all maps from opening to the last value: rounds, requests.
fn series(kind: &str) -> Option<(usize, usize)> {
    let far = far(kind)?;
    let session = session();
    let dataset = open(&session, &far);
    let var = dataset.model().variable_at("v").unwrap();
    let point = Selection::slab(&[0, 200, 3000], &[STEPS, 1, 1]);
    let values = session.block_on(dataset.read(var, &point)).unwrap();
    assert_eq!(
        values,
        Values::Float((0..30u16).map(|step| 200.0 * 4096.0 + 3000.0 + f32::from(step)).collect())
    );
    let max = STEPS * CHUNK * 115 / 100 + 500_000;
    assert!(far.bytes() <= max, "{kind}: {} bytes of at most {max}", far.bytes());
    assert!(far.max_in_flight() >= 8, "{kind}: {} in flight", far.max_in_flight());
    Some((far.rounds(), far.requests().len()))
}

#[test]
fn a_series_through_a_scattered_tree_of_chunks_costs_four_rounds() {
    let Some((rounds, requests)) = series("series") else { return };
    assert!(rounds <= 4 && requests <= 54, "{rounds} rounds of {requests} requests");
}

#[test]
fn a_series_through_an_index_in_one_place_costs_three_rounds() {
    for kind in ["fixed", "extensible"] {
        let Some((rounds, requests)) = series(kind) else { return };
        assert!(rounds <= 3 && requests <= 34, "{kind}: {rounds} rounds of {requests} requests");
    }
}

#[test]
fn a_series_through_a_scattered_array_of_chunks_costs_four_rounds() {
    let Some((rounds, requests)) = series("scattered") else { return };
    assert!(rounds <= 4 && requests <= 54, "{rounds} rounds of {requests} requests");
}

#[test]
fn a_second_series_finds_the_index_at_hand() {
    let Some(far) = far("series") else { return };
    let session = session();
    let dataset = open(&session, &far);
    let var = dataset.model().variable_at("v").unwrap();
    let read =
        |row| session.block_on(dataset.read(var, &Selection::slab(&[0, row, 0], &[STEPS, 1, 1]))).unwrap();
    read(0);
    let (requests, rounds) = (far.requests().len(), far.rounds());
    read(200);
    assert_eq!((far.requests().len() - requests, far.rounds() - rounds), (30, 1));
}

#[test]
fn a_second_session_with_the_index_on_disk_asks_once_and_then_for_the_chunks() {
    let Some(far) = far("series") else { return };
    let folder = tempfile::tempdir().unwrap();
    let read = || {
        let session = Session::builder().threads(2).index_cache(folder.path(), 64 << 20).build().unwrap();
        let (requests, rounds) = (far.requests().len(), far.rounds());
        let dataset = open(&session, &far);
        let var = dataset.model().variable_at("v").unwrap();
        let point = Selection::slab(&[0, 200, 3000], &[STEPS, 1, 1]);
        let values = session.block_on(dataset.read(var, &point)).unwrap();
        (values, far.requests().len() - requests, far.rounds() - rounds)
    };
    let (first, ..) = read();
    let (second, requests, rounds) = read();
    assert_eq!(second, first);
    assert!(requests <= 31 && rounds <= 2, "{requests} requests in {rounds} rounds");
}
