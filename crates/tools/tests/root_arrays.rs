//! Arrays at the root of a store, without a group around them: read, changed and appended to.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{json, session, values};
use ncirrus::{Atomic, Attribute, Dataset, DimensionLen, ErrorKind, OpenOptions, Selection, Session, Values};
use ncirrus_testkit::corpus::peers_python;
use serde_json::json;
use std::path::{Path, PathBuf};

/// An array of 3 by 4 `int`, in chunks of 2 rows, of each version of Zarr.
fn arrays(folder: &Path) -> [PathBuf; 2] {
    let v3 = folder.join("three.zarr");
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [3, 4], "data_type": "int32", "fill_value": -1,
        "dimension_names": ["time", "x"], "chunk_key_encoding": {"name": "default"},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 4]}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "attributes": {"units": "K", "kept": {"as": ["it", "is"]}},
    });
    std::fs::create_dir_all(&v3).unwrap();
    std::fs::write(v3.join("zarr.json"), document.to_string()).unwrap();
    let v2 = folder.join("two.zarr");
    let document = json!({
        "zarr_format": 2, "shape": [3, 4], "chunks": [2, 4], "dtype": "<i4", "fill_value": -1, "order": "C",
        "filters": null, "compressor": null,
    });
    std::fs::create_dir_all(&v2).unwrap();
    std::fs::write(v2.join(".zarray"), document.to_string()).unwrap();
    let attributes = json!({"_ARRAY_DIMENSIONS": ["time", "x"], "units": "K"});
    std::fs::write(v2.join(".zattrs"), attributes.to_string()).unwrap();
    [v3, v2]
}

fn updated(path: &Path, session: &Session) -> Dataset {
    Dataset::update_with(path.to_str().unwrap(), &OpenOptions::default(), session).unwrap()
}

fn grow(dataset: &Dataset) {
    dataset
        .edit(|model| {
            let time = model.dimension_at("/time").unwrap();
            let len = model.dimension(time).unwrap().len.current();
            Ok(model.set_dimension_len(time, DimensionLen::Unlimited(len))?)
        })
        .unwrap();
}

#[test]
fn values_attributes_and_the_shape_are_changed() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    for path in arrays(folder.path()) {
        let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
        let dataset = updated(&path, &session);
        let array = dataset.variable(&name).unwrap();
        array.write_values(&Selection::slab(&[0, 0], &[3, 4]), &Values::Int((0..12).collect())).unwrap();
        array.set_attribute(Attribute::text("units", "degC")).unwrap();
        grow(&dataset);
        array.write_values(&Selection::slab(&[3, 0], &[2, 4]), &Values::Int((12..20).collect())).unwrap();
        dataset.close().unwrap();
        let files: Vec<PathBuf> = walk(&path);
        let again = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
        assert_eq!(again.variables().len(), 1);
        let array = again.variable(&name).unwrap();
        assert_eq!(values(&array).unwrap(), Values::Int((0..20).collect()), "{files:?}");
        assert_eq!(array.attribute("units").unwrap(), Some(Attribute::text("units", "degC")));
        assert_eq!(files.len(), if name == "three" { 4 } else { 5 }, "no documents of a group: {files:?}");
        if name == "three" {
            let document = json(&path.join("zarr.json"));
            assert_eq!((&document["node_type"], &document["shape"]), (&json!("array"), &json!([5, 4])));
            assert_eq!(document["attributes"]["kept"], json!({"as": ["it", "is"]}));
            assert!(document.get("consolidated_metadata").is_none());
        }
    }
}

fn walk(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(walk(&path)) } else { found.push(path) }
    }
    found
}

type Change<'a> = &'a dyn Fn(&Dataset) -> ncirrus::Result<()>;

#[test]
fn nothing_else_has_a_place_beside_it() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    for path in arrays(folder.path()) {
        let before: Vec<(PathBuf, Vec<u8>)> =
            walk(&path).into_iter().map(|file| (file.clone(), std::fs::read(file).unwrap())).collect();
        let refused: [Change; 4] = [
            &|dataset| dataset.root().add_variable("more", Atomic::Int, &["x"]).map(|_| ()),
            &|dataset| dataset.root().add_group("below").map(|_| ()),
            &|dataset| dataset.root().set_attribute(Attribute::text("title", "none")),
            &|dataset| dataset.variables()[0].rename("other"),
        ];
        for change in refused {
            let dataset = updated(&path, &session);
            let error = change(&dataset).and_then(|()| dataset.close()).unwrap_err();
            assert_eq!(error.kind(), ErrorKind::Unsupported, "{error}");
            assert!(error.to_string().contains("whole dataset"), "{error}");
        }
        for (file, bytes) in before {
            assert_eq!(std::fs::read(&file).unwrap(), bytes, "{}", file.display());
        }
    }
}

#[test]
fn zarr_python_reads_what_was_changed() {
    let Some(python) = peers_python() else { return };
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let script = "
import sys, zarr
for path in sys.argv[1:]:
    a = zarr.open_array(path, mode='r')
    assert a.shape == (4, 4) and a[3].tolist() == [7] * 4 and a[0].tolist() == [-1] * 4, a[:]
    assert a.attrs['units'] == 'K' and a.attrs['more'] == 1, dict(a.attrs)
";
    let paths = arrays(folder.path());
    for path in &paths {
        let dataset = updated(path, &session);
        grow(&dataset);
        let array = dataset.variables().remove(0);
        array.write_values(&Selection::slab(&[3, 0], &[1, 4]), &Values::Int(vec![7; 4])).unwrap();
        array.set_attribute(Attribute::atomic("more", Values::Int(vec![1]))).unwrap();
        dataset.close().unwrap();
    }
    let output = std::process::Command::new(python).args(["-c", script]).args(&paths).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
