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
fn a_repository_is_opened_in_two_rounds_of_requests() {
    // Spec version 1 has no `repo`: its branch is requested when that is known.
    for (case, rounds, requests) in [("single-v2", 2, 5), ("history-v1", 3, 11), ("long-log", 2, 5)] {
        let Some(far) = remote(case) else { return };
        let session = session();
        let (store, root) = (Arc::clone(&far) as Arc<dyn Store>, super::root(&far.inner));
        session.block_on(session.open(store, root, &drivers(), &OpenOptions::default())).unwrap();
        assert!(far.rounds() <= rounds, "{case}: {} rounds, {:?}", far.rounds(), far.requests());
        assert!(far.requests().len() <= requests, "{case}: {:?}", far.requests());
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

/// A manifest of several MiB: the one of the corpus, not compressed and followed by other bytes.
fn with_a_long_manifest(far: &Far) -> (String, u64) {
    let objects = ObjectView::from_dir(&corpus("icechunk").unwrap().join("many-chunks/repo")).unwrap();
    let key = objects.keys().find(|key| key.starts_with("manifests/")).unwrap();
    let mut body =
        ncirrus_icechunk::uncompressed(objects.find(key).unwrap(), &ncirrus_layout::Limits::default())
            .unwrap();
    body.resize(5 << 20, 7);
    let object = far.inner.root().child("data").child(key);
    LocalStore::put(&far.inner, &object, &body, &PutCondition::None).unwrap();
    (object.key().to_owned(), 5 << 20)
}

#[test]
fn a_long_manifest_is_read_in_blocks_and_read_once() {
    let (Some(far), Some(other)) = (remote("many-chunks"), remote("many-chunks")) else { return };
    let (manifest, size) = with_a_long_manifest(&far);
    let block = 1 << 20;
    let drivers: [Arc<dyn Driver>; 2] =
        [Arc::new(ZarrDriver), Arc::new(IcechunkDriver::default().reading_in_blocks(1 << 10, block, 2))];
    let read = |far: &Arc<Far>| {
        let session = session();
        let (store, root) = (Arc::clone(far) as Arc<dyn Store>, super::root(&far.inner));
        let dataset = session.block_on(session.open(store, root, &drivers, &OpenOptions::default())).unwrap();
        let model = dataset.model();
        let variable = model.variables()[0];
        let all = Selection::all(&model.shape(variable));
        let values = session.block_on(dataset.read(variable, &all)).unwrap();
        assert_eq!(session.block_on(dataset.read(variable, &all)).unwrap(), values);
        values
    };
    assert_eq!(read(&far), read(&other));
    let requests = far.requests();
    let ranges: Vec<_> = requests
        .iter()
        .filter_map(|(key, want)| match want {
            Want::Range(range) if *key == manifest => Some(range.end.min(size) - range.start),
            _ => None,
        })
        .collect();
    assert_eq!(ranges.iter().sum::<u64>(), size, "each byte once: {requests:?}");
    assert!(ranges.iter().all(|len| *len <= 2 * block), "{ranges:?}");
    assert!(!requests.iter().any(|(key, want)| *key == manifest && want.is_whole()), "{requests:?}");
}
