//! Zip files of every layout, and hostile ones.
mod methods;

use super::*;
use crate::store::{LocalStore, PutCondition};
use crate::tests::now;
use crate::{DirectoryStore, MemoryStore, conformance};
use ncirrus_layout::{ErrorKind, Limits, ObjectId, Result, Want};
use proptest::prelude::*;
use std::fs;

/// A zip file by hand: names, methods, stored contents, and declared sizes.
#[derive(Default)]
struct HandmadeZip {
    bytes: Vec<u8>,
    central: Vec<u8>,
    count: u64,
}

impl HandmadeZip {
    fn stored(self, name: &str, content: &[u8]) -> Self {
        let header = format::EntryHeader {
            needed: format::VERSION,
            flags: 0,
            method: format::STORED,
            crc: crc32fast::hash(content),
            compressed: content.len() as u64,
            size: content.len() as u64,
            offset: 0,
        };
        self.entry(name, header, content)
    }

    fn deflated(self, name: &str, content: &[u8]) -> Self {
        let mut packed = Vec::with_capacity(content.len() + 100);
        let mut stream = flate2::Compress::new(flate2::Compression::best(), false);
        stream.compress_vec(content, &mut packed, flate2::FlushCompress::Finish).unwrap();
        let header = format::EntryHeader {
            needed: format::VERSION,
            flags: 0,
            method: format::DEFLATED,
            crc: crc32fast::hash(content),
            compressed: packed.len() as u64,
            size: content.len() as u64,
            offset: 0,
        };
        self.entry(name, header, &packed)
    }

    fn entry(mut self, name: &str, header: format::EntryHeader, raw: &[u8]) -> Self {
        let header = format::EntryHeader { offset: self.bytes.len() as u64, ..header };
        self.bytes.extend(format::write_local(name, &header).unwrap());
        self.bytes.extend(raw);
        self.listed(name, &header)
    }

    fn listed(mut self, name: &str, header: &format::EntryHeader) -> Self {
        format::write_central(&mut self.central, name, header).unwrap();
        self.count += 1;
        self
    }

    fn finish(mut self) -> Vec<u8> {
        let (offset, len) = (self.bytes.len() as u64, self.central.len() as u64);
        self.bytes.extend(&self.central);
        format::write_end(&mut self.bytes, self.count, offset, len);
        self.bytes
    }
}

fn open(bytes: impl AsRef<[u8]>) -> Result<ZipStore> {
    open_within(bytes.as_ref(), &Limits::default())
}

fn open_within(bytes: &[u8], limits: &Limits) -> Result<ZipStore> {
    let store = MemoryStore::new("memory://zips");
    let object = store.root().child("x.zip");
    store.put(&object, bytes, &PutCondition::None)?;
    now(ZipStore::open(store.shared(), object, limits))
}

fn whole(store: &ZipStore, name: &str) -> Result<Option<Vec<u8>>> {
    let blob = LocalStore::read(store, &ObjectId::new(LocalStore::id(store).clone(), name), &Want::All)?;
    Ok(blob.map(|blob| blob.bytes.to_vec()))
}

fn keys(store: &ZipStore, key: &str) -> Vec<String> {
    let prefix = ObjectId::new(LocalStore::id(store).clone(), key);
    LocalStore::list(store, &prefix, None).unwrap().entries.into_iter().map(|entry| entry.name).collect()
}

#[test]
fn the_root_is_the_shallowest_prefix_with_a_marker() {
    let root = |names: &[&str]| {
        let made = names.iter().fold(HandmadeZip::default(), |made, name| made.stored(name, b"{}"));
        open(made.finish()).unwrap().root_prefix()
    };
    assert_eq!(root(&[".zgroup", "v/.zarray"]), "");
    assert_eq!(root(&["top/", "top/.zgroup", "top/v/.zarray"]), "top");
    assert_eq!(root(&["a/b/c/zarr.json", "a/b/c/v/zarr.json"]), "a/b/c");
    assert_eq!(root(&["z/v/.zarray", "z/.zattrs", "README"]), "z");
    assert_eq!(root(&["top/v/.zarray", "top/v/.zattrs", "top/w/.zarray"]), "top");
    assert_eq!(root(&["v/.zarray", "w/.zarray"]), "");
    assert_eq!(root(&["top/v/.zarray", "top/v/.zattrs"]), "top/v");
    assert_eq!(root(&["top/g/.zgroup", "top/v/.zarray", "top/w/.zarray"]), "top/g");
    assert_eq!(root(&["data/x.nc"]), "data/x.nc");
    assert_eq!(root(&["x.nc", "y.nc"]), "");
    assert_eq!(root(&[]), "");
}

#[test]
fn stored_and_compressed_entries_read_alike() {
    for made in [
        HandmadeZip::default().stored("d", b"0123456789"),
        HandmadeZip::default().deflated("d", b"0123456789"),
    ] {
        let made = made.stored("other", b"x");
        let store = open(made.finish()).unwrap();
        let object = ObjectId::new(LocalStore::id(&store).clone(), "d");
        now(conformance::read_digits(&store, &object)).unwrap();
        let mut buffer = Vec::new();
        assert_eq!(store.read_whole(&object, 10, &mut buffer).unwrap(), Some(10));
        assert_eq!(buffer, b"0123456789");
        assert_eq!(store.read_whole(&object, 9, &mut buffer).unwrap_err().kind(), ErrorKind::Limit);
        let mut four = [0; 4];
        assert_eq!(store.read_into(&object, 7, &mut four).unwrap(), Some(3));
        assert_eq!(&four[..3], b"789");
    }
}

#[test]
fn far_ranges_read_the_header_alone() {
    let content: Vec<u8> = (0..200_000_u32).flat_map(u32::to_le_bytes).collect();
    let store =
        open(HandmadeZip::default().stored("a", b"1").stored("big", &content).stored("z", b"2").finish())
            .unwrap();
    let object = ObjectId::new(LocalStore::id(&store).clone(), "big");
    let blob = LocalStore::read(&store, &object, &Want::Range(600_000..600_008)).unwrap().unwrap();
    assert_eq!(blob.bytes.as_ref(), &content[600_000..600_008]);
}

#[test]
fn the_last_entry_of_a_name_counts_and_folders_are_not_listed() {
    let made = HandmadeZip::default()
        .stored("a/", b"")
        .stored("a/x", b"old")
        .stored("b", b"1")
        .stored("a/x", b"new");
    let store = open(made.finish()).unwrap();
    assert_eq!(whole(&store, "a/x").unwrap().as_deref(), Some(&b"new"[..]));
    assert_eq!(keys(&store, ""), ["a", "b"]);
    assert_eq!(keys(&store, "a"), ["x"]);
    assert_eq!(store.len(), 2);
}

#[test]
fn names_that_would_leave_the_store_are_skipped() {
    let bad = ["../evil", "a/../../evil", "/etc/passwd", "a\\..\\evil", "nul\0", "a//b", "./a", ".."];
    let made =
        bad.iter().fold(HandmadeZip::default().stored("good", b"1"), |made, name| made.stored(name, b"evil"));
    let store = open(made.finish()).unwrap();
    assert_eq!(keys(&store, ""), ["good"]);
    assert_eq!(store.warnings().len(), bad.len());
    assert!(store.warnings()[0].contains("../evil"), "{:?}", store.warnings());
}

#[test]
#[cfg(unix)]
fn a_backslash_is_a_letter_of_a_name() {
    let store = open(HandmadeZip::default().stored("a\\b/.zarray", b"{}").finish()).unwrap();
    assert_eq!(whole(&store, "a\\b/.zarray").unwrap().as_deref(), Some(&b"{}"[..]));
    assert!(store.warnings().is_empty());
}

#[test]
fn overlapping_entries_are_refused() {
    let content = vec![0; 1000];
    let made = HandmadeZip::default().stored("a", &content);
    let inner = format::EntryHeader {
        needed: format::VERSION,
        flags: 0,
        method: format::STORED,
        crc: 0,
        compressed: 500,
        size: 500,
        offset: 100,
    };
    let error = open(made.listed("b", &inner).finish()).unwrap_err();
    assert_eq!((error.kind(), error.message()), (ErrorKind::Malformed, "entries of the zip file overlap"));
}

#[test]
fn content_that_grows_beyond_what_it_declares_is_refused() {
    let bomb = vec![0; 1 << 20];
    let mut honest = HandmadeZip::default().deflated("b", &bomb);
    assert_eq!(
        whole(&open(HandmadeZip::default().deflated("b", &bomb).finish()).unwrap(), "b")
            .unwrap()
            .unwrap()
            .len(),
        1 << 20
    );
    let size = u32::try_from(bomb.len()).unwrap().to_le_bytes();
    let at = honest.central.windows(4).position(|window| window == size).unwrap();
    honest.central[at..at + 4].copy_from_slice(&1000_u32.to_le_bytes());
    let store = open(honest.finish()).unwrap();
    assert_eq!(whole(&store, "b").unwrap_err().kind(), ErrorKind::Malformed);
}

#[test]
fn limits_hold() {
    let tight = Limits { chunk_bytes: 1000, ..Limits::default() };
    let store =
        open_within(&HandmadeZip::default().deflated("b", &[0; 2000]).stored("c", &[0; 2]).finish(), &tight)
            .unwrap();
    let object = ObjectId::new(LocalStore::id(&store).clone(), "b");
    assert_eq!(LocalStore::read(&store, &object, &Want::All).unwrap_err().kind(), ErrorKind::Limit);
    let few = Limits { count: 1, ..Limits::default() };
    let error =
        open_within(&HandmadeZip::default().stored("a", b"").stored("b", b"").finish(), &few).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit);
    let small = Limits { metadata_bytes: 10, ..Limits::default() };
    assert_eq!(
        open_within(&HandmadeZip::default().stored("a", b"").finish(), &small).unwrap_err().kind(),
        ErrorKind::Limit
    );
}

#[test]
fn a_wrong_checksum_is_found() {
    let made = HandmadeZip::default().stored("a", b"content");
    let mut bytes = made.finish();
    let at = bytes.windows(7).position(|window| window == b"content").unwrap();
    bytes[at] ^= 1;
    let error = whole(&open(bytes).unwrap(), "a").unwrap_err();
    assert_eq!(error.message(), "checksum of the zip entry is wrong");
    assert_eq!(error.to_string(), "checksum of the zip entry is wrong (in memory://zips/x.zip/a)");
}

#[test]
fn bytes_before_and_a_comment_behind_do_no_harm() {
    let mut bytes = b"#!/bin/sh\n".to_vec();
    bytes.extend(HandmadeZip::default().stored("a", b"1").finish());
    let end = bytes.len();
    bytes[end - 2..].copy_from_slice(&5_u16.to_le_bytes());
    bytes.extend(b"PK\x05\x06!");
    assert_eq!(whole(&open(bytes).unwrap(), "a").unwrap().as_deref(), Some(&b"1"[..]));
}

#[test]
fn sixty_four_bit_directories_are_read() {
    let mut made = (0..70_000).fold(HandmadeZip::default(), |made, i| made.stored(&format!("c/{i}"), b"x"));
    made = made.stored(".zgroup", b"{}");
    let store = open(made.finish()).unwrap();
    assert_eq!(store.len(), 70_001);
    assert_eq!(whole(&store, "c/69999").unwrap().as_deref(), Some(&b"x"[..]));
}

#[test]
fn a_zip_file_that_is_cut_off_never_panics() {
    let bytes = HandmadeZip::default().stored(".zgroup", b"{}").deflated("v/0", &[7; 300]).finish();
    for len in 0..bytes.len() {
        let error = open(&bytes[..len]).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "cut to {len}");
    }
}

#[test]
fn a_zip_file_that_changes_under_a_reader_is_an_error() {
    let store = MemoryStore::new("memory://zips");
    let object = store.root().child("x.zip");
    let bytes = HandmadeZip::default().stored("a", b"1").finish();
    store.put(&object, &bytes, &PutCondition::None).unwrap();
    let zip = now(ZipStore::open(store.shared(), object.clone(), &Limits::default())).unwrap();
    store.put(&object, &bytes, &PutCondition::None).unwrap();
    assert_eq!(whole(&zip, "a").unwrap_err().kind(), ErrorKind::Changed);
}

#[test]
fn the_writer_obeys_the_laws() {
    let folder = tempfile::tempdir().unwrap();
    for top in [None, Some("top")] {
        let writer = ZipWriterStore::create(&folder.path().join("x.zip"), top).unwrap();
        let root = writer.root();
        conformance::local(&writer, &root).unwrap();
        now(conformance::writable(writer.shared().as_ref(), &root)).unwrap();
        let moved = root.child("moved");
        writer.rename(&root.child("listing"), &moved).unwrap();
        assert_eq!(LocalStore::list(&writer, &root.child("listing"), None).unwrap().entries, []);
        assert!(writer.stat(&moved.child("v/0.0")).unwrap().is_some());
        assert_eq!(writer.write_at(&root.child("x"), 0, b"").unwrap_err().kind(), ErrorKind::Unsupported);
    }
}

#[test]
fn the_layout_of_netcdf_c_has_folders_first() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("b.v1.zip");
    let writer = ZipWriterStore::create(&path, Some("b.v1")).unwrap();
    for name in [".zgroup", "lat/.zarray", "lat/0"] {
        writer.put(&writer.root().child(name), b"1", &PutCondition::None).unwrap();
    }
    writer.finish().unwrap();
    let bytes = fs::read(&path).unwrap();
    let order = ["b.v1/", "b.v1/.zgroup", "b.v1/lat/", "b.v1/lat/.zarray", "b.v1/lat/0"];
    let (mut found, mut at) = (Vec::new(), 0);
    while bytes[at..].starts_with(b"PK\x03\x04") {
        let name = usize::from(bytes[at + 26]);
        found.push(String::from_utf8(bytes[at + 30..at + 30 + name].to_vec()).unwrap());
        at += 30 + name + usize::from(bytes[at + 18]);
    }
    assert_eq!(found, order);
    assert!(ZipWriterStore::create(&path, Some("../x")).is_err());
}

#[test]
fn replaced_entries_are_squeezed_out() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let writer = ZipWriterStore::create(&path, None).unwrap();
    let (root, big) = (writer.root(), vec![5; 100_000]);
    for round in 0..5_u8 {
        for name in ["v/0", "v/1", "w"] {
            writer.put(&root.child(name), &big, &PutCondition::None).unwrap();
        }
        writer.put(&root.child("small"), &[round], &PutCondition::None).unwrap();
    }
    writer.finish().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 301_000);
    let more = ZipWriterStore::append(&path, &Limits::default()).unwrap();
    more.put(&more.root().child("small"), b"again", &PutCondition::None).unwrap();
    more.finish().unwrap();
    let (store, object) = DirectoryStore::of_file(&path).unwrap();
    let zip = now(ZipStore::open(store.shared(), object, &Limits::default())).unwrap();
    assert_eq!(whole(&zip, "small").unwrap().as_deref(), Some(&b"again"[..]));
    for name in ["v/0", "v/1", "w"] {
        assert_eq!(whole(&zip, name).unwrap().as_ref(), Some(&big));
    }
}

#[test]
fn compressed_entries_survive_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let made = HandmadeZip::default()
        .deflated("a", &[1; 1000])
        .stored("junk", &vec![2; 200_000])
        .deflated("b", &[3; 1000]);
    fs::write(&path, made.finish()).unwrap();
    let writer = ZipWriterStore::append(&path, &Limits::default()).unwrap();
    let root = writer.root();
    let part = writer.read(&root.child("b"), &Want::Range(10..12)).unwrap().unwrap();
    assert_eq!(part.bytes.as_ref(), [3, 3]);
    writer.delete(&root.child("junk")).unwrap();
    writer.rename(&root.child("b"), &root.child("c")).unwrap();
    writer.finish().unwrap();
    assert!(fs::metadata(&path).unwrap().len() < 1000);
    let zip = open(fs::read(&path).unwrap()).unwrap();
    assert_eq!(
        (whole(&zip, "a").unwrap(), whole(&zip, "c").unwrap()),
        (Some(vec![1; 1000]), Some(vec![3; 1000]))
    );
    assert_eq!(whole(&zip, "b").unwrap(), None);
}

proptest! {
    #[test]
    fn damaged_bytes_never_panic(at in 0_usize..400, byte: u8, cut in 0_usize..400) {
        let mut bytes = HandmadeZip::default().stored(".zgroup", b"{}").deflated("v/0", &[7; 300]).stored("v/1", b"123").finish();
        let at = at % bytes.len();
        bytes[at] = byte;
        bytes.truncate(bytes.len().saturating_sub(cut % 3));
        if let Ok(store) = open(bytes) {
            for name in [".zgroup", "v/0", "v/1"] {
                let _ = whole(&store, name);
            }
        }
    }

    #[test]
    fn what_was_put_is_read_back(puts in proptest::collection::vec(("[a-c](/[a-c])?", proptest::collection::vec(any::<u8>(), 0..300)), 0..12)) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        let writer = ZipWriterStore::create(&path, None).unwrap();
        let mut expected = std::collections::BTreeMap::new();
        for (name, body) in &puts {
            if writer.put(&writer.root().child(name), body, &PutCondition::None).is_ok() {
                expected.insert(name.clone(), body.clone());
            }
        }
        writer.finish().unwrap();
        let zip = open(fs::read(&path).unwrap()).unwrap();
        prop_assert_eq!(zip.len(), expected.len());
        for (name, body) in &expected {
            let object = ObjectId::new(LocalStore::id(&zip).clone(), name.as_str());
            let read = LocalStore::read(&zip, &object, &Want::All).unwrap().map(|blob| blob.bytes.to_vec());
            prop_assert_eq!(read.as_ref(), Some(body));
        }
    }
}
