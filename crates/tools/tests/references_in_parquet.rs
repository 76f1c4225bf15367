//! References in Parquet: the corpus, what is requested, what is written and added, and how others read it.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::far::Far;
use crate::references::{check_same, create, fill, open, refer};
use crate::support::{json, session, temp, values};
use ncirrus::store::{LocalStore, MemoryStore, PutCondition, Store, Url};
use ncirrus::{
    Atomic, Dataset, DimensionLen, ErrorKind, Kind, ObjectId, OpenOptions, Result, Selection, Session,
    Storage, Values,
};
use ncirrus_testkit::corpus::{corpus, left_out, peers_python};
use ncirrus_tools::ReferenceForm;
use serde_json::Value;
use sha2::{Digest, Sha256};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Arc;

/// The cases of the corpus whose data are beside the references.
fn cases() -> Option<Vec<(PathBuf, Value)>> {
    let mut cases: Vec<(PathBuf, Value)> = Vec::new();
    for folder in corpus("parquetrefs")?.read_dir().unwrap() {
        let folder = folder.unwrap().path();
        if folder.join("case.json").is_file() {
            let case = json(&folder.join("case.json"));
            cases.push((folder, case));
        }
    }
    cases.sort_by(|one, other| one.0.cmp(&other.0));
    Some(cases)
}

/// Little-endian bytes of values.
fn bytes(values: &Values) -> Vec<u8> {
    values.as_bytes().unwrap().to_vec()
}

#[test]
fn every_case_of_the_corpus_is_read_as_the_truth_says() {
    let Some(cases) = cases() else { return };
    let (mut sound, mut damaged) = (0, 0);
    for (folder, case) in cases.iter().filter(|(_, case)| case["needs_server"] != true) {
        let id = case["id"].as_str().unwrap();
        let path = folder.join(case["refs_path"].as_str().unwrap());
        let session = session();
        let opened = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), &session);
        if case["expect"] == "error" {
            damaged += 1;
            let failed = match opened {
                Err(error) => Some(error),
                Ok(dataset) => dataset.variables().iter().find_map(|variable| values(variable).err()),
            };
            let error = failed.unwrap_or_else(|| panic!("{id} was read"));
            assert!(!matches!(error.kind(), ErrorKind::Internal), "{id}: {error}");
            continue;
        }
        sound += 1;
        let dataset = opened.unwrap_or_else(|error| panic!("{id}: {error}"));
        let truth = json(&folder.join(case["truth"].as_str().unwrap()));
        for (path, array) in truth["arrays"].as_object().unwrap() {
            let variable = dataset
                .variable(path.trim_start_matches('/'))
                .unwrap_or_else(|error| panic!("{id} {path}: {error}"));
            let found = values(&variable).unwrap_or_else(|error| panic!("{id} {path}: {error}"));
            let sum: String =
                Sha256::digest(bytes(&found)).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(sum, array["sha256"].as_str().unwrap(), "{id} {path}: {found:?}");
            let shape: Vec<u64> =
                array["shape"].as_array().unwrap().iter().map(|len| len.as_u64().unwrap()).collect();
            assert_eq!(variable.shape(), shape, "{id} {path}");
        }
    }
    assert!(sound >= 10 && damaged >= 3, "{sound} {damaged}");
}

/// A session with a remote store that counts, and the objects of a folder in it.
fn remote(folder: &Path, merge_gap: u64) -> (Arc<Far>, Session) {
    let mut far = Far::new(MemoryStore::new("far://place"));
    far.merge_gap = merge_gap;
    let far = Arc::new(far);
    put_all(&far, folder, "");
    let store = Arc::clone(&far);
    let connect = move |url: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
        let root = store.inner.root().child(url.path().trim_matches('/'));
        Ok((Arc::clone(&store) as Arc<dyn Store>, root))
    };
    (far, Session::builder().threads(2).store("far", connect).build().unwrap())
}

fn put_all(far: &Far, folder: &Path, prefix: &str) {
    for entry in folder.read_dir().unwrap() {
        let path = entry.unwrap().path();
        let key = format!("{prefix}{}", path.file_name().unwrap().to_str().unwrap());
        if path.is_dir() {
            put_all(far, &path, &format!("{key}/"));
        } else {
            let object = far.inner.root().child(&key);
            LocalStore::put(&far.inner, &object, &std::fs::read(path).unwrap(), &PutCondition::None).unwrap();
        }
    }
}

#[test]
fn a_selection_requests_only_the_files_of_references_that_it_touches() {
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs.parq"));
    // Several threads would put chunks in the order in which they are encoded.
    fill(&source, Kind::Nc4, 0, 9, &Session::builder().threads(1).build().unwrap());
    let report = refer(
        &[&source],
        &target,
        |options| (options.inline_threshold, options.relative, options.record_size) = (0, true, 4),
        &session(),
    );
    assert_eq!(report.unwrap().left_out, Vec::new());
    let (far, session) = remote(&temp, 64);
    let joint = Dataset::open_with("far://place/refs.parq", &OpenOptions::default(), &session).unwrap();
    let keys = |from: usize| -> Vec<String> {
        let mut keys: Vec<String> = far.requests().split_off(from).into_iter().map(|(key, _)| key).collect();
        keys.sort();
        keys
    };
    assert_eq!(keys(0), ["refs.parq/.zmetadata"]);
    let grid = joint.variable("grid").unwrap();
    let mut seen = far.requests().len();
    let mut read = |start: u64, count: u64| {
        let part = grid.read_selection::<f32>(&Selection::slab(&[start, 0, 0], &[count, 6, 40])).unwrap();
        let own = open(&source, &crate::support::session());
        let own = own.variable("grid").unwrap();
        assert_eq!(
            part,
            own.read_selection::<f32>(&Selection::slab(&[start, 0, 0], &[count, 6, 40])).unwrap()
        );
        let found = keys(seen);
        seen = far.requests().len();
        found
    };
    // One file of references, and one request for the chunks, which lie side by side.
    assert_eq!(read(0, 2), ["a.nc", "refs.parq/grid/refs.0.parq"]);
    // A file that is in memory is not requested again. (Steps that follow each other would be read ahead.)
    assert_eq!(read(3, 1), ["a.nc"]);
    assert_eq!(read(6, 1), ["a.nc", "refs.parq/grid/refs.1.parq"]);
    assert_eq!(read(8, 1), ["a.nc", "refs.parq/grid/refs.2.parq"]);
}

/// Prints what is read by fsspec, kerchunk's reader, through zarr-python. Chunks that are not referenced are missing.
const READER: &str = r#"
import sys, json, itertools, os
try:
    import fsspec, zarr, numpy, pandas, fastparquet
except ImportError as error:
    print("lacks", error.name)
    sys.exit(0)
folder, sums = sys.argv[1], json.loads(sys.argv[2])
fs = fsspec.filesystem("reference", fo=folder, remote_protocol="file", lazy=True, skip_instance_cache=True)
metadata, objects = json.load(open(os.path.join(folder, ".zmetadata")))["metadata"], {}
for key, value in metadata.items():
    objects[key] = json.dumps(value).encode()
    if key.endswith(".zarray"):
        array = key[:-len(".zarray")]
        counts = [-(-length // chunk) for length, chunk in zip(value["shape"], value["chunks"])]
        for cell in itertools.product(*map(range, counts)):
            name = array + (".".join(map(str, cell)) or "0")
            try:
                objects[name] = fs.cat_file(name)
            except (FileNotFoundError, KeyError):
                pass
store = zarr.storage.MemoryStore({key: zarr.core.buffer.cpu.Buffer.from_bytes(bytes(body)) for key, body in objects.items()})
group = zarr.open_group(store, mode="r", zarr_format=2, use_consolidated=False)
for name, wanted in sums.items():
    got = float(numpy.asarray(group[name][...], dtype="f8").sum())
    assert got == wanted, (name, got, wanted)
print("equal")
"#;

/// Compares sums with those that fsspec reads, if the Python of the peers, or that of `NCIRRUS_KERCHUNK_PYTHON`, can.
fn others_agree(refs: &Path, dataset: &Dataset) {
    let named = std::env::var_os("NCIRRUS_KERCHUNK_PYTHON").map(PathBuf::from);
    let Some(python) = named.or_else(peers_python) else { return };
    let sum = |name: &str| dataset.variable(name).unwrap().read::<f64>().unwrap().iter().sum::<f64>();
    let sums: serde_json::Map<String, Value> = ["time", "grid", "small", "fixed", "scalar"]
        .iter()
        .map(|name| ((*name).to_owned(), sum(name).into()))
        .collect();
    let sums = Value::Object(sums).to_string();
    let output =
        Command::new(python).args(["-W", "ignore", "-c", READER]).arg(refs).arg(sums).output().unwrap();
    assert!(output.status.success(), "{}: {}", refs.display(), String::from_utf8_lossy(&output.stderr));
    let said = String::from_utf8_lossy(&output.stdout);
    if let Some(absent) = said.trim().strip_prefix("lacks ") {
        left_out(&format!("the Python package {absent}, with which fsspec reads references in Parquet"));
    }
}

#[test]
fn references_to_files_of_every_kind_are_written_and_read() {
    let session = session();
    for kind in [Kind::Nc3, Kind::Nc4, Kind::Zarr2] {
        for (record_size, threshold) in [(3, 0), (1000, 500)] {
            let (_folder, temp) = temp();
            let (source, target) = (temp.join("source"), temp.join("refs"));
            fill(&source, kind, 0, 5, &session);
            let report = refer(
                &[&source],
                &target,
                |options| {
                    options.form = Some(ReferenceForm::Parquet);
                    (options.record_size, options.inline_threshold) = (record_size, threshold);
                },
                &session,
            );
            assert_eq!(report.unwrap().left_out, Vec::new());
            let joint = open(&target, &session);
            check_same(&open(&source, &session), &joint);
            others_agree(&target, &joint);
        }
    }
}

#[test]
fn files_are_added_to_references_in_both_forms() {
    let session = session();
    for name in ["refs.json", "refs.parq"] {
        for kind in [Kind::Nc3, Kind::Nc4] {
            let (_folder, temp) = temp();
            let paths: Vec<PathBuf> = (0..3).map(|n| temp.join(format!("{n}.nc"))).collect();
            for (number, path) in (0..).zip(&paths) {
                fill(path, kind, number * 5, 5, &session);
            }
            let (target, whole) = (temp.join(name), temp.join(format!("whole-{name}")));
            let paths: Vec<&Path> = paths.iter().map(PathBuf::as_path).collect();
            let set = |options: &mut ncirrus_tools::ReferenceOptions| {
                (options.axis, options.record_size) = (Some("time".to_owned()), 4);
            };
            refer(&paths, &whole, set, &session).unwrap();
            refer(&paths[..1], &target, set, &session).unwrap();
            let add = |options: &mut ncirrus_tools::ReferenceOptions| {
                set(options);
                (options.add, options.overwrite) = (true, false);
            };
            // The coordinate of netCDF-3 is embedded, and its chunk is longer than its values.
            for path in &paths[1..] {
                let added = refer(&[path], &target, add, &session);
                assert_eq!(added.unwrap().left_out, Vec::new(), "{name}");
            }
            check_same(&open(&whole, &session), &open(&target, &session));
            assert_eq!(open(&target, &session).variable("grid").unwrap().shape(), [15, 6, 40]);
            if name == "refs.parq" {
                others_agree(&target, &open(&target, &session));
            }
        }
    }
}

#[test]
fn files_are_not_added_after_referenced_chunks_that_are_not_full() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs.parq"));
    let dataset = create(&source, Kind::Nc4, &session);
    dataset.root().add_dimension("time", DimensionLen::Fixed(3)).unwrap();
    let time = dataset.root().add_variable("time", Atomic::Double, &["time"]).unwrap();
    time.set_storage(Storage::Chunked(vec![2]), Vec::new()).unwrap();
    time.write(&Selection::slab(&[0], &[3]), &[1.0f64, 2.0, 3.0]).unwrap();
    dataset.close().unwrap();
    let refer = |threshold, add| {
        let set = |options: &mut ncirrus_tools::ReferenceOptions| {
            (options.axis, options.inline_threshold, options.add) = (Some("time".to_owned()), threshold, add);
        };
        refer(&[&source], &target, set, &session)
    };
    refer(0, false).unwrap();
    let error = refer(0, true).unwrap_err();
    assert!(error.to_string().contains("not full: 3 of chunks of 2"), "{error}");
    // Embedded chunks are replaced by one.
    refer(500, false).unwrap();
    for count in 2..4 {
        refer(500, true).unwrap();
        let found = open(&target, &session).variable("time").unwrap().read::<f64>().unwrap();
        assert_eq!(found, [1.0, 2.0, 3.0].repeat(count));
    }
}

#[test]
fn files_that_do_not_continue_the_references_are_refused() {
    let session = session();
    let (_folder, temp) = temp();
    let (one, other, target) = (temp.join("one.nc"), temp.join("other.nc"), temp.join("refs.parq"));
    fill(&one, Kind::Nc4, 0, 3, &session);
    let axis = |options: &mut ncirrus_tools::ReferenceOptions| options.axis = Some("time".to_owned());
    refer(&[&one], &target, axis, &session).unwrap();
    let before = std::fs::read(target.join(".zmetadata")).unwrap();
    let dataset = create(&other, Kind::Nc4, &session);
    dataset.root().add_dimension("time", DimensionLen::Fixed(4)).unwrap();
    let time = dataset.root().add_variable("time", Atomic::Double, &["time"]).unwrap();
    time.set_storage(Storage::Chunked(vec![2]), Vec::new()).unwrap();
    time.write(&Selection::slab(&[0], &[4]), &[1.0f64; 4]).unwrap();
    dataset.close().unwrap();
    let add = |options: &mut ncirrus_tools::ReferenceOptions| {
        axis(options);
        options.add = true;
    };
    let error = refer(&[&other], &target, add, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
    let error = refer(&[&one], &temp.join("none.parq"), add, &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert_eq!(std::fs::read(target.join(".zmetadata")).unwrap(), before);
}

#[test]
fn a_set_that_replaces_a_larger_one_leaves_none_of_its_files() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs.parq"));
    let set = |options: &mut ncirrus_tools::ReferenceOptions| options.record_size = 2;
    fill(&source, Kind::Nc4, 0, 9, &session);
    refer(&[&source], &target, set, &session).unwrap();
    assert!(target.join("grid/refs.4.parq").is_file());
    fill(&source, Kind::Nc4, 0, 3, &session);
    refer(&[&source], &target, set, &session).unwrap();
    assert!(!target.join("grid/refs.4.parq").exists());
    check_same(&open(&source, &session), &open(&target, &session));
}

#[test]
fn references_to_references_and_changes_are_refused() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs"));
    fill(&source, Kind::Nc4, 0, 3, &session);
    refer(&[&source], &target, |options| options.form = Some(ReferenceForm::Parquet), &session).unwrap();
    let error = refer(&[&target], &temp.join("more.json"), |_| (), &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    let error =
        Dataset::update_with(target.to_str().unwrap(), &OpenOptions::default(), &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
}
