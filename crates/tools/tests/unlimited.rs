//! Unlimited dimensions in plain Zarr: named by an attribute that others ignore.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{json, session};
use DimensionLen::{Fixed, Unlimited};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DatasetView, Dialect, DimensionLen, Kind, OpenOptions, Selection,
    Session, Values,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{AppendOptions, CopyOptions, append, copy};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Groups with unlimited and fixed dimensions, one of them in an inner group.
fn source(folder: &Path, session: &Session) -> PathBuf {
    let to = folder.join("source.nc");
    let create = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(to.to_str().unwrap(), &create, session).unwrap();
    let root = dataset.root();
    root.add_dimension("time", Unlimited(0)).unwrap();
    root.add_dimension("x", Fixed(3)).unwrap();
    let v = root.add_variable("v", Atomic::Int, &["time", "x"]).unwrap();
    v.write_values(&Selection::slab(&[0, 0], &[2, 3]), &Values::Int((0..6).collect())).unwrap();
    let below = root.add_group("below").unwrap();
    below.add_dimension("run", Unlimited(0)).unwrap();
    let w = below.add_variable("w", Atomic::Int, &["run", "x"]).unwrap();
    w.write_values(&Selection::slab(&[0, 0], &[3, 3]), &Values::Int((0..9).collect())).unwrap();
    dataset.close().unwrap();
    to
}

const PLAIN: [(Kind, Option<Dialect>, &str); 2] =
    [(Kind::Zarr2, None, "two.zarr"), (Kind::Zarr3, Some(Dialect::Plain), "three.zarr")];

fn copied(from: &Path, to: &Path, (kind, dialect): (Kind, Option<Dialect>), session: &Session) {
    let source = Dataset::open_with(from.to_str().unwrap(), &OpenOptions::default(), session).unwrap();
    let options = CopyOptions::new().create(CreateOptions::new().kind(kind).dialect(dialect));
    copy(&source, to.to_str().unwrap(), &options, session).unwrap();
}

fn lengths(path: &Path, view: DatasetView, session: &Session) -> Vec<DimensionLen> {
    let options = OpenOptions::default().view(view);
    let dataset = Dataset::open_with(path.to_str().unwrap(), &options, session).unwrap();
    let model = dataset.model().unwrap();
    let of = |path: &str| {
        let variable = model.variable(model.variable_at(path).unwrap()).unwrap();
        variable.dims.iter().map(|dim| model.dimension(*dim).unwrap().len).collect::<Vec<_>>()
    };
    [of("/v"), of("/below/w")].concat()
}

/// `_ncirrus` of the groups of a store.
fn named(store: &Path) -> [Value; 2] {
    ["", "below"].map(|group| {
        let folder = store.join(group);
        let attributes = match folder.join("zarr.json") {
            document if document.exists() => json(&document)["attributes"].clone(),
            _ => json(&folder.join(".zattrs")),
        };
        attributes["_ncirrus"]["unlimited"].clone()
    })
}

#[test]
fn they_survive_copies_and_come_back() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let first = source(folder.path(), &session);
    let due = vec![Unlimited(2), Fixed(3), Unlimited(3), Fixed(3)];
    for (kind, dialect, name) in PLAIN {
        let plain = folder.path().join(name);
        copied(&first, &plain, (kind, dialect), &session);
        assert_eq!(named(&plain), [json!(["time"]), json!(["run"])], "{name}");
        assert_eq!(lengths(&plain, DatasetView::Own, &session), due, "{name}");
        let fixed = vec![Fixed(2), Fixed(3), Fixed(3), Fixed(3)];
        assert_eq!(lengths(&plain, DatasetView::NetcdfC, &session), fixed, "{name}: as netCDF-C");
        let back = folder.path().join(format!("{name}.nc"));
        copied(&plain, &back, (Kind::Nc4, None), &session);
        assert_eq!(lengths(&back, DatasetView::Own, &session), due, "{name}");
        // Plain Zarr has the dimensions of a variable in its own group: a dataset of the same kind has the same ones.
        let more = folder.path().join(format!("more-{name}"));
        copied(&plain, &more, (kind, dialect), &session);
        let (more, options) =
            (more.to_str().unwrap().to_owned(), AppendOptions::new().along("time".to_owned()));
        append(plain.to_str().unwrap(), &[more], &options, &session).unwrap();
        assert_eq!(lengths(&plain, DatasetView::Own, &session)[0], Unlimited(4), "{name}");
        assert_eq!(named(&plain), [json!(["time"]), json!(["run"])], "{name}");
    }
}

#[test]
fn what_other_programs_made_is_not_marked() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("other.zarr");
    std::fs::create_dir_all(store.join("v")).unwrap();
    std::fs::write(
        store.join("zarr.json"),
        r#"{"zarr_format": 3, "node_type": "group", "attributes": {"a": 1}}"#,
    )
    .unwrap();
    let array = json!({
        "zarr_format": 3, "node_type": "array", "shape": [2], "data_type": "int32", "fill_value": 0,
        "dimension_names": ["t"], "chunk_key_encoding": {"name": "default"},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2]}},
        "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
    });
    std::fs::write(store.join("v/zarr.json"), array.to_string()).unwrap();
    let dataset = Dataset::update_with(store.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    dataset
        .edit(|model| {
            let t = model.dimension_at("/t").unwrap();
            Ok(model.set_dimension_len(t, Unlimited(2))?)
        })
        .unwrap();
    assert!(!dataset.keeps_unlimited());
    dataset.variable("v").unwrap().write_values(&Selection::slab(&[2], &[1]), &Values::Int(vec![7])).unwrap();
    dataset.close().unwrap();
    assert_eq!(json(&store.join("zarr.json"))["attributes"], json!({"a": 1}));
    assert_eq!(json(&store.join("v/zarr.json"))["shape"], json!([3]));
}

#[test]
fn damaged_names_are_ignored() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let plain = folder.path().join("a.zarr");
    copied(&source(folder.path(), &session), &plain, (Kind::Zarr3, Some(Dialect::Plain)), &session);
    for names in [json!("time"), json!([1, "nothing"]), json!({"time": true}), json!(null)] {
        let mut document = json(&plain.join("zarr.json"));
        document["attributes"]["_ncirrus"]["unlimited"] = names.clone();
        document.as_object_mut().unwrap().remove("consolidated_metadata");
        std::fs::write(plain.join("zarr.json"), document.to_string()).unwrap();
        assert_eq!(lengths(&plain, DatasetView::Own, &session)[0], Fixed(2), "{names}");
    }
}

#[test]
fn zarr_and_xarray_ignore_the_attribute() {
    let Some(python) = peers_python() else { return };
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let first = source(folder.path(), &session);
    let script = "
import sys, zarr, xarray as xr
for path in sys.argv[1:]:
    assert zarr.open_group(path, mode='r')['v'].shape == (2, 3)
    with xr.open_dataset(path, engine='zarr') as ds:
        assert dict(ds.sizes) == {'time': 2, 'x': 3}, ds
";
    let paths = PLAIN.map(|(kind, dialect, name)| {
        let path = folder.path().join(name);
        copied(&first, &path, (kind, dialect), &session);
        path
    });
    let output = std::process::Command::new(python).args(["-c", script]).args(&paths).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
