//! Fragments of one value each.
use crate::support::{session, temp, values};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, OpenOptions, Session, Values,
};
use std::path::{Path, PathBuf};

/// A master of CF-1.13 with `v(x)` of shorts, two elements for each value.
fn master(folder: &Path, numbers: &[f64], session: &Session) -> PathBuf {
    let path = folder.join("m.nca");
    let options = CreateOptions::new().kind(Kind::Nc3);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    let root = dataset.root();
    let count = numbers.len() as u64;
    for (name, len) in [("x", 2 * count), ("f_x", count), ("j", 1)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let v = root.add_variable("v", Atomic::Short, &[]).unwrap();
    for (name, text) in [
        ("aggregated_dimensions", "x"),
        ("aggregated_data", "map: fragment_map unique_values: fragment_values"),
    ] {
        v.set_attribute(Attribute::text(name, text)).unwrap();
    }
    let map = root.add_variable("fragment_map", Atomic::Int, &["j", "f_x"]).unwrap();
    map.write_all(&vec![2; numbers.len()]).unwrap();
    root.add_variable("fragment_values", Atomic::Double, &["f_x"]).unwrap().write_all(numbers).unwrap();
    dataset.close().unwrap();
    path
}

fn v(path: &Path, lenient: bool, session: &Session) -> ncirrus::Result<Values> {
    let options = OpenOptions::new().lenient(lenient);
    values(&Dataset::open_with(path.to_str().unwrap(), &options, session)?.variable("v")?)
}

#[test]
fn a_value_becomes_the_nearest_number_of_the_type() {
    let (_folder, root) = temp();
    let path = master(&root, &[2.7, -2.7, 9.969_209_968_386_869e36], &session());
    let due = Values::Short(vec![3, 3, -3, -3, -32767, -32767]);
    assert_eq!(v(&path, false, &session()).unwrap(), due);
}

#[test]
fn a_value_beyond_the_type_is_an_error_or_missing() {
    let (_folder, root) = temp();
    let path = master(&root, &[2.0, 40_000.0], &session());
    let error = v(&path, false, &session()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert!(
        error.to_string().contains("the value 40000 from element [2] on cannot be represented in type short")
    );
    assert_eq!(v(&path, true, &session()).unwrap(), Values::Short(vec![2, 2, -32767, -32767]));
}
