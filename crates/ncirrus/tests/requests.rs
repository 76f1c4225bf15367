//! The cost of opening and reading over a network: requests, how many of them wait for others, and bytes.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod creating;
mod icechunk;

use crate::far::Far;
use ncirrus_classic::{ClassicDriver, ClassicWriter, FormatVersion};
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::{Driver, ObjectId, OpenOptions, Want, Writing};
use ncirrus_model::{Atomic, Attribute, CodecSpec, DimensionLen, Model, NodeId, Selection, Storage, Values};
use ncirrus_store::{MemoryStore, Store};
use ncirrus_zarr::{Dialect, ZarrDriver, ZarrWriter};
use std::sync::Arc;

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

fn root(memory: &MemoryStore) -> ObjectId {
    memory.root().child("data")
}

fn open(session: &Session, far: &Arc<Far>) -> Dataset {
    let drivers: [Arc<dyn Driver>; 2] = [Arc::new(ClassicDriver), Arc::new(ZarrDriver)];
    let store = Arc::clone(far) as Arc<dyn Store>;
    session.block_on(session.open(store, root(&far.inner), &drivers, &OpenOptions::default())).unwrap()
}

/// A dataset of many variables, each with an attribute.
fn many(session: &Session, writing: Arc<dyn Writing>) -> MemoryStore {
    let memory = MemoryStore::new("memory://many");
    let define = |model: &mut Model| {
        let top = model.root();
        let x = model.add_dimension(top, "x", DimensionLen::Fixed(3))?;
        for number in 0..1000 {
            let var = model.add_variable(top, &format!("v{number:04}"), Atomic::Float.into(), &[x])?;
            if let Some(attributes) = model.attributes_mut(NodeId::Variable(var)) {
                attributes.known_mut().put(Attribute::text("units", "K"));
            }
        }
        Ok(())
    };
    session
        .block_on(async {
            let writer = session.create(memory.shared(), root(&memory), writing).await?;
            writer.edit(define).await?;
            writer.close().await
        })
        .unwrap();
    memory
}

/// Accesses everything except values.
fn look_at_all(session: &Session, dataset: &Dataset) {
    let model = dataset.model();
    let variables = model.variables();
    assert_eq!(variables.len(), 1000);
    let nodes: Vec<NodeId> = variables.iter().map(|var| NodeId::Variable(*var)).collect();
    for attributes in session.block_on(dataset.attributes(&nodes)) {
        assert_eq!(attributes.unwrap().find("units").unwrap().as_text().unwrap(), "K");
    }
    for var in variables {
        session.block_on(dataset.source(var)).unwrap();
    }
}

#[test]
fn consolidated_metadata_of_a_thousand_variables_cost_three_requests() {
    for dialect in [Dialect::Attributes, Dialect::Xarray, Dialect::V3, Dialect::Nczarr3] {
        let session = session();
        let far = Arc::new(Far::new(many(&session, Arc::new(ZarrWriter::new(dialect)))));
        let dataset = open(&session, &far);
        look_at_all(&session, &dataset);
        let (requests, rounds) = (far.requests(), far.rounds());
        assert!(requests.len() <= 3, "{dialect}: {requests:?}");
        assert!(rounds <= 2, "{dialect}: {rounds} rounds");
    }
}

#[test]
fn single_metadata_objects_of_a_thousand_variables_cost_four_rounds() {
    for dialect in [Dialect::Attributes, Dialect::LowerCase, Dialect::Xarray, Dialect::V3] {
        let session = session();
        let writing = Arc::new(ZarrWriter::new(dialect).consolidated(false));
        let far = Arc::new(Far::new(many(&session, writing)));
        let dataset = open(&session, &far);
        look_at_all(&session, &dataset);
        let (requests, rounds) = (far.requests(), far.rounds());
        assert!(rounds <= 4, "{dialect}: {rounds} rounds of {} requests", requests.len());
        assert!(requests.len() <= 3100, "{dialect}: {} requests", requests.len());
    }
}

const TIMES: u64 = 20;
const SIDE: u64 = 80;

/// Maps along time, one chunk each.
fn maps(session: &Session, writing: Arc<dyn Writing>, filters: Vec<CodecSpec>) -> MemoryStore {
    let memory = MemoryStore::new("memory://maps");
    let define = |model: &mut Model| {
        let top = model.root();
        let time = model.add_dimension(top, "time", DimensionLen::Unlimited(0))?;
        let y = model.add_dimension(top, "y", DimensionLen::Fixed(SIDE))?;
        let x = model.add_dimension(top, "x", DimensionLen::Fixed(SIDE))?;
        let var = model.add_variable(top, "map", Atomic::Int.into(), &[time, y, x])?;
        if let Some(variable) = model.variable_mut(var) {
            variable.storage = Storage::Chunked(vec![1, SIDE, SIDE]);
            variable.filters = filters;
        }
        Ok(var)
    };
    let len = i32::try_from(TIMES * SIDE * SIDE).unwrap();
    session
        .block_on(async {
            let writer = session.create(memory.shared(), root(&memory), writing).await?;
            let var = writer.edit(define).await?;
            let all = Selection::slab(&[0, 0, 0], &[TIMES, SIDE, SIDE]);
            writer.write(var, &all, &Values::Int((0..len).collect())).await?;
            writer.close().await
        })
        .unwrap();
    memory
}

/// Reads one element of all maps; returns the requests.
fn series(writing: Arc<dyn Writing>, filters: Vec<CodecSpec>) -> (Vec<(String, Want)>, u64) {
    let session = session();
    let far = Arc::new(Far::new(maps(&session, writing, filters)));
    let dataset = open(&session, &far);
    let var = dataset.model().variable_at("map").unwrap();
    session.block_on(dataset.source(var)).unwrap();
    let (before, rounds, bytes) = (far.requests().len(), far.rounds(), far.bytes());
    let cell = Selection::slab(&[0, 33, 44], &[TIMES, 1, 1]);
    let values = session.block_on(dataset.read(var, &cell)).unwrap();
    let (map, at) = (i32::try_from(SIDE * SIDE).unwrap(), i32::try_from(33 * SIDE + 44).unwrap());
    assert_eq!(values, Values::Int((0..i32::try_from(TIMES).unwrap()).map(|time| time * map + at).collect()));
    assert_eq!(far.rounds() - rounds, 1, "no request waits for another");
    assert!(far.max_in_flight() as u64 >= TIMES - 1, "{} in flight", far.max_in_flight());
    let mut requests = far.requests().split_off(before);
    requests
        .sort_by_key(|(key, want)| (key.len(), key.clone(), format!("{want:?}").len(), format!("{want:?}")));
    (requests, far.bytes() - bytes)
}

fn v2_zlib() -> CodecSpec {
    let map = serde_json::json!({"id": "zlib", "level": 1});
    CodecSpec::V2(map.as_object().unwrap().clone())
}

fn v3_gzip() -> CodecSpec {
    let map = serde_json::json!({"level": 1});
    CodecSpec::V3 { name: "gzip".to_owned(), configuration: map.as_object().unwrap().clone() }
}

#[test]
fn a_series_through_encoded_chunks_fetches_each_once_and_nothing_else() {
    for (dialect, filter, key) in [
        (Dialect::Attributes, v2_zlib(), (|time| format!("data/map/{time}.0.0")) as fn(u64) -> String),
        (Dialect::Nczarr3, v3_gzip(), |time| format!("data/map/c/{time}/0/0")),
    ] {
        let (requests, _) = series(Arc::new(ZarrWriter::new(dialect)), vec![filter]);
        let expected: Vec<_> = (0..TIMES).map(|time| (key(time), Want::All)).collect();
        assert_eq!(requests, expected, "{dialect}");
    }
}

#[test]
fn a_series_through_raw_chunks_fetches_the_elements_alone() {
    for (dialect, key) in [
        (Dialect::Attributes, (|time| format!("data/map/{time}.0.0")) as fn(u64) -> String),
        (Dialect::V3, |time| format!("data/map/c/{time}/0/0")),
    ] {
        let (requests, bytes) = series(Arc::new(ZarrWriter::new(dialect)), Vec::new());
        let offset = (33 * SIDE + 44) * 4;
        let expected: Vec<_> = (0..TIMES).map(|time| (key(time), Want::Range(offset..offset + 4))).collect();
        assert_eq!(requests, expected, "{dialect}");
        assert_eq!(bytes, TIMES * 4, "{dialect}");
    }
}

#[test]
fn a_series_through_records_fetches_the_elements_alone() {
    let (requests, bytes) = series(Arc::new(ClassicWriter::new(FormatVersion::Classic)), Vec::new());
    // The first record is within what opening fetched.
    assert!((TIMES - 1..=TIMES).contains(&(requests.len() as u64)), "{requests:?}");
    let is_element =
        |(_, want): &(String, Want)| matches!(want, Want::Range(range) if range.end - range.start == 4);
    assert!(requests.iter().all(is_element), "{requests:?}");
    assert_eq!(bytes, requests.len() as u64 * 4);
}
