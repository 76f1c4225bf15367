//! Files of real instruments and models: what is read equals the truth, and no copy loses anything.
#![expect(clippy::unwrap_used, clippy::panic, reason = "helpers of tests fail the test")]

use crate::support::{exact_cdl, json, open, session, temp, values};
use ncirrus::{CreateOptions, Dataset, Dialect, Kind, Values};
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::sample::in_turn;
use ncirrus_tools::{CopyOptions, copy};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// All files with their truth.
fn cases() -> Vec<(PathBuf, Value)> {
    let Some(root) = corpus("realdata") else { return Vec::new() };
    let mut cases = Vec::new();
    for entry in std::fs::read_dir(root.join("truth")).unwrap() {
        let truth = json(&entry.unwrap().path());
        cases.push((root.join("files").join(truth["file"].as_str().unwrap()), truth));
    }
    assert!(cases.len() >= 20, "{} cases", cases.len());
    cases
}

#[test]
fn every_file_equals_its_truth() {
    let session = session();
    for (path, truth) in cases() {
        let dataset = open(&path, &session).unwrap();
        equals_truth(&dataset, &truth);
        assert!(!exact_cdl(&dataset, "x").is_empty());
    }
}

/// Ways to store a copy: extension, kind and dialect. Those from the fourth on differ in storage only: they are used
/// only for the small files of netCDF-3 and Zarr.
const WAYS: [(&str, Kind, Option<Dialect>); 10] = [
    ("nc", Kind::Nc3, None),
    ("nc", Kind::Nc6, None),
    ("nc", Kind::Nc5, None),
    ("zarr", Kind::NcZarr, None),
    ("zip", Kind::NcZarr, None),
    ("zarr", Kind::NcZarr, Some(Dialect::Lc)),
    ("zarr", Kind::NcZarr, Some(Dialect::Uc)),
    ("zarr", Kind::Zarr2, None),
    ("zarr", Kind::Zarr3, None),
    ("zarr", Kind::Zarr3, Some(Dialect::Plain)),
];

#[test]
fn every_file_copied_to_each_kind_and_back_equals_its_truth() {
    let session = session();
    for (turn, (path, truth)) in cases().into_iter().enumerate() {
        let (_folder, temp) = temp();
        let source = open(&path, &session).unwrap();
        let kind = source.kind();
        let original_kind = if kind.is_classic() { Kind::like(kind) } else { Kind::NcZarr };
        for (number, (ending, kind, dialect)) in WAYS.into_iter().enumerate() {
            let is_hdf5 = truth["format"].as_str().unwrap().starts_with("NETCDF4");
            if !in_turn(turn + number, 2)
                || kind.is_classic() && !fits_classic(&truth, kind)
                || is_hdf5 && number > 3
            {
                continue;
            }
            let there = temp.join(format!("{number}.{ending}"));
            let back = temp.join(format!("{number}.back"));
            copy_as(&source, &there, kind, dialect, &session);
            let stored = open(&there, &session).unwrap();
            equals_truth_but_for_losses(&stored, &truth, kind, dialect);
            copy_as(&stored, &back, original_kind, None, &session);
            equals_truth_but_for_losses(&open(&back, &session).unwrap(), &truth, kind, dialect);
        }
    }
}

fn copy_as(
    source: &Dataset,
    target: &Path,
    kind: Kind,
    dialect: Option<Dialect>,
    session: &ncirrus::Session,
) {
    let create = CreateOptions::new().kind(kind).dialect(dialect);
    let options = CopyOptions::new().create(create);
    copy(source, target.to_str().unwrap(), &options, session)
        .unwrap_or_else(|error| panic!("{} -> {kind:?} {dialect:?}: {error:?}", source.url()));
}

/// Whether netCDF-3 of that kind has the truth's types.
fn fits_classic(truth: &Value, kind: Kind) -> bool {
    let classic = ["byte", "char", "short", "int", "float", "double"];
    let fits = |name: &str| classic.contains(&name) || (kind == Kind::Nc5 && name != "string");
    let variables = truth["variables"].as_object().unwrap().values();
    let attributes = |variable: &Value| {
        let types = variable["attribute_types"].as_object().cloned().unwrap_or_default();
        types.values().all(|name| name == "text" || fits(name.as_str().unwrap()))
    };
    let grouped = truth["dimensions"].as_object().unwrap().len() > 1;
    !grouped
        && variables
            .into_iter()
            .all(|variable| fits(variable["dtype"].as_str().unwrap()) && attributes(variable))
}

fn equals_truth(dataset: &Dataset, truth: &Value) {
    equals_truth_but_for_losses(dataset, truth, Kind::NcZarr, None);
}

/// Plain Zarr infers the types of attributes; the older dialects have no unlimited dimensions (`docs/formats/zarr-writing.md`).
fn equals_truth_but_for_losses(dataset: &Dataset, truth: &Value, kind: Kind, dialect: Option<Dialect>) {
    // zarr-python's truth has no types of attributes, and does not present the fill value as one.
    let from_zarr = truth["format"].as_str().is_some_and(|format| format.starts_with("zarr"));
    let plain_kind = kind == Kind::Zarr2 || dialect == Some(Dialect::Plain);
    let plain = plain_kind || from_zarr;
    let fixed = matches!(dialect, Some(Dialect::Lc | Dialect::Uc));
    let used: Vec<&str> = truth["variables"].as_object().unwrap().values().flat_map(dims_of).collect();
    for (path, dimensions) in truth["dimensions"].as_object().unwrap() {
        let (group, place) = (dataset.group(path).unwrap(), format!("{} {path}", dataset.url()));
        for (name, dimension) in dimensions.as_object().unwrap() {
            if plain_kind && !used.contains(&name.as_str()) {
                continue;
            }
            let ours = group.dimensions().into_iter().find(|ours| ours.name == *name);
            let ours = ours.unwrap_or_else(|| panic!("{place}: no dimension {name}"));
            assert_eq!(ours.len.current(), dimension["size"].as_u64().unwrap(), "{place} {name}");
            let unlimited = dimension["unlimited"].as_bool().unwrap();
            assert_eq!(ours.len.is_unlimited(), unlimited && !fixed, "{place} {name}");
        }
        same_attributes(&group.attributes().unwrap(), &truth["attributes"][path], None, plain, &place);
    }
    for (path, expected) in truth["variables"].as_object().unwrap() {
        let place = format!("{} {path}", dataset.url());
        let variable = dataset.variable(path).unwrap();
        assert_eq!(serde_json::json!(variable.shape()), expected["shape"], "{place}");
        let names: Vec<String> = variable.dimensions().into_iter().map(|dimension| dimension.name).collect();
        assert_eq!(serde_json::json!(names), expected["dims"], "{place}");
        let values = values(&variable).unwrap();
        assert_eq!(values.atomic().unwrap().name(), expected["dtype"], "{place}");
        let bytes = little_endian(&values);
        assert_eq!(bytes.len() as u64, expected["nbytes"].as_u64().unwrap(), "{place}");
        assert_eq!(sha256(&bytes), expected["sha256"].as_str().unwrap(), "{place}");
        let types = Some(&expected["attribute_types"]);
        same_attributes(&variable.attributes().unwrap(), &expected["attributes"], types, plain, &place);
    }
}

fn dims_of(variable: &Value) -> Vec<&str> {
    variable["dims"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect()
}

fn same_attributes(
    ours: &ncirrus::Attributes,
    truth: &Value,
    types: Option<&Value>,
    plain: bool,
    place: &str,
) {
    let truth = truth.as_object().unwrap();
    let hidden = |name: &str| plain && name == "_FillValue" && !truth.contains_key(name);
    let names: Vec<&str> =
        ours.iter().map(|attribute| attribute.name.as_str()).filter(|name| !hidden(name)).collect();
    let mut expected: Vec<&str> = truth.keys().map(String::as_str).collect();
    if names.len() == expected.len() && names != expected {
        // serde_json keeps the order of the file; if a format cannot keep the order, only membership is compared.
        expected.sort_unstable();
    }
    let mut sorted = names.clone();
    sorted.sort_unstable();
    assert!(names == expected || sorted == expected, "{place}: {names:?} where {expected:?} were expected");
    for attribute in ours.iter().filter(|attribute| !hidden(&attribute.name)) {
        let place = format!("{place}:{}", attribute.name);
        let expected = &truth[&attribute.name];
        let got = attribute_json(&attribute.values);
        // Without a recorded type, a float attribute comes back as the shortest number that represents it.
        let rounded = plain && same_json(&rounded(&got), &rounded(expected));
        assert!(rounded || same_json(&got, expected), "{place}: {got} where {expected} was expected");
        if let Some(types) = types.filter(|_| !plain) {
            let ty = match attribute.values.atomic().unwrap() {
                ncirrus::Atomic::Char | ncirrus::Atomic::String => "text",
                atomic => atomic.name(),
            };
            assert_eq!(types[&attribute.name], ty, "{place}");
        }
    }
}

/// The numbers as 32-bit floats.
#[expect(clippy::cast_possible_truncation, reason = "that is what it is for")]
fn rounded(value: &Value) -> Value {
    match value {
        Value::Array(list) => list.iter().map(rounded).collect(),
        Value::Number(number) => Value::from(f64::from(number.as_f64().unwrap() as f32)),
        other => other.clone(),
    }
}

/// Equal, however numbers are written.
fn same_json(a: &Value, b: &Value) -> bool {
    match (a, b) {
        (Value::Array(a), Value::Array(b)) => {
            a.len() == b.len() && a.iter().zip(b).all(|(a, b)| same_json(a, b))
        }
        (Value::Number(x), Value::Number(y)) => x == y || x.as_f64() == y.as_f64(),
        (Value::Array(a), scalar) if a.len() == 1 => same_json(&a[0], scalar),
        _ => a == b,
    }
}

fn attribute_json(values: &Values) -> Value {
    let number = |value: f64| match value {
        value if value.is_nan() => Value::from("NaN"),
        value if value.is_infinite() => Value::from(if value > 0.0 { "Infinity" } else { "-Infinity" }),
        value => Value::from(value),
    };
    let list: Vec<Value> = match values {
        Values::Char(bytes) => return Value::from(String::from_utf8_lossy(bytes).replace('\0', "")),
        Values::String(strings) => strings
            .iter()
            .map(|text| Value::from(String::from_utf8_lossy(text.unwrap_or_default())))
            .collect(),
        Values::Float(list) => list.iter().map(|value| number(f64::from(*value))).collect(),
        Values::Double(list) => list.iter().map(|value| number(*value)).collect(),
        Values::UInt64(list) => list.iter().map(|value| Value::from(*value)).collect(),
        other => (0..other.len())
            .map(|at| Value::from(i64::try_from(other.integer(at).unwrap()).unwrap()))
            .collect(),
    };
    Value::Array(list)
}

fn little_endian(values: &Values) -> Vec<u8> {
    const { assert!(cfg!(target_endian = "little"), "the test compares native bytes") };
    match values {
        Values::String(strings) => {
            let one = |text: Option<&[u8]>| {
                let text = text.unwrap_or_default();
                [&u32::try_from(text.len()).unwrap().to_le_bytes()[..], text].concat()
            };
            strings.iter().flat_map(one).collect()
        }
        fixed => fixed.as_bytes().unwrap().to_vec(),
    }
}

fn sha256(bytes: &[u8]) -> String {
    use sha2::Digest;
    sha2::Sha256::digest(bytes).iter().map(|byte| format!("{byte:02x}")).collect()
}
