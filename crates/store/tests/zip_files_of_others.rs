//! Zip files that other programs wrote, and ours as other programs read them.
#![cfg(feature = "zip")]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

use futures_util::FutureExt;
use ncirrus_layout::{Limits, Result};
use ncirrus_store::kv::BlockingMap;
use ncirrus_store::{
    DatasetShape, LocalStore, OverwritePolicy, PutCondition, StoreContext, StoreOptions, ZipLayout,
    ZipWriterStore,
};
use ncirrus_testkit::corpus::{corpus, peers_python};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

fn now<T>(future: impl Future<Output = Result<T>>) -> Result<T> {
    future.now_or_never().unwrap()
}

fn zip_files(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            zip_files(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "zip") {
            found.push(path);
        }
    }
}

#[test]
fn every_entry_of_every_zip_file_of_the_corpus_reads() {
    let Some(folder) = corpus("nczarr") else { return };
    let mut files = Vec::new();
    zip_files(&folder, &mut files);
    let mut entries = 0;
    for path in &files {
        let map = match BlockingMap::open(path.to_str().unwrap(), &StoreContext::default()) {
            Ok(map) => map,
            Err(failure) => panic!("{}: {failure}", path.display()),
        };
        for key in map.keys().unwrap_or_else(|failure| panic!("{}: {failure}", path.display())) {
            let content = map.get(&key).unwrap_or_else(|failure| panic!("{}: {failure}", path.display()));
            assert_eq!(map.length(&key).unwrap(), content.len() as u64);
            entries += 1;
        }
    }
    println!("{entries} entries of {} zip files", files.len());
    assert!(files.len() >= 20 && entries >= 200, "{entries} entries of {} zip files", files.len());
}

#[test]
fn the_root_of_a_zip_file_of_the_corpus_is_its_dataset() {
    let Some(folder) = corpus("nczarr/cases") else { return };
    for (case, marker) in [
        ("zipmap-4.9.3/basic/data.zip", ".zgroup"),
        ("zipmap-4.8.1/groups/data.zip", ".zgroup"),
        ("zarr-python-v3/zipstore/data.zip", "zarr.json"),
        ("zip-layouts/prefix-deflated/data.zip", ".zgroup"),
        ("zip-layouts/root-stored/data.zip", ".zgroup"),
        ("zip-layouts/prefix-dirs-stored/data.zip", ".zgroup"),
    ] {
        let path = folder.join(case);
        let map = BlockingMap::open(path.to_str().unwrap(), &StoreContext::default()).unwrap();
        assert!(map.exists(marker).unwrap(), "{case}: {:?}", map.keys());
    }
}

fn python(script: &str, arguments: &[&Path]) -> Option<String> {
    let run = Command::new(peers_python()?).arg("-c").arg(script).args(arguments).output().unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stderr));
    Some(String::from_utf8(run.stdout).unwrap())
}

#[test]
fn others_read_what_was_created_and_updated() {
    for layout in [ZipLayout::Root, ZipLayout::TopFolder] {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.zip");
        let context = StoreContext::from(StoreOptions { zip_layout: layout, ..StoreOptions::default() });
        let staged = now(ncirrus_store::create(
            path.to_str().unwrap(),
            DatasetShape::Tree,
            OverwritePolicy::Never,
            &context,
        ))
        .unwrap();
        let local = staged.store.local().unwrap();
        for (name, len) in [("v/0", 100_000), (".zgroup", 2), ("\u{e9}t\u{e9}/1", 0)] {
            local.put(&staged.root.child(name), &vec![b'a'; len], &PutCondition::None).unwrap();
        }
        now(staged.commit()).unwrap();
        let updated = now(ncirrus_store::update(path.to_str().unwrap(), &context)).unwrap();
        let local = updated.store.local().unwrap();
        local.put(&updated.root.child("v/0"), b"new", &PutCondition::None).unwrap();
        now(updated.commit()).unwrap();
        let script = "\
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
print(';'.join(f'{n}={len(z.read(n))}' for n in z.namelist()))";
        let Some(listed) = python(script, &[&path]) else { return };
        let expected = match layout {
            ZipLayout::Root => ".zgroup=2;\u{e9}t\u{e9}/1=0;v/0=3\n",
            ZipLayout::TopFolder => {
                "x/=0;x/v/=0;x/.zgroup=2;x/\u{e9}t\u{e9}/=0;x/\u{e9}t\u{e9}/1=0;x/v/0=3\n"
            }
        };
        assert_eq!(listed, expected);
    }
}

#[test]
fn streamed_zip_files_of_others_read_and_survive_an_update() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("x.zip");
    let script = "\
import sys, zipfile
class Pipe:
    def __init__(self, f): self.f = f
    def write(self, b): return self.f.write(b)
    def flush(self): self.f.flush()
with open(sys.argv[1], 'wb') as f, zipfile.ZipFile(Pipe(f), 'w') as z:
    for i, method in enumerate([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED] * 2):
        with z.open(zipfile.ZipInfo(f'v/{i}') if method == 0 else f'v/{i}', 'w', force_zip64=i > 1) as e:
            e.write(bytes(range(256)) * 400)";
    if python(script, &[&path]).is_none() {
        return;
    }
    let map = BlockingMap::open(path.to_str().unwrap(), &StoreContext::default()).unwrap();
    let content: Vec<u8> = (0..=255).cycle().take(102_400).collect();
    for i in 0..4 {
        assert_eq!(map.get(&format!("/v/{i}")).unwrap(), content, "entry {i}");
    }
    let writer = ZipWriterStore::append(&path, &Limits::default()).unwrap();
    writer.delete(&writer.root().child("v/0")).unwrap();
    writer.put(&writer.root().child("w"), b"new", &PutCondition::None).unwrap();
    writer.finish().unwrap();
    let check = "\
import sys, zipfile
z = zipfile.ZipFile(sys.argv[1])
assert z.testzip() is None
print(sorted((n, len(z.read(n))) for n in z.namelist()))";
    let listed = python(check, &[&path]).unwrap();
    assert_eq!(listed, "[('v/1', 102400), ('v/2', 102400), ('v/3', 102400), ('w', 3)]\n");
}
