//! Damaged and hostile files: clear errors and bounded memory.
use super::corpus::objects;
use crate::envelope::{self, FileKind};
use crate::flat::FlatTable;
use crate::inspect;
use crate::manifest::Manifest;
use crate::repo_info::RepoInfo;
use crate::snapshot::Snapshot;
use bytes::Bytes;
use ncirrus_layout::{ErrorKind, Limits, Result};
use proptest::prelude::*;

/// The decompressed files of a repository, each with a header that says that it is not compressed.
fn plain_files(case: &str) -> Vec<Vec<u8>> {
    let Some(objects) = objects(case) else { return Vec::new() };
    let is_file =
        |key: &&str| *key == "repo/repo" || key.contains("/snapshots/") || key.contains("/manifests/");
    let files = objects.keys().filter(is_file).filter_map(|key| objects.find(key));
    files.map(|bytes| crate::uncompressed(bytes, &Limits::default()).unwrap()).collect()
}

#[test]
fn every_prefix_of_a_file_is_refused_or_smaller() {
    for case in ["single-v2", "inline-v1"] {
        for file in plain_files(case) {
            let file = Bytes::from(file);
            for len in 0..file.len() {
                inspect(&file.slice(..len), &Limits::default());
            }
        }
    }
}

/// Parses a file.
type FileParser = fn(&Bytes) -> Result<()>;

#[test]
fn every_prefix_of_a_compressed_file_is_refused() {
    let Some(objects) = objects("single-v2") else { return };
    let parse: [(&str, FileParser); 3] = [
        ("repo/repo", |bytes| RepoInfo::parse(bytes, &Limits::default()).map(|_| ())),
        ("repo/snapshots/", |bytes| Snapshot::parse(bytes, &Limits::default()).map(|_| ())),
        ("repo/manifests/", |bytes| Manifest::parse(bytes, &Limits::default()).map(|_| ())),
    ];
    for (folder, parse) in parse {
        for key in objects.keys().filter(|key| key.starts_with(folder)) {
            let bytes = objects.find(key).unwrap();
            parse(bytes).unwrap();
            for len in 0..bytes.len() {
                assert!(parse(&bytes.slice(..len)).is_err(), "{key}: {len}");
            }
        }
    }
}

#[test]
fn a_frame_that_grows_too_much_is_refused_before_it_is_decompressed() {
    let Some(objects) = objects("damaged/zeros-gibibyte") else { return };
    let key = objects.keys().find(|key| key.ends_with("snapshots/ENCSHE08BCW1NNCKR0AG")).unwrap();
    let error = Snapshot::parse(objects.find(key).unwrap(), &Limits::default()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn a_file_of_another_kind_or_version_is_named() {
    let header = |version: u8, kind: u8, compression: u8| {
        let mut file = envelope::MAGIC.to_vec();
        file.extend_from_slice(b"ic-2.3.0                ");
        file.extend_from_slice(&[version, kind, compression]);
        Bytes::from(file)
    };
    let opened = |file: Bytes| envelope::open(&file, FileKind::Snapshot, &Limits::default()).map(|_| ());
    assert!(opened(header(2, 1, 0)).is_ok());
    for (file, kind, words) in [
        (header(99, 1, 0), ErrorKind::Unsupported, "spec version 99"),
        (header(0, 1, 0), ErrorKind::Unsupported, "spec version 0"),
        (header(2, 2, 0), ErrorKind::Malformed, "file type 2 instead of 1"),
        (header(2, 1, 7), ErrorKind::Unsupported, "compression 7"),
        (header(2, 1, 1), ErrorKind::Malformed, "zstd"),
        (Bytes::from_static(&[1; 40]), ErrorKind::Malformed, "starts with"),
    ] {
        let error = opened(file).unwrap_err();
        assert!(error.kind() == kind && error.message().contains(words), "{error}");
    }
}

#[test]
fn lists_that_are_longer_than_the_file_are_refused() {
    // A table with one field, which is a list of 2^32 - 1 entries.
    let bytes = [12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0, 255, 255, 255, 255];
    let table = FlatTable::root(&bytes).unwrap();
    let error = table.vector(0, 4).unwrap_err();
    assert!(error.message().contains("4294967295 entries"), "{error}");
    assert!(FlatTable::root(&[255; 8]).is_err() && FlatTable::root(&[]).is_err());
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]
    #[test]
    fn no_changed_file_makes_it_panic(which in 0usize..64, at in 0usize..4096, byte: u8, word: u32, wide: bool) {
        thread_local! {
            static FILES: Vec<Vec<u8>> = ["single-v2", "inline-v1", "history", "http-named"].into_iter().flat_map(plain_files).collect();
        }
        let file = FILES.with(|files| files.get(which.checked_rem(files.len()).unwrap_or(0)).cloned());
        if let Some(mut file) = file {
            let at = 39 + at % (file.len() - 39).max(1);
            if wide && at + 4 <= file.len() {
                file[at..at + 4].copy_from_slice(&word.to_le_bytes());
            } else if let Some(old) = file.get_mut(at) {
                *old = byte;
            }
            inspect(&file.into(), &Limits { count: 10_000, ..Limits::default() });
        }
    }
}
