//! The index cache on disk: a second opening costs one request.

use crate::support::*;
use bytes::Bytes;
use ncirrus_engine::{Dataset, Session};
use ncirrus_layout::*;
use ncirrus_model::*;
use ncirrus_store::{LocalStore, MemoryStore, PutCondition, Store};
use std::path::Path;
use std::sync::Arc;

/// A format of one file: a magic number, structures every 3 MiB, the last of which is an index node, and one chunk of
/// data.
#[derive(Debug, Clone, Copy)]
struct Scattered;

const STEP: u64 = 3 << 20;
const DATA: u64 = 4 * STEP;

fn parse(view: &dyn View, root: &ObjectId, at: u64) -> Step<Bytes> {
    let blob = view.read(root, Want::Parse(at..at + 4))?;
    Ok(blob.ok_or_else(|| Error::not_found("no such file").at_object(root))?.bytes)
}

impl Driver for Scattered {
    fn name(&self) -> &'static str {
        "scattered"
    }
    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        let found = view.read(root, Want::Parse(0..4))?;
        let is_ours = found.is_some_and(|blob| blob.bytes.as_ref() == b"SCAT");
        Ok(if is_ours { Confidence::Yes } else { Confidence::No })
    }
    fn open(&self, view: &dyn View, root: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        let first = parse(view, root, STEP)?;
        let second = parse(view, root, 2 * STEP)?;
        let mut array = Array::new(&[4], &[4]).source(root);
        let Layout::Grid { index, .. } = &mut array.layout else { panic!() };
        *index = Arc::new(InFile { root: root.clone() });
        let mut model = Model::new();
        let top = model.root();
        let text = [first, second].concat();
        let attribute = Attribute::text("text", &String::from_utf8(text).unwrap());
        *model.attributes_mut(NodeId::Group(top)).unwrap() =
            AttributeState::Known([attribute].into_iter().collect());
        let (sample, _) = sample_in(&mut model, &[4], Atomic::Int.into(), array);
        Ok(Arc::new(sample))
    }
}

/// Another format, which looks for other objects.
#[derive(Debug)]
struct Elsewhere;

impl Driver for Elsewhere {
    fn name(&self) -> &'static str {
        "elsewhere"
    }
    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        let found = view.read(&root.child("metadata"), Want::All)?;
        Ok(if found.is_some() { Confidence::Maybe } else { Confidence::No })
    }
    fn open(&self, _: &dyn View, _: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        Err(Error::unsupported("never").into())
    }
}

#[derive(Debug)]
struct InFile {
    root: ObjectId,
}

impl ChunkIndex for InFile {
    fn locate(&self, view: &dyn View, cells: &CellList) -> Step<Vec<ChunkRef>> {
        let node = view.read(&self.root, Want::Range(3 * STEP..3 * STEP + 4))?;
        assert_eq!(node.unwrap().bytes.as_ref(), b"node");
        let bytes = Location::Bytes(self.root.clone(), DATA..DATA + 16);
        Ok(cells.iter().map(|_| ChunkRef::new(bytes.clone())).collect())
    }
}

fn body(text: &str) -> Bytes {
    let mut body = vec![0; DATA as usize];
    for (at, part) in [b"SCAT", text.as_bytes(), text.as_bytes(), b"node"].into_iter().enumerate() {
        body[at * STEP as usize..][..4].copy_from_slice(part);
    }
    body.extend((1..5i32).flat_map(i32::to_le_bytes));
    body.into()
}

fn put(store: &MemoryStore, key: &str, text: &str) {
    store.put(&store.root().child(key), &body(text), &PutCondition::None).unwrap();
}

fn session(folder: &Path, max: u64) -> Session {
    Session::builder().threads(1).index_cache(folder, max).build().unwrap()
}

fn open_file(session: &Session, store: Arc<dyn Store>, key: &str) -> Dataset {
    let drivers: [Arc<dyn Driver>; 2] = [Arc::new(Elsewhere), Arc::new(Scattered)];
    let root = ObjectId::new(store.id().clone(), key);
    session.block_on(session.open(store, root, &drivers, &OpenOptions::default())).unwrap()
}

fn text_of(dataset: &Dataset) -> String {
    let model = dataset.model();
    let attributes = model.attributes(NodeId::Group(model.root())).unwrap();
    attributes.known().unwrap().find("text").unwrap().as_text().unwrap()
}

/// Opens and reads in a session of its own, and returns what was requested: for opening, and for reading.
fn visit(folder: &Path, max: u64, store: &MemoryStore, key: &str, text: &str) -> [Vec<Want>; 2] {
    let late = Arc::new(Late::new(store.clone()));
    let session = session(folder, max);
    let dataset = open_file(&session, Arc::clone(&late) as Arc<dyn Store>, key);
    assert_eq!(text_of(&dataset), [text, text].concat());
    let opening: Vec<Want> = late.requested().into_iter().map(|(_, want)| want).collect();
    let var = dataset.model().variable_at("/v").unwrap();
    let values = session.block_on(dataset.read(var, &Selection::all(&[4]))).unwrap();
    assert_eq!(values, Values::Int(vec![1, 2, 3, 4]));
    assert!(dataset.warnings().is_empty());
    let reading = late.requested().split_off(opening.len()).into_iter().map(|(_, want)| want).collect();
    [opening, reading]
}

fn files(folder: &Path) -> Vec<std::path::PathBuf> {
    std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()).collect()
}

const PLENTY: u64 = 1 << 30;
const DATA_ALONE: [Want; 1] = [Want::Range(DATA..DATA + 16)];

#[test]
fn the_second_opening_asks_once_and_the_index_is_at_hand() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory([]);
    put(&store, "file", "abcd");
    let [opening, reading] = visit(folder.path(), PLENTY, &store, "file", "abcd");
    assert_eq!((opening.len(), reading.len()), (4, 2));
    let [opening, reading] = visit(folder.path(), PLENTY, &store, "file", "abcd");
    assert_eq!(opening, [Want::Range(0..1)]);
    assert_eq!(reading, DATA_ALONE);
    assert_eq!(files(folder.path()).len(), 1);
}

#[test]
fn what_was_not_read_the_first_time_is_added() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory([]);
    put(&store, "file", "abcd");
    let first = session(folder.path(), PLENTY);
    drop(open_file(&first, Arc::new(Late::new(store.clone())), "file"));
    let [opening, reading] = visit(folder.path(), PLENTY, &store, "file", "abcd");
    assert_eq!((opening.len(), reading.len()), (1, 2), "the index node is fetched");
    let [opening, reading] = visit(folder.path(), PLENTY, &store, "file", "abcd");
    assert_eq!((opening.len(), reading), (1, DATA_ALONE.to_vec()));
}

#[test]
fn a_changed_object_is_fetched_anew() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory([]);
    put(&store, "file", "abcd");
    visit(folder.path(), PLENTY, &store, "file", "abcd");
    put(&store, "file", "efgh");
    let [opening, reading] = visit(folder.path(), PLENTY, &store, "file", "efgh");
    assert_eq!((opening.len(), reading.len()), (4, 2));
    let [opening, _] = visit(folder.path(), PLENTY, &store, "file", "efgh");
    assert_eq!(opening, [Want::Range(0..1)]);
}

#[test]
fn an_object_that_is_gone_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory([]);
    put(&store, "file", "abcd");
    visit(folder.path(), PLENTY, &store, "file", "abcd");
    store.delete(&store.root().child("file")).unwrap();
    let session = session(folder.path(), PLENTY);
    let late: Arc<dyn Store> = Arc::new(Late::new(store.clone()));
    let drivers: [Arc<dyn Driver>; 2] = [Arc::new(Elsewhere), Arc::new(Scattered)];
    let options = OpenOptions::default();
    let opened = session.open(late, store.root().child("file"), &drivers, &options);
    assert_eq!(session.block_on(opened).unwrap_err().kind(), ErrorKind::NotFound);
    assert!(files(folder.path()).is_empty());
}

#[test]
fn damaged_files_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory([]);
    put(&store, "file", "abcd");
    visit(folder.path(), PLENTY, &store, "file", "abcd");
    for at in [0, 20, 3000] {
        let file = files(folder.path()).pop().unwrap();
        let mut bytes = std::fs::read(&file).unwrap();
        bytes[at] ^= 1;
        std::fs::write(&file, bytes).unwrap();
        let [opening, _] = visit(folder.path(), PLENTY, &store, "file", "abcd");
        assert_eq!(opening.len(), 3 + 1);
    }
    let [opening, _] = visit(folder.path(), PLENTY, &store, "file", "abcd");
    assert_eq!(opening.len(), 1);
}

#[test]
fn several_may_share_a_folder_and_its_bound_is_kept() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory([]);
    for key in 0..6 {
        put(&store, &format!("file{key}"), "abcd");
    }
    // One file takes about 3 MiB: blocks of 256 KiB, 512 KiB, 1 MiB and the gap before the next.
    let max = 8 << 20;
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (folder, store) = (folder.path(), &store);
            scope.spawn(move || {
                for turn in 0..6 {
                    visit(folder, max, store, &format!("file{}", (thread + turn) % 6), "abcd");
                }
            });
        }
    });
    visit(folder.path(), max, &store, "file0", "abcd");
    let bytes: u64 = files(folder.path()).iter().map(|file| file.metadata().unwrap().len()).sum();
    assert!(bytes <= max && bytes > 0, "{bytes}");
    let [opening, _] = visit(folder.path(), max, &store, "file0", "abcd");
    assert_eq!(opening.len(), 1);
}

#[test]
fn without_a_folder_to_write_to_there_is_a_warning_and_no_cache() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("file");
    std::fs::write(&file, "no folder").unwrap();
    let store = memory([]);
    put(&store, "file", "abcd");
    let session = session(&file, PLENTY);
    for _ in 0..2 {
        let late = Arc::new(Late::new(store.clone()));
        let dataset = open_file(&session, Arc::clone(&late) as Arc<dyn Store>, "file");
        assert_eq!(late.requested().len(), 4);
        assert!(dataset.warnings()[0].contains("no index cache"));
    }
}

#[test]
fn local_stores_need_none() {
    let folder = tempfile::tempdir().unwrap();
    let store = memory([]);
    put(&store, "file", "abcd");
    let session = session(folder.path(), PLENTY);
    drop(open_file(&session, store.shared(), "file"));
    assert!(files(folder.path()).is_empty());
}

#[test]
fn a_plan_reports_what_finding_the_chunks_took_and_what_is_still_to_come() {
    let store = memory([]);
    put(&store, "file", "abcd");
    let late = Arc::new(Late::new(store));
    let session = Session::builder().build().unwrap();
    let dataset = open_file(&session, Arc::clone(&late) as Arc<dyn Store>, "file");
    let var = dataset.model().variable_at("/v").unwrap();
    let opening = late.requested().len() as u64;
    let plan = session.block_on(dataset.plan(var, &Selection::all(&[4]))).unwrap();
    assert_eq!((plan.metadata_requests, plan.metadata_bytes), (1, 4), "the index node");
    assert!(plan.to_string().contains("index       1 requests, 4 bytes"), "{plan}");
    let again = session.block_on(dataset.plan(var, &Selection::all(&[4]))).unwrap();
    assert_eq!((again.metadata_requests, again.requests, again.bytes), (0, 1, 16));
    session.block_on(dataset.read(var, &Selection::all(&[4]))).unwrap();
    assert_eq!(late.requested().len() as u64, opening + plan.metadata_requests + plan.requests);
}
