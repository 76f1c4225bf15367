//! Files that are cut, damaged, or arrive in pieces.
use super::everything;
use crate::object::ObjectRef;
use crate::superblock::load;
use crate::testing::{KEY, done, files, root, view};
use bytes::Bytes;
use ncirrus_layout::Limits;
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::law::RandomSource;
use ncirrus_testkit::{ObjectView, StallingView, drive};
use std::sync::Arc;

/// Files small enough to be read many times.
fn small_files(limit: usize) -> Vec<(String, Bytes)> {
    let Some(folder) = corpus("hdf5") else { return Vec::new() };
    files(&folder).into_iter().filter(|(_, bytes)| bytes.len() <= limit).collect()
}

/// Reads all that can be read; errors are fine.
fn read(bytes: Vec<u8>) {
    let limits = Limits { metadata_bytes: 1 << 22, chunk_bytes: 1 << 22, ..Limits::default() };
    let view = view(bytes).with_limits(limits);
    if let Ok(root) = root(&view) {
        _ = done(everything(&view, &root));
    }
}

#[test]
fn a_file_that_is_cut_is_an_error_and_no_panic() {
    let mut random = RandomSource(1);
    for (_, bytes) in small_files(40_000) {
        for _ in 0..4 {
            let len = random.below(bytes.len() as u64);
            read(bytes[..usize::try_from(len).unwrap()].to_vec());
        }
    }
}

#[test]
fn a_damaged_file_is_an_error_and_no_panic() {
    let mut random = RandomSource(2);
    for (_, bytes) in small_files(40_000) {
        for _ in 0..6 {
            let mut bytes = bytes.to_vec();
            for _ in 0..1 + random.below(8) {
                let at = usize::try_from(random.below(bytes.len() as u64)).unwrap();
                bytes[at] ^= 1 << random.below(8);
            }
            read(bytes);
        }
    }
}

#[test]
fn nothing_depends_on_which_bytes_arrive_when() {
    for (name, bytes) in small_files(20_000) {
        let complete = view(bytes.clone());
        let Ok(known) = root(&complete) else { continue };
        let wanted = done(everything(&complete, &known)).unwrap();
        let rounds = StallingView::new(ObjectView::one(KEY, bytes));
        let mut random = RandomSource(3);
        let found = drive(&rounds, |view| {
            let file = load(view, &ObjectView::id(KEY))?;
            let step = everything(view, &ObjectRef { addr: file.root, file: Arc::clone(&file) });
            if random.below(4) == 0 {
                rounds.evict();
            }
            step
        });
        assert!(found.is_ok_and(|found| found == wanted), "{name}");
    }
}
