//! Shards that are written, changed and appended to (Zarr v3).
#![expect(clippy::panic, reason = "helpers of tests may panic")]

use crate::far::Far;
use crate::kills::stores;
use ncirrus_engine::{Dataset, DatasetWriter, Session};
use ncirrus_layout::{Driver, ErrorKind, ObjectId, OpenOptions, Want};
use ncirrus_model::{Atomic, CodecSpec, DimensionLen, Model, Selection, Shards, Storage, Values, VarId};
use ncirrus_store::{MemoryStore, Store};
use ncirrus_zarr::{Dialect, ZarrDriver, ZarrWriter};
use proptest::prelude::*;
use std::sync::{Arc, Barrier};

const COLUMNS: usize = 10;
const X: u64 = COLUMNS as u64;
/// Chunks and shards of the variable `v(time, x)`.
const CHUNK: [u64; 2] = [2, 3];
const SHARD: [u64; 2] = [4, 6];

fn session() -> Session {
    Session::builder().threads(2).durable(false).build().unwrap()
}

fn root(memory: &MemoryStore) -> ObjectId {
    memory.root().child("data")
}

fn open(session: &Session, store: Arc<dyn Store>, root: ObjectId) -> Dataset {
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(ZarrDriver)];
    session.block_on(session.open(store, root, &drivers, &OpenOptions::default())).unwrap()
}

/// One variable `v(time, x)` of integers, compressed, in shards.
fn define(model: &mut Model, shards: Option<Shards>, time: DimensionLen) -> ncirrus_layout::Result<()> {
    let top = model.root();
    let time = model.add_dimension(top, "time", time)?;
    let x = model.add_dimension(top, "x", DimensionLen::Fixed(X))?;
    let var = model.add_variable(top, "v", Atomic::Int.into(), &[time, x])?;
    let variable = model.variable_mut(var).unwrap();
    variable.storage = Storage::Chunked(CHUNK.to_vec());
    variable.shards = shards;
    variable.filters = vec![CodecSpec::hdf5(1, &[1])];
    Ok(())
}

fn of(writer: &DatasetWriter) -> VarId {
    writer.model().variable_at("v").unwrap()
}

fn create(session: &Session, store: Arc<dyn Store>, root: ObjectId, rows: u64) {
    let writing = Arc::new(ZarrWriter::new(Dialect::Nczarr3));
    session
        .block_on(async {
            let writer = session.create(store, root, writing).await?;
            let shards = Some(Shards::new(SHARD.to_vec()));
            writer.edit(|model| define(model, shards, DimensionLen::Unlimited(0))).await?;
            let values = Values::Int((0..i32::try_from(rows * X).unwrap()).collect());
            writer.write(of(&writer), &Selection::slab(&[0, 0], &[rows, X]), &values).await?;
            writer.close().await
        })
        .unwrap();
}

fn values_of(session: &Session, store: Arc<dyn Store>, root: ObjectId) -> Vec<i32> {
    let dataset = open(session, store, root);
    let var = dataset.model().variable_at("v").unwrap();
    let read = session.block_on(dataset.read(var, &Selection::all(&dataset.model().shape(var))));
    let Values::Int(values) = read.unwrap() else { panic!("integers") };
    values
}

/// What is done to the variable.
#[derive(Debug, Clone)]
enum Step {
    /// These rows and columns, from this value on.
    Write {
        start: [u64; 2],
        count: [u64; 2],
        from: i32,
    },
    /// Reads everything through the writer.
    Read,
    Sync,
    /// Commits, and begins anew.
    Reopen,
}

fn step() -> impl Strategy<Value = Step> {
    let write =
        (0..9u64, 0..X, 1..7u64, 1..=X, -1000..1000i32).prop_map(|(row, column, rows, columns, from)| {
            Step::Write { start: [row, column], count: [rows, columns.min(X - column)], from }
        });
    prop_oneof![6 => write, 1 => Just(Step::Read), 1 => Just(Step::Sync), 2 => Just(Step::Reopen)]
}

/// The array in memory; elements never written have the fill value.
#[derive(Debug, Default, Clone, PartialEq)]
struct Expected {
    rows: Vec<[i32; COLUMNS]>,
}

const FILL: i32 = -2_147_483_647;

impl Expected {
    fn write(&mut self, start: [u64; 2], count: [u64; 2], from: i32) {
        let end = usize::try_from(start[0] + count[0]).unwrap();
        if self.rows.len() < end {
            self.rows.resize(end, [FILL; COLUMNS]);
        }
        let mut value = from;
        for row in start[0]..start[0] + count[0] {
            for column in start[1]..start[1] + count[1] {
                self.rows[usize::try_from(row).unwrap()][usize::try_from(column).unwrap()] = value;
                value += 1;
            }
        }
    }

    fn values(&self) -> Vec<i32> {
        self.rows.concat()
    }
}

async fn run(session: &Session, store: &Arc<dyn Store>, root: &ObjectId, steps: &[Step], shards: Shards) {
    let writing = Arc::new(ZarrWriter::new(Dialect::Nczarr3));
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(ZarrDriver)];
    let mut writer = session.create(Arc::clone(store), root.clone(), writing).await.unwrap();
    writer.edit(|model| define(model, Some(shards), DimensionLen::Unlimited(0))).await.unwrap();
    let mut expected = Expected::default();
    let reopened = async || {
        session.open(Arc::clone(store), root.clone(), &drivers, &OpenOptions::default()).await.unwrap()
    };
    for step in steps {
        match step {
            Step::Write { start, count, from } => {
                expected.write(*start, *count, *from);
                let len = i32::try_from(count[0] * count[1]).unwrap();
                let values = Values::Int((*from..from + len).collect());
                writer.write(of(&writer), &Selection::slab(start, count), &values).await.unwrap();
            }
            Step::Read => {
                let all = Selection::all(&writer.model().shape(of(&writer)));
                assert_eq!(writer.read(of(&writer), &all).await.unwrap(), Values::Int(expected.values()));
            }
            Step::Sync => writer.sync().await.unwrap(),
            Step::Reopen => {
                writer.close().await.unwrap();
                writer = session.update(&reopened().await).await.unwrap();
            }
        }
    }
    writer.close().await.unwrap();
    let dataset = reopened().await;
    let var = dataset.model().variable_at("v").unwrap();
    let all = Selection::all(&dataset.model().shape(var));
    assert_eq!(dataset.read(var, &all).await.unwrap(), Values::Int(expected.values()));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    #[test]
    fn any_writes_equal_an_array_in_memory(
        steps in prop::collection::vec(step(), 1..12),
        index_first: bool,
        is_far: bool,
        is_small: bool,
    ) {
        let memory_bytes = if is_small { 1 << 10 } else { 1 << 24 };
        let session = Session::builder().threads(2).durable(false).memory(memory_bytes).build().unwrap();
        let memory = MemoryStore::new("memory://shards");
        let store: Arc<dyn Store> = match is_far {
            true => Arc::new(stores::Far(stores::Unplugged::after(&memory, usize::MAX))),
            false => memory.shared(),
        };
        let shards = Shards { shape: SHARD.to_vec(), index_first };
        session.block_on(run(&session, &store, &root(&memory), &steps, shards));
    }
}

/// Chunks of the variable that were read or put so far, with the kind of request.
fn requests_of_chunks(far: &Far, since: usize) -> Vec<(String, Want)> {
    far.requests()[since..].iter().filter(|(key, _)| key.contains("/c/")).cloned().collect()
}

#[test]
fn whole_shards_are_put_once_and_nothing_is_read() {
    let session = session();
    let far = Arc::new(Far::new(MemoryStore::new("memory://whole")));
    let at = root(&far.inner);
    create(&session, Arc::clone(&far) as Arc<dyn Store>, at.clone(), 8);
    let keys: Vec<String> = requests_of_chunks(&far, 0).into_iter().map(|(key, _)| key).collect();
    let mut sorted = keys.clone();
    sorted.sort();
    assert_eq!(sorted, ["data/v/c/0/0", "data/v/c/0/1", "data/v/c/1/0", "data/v/c/1/1"]);
    assert_eq!(values_of(&session, far.inner.shared(), at), (0..80).collect::<Vec<i32>>());
}

#[test]
fn the_index_of_a_shard_is_read_once_and_then_only_the_chunks_that_are_needed() {
    let session = Session::builder().threads(2).durable(false).chunk_cache(0).build().unwrap();
    let far = Arc::new(Far::new(MemoryStore::new("memory://read")));
    let at = root(&far.inner);
    create(&session, far.inner.shared(), at.clone(), 8);
    let shard = far.inner.root().child("data/v/c/0/0");
    let shard = ncirrus_store::LocalStore::read(&far.inner, &shard, &Want::All).unwrap().unwrap().bytes;
    let index = &shard[shard.len() - 68..];
    let word = |at: usize| u64::from_le_bytes(index[at..at + 8].try_into().unwrap());
    let range = |slot: usize| word(slot * 16)..word(slot * 16) + word(slot * 16 + 8);
    let dataset = open(&session, Arc::clone(&far) as Arc<dyn Store>, at);
    let var = dataset.model().variable_at("v").unwrap();
    for (start, count, wanted) in [
        // Two chunks that follow each other: one request after that of the index.
        ([0, 0], [1, 6], vec![Want::Suffix(68), Want::Range(range(0).start..range(1).end)]),
        // The index is known.
        ([2, 0], [1, 1], vec![Want::Range(range(2))]),
        // Two chunks with another one between them.
        ([0, 0], [4, 3], vec![Want::Range(range(0)), Want::Range(range(2))]),
        ([0, 0], [1, 1], vec![Want::Range(range(0))]),
    ] {
        let (since, bytes) = (far.requests().len(), far.bytes());
        let read = session.block_on(dataset.read(var, &Selection::slab(&start, &count))).unwrap();
        assert_eq!(read.len() as u64, count[0] * count[1]);
        let requests = requests_of_chunks(&far, since);
        assert!(requests.iter().all(|(key, _)| key == "data/v/c/0/0"), "{requests:?}");
        let mut found: Vec<Want> = requests.into_iter().map(|(_, want)| want).collect();
        found.sort_by_key(|want| if let Want::Range(range) = want { range.start + 1 } else { 0 });
        assert_eq!(found, wanted, "{start:?} {count:?}");
        let len = |want: &Want| if let Want::Range(range) = want { range.end - range.start } else { 68 };
        assert_eq!(far.bytes() - bytes, wanted.iter().map(len).sum::<u64>());
    }
}

#[test]
fn whole_chunks_of_a_stored_shard_cost_one_read_and_one_put_and_no_decoding() {
    let session = session();
    let far = Arc::new(Far::new(MemoryStore::new("memory://parts")));
    let at = root(&far.inner);
    create(&session, far.inner.shared(), at.clone(), 8);
    let store = Arc::clone(&far) as Arc<dyn Store>;
    let dataset = open(&session, store, at.clone());
    let since = far.requests().len();
    let before = session.statistics();
    session
        .block_on(async {
            let writer = session.update(&dataset).await?;
            writer.write(of(&writer), &Selection::slab(&[2, 0], &[2, 3]), &Values::Int(vec![-1; 6])).await?;
            writer.close().await
        })
        .unwrap();
    let requests = requests_of_chunks(&far, since);
    assert_eq!(requests.len(), 2, "{requests:?}");
    assert!(requests.iter().all(|(key, _)| key == "data/v/c/0/0"), "{requests:?}");
    let after = session.statistics();
    assert_eq!(after.chunks_decoded - before.chunks_decoded, 0);
    assert_eq!(after.chunks_stored - before.chunks_stored, 1);
    let mut expected: Vec<i32> = (0..80).collect();
    for (row, column) in [(2, 0), (2, 1), (2, 2), (3, 0), (3, 1), (3, 2)] {
        expected[row * 10 + column] = -1;
    }
    assert_eq!(values_of(&session, far.inner.shared(), at), expected);
}

#[test]
fn an_appended_step_decodes_and_encodes_only_the_chunks_that_it_touches() {
    let session = session();
    let far = Arc::new(Far::new(MemoryStore::new("memory://append")));
    let at = root(&far.inner);
    // The last chunk along time has one of two rows, the last shard one of four.
    create(&session, far.inner.shared(), at.clone(), 5);
    let dataset = open(&session, Arc::clone(&far) as Arc<dyn Store>, at.clone());
    let since = far.requests().len();
    let before = session.statistics();
    session
        .block_on(async {
            let writer = session.update(&dataset).await?;
            let row = Values::Int((50..60).collect());
            writer.write(of(&writer), &Selection::slab(&[5, 0], &[1, X]), &row).await?;
            writer.close().await
        })
        .unwrap();
    let after = session.statistics();
    // Four chunks along x, in two shards.
    assert_eq!(after.chunks_decoded - before.chunks_decoded, 4);
    assert_eq!(after.chunks_stored - before.chunks_stored, 4);
    let requests = requests_of_chunks(&far, since);
    assert_eq!(requests.len(), 4, "one read and one put for each shard: {requests:?}");
    assert_eq!(values_of(&session, far.inner.shared(), at), (0..60).collect::<Vec<i32>>());
}

#[test]
fn chunks_that_were_never_written_are_left_out() {
    let session = session();
    let memory = MemoryStore::new("memory://sparse");
    let at = root(&memory);
    session
        .block_on(async {
            let writer =
                session.create(memory.shared(), at.clone(), Arc::new(ZarrWriter::new(Dialect::V3))).await?;
            let shards = Some(Shards::new(SHARD.to_vec()));
            writer.edit(|model| define(model, shards, DimensionLen::Fixed(8))).await?;
            writer.write(of(&writer), &Selection::slab(&[0, 0], &[2, 3]), &Values::Int(vec![7; 6])).await?;
            writer.close().await
        })
        .unwrap();
    let keys: Vec<String> = memory.keys().into_iter().filter(|key| key.contains("/c/")).collect();
    assert_eq!(keys, ["data/v/c/0/0"]);
    let object = memory.root().child(&keys[0]);
    let shard = ncirrus_store::LocalStore::read(&memory, &object, &Want::All).unwrap().unwrap();
    let index = &shard.bytes[shard.bytes.len() - 4 * 16 - 4..];
    assert_eq!(index[16..64], [0xff; 48], "three of four chunks are absent");
    let expected: Vec<i32> = (0..80).map(|at| if at / 10 < 2 && at % 10 < 3 { 7 } else { 0 }).collect();
    let values = values_of(&session, memory.shared(), at);
    assert_eq!(values.iter().filter(|value| **value == 7).count(), 6);
    assert!(values.iter().zip(expected).all(|(found, wanted)| (wanted == 7) == (*found == 7)));
}

/// Two threads that change different chunks of the same shards, each with a handle of its own.
#[test]
fn writers_of_one_shard_lose_nothing_of_each_other() {
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("shared.zarr").to_str().unwrap().to_owned();
    let options = ncirrus::CreateOptions::new().kind(ncirrus::Kind::Zarr3);
    let session = ncirrus::Session::builder().threads(2).durable(false).build().unwrap();
    let dataset = ncirrus::Dataset::create_with(&url, &options, &session).unwrap();
    let shards = Some(Shards::new(vec![8, 12]));
    dataset.edit(|model| define(model, shards, DimensionLen::Fixed(8))).unwrap();
    let all = Selection::all(&[8, X]);
    dataset.variable("/v").unwrap().write_values(&all, &Values::Int(vec![0; 80])).unwrap();
    dataset.close().unwrap();
    let start = Barrier::new(4);
    std::thread::scope(|scope| {
        for thread in 0..4u64 {
            let (start, url, session) = (&start, &url, &session);
            scope.spawn(move || {
                start.wait();
                for turn in 1..=10 {
                    let dataset =
                        ncirrus::Dataset::update_with(url, &OpenOptions::default(), session).unwrap();
                    // A whole chunk, and a part of a chunk that another thread writes another part of.
                    let variable = dataset.variable("/v").unwrap();
                    let whole = Selection::slab(&[thread * 2, 0], &[2, 3]);
                    variable.write_values(&whole, &Values::Int(vec![turn; 6])).unwrap();
                    let part = Selection::slab(&[thread / 2, 6 + thread % 2], &[1, 1]);
                    variable.write_values(&part, &Values::Int(vec![turn])).unwrap();
                    dataset.close().unwrap();
                }
            });
        }
    });
    let dataset = ncirrus::Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap();
    let values = dataset.variable("/v").unwrap().read::<i32>().unwrap();
    for row in 0..8 {
        assert_eq!(values[row * 10..row * 10 + 3], [10; 3], "row {row}");
    }
    for thread in 0..4 {
        assert_eq!(values[thread / 2 * 10 + 6 + thread % 2], 10, "thread {thread}");
    }
}

#[test]
fn shards_are_refused_where_a_format_has_none() {
    let memory = MemoryStore::new("memory://two");
    let session = session();
    let shards = |shape: &[u64]| Some(Shards::new(shape.to_vec()));
    for (dialect, shape, kind) in [
        (Dialect::Attributes, &[4, 6][..], ErrorKind::Unsupported),
        (Dialect::V3, &[5, 6], ErrorKind::Invalid),
        (Dialect::V3, &[4], ErrorKind::Invalid),
    ] {
        let error = session.block_on(async {
            let writer =
                session.create(memory.shared(), root(&memory), Arc::new(ZarrWriter::new(dialect))).await?;
            writer.edit(|model| define(model, shards(shape), DimensionLen::Fixed(8))).await?;
            writer.close().await
        });
        let error = error.unwrap_err();
        assert_eq!(error.kind(), kind, "{dialect}: {error:?}");
        assert!(error.to_string().contains("/v"), "the variable is named: {error}");
    }
}

/// Sums of arrays as zarr-python reads them, and a change that it makes.
const PEER: &str = r#"
import sys, zarr, numpy as np
root = zarr.open_group(sys.argv[1], mode="r+")
for name in ("first", "last", "text"):
    array = root[name]
    assert array.shards == (4, 6) and array.chunks == (2, 3), (name, array.shards, array.chunks)
    values = array[:]
    expected = np.arange(90).reshape(9, 10)
    if name == "text":
        assert (values == expected.astype(str).astype(object)).all(), values
    else:
        assert (values == expected).all(), values
root["first"][3:6, 2:7] = -1
made = root.create_array("theirs", shape=(9, 10), chunks=(2, 3), shards=(4, 6), dtype="i4", fill_value=0)
made[:7] = 5
"#;

#[test]
fn zarr_python_reads_and_changes_shards_and_its_own_are_changed() {
    let Some(python) = ncirrus_testkit::corpus::peers_python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let url = folder.path().join("peer.zarr").to_str().unwrap().to_owned();
    let options = ncirrus::CreateOptions::new().kind(ncirrus::Kind::Zarr3).consolidated(false);
    let session = ncirrus::Session::builder().threads(2).durable(false).build().unwrap();
    let dataset = ncirrus::Dataset::create_with(&url, &options, &session).unwrap();
    dataset
        .edit(|model| {
            let top = model.root();
            let y = model.add_dimension(top, "y", DimensionLen::Fixed(9))?;
            let x = model.add_dimension(top, "x", DimensionLen::Fixed(X))?;
            for (name, ty, index_first) in [
                ("first", Atomic::Int, true),
                ("last", Atomic::Double, false),
                ("text", Atomic::String, false),
            ] {
                let var = model.add_variable(top, name, ty.into(), &[y, x])?;
                let variable = model.variable_mut(var).unwrap();
                variable.storage = Storage::Chunked(CHUNK.to_vec());
                variable.shards = Some(Shards { shape: SHARD.to_vec(), index_first });
                if !index_first {
                    variable.filters = vec![CodecSpec::hdf5(1, &[1])];
                }
            }
            Ok(())
        })
        .unwrap();
    let all = Selection::all(&[9, X]);
    let write =
        |name: &str, values: &Values| dataset.variable(name).unwrap().write_values(&all, values).unwrap();
    write("/first", &Values::Int((0..90).collect()));
    write("/last", &Values::Double((0..90).map(f64::from).collect()));
    let texts: Vec<String> = (0..90).map(|number| number.to_string()).collect();
    write("/text", &Values::String(texts.iter().map(|text| Some(text.as_str())).collect()));
    dataset.close().unwrap();

    let output = std::process::Command::new(&python).args(["-c", PEER, &url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));

    let open = || ncirrus::Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap();
    let first = open().variable("/first").unwrap().read::<i32>().unwrap();
    let theirs = |at: i32| if (3..6).contains(&(at / 10)) && (2..7).contains(&(at % 10)) { -1 } else { at };
    assert_eq!(first.into_vec(), (0..90).map(theirs).collect::<Vec<i32>>());

    let dataset = ncirrus::Dataset::update_with(&url, &OpenOptions::default(), &session).unwrap();
    let part = Selection::slab(&[6, 4], &[3, 2]);
    dataset.variable("/theirs").unwrap().write_values(&part, &Values::Int(vec![9; 6])).unwrap();
    dataset.close().unwrap();
    let check = "import sys, zarr, numpy as np; a = zarr.open_group(sys.argv[1])['theirs'][:]; \
                 e = np.zeros((9, 10), 'i4'); e[:7] = 5; e[6:9, 4:6] = 9; assert (a == e).all(), a";
    let output = std::process::Command::new(&python).args(["-c", check, &url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn copies_pass_chunks_through_between_shards_and_single_chunks() {
    let session = session();
    let memory = MemoryStore::new("memory://copies");
    let plain = memory.root().child("plain");
    let definitions = |shards: Option<[u64; 2]>| shards.map(|shape| Shards::new(shape.to_vec()));
    let make = async |root: &ObjectId, shards| {
        let writing = Arc::new(ZarrWriter::new(Dialect::V3));
        let writer = session.create(memory.shared(), root.clone(), writing).await?;
        writer.edit(|model| define(model, definitions(shards), DimensionLen::Fixed(8))).await?;
        ncirrus_layout::Result::Ok(writer)
    };
    session
        .block_on(async {
            let writer = make(&plain, None).await?;
            let all = Selection::all(&[8, X]);
            writer.write(of(&writer), &all, &Values::Int((0..80).collect())).await?;
            writer.close().await
        })
        .unwrap();
    let mut from = plain;
    for (name, shards) in [("a", Some([4, 6])), ("b", Some([8, 3])), ("c", None)] {
        let to = memory.root().child(name);
        let source = open(&session, memory.shared(), from);
        let before = session.statistics();
        session
            .block_on(async {
                let writer = make(&to, shards).await?;
                let var = source.model().variable_at("v").unwrap();
                ncirrus_engine::copy_variable(&source, var, &writer, of(&writer)).await?;
                writer.close().await
            })
            .unwrap();
        let after = session.statistics();
        assert_eq!(after.chunks_decoded, before.chunks_decoded, "{name}: nothing is decoded");
        assert_eq!(after.chunks_stored - before.chunks_stored, 16, "{name}");
        assert_eq!(values_of(&session, memory.shared(), to.clone()), (0..80).collect::<Vec<i32>>(), "{name}");
        from = to;
    }
}
