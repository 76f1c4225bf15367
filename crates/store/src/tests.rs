//! The laws, for the local stores.
use crate::{DirectoryStore, LocalStore, MemoryStore, PutCondition, conformance};
use futures_util::FutureExt;
use ncirrus_layout::{ErrorKind, ObjectId, Result, Want};
use proptest::prelude::*;

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

/// One change of a store.
#[derive(Debug, Clone)]
enum StoreChange {
    Put(String, Vec<u8>),
    Delete(String),
    DeleteTree(String),
    Rename(String, String),
}

fn changes() -> impl Strategy<Value = Vec<StoreChange>> {
    let key = || "[ab](/[ab]){0,2}";
    let change = prop_oneof![
        4 => (key(), proptest::collection::vec(any::<u8>(), 0..20)).prop_map(|(key, body)| StoreChange::Put(key, body)),
        1 => key().prop_map(StoreChange::Delete),
        1 => key().prop_map(StoreChange::DeleteTree),
        2 => (key(), key()).prop_map(|(from, to)| StoreChange::Rename(from, to)),
    ];
    proptest::collection::vec(change, 1..25)
}

/// Makes a change and returns how it ended.
fn make(store: &dyn LocalStore, root: &ObjectId, change: &StoreChange) -> Option<ErrorKind> {
    let object = |key: &str| root.child(key);
    let result = match change {
        StoreChange::Put(key, body) => store.put(&object(key), body, &PutCondition::None).map(|_| ()),
        StoreChange::Delete(key) => store.delete(&object(key)),
        StoreChange::DeleteTree(key) => store.delete_tree(&object(key)),
        StoreChange::Rename(from, to) => store.rename(&object(from), &object(to)),
    };
    result.err().map(|error| error.kind())
}

/// All keys and contents below a prefix.
fn contents(store: &dyn LocalStore, prefix: &ObjectId, found: &mut Vec<(String, Vec<u8>)>) {
    for entry in store.list(prefix, None).unwrap().entries {
        let child = prefix.child(&entry.name);
        if entry.is_prefix {
            contents(store, &child, found);
        } else {
            found.push((
                child.key().to_owned(),
                store.read(&child, &Want::All).unwrap().unwrap().bytes.to_vec(),
            ));
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(150))]

    #[test]
    fn local_stores_do_the_same(changes in changes()) {
        let folder = tempfile::tempdir().unwrap();
        let memory = MemoryStore::new("memory://same");
        let directory = DirectoryStore::new(folder.path().join("tree")).durable(false);
        #[cfg(feature = "zip")]
        let zip = crate::ZipWriterStore::create(&folder.path().join("x.zip"), None).unwrap();
        let stores: Vec<(&dyn LocalStore, ObjectId)> = vec![
            (&memory, memory.root()),
            (&directory, directory.root()),
            #[cfg(feature = "zip")]
            (&zip, zip.root()),
        ];
        for change in &changes {
            let ends: Vec<_> = stores.iter().map(|(store, root)| make(*store, root, change)).collect();
            prop_assert!(ends.iter().all(|end| *end == ends[0]), "{:?}: {:?}", change, ends);
            let found = stores.iter().map(|(store, root)| {
                let mut found = Vec::new();
                contents(*store, root, &mut found);
                found
            });
            let found: Vec<_> = found.collect();
            prop_assert!(found.iter().all(|one| *one == found[0]), "{:?}: {:?}", change, found);
        }
    }
}
