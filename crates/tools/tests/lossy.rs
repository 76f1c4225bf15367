//! Copies and updates of data under filters that depend on the type of the numbers or have a bit budget: values are
//! preserved for every filter, type, precision and target, and so is what a peer decodes.
#![expect(clippy::panic, reason = "helpers of tests fail the test")]
use crate::support::{open, session, values};
use ncirrus::{CreateOptions, Dataset, Dialect, Kind, OpenOptions, Selection, Session, Values};
use ncirrus_testkit::corpus::{corpus, peers_python};
use ncirrus_testkit::sample::all_cases;
use ncirrus_tools::{ChunkRule, CopyOptions, CopyReport, FilterRule, copy};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};
use std::process::Command;

const PEER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/lossy/peer.py");

fn peer(python: &Path, arguments: &[&str]) -> Value {
    let output = Command::new(python).arg(PEER).args(arguments).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap_or(Value::Null)
}

/// A file with every filter, type and precision.
fn made(folder: &Path) -> Option<(PathBuf, PathBuf)> {
    let python = peers_python()?;
    let source = folder.join("source.h5");
    peer(&python, &["make", source.to_str().unwrap()]);
    Some((python, source))
}

fn targets() -> Vec<(&'static str, CreateOptions)> {
    let of = |kind, dialect| CreateOptions::new().kind(kind).dialect(dialect);
    vec![
        ("copy.nc", of(Kind::Nc4, None)),
        ("copy.nczarr", of(Kind::NcZarr, None)),
        ("copy.zarr2", of(Kind::Zarr2, None)),
        ("copy.zarr3", of(Kind::Zarr3, Some(Dialect::Plain))),
    ]
}

fn copied(source: &Dataset, to: &Path, options: &CopyOptions<'_>, session: &Session) -> CopyReport {
    copy(source, to.to_str().unwrap(), options, session)
        .unwrap_or_else(|error| panic!("{}: {error}", to.display()))
}

/// Variables whose values differ in the copy.
fn differing(source: &Dataset, copy: &Dataset) -> Vec<String> {
    let mut wrong = Vec::new();
    for variable in source.root().variables() {
        let name = variable.name();
        let there = copy.variable(&name).unwrap();
        // Compared bit by bit: no value here is a NaN.
        if values(&variable).unwrap() != values(&there).unwrap() {
            wrong.push(name);
        }
    }
    wrong
}

#[test]
fn copies_keep_the_values_of_every_filter_type_and_precision() {
    let folder = tempfile::tempdir().unwrap();
    let Some((python, path)) = made(folder.path()) else { return };
    let session = session();
    let source = open(&path, &session).unwrap();
    let shapes = ["", "phony_dim_0/5,phony_dim_1/16,phony_dim_2/70"];
    for (at, chunks) in shapes.iter().enumerate() {
        let mut written = vec!["check".to_owned(), path.to_str().unwrap().to_owned()];
        // Other kinds of Zarr differ in metadata only, which do not depend on the shape of the chunks.
        let is_needed = |name: &str| name == "copy.nc" || at == 0 && name == "copy.zarr3";
        let is_wanted = |name: &str| all_cases() || is_needed(name);
        for (name, create) in targets().into_iter().filter(|(name, _)| is_wanted(name)) {
            let to = folder.path().join(format!("{at}_{name}"));
            let chunks = if chunks.is_empty() { Vec::new() } else { vec![ChunkRule::parse(chunks).unwrap()] };
            let options = CopyOptions::new().create(create).chunks(chunks).drop_filters(true);
            copied(&source, &to, &options, &session);
            let copy = open(&to, &session).unwrap();
            assert_eq!(differing(&source, &copy), [""; 0], "{}", to.display());
            written.push(to.to_str().unwrap().to_owned());
        }
        let arguments: Vec<&str> = written.iter().map(String::as_str).collect();
        let answer = peer(&python, &arguments);
        assert_eq!(answer["faults"], json!([]), "{answer:#}");
        let least = 225 * (written.len() - 2);
        assert!(answer["checked"].as_u64().unwrap() > u64::try_from(least).unwrap(), "{answer}");
    }
}

#[test]
fn lossy_chunks_pass_through_or_are_told_of() {
    let folder = tempfile::tempdir().unwrap();
    let Some((_, path)) = made(folder.path()) else { return };
    let session = session();
    let source = open(&path, &session).unwrap();
    let of = |names: &[&str], chunks: &str, to: &str| {
        let chunks = if chunks.is_empty() { Vec::new() } else { vec![ChunkRule::parse(chunks).unwrap()] };
        let create = CreateOptions::new().kind(Kind::Nc4);
        let variables: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
        let options = CopyOptions::new().create(create).chunks(chunks).variables(variables);
        copied(&source, &folder.path().join(to), &options, &session)
    };
    let lossy = ["plane_zfp_rate_lf4", "plane_bits_fixed_li4", "plane_digits_lf8", "plane_zfp_error_lf8"];
    assert_eq!(of(&lossy, "", "same.nc").notes, [""; 0], "equal chunks pass through");
    let copy = open(&folder.path().join("same.nc"), &session).unwrap();
    for name in lossy {
        let filters = |data: &Dataset| data.variable(name).unwrap().filters();
        assert_eq!(filters(&copy), filters(&source), "{name}");
    }
    let notes = of(&lossy, "phony_dim_0/7,phony_dim_1/30", "other.nc").notes;
    assert_eq!(notes.len(), 4, "{notes:#?}");
    assert!(notes[0].contains("plane_") && notes[0].contains("a second time"), "{notes:?}");
    // Lossless filters are applied again, and nothing is reported.
    let exact = ["plane_zfp_exact_lf4", "plane_bits_auto_li4", "plane_deflate_lf8"];
    assert_eq!(of(&exact, "phony_dim_0/7,phony_dim_1/30", "exact.nc").notes, [""; 0]);
    let copy = open(&folder.path().join("exact.nc"), &session).unwrap();
    assert_eq!(copy.variable(exact[0]).unwrap().filters().len(), 1);
}

#[test]
fn zfp_of_the_corpus_keeps_its_values_in_each_kind() {
    let Some(corpus) = corpus("hdf5") else { return };
    let folder = tempfile::tempdir().unwrap();
    let session = session();
    let source = open(&corpus.join("gen/flt_zfp.h5"), &session).unwrap();
    for (name, create) in targets() {
        let to = folder.path().join(name);
        copied(&source, &to, &CopyOptions::new().create(create), &session);
        assert_eq!(differing(&source, &open(&to, &session).unwrap()), [""; 0], "{name}");
    }
}

#[test]
fn lossy_filters_that_are_asked_for_do_not_spend_bits_on_what_is_outside() {
    let folder = tempfile::tempdir().unwrap();
    let Some((python, path)) = made(folder.path()) else { return };
    let session = session();
    let source = open(&path, &session).unwrap();
    let (float, int) = ("plane_none_lf4", "plane_none_li4");
    for (at, (name, rule, error)) in [
        (float, "32013,1,0,0,1076887552", 0.05),
        (float, "32013,3,0,3539053052,1062232653", 0.001),
        (float, "32013,2,0,20", 0.05),
        (float, "6,0,2", 0.0051),
        (int, "6,2,9", 0.0),
        (float, "zfpy,mode=2,rate=16", 0.05),
        (float, "zfpy,tolerance=0.001", 0.001),
    ]
    .into_iter()
    .enumerate()
    {
        for (to, create) in targets() {
            let to = folder.path().join(format!("{at}_{to}"));
            let options = CopyOptions::new()
                .create(create)
                .filter_rules(vec![FilterRule::parse(&format!("{name},{rule}")).unwrap()])
                .variables(vec![name.to_owned()]);
            copied(&source, &to, &options, &session);
            let copy = open(&to, &session).unwrap();
            let doubles = |data: &Dataset| numbers(&values(&data.variable(name).unwrap()).unwrap());
            let largest = doubles(&source)
                .iter()
                .zip(doubles(&copy))
                .map(|(one, other)| (one - other).abs())
                .fold(0.0, f64::max);
            assert!(largest <= error, "{rule} in {}: {largest}", to.display());
        }
        let to = folder.path().join(format!("{at}_copy.nc"));
        let answer = Command::new(&python).args(["-c", SAME]).arg(&to).arg(name).output().unwrap();
        let ours = numbers(&values(&open(&to, &session).unwrap().variable(name).unwrap()).unwrap());
        let theirs: Vec<f64> = serde_json::from_slice(&answer.stdout).unwrap();
        assert_eq!(ours, theirs, "{rule}: what h5py decodes");
    }
}

const SAME: &str = "
import sys, json, h5py, hdf5plugin
print(json.dumps(h5py.File(sys.argv[1])[sys.argv[2]][...].astype('f8').reshape(-1).tolist()))
";

fn numbers(values: &Values) -> Vec<f64> {
    (0..values.len()).map(|at| values.number(at).unwrap()).collect()
}

#[test]
fn an_update_changes_no_value_but_those_that_are_written() {
    let folder = tempfile::tempdir().unwrap();
    let Some((python, path)) = made(folder.path()) else { return };
    let session = session();
    let updated = folder.path().join("updated.nc");
    std::fs::copy(&path, &updated).unwrap();
    let dataset = Dataset::update_with(updated.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let mut edits = serde_json::Map::new();
    for variable in dataset.root().variables() {
        let shape = variable.shape();
        // In an edge chunk.
        let at: Vec<u64> = shape.iter().map(|len| len - 1).collect();
        let ones = vec![1; at.len()];
        let selection = Selection::slab(&at, &ones);
        let old = variable.values(&selection).unwrap();
        let new = old.number(0).unwrap() / 2.0;
        let new = if old.atomic().unwrap().is_integer() { new.trunc() } else { new };
        variable.write(&selection, &[new]).unwrap();
        let last = shape.iter().product::<u64>() - 1;
        edits.insert(variable.name(), json!([last, new]));
    }
    dataset.close().unwrap();
    let edits = serde_json::to_string(&edits).unwrap();
    let answer = peer(&python, &["updated", path.to_str().unwrap(), updated.to_str().unwrap(), &edits]);
    assert_eq!(answer["faults"], json!([]), "{answer:#}");
    assert!(answer["checked"].as_u64().unwrap() > 400, "{answer}");
}

#[test]
fn codecs_that_only_the_source_has_are_dropped_where_the_target_has_none() {
    let folder = tempfile::tempdir().unwrap();
    let session = session();
    let path = folder.path().join("source.zarr");
    let create = CreateOptions::new().kind(Kind::Zarr2);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &create, &session).unwrap();
    dataset.root().add_dimension("x", ncirrus::DimensionLen::Fixed(100)).unwrap();
    let numbers: Vec<i32> = (0..100).map(|at| at * at).collect();
    for (name, codec) in
        [("plain", None), ("lzma", Some(json!({"id": "lzma"}))), ("crc", Some(json!({"id": "crc32"})))]
    {
        let variable = dataset.root().add_variable(name, ncirrus::Atomic::Int, &["x"]).unwrap();
        let codecs = codec.map(|codec| ncirrus::CodecSpec::V2(codec.as_object().unwrap().clone()));
        variable.set_storage(ncirrus::Storage::Chunked(vec![30]), codecs.into_iter().collect()).unwrap();
        variable.write_all(&numbers).unwrap();
    }
    dataset.close().unwrap();
    let source = open(&path, &session).unwrap();
    let to = folder.path().join("copy.nc");
    let options = CopyOptions::new().create(CreateOptions::new().kind(Kind::Nc4));
    let report = copied(&source, &to, &options, &session);
    assert_eq!(report.losses.len(), 2, "{:?}", report.losses);
    assert!(
        report.losses.iter().all(|loss| loss.contains("is copied without filter")),
        "{:?}",
        report.losses
    );
    assert_eq!(differing(&source, &open(&to, &session).unwrap()), [""; 0]);
    // What was requested is an error.
    let rule = FilterRule::parse("plain,lzma").unwrap();
    let asked = options.filter_rules(vec![rule]);
    let refused = copy(&source, folder.path().join("other.nc").to_str().unwrap(), &asked, &session);
    assert!(refused.is_err());
}

/// Writes an HDF5 file with fill values of other types than their variables; then opens a copy with xarray.
const FILLS: &str = r#"
import sys, numpy as np
if sys.argv[1] == "make":
    import h5py
    with h5py.File(sys.argv[2], "w") as file:
        for dtype in ["i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f4", "f8"]:
            for fill in ["i2", "i8", "u1", "f4", "f8"]:
                v = file.create_dataset(f"{dtype}_{fill}", data=np.arange(4, dtype=dtype))
                v.attrs["_FillValue"] = np.array([2], fill)
            v = file.create_dataset(f"{dtype}_half", data=np.arange(4, dtype=dtype))
            v.attrs["_FillValue"] = np.array([2.5])
else:
    import xarray
    data = xarray.open_zarr(sys.argv[2], consolidated=False)
    for name, v in data.variables.items():
        values = v.values.astype("f8")
        masked = [at for at in range(4) if np.isnan(values[at])]
        assert masked == ([] if name.endswith("half") else [2]), (name, values)
    print(len(data.variables))
"#;

#[test]
fn xarray_opens_zarr_with_fill_values_that_had_another_type() {
    let Some(python) = peers_python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("fills.h5");
    let run = |arguments: [&str; 2]| {
        let output = Command::new(&python).args(["-c", FILLS]).args(arguments).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    };
    run(["make", path.to_str().unwrap()]);
    let session = session();
    let source = open(&path, &session).unwrap();
    for (name, kind, dialect) in [
        ("nczarr.zarr3", Kind::Zarr3, None),
        ("plain.zarr3", Kind::Zarr3, Some(Dialect::Plain)),
        ("plain.zarr2", Kind::Zarr2, None),
    ] {
        let to = folder.path().join(name);
        copied(
            &source,
            &to,
            &CopyOptions::new().create(CreateOptions::new().kind(kind).dialect(dialect)),
            &session,
        );
        assert_eq!(run(["read", to.to_str().unwrap()]), "60", "{name}");
    }
}
