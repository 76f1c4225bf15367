//! Packed variables: by attributes in netCDF, by codecs in Zarr v3, and the same numbers in both.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests may panic")]

use crate::support::{json, session, values};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, ErrorKind, Kind, OpenOptions,
    PackedArrays, Selection, Session, Values,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{ChunkRule, CopyOptions, PackingForm, copy};
use ncirrus_units::cf::CfDecoding;
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Packed numbers of several types; the last rows of `short` are not written.
fn packed(folder: &Path, session: &Session) -> Dataset {
    let to = folder.join("packed.nc");
    let create = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(to.to_str().unwrap(), &create, session).unwrap();
    dataset.root().add_dimension("y", DimensionLen::Fixed(6)).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(4)).unwrap();
    let short = dataset.root().add_variable("short", Atomic::Short, &["y", "x"]).unwrap();
    short.set_fill(Values::Short(vec![-999])).unwrap();
    let number = |name: &str, value| Attribute::atomic(name, Values::Double(vec![value]));
    short.set_attribute(number("scale_factor", 0.25)).unwrap();
    short.set_attribute(number("add_offset", 273.0)).unwrap();
    short.set_attribute(Attribute::text("units", "K")).unwrap();
    let mut rows: Vec<i16> = (0..16).map(|at| at * 2047 - 16000).collect();
    rows[5] = -999;
    short.set_storage(ncirrus_model::Storage::Chunked(vec![2, 4]), Vec::new()).unwrap();
    short.write_values(&Selection::slab(&[0, 0], &[4, 4]), &Values::Short(rows)).unwrap();
    let byte = dataset.root().add_variable("byte", Atomic::UByte, &["x"]).unwrap();
    byte.set_attribute(Attribute::atomic("scale_factor", Values::Float(vec![0.5]))).unwrap();
    byte.write_values(&Selection::slab(&[0], &[4]), &Values::UByte(vec![0, 1, 254, 255])).unwrap();
    let int = dataset.root().add_variable("int", Atomic::Int, &["x"]).unwrap();
    int.set_attribute(number("scale_factor", 0.125)).unwrap();
    let all = vec![
        i32::MIN,
        -1,
        i32::try_from(ncirrus_model::default_fill(Atomic::Int).integer(0).unwrap()).unwrap(),
        i32::MAX,
    ];
    int.write_values(&Selection::slab(&[0], &[4]), &Values::Int(all)).unwrap();
    let plain = dataset.root().add_variable("plain", Atomic::Int, &["x"]).unwrap();
    plain.write_values(&Selection::slab(&[0], &[4]), &Values::Int(vec![1, 2, 3, 4])).unwrap();
    dataset.close().unwrap();
    opened(&to, PackedArrays::Decoded, session)
}

fn opened(path: &Path, packed: PackedArrays, session: &Session) -> Dataset {
    let options = OpenOptions::new().packed(packed);
    Dataset::open_with(path.to_str().unwrap(), &options, session).unwrap()
}

fn copied(
    source: &Dataset,
    to: PathBuf,
    kind: Kind,
    options: CopyOptions<'_>,
    session: &Session,
) -> ncirrus::Result<PathBuf> {
    let dialect = (kind == Kind::Zarr3).then_some(Dialect::Plain);
    let options = options.create(CreateOptions::new().kind(kind).dialect(dialect));
    copy(source, to.to_str().unwrap(), &options, session).map(|_| to)
}

/// The bits of all numbers of a variable as CF decodes them.
fn decoded(dataset: &Dataset, name: &str) -> (Atomic, Vec<u64>) {
    let variable = dataset.variable(name).unwrap();
    let Some(ncirrus::TypeRef::Atomic(atomic)) = variable.ty() else { panic!("{name}") };
    let decoding = CfDecoding::new(atomic, &variable.attributes().unwrap()).unwrap();
    let found = decoding.decode(values(&variable).unwrap()).unwrap().values;
    let bits = (0..found.len()).map(|at| found.number(at).unwrap()).map(|number| {
        // NaN is NaN, whatever its bits.
        if number.is_nan() { u64::MAX } else { number.to_bits() }
    });
    (decoding.decoded_type(), bits.collect())
}

fn array(store: &Path, name: &str) -> Value {
    json(&store.join(name).join("zarr.json"))
}

const NAMES: [&str; 4] = ["short", "byte", "int", "plain"];

#[test]
fn codecs_store_the_same_integers_and_give_the_same_numbers() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = packed(folder.path(), &session);
    let by_codecs = || CopyOptions::new().packing(PackingForm::Codecs);
    let to = copied(&source, folder.path().join("a.zarr"), Kind::Zarr3, by_codecs(), &session).unwrap();
    let short = array(&to, "short");
    assert_eq!((&short["data_type"], &short["fill_value"]), (&json!("float64"), &json!("NaN")));
    let names: Vec<&str> =
        short["codecs"].as_array().unwrap().iter().map(|codec| codec["name"].as_str().unwrap()).collect();
    assert_eq!(names[..3], ["scale_offset", "cast_value", "bytes"]);
    assert_eq!(short["attributes"], json!({"units": "K"}));
    assert_eq!(array(&to, "byte")["data_type"], "float32");
    assert_eq!(array(&to, "plain")["data_type"], "int32");
    let floats = opened(&to, PackedArrays::Decoded, &session);
    for name in NAMES {
        assert_eq!(decoded(&floats, name), decoded(&source, name), "{name}");
    }
    // And back: the attributes, the integers and the chunks that were never written.
    let exact = opened(&to, PackedArrays::Exact, &session);
    let back = copied(&exact, folder.path().join("b.nc"), Kind::Nc4, CopyOptions::new(), &session).unwrap();
    let back = opened(&back, PackedArrays::Decoded, &session);
    for name in NAMES {
        let (one, other) = (source.variable(name).unwrap(), back.variable(name).unwrap());
        assert_eq!((one.ty(), values(&one).unwrap()), (other.ty(), values(&other).unwrap()), "{name}");
        for attribute in one.attributes().unwrap().iter() {
            assert_eq!(other.attribute(&attribute.name).unwrap().as_ref(), Some(attribute), "{name}");
        }
    }
    assert!(back.warnings().is_empty(), "{:?}", back.warnings());
}

#[test]
fn copies_between_stores_keep_the_codecs_also_in_other_chunks() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = packed(folder.path(), &session);
    let by_codecs = CopyOptions::new().packing(PackingForm::Codecs);
    let first = copied(&source, folder.path().join("a.zarr"), Kind::Zarr3, by_codecs, &session).unwrap();
    for (rules, name) in [(vec![], "b.zarr"), (vec![ChunkRule::parse("y/3,x/2").unwrap()], "c.zarr")] {
        let stored = opened(&first, PackedArrays::Stored, &session);
        let options = CopyOptions::new().chunks(rules);
        let second = copied(&stored, folder.path().join(name), Kind::Zarr3, options, &session).unwrap();
        for name in NAMES {
            for member in ["data_type", "codecs", "fill_value", "attributes"] {
                assert_eq!(array(&first, name)[member], array(&second, name)[member], "{name} {member}");
            }
            let (one, other) = (
                opened(&first, PackedArrays::Decoded, &session),
                opened(&second, PackedArrays::Decoded, &session),
            );
            assert_eq!(decoded(&one, name), decoded(&other, name), "{name}");
        }
    }
}

/// An array that another program wrote: tenths, which `scale_factor` does not give exactly.
#[test]
fn numbers_that_attributes_do_not_give_stay_floats_in_netcdf_and_keep_codecs_in_zarr() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let store = folder.path().join("tenths.zarr");
    std::fs::create_dir_all(store.join("v/c")).unwrap();
    std::fs::write(store.join("zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    let document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "float64", "fill_value": 0.0,
        "dimension_names": ["x"], "chunk_key_encoding": {"name": "default"},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "codecs": [
            {"name": "scale_offset", "configuration": {"scale": 10.0, "offset": 0.0}},
            {"name": "cast_value", "configuration": {"data_type": "int16", "rounding": "towards-zero"}},
            {"name": "bytes", "configuration": {"endian": "little"}},
        ],
    });
    std::fs::write(store.join("v/zarr.json"), document.to_string()).unwrap();
    std::fs::write(store.join("v/c/0"), [3, 0, 7, 0, 0xff, 0xff]).unwrap();
    let exact = opened(&store, PackedArrays::Exact, &session);
    assert!(exact.warnings().iter().any(|text| text.contains("by the codecs")), "{:?}", exact.warnings());
    let to = copied(&exact, folder.path().join("a.nc"), Kind::Nc4, CopyOptions::new(), &session).unwrap();
    let floats = values(&opened(&to, PackedArrays::Decoded, &session).variable("v").unwrap()).unwrap();
    assert_eq!(floats, Values::Double(vec![0.3, 0.7, -0.1]));
    let stored = opened(&store, PackedArrays::Stored, &session);
    let to =
        copied(&stored, folder.path().join("b.zarr"), Kind::Zarr3, CopyOptions::new(), &session).unwrap();
    assert_eq!(array(&to, "v")["codecs"], document["codecs"]);
    assert_eq!(std::fs::read(to.join("v/c/0")).unwrap(), [3, 0, 7, 0, 0xff, 0xff]);
}

/// A store with the array `v` of halves (-1, 0.5, 1) in a type of Zarr, as int16 or int8, with some members replaced.
fn halves(
    folder: &Path,
    data_type: &str,
    stored: &str,
    missing: Option<i64>,
    changes: &[(&str, Value)],
) -> PathBuf {
    let store = folder.join("halves.zarr");
    std::fs::create_dir_all(store.join("v/c")).unwrap();
    std::fs::write(store.join("zarr.json"), r#"{"zarr_format": 3, "node_type": "group"}"#).unwrap();
    let mut cast = json!({"data_type": stored});
    if let Some(missing) = missing {
        cast["scalar_map"] = json!({"encode": [["NaN", missing]], "decode": [[missing, "NaN"]]});
    }
    let mut document = json!({
        "zarr_format": 3, "node_type": "array", "shape": [3], "data_type": data_type, "fill_value": 0.0,
        "dimension_names": ["x"], "chunk_key_encoding": {"name": "default"},
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "codecs": [
            {"name": "scale_offset", "configuration": {"scale": 2.0, "offset": 0.0}},
            {"name": "cast_value", "configuration": cast},
            {"name": "bytes", "configuration": {"endian": "little"}},
        ],
    });
    for (name, value) in changes {
        document[*name] = value.clone();
    }
    std::fs::write(store.join("v/zarr.json"), document.to_string()).unwrap();
    let chunk: &[u8] = if stored == "int8" { &[0xfe, 1, 2] } else { &[0xfe, 0xff, 1, 0, 2, 0] };
    std::fs::write(store.join("v/c/0"), chunk).unwrap();
    store
}

fn type_of(dataset: &Dataset, name: &str) -> Atomic {
    match dataset.variable(name).unwrap().ty() {
        Some(ncirrus::TypeRef::Atomic(atomic)) => atomic,
        other => panic!("{other:?}"),
    }
}

#[test]
fn zarr_v2_has_attributes_in_place_of_the_codecs() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = packed(folder.path(), &session);
    let by_codecs = CopyOptions::new().packing(PackingForm::Codecs);
    let first = copied(&source, folder.path().join("a.zarr"), Kind::Zarr3, by_codecs, &session).unwrap();
    let exact = opened(&first, PackedArrays::Exact, &session);
    let to = copied(&exact, folder.path().join("b.zarr"), Kind::Zarr2, CopyOptions::new(), &session).unwrap();
    let attributes = json(&to.join("short/.zattrs"));
    assert_eq!((&attributes["scale_factor"], &attributes["add_offset"]), (&json!(0.25), &json!(273.0)));
    assert_eq!(json(&to.join("short/.zarray"))["fill_value"], -999);
    let second = opened(&to, PackedArrays::Decoded, &session);
    for name in NAMES {
        assert_eq!(type_of(&second, name), type_of(&source, name), "{name}");
        // The attributes of plain Zarr v2 have no types: floats may be decoded as doubles.
        assert_eq!(decoded(&second, name).1, decoded(&source, name).1, "{name}");
    }
}

#[test]
fn attributes_of_the_floats_are_kept_with_the_floats() {
    let session = session();
    let nan = json!("AAAAAAAA+H8=");
    for (attributes, exact, stored) in [
        (json!({"units": "K"}), Atomic::Short, Atomic::Short),
        (json!({"_FillValue": nan}), Atomic::Short, Atomic::Short),
        (json!({"_FillValue": "NaN"}), Atomic::Short, Atomic::Short),
        (json!({"_FillValue": 0.5}), Atomic::Double, Atomic::Double),
        (json!({"missing_value": -999.0}), Atomic::Double, Atomic::Double),
        (json!({"scale_factor": 2.0}), Atomic::Double, Atomic::Double),
        (json!({"add_offset": 2.0}), Atomic::Double, Atomic::Double),
        (json!({"valid_range": [0.0, 100.0]}), Atomic::Double, Atomic::Short),
        (json!({"valid_min": 0.0}), Atomic::Double, Atomic::Short),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let changes = [("attributes", attributes.clone())];
        let store = halves(folder.path(), "float64", "int16", Some(-1000), &changes);
        for (form, ty) in [(PackedArrays::Exact, exact), (PackedArrays::Stored, stored)] {
            let dataset = opened(&store, form, &session);
            assert_eq!(type_of(&dataset, "v"), ty, "{attributes} {form:?}");
            if ty == Atomic::Double {
                let v = dataset.variable("v").unwrap();
                assert_eq!(values(&v).unwrap(), Values::Double(vec![-1.0, 0.5, 1.0]), "{attributes}");
                for name in attributes.as_object().unwrap().keys() {
                    assert!(v.attribute(name).unwrap().is_some(), "{name}");
                }
            }
        }
    }
}

#[test]
fn integers_are_shown_only_if_cf_and_the_fill_value_agree() {
    let session = session();
    let fill = |number: f64| vec![("fill_value", json!(number))];
    for (stored, missing, changes, reason) in [
        ("int16", Some(-1000), fill(0.5), None),
        ("int8", None, fill(0.5), None),
        ("int16", None, fill(0.5), Some("missing by CF")),
        ("int16", Some(-1000), fill(0.3), Some("has no stored number")),
        ("int16", Some(-1000), fill(-500.0), Some("has no stored number")),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let store = halves(folder.path(), "float64", stored, missing, &changes);
        let exact = opened(&store, PackedArrays::Exact, &session);
        let is_integer = type_of(&exact, "v") != Atomic::Double;
        assert_eq!(is_integer, reason.is_none(), "{stored} {missing:?} {changes:?}");
        let warnings = exact.warnings();
        let is_said = reason.is_none_or(|reason| warnings.iter().any(|text| text.contains(reason)));
        assert!(is_said, "{stored} {missing:?} {changes:?}: {warnings:?}");
        let to = copied(&exact, folder.path().join("a.nc"), Kind::Nc4, CopyOptions::new(), &session).unwrap();
        let copy = opened(&to, PackedArrays::Decoded, &session);
        assert_eq!(type_of(&copy, "v"), type_of(&exact, "v"));
        if reason.is_some() {
            let floats = values(&copy.variable("v").unwrap()).unwrap();
            assert_eq!(floats, Values::Double(vec![-1.0, 0.5, 1.0]), "{stored} {missing:?} {changes:?}");
        }
    }
}

#[test]
fn small_floats_are_never_shown_packed() {
    let session = session();
    for form in [PackedArrays::Exact, PackedArrays::Stored] {
        let folder = tempfile::tempdir().unwrap();
        let store = halves(folder.path(), "float8_e4m3", "int8", None, &[]);
        let dataset = opened(&store, form, &session);
        assert_eq!(type_of(&dataset, "v"), Atomic::Float, "{form:?}");
    }
}

#[test]
fn what_codecs_cannot_give_is_refused_before_anything_is_written() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = packed(folder.path(), &session);
    let by_codecs = || CopyOptions::new().packing(PackingForm::Codecs);
    let to = folder.path().join("no");
    let error = copied(&source, to.clone(), Kind::Nc4, by_codecs(), &session).unwrap_err();
    assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains("Zarr v3"), "{error}");
    let path = folder.path().join("packed.nc");
    let dataset = Dataset::update_with(path.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let tenth = Attribute::atomic("scale_factor", Values::Double(vec![0.1]));
    dataset.variable("short").unwrap().set_attribute(tenth).unwrap();
    dataset.close().unwrap();
    let source = opened(&path, PackedArrays::Decoded, &session);
    let error = copied(&source, to.clone(), Kind::Zarr3, by_codecs(), &session).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Unsupported);
    assert!(error.to_string().contains("/short") && error.to_string().contains("by the codecs"), "{error}");
    assert!(!to.exists());
}

/// zarr-python decodes what is written here. It needs a package for it, which supports Python 3.12 and newer.
#[test]
fn zarr_python_decodes_the_codecs() {
    let Some(python) = peers_python() else { return };
    let script = "
import sys, zarr, numpy as np
if sys.version_info < (3, 12): sys.exit()
a = zarr.open_group(sys.argv[1], mode='r')
assert a['byte'].dtype == 'f4' and a['short'].dtype == 'f8', a['short'].metadata
assert a['byte'][:].tolist() == [0, 0.5, 127, 127.5]
assert np.isnan(a['short'][1, 1]) and a['short'][0, 0] == 273 - 4000 and np.isnan(a['short'][5]).all()
";
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = packed(folder.path(), &session);
    let by_codecs = CopyOptions::new().packing(PackingForm::Codecs);
    let to = copied(&source, folder.path().join("a.zarr"), Kind::Zarr3, by_codecs, &session).unwrap();
    let output = std::process::Command::new(python).args(["-c", script]).arg(&to).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
}
