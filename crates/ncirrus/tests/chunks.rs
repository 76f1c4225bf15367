//! Locations of chunks, as reported to tools that keep their own references.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]

use crate::support::{open, session, temp};
use ncirrus::{
    Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, Kind, Location, Selection, Session, Storage,
    Variable,
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
fn a_chunked_variable_reports_where_the_chunks_of_a_selection_lie() {
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

/// How often decoded chunks were found in a cache: an element of each of four chunks of 4,000 bytes was read five times.
fn cached(kind: Kind, bytes: Option<usize>) -> u64 {
    let ((_folder, temp), session) = (temp(), session());
    let path = temp.join("a");
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(4000)).unwrap();
    let variable = dataset.root().add_variable("v", Atomic::Int, &["x"]).unwrap();
    variable.set_storage(Storage::Chunked(vec![1000]), vec![CodecSpec::hdf5(1, &[1])]).unwrap();
    variable.write_all(&(0..4000).collect::<Vec<i32>>()).unwrap();
    assert!(variable.set_chunk_cache(1).is_err(), "it is open for writing");
    dataset.close().unwrap();
    let variable = open(&path, &session).unwrap().variable("v").unwrap();
    if let Some(bytes) = bytes {
        variable.set_chunk_cache(bytes).unwrap();
    }
    let before = session.statistics().chunks_cached;
    for at in (0..5).flat_map(|round| [round, 1000 + round, 2000 + round, 3000 + round]) {
        let values = variable.values(&Selection::slab(&[at], &[1])).unwrap();
        assert_eq!(values, ncirrus::Values::Int(vec![i32::try_from(at).unwrap()]));
    }
    session.statistics().chunks_cached - before
}

#[test]
fn a_variable_holds_as_many_bytes_of_decoded_chunks_as_it_is_given() {
    for kind in [Kind::Nc4, Kind::Zarr2] {
        // A chunk is kept when it is asked for again.
        assert_eq!(cached(kind, None), 12, "{kind:?}");
        assert_eq!(cached(kind, Some(16_000)), 12, "{kind:?}");
        assert!((1..12).contains(&cached(kind, Some(12_000))), "{kind:?}: three of four");
        assert_eq!(cached(kind, Some(3_999)), 0, "{kind:?}");
        assert_eq!(cached(kind, Some(0)), 0, "{kind:?}");
    }
}
