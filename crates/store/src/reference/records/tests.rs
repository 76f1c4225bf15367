use crate::parquet::{ParquetColumn, write_flat_table};
use crate::reference::Reference;
use crate::store::{LocalStore, PutCondition, Store};
use crate::{MemoryStore, StoreContext, StoreExt, open, open_references};
use futures_util::FutureExt;
use ncirrus_layout::{ErrorKind, ObjectId, Result, Want};
use serde_json::json;
use std::sync::Arc;

/// A reference: name, offset, length, embedded bytes.
type Row<'a> = (Option<&'a str>, u64, u64, Option<&'a [u8]>);

fn file(rows: &[Row<'_>]) -> Vec<u8> {
    let path: Vec<_> = rows.iter().map(|row| row.0).collect();
    let offset: Vec<_> = rows.iter().map(|row| row.1).collect();
    let size: Vec<_> = rows.iter().map(|row| row.2).collect();
    let raw: Vec<_> = rows.iter().map(|row| row.3).collect();
    write_flat_table(&[
        ("path", ParquetColumn::Texts(&path, 10)),
        ("offset", ParquetColumn::Integers(&offset)),
        ("size", ParquetColumn::Integers(&size)),
        ("raw", ParquetColumn::Bytes(&raw)),
    ])
    .unwrap()
}

fn put(store: &MemoryStore, key: &str, body: &[u8]) {
    LocalStore::put(store, &store.root().child(key), body, &PutCondition::None).unwrap();
}

fn array(shape: &[u64], chunks: &[u64]) -> serde_json::Value {
    json!({"zarr_format": 2, "shape": shape, "chunks": chunks, "dtype": "|u1", "compressor": null, "filters": null,
        "order": "C", "fill_value": 7})
}

/// Two arrays with three references in each file, and a scalar.
fn context() -> (StoreContext, MemoryStore) {
    let context = StoreContext::default();
    let store = context.memory.create("refs");
    put(&store, "a/data.bin", b"0123456789");
    let metadata = json!({"record_size": 3, "metadata": {
        ".zgroup": {"zarr_format": 2},
        "v/.zarray": array(&[4, 4], &[2, 2]),
        "g/w/.zarray": array(&[9], &[1]),
        "s/.zarray": array(&[], &[]),
        "odd/.zarray": array(&[3], &[0]),
    }});
    put(&store, "a/set/.zmetadata", metadata.to_string().as_bytes());
    let name = Some("data.bin");
    let first = [(name, 2, 4, None), (None, 0, 0, Some(&b"raw!"[..])), (None, 0, 0, None)];
    put(&store, "a/set/v/refs.0.parq", &file(&first));
    put(&store, "a/set/v/refs.1.parq", &file(&[(name, 0, 0, None), (None, 0, 0, None), (None, 0, 0, None)]));
    put(&store, "a/set/g/w/refs.1.parq", &file(&[(Some("none.bin"), 1, 1, None), (Some(""), 1, 1, None)]));
    put(&store, "a/set/s/refs.0.parq", &file(&[(name, 9, 1, None)]));
    (context, store)
}

fn opened() -> (Arc<dyn Store>, ObjectId) {
    let opened = open("memory://refs/a/set", &context().0).now_or_never().unwrap().unwrap();
    (opened.store, opened.root)
}

fn read(store: &dyn Store, root: &ObjectId, key: &str) -> Result<Option<Vec<u8>>> {
    let blob = store.get(&root.child(key), &Want::All).now_or_never().unwrap()?;
    Ok(blob.map(|blob| blob.bytes.to_vec()))
}

#[test]
fn every_kind_of_row_is_followed() {
    let (store, root) = opened();
    let all = |key: &str| read(store.as_ref(), &root, key).unwrap();
    for (key, expected) in [
        ("v/0.0", Some(&b"2345"[..])),
        ("v/0.1", Some(b"raw!")),
        ("v/1.0", None),
        ("v/1.1", Some(b"0123456789")),
        ("v/1/1", Some(b"0123456789")),
        ("v/2.0", None),
        ("g/w/0", None),
        ("g/w/8", None),
        ("s/0", Some(b"9")),
        ("none/0", None),
    ] {
        assert_eq!(all(key).as_deref(), expected, "{key}");
    }
    assert!(all(".zmetadata").is_some() && all("v/.zarray").is_some());
    for (key, kind) in [
        ("g/w/3", ErrorKind::NotFound),
        ("g/w/4", ErrorKind::Malformed),
        ("g/w/5", ErrorKind::Malformed),
        ("odd/0", ErrorKind::Malformed),
    ] {
        assert_eq!(read(store.as_ref(), &root, key).unwrap_err().kind(), kind, "{key}");
    }
}

#[test]
fn many_chunks_are_looked_up_at_once() {
    let (store, root) = opened();
    let objects = ["v/0.0", "v/0.1", "v/1.1", "s/0", "none/0", "g/w/0"].map(|key| root.child(key));
    // Before a file was read, nothing is known of its chunks.
    assert_eq!(store.within(&objects[0]), None);
    let found = store.within_many(&objects).now_or_never().unwrap().unwrap();
    let ranges: Vec<_> = found.iter().map(|found| found.as_ref().map(|(_, range)| range.clone())).collect();
    assert_eq!(ranges, [Some(2..6), None, None, Some(9..10), None, None]);
    let (target, range) = found[0].clone().unwrap();
    let blob = store.get(&target, &Want::Range(range)).now_or_never().unwrap().unwrap().unwrap();
    assert_eq!(blob.bytes.as_ref(), b"2345");
}

#[test]
fn all_references_are_listed() {
    let (context, store) = context();
    put(&store, "a/set/g/w/refs.1.parq", &file(&[(Some("x.bin"), 1, 1, None); 3]));
    put(
        &store,
        "a/set/.zmetadata",
        json!({"record_size": 3, "metadata": {"g/w/.zarray": array(&[5], &[1])}}).to_string().as_bytes(),
    );
    let found = open_references("memory://refs/a/set", &context).now_or_never().unwrap().unwrap().unwrap();
    assert_eq!(found.record_size(), Some(3));
    let mut all = found.references().now_or_never().unwrap().unwrap();
    all.retain(|(_, reference)| !matches!(reference, Reference::Inline(_)));
    let range = || Reference::Range("x.bin".to_owned(), 1, 1);
    assert_eq!(all, [("g/w/3".to_owned(), range()), ("g/w/4".to_owned(), range())]);
}

#[test]
fn folders_of_other_kinds_are_left_alone_and_damage_is_reported() {
    let (context, store) = context();
    for (text, kind) in [
        (json!({"record_size": 0, "metadata": {}}), Some(ErrorKind::Malformed)),
        (json!({"record_size": -1, "metadata": {}}), Some(ErrorKind::Malformed)),
        (json!({"record_size": "3", "metadata": {}}), Some(ErrorKind::Malformed)),
        (json!({"record_size": u64::MAX, "metadata": {}}), Some(ErrorKind::Limit)),
        (json!({"record_size": 3, "metadata": {"zarr.json": {}}}), Some(ErrorKind::Unsupported)),
        (json!({"zarr_consolidated_format": 1, "metadata": {}}), None),
        (json!({"record_size": 3}), None),
    ] {
        put(&store, "a/set/.zmetadata", text.to_string().as_bytes());
        let opened = open("memory://refs/a/set", &context).now_or_never().unwrap();
        assert_eq!(opened.as_ref().err().map(|error| error.kind()), kind, "{text}");
        assert_eq!(opened.is_ok_and(|opened| opened.store.local().is_some()), kind.is_none(), "{text}");
    }
    put(&store, "a/set/.zmetadata", b"\"record_size\" no json");
    assert!(open("memory://refs/a/set", &context).now_or_never().unwrap().is_ok());
}

#[test]
fn a_damaged_file_is_an_error_and_not_taken_for_a_missing_one() {
    let (context, store) = context();
    let body = file(&[(Some("data.bin"), 0, 1, None); 3]);
    let opened = open("memory://refs/a/set", &context).now_or_never().unwrap().unwrap();
    put(&store, "a/set/v/refs.0.parq", &body[..body.len() / 2]);
    let error = read(opened.store.as_ref(), &opened.root, "v/0.0").unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(error.to_string().contains("a/set/v/refs.0.parq"), "{error}");
    // The next attempt reads it again.
    put(&store, "a/set/v/refs.0.parq", &body);
    assert_eq!(read(opened.store.as_ref(), &opened.root, "v/0.0").unwrap().unwrap(), b"0");
}

#[test]
fn files_with_more_rows_than_the_metadata_say_are_refused() {
    let (context, store) = context();
    put(&store, "a/set/v/refs.0.parq", &file(&[(Some("data.bin"), 0, 1, None); 4]));
    let opened = open("memory://refs/a/set", &context).now_or_never().unwrap().unwrap();
    let error = read(opened.store.as_ref(), &opened.root, "v/0.0").unwrap_err();
    assert!(error.message().contains("4 rows, more than 3"), "{error}");
}
