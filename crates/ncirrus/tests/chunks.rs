//! Locations of chunks, as reported to tools that keep their own references.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use crate::support::{open, session, temp};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, Kind, Location, Selection, Session, Storage, Variable,
};

fn grid(path: &std::path::Path, kind: Kind, session: &Session) -> Variable {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    let root = dataset.root();
    for (name, len) in [("y", 5), ("x", 4)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let variable = root.add_variable("v", Atomic::Int, &["y", "x"]).unwrap();
    if !kind.is_classic() {
        variable.set_storage(Storage::Chunked(vec![3, 2]), Vec::new()).unwrap();
    }
    variable.write_all(&(0..20).collect::<Vec<i32>>()).unwrap();
    dataset.close().unwrap();
    open(path, session).unwrap().variable("v").unwrap()
}

#[test]
fn a_chunked_variable_tells_where_the_chunks_of_a_selection_lie() {
    let ((_folder, temp), session) = (temp(), session());
    let variable = grid(&temp.join("a.zarr"), Kind::Zarr2, &session);
    let chunks = |selection: &Selection| -> Vec<(Vec<u64>, String)> {
        let listed = variable.chunks(selection).unwrap().into_iter();
        listed
            .map(|chunk| match chunk.stored.location {
                Location::Object(object) => (chunk.start, object.name().to_owned()),
                other => unreachable!("{other:?}"),
            })
            .collect()
    };
    let all = [([0, 0], "0.0"), ([0, 2], "0.1"), ([3, 0], "1.0"), ([3, 2], "1.1")];
    let all: Vec<_> = all.into_iter().map(|(start, key)| (start.to_vec(), key.to_owned())).collect();
    assert_eq!(chunks(&Selection::all(&[5, 4])), all);
    assert_eq!(chunks(&Selection::slab(&[4, 0], &[1, 3])), all[2..]);
    assert!(variable.chunks(&Selection::slab(&[4, 0], &[2, 3])).is_err());
}

#[test]
fn a_variable_that_is_not_chunked_has_no_chunks() {
    let ((_folder, temp), session) = (temp(), session());
    let variable = grid(&temp.join("a.nc"), Kind::Nc3, &session);
    assert_eq!(variable.chunks(&Selection::all(&[5, 4])).unwrap(), []);
}
