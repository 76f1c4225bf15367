//! Manifests in pages: the same places as of manifests that are whole, and no more trust in what they say.
use super::corpus::objects;
use crate::chunk_place::part_of;
use crate::envelope::{self, FileBody, FileKind};
use crate::flat::{FlatBytes, FlatTable};
use crate::manifest::{ChunkPlace, Manifest};
use crate::pages::PageMaker;
use bytes::Bytes;
use ncirrus_layout::Limits;
use proptest::prelude::*;

fn manifests(case: &str) -> Vec<Bytes> {
    let Some(objects) = objects(case) else { return Vec::new() };
    let keys = objects.keys().filter(|key| key.contains("/manifests/"));
    keys.filter_map(|key| objects.find(key)).cloned().collect()
}

#[test]
fn places_are_the_same_in_pages() {
    for case in
        ["many-chunks", "manifests-split", "single-v2", "http-by-hand-mixed", "http-nc3-v1", "http-named"]
    {
        for file in manifests(case) {
            let parse = || Manifest::parse(&file, &Limits::default()).unwrap();
            let (whole, paged) = (parse().places().unwrap(), parse().in_pages().places().unwrap());
            assert!(whole == paged && !whole.is_empty(), "{case}");
            let is_sane = |place: &ChunkPlace| match place {
                ChunkPlace::Native { range, .. } => part_of(range, None).is_ok(),
                ChunkPlace::Inline(_) | ChunkPlace::Virtual(_) => true,
            };
            assert!(paged.iter().all(is_sane));
        }
    }
}

/// A file of that many bytes when decompressed.
fn long_file(len: usize) -> Bytes {
    let mut body = vec![0u8; zstd_safe::compress_bound(len)];
    let size = zstd_safe::compress(body.as_mut_slice(), &vec![7; len], 1).unwrap();
    let mut file = envelope::MAGIC.to_vec();
    file.extend_from_slice(b"ic-2.3.0                ");
    file.extend_from_slice(&[2, FileKind::Manifest as u8, 1]);
    file.extend_from_slice(&body[..size]);
    file.into()
}

#[test]
fn long_files_are_kept_in_pages() {
    let limits = Limits::default();
    let held = |len: usize| match envelope::open_any(&long_file(len), FileKind::Manifest, &limits).unwrap() {
        FileBody::Whole(body) => (false, body.len()),
        FileBody::Paged(pages) => (true, pages.len()),
    };
    assert_eq!(held(1 << 20), (false, 1 << 20));
    assert_eq!(held((30 << 20) + 5), (true, (30 << 20) + 5));
    // Not even in pages are more bytes expanded than a file may stand for.
    let bomb = envelope::open_any(&long_file(1 << 28), FileKind::Manifest, &limits);
    assert!(bomb.is_err_and(|error| error.kind() == ncirrus_layout::ErrorKind::Limit));
}

#[test]
fn long_vectors_in_pages_are_not_copied() {
    let text_of = |len: u32| {
        // A table with one field, which is a text of that many bytes.
        let mut file = vec![12, 0, 0, 0, 6, 0, 8, 0, 4, 0, 0, 0, 8, 0, 0, 0, 4, 0, 0, 0];
        file.extend_from_slice(&len.to_le_bytes());
        let mut maker = PageMaker::new(usize::MAX);
        maker.add(&file).unwrap();
        maker.add(&vec![b'a'; usize::try_from(len).unwrap()]).unwrap();
        let pages = maker.finish().unwrap();
        let table = FlatTable::root_of(FlatBytes::Paged(&pages)).unwrap();
        table.any_bytes(0).map(|bytes| bytes.unwrap().len())
    };
    assert_eq!(text_of(24 << 20).unwrap(), 24 << 20);
    let error = text_of((24 << 20) + 1).unwrap_err();
    assert!(
        error.kind() == ncirrus_layout::ErrorKind::Limit && error.message().contains("25165825"),
        "{error}"
    );
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn no_changed_manifest_makes_it_panic(at in 0usize..4096, word: u32) {
        thread_local! {
            static FILES: Vec<Vec<u8>> = ["single-v2", "http-named"].into_iter().flat_map(manifests)
                .filter_map(|file| crate::uncompressed(&file, &Limits::default())).collect();
        }
        for mut file in FILES.with(Clone::clone) {
            let at = 39 + at % (file.len() - 43);
            file[at..at + 4].copy_from_slice(&word.to_le_bytes());
            if let Ok(manifest) = Manifest::parse(&file.into(), &Limits::default()) {
                prop_assert!(manifest.in_pages().inspect() <= 1_000_000);
            }
        }
    }
}
