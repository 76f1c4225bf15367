//! Files that are sent to an object store while they are written, and files that others have open.
#![cfg(feature = "cloud")]
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{session, temp};
use ncirrus::store::{StoreOptions, UploadMode};
use ncirrus::{
    Atomic, Attribute, CodecSpec, CreateOptions, Dataset, DimensionLen, ErrorKind, Format, Kind, OpenOptions,
    Selection, Session, Storage,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_testkit::small_s3::S3;
use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};

const KINDS: [Kind; 2] = [Kind::Nc4, Kind::Nc3];

fn create(url: &str, kind: Kind, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(kind).overwrite(true);
    Dataset::create_with(url, &options, session).unwrap()
}

/// Rows that no codec compresses much.
fn row(seed: u64, len: usize) -> Vec<i32> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        i32::from_le_bytes(state.to_le_bytes()[..4].try_into().unwrap())
    };
    (0..len).map(|_| next()).collect()
}

/// A dataset with a variable of compressed chunks, or of records, where the kind has no chunks.
fn fill(dataset: &Dataset, rows: u64, columns: usize) {
    let root = dataset.root();
    root.add_dimension("y", DimensionLen::Fixed(rows)).unwrap();
    root.add_dimension("x", DimensionLen::Fixed(columns as u64)).unwrap();
    let data = root.add_variable("data", Atomic::Int, &["y", "x"]).unwrap();
    if dataset.kind().format == Format::NetCdf4 {
        let chunks = Storage::Chunked(vec![1, columns as u64]);
        data.set_storage(chunks, vec![CodecSpec::hdf5(1, &[1])]).unwrap();
    }
    for y in 0..rows {
        data.write(&Selection::slab(&[y, 0], &[1, columns as u64]), &row(y, columns)).unwrap();
    }
}

fn check(url: &str, rows: u64, columns: usize, session: &Session) {
    let dataset = Dataset::open_with(url, &OpenOptions::default(), session).unwrap();
    let data = dataset.variable("data").unwrap();
    for y in [0, 1, rows / 2, rows - 1] {
        let read = data.read_selection::<i32>(&Selection::slab(&[y, 0], &[1, columns as u64])).unwrap();
        assert_eq!(read, row(y, columns), "row {y} of {url}");
    }
}

#[test]
fn parts_leave_while_a_file_is_written_and_the_first_goes_last() {
    let (_folder, root) = temp();
    let (server, session) = (S3::start(&root), session());
    for kind in KINDS {
        let url = format!("{}/bucket/{kind:?}.nc#mode=s3", server.address);
        let dataset = create(&url, kind, &session);
        fill(&dataset, 40, 250_001);
        assert_eq!(dataset.sync().unwrap_err().kind(), ErrorKind::Unsupported);
        let before = server.requests();
        let left = before.iter().any(|(method, query)| method == "PUT" && query.contains("partNumber"));
        // Parts of larger chunks wait in the cache.
        assert!(left || kind != Kind::Nc4);
        dataset.close().unwrap();
        let parts: Vec<String> = before
            .into_iter()
            .chain(server.requests())
            .filter_map(|(_, query)| {
                let number = query.split('&').find_map(|pair| pair.strip_prefix("partNumber="));
                number.map(str::to_owned)
            })
            .collect();
        assert_eq!((parts.len(), parts.last().map(String::as_str)), (5, Some("1")), "{kind:?}: {parts:?}");
        check(&url, 40, 250_001, &session);
    }
}

#[test]
fn record_variables_are_sent_that_are_written_one_after_the_other() {
    const RECORDS: u32 = 30_000;
    let (_folder, root) = temp();
    let (server, session) = (S3::start(&root), session());
    let url = format!("{}/bucket/records.nc#mode=s3", server.address);
    let dataset = create(&url, Kind::Nc3, &session);
    let group = dataset.root();
    group.add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    group.add_dimension("x", DimensionLen::Fixed(100)).unwrap();
    for name in ["a", "b"] {
        group.add_variable(name, Atomic::Int, &["time", "x"]).unwrap();
    }
    let values = |seed| row(seed, usize::try_from(RECORDS).unwrap() * 100);
    for (seed, name) in ["a", "b"].into_iter().enumerate() {
        let all = Selection::slab(&[0, 0], &[RECORDS.into(), 100]);
        group.variable(name).unwrap().write(&all, &values(seed as u64)).unwrap();
    }
    dataset.close().unwrap();
    let read = Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap();
    for (seed, name) in ["a", "b"].into_iter().enumerate() {
        assert!(read.variable(name).unwrap().read::<i32>().unwrap() == values(seed as u64), "{name}");
    }
}

/// Several variables of 60 chunks and more than one part, which compress to a length that is not known in advance.
fn fill_many(dataset: &Dataset) {
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Unlimited(60)).unwrap();
    root.add_dimension("x", DimensionLen::Fixed(50_000)).unwrap();
    for number in 0..4 {
        let data = root.add_variable(&format!("v{number}"), Atomic::Int, &["time", "x"]).unwrap();
        data.set_attribute(Attribute::text("units", "K")).unwrap();
        data.set_storage(Storage::Chunked(vec![1, 50_000]), vec![CodecSpec::hdf5(1, &[1])]).unwrap();
    }
    for number in 0..4 {
        let data = root.variable(&format!("v{number}")).unwrap();
        for y in 0..60 {
            data.write(&Selection::slab(&[y, 0], &[1, 50_000]), &row(y * 4 + number, 50_000)).unwrap();
        }
    }
}

#[test]
fn what_was_sent_is_opened_with_two_requests() {
    let (_folder, root) = temp();
    let server = S3::start(&root);
    let url = format!("{}/bucket/many.nc#mode=s3", server.address);
    let dataset = create(&url, Kind::Nc4, &session());
    fill_many(&dataset);
    dataset.close().unwrap();
    let parts = server.requests().iter().filter(|(_, query)| query.contains("partNumber")).count();
    assert!(parts > 4, "{parts} parts");
    let dataset = Dataset::open_with(&url, &OpenOptions::default(), &session()).unwrap();
    dataset.model().unwrap();
    let opened = server.requests();
    assert!(opened.len() <= 2, "{opened:?}");
    let facts = dataset.facts();
    assert!(facts.metadata_end.is_some(), "{facts:?}");
    let front = facts.pairs().into_iter().find(|(name, _)| *name == "metadata").unwrap().1;
    assert!(front.starts_with("in the first ") && front.ends_with(" kB"), "{front}");
    // The index is in what was fetched then: a point costs the chunk that contains it.
    let point =
        dataset.variable("v3").unwrap().read_selection::<i32>(&Selection::slab(&[59, 7], &[1, 1])).unwrap();
    assert_eq!(point, row(59 * 4 + 3, 50_000)[7..8]);
    let read = server.requests();
    assert_eq!(read.len(), 1, "{read:?}");
}

fn rewriting(rewrite: bool) -> Session {
    let stores = StoreOptions { rewrite, ..StoreOptions::default() };
    Session::builder().threads(1).stores(stores).build().unwrap()
}

#[test]
fn files_on_object_stores_are_changed_whole_and_only_on_request() {
    let (_folder, root) = temp();
    let server = S3::start(&root);
    for kind in KINDS {
        let url = format!("{}/bucket/{kind:?}.nc#mode=s3", server.address);
        let dataset = create(&url, kind, &session());
        fill(&dataset, 4, 1001);
        dataset.close().unwrap();
        let update = |rewrite| Dataset::update_with(&url, &OpenOptions::default(), &rewriting(rewrite));
        let refused = update(false).unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Unsupported);
        assert!(refused.to_string().contains("StoreOptions::rewrite"), "{refused}");

        let dataset = update(true).unwrap();
        let warnings = dataset.warnings();
        assert!(
            matches!(warnings.as_slice(), [one] if one.contains("downloaded and uploaded again")),
            "{warnings:?}"
        );
        dataset.root().set_attribute(Attribute::text("title", "changed")).unwrap();
        let data = dataset.variable("data").unwrap();
        data.write(&Selection::slab(&[2, 0], &[1, 1001]), &row(77, 1001)).unwrap();
        server.requests();
        dataset.close().unwrap();
        let sent: Vec<String> = server.requests().into_iter().map(|(method, _)| method).collect();
        assert_eq!(sent, ["PUT"], "{kind:?}");
        check(&url, 2, 1001, &session());
        let read = Dataset::open_with(&url, &OpenOptions::default(), &session()).unwrap();
        let data = read
            .variable("data")
            .unwrap()
            .read_selection::<i32>(&Selection::slab(&[2, 0], &[1, 1001]))
            .unwrap();
        assert_eq!(data, row(77, 1001));
        assert!(read.root().attribute("title").unwrap().is_some());
    }
}

#[test]
fn files_that_changed_meanwhile_are_not_overwritten() {
    let (_folder, root) = temp();
    let server = S3::start(&root);
    let url = format!("{}/bucket/a.nc#mode=s3", server.address);
    let made = |seed: usize| {
        let dataset = create(&url, Kind::Nc3, &session());
        fill(&dataset, 4, 1001 + seed);
        dataset.close().unwrap();
    };
    made(0);
    let dataset = Dataset::update_with(&url, &OpenOptions::default(), &rewriting(true)).unwrap();
    dataset.root().set_attribute(Attribute::text("title", "lost")).unwrap();
    made(1);
    let refused = dataset.close().unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
    check(&url, 4, 1002, &session());
}

#[test]
fn small_files_are_one_request_and_abandoned_ones_leave_nothing() {
    let (_folder, root) = temp();
    let (server, session) = (S3::start(&root), session());
    for kind in KINDS {
        let url = format!("{}/bucket/{kind:?}.nc#mode=s3", server.address);
        let dataset = create(&url, kind, &session);
        fill(&dataset, 4, 1001);
        dataset.close().unwrap();
        let puts: Vec<_> = server.requests().into_iter().filter(|(method, _)| method == "PUT").collect();
        assert_eq!(puts.len(), 1, "{puts:?}");
        check(&url, 4, 1001, &session);
    }
    let dropped = format!("{}/bucket/dropped.nc#mode=s3", server.address);
    let dataset = create(&dropped, Kind::Nc4, &session);
    fill(&dataset, 40, 250_001);
    drop(dataset);
    let last = server.requests().pop().unwrap();
    assert_eq!((last.0.as_str(), last.1.contains("uploadId")), ("DELETE", true), "{last:?}");
    assert!(!root.join("bucket%dropped.nc").exists());
}

#[test]
fn a_scratch_file_is_made_when_requested() {
    let (_folder, root) = temp();
    let server = S3::start(&root);
    let scratch = tempfile::tempdir().unwrap();
    let stores = StoreOptions {
        uploads: UploadMode::Scratch,
        scratch: Some(scratch.path().to_owned()),
        ..StoreOptions::default()
    };
    let session = Session::builder().threads(1).stores(stores).build().unwrap();
    let url = format!("{}/bucket/a.nc#mode=s3", server.address);
    let dataset = create(&url, Kind::Nc4, &session);
    fill(&dataset, 4, 1001);
    dataset.sync().unwrap();
    assert_eq!(std::fs::read_dir(scratch.path()).unwrap().count(), 1);
    dataset.close().unwrap();
    check(&url, 4, 1001, &session);
}

/// Needs minutes and 2 GiB of disk: `cargo test --release -p ncirrus --test network -- --ignored --nocapture`.
#[test]
#[ignore = "sends 2 GiB"]
fn two_gibibytes_need_a_quarter_of_one() {
    let (_folder, root) = temp();
    let server = S3::start(&root);
    let session = Session::builder().threads(2).memory(192 << 20).build().unwrap();
    let url = format!("{}/bucket/big.nc#mode=s3", server.address);
    let (rows, columns) = (2050, 1 << 18);
    let dataset = create(&url, Kind::Nc4, &session);
    fill(&dataset, rows, columns);
    dataset.close().unwrap();
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap_or("0 kB").trim().to_owned();
    let size = std::fs::metadata(root.join("bucket%big.nc")).unwrap().len();
    let sent = server.requests().len();
    check(&url, rows, columns, &session);
    println!("{size} bytes in {sent} requests, at most {peak} of memory");
    let kilobytes: u64 = peak.trim_end_matches(" kB").parse().unwrap();
    assert!(size >= 2 << 30 && kilobytes <= 256 << 10, "{size} bytes, {peak}");
}

/// h5py, controlled line by line.
struct Peer {
    child: Child,
    answers: BufReader<std::process::ChildStdout>,
}

impl Peer {
    fn start(python: &Path) -> Self {
        let script = "import sys, h5py\nfor line in sys.stdin:\n  try: exec(line); print('done', flush=True)\n  except OSError as error: print('refused', flush=True)\n";
        let mut child = Command::new(python)
            .args(["-c", script])
            .env_remove("HDF5_USE_FILE_LOCKING")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let answers = BufReader::new(child.stdout.take().unwrap());
        Self { child, answers }
    }

    fn reported(&mut self, line: &str) -> String {
        writeln!(self.child.stdin.as_mut().unwrap(), "{line}").unwrap();
        let mut answer = String::new();
        self.answers.read_line(&mut answer).unwrap();
        answer.trim().to_owned()
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        drop(self.child.stdin.take());
        self.child.wait().unwrap();
    }
}

#[cfg(unix)]
#[test]
fn h5py_and_updates_keep_each_other_out() {
    let Some(python) = peers_python() else { return };
    let (_folder, root) = temp();
    let (path, session) = (root.join("x.nc"), session());
    let url = path.to_str().unwrap();
    let dataset = create(url, Kind::Nc4, &session);
    fill(&dataset, 4, 10);
    dataset.close().unwrap();
    let mut peer = Peer::start(&python);
    let update = || Dataset::update_with(url, &OpenOptions::default(), &session);
    for mode in ["r", "r+"] {
        assert_eq!(peer.reported(&format!("file = h5py.File({url:?}, {mode:?})")), "done");
        let refused = update().unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict, "{refused}");
        assert!(refused.to_string().contains("HDF5_USE_FILE_LOCKING=FALSE"), "{refused}");
        check(url, 4, 10, &session);
        assert_eq!(peer.reported("file.close()"), "done");
    }
    let dataset = update().unwrap();
    assert_eq!(peer.reported(&format!("h5py.File({url:?}, 'r')['data'][()]")), "refused");
    dataset.sync().unwrap();
    assert_eq!(peer.reported(&format!("h5py.File({url:?}, 'r')['data'][()]")), "done");
    assert_eq!(peer.reported(&format!("h5py.File({url:?}, 'r+')")), "refused");
    dataset.close().unwrap();
    assert_eq!(peer.reported(&format!("h5py.File({url:?}, 'r+').close()")), "done");
    update().unwrap();
}
