//! A few values at a time, with and without blocks.
use super::copy_held_element;
use crate::{
    AxisSelection, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Selection, Session, Storage,
    Variable,
};
use ncirrus_model::CodecSpec;
use std::path::Path;

const ROWS: u64 = 60;
const COLUMNS: u64 = 90;

fn session(has_blocks: bool) -> Session {
    Session::builder().threads(1).durable(false).value_blocks(has_blocks).build().unwrap()
}

/// A variable of chunks, or of rows, and a second one whose values are the negative ones.
fn make(path: &Path, kind: Kind) {
    let dataset =
        Dataset::create_with(path.to_str().unwrap(), &CreateOptions::new().kind(kind), &session(true))
            .unwrap();
    for (name, sign) in [("v", 1), ("w", -1)] {
        let id = dataset
            .edit(|model| {
                let root = model.root();
                let dims = [("y", ROWS), ("x", COLUMNS)].map(|(name, len)| {
                    let known = model.visible_dimension(root, name);
                    known
                        .unwrap_or_else(|| model.add_dimension(root, name, DimensionLen::Fixed(len)).unwrap())
                });
                let id = model.add_variable(root, name, crate::Atomic::Int.into(), &dims)?;
                if kind != Kind::Nc3 {
                    let variable = model.variable_mut(id).unwrap();
                    variable.storage = Storage::Chunked(vec![7, 30]);
                    variable.filters = vec![CodecSpec::hdf5(1, &[1])];
                }
                Ok(id)
            })
            .unwrap();
        let values: Vec<i32> = (0..5400).map(|number| number * sign).collect();
        dataset.variable_by_id(id).write_all(&values).unwrap();
    }
    dataset.close().unwrap();
}

fn value(variable: &Variable, y: u64, x: u64) -> crate::Result<i32> {
    let mut out = [0];
    variable.read_into(&Selection::slab(&[y, x], &[1, 1]), &mut out)?;
    Ok(out[0])
}

fn expected(y: u64, x: u64) -> i32 {
    i32::try_from(y * COLUMNS + x).unwrap()
}

/// Numbers without an order that anything could follow.
fn any(seed: &mut u64, limit: u64) -> u64 {
    *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
    (*seed >> 33) % limit
}

#[test]
fn single_values_of_local_datasets_are_those_of_the_file_and_take_few_reads() {
    let folder = tempfile::tempdir().unwrap();
    for (name, kind) in [("a.nc", Kind::Nc3), ("a.nc4", Kind::Nc4), ("a.zarr", Kind::NcZarr)] {
        let path = folder.path().join(name);
        make(&path, kind);
        let costs = [false, true].map(|has_blocks| {
            let session = session(has_blocks);
            let dataset = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::new(), &session).unwrap();
            let [v, w] = ["v", "w"].map(|name| dataset.variable(name).unwrap());
            let before = session.statistics();
            for y in 0..ROWS {
                for x in 0..COLUMNS {
                    assert_eq!(value(&v, y, x).unwrap(), expected(y, x), "{name} {y} {x}");
                }
            }
            for x in 0..COLUMNS {
                let pair = [value(&v, 3, x).unwrap(), value(&w, 3, x).unwrap()];
                assert_eq!(pair, [expected(3, x), -expected(3, x)]);
            }
            let after = session.statistics();
            after.requests + after.chunks_cached - before.requests - before.chunks_cached
        });
        let [without, with] = costs;
        assert!(without >= ROWS * COLUMNS && with * 5 < without, "{name}: {costs:?}");
    }
}

#[test]
fn a_few_values_here_and_there_by_any_number_of_threads_are_those_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    for (name, kind) in [("a.nc", Kind::Nc3), ("a.nc4", Kind::Nc4), ("a.zarr", Kind::NcZarr)] {
        let path = folder.path().join(name);
        make(&path, kind);
        let dataset =
            Dataset::open_with(path.to_str().unwrap(), &OpenOptions::new(), &session(true)).unwrap();
        std::thread::scope(|scope| {
            for thread in 0..3u64 {
                let dataset = &dataset;
                scope.spawn(move || {
                    let (mut seed, v) = (thread, dataset.variable("v").unwrap());
                    for _ in 0..2000 {
                        let (y, x) = (any(&mut seed, ROWS), any(&mut seed, COLUMNS));
                        let count =
                            [any(&mut seed, ROWS - y).min(3) + 1, any(&mut seed, COLUMNS - x).min(9) + 1];
                        let count = [count[0].min(ROWS - y), count[1].min(COLUMNS - x)];
                        let stride = any(&mut seed, 2) + 1;
                        let axis = |start: u64, count: u64| AxisSelection::Slice {
                            start,
                            count: count.div_ceil(stride),
                            stride,
                        };
                        let selection = Selection::new(vec![axis(y, count[0]), axis(x, count[1])]);
                        let rows = (y..y + count[0]).step_by(usize::try_from(stride).unwrap());
                        let columns = || (x..x + count[1]).step_by(usize::try_from(stride).unwrap());
                        let wanted: Vec<i32> =
                            rows.flat_map(|y| columns().map(move |x| expected(y, x))).collect();
                        assert_eq!(v.read_selection::<i32>(&selection).unwrap(), wanted);
                    }
                });
            }
        });
    }
}

#[test]
fn a_file_that_was_changed_is_not_read_from_a_block() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.nc");
    make(&path, Kind::Nc3);
    let dataset = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::new(), &session(true)).unwrap();
    let v = dataset.variable("v").unwrap();
    for x in 0..20 {
        assert_eq!(value(&v, 1, x).unwrap(), expected(1, x));
    }
    let mut bytes = std::fs::read(&path).unwrap();
    bytes.extend([0; 4]);
    std::fs::write(&path, bytes).unwrap();
    assert_eq!(value(&v, 1, 20).unwrap_err().kind(), crate::ErrorKind::Changed);
}

#[test]
fn a_read_outside_or_into_other_memory_is_an_error_with_a_block_as_without() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("a.nc");
    make(&path, Kind::Nc3);
    let dataset = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::new(), &session(true)).unwrap();
    let v = dataset.variable("v").unwrap();
    for y in 0..ROWS {
        value(&v, y, 0).unwrap();
    }
    assert!(value(&v, 0, COLUMNS).is_err() && value(&v, ROWS, 0).is_err());
    let two = Selection::slab(&[0, 0], &[1, 2]);
    assert!(v.read_bytes_into(&two, &mut [0; 4]).is_err());
    assert!(v.read_bytes_into(&Selection::slab(&[0], &[1]), &mut [0; 4]).is_err());
    v.read_bytes_into(&two, &mut [0; 8]).unwrap();
}

#[test]
fn an_element_is_copied_out_of_a_block_and_nothing_else_is() {
    let folder = tempfile::tempdir().unwrap();
    for (name, kind) in [("a.nc", Kind::Nc3), ("a.nc4", Kind::Nc4), ("a.zarr", Kind::NcZarr)] {
        let path = folder.path().join(name);
        make(&path, kind);
        let dataset =
            Dataset::open_with(path.to_str().unwrap(), &OpenOptions::new(), &session(true)).unwrap();
        let [v, w] = ["v", "w"].map(|name| dataset.variable(name).unwrap().id());
        let held = |id, at: &[usize]| {
            let mut out = [0; 4];
            copy_held_element(&dataset, id, at, &mut out).then(|| i32::from_ne_bytes(out))
        };
        assert_eq!(held(v, &[1, 2]), None);
        for x in 0..20 {
            value(&dataset.variable_by_id(v), 1, x).unwrap();
        }
        assert_eq!(held(v, &[1, 2]), Some(expected(1, 2)), "{name}");
        let outside: [&[usize]; 6] = [&[60, 0], &[0, 90], &[usize::MAX, 1], &[1], &[1, 2, 0], &[]];
        assert!(outside.iter().all(|at| held(v, at).is_none()), "{name}");
        assert_eq!(held(w, &[1, 2]), None, "{name}");
        assert!(!copy_held_element(&dataset, v, &[1, 2], &mut [0; 8]));
        std::thread::scope(|scope| {
            assert_eq!(scope.spawn(|| held(v, &[1, 2])).join().unwrap(), None, "{name}");
        });
        if kind != Kind::NcZarr {
            let mut bytes = std::fs::read(&path).unwrap();
            bytes.extend([0; 4]);
            std::fs::write(&path, bytes).unwrap();
            assert_eq!(held(v, &[1, 2]), None, "{name}");
        }
    }
}
