//! The conventions of GeoZarr (`proj:`, `spatial:`, multiscales) and NZ: shown as CF has them, and kept as they are.
#![expect(
    clippy::unwrap_used,
    clippy::needless_pass_by_value,
    reason = "helpers of tests may panic, and are called with new values"
)]

use crate::support::{json, session, values};
use ncirrus::{
    Attribute, CreateOptions, Dataset, DatasetView, Dialect, Kind, OpenOptions, Selection, Session, Values,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{CopyOptions, copy};
use serde_json::{Value, json};
use std::path::Path;

fn group(folder: &Path, attributes: Value) {
    std::fs::create_dir_all(folder).unwrap();
    let document = json!({"zarr_format": 3, "node_type": "group", "attributes": attributes});
    std::fs::write(folder.join("zarr.json"), document.to_string()).unwrap();
}

fn array(folder: &Path, shape: [u64; 3], attributes: Value) {
    std::fs::create_dir_all(folder).unwrap();
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": shape, "data_type": "float32", "fill_value": 0.0,
        "dimension_names": ["time", "Y", "X"], "chunk_key_encoding": {"name": "default"},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": shape}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}], "attributes": attributes,
    });
    std::fs::write(folder.join("zarr.json"), document.to_string()).unwrap();
}

fn spatial(transform: [f64; 6]) -> Value {
    json!({
        "zarr_conventions": [{"uuid": "689b58e2-cf7b-45e0-9fff-9cfc0883d6b4", "name": "spatial"}],
        "spatial:dimensions": ["Y", "X"], "spatial:transform": transform,
    })
}

fn with(mut attributes: Value, name: &str, value: Value) -> Value {
    attributes[name] = value;
    attributes
}

fn opened(path: &Path, session: &Session) -> Dataset {
    Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), session).unwrap()
}

fn numbers(dataset: &Dataset, name: &str) -> Vec<f64> {
    let found = values(&dataset.variable(name).unwrap()).unwrap();
    (0..found.len()).map(|at| found.number(at).unwrap()).collect()
}

fn text(dataset: &Dataset, variable: &str, name: &str) -> Option<String> {
    let attribute = dataset.variable(variable).unwrap().attribute(name).unwrap()?;
    match attribute.values {
        Values::Char(bytes) => Some(String::from_utf8(bytes).unwrap()),
        _ => None,
    }
}

const NORTH_UP: [f64; 6] = [10.0, 0.0, 500_000.0, 0.0, -20.0, 5_000_000.0];

#[test]
fn a_code_and_a_transform_become_a_grid_mapping_and_coordinates() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    group(&store, json!({"proj:code": "EPSG:32633"}));
    array(&store.join("v"), [2, 3, 4], spatial(NORTH_UP));
    let dataset = opened(&store, &session);
    assert_eq!(text(&dataset, "v", "grid_mapping").as_deref(), Some("spatial_ref"));
    assert_eq!(text(&dataset, "spatial_ref", "grid_mapping_name").as_deref(), Some("transverse_mercator"));
    let meridian =
        dataset.variable("spatial_ref").unwrap().attribute("longitude_of_central_meridian").unwrap();
    assert_eq!(meridian.unwrap().values, Values::Double(vec![15.0]));
    assert_eq!(text(&dataset, "spatial_ref", "spatial_ref").as_deref(), Some("EPSG:32633"));
    assert_eq!(numbers(&dataset, "X"), [500_005.0, 500_015.0, 500_025.0, 500_035.0]);
    assert_eq!(numbers(&dataset, "Y"), [4_999_990.0, 4_999_970.0, 4_999_950.0]);
    assert_eq!(text(&dataset, "X", "standard_name").as_deref(), Some("projection_x_coordinate"));
    assert_eq!(text(&dataset, "Y", "units").as_deref(), Some("m"));
    // Parts are computed as the whole is.
    let part = dataset.variable("X").unwrap().values(&Selection::slab(&[2], &[2])).unwrap();
    assert_eq!(part, Values::Double(vec![500_025.0, 500_035.0]));
    let raw = OpenOptions::new().raw(true);
    let raw = Dataset::open_with(store.to_str().unwrap(), &raw, &session).unwrap();
    assert_eq!(raw.variables().len(), 1, "as it is stored");
    let c = OpenOptions::new().view(DatasetView::NetcdfC);
    let c = Dataset::open_with(store.to_str().unwrap(), &c, &session).unwrap();
    assert_eq!(c.variables().len(), 1, "as netCDF-C shows it");
}

#[test]
fn copies_have_both_and_changes_leave_the_store_as_it_is() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    let wkt = "PROJCRS[\"any\"]";
    group(&store, json!({"title": "t"}));
    array(&store.join("v"), [1, 3, 4], with(spatial(NORTH_UP), "proj:wkt2", json!(wkt)));
    let source = opened(&store, &session);
    for (name, kind, dialect) in [
        ("b.nc", Kind::Nc4, None),
        ("c.zarr", Kind::Zarr3, Some(Dialect::Plain)),
        ("d.zarr", Kind::Zarr2, None),
    ] {
        let to = folder.path().join(name);
        let options = CopyOptions::new().create(CreateOptions::new().kind(kind).dialect(dialect));
        copy(&source, to.to_str().unwrap(), &options, &session).unwrap();
        let copied = opened(&to, &session);
        assert_eq!(numbers(&copied, "X"), numbers(&source, "X"), "{name}");
        assert_eq!(text(&copied, "spatial_ref", "crs_wkt").as_deref(), Some(wkt), "{name}");
        assert_eq!(copied.variables().len(), 4, "{name}");
        if kind == Kind::Zarr3 {
            let (one, other) = (json(&store.join("v/zarr.json")), json(&to.join("v/zarr.json")));
            for name in ["spatial:dimensions", "spatial:transform", "proj:wkt2"] {
                assert_eq!(one["attributes"][name], other["attributes"][name], "{name}");
            }
            let (before, after) =
                (&one["attributes"]["zarr_conventions"], &other["attributes"]["zarr_conventions"]);
            assert_eq!(
                (&before[0], after.as_array().unwrap().len()),
                (&after[0], 2),
                "proj is declared, too"
            );
        }
    }
    let dataset = Dataset::update_with(store.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let v = dataset.variable("v").unwrap();
    v.write_values(&Selection::slab(&[0, 0, 0], &[1, 1, 1]), &Values::Float(vec![7.0])).unwrap();
    v.set_attribute(Attribute::text("units", "K")).unwrap();
    dataset.close().unwrap();
    let after = json(&store.join("v/zarr.json"));
    let due = with(with(spatial(NORTH_UP), "proj:wkt2", json!(wkt)), "units", json!("K"));
    assert_eq!(after["attributes"], due);
    assert!(!store.join("X").exists() && !store.join("spatial_ref").exists());
    assert_eq!(json(&store.join("zarr.json"))["attributes"], json!({"title": "t"}));
}

#[test]
fn levels_of_a_pyramid_have_coordinates_of_their_own() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    let level = |name: &str, step: f64| json!({"asset": name, "spatial:transform": [step, 0.0, 100.0, 0.0, -step, 50.0], "spatial:shape": [2, 2]});
    let attributes = json!({
        "proj:code": "EPSG:4326", "spatial:dimensions": ["Y", "X"],
        "multiscales": {"layout": [level("r1", 1.0), level("r2", 2.0), {"asset": 3}, "x"]},
    });
    group(&store, attributes);
    for name in ["r1", "r2", "other"] {
        group(&store.join(name), json!({}));
        array(&store.join(name).join("v"), [1, 2, 2], json!({}));
    }
    let dataset = opened(&store, &session);
    assert_eq!(numbers(&dataset, "r1/X"), [100.5, 101.5]);
    assert_eq!(numbers(&dataset, "r2/Y"), [49.0, 47.0]);
    assert_eq!(text(&dataset, "r2/X", "standard_name").as_deref(), Some("longitude"));
    assert_eq!(text(&dataset, "r1/spatial_ref", "grid_mapping_name").as_deref(), Some("latitude_longitude"));
    assert!(dataset.variable("other/X").is_err() && dataset.variable("other/spatial_ref").is_err());
}

#[test]
fn coordinates_of_several_chunks_continue() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    group(&store, json!({}));
    array(&store.join("v"), [1, 2, 1300], spatial([1.0, 0.0, 0.0, 0.0, -1.0, 0.0]));
    let due: Vec<f64> = (0..1300).map(|at| f64::from(at) + 0.5).collect();
    assert_eq!(numbers(&opened(&store, &session), "X"), due);
}

#[test]
fn descriptions_that_are_too_long_are_ignored_with_a_warning() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    let wkt = |len: usize| format!("PROJCRS[{}]", "x".repeat(len - 9));
    group(&store, json!({"proj:code": "EPSG:4326"}));
    array(&store.join("v"), [1, 3, 4], with(spatial(NORTH_UP), "proj:wkt2", json!(wkt((1 << 16) + 1))));
    let dataset = opened(&store, &session);
    // The system of the group is not that of the array.
    assert!(dataset.variable("spatial_ref").is_err());
    assert_eq!(text(&dataset, "X", "standard_name"), None);
    let warnings = dataset.warnings();
    assert!(warnings.iter().any(|text| text.contains("/v: proj:wkt2")), "{warnings:?}");
    let store = folder.path().join("b.zarr");
    group(&store, json!({"proj:code": "EPSG:4326"}));
    array(&store.join("v"), [1, 3, 4], with(spatial(NORTH_UP), "proj:wkt2", json!(wkt(1 << 16))));
    let dataset = opened(&store, &session);
    assert_eq!(text(&dataset, "spatial_ref", "crs_wkt"), Some(wkt(1 << 16)));
    assert!(!dataset.warnings().iter().any(|text| text.contains("wkt2")), "{:?}", dataset.warnings());
}

#[test]
fn what_is_in_doubt_is_left_as_it_is() {
    let session = session();
    let rotated = spatial([10.0, 1.0, 0.0, 0.0, -10.0, 0.0]);
    let cases = [
        ("rotated", rotated),
        ("another transform", with(spatial(NORTH_UP), "spatial:transform_type", json!("rpc"))),
        ("registration", with(spatial(NORTH_UP), "spatial:registration", json!("corner"))),
        ("dimensions", with(spatial(NORTH_UP), "spatial:dimensions", json!(["Y", "Z"]))),
        ("three", with(spatial(NORTH_UP), "spatial:dimensions", json!(["time", "Y", "X"]))),
        ("numbers", with(spatial(NORTH_UP), "spatial:transform", json!([1, 0, "a", 0, 1, 0]))),
        ("short", with(spatial(NORTH_UP), "spatial:transform", json!([1, 0, 0]))),
        ("code", json!({"proj:code": 4326, "proj:wkt2": null, "proj:projjson": {"id": []}})),
        ("nothing", json!({"multiscales": {"layout": 3}})),
    ];
    for (name, attributes) in cases {
        let folder = tempfile::tempdir().unwrap();
        let store = folder.path().join("a.zarr");
        group(&store, json!({}));
        array(&store.join("v"), [1, 3, 4], attributes);
        assert_eq!(opened(&store, &session).variables().len(), 1, "{name}");
    }
    // Arrays that contradict each other, and variables that exist.
    let folder = tempfile::tempdir().unwrap();
    let store = folder.path().join("a.zarr");
    group(&store, json!({}));
    array(&store.join("v"), [1, 3, 4], spatial(NORTH_UP));
    array(&store.join("w"), [1, 3, 4], spatial([5.0, 0.0, 500_000.0, 0.0, -20.0, 5_000_000.0]));
    array(&store.join("Y"), [1, 3, 4], json!({}));
    let dataset = opened(&store, &session);
    assert!(dataset.variable("X").is_err());
    assert_eq!(dataset.variable("Y").unwrap().shape(), [1, 3, 4]);
}

#[test]
fn attributes_have_the_types_that_nz_declares() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("a.zarr");
    group(&store, json!({"conventions": "NZ-1.0 CF-1.12"}));
    let types = json!({"types": {"scale_factor": "float32", "level": "int16", "odd": "float16", "name": 3}});
    let attributes =
        json!({"scale_factor": 0.25, "level": 3, "odd": 1.5, "name": "x", "_nczarr_attr": types.clone()});
    array(&store.join("v"), [1, 1, 1], attributes);
    let dataset = opened(&store, &session);
    let value = |name: &str| dataset.variable("v").unwrap().attribute(name).unwrap().unwrap().values;
    assert_eq!(value("scale_factor"), Values::Float(vec![0.25]));
    assert_eq!(value("level"), Values::Short(vec![3]));
    assert_eq!(value("odd"), Values::Double(vec![1.5]));
    drop(dataset);
    let dataset = Dataset::update_with(store.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    dataset.variable("v").unwrap().set_attribute(Attribute::text("units", "K")).unwrap();
    dataset.close().unwrap();
    assert_eq!(json(&store.join("v/zarr.json"))["attributes"]["_nczarr_attr"], types);
}

fn copied(from: &Path, to: &Path, kind: Kind, session: &Session) {
    let dialect = (kind == Kind::Zarr3).then_some(Dialect::Plain);
    let options = CopyOptions::new().create(CreateOptions::new().kind(kind).dialect(dialect));
    copy(&opened(from, session), to.to_str().unwrap(), &options, session).unwrap();
}

/// Names of the conventions that a group or an array declares.
fn declared(node: &Path) -> Vec<String> {
    let document = json(&node.join("zarr.json"));
    let list = document["attributes"]["zarr_conventions"].as_array().cloned().unwrap_or_default();
    list.iter().map(|entry| entry["name"].as_str().unwrap().to_owned()).collect()
}

#[test]
fn copies_declare_the_conventions_that_they_follow_and_so_do_those_by_way_of_netcdf() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let path = |name: &str| folder.path().join(name);
    let store = path("a.zarr");
    let level = json!({"asset": "r1", "spatial:transform": [1.0, 0.0, 100.0, 0.0, -1.0, 50.0]});
    let attributes = json!({
        "proj:projjson": {"id": {"authority": "EPSG", "code": 4326}}, "spatial:dimensions": ["Y", "X"],
        "multiscales": {"layout": [level]},
    });
    group(&store, attributes.clone());
    group(&store.join("r1"), json!({}));
    let mut undeclared = spatial([1.0, 0.0, 100.0, 0.0, -1.0, 50.0]);
    undeclared.as_object_mut().unwrap().remove("zarr_conventions");
    array(&store.join("r1/v"), [1, 3, 4], with(undeclared, "proj:code", json!("EPSG:4326")));
    copied(&store, &path("b.zarr"), Kind::Zarr3, &session);
    copied(&path("b.zarr"), &path("c.nc"), Kind::Nc4, &session);
    copied(&path("c.nc"), &path("d.zarr"), Kind::Zarr3, &session);
    for copy in [path("b.zarr"), path("d.zarr")] {
        assert_eq!(declared(&copy), ["proj", "spatial", "multiscales"], "{}", copy.display());
        assert_eq!(declared(&copy.join("r1")), [""; 0]);
        assert_eq!(declared(&copy.join("r1/v")), ["proj", "spatial"]);
        let found = json(&copy.join("zarr.json"));
        for name in ["proj:projjson", "spatial:dimensions", "multiscales"] {
            assert_eq!(found["attributes"][name], attributes[name], "{name}");
        }
        let Some(python) = peers_python() else { continue };
        let script = "
import sys, json, pathlib, zarr, xarray
from zarr_cm import multiscales, proj, spatial
root = pathlib.Path(sys.argv[1])
document = lambda key: json.loads((root / key / 'zarr.json').read_text())
proj.validate_group_metadata(document('')), spatial.validate_group_metadata(document(''))
multiscales.validate_group_metadata(document(''))
proj.validate_array_metadata(document('r1/v')), spatial.validate_array_metadata(document('r1/v'))
data = xarray.open_zarr(root, group='r1')
assert data.v.attrs['zarr_conventions'][0]['uuid'] == proj.UUID, data.v.attrs
assert data.X.values.tolist() == [100.5, 101.5, 102.5, 103.5]
assert len(zarr.open_group(root).attrs['zarr_conventions']) == 3
";
        let output = std::process::Command::new(python).args(["-c", script]).arg(&copy).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn datasets_that_follow_nz_keep_the_types_of_attributes() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let path = |name: &str| folder.path().join(name);
    let create = |name: &str, conventions: &str| {
        let options = CreateOptions::new().kind(Kind::Zarr3).dialect(Some(Dialect::Plain));
        let dataset = Dataset::create_with(path(name).to_str().unwrap(), &options, &session).unwrap();
        dataset.root().set_attribute(Attribute::text("Conventions", conventions)).unwrap();
        let v = dataset.root().add_variable("v", ncirrus::Atomic::Short, &[]).unwrap();
        v.set_attribute(Attribute::atomic("scale_factor", Values::Float(vec![0.25]))).unwrap();
        v.set_attribute(Attribute::atomic("valid_range", Values::Short(vec![0, 9]))).unwrap();
        v.set_attribute(Attribute::atomic("offset", Values::Double(vec![1.0]))).unwrap();
        dataset.close().unwrap();
    };
    create("plain.zarr", "CF-1.12");
    assert!(json(&path("plain.zarr/v/zarr.json"))["attributes"]["_nczarr_attr"].is_null());
    create("a.zarr", "NZ-1.0 CF-1.12");
    copied(&path("a.zarr"), &path("b.zarr"), Kind::Zarr3, &session);
    for name in ["a.zarr", "b.zarr"] {
        let document = json(&path(name).join("v/zarr.json"));
        let due = json!({"types": {"scale_factor": "float32", "valid_range": "int16"}});
        assert_eq!(document["attributes"]["_nczarr_attr"], due, "{name}");
        let dataset = opened(&path(name), &session);
        let value = |name: &str| dataset.variable("v").unwrap().attribute(name).unwrap().unwrap().values;
        assert_eq!(value("scale_factor"), Values::Float(vec![0.25]), "{name}");
        assert_eq!(value("valid_range"), Values::Short(vec![0, 9]), "{name}");
        assert_eq!(value("offset"), Values::Double(vec![1.0]), "{name}");
    }
    // Types of attributes that are added, and of those that others declared.
    let update =
        Dataset::update_with(path("a.zarr").to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let v = update.variable("v").unwrap();
    v.set_attribute(Attribute::atomic("level", Values::UByte(vec![3]))).unwrap();
    v.set_attribute(Attribute::atomic("scale_factor", Values::Double(vec![0.1]))).unwrap();
    update.close().unwrap();
    let types = json(&path("a.zarr/v/zarr.json"))["attributes"]["_nczarr_attr"]["types"].clone();
    assert_eq!(types, json!({"valid_range": "int16", "level": "uint8"}));
    let Some(python) = peers_python() else { return };
    let script = "
import sys, xarray
data = xarray.open_zarr(sys.argv[1], mask_and_scale=False)
assert data.v.attrs['scale_factor'] == 0.25 and data.attrs['Conventions'] == 'NZ-1.0 CF-1.12', data.v.attrs
";
    let output =
        std::process::Command::new(python).args(["-c", script]).arg(path("b.zarr")).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
