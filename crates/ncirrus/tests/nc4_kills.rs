//! Writers of netCDF-4 files of every program that are killed after any write: the file opens, here and in h5py, with
//! old or new contents.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]
#![allow(
    clippy::allow_attributes,
    reason = "an expectation of dead code in a module is not seen to be fulfilled"
)]

use crate::kills::stores::{Unplugged, copy_of};
use crate::nc4::changes::{CHANGES, Change, Content, State, apply, build, is_between, state_of};
use bytes::Bytes;
use ncirrus_engine::{Dataset, Session};
use ncirrus_hdf5::{FileStructures, Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, ObjectId, OpenOptions, Result, Want};
use ncirrus_store::{BlockingStore, LocalStore, MemoryStore, PutCondition, Store};
use ncirrus_testkit::corpus::peers_python;
use serde_json::Value;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// More writes than any of these changes takes.
const MAX_WRITES: usize = 1000;
/// h5py checks one in this many of the states that killed writers leave.
const SAMPLE: usize = 3;

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

fn root(memory: &MemoryStore) -> ObjectId {
    memory.root().child("data")
}

fn empty() -> MemoryStore {
    MemoryStore::new("memory://kills")
}

fn dying(memory: &MemoryStore, allowed: usize) -> Arc<dyn Store> {
    Arc::new(BlockingStore(Unplugged::after(memory, allowed)))
}

fn open(session: &Session, store: Arc<dyn Store>, root: ObjectId) -> Result<Dataset> {
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    session.block_on(session.open(store, root, &drivers, &OpenOptions::default()))
}

fn state(session: &Session, memory: &MemoryStore) -> Result<State> {
    let dataset = open(session, memory.shared(), root(memory))?;
    session.block_on(state_of(&dataset))
}

fn create(
    session: &Session,
    memory: &MemoryStore,
    store: Arc<dyn Store>,
    structures: FileStructures,
) -> Result<()> {
    let writing = Arc::new(Hdf5Writer { structures, ..Hdf5Writer::default() });
    session.block_on(async {
        let writer = session.create(store, root(memory), writing).await?;
        build(&writer, 3).await?;
        writer.close().await
    })
}

fn update(session: &Session, memory: &MemoryStore, store: Arc<dyn Store>, changes: &[Change]) -> Result<()> {
    let dataset = open(session, store, root(memory))?;
    session.block_on(async {
        let writer = session.update(&dataset).await?;
        for change in changes {
            apply(&writer, *change).await?;
        }
        writer.close().await
    })
}

fn file_of(memory: &MemoryStore) -> Option<Bytes> {
    memory.read(&root(memory), &Want::All).unwrap().map(|blob| blob.bytes)
}

/// Files of every program.
fn makers(session: &Session) -> Vec<(String, MemoryStore)> {
    let mut all = Vec::new();
    for (name, structures) in [("ours", FileStructures::V18), ("ours-v110", FileStructures::V110)] {
        let memory = empty();
        create(session, &memory, memory.shared(), structures).unwrap();
        all.push((name.to_owned(), memory));
    }
    let Some(python) = peers_python() else { return all };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nc4/make.py");
    assert!(Command::new(python).arg(script).arg(folder.path()).status().unwrap().success());
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let (path, memory) = (entry.unwrap().path(), empty());
        let body = std::fs::read(&path).unwrap();
        LocalStore::put(&memory, &root(&memory), &body, &PutCondition::None).unwrap();
        all.push((path.file_stem().unwrap().to_str().unwrap().to_owned(), memory));
    }
    all
}

/// States of files that h5py must read, too.
struct Samples {
    folder: tempfile::TempDir,
    seen: Vec<(String, String, State)>,
}

impl Samples {
    fn new() -> Self {
        Self { folder: tempfile::tempdir().unwrap(), seen: Vec::new() }
    }

    fn add(&mut self, what: &str, memory: &MemoryStore, state: &State) {
        let name = format!("{:05}.nc", self.seen.len());
        std::fs::write(self.folder.path().join(&name), file_of(memory).unwrap()).unwrap();
        self.seen.push((name, what.to_owned(), state.clone()));
    }

    /// h5py reads what was read here; for h5py, a variable has its own extent.
    fn check(self) {
        let Some(python) = peers_python() else { return };
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nc4/kills.py");
        let output = Command::new(python).arg(script).arg(self.folder.path()).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let read: Value = serde_json::from_slice(&output.stdout).unwrap();
        let different = self.seen.iter().filter_map(|(name, what, state)| {
            same(state, &read[name]).err().map(|reason| format!("{what}: {reason}"))
        });
        let failures: Vec<String> = different.collect();
        assert!(failures.is_empty(), "{} failures in h5py:\n{}", failures.len(), failures.join("\n"));
    }
}

fn same(state: &State, read: &Value) -> std::result::Result<(), String> {
    if let Some(error) = read.get("error") {
        return Err(error.to_string());
    }
    let found = read.as_object().ok_or("nothing")?;
    if found.len() != state.len() {
        return Err(format!("{:?}, not {:?}", found.keys().collect::<Vec<_>>(), state.keys()));
    }
    for (path, content) in state {
        let name = if path == "/" { path } else { path.trim_start_matches('/') };
        let theirs = found.get(name).ok_or_else(|| format!("no {name}"))?;
        if theirs["title"] != content.title.as_str() {
            return Err(format!("{path}: title {}", theirs["title"]));
        }
        same_values(content, theirs).map_err(|reason| format!("{path}: {reason}"))?;
    }
    Ok(())
}

fn same_values(ours: &Content, theirs: &Value) -> std::result::Result<(), String> {
    let Some(values) = theirs["values"].as_array() else { return Ok(()) };
    let shape: Vec<u64> =
        theirs["shape"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
    let rows = |shape: &[u64]| shape.get(1).map_or(1, |len| usize::try_from(*len).unwrap());
    let (width, whole) = (rows(&shape), rows(&ours.shape));
    for (at, value) in values.iter().enumerate() {
        let mine = ours.values.get(at / width * whole + at % width);
        if mine.copied() != value.as_i64() {
            return Err(format!("element {at} is {value}, here {mine:?}"));
        }
    }
    Ok(())
}

#[test]
fn a_creation_that_is_killed_is_absent_or_whole() {
    let (session, mut samples) = (session(), Samples::new());
    for structures in [FileStructures::V18, FileStructures::V110] {
        let whole = empty();
        create(&session, &whole, whole.shared(), structures).unwrap();
        let whole = state(&session, &whole).unwrap();
        for killed in 0.. {
            let (memory, what) = (empty(), format!("{structures:?} after {killed} writes"));
            let outcome = create(&session, &memory, dying(&memory, killed), structures);
            match (state(&session, &memory), &outcome) {
                (Ok(state), _) => {
                    assert_eq!(state, whole, "{what}");
                    samples.add(&what, &memory, &state);
                }
                (Err(error), Ok(())) => panic!("{what}: {error:?}"),
                (Err(_), Err(_)) => {}
            }
            if outcome.is_ok() {
                assert!((3..MAX_WRITES).contains(&killed), "{what}");
                break;
            }
        }
    }
    samples.check();
}

/// The handle that created a file continues to write it.
#[test]
fn what_its_maker_changes_is_old_or_new() {
    let session = session();
    for structures in [FileStructures::V18, FileStructures::V110] {
        let go_on = |memory: &MemoryStore, store: Arc<dyn Store>| -> Result<()> {
            let writing = Arc::new(Hdf5Writer { structures, ..Hdf5Writer::default() });
            session.block_on(async {
                let writer = session.create(store, root(memory), writing).await?;
                build(&writer, 3).await?;
                writer.sync().await?;
                for change in CHANGES {
                    apply(&writer, change).await?;
                }
                writer.close().await
            })
        };
        let (made, done) = (empty(), empty());
        create(&session, &made, made.shared(), structures).unwrap();
        go_on(&done, done.shared()).unwrap();
        let (old, new) = (state(&session, &made).unwrap(), state(&session, &done).unwrap());
        let mut samples = Samples::new();
        let mut opened = false;
        for killed in 0..MAX_WRITES {
            let (memory, at) = (empty(), format!("{structures:?} after {killed} writes"));
            let outcome = go_on(&memory, dying(&memory, killed));
            match state(&session, &memory) {
                Ok(found) => {
                    opened = true;
                    is_between(&found, &old, &new).unwrap_or_else(|reason| panic!("{at}: {reason}"));
                    if killed % SAMPLE == 0 {
                        samples.add(&at, &memory, &found);
                    }
                }
                Err(error) => assert!(!opened, "{at}: {error:?}"),
            }
            if outcome.is_ok() {
                break;
            }
        }
        assert!(opened);
        samples.check();
    }
}

#[test]
fn changed_attributes_are_old_or_new() {
    everywhere(&[Change::Attributes]);
}

#[test]
fn an_added_variable_is_absent_or_there() {
    everywhere(&[Change::Addition]);
}

#[test]
fn an_appended_variable_is_as_before_or_extended() {
    everywhere(&[Change::Append]);
}

#[test]
fn a_chunk_of_another_size_is_old_or_new() {
    everywhere(&[Change::Rewrite]);
}

#[test]
fn a_renamed_variable_has_one_name() {
    everywhere(&[Change::Rename]);
}

#[test]
fn a_removed_variable_is_whole_or_gone() {
    everywhere(&[Change::Remove]);
}

#[test]
fn an_added_group_is_absent_or_there() {
    everywhere(&[Change::Group]);
}

#[test]
fn everything_at_once_is_old_or_new() {
    everywhere(&CHANGES);
}

/// Kills the change of files of every program after every possible number of writes.
fn everywhere(changes: &[Change]) {
    let (session, mut samples) = (session(), Samples::new());
    let mut failures = Vec::new();
    for (maker, base) in makers(&session) {
        let outcome =
            kill_everywhere(&session, &format!("{maker} {changes:?}"), &base, changes, &mut samples);
        failures.extend(outcome.err());
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
    samples.check();
}

fn kill_everywhere(
    session: &Session,
    name: &str,
    base: &MemoryStore,
    changes: &[Change],
    samples: &mut Samples,
) -> std::result::Result<(), String> {
    let reported = |at: &str| {
        let at = at.to_owned();
        move |error: ncirrus_layout::Error| format!("{at}: {error:?}")
    };
    let old = state(session, base).map_err(reported(name))?;
    let done = copy_of(base);
    update(session, &done, dying(&done, MAX_WRITES), changes).map_err(reported(name))?;
    let new = state(session, &done).map_err(reported(name))?;
    if new == old {
        return Err(format!("{name}: nothing was changed"));
    }
    for killed in 0..MAX_WRITES {
        let (memory, at) = (copy_of(base), format!("{name} after {killed} writes"));
        let outcome = update(session, &memory, dying(&memory, killed), changes);
        let found = state(session, &memory).map_err(reported(&at))?;
        is_between(&found, &old, &new).map_err(|reason| format!("{at}: {reason}"))?;
        if killed % SAMPLE == 0 || outcome.is_ok() {
            samples.add(&at, &memory, &found);
        }
        if outcome.is_ok() {
            return if found == new { Ok(()) } else { Err(format!("{at}: not what was written")) };
        }
        // What a killed writer left does not stop the next writer.
        if killed % SAMPLE == 1 && found == old {
            update(session, &memory, memory.shared(), changes).map_err(reported(&at))?;
            let again = state(session, &memory).map_err(reported(&at))?;
            if again != new {
                return Err(format!("{at}: the next writer's work is not whole"));
            }
        }
    }
    Err(format!("{name}: no end after {MAX_WRITES} writes"))
}
