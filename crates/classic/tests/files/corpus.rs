//! Real files, compared with the netCDF C library.
use crate::support::file::Writing3;
use crate::support::{Opened, open};
use ncirrus_classic::ClassicWriter;
use ncirrus_model::{Attributes, DatasetKind, Model, TypeRef, Values};
use ncirrus_testkit::corpus::{corpus, program};
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

#[test]
fn real_files_have_the_dimensions_variables_attributes_and_values_of_their_truth() {
    let Some(folder) = corpus("realdata") else { return };
    let mut checked = 0;
    for (path, bytes) in classic_files(&folder.join("files")) {
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        let truth = fs::read(folder.join("truth").join(format!("{name}.json"))).expect("a truth file");
        let truth: Value = serde_json::from_slice(&truth).expect("a JSON document");
        let opened = open(&bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
        assert_eq!(opened.catalog.warnings(), Vec::<String>::new(), "{name}");
        check_header(name, &opened.model, &truth);
        for var in opened.model.variables() {
            let truth = &truth["variables"][opened.model.variable_path(var)];
            let mut bytes = opened.stored_bytes(var).expect("all elements are in the file");
            let size = opened.source(var).expect("a source").stored.byte_len().expect("a fixed size");
            bytes.chunks_mut(usize::try_from(size).expect("small")).for_each(<[u8]>::reverse);
            let hash: String = Sha256::digest(&bytes).iter().map(|byte| format!("{byte:02x}")).collect();
            assert_eq!(json!(hash), truth["sha256"], "{name} {}", opened.model.variable_path(var));
        }
        checked += 1;
    }
    assert!(checked >= 8, "only {checked} real files were checked");
}

fn check_header(name: &str, model: &Model, truth: &Value) {
    let root = model.group(model.root()).expect("a root");
    let mut dims = Map::new();
    for id in &root.dims {
        let dim = model.dimension(*id).expect("a dimension");
        let len = json!({ "size": dim.len.current(), "unlimited": dim.len.is_unlimited() });
        dims.insert(dim.name.clone(), len);
    }
    assert_eq!(Value::Object(dims), truth["dimensions"]["/"], "{name}: dimensions");
    let (values, _) = attributes(root.attributes.known().expect("attributes"));
    assert_eq!(values, truth["attributes"]["/"], "{name}: global attributes");
    let all = truth["variables"].as_object().expect("variables");
    let names: Vec<String> = model.variables().into_iter().map(|id| model.variable_path(id)).collect();
    assert_eq!(names, all.keys().cloned().collect::<Vec<_>>(), "{name}: variables");
    for id in model.variables() {
        let (path, variable) = (model.variable_path(id), model.variable(id).expect("a variable"));
        let truth = &all[&path];
        let TypeRef::Atomic(atomic) = variable.ty else { panic!("{path}: a user type") };
        assert_eq!(json!(atomic.name()), truth["dtype"], "{name} {path}: type");
        assert_eq!(json!(model.shape(id)), truth["shape"], "{name} {path}: shape");
        let dims: Vec<_> =
            variable.dims.iter().map(|dim| &model.dimension(*dim).expect("a dimension").name).collect();
        assert_eq!(json!(dims), truth["dims"], "{name} {path}: dimensions");
        let (values, types) = attributes(variable.attributes.known().expect("attributes"));
        assert_eq!(values, truth["attributes"], "{name} {path}: attributes");
        assert_eq!(types, truth["attribute_types"], "{name} {path}: types of attributes");
    }
}

/// Attributes and their types as the truth files write them.
fn attributes(attributes: &Attributes) -> (Value, Value) {
    let (mut values, mut types) = (Map::new(), Map::new());
    for attribute in attributes.iter() {
        values.insert(attribute.name.clone(), value(&attribute.values));
        let ty = match attribute.values.atomic() {
            Some(ncirrus_model::Atomic::Char) => "text",
            other => other.map_or("?", ncirrus_model::Atomic::name),
        };
        types.insert(attribute.name.clone(), json!(ty));
    }
    (Value::Object(values), Value::Object(types))
}

fn value(values: &Values) -> Value {
    if let Values::Char(bytes) = values {
        return json!(String::from_utf8_lossy(bytes).replace('\0', ""));
    }
    let number = |index| match values.integer(index) {
        Some(integer) => json!(i64::try_from(integer).expect("it fits")),
        None => match values.number(index).expect("a number") {
            number if number.is_nan() => json!("NaN"),
            number => json!(number),
        },
    };
    match values.len() {
        1 => number(0),
        len => (0..len).map(number).collect(),
    }
}

/// All netCDF-3 files below a folder.
fn classic_files(folder: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let entries =
        fs::read_dir(folder).expect("a readable folder").map(|entry| entry.expect("an entry").path());
    let mut files = BTreeMap::new();
    for path in entries {
        if path.is_dir() {
            files.extend(classic_files(&path));
        } else if let Some(bytes) = fs::read(&path).ok().filter(|bytes| bytes.starts_with(b"CDF")) {
            files.insert(path, bytes);
        }
    }
    files
}

#[test]
fn copies_of_foreign_files_dump_as_their_originals_do() {
    let (Some(ncdump), Some(folder)) = (program("ncdump"), corpus("hdf5")) else { return };
    let temporary = tempfile::tempdir().expect("a folder");
    let mut copied = 0;
    for (path, bytes) in classic_files(&folder) {
        let dump = |path: &Path| {
            let output = Command::new(&ncdump).args(["-n", "x"]).arg(path).output().expect("ncdump runs");
            output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
        };
        let opened = open(&bytes);
        let Some(expected) = dump(&path) else {
            let refused = opened.as_ref().map_or(true, |opened| {
                opened
                    .model
                    .variables()
                    .iter()
                    .any(|var| opened.model.variable(*var).is_some_and(|v| v.fault.is_some()))
            });
            assert!(refused, "{}: the C library refuses it", path.display());
            continue;
        };
        let opened = opened.unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let copy = temporary.path().join("copy.nc");
        fs::write(&copy, copy_of(&opened)).expect("a file");
        assert_eq!(dump(&copy).as_ref(), Some(&expected), "{}", path.display());
        copied += 1;
    }
    assert!(copied >= 25, "only {copied} files were copied");
}

/// A file with the same contents, rewritten.
fn copy_of(opened: &Opened) -> Vec<u8> {
    let version = ncirrus_classic::FormatVersion::ALL
        .into_iter()
        .find(|version| DatasetKind::classic(version.format()) == opened.catalog.kind());
    let mut file = Writing3::create(&ClassicWriter::new(version.expect("a known kind")));
    file.define(|model| *model = opened.model.as_ref().clone()).expect("it fits");
    for var in opened.model.variables() {
        let shape = opened.model.shape(var);
        let stored = opened.stored_bytes(var).expect("all elements");
        let size = opened.source(var).expect("a source").stored.byte_len().expect("a fixed size");
        let size = usize::try_from(size).expect("small");
        file.write(var, &mut |index| {
            let flat = index.iter().zip(&shape).fold(0, |flat, (index, len)| flat * len + index);
            let at = usize::try_from(flat).expect("small") * size;
            stored[at..at + size].to_vec()
        });
    }
    file.commit();
    file.bytes
}
