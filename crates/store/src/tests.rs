//! The laws, for the stores that need no other machine.
use crate::{DirectoryStore, MemoryStore, conformance};
use futures_util::FutureExt;
use ncirrus_layout::Result;

/// Runs a future that is ready at once.
pub(crate) fn now<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    future.now_or_never().unwrap()
}

#[test]
fn memory_obeys_the_laws() -> Result<()> {
    let store = MemoryStore::new("memory://laws");
    let root = store.root();
    now(conformance::writable(store.shared().as_ref(), &root))?;
    now(conformance::writable(store.shared().as_ref(), &root.child("below")))?;
    conformance::local(&store, &root)?;
    conformance::in_place(&store, &root)
}

#[test]
fn directories_obey_the_laws() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let store = DirectoryStore::new(folder.path().join("not/there/yet"));
    let root = store.root();
    conformance::local(&store, &root)?;
    conformance::in_place(&store, &root)?;
    now(conformance::writable(store.shared().as_ref(), &root))
}

#[test]
fn a_file_obeys_the_laws_of_its_directory() -> Result<()> {
    let folder = tempfile::tempdir().unwrap();
    let (store, object) = DirectoryStore::of_file(folder.path().join("file.nc"))?;
    assert_eq!(object.key(), "file.nc");
    conformance::local(&store, &store.root())?;
    conformance::in_place(&store, &store.root())?;
    let store = store.durable(false);
    now(conformance::writable(store.shared().as_ref(), &object.child("x")))
}
