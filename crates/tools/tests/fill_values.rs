//! `_FillValue` of another type than its variable, in copies to every kind of Zarr.
use crate::support::{json, open, session, temp};
use ncirrus::{CreateOptions, Dialect, Kind};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{CopyOptions, copy};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

const TYPES: [&str; 10] = ["|i1", "|u1", "<i2", "<u2", "<i4", "<u4", "<i8", "<u8", "<f4", "<f8"];

/// Name and JSON of a fill value, and the types that have it.
type FillCase = (&'static str, &'static str, fn(&str) -> bool);

const FILLS: [FillCase; 6] = [
    ("whole", "99.0", |_| true),
    ("negative", "-99", |ty| !ty.contains('u')),
    ("half", "0.5", |ty| ty.contains('f')),
    ("huge", "1e300", |ty| ty.contains('f')),
    ("text", "\"none\"", |_| false),
    ("list", "[1, 2]", |_| false),
];

/// One variable for each type and fill value.
fn source(path: &Path) {
    std::fs::create_dir_all(path).unwrap();
    std::fs::write(path.join(".zgroup"), r#"{"zarr_format": 2}"#).unwrap();
    for ty in TYPES {
        for (name, fill, _) in FILLS {
            let folder = path.join(variable(ty, name));
            std::fs::create_dir_all(&folder).unwrap();
            let array = json!({"zarr_format": 2, "shape": [2], "chunks": [2], "dtype": ty, "fill_value": null,
                "order": "C", "compressor": null, "filters": null});
            std::fs::write(folder.join(".zarray"), array.to_string()).unwrap();
            let attributes = format!(r#"{{"_ARRAY_DIMENSIONS": ["x"], "_FillValue": {fill}}}"#);
            std::fs::write(folder.join(".zattrs"), attributes).unwrap();
            std::fs::write(folder.join("0"), vec![0; 2 * size(ty)]).unwrap();
        }
    }
}

fn size(ty: &str) -> usize {
    ty[2..].parse().unwrap()
}

fn variable(ty: &str, name: &str) -> String {
    format!("{}_{name}", &ty[1..])
}

#[test]
fn fill_values_are_of_the_type_of_their_array_or_reported() {
    let (session, (_folder, temp)) = (session(), temp());
    let from = temp.join("source.zarr");
    source(&from);
    let targets = [
        ("att", Kind::NcZarr, None),
        ("uc", Kind::NcZarr, Some(Dialect::Uc)),
        ("v2", Kind::Zarr2, None),
        ("v3", Kind::Zarr3, Some(Dialect::Plain)),
        ("n3", Kind::Zarr3, None),
    ];
    for (name, kind, dialect) in targets {
        let to = temp.join(name);
        let create = CreateOptions::new().kind(kind).dialect(dialect);
        let options = CopyOptions::new().create(create);
        let report = copy(&open(&from, &session).unwrap(), to.to_str().unwrap(), &options, &session).unwrap();
        let hidden: Vec<&str> = report.left_out.iter().map(|left_out| left_out.path.as_str()).collect();
        for (ty, (fill, _, has)) in TYPES.into_iter().flat_map(|ty| FILLS.map(|fill| (ty, fill))) {
            let variable = variable(ty, fill);
            let path = format!("/{variable}:_FillValue");
            assert_eq!(hidden.contains(&path.as_str()), kind == Kind::Zarr3 && !has(ty), "{name} {path}");
            if kind == Kind::Zarr3 {
                let body: Value = json(&to.join(&variable).join("zarr.json"));
                let stored = body["attributes"].get("_FillValue");
                assert_eq!(stored.is_some(), has(ty), "{name} {path}: {stored:?}");
                assert!(stored.is_none_or(|stored| stored.is_string() == ty.contains('f')), "{name} {path}");
            }
        }
        assert_eq!(report.is_complete(), kind != Kind::Zarr3, "{name}");
    }
    let Some(python) = peers_python() else { return };
    let output = Command::new(python).args(["-c", READ]).arg(&temp).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}

/// Every copy opens, and what could be encoded is the fill value. xarray refuses text and lists of v2, as in the source.
const READ: &str = r#"
import sys, warnings, xarray, zarr
warnings.simplefilter("ignore")
for name in ("att", "uc", "v2", "v3", "n3"):
    path = f"{sys.argv[1]}/{name}"
    for key, array in zarr.open_group(path, mode="r").arrays():
        assert array[...].shape == (2,), key
    odd = [] if name in ("v3", "n3") else [key for key in zarr.open_group(path, mode="r") if key.endswith(("_text", "_list"))]
    with xarray.open_dataset(path, engine="zarr", mask_and_scale=False, drop_variables=odd) as ds:
        for key, v in ds.variables.items():
            if key.endswith("_whole"):
                assert v.attrs["_FillValue"] == 99, (name, key, v.attrs)
"#;
