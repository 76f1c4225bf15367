//! Many records are appended to netCDF-4 files of every program: other programs can still read them, and the cost does
//! not grow.
//!
//! Other programs read after every thousandth record; after every hundredth with `NCIRRUS_APPENDS_EVERY=100`.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::nc4::changes::build;
use crate::nc4::counting::{Count, Counting};
use ncirrus_engine::{DatasetWriter, Session};
use ncirrus_hdf5::{FileStructures, Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, Error, ObjectId, OpenOptions, Result, Want};
use ncirrus_model::{Atomic, DimensionLen, Selection, Values, VarId};
use ncirrus_store::{BlockingStore, LocalStore, MemoryStore, PutCondition, Store};
use ncirrus_testkit::corpus::{peers_python, program};
use ncirrus_testkit::sample::all_cases;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// Records that are appended: 10,000 if all cases are wanted.
fn records() -> u64 {
    if all_cases() { 10_000 } else { 3_000 }
}

/// Records between two commits.
const SYNC: u64 = 100;

fn root(memory: &MemoryStore) -> ObjectId {
    memory.root().child("data")
}

/// Files without records, made by ncirrus and by other programs.
fn makers(session: &Session) -> Vec<(String, MemoryStore)> {
    let mut all = Vec::new();
    for (name, structures) in [("ours", FileStructures::V18), ("ours_v110", FileStructures::V110)] {
        let memory = MemoryStore::new("memory://appends");
        let writing = Arc::new(Hdf5Writer { structures, ..Hdf5Writer::default() });
        let made: Result<()> = session.block_on(async {
            let writer = session.create(memory.shared(), root(&memory), writing).await?;
            build(&writer, 0).await?;
            writer.close().await
        });
        made.unwrap();
        all.push((name.to_owned(), memory));
    }
    let Some(python) = peers_python() else { return all };
    let folder = tempfile::tempdir().unwrap();
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nc4/make.py");
    assert!(Command::new(python).arg(script).arg(folder.path()).arg("0").status().unwrap().success());
    for maker in ["netcdf4", "h5py-earliest", "h5py-v110", "h5py-latest"] {
        let memory = MemoryStore::new("memory://appends");
        let body = std::fs::read(folder.path().join(format!("{maker}.nc"))).unwrap();
        LocalStore::put(&memory, &root(&memory), &body, &PutCondition::None).unwrap();
        all.push((maker.to_owned(), memory));
    }
    all
}

/// What is appended: variable, first value, values per record.
struct Column {
    var: VarId,
    first: i32,
    width: u64,
}

async fn append(writer: &DatasetWriter, columns: &[Column], record: u64) -> Result<()> {
    for Column { var, first, width } in columns {
        let from = first + i32::try_from(record * width).unwrap();
        let values = Values::Int((from..from + i32::try_from(*width).unwrap()).collect());
        let selection = match width {
            1 => Selection::slab(&[record], &[1]),
            width => Selection::slab(&[record, 0], &[1, *width]),
        };
        writer.write(*var, &selection, &values).await?;
    }
    Ok(())
}

/// A writer of the file, and the count of its writes.
async fn updating(session: &Session, memory: &MemoryStore) -> Result<(DatasetWriter, Arc<Count>)> {
    let (store, count) = counting(memory);
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    let dataset = session.open(store, root(memory), &drivers, &OpenOptions::default()).await?;
    Ok((session.update(&dataset).await?, count))
}

fn counting(memory: &MemoryStore) -> (Arc<dyn Store>, Arc<Count>) {
    let count = Arc::new(Count::default());
    (Arc::new(BlockingStore(Counting { inner: memory.clone(), count: Arc::clone(&count) })), count)
}

fn columns(writer: &DatasetWriter, all: &[(&str, i32, u64)]) -> Vec<Column> {
    let column = |&(name, first, width): &(&str, i32, u64)| Column {
        var: writer.model().variable_at(name).unwrap(),
        first,
        width,
    };
    all.iter().map(column).collect()
}

/// Appends records, `each` in a commit, and returns the writes and bytes of every commit.
async fn append_all(
    writer: &DatasetWriter,
    count: &Count,
    columns: &[Column],
    (records, each): (u64, u64),
    mut after: impl FnMut(u64),
) -> Result<Vec<[u64; 2]>> {
    let (mut costs, mut before) = (Vec::new(), count.so_far());
    for record in 0..records {
        append(writer, columns, record).await?;
        if (record + 1) % each == 0 {
            writer.sync().await?;
            let now = count.so_far();
            costs.push([now[0] - before[0], now[1] - before[1]]);
            before = now;
            after(record + 1);
        }
    }
    Ok(costs)
}

const COLUMNS: [(&str, i32, u64); 3] = [("a", 100, 128), ("b", 200, 1), ("two", 600, 2)];

#[test]
fn records_are_appended_for_all_readers_at_the_same_cost() {
    let session = Session::builder().threads(2).durable(false).build().unwrap();
    let every = std::env::var("NCIRRUS_APPENDS_EVERY").map_or(1000, |text| text.parse().unwrap());
    let mut failures = Vec::new();
    for (maker, memory) in makers(&session) {
        let (folder, mut snapshots) = (tempfile::tempdir().unwrap(), Vec::new());
        let keep = |records| {
            if records % every == 0 {
                let blob = memory.read(&root(&memory), &Want::All).unwrap().unwrap();
                let path = folder.path().join(format!("{maker}-{records}.nc"));
                std::fs::write(&path, &blob.bytes).unwrap();
                snapshots.push((path, records));
            }
        };
        let appended = session.block_on(async {
            let (writer, count) = updating(&session, &memory).await?;
            let columns = columns(&writer, &COLUMNS);
            let costs = append_all(&writer, &count, &columns, (records(), SYNC), keep).await?;
            writer.close().await?;
            Ok::<_, Error>(costs)
        });
        match appended {
            Ok(costs) => {
                failures.extend(cheap(&costs).map_err(|reason| format!("{maker}: {reason}")).err());
            }
            Err(error) => failures.push(format!("{maker}: {error:?}")),
        }
        // The ncdump of an older library does not support the newest structures.
        let old = maker != "h5py-latest";
        failures.extend(
            snapshots.iter().filter_map(
                |(path, records)| {
                    if old { printed_by_ncdump(path, *records).err() } else { None }
                },
            ),
        );
        failures.extend(read_by_h5py(folder.path()));
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

#[test]
fn the_handle_that_made_a_file_appends_at_the_same_cost_with_every_record() {
    let session = Session::builder().threads(2).durable(false).build().unwrap();
    for structures in [FileStructures::V18, FileStructures::V110] {
        let memory = MemoryStore::new("memory://appends");
        let (store, count) = counting(&memory);
        let costs: Result<Vec<[u64; 2]>> = session.block_on(async {
            let writing = Arc::new(Hdf5Writer { structures, ..Hdf5Writer::default() });
            let writer = session.create(store, root(&memory), writing).await?;
            build(&writer, 0).await?;
            writer.sync().await?;
            let columns = columns(&writer, &COLUMNS);
            let costs = append_all(&writer, &count, &columns, (200, 1), |_| ()).await?;
            writer.close().await?;
            Ok(costs)
        });
        let costs = costs.unwrap();
        let (first, last) = (total(&costs[..100]), total(&costs[100..]));
        assert!(last[0] * 2 <= first[0] * 3 && last[1] * 2 <= first[1] * 3, "{first:?}, then {last:?}");
        // Three chunks, three indexes, the headers of what grows: far less than all metadata.
        assert!(last[1] <= 100 * 16 * 1024, "{structures:?}: {} bytes for 100 records", last[1]);
        let folder = tempfile::tempdir().unwrap();
        let blob = memory.read(&root(&memory), &Want::All).unwrap().unwrap();
        std::fs::write(folder.path().join("own-200.nc"), &blob.bytes).unwrap();
        assert_eq!(read_by_h5py(folder.path()), [""; 0]);
    }
}

#[test]
fn tiny_records_are_gathered_and_cost_the_same() {
    let session = Session::builder().threads(2).durable(false).build().unwrap();
    for structures in [FileStructures::V18, FileStructures::V110] {
        let memory = MemoryStore::new("memory://appends");
        let (store, count) = counting(&memory);
        let costs: Result<Vec<[u64; 2]>> = session.block_on(async {
            let writing = Arc::new(Hdf5Writer { structures, ..Hdf5Writer::default() });
            let writer = session.create(store, root(&memory), writing).await?;
            writer
                .edit(|model| {
                    let top = model.root();
                    let time = model.add_dimension(top, "time", DimensionLen::Unlimited(0))?;
                    let x = model.add_dimension(top, "x", DimensionLen::Fixed(4))?;
                    Ok(model.add_variable(top, "tiny", Atomic::Int.into(), &[time, x])?)
                })
                .await?;
            let columns = columns(&writer, &[("tiny", 0, 4)]);
            let costs = append_all(&writer, &count, &columns, (records(), SYNC), |_| ()).await?;
            writer.close().await?;
            Ok(costs)
        });
        let costs = costs.unwrap();
        // The first commit creates the file.
        cheap(&costs[1..]).unwrap_or_else(|reason| panic!("{structures:?}: {reason}"));
    }
}

fn total(costs: &[[u64; 2]]) -> [u64; 2] {
    costs.iter().fold([0, 0], |sum, cost| [sum[0] + cost[0], sum[1] + cost[1]])
}

/// The last commit takes at most 1.5 times the writes and bytes of the first.
fn cheap(costs: &[[u64; 2]]) -> std::result::Result<(), String> {
    // The very first records are next to each other in the file, and written together.
    let early = costs.iter().take(4).fold([0; 2], |max, cost| [max[0].max(cost[0]), max[1].max(cost[1])]);
    let last = costs.last().unwrap();
    let grown = early.iter().zip(last).any(|(early, last)| last * 2 > early * 3);
    if grown { Err(format!("writes and bytes: {early:?} first, {last:?} last")) } else { Ok(()) }
}

/// `b` is printed as it was appended, and the dimension has the right length.
fn printed_by_ncdump(path: &PathBuf, records: u64) -> std::result::Result<(), String> {
    let Some(ncdump) = program("ncdump") else { return Ok(()) };
    let output = Command::new(ncdump).args(["-v", "b"]).arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).replace(['\n', ' '], "");
    let values: Vec<String> = (200..200 + records).map(|value| value.to_string()).collect();
    let wanted = [format!("//({records}currently)"), format!("b={};", values.join(","))];
    let whole = output.status.success() && wanted.iter().all(|wanted| text.contains(wanted.as_str()));
    if whole {
        Ok(())
    } else {
        Err(format!("ncdump {}: {}", path.display(), String::from_utf8_lossy(&output.stderr)))
    }
}

fn read_by_h5py(folder: &Path) -> Vec<String> {
    let Some(python) = peers_python() else { return Vec::new() };
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/nc4/appends.py");
    let output = Command::new(python).arg(script).arg(folder).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8_lossy(&output.stdout).lines().map(|line| format!("h5py {line}")).collect()
}
