//! References to regions as h5py makes them and reads them back.
use super::{described, objects, stored_bytes};
use crate::datatypes::values;
use crate::object::header;
use crate::testing::{done, root, view};
use ncirrus_model::Values;
use ncirrus_testkit::corpus::{corpus, peers_python};
use std::collections::HashMap;
use std::process::Command;

const SCRIPT: &str = include_str!("regions.py");

/// The strings in a dataset of a file.
fn read(bytes: Vec<u8>, path: &str) -> Vec<Option<String>> {
    let view = view(bytes);
    let objects = objects(&view, &root(&view).unwrap());
    let paths: HashMap<_, _> = objects.iter().map(|(path, object)| (object.addr, path.clone())).collect();
    let (_, object) = objects.iter().find(|(found, _)| found == path).unwrap();
    let header = done(header(&view, object)).unwrap();
    let (datatype, dims) = done(described(&view, object, &header)).unwrap();
    let raw = done(stored_bytes(&view, object, &header, dims[0] * datatype.byte_len)).unwrap().unwrap();
    let count = usize::try_from(dims[0]).unwrap();
    let found = done(values(&view, &object.file, &datatype, &raw, count, &paths)).unwrap();
    let Values::String(strings) = found else { panic!("{found:?}") };
    strings.iter().map(|text| text.map(|text| String::from_utf8(text.to_vec()).unwrap())).collect()
}

#[test]
fn regions_are_those_that_h5py_selected() {
    let Some(python) = peers_python() else { return };
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(python).args(["-c", SCRIPT]).arg(home.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said: HashMap<String, Vec<Option<String>>> = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(said.len(), 2);
    for (name, wanted) in said {
        let bytes = std::fs::read(home.path().join(&name)).unwrap();
        assert_eq!(read(bytes, "/refs"), wanted, "{name}");
    }
}

#[test]
fn regions_of_the_corpus_are_those_that_the_tools_of_hdf5_print() {
    let Some(folder) = corpus("hdf5") else { return };
    let read = |name: &str, path: &str| read(std::fs::read(folder.join(name)).unwrap(), path);
    let strings = |list: &[Option<&str>]| list.iter().map(|text| text.map(str::to_owned)).collect::<Vec<_>>();
    let wanted = strings(&[Some("/a {(1,2)-(2,3)}"), Some("/a {(0,0)-(0,4)}")]);
    assert_eq!(read("gen/references.h5", "/rr"), wanted);
    let wanted = strings(&[Some("/dataset1 {(0)-(0),(2)-(2)}"), None]);
    assert_eq!(read("ext/pyfive/references.hdf5", "/regionref_dataset"), wanted);
}
