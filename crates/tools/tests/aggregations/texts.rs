//! Texts stored as characters where strings are expected, and vice versa; shapes that differ from the declared ones.
use super::made::{Partition, create, fragment, master_04, texts};
use crate::support::{open, session, temp};
use ncirrus::{
    Atomic, AxisSelection, Dataset, DimensionLen, ErrorKind, Kind, OpenOptions, Selection, Session, Values,
};
use std::path::Path;

/// A file of `v` of characters, row by row.
fn characters(path: &Path, rows: &[&str], len: u64, session: &Session) {
    let dataset = create(path, Kind::Nc3, session);
    let root = dataset.root();
    for (name, len) in [("row", rows.len() as u64), ("len", len)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let v = root.add_variable("v", Atomic::Char, &["row", "len"]).unwrap();
    let shape = [rows.len() as u64, len];
    let bytes = rows
        .iter()
        .flat_map(|row| row.bytes().chain(std::iter::repeat(0)).take(usize::try_from(len).unwrap()));
    v.write_values(&Selection::all(&shape), &Values::Char(bytes.collect())).unwrap();
    dataset.close().unwrap();
}

/// A file of `v` of strings.
fn strings(path: &Path, rows: &[&str], session: &Session) {
    let dataset = create(path, Kind::Nc4, session);
    dataset.root().add_dimension("row", DimensionLen::Fixed(rows.len() as u64)).unwrap();
    let v = dataset.root().add_variable("v", Atomic::String, &["row"]).unwrap();
    v.write_values(&Selection::all(&v.shape()), &text(rows)).unwrap();
    dataset.close().unwrap();
}

fn text(rows: &[&str]) -> Values {
    texts(rows.iter().map(|row| (*row).to_owned()))
}

#[test]
fn strings_may_be_stored_as_characters_of_any_length() {
    let ((_folder, root), session) = (temp(), session());
    characters(&root.join("a.nc"), &["one", "", "three  "], 7, &session);
    characters(&root.join("b.nc"), &["vier", "fünf"], 5, &session);
    strings(&root.join("c.nc"), &["six"], &session);
    let master = root.join("m.nca");
    // The length of the texts may be part of the shape.
    let partitions: [Partition<'_>; 3] =
        [(&[[0, 2]], &[3, 7], "a.nc"), (&[[3, 4]], &[2], "b.nc"), (&[[5, 5]], &[1], "c.nc")];
    master_04(&master, (Atomic::String, &[("row", 6)]), &partitions, &session);
    let v = open(&master, &session).unwrap().variable("v").unwrap();
    assert_eq!(v.values(&Selection::all(&[6])).unwrap(), text(&["one", "", "three", "vier", "fünf", "six"]));
    let some = Selection::new(vec![AxisSelection::Indices(vec![4, 2, 2, 5])]);
    assert_eq!(v.values(&some).unwrap(), text(&["fünf", "three", "three", "six"]));
    let checked = v.check_fragments(&Selection::all(&[6])).unwrap();
    assert!(checked.iter().all(|one| one.fault.is_none()), "{checked:?}");
    assert!(open(&master, &session).unwrap().plan(&v, &Selection::all(&[6])).is_ok());
}

#[test]
fn characters_may_be_stored_as_strings_that_fit() {
    let ((_folder, root), session) = (temp(), session());
    strings(&root.join("a.nc"), &["one", "", "five5"], &session);
    characters(&root.join("b.nc"), &["two"], 5, &session);
    let master = root.join("m.nca");
    let partitions: [Partition<'_>; 2] =
        [(&[[0, 2], [0, 4]], &[3], "a.nc"), (&[[3, 3], [0, 4]], &[1, 5], "b.nc")];
    let variable = (Atomic::Char, &[("row", 4), ("len", 5)][..]);
    master_04(&master, variable, &partitions, &session);
    let v = open(&master, &session).unwrap().variable("v").unwrap();
    let all = Values::Char(b"one\0\0\0\0\0\0\0five5two\0\0".to_vec());
    assert_eq!(v.values(&Selection::all(&[4, 5])).unwrap(), all);
    let some = AxisSelection::Indices(vec![4, 0, 1]);
    let rows = AxisSelection::Slice { start: 0, count: 2, stride: 2 };
    assert_eq!(v.values(&Selection::new(vec![rows, some])).unwrap(), Values::Char(b"\0on5fi".to_vec()));
    strings(&root.join("a.nc"), &["one", "toolong", "five"], &session);
    let read = |lenient| {
        let options = OpenOptions::new().lenient(lenient);
        let dataset = Dataset::open_with(master.to_str().unwrap(), &options, &session).unwrap();
        dataset.variable("v").unwrap().values(&Selection::all(&[4, 5]))
    };
    let error = read(false).unwrap_err().to_string();
    assert!(error.contains("\"toolong\"") && error.contains("5 characters"), "{error}");
    assert_eq!(read(true).unwrap(), Values::Char(b"one\0\0\0\0\0\0\0five\0two\0\0".to_vec()));
}

#[test]
fn a_fragment_of_another_shape_than_declared_is_named_with_both() {
    let ((_folder, root), session) = (temp(), session());
    fragment(&root.join("a.nc"), &[1.0, 2.0, 3.0], &session);
    let master = root.join("m.nca");
    let read = |shape: &[u64]| {
        let partitions: [Partition<'_>; 1] = [(&[[0, 2]], shape, "a.nc")];
        master_04(&master, (Atomic::Double, &[("time", 3)]), &partitions, &session);
        open(&master, &session).unwrap().variable("v").unwrap().values(&Selection::slab(&[0], &[1]))
    };
    for fits in [&[3][..], &[1, 3], &[3, 1]] {
        _ = read(fits).unwrap_or_else(|error| panic!("{fits:?}: {error}"));
    }
    let error = read(&[4]).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Malformed);
    for part in ["fragment [0]", "a.nc", "[3]", "[4]"] {
        assert!(error.to_string().contains(part), "{part} in {error}");
    }
}
