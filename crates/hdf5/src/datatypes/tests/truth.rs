//! Comparison with what another reader found.
use super::truth_text::{canon, has_vlen, hash, little, texts, type_text};
use super::{attribute_values, described, objects, stored_bytes};
use crate::datatypes::{
    Datatype, DatatypeClass, NativeType, RawAttribute, StringPadding, attributes, native, values,
};
use crate::object::{ObjectRef, header};
use crate::testing::{done, files, root, view};
use ncirrus_layout::View;
use ncirrus_model::Values;
use ncirrus_testkit::corpus::corpus;
use serde_json::Value as Json;
use std::collections::HashMap;

/// The differences, and how much was compared.
#[derive(Default)]
struct TruthReport {
    differences: Vec<String>,
    counts: HashMap<&'static str, usize>,
}

impl TruthReport {
    fn compare(&mut self, what: &'static str, place: &str, found: impl Into<Json>, wanted: Option<&Json>) {
        let Some(wanted) = wanted else { return };
        let found = found.into();
        *self.counts.entry(what).or_default() += 1;
        if found != *wanted {
            self.differences.push(format!("{place}: {what} {found} instead of {wanted}"));
        }
    }

    fn fail(&mut self, place: &str, error: impl std::fmt::Debug) {
        self.differences.push(format!("{place}: {error:?}"));
    }
}

#[test]
fn types_shapes_and_attributes_are_those_that_another_reader_finds() {
    let Some(folder) = corpus("hdf5") else { return };
    let mut report = TruthReport::default();
    for (name, bytes) in files(&folder) {
        let truth = folder.join("truth").join(format!("{}.json", name.replace('/', "__")));
        let Ok(truth) = std::fs::read_to_string(truth) else { continue };
        let truth: Json = truth.parse().unwrap();
        if truth["open"] != true {
            continue;
        }
        let view = view(bytes);
        match root(&view) {
            Ok(root) => compare_file(&mut report, &view, &name, &root, &truth["objs"]),
            Err(error) => report.fail(&name, error),
        }
    }
    println!("{:?}", report.counts);
    let TruthReport { differences, counts } = report;
    assert!(differences.is_empty(), "{} differences:\n{}", differences.len(), differences.join("\n"));
    for (what, min) in
        [("type", 9000), ("shape", 9000), ("raw", 3000), ("le", 2500), ("strs", 600), ("canon", 390)]
    {
        assert!(counts.get(what).is_some_and(|count| *count >= min), "too few: {what} in {counts:?}");
    }
}

fn compare_file(report: &mut TruthReport, view: &dyn View, name: &str, root: &ObjectRef, truth: &Json) {
    let found: HashMap<String, ObjectRef> = objects(view, root).into_iter().collect();
    for (path, wanted) in truth.as_object().unwrap() {
        let place = format!("{name} {path}");
        let kind = wanted["kind"].as_str().unwrap();
        if matches!(kind, "cycle" | "err") {
            continue;
        }
        let Some(object) = found.get(path) else {
            report.fail(&place, "no such object");
            continue;
        };
        if kind != "group" {
            compare_object(report, view, &place, object, wanted);
        }
        compare_attributes(report, view, &place, object, &wanted["attrs"]);
    }
}

fn compare_object(report: &mut TruthReport, view: &dyn View, place: &str, object: &ObjectRef, wanted: &Json) {
    let header = done(header(view, object)).unwrap();
    let (datatype, dims) = match done(described(view, object, &header)) {
        Ok(described) => described,
        Err(error) => return report.fail(place, error),
    };
    report.compare("type", place, type_text(&datatype), wanted.get("t"));
    report.compare("shape", place, dims.clone(), wanted.get("shape"));
    let count = dims.iter().product::<u64>();
    let len = count * datatype.byte_len;
    if wanted["external"] == true || len > 1 << 20 {
        return;
    }
    let raw = match done(stored_bytes(view, object, &header, len)) {
        Ok(Some(raw)) => raw,
        Ok(None) => return,
        Err(error) => return report.fail(place, error),
    };
    let count = usize::try_from(count).unwrap();
    let decoded = done(values(view, &object.file, &datatype, &raw, count, &HashMap::new()));
    compare_values(report, place, &datatype, decoded, count, wanted);
}

fn compare_attributes(
    report: &mut TruthReport,
    view: &dyn View,
    place: &str,
    object: &ObjectRef,
    wanted: &Json,
) {
    let list = match done(attributes(view, object)) {
        Ok(list) => list,
        Err(error) => return report.fail(place, error),
    };
    let wanted = wanted.as_object().unwrap();
    report.compare("number of attributes", place, list.len(), Some(&wanted.len().into()));
    for found in list.iter() {
        match found {
            Ok(raw) => match wanted.get(&raw.name) {
                Some(wanted) => {
                    compare_attribute(report, view, &format!("{place} {}", raw.name), object, raw, wanted);
                }
                None => report.fail(place, format!("an attribute {}", raw.name)),
            },
            Err(error) => report.fail(place, error),
        }
    }
}

fn compare_attribute(
    report: &mut TruthReport,
    view: &dyn View,
    place: &str,
    object: &ObjectRef,
    raw: &RawAttribute,
    wanted: &Json,
) {
    report.compare("type", place, type_text(&raw.datatype), wanted.get("t"));
    report.compare("shape", place, raw.space.dims().to_vec(), wanted.get("shape"));
    report.compare("raw", place, hash(&raw.data), wanted.get("raw"));
    let count = usize::try_from(raw.space.count()).unwrap();
    compare_values(
        report,
        place,
        &raw.datatype,
        done(attribute_values(view, &object.file, raw)),
        count,
        wanted,
    );
}

fn compare_values(
    report: &mut TruthReport,
    place: &str,
    datatype: &Datatype,
    decoded: ncirrus_layout::Result<Values>,
    count: usize,
    wanted: &Json,
) {
    let values = match (decoded, native(datatype)) {
        (Ok(values), _) => values,
        (Err(_), NativeType::None(_)) => return,
        (Err(error), _) => return report.fail(place, error),
    };
    if let DatatypeClass::Text(padding) = datatype.class {
        let padding = if padding == StringPadding::SpacePadded { b' ' } else { 0 };
        report.compare("strs", place, hash(&texts(&values, padding)), wanted.get("strs"));
    }
    if let Some(little) = little(datatype, &values) {
        report.compare("le", place, hash(&little), wanted.get("le"));
    }
    // The expected values treat the elements of an array of sequences as sequences.
    let is_array = matches!(datatype.class, DatatypeClass::Array { .. });
    if has_vlen(datatype) && !is_array && wanted.get("canon").is_some() {
        let mut out = Vec::new();
        (0..count).for_each(|index| canon(datatype, &values, index, &mut out));
        report.compare("canon", place, hash(&out), wanted.get("canon"));
    }
}
