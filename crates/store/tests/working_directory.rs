//! A process that changes its working directory.
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use futures_util::FutureExt;
use ncirrus_layout::{Result, Want};
use ncirrus_store::{DatasetShape, DirectoryStore, LocalStore, OverwritePolicy, PutCondition, StoreContext};
use std::fs;

fn now<T>(future: impl Future<Output = Result<T>>) -> T {
    future.now_or_never().unwrap().unwrap()
}

/// The only test of this file: the working directory is that of all threads.
#[test]
fn what_was_opened_or_begun_stays_where_it_was() {
    let folder = tempfile::tempdir().unwrap();
    let below = folder.path().join("below");
    fs::create_dir(&below).unwrap();
    fs::write(folder.path().join("old"), "here").unwrap();
    fs::write(below.join("old"), "there").unwrap();
    std::env::set_current_dir(folder.path()).unwrap();

    let context = StoreContext::default();
    let create =
        |name: &'static str, shape| now(ncirrus_store::create(name, shape, OverwritePolicy::Never, &context));
    let (store, object) = DirectoryStore::of_file("old").unwrap();
    let opened = now(ncirrus_store::open("old", &context));
    let file = create("new.nc", DatasetShape::Object);
    let tree = create("new.zarr", DatasetShape::Tree);
    std::env::set_current_dir(&below).unwrap();

    assert_eq!(store.read(&object, &Want::All).unwrap().unwrap().bytes, "here");
    assert_eq!(opened.store.local().unwrap().read(&opened.root, &Want::All).unwrap().unwrap().bytes, "here");
    assert_eq!(opened.url.path(), folder.path().join("old").to_str().unwrap());
    file.store.local().unwrap().put(&file.root, b"file", &PutCondition::None).unwrap();
    now(file.commit());
    tree.store.local().unwrap().put(&tree.root.child("a"), b"tree", &PutCondition::None).unwrap();
    now(tree.commit());
    assert_eq!(fs::read(folder.path().join("new.nc")).unwrap(), b"file");
    assert_eq!(fs::read(folder.path().join("new.zarr/a")).unwrap(), b"tree");
    assert_eq!(fs::read_dir(&below).unwrap().count(), 1);
}
