//! Icechunk repositories over a network: few rounds to open, one request for each chunk.
use super::session;
use crate::far::Far;
use ncirrus_classic::ClassicDriver;
use ncirrus_engine::Session;
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_icechunk::IcechunkDriver;
use ncirrus_layout::{Driver, OpenOptions, Want};
use ncirrus_model::{Selection, Values};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store};
use ncirrus_testkit::ObjectView;
use ncirrus_testkit::corpus::corpus;
use ncirrus_zarr::ZarrDriver;
use std::sync::Arc;

/// A repository of the corpus as a remote store.
fn remote(case: &str) -> Option<Arc<Far>> {
    let objects = ObjectView::from_dir(&corpus("icechunk")?.join(case).join("repo")).unwrap();
    let memory = MemoryStore::new("memory://icechunk");
    for key in objects.keys() {
        let object = memory.root().child("data").child(key);
        LocalStore::put(&memory, &object, objects.find(key).unwrap(), &PutCondition::None).unwrap();
    }
    Some(Arc::new(Far::new(memory)))
}

fn drivers() -> [Arc<dyn Driver>; 4] {
    [Arc::new(ClassicDriver), Arc::new(Hdf5Driver), Arc::new(ZarrDriver), Arc::new(IcechunkDriver::default())]
}

#[test]
fn a_repository_is_opened_in_at_most_four_rounds() {
    for case in ["single-v2", "history-v1", "long-log"] {
        let Some(far) = remote(case) else { return };
        let session = session();
        let (store, root) = (Arc::clone(&far) as Arc<dyn Store>, super::root(&far.inner));
        session.block_on(session.open(store, root, &drivers(), &OpenOptions::default())).unwrap();
        assert!(far.rounds() <= 4, "{case}: {} rounds, {:?}", far.rounds(), far.requests());
        assert!(far.requests().len() <= 11, "{case}: {:?}", far.requests());
    }
}

#[test]
fn a_variable_takes_one_manifest_and_one_request_for_each_chunk() {
    let Some(far) = remote("single-v2") else { return };
    let session = session();
    let (store, root) = (Arc::clone(&far) as Arc<dyn Store>, super::root(&far.inner));
    let dataset = session.block_on(session.open(store, root, &drivers(), &OpenOptions::default())).unwrap();
    let (before, rounds) = (far.requests().len(), far.rounds());
    let model = dataset.model();
    let variable = model.variables()[0];
    session.block_on(dataset.read(variable, &Selection::all(&model.shape(variable)))).unwrap();
    let requests = far.requests()[before..].to_vec();
    let of = |folder: &str| requests.iter().filter(|(key, _)| key.contains(folder)).count();
    assert_eq!((of("/manifests/"), of("/chunks/")), (1, 4), "{requests:?}");
    assert_eq!((requests.len(), far.rounds() - rounds), (5, 2), "{requests:?}");
    let is_range =
        |(key, want): &(String, Want)| key.contains("/manifests/") || matches!(want, Want::Range(_));
    assert!(requests.iter().all(is_range), "{requests:?}");
}

/// Opens a repository and reads its only variable in a session with an index cache; what was requested.
fn visit(far: &Arc<Far>, folder: &std::path::Path) -> (Values, Vec<(String, Want)>) {
    let before = far.requests().len();
    let session = Session::builder().threads(2).durable(false).index_cache(folder, 64 << 20).build().unwrap();
    let (store, root) = (Arc::clone(far) as Arc<dyn Store>, super::root(&far.inner));
    let dataset = session.block_on(session.open(store, root, &drivers(), &OpenOptions::default())).unwrap();
    let model = dataset.model();
    let variable = model.variables()[0];
    let values = session.block_on(dataset.read(variable, &Selection::all(&model.shape(variable)))).unwrap();
    (values, far.requests().split_off(before))
}

#[test]
fn the_index_cache_keeps_manifests() {
    let Some(far) = remote("many-chunks") else { return };
    let folder = tempfile::tempdir().unwrap();
    let (first, requests) = visit(&far, folder.path());
    let whole =
        |(key, want): &&(String, Want)| key.contains("/manifests/") && matches!(want, Want::AtMost(_));
    assert_eq!(requests.iter().filter(whole).count(), 1, "{requests:?}");
    let (second, requests) = visit(&far, folder.path());
    assert_eq!(first, second);
    // The manifest's tag is still checked.
    let of_manifests: Vec<&Want> =
        requests.iter().filter(|(key, _)| key.contains("/manifests/")).map(|(_, want)| want).collect();
    assert_eq!(of_manifests, [&Want::Range(0..1)], "{requests:?}");
}
