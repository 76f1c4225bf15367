//! Reference files: created for files of every kind, read here and by fsspec, zarr-python and xarray with equal values.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::far::Far;
use crate::support::{session, temp, values};
use ncirrus::ObjectId;
use ncirrus::store::{LocalStore, MemoryStore, PutCondition, Store, Url};
use ncirrus::{
    Atomic, Attribute, CodecSpec, CreateOptions, Dataset, DimensionLen, ErrorKind, FileStructures, Kind,
    OpenOptions, Result, Selection, Session, Storage, Values,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{CopyOptions, ReferenceOptions, ReferenceReport, write_references};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

/// What is created: name, kind, whether variables are chunked and filtered.
const KINDS: [(&str, Kind); 6] = [
    ("classic.nc", Kind::Nc3),
    ("data64.nc", Kind::Nc5),
    ("netcdf4.nc", Kind::Nc4),
    ("zarr2.zarr", Kind::Zarr2),
    ("nczarr.zarr", Kind::NcZarr),
    ("zarr3.zarr", Kind::Zarr3),
];

pub(crate) fn create(path: &Path, kind: Kind, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(kind).overwrite(true);
    Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap()
}

/// Records from `start` on: a coordinate, a grid in chunks of one record, text, a scalar, a variable on fixed
/// dimensions.
pub(crate) fn fill(path: &Path, kind: Kind, start: i32, records: u64, session: &Session) {
    let dataset = create(path, kind, session);
    let root = dataset.root();
    root.set_attribute(Attribute::text("title", "references")).unwrap();
    let len = if kind == Kind::Zarr2 { DimensionLen::Fixed(records) } else { DimensionLen::Unlimited(0) };
    root.add_dimension("time", len).unwrap();
    for (name, len) in [("y", 6), ("x", 40), ("letters", 4)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let time = root.add_variable("time", Atomic::Double, &["time"]).unwrap();
    time.set_attribute(Attribute::text("units", "days since 2000-01-01")).unwrap();
    let grid = root.add_variable("grid", Atomic::Float, &["time", "y", "x"]).unwrap();
    let small = root.add_variable("small", Atomic::Short, &["time", "x"]).unwrap();
    let fixed = root.add_variable("fixed", Atomic::Int, &["y", "x"]).unwrap();
    let text = root.add_variable("text", Atomic::Char, &["y", "letters"]).unwrap();
    let scalar = root.add_variable("scalar", Atomic::Double, &[]).unwrap();
    small.set_attribute(Attribute::atomic("_FillValue", Values::Short(vec![-9]))).unwrap();
    if !kind.is_classic() {
        let filters = vec![CodecSpec::hdf5(2, &[4]), CodecSpec::hdf5(1, &[5])];
        grid.set_storage(Storage::Chunked(vec![1, 6, 40]), filters).unwrap();
        small.set_storage(Storage::Chunked(vec![1, 40]), Vec::new()).unwrap();
        time.set_storage(Storage::Chunked(vec![1]), Vec::new()).unwrap();
    }
    let count = i32::try_from(records).unwrap();
    let steps: Vec<f64> = (start..start + count).map(f64::from).collect();
    time.write(&Selection::slab(&[0], &[records]), &steps).unwrap();
    let numbers: Vec<f32> = (0..count * 240).map(|n| (n % 97) as f32 + start as f32 * 1000.0).collect();
    grid.write(&Selection::slab(&[0, 0, 0], &[records, 6, 40]), &numbers).unwrap();
    let shorts: Vec<i16> = (0..count * 40).map(|n| i16::try_from(n % 50 - 9 + start).unwrap()).collect();
    small.write(&Selection::slab(&[0, 0], &[records, 40]), &shorts).unwrap();
    fixed.write(&Selection::slab(&[0, 0], &[6, 40]), &(0..240).collect::<Vec<i32>>()).unwrap();
    let letters = Values::Char(b"abcdefghijklmnopqrstuvwx".to_vec());
    text.write_values(&Selection::slab(&[0, 0], &[6, 4]), &letters).unwrap();
    scalar.write(&Selection::slab(&[], &[]), &[2.5f64]).unwrap();
    dataset.close().unwrap();
}

pub(crate) fn refer(
    sources: &[&Path],
    target: &Path,
    change: impl FnOnce(&mut ReferenceOptions),
    session: &Session,
) -> Result<ReferenceReport> {
    let mut options = ReferenceOptions::new().overwrite(true);
    change(&mut options);
    let sources: Vec<String> = sources.iter().map(|path| path.to_str().unwrap().to_owned()).collect();
    write_references(&sources, target.to_str().unwrap(), &options, session)
}

pub(crate) fn open(path: &Path, session: &Session) -> Dataset {
    Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), session).unwrap()
}

/// Checks that all variables of one dataset have the same values in the other.
pub(crate) fn check_same(one: &Dataset, other: &Dataset) {
    for name in ["time", "grid", "small", "fixed", "text", "scalar"] {
        let (a, b) = (one.variable(name).unwrap(), other.variable(name).unwrap());
        assert_eq!(values(&a).unwrap(), values(&b).unwrap(), "{name} of {}", other.url());
        assert_eq!(a.shape(), b.shape(), "{name}");
    }
    assert!(other.root().attribute("title").unwrap().is_some());
    assert!(other.variable("time").unwrap().attribute("units").unwrap().is_some());
}

/// Prints sums and shapes of what xarray reads, and compares all values with those of the first file as read by
/// netCDF4, if it can read them.
const SCRIPT: &str = r#"
import sys, json, fsspec, zarr, xarray, numpy, netCDF4
refs, axis, sources = sys.argv[1], sys.argv[2], sys.argv[3:]
fs = fsspec.filesystem("reference", fo=refs, remote_protocol="file", asynchronous=True,
                       remote_options={"asynchronous": True}, skip_instance_cache=True)
store = zarr.storage.FsspecStore(fs, read_only=True, path="")
group = zarr.open_group(store, mode="r", zarr_format=2)
seen = xarray.open_dataset(store, engine="zarr", consolidated=True, zarr_format=2, mask_and_scale=False,
                           decode_times=False, chunks=None)
def values(variable):
    variable.set_auto_maskandscale(False)
    variable.set_auto_chartostring(False)
    return variable[...]
files = [netCDF4.Dataset(source) for source in sources]
for name in ("time", "grid", "small", "fixed", "scalar"):
    parts = [values(file[name]) for file in files]
    along = files[0][name].dimensions
    wanted = numpy.concatenate(parts, along.index(axis)) if axis in along else parts[0]
    for got in (group[name][...], seen[name].values):
        assert got.shape == wanted.shape, (name, got.shape, wanted.shape)
        assert numpy.array_equal(got, wanted), name
    assert seen[name].dims == along, (name, seen[name].dims)
letters = group["text"][...]
assert numpy.array_equal(letters, values(files[0]["text"])), letters
assert seen.attrs["title"] == "references"
assert seen["time"].attrs["units"] == "days since 2000-01-01"
print("equal")
"#;

fn others_agree(refs: &Path, axis: &str, sources: &[&Path]) {
    let Some(python) = peers_python() else { return };
    let output =
        Command::new(python).args(["-c", SCRIPT]).arg(refs).arg(axis).args(sources).output().unwrap();
    assert!(output.status.success(), "{}: {}", refs.display(), String::from_utf8_lossy(&output.stderr));
}

#[test]
fn references_to_files_of_every_kind_are_read_here_and_by_others() {
    let session = session();
    for (name, kind) in KINDS {
        let (_folder, temp) = temp();
        let (source, target) = (temp.join(name), temp.join("refs.json"));
        fill(&source, kind, 0, 5, &session);
        let report = refer(&[&source], &target, |_| (), &session).unwrap();
        assert_eq!((report.left_out, report.variables), (Vec::new(), 6), "{name}");
        assert!(report.references > 0, "{name}");
        check_same(&open(&source, &session), &open(&target, &session));
        if matches!(kind, Kind::Nc3 | Kind::Nc4) {
            others_agree(&target, "", &[&source]);
        }
    }
}

#[test]
fn chunks_are_referred_to_or_inline_as_requested() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs.json"));
    fill(&source, Kind::Nc4, 0, 5, &session);
    let none = refer(&[&source], &target, |options| options.inline_threshold = 0, &session).unwrap();
    // Five records of three variables, and three contiguous variables.
    assert_eq!((none.references, none.inline), (18, 0));
    let some = refer(&[&source], &target, |options| options.inline_threshold = 200, &session).unwrap();
    assert_eq!((some.references + some.inline, some.inline >= 11), (18, true), "{some:?}");
    check_same(&open(&source, &session), &open(&target, &session));
    let refused = ReferenceOptions::default();
    let again = write_references(
        &[source.to_str().unwrap().to_owned()],
        target.to_str().unwrap(),
        &refused,
        &session,
    );
    assert_eq!(again.unwrap_err().kind(), ErrorKind::Conflict);
}

#[test]
fn what_has_no_address_of_its_own_is_refused() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs.json"));
    fill(&source, Kind::Nc3, 0, 3, &session);
    refer(&[&source], &target, |_| (), &session).unwrap();
    let zip = temp.join("a.zip");
    fill(&zip, Kind::Zarr3, 0, 3, &session);
    for source in [&target, &zip] {
        let error = refer(&[source], &temp.join("more.json"), |_| (), &session).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
    }
}

#[test]
fn relative_names_move_with_the_files() {
    let session = session();
    let (_folder, temp) = temp();
    let (before, after) = (temp.join("before"), temp.join("after"));
    std::fs::create_dir(&before).unwrap();
    let (source, target) = (before.join("a.nc"), before.join("refs.json"));
    fill(&source, Kind::Nc3, 0, 3, &session);
    refer(&[&source], &target, |options| options.relative = true, &session).unwrap();
    std::fs::rename(&before, &after).unwrap();
    check_same(&open(&after.join("a.nc"), &session), &open(&after.join("refs.json"), &session));
}

#[test]
fn files_follow_each_other_along_an_axis() {
    let session = session();
    for kind in [Kind::Nc3, Kind::Nc4] {
        let (_folder, temp) = temp();
        let sources = [temp.join("a.nc"), temp.join("b.nc"), temp.join("c.nc")];
        for (number, (source, records)) in (0..).zip(sources.iter().zip([5, 3, 4])) {
            fill(source, kind, number * 10, records, &session);
        }
        let paths: Vec<&Path> = sources.iter().map(AsRef::as_ref).collect();
        let target = temp.join("refs.json");
        let report = refer(&paths, &target, |options| options.axis = Some("time".into()), &session).unwrap();
        assert!(report.left_out.is_empty(), "{report:?}");
        let joint = open(&target, &session);
        let time = joint.variable("time").unwrap().read::<f64>().unwrap();
        assert_eq!(time, [0., 1., 2., 3., 4., 10., 11., 12., 20., 21., 22., 23.]);
        for (source, start, count) in [(0, 0, 5), (1, 5, 3), (2, 8, 4)] {
            let part = joint
                .variable("grid")
                .unwrap()
                .read_selection::<f32>(&Selection::slab(&[start, 0, 0], &[count, 6, 40]))
                .unwrap();
            let own = open(&sources[source], &session).variable("grid").unwrap().read::<f32>().unwrap();
            assert_eq!(part, own);
        }
        others_agree(&target, "time", &paths);
    }
}

#[test]
fn chunks_that_lie_side_by_side_are_requested_together() {
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs.json"));
    fill(&source, Kind::Nc4, 0, 5, &session());
    refer(
        &[&source],
        &target,
        |options| (options.inline_threshold, options.relative) = (0, true),
        &session(),
    )
    .unwrap();
    let mut far = Far::new(MemoryStore::new("far://place"));
    far.merge_gap = 64;
    let far = Arc::new(far);
    for path in [&source, &target] {
        let object = far.inner.root().child(path.file_name().unwrap().to_str().unwrap());
        LocalStore::put(&far.inner, &object, &std::fs::read(path).unwrap(), &PutCondition::None).unwrap();
    }
    let store = Arc::clone(&far);
    let connect = move |url: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
        let root = store.inner.root().child(url.path().trim_matches('/'));
        Ok((Arc::clone(&store) as Arc<dyn Store>, root))
    };
    let session = Session::builder().threads(2).store("far", connect).build().unwrap();
    let joint = Dataset::open_with("far://place/refs.json", &OpenOptions::default(), &session).unwrap();
    let own = open(&source, &session);
    for (name, chunks) in [("grid", 5), ("small", 5), ("time", 5)] {
        let before = far.requests().len();
        let variable = joint.variable(name).unwrap();
        assert_eq!(values(&variable).unwrap(), values(&own.variable(name).unwrap()).unwrap(), "{name}");
        let requests = far.requests().split_off(before);
        assert!(requests.iter().all(|(key, _)| key == "a.nc"), "{requests:?}");
        assert_eq!(requests.len(), 1, "{chunks} chunks: {requests:?}");
    }
    // The same if chunks are copied unchanged.
    let before = far.requests().len();
    let options = CreateOptions::new().kind(Kind::Zarr2);
    let options = CopyOptions::new().create(options).variables(vec!["grid".to_owned()]);
    let copy = temp.join("copy.zarr").to_str().unwrap().to_owned();
    let plan = ncirrus_tools::plan_copy(&joint, &copy, &options, &session).unwrap();
    let passing = plan.variables.iter().filter(|plan| plan.passed == plan.chunks).count();
    ncirrus_tools::copy(&joint, &copy, &options, &session).unwrap();
    let requests = far.requests().split_off(before);
    assert!(passing > 0 && requests.iter().all(|(key, _)| key == "a.nc"), "{plan:?} {requests:?}");
    assert_eq!(requests.len(), plan.variables.len(), "{requests:?}");
    let grid = Dataset::open_with(&copy, &OpenOptions::default(), &session).unwrap();
    let grid = grid.variable("grid").unwrap();
    assert_eq!(values(&grid).unwrap(), values(&own.variable("grid").unwrap()).unwrap());
}

#[test]
fn files_that_do_not_fit_are_named() {
    let session = session();
    let (_folder, temp) = temp();
    let (one, other, target) = (temp.join("one.nc"), temp.join("other.nc"), temp.join("refs.json"));
    fill(&one, Kind::Nc4, 0, 3, &session);
    let make = |units: &str, x: u64, ty: Atomic| {
        let dataset = create(&other, Kind::Nc4, &session);
        let root = dataset.root();
        for (name, len) in [("time", 2), ("y", 6), ("x", x), ("letters", 4)] {
            root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
        }
        let time = root.add_variable("time", ty, &["time"]).unwrap();
        time.set_attribute(Attribute::text("units", units)).unwrap();
        dataset.close().unwrap();
    };
    let axis = |options: &mut ReferenceOptions| options.axis = Some("time".to_owned());
    let units = "days since 2000-01-01";
    for (units, x, ty, words) in [
        ("days since 1990-01-01", 40, Atomic::Double, "attribute units differs"),
        (units, 41, Atomic::Double, "does not have length"),
        (units, 40, Atomic::Int, "a different type"),
        (units, 40, Atomic::Double, "no such variable"),
    ] {
        make(units, x, ty);
        let error = refer(&[&one, &other], &target, axis, &session).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(words) && text.contains("other.nc"), "{text}");
        assert!(!target.exists());
    }
    let error = refer(&[&one, &other], &target, |_| (), &session).unwrap_err();
    assert!(error.to_string().contains("axis"), "{error}");
    let none = |options: &mut ReferenceOptions| options.axis = Some("depth".to_owned());
    assert!(refer(&[&one], &target, none, &session).unwrap_err().to_string().contains("depth"));
}

#[test]
fn what_zarr_cannot_refer_to_is_put_into_the_file_or_named() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.nc"), temp.join("refs.json"));
    let options = CreateOptions::new().kind(Kind::Nc4).structures(FileStructures::V110);
    let dataset = Dataset::create_with(source.to_str().unwrap(), &options, &session).unwrap();
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(100)).unwrap();
    let lzf = root.add_variable("lzf", Atomic::Int, &["x"]).unwrap();
    lzf.set_storage(Storage::Chunked(vec![50]), vec![CodecSpec::hdf5(32000, &[])]).unwrap();
    lzf.write(&Selection::slab(&[0], &[100]), &(0..100).collect::<Vec<i32>>()).unwrap();
    let sum = root.add_variable("sum", Atomic::Int, &["x"]).unwrap();
    sum.set_storage(Storage::Chunked(vec![50]), vec![CodecSpec::hdf5(3, &[])]).unwrap();
    sum.write(&Selection::slab(&[0], &[100]), &(0..100).collect::<Vec<i32>>()).unwrap();
    let words = root.add_variable("words", Atomic::String, &["x"]).unwrap();
    let list = Values::String((0..100).map(|n| Some(format!("w{n}"))).collect());
    words.write_values(&Selection::slab(&[0], &[100]), &list).unwrap();
    let empty = root.add_variable("empty", Atomic::Int, &["x"]).unwrap();
    empty.set_storage(Storage::Chunked(vec![50]), Vec::new()).unwrap();
    dataset.close().unwrap();
    let report = refer(&[&source], &target, |_| (), &session).unwrap();
    assert_eq!((report.variables, report.left_out.len()), (4, 0), "{report:?}");
    let (one, other) = (open(&source, &session), open(&target, &session));
    for name in ["lzf", "sum", "words", "empty"] {
        let read = |dataset: &Dataset| values(&dataset.variable(name).unwrap()).unwrap();
        assert_eq!(read(&one), read(&other), "{name}");
    }
    let report = refer(&[&source], &target, |options| options.inline_values = 10, &session).unwrap();
    let left: Vec<&str> = report.left_out.iter().map(|left| left.path.as_str()).collect();
    assert_eq!(left, ["/lzf", "/words"], "{report:?}");
    assert!(report.left_out[0].reason.contains("filter"), "{report:?}");
    assert!(open(&target, &session).variable("lzf").is_err());
}

#[test]
fn chunks_longer_than_a_dimension_that_grows_are_referred_to() {
    let (_folder, temp) = temp();
    let session = session();
    let (source, refs) = (temp.join("few.nc4"), temp.join("few.json"));
    let dataset = create(&source, Kind::Nc4, &session);
    let root = dataset.root();
    root.add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    let time = root.add_variable("time", Atomic::Double, &["time"]).unwrap();
    time.set_storage(Storage::Chunked(vec![1024]), Vec::new()).unwrap();
    time.write(&Selection::slab(&[0], &[12]), &[1.5f64; 12]).unwrap();
    dataset.close().unwrap();
    let report = refer(&[&source], &refs, |options| options.inline_threshold = 0, &session).unwrap();
    assert_eq!((report.references, report.inline), (1, 0));
    let time = open(&refs, &session).variable("time").unwrap();
    assert_eq!((time.shape(), values(&time).unwrap()), (vec![12], Values::Double(vec![1.5; 12])));
}

/// What zarr-python reads of the variable `v` through a reference file, as JSON.
const READ_V: &str = r#"
import sys, json, fsspec, zarr
fs = fsspec.filesystem("reference", fo=sys.argv[1], remote_protocol="file", asynchronous=True,
                       remote_options={"asynchronous": True}, skip_instance_cache=True)
store = zarr.storage.FsspecStore(fs, read_only=True, path="")
print(json.dumps(zarr.open_group(store, mode="r", zarr_format=2)["v"][...].tolist()))
"#;

fn python(script: &str, arguments: &[&Path]) -> Option<String> {
    let output = Command::new(peers_python()?).args(["-c", script]).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(String::from_utf8(output.stdout).unwrap())
}

#[test]
fn what_was_never_written_is_read_as_the_file_says_not_as_netcdf_would() {
    let session = session();
    let (_folder, temp) = temp();
    let (source, target) = (temp.join("a.h5"), temp.join("refs.json"));
    let make = r#"
import sys, h5py
with h5py.File(sys.argv[1], "w") as file:
    file.create_dataset("v", (6,), "i2", chunks=(2,), fillvalue=3)[0] = 8
"#;
    if python(make, &[&source]).is_none() {
        return;
    }
    let report = refer(&[&source], &target, |_| (), &session).unwrap();
    assert_eq!((report.references + report.inline, report.left_out), (1, Vec::new()));
    let v = open(&target, &session).variable("v").unwrap();
    assert_eq!(v.read::<i16>().unwrap(), [8, 3, 3, 3, 3, 3]);
    assert_eq!(python(READ_V, &[&target]).unwrap().trim(), "[8, 3, 3, 3, 3, 3]");
}

#[test]
fn files_whose_missing_values_are_no_numbers_follow_each_other() {
    let session = session();
    let (_folder, temp) = temp();
    let paths = [temp.join("a.nc"), temp.join("b.nc")];
    for path in &paths {
        let dataset = create(path, Kind::Nc4, &session);
        dataset.root().add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
        let v = dataset.root().add_variable("v", Atomic::Double, &["time"]).unwrap();
        for name in ["_FillValue", "missing_value"] {
            v.set_attribute(Attribute::atomic(name, Values::Double(vec![f64::NAN]))).unwrap();
        }
        v.set_storage(Storage::Chunked(vec![2]), Vec::new()).unwrap();
        v.write(&Selection::slab(&[0], &[2]), &[1.0, f64::NAN]).unwrap();
        dataset.close().unwrap();
    }
    let target = temp.join("refs.json");
    let sources: Vec<&Path> = paths.iter().map(AsRef::as_ref).collect();
    refer(&sources, &target, |options| options.axis = Some("time".into()), &session).unwrap();
    let read = open(&target, &session).variable("v").unwrap().read::<f64>().unwrap();
    assert_eq!(read.iter().map(|value| value.is_nan()).collect::<Vec<_>>(), [false, true, false, true]);
    if let Some(theirs) = python(READ_V, &[&target]) {
        assert_eq!(theirs.trim(), "[1.0, NaN, 1.0, NaN]");
    }
}

#[test]
fn chunks_of_zarr_that_are_not_there_are_not_referred_to() {
    let session = session();
    for (name, kind) in [("a.zarr", Kind::Zarr2), ("b.zarr", Kind::Zarr3)] {
        let (_folder, temp) = temp();
        let (source, target) = (temp.join(name), temp.join("refs.json"));
        let dataset = create(&source, kind, &session);
        dataset.root().add_dimension("x", DimensionLen::Fixed(600)).unwrap();
        let v = dataset.root().add_variable("v", Atomic::Int, &["x"]).unwrap();
        v.set_attribute(Attribute::atomic("_FillValue", Values::Int(vec![-1]))).unwrap();
        v.set_storage(Storage::Chunked(vec![200]), Vec::new()).unwrap();
        v.write(&Selection::slab(&[200], &[200]), &[7i32; 200]).unwrap();
        dataset.close().unwrap();
        let report = refer(&[&source], &target, |options| options.inline_threshold = 0, &session).unwrap();
        assert_eq!((report.references, report.left_out), (1, Vec::new()), "{name}");
        let expected = [[-1; 200], [7; 200], [-1; 200]].concat();
        assert_eq!(open(&target, &session).variable("v").unwrap().read::<i32>().unwrap(), expected);
        if let Some(theirs) = python(READ_V, &[&target]) {
            assert_eq!(theirs.trim(), format!("{expected:?}"));
        }
    }
}

#[test]
fn chunks_far_away_are_listed_or_checked() {
    let (_folder, temp) = temp();
    let source = temp.join("a.zarr");
    let session = session();
    let dataset = create(&source, Kind::Zarr2, &session);
    dataset.root().add_dimension("x", DimensionLen::Fixed(600)).unwrap();
    let v = dataset.root().add_variable("v", Atomic::Int, &["x"]).unwrap();
    v.set_storage(Storage::Chunked(vec![200]), Vec::new()).unwrap();
    v.write(&Selection::slab(&[200], &[200]), &[7i32; 200]).unwrap();
    dataset.close().unwrap();
    let far = Arc::new(Far::new(MemoryStore::new("far://place")));
    for key in [".zgroup", ".zattrs", ".zmetadata", "v/.zarray", "v/.zattrs", "v/1"] {
        if let Ok(body) = std::fs::read(source.join(key)) {
            let object = far.inner.root().child(&format!("a.zarr/{key}"));
            LocalStore::put(&far.inner, &object, &body, &PutCondition::None).unwrap();
        }
    }
    let store = Arc::clone(&far);
    let connect = move |url: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
        let root = store.inner.root().child(url.path().trim_matches('/'));
        Ok((Arc::clone(&store) as Arc<dyn Store>, root))
    };
    let session = Session::builder().threads(2).store("far", connect).build().unwrap();
    let target = temp.join("refs.json");
    let options = ReferenceOptions::new().inline_threshold(0);
    let sources = ["far://place/a.zarr".to_owned()];
    let report = write_references(&sources, target.to_str().unwrap(), &options, &session).unwrap();
    assert_eq!((report.references, report.left_out), (1, Vec::new()));
}

#[test]
fn small_chunks_of_files_on_a_web_server_are_embedded() {
    let (_folder, root) = temp();
    let session = session();
    for (start, name) in [(0, "a.nc"), (3, "b.nc")] {
        fill(&root.join(name), Kind::Nc4, start, 3, &session);
    }
    let server = ncirrus_testkit::files_over_http::serve(&root, None);
    let joint = |place: &str, target: &str| {
        let files = ["a.nc", "b.nc"].map(|name| format!("{place}/{name}"));
        let target = root.join(target).to_str().unwrap().to_owned();
        let options = ReferenceOptions::new().axis("time".to_owned());
        let report = write_references(&files, &target, &options, &session).unwrap();
        let dataset = Dataset::open_with(&target, &OpenOptions::default(), &session).unwrap();
        let found: Vec<(String, Values)> =
            dataset.variables().iter().map(|variable| (variable.path(), values(variable).unwrap())).collect();
        (report.inline, report.references, found)
    };
    let local = joint(root.to_str().unwrap(), "local.json");
    let remote = joint(&server, "remote.json");
    assert!(local.0 > 6 && local.1 > 0, "{} {}", local.0, local.1);
    assert_eq!(remote, local);
}
