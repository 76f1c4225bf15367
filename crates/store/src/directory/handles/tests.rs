use super::*;
use std::path::Path;

fn folder_of(count: usize) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    for file in 0..count {
        std::fs::write(folder.path().join(file.to_string()), [0]).unwrap();
    }
    folder
}

fn open(handles: &StoreHandles, folder: &Path, key: &str) -> Arc<File> {
    handles.get_or_open(FileUse::Reading, key, || File::open(folder.join(key))).unwrap()
}

#[test]
fn all_stores_together_keep_no_more_than_the_budget() {
    let folder = folder_of(10);
    let handles = HandleBudget::new(3);
    let stores: Vec<StoreHandles> = (0..10).map(|_| handles.of_store()).collect();
    for _ in 0..3 {
        for (at, store) in stores.iter().enumerate() {
            drop(open(store, folder.path(), &at.to_string()));
            assert!(handles.open_count() <= 3);
        }
    }
    assert_eq!(handles.open_count(), 3);
    drop(stores);
    assert_eq!(handles.open_count(), 0, "a store closes its files");
}

#[test]
fn what_was_used_longest_ago_is_closed_first() {
    let folder = folder_of(3);
    let handles = HandleBudget::new(2);
    let store = handles.of_store();
    let first = Arc::as_ptr(&open(&store, folder.path(), "0"));
    drop(open(&store, folder.path(), "1"));
    drop(open(&store, folder.path(), "0"));
    drop(open(&store, folder.path(), "2"));
    let unopened = || Err(io::ErrorKind::Other.into());
    assert_eq!(Arc::as_ptr(&store.get_or_open(FileUse::Reading, "0", unopened).unwrap()), first);
    assert!(store.get_or_open(FileUse::Reading, "1", || Err(io::ErrorKind::Other.into())).is_err());
}

#[test]
fn what_is_being_read_stays_open() {
    let folder = folder_of(4);
    let handles = HandleBudget::new(1);
    let store = handles.of_store();
    let reading = open(&store, folder.path(), "0");
    let also = open(&store, folder.path(), "1");
    assert_eq!(handles.open_count(), 2, "both are read: no other way");
    drop((reading, also));
    drop(open(&store, folder.path(), "2"));
    assert_eq!(handles.open_count(), 1);
}

#[test]
fn a_file_of_one_store_is_not_that_of_another() {
    let folder = folder_of(1);
    let handles = HandleBudget::new(4);
    let (one, other) = (handles.of_store(), handles.of_store());
    let file = open(&one, folder.path(), "0");
    assert!(!Arc::ptr_eq(&file, &open(&other, folder.path(), "0")));
    one.forget("0");
    assert_eq!(handles.open_count(), 1);
}
