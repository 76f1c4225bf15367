//! The corpus that the project makes itself (`peers/corpus.py`): datasets of every format, made by the programs that
//! users have, read here and compared with what those programs read.
use crate::support::{json, open, session, temp, values};
use ncirrus::{Dataset, Session, TypeRef, Values, Variable};
use ncirrus_testkit::corpus::peers_python;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

/// Each kind and the minimum number of its datasets.
const KINDS: [(&str, usize); 8] = [
    ("nc3", 10),
    ("nc5", 5),
    ("nc4", 16),
    ("hdf5", 18),
    ("zarr2", 14),
    ("zarr3", 13),
    ("nczarr", 8),
    ("cfa", 12),
];

#[test]
fn every_dataset_is_read_as_its_writer_reads_it() {
    let Some(python) = peers_python() else { return };
    let (_temp, folder) = temp();
    let root = folder.join("corpus");
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../peers/corpus.py");
    let made = Command::new(python).arg(script).arg(&root).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (session, mut counts, mut faults) = (session(), BTreeMap::new(), Vec::new());
    for case in json(&root.join("list.json")).as_array().unwrap() {
        let (kind, name) = (case["kind"].as_str().unwrap(), case["name"].as_str().unwrap());
        *counts.entry(kind.to_owned()).or_insert(0) += 1;
        let truth = json(&root.join("truth").join(kind).join(format!("{name}.json")));
        let found = differences(&root.join(kind).join(name), &truth, &session);
        faults.extend(found.into_iter().map(|fault| format!("{kind}/{name}: {fault}")));
    }
    assert!(faults.is_empty(), "{} differences:\n{}", faults.len(), faults.join("\n"));
    for (kind, min) in KINDS {
        assert!(counts.get(kind).is_some_and(|count| *count >= min), "{kind}: {counts:?}");
    }
}

/// How a dataset reads differently from its truth.
fn differences(path: &Path, truth: &Value, session: &Session) -> Vec<String> {
    let dataset = match open(path, session) {
        Ok(dataset) => dataset,
        Err(error) => return vec![error.to_string()],
    };
    let expected = truth["variables"].as_object().unwrap();
    let mut faults: Vec<String> =
        expected.iter().flat_map(|(path, expected)| of_variable(&dataset, path, expected)).collect();
    // Variables that describe an aggregation are the only additional ones.
    let found: Vec<String> = dataset.variables().iter().map(Variable::path).collect();
    faults.extend(
        found.iter().filter(|path| !expected.contains_key(*path)).map(|path| format!("{path} too many")),
    );
    faults
}

fn of_variable(dataset: &Dataset, path: &str, expected: &Value) -> Vec<String> {
    let read = dataset.variable(path).and_then(|variable| Ok((values(&variable)?, variable)));
    let (values, variable) = match read {
        Ok(read) => read,
        Err(error) => return vec![format!("{path}: {error}")],
    };
    let mut pairs = vec![
        ("type", json!(type_of(&variable)), &expected["type"]),
        ("shape", json!(variable.shape()), &expected["shape"]),
    ];
    pairs.push(match &values {
        Values::String(strings) => {
            let strings =
                strings.iter().map(|text| String::from_utf8_lossy(text.unwrap_or_default()).into_owned());
            ("strings", json!(strings.collect::<Vec<_>>()), &expected["strings"])
        }
        fixed => ("bytes", json!(fixed.as_bytes().map(little_endian_hex)), &expected["bytes"]),
    });
    if expected.get("dimensions").is_some() {
        let names: Vec<String> =
            variable.dimensions().iter().map(|dimension| dimension.name.to_string()).collect();
        pairs.push(("dimensions", json!(names), &expected["dimensions"]));
    }
    for (name, wanted) in expected["attributes"].as_object().into_iter().flatten() {
        pairs.push(("attribute", attribute(&variable, name), wanted));
    }
    let wrong = pairs.into_iter().filter(|(_, found, expected)| found != *expected);
    wrong.map(|(what, found, expected)| format!("{path}: {what} is {found}, expected {expected}")).collect()
}

fn type_of(variable: &Variable) -> Option<&'static str> {
    match variable.ty()? {
        TypeRef::Atomic(atomic) => Some(atomic.name()),
        TypeRef::User(_) => None,
    }
}

/// A text, or numbers as doubles.
fn attribute(variable: &Variable, name: &str) -> Value {
    let Some(attribute) = variable.attribute(name).unwrap() else { return Value::Null };
    if let Some(text) = attribute.as_text() {
        return json!(text);
    }
    let values = &attribute.values;
    json!((0..values.len()).map(|index| values.number(index)).collect::<Vec<_>>())
}

/// The machines that run the tests are little-endian, as is the truth.
fn little_endian_hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
