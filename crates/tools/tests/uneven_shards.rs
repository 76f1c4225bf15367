//! Shards of different sizes (a rectilinear grid of `sharding_indexed`), as zarr-python 3.4 makes them: changed, and made longer.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{json, session};
use ncirrus::{Dataset, ErrorKind, OpenOptions, Result, Selection, Session, Values};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_testkit::law::RandomSource;
use ncirrus_tools::{CheckOptions, check};
use serde_json::{Value, json};
use std::path::Path;

const COLUMNS: u64 = 20;

/// The array `v(time, x)` without chunks, of 24 rows in chunks of 4 x 5, whose shards have 4, 8 and 12 rows.
fn create(store: &Path, rows: &Value) {
    let put = |key: &str, document: &Value| {
        std::fs::create_dir_all(store.join(key)).unwrap();
        std::fs::write(store.join(key).join("zarr.json"), document.to_string()).unwrap();
    };
    let little = json!({"name": "bytes", "configuration": {"endian": "little"}});
    let attributes = json!({"_ncirrus": {"version": 1, "unlimited": ["time"]}});
    put("", &json!({"zarr_format": 3, "node_type": "group", "attributes": attributes}));
    put(
        "v",
        &json!({
            "zarr_format": 3, "node_type": "array", "shape": [24, COLUMNS], "data_type": "int32", "fill_value": -1,
            "dimension_names": ["time", "x"], "attributes": {}, "chunk_key_encoding": {"name": "default"},
            "chunk_grid": grid(rows),
            "codecs": [{"name": "sharding_indexed", "configuration": {
                "chunk_shape": [4, 5], "codecs": [little, {"name": "zstd", "configuration": {"level": 3}}],
                "index_codecs": [little, {"name": "crc32c"}], "index_location": "end"}}],
        }),
    );
}

fn grid(rows: &Value) -> Value {
    json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": [rows, [[10, 2]]]}})
}

fn update(store: &Path, session: &Session) -> Dataset {
    Dataset::update_with(store.to_str().unwrap(), &OpenOptions::default(), session).unwrap()
}

fn rows_of(store: &Path, session: &Session) -> Vec<i32> {
    let dataset = Dataset::open_with(store.to_str().unwrap(), &OpenOptions::default(), session).unwrap();
    dataset.variable("v").unwrap().read::<i32>().unwrap().into_vec()
}

/// Writes a box into a dataset, and into an array in memory.
fn write(
    dataset: &Dataset,
    memory: &mut Vec<i32>,
    (start, count): ([u64; 2], [u64; 2]),
    from: i32,
) -> Result<()> {
    let at = |row: u64, column: u64| usize::try_from(row * COLUMNS + column).unwrap();
    memory.resize(memory.len().max(at(start[0] + count[0], 0)), -1);
    let mut values = Vec::new();
    for row in start[0]..start[0] + count[0] {
        for column in start[1]..start[1] + count[1] {
            let value = from + i32::try_from(values.len()).unwrap();
            memory[at(row, column)] = value;
            values.push(value);
        }
    }
    dataset.variable("v")?.write_values(&Selection::slab(&start, &count), &Values::Int(values))
}

fn is_sound(store: &Path, session: &Session) {
    let report = check(store.to_str().unwrap(), &CheckOptions::default(), session).unwrap();
    assert!(report.is_sound(), "{report:?}");
}

#[test]
fn any_boxes_equal_an_array_in_memory() {
    let session = session();
    let mut random = RandomSource(47);
    for round in 0..20 {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("a.zarr");
        create(&store, &json!([4, 8, 12]));
        let mut memory = vec![-1; 24 * usize::try_from(COLUMNS).unwrap()];
        let mut next = |end: u64| random.below(end);
        for _ in 0..3 {
            let dataset = update(&store, &session);
            for _ in 0..4 {
                let start = [next(30), next(COLUMNS)];
                let count = [1 + next(14), 1 + next(COLUMNS - start[1])];
                let from = i32::try_from(next(1 << 20)).unwrap();
                write(&dataset, &mut memory, (start, count), from).unwrap();
                let now = dataset.variable("v").unwrap().read::<i32>().unwrap().into_vec();
                assert!(now == memory, "round {round}: what was written is read before the commit");
            }
            dataset.close().unwrap();
            assert!(rows_of(&store, &session) == memory, "round {round}");
            is_sound(&store, &session);
        }
    }
}

#[test]
fn shards_are_added_by_a_rule_and_zarr_python_goes_on() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    for (number, (rows, to, grown)) in [
        // One shard has all that is missing, in whole chunks.
        (json!([4, 8, 12]), 30, json!([4, 8, 12, 8])),
        // None becomes longer than the longest.
        (json!([4, 8, 12]), 54, json!([4, 8, [12, 3], 8])),
        // Shards that are alike are followed by others of their length.
        (json!([[8, 3]]), 25, json!([[8, 4]])),
        // The last shard is filled first.
        (json!([4, 24]), 28, json!([4, 24])),
    ]
    .into_iter()
    .enumerate()
    {
        let store = folder.path().join(format!("{number}.zarr"));
        create(&store, &rows);
        let mut memory = Vec::new();
        let dataset = update(&store, &session);
        write(&dataset, &mut memory, ([0, 0], [24, COLUMNS]), 0).unwrap();
        dataset.close().unwrap();
        let before = json(&store.join("v/zarr.json"))["chunk_grid"].clone();
        assert_eq!(before, grid(&rows), "it did not grow");
        let dataset = update(&store, &session);
        write(&dataset, &mut memory, ([24, 0], [to - 24, COLUMNS]), 1000).unwrap();
        dataset.close().unwrap();
        let document = json(&store.join("v/zarr.json"));
        assert_eq!((&document["chunk_grid"], &document["shape"]), (&grid(&grown), &json!([to, COLUMNS])));
        assert!(rows_of(&store, &session) == memory, "{rows}");
        is_sound(&store, &session);
        let Some(python) = peers_python() else { continue };
        let script = "
import sys, zarr
zarr.config.set({'array.rectilinear_chunks': True})
v = zarr.open_group(sys.argv[1], mode='r+')['v']
rows = v.shape[0]
assert (v[24:].ravel() == range(1000, 1000 + 20 * (rows - 24))).all(), v[24:]
assert (v[:24].ravel() == range(480)).all(), v[:24]
v[rows - 1, :] = 7
";
        let output = std::process::Command::new(python).args(["-c", script]).arg(&store).output().unwrap();
        assert!(output.status.success(), "{rows}: {}", String::from_utf8_lossy(&output.stderr));
        let last = memory.len() - usize::try_from(COLUMNS).unwrap();
        memory[last..].fill(7);
        assert!(rows_of(&store, &session) == memory, "{rows}");
    }
}

#[test]
fn whole_shards_are_put_without_a_read_and_parts_with_one() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    create(&store, &json!([4, 8, 12]));
    let mut memory = vec![-1; 480];
    let counted = |memory: &mut Vec<i32>, at: ([u64; 2], [u64; 2])| {
        let dataset = update(&store, &session);
        let before = session.statistics();
        write(&dataset, memory, at, 5).unwrap();
        dataset.close().unwrap();
        let after = session.statistics();
        (after.chunks_stored - before.chunks_stored, after.chunks_decoded - before.chunks_decoded)
    };
    // Shards of 4 and 8 rows: 1 and 2 chunks by 2, twice.
    assert_eq!(counted(&mut memory, ([0, 0], [12, COLUMNS])), (12, 0));
    // One element: its chunk is decoded, the others of the shard are taken over.
    assert_eq!(counted(&mut memory, ([5, 7], [1, 1])), (1, 1));
    assert!(rows_of(&store, &session) == memory);
    let files = std::fs::read_dir(store.join("v/c")).unwrap().count();
    assert_eq!(files, 2, "the third shard was not written");
}

#[test]
fn a_ticket_for_shards_of_different_sizes_is_refused() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    create(&store, &json!([4, 8, 12]));
    let dataset = update(&store, &session);
    let v = dataset.variable("v").unwrap().id();
    let error = dataset.ticket(&[v]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("/v") && error.to_string().contains("different sizes"), "{error}");
}
