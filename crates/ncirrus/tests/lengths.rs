//! Unlimited dimensions and the variables along them, if some of these are removed or are shorter.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{open, session, temp};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Selection, Session, Values};
use ncirrus_testkit::corpus::{peers_python, program};
use std::path::{Path, PathBuf};
use std::process::Command;

const KINDS: [(&str, Kind); 7] = [
    ("a.nc", Kind::Nc3),
    ("b.nc", Kind::Nc6),
    ("c.nc", Kind::Nc5),
    ("d.nc", Kind::Nc4),
    ("e.nc", Kind::Nc4Classic),
    ("f.zarr", Kind::NcZarr),
    ("g.zarr", Kind::Zarr3),
];

/// netCDF's default fill value of `int`.
const FILL: i32 = -2_147_483_647;

fn create(path: &Path, kind: Kind, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(kind);
    Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap()
}

fn update(path: &Path, session: &Session) -> Dataset {
    Dataset::update_with(path.to_str().unwrap(), &OpenOptions::default(), session).unwrap()
}

fn remove(dataset: &Dataset, name: &str) {
    let id = dataset.variable(name).unwrap().id();
    dataset.edit(|model| Ok(model.remove_variable(id).map(drop)?)).unwrap();
}

fn len_of(dataset: &Dataset, name: &str) -> DimensionLen {
    let model = dataset.model().unwrap();
    model.dimension(model.dimension_at(name).unwrap()).unwrap().len
}

/// Each kind, with a longer and a shorter variable along one dimension.
fn with_two(session: &Session) -> (tempfile::TempDir, Vec<(Kind, PathBuf)>) {
    let (folder, temp) = temp();
    let made = KINDS.map(|(name, kind)| {
        let path = temp.join(name);
        let dataset = create(&path, kind, session);
        dataset.root().add_dimension("t", DimensionLen::Unlimited(0)).unwrap();
        for (name, values) in [("long", &[1, 2, 3][..]), ("short", &[7])] {
            let variable = dataset.root().add_variable(name, Atomic::Int, &["t"]).unwrap();
            variable.write(&Selection::slab(&[0], &[values.len() as u64]), values).unwrap();
        }
        dataset.close().unwrap();
        (kind, path)
    });
    (folder, made.to_vec())
}

#[test]
fn a_dimension_keeps_its_length_when_the_variables_along_it_go() {
    let session = session();
    let (_folder, made) = with_two(&session);
    for (kind, path) in made {
        for name in ["long", "short"] {
            let dataset = update(&path, &session);
            remove(&dataset, name);
            assert_eq!(len_of(&dataset, "/t"), DimensionLen::Unlimited(3), "{kind:?}");
            dataset.close().unwrap();
            let dataset = open(&path, &session).unwrap();
            assert_eq!(len_of(&dataset, "/t"), DimensionLen::Unlimited(3), "{kind:?} without {name}");
            let is_hdf5 = matches!(kind, Kind::Nc4 | Kind::Nc4Classic);
            // In HDF5, a dimension without variables has no length for netCDF-C.
            if path.is_file() && !(is_hdf5 && name == "short") {
                seen_by_ncdump(&path);
            }
        }
    }
}

fn seen_by_ncdump(path: &Path) {
    let Some(ncdump) = program("ncdump") else { return };
    let output = Command::new(ncdump).arg("-h").arg(path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(text.contains("t = UNLIMITED ; // (3 currently)"), "{text}");
}

/// A variable that remains alone along the dimension has contiguous records from then on.
#[test]
fn what_is_written_goes_on_when_another_variable_along_the_dimension_goes() {
    let session = session();
    let (_folder, made) = with_two(&session);
    for (kind, path) in made {
        let dataset = update(&path, &session);
        let long = dataset.variable("long").unwrap();
        long.write(&Selection::slab(&[3], &[2]), &[4, 5]).unwrap();
        remove(&dataset, "short");
        long.write(&Selection::slab(&[5], &[1]), &[6]).unwrap();
        long.write(&Selection::slab(&[1], &[1]), &[20]).unwrap();
        let expected = Values::Int(vec![1, 20, 3, 4, 5, 6]);
        let all = Selection::slab(&[0], &[6]);
        assert_eq!(long.values(&all).unwrap(), expected, "{kind:?}");
        dataset.sync().unwrap();
        assert_eq!(long.values(&all).unwrap(), expected, "{kind:?} after it is synced");
        long.write(&Selection::slab(&[8], &[1]), &[9]).unwrap();
        dataset.close().unwrap();
        let dataset = open(&path, &session).unwrap();
        let expected = Values::Int(vec![1, 20, 3, 4, 5, 6, FILL, FILL, 9]);
        let got = dataset.variable("long").unwrap().values(&Selection::slab(&[0], &[9])).unwrap();
        assert_eq!(got, expected, "{kind:?}");
    }
}

/// netCDF-C mixes up values if a dataset ends before its dimension, and that is not the first one.
#[test]
fn others_read_variables_that_were_shorter_along_another_axis_than_their_first() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let path = temp.join("inner.nc");
    let dataset = create(&path, Kind::Nc4, &session);
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(2)).unwrap();
    root.add_dimension("t", DimensionLen::Unlimited(0)).unwrap();
    for name in ["a", "b"] {
        let variable = root.add_variable(name, Atomic::Int, &["x", "t"]).unwrap();
        variable.write(&Selection::slab(&[0, 0], &[2, 2]), &[1, 2, 3, 4]).unwrap();
    }
    dataset.close().unwrap();
    let dataset = update(&path, &session);
    let longer = dataset.variable("a").unwrap();
    longer.write(&Selection::slab(&[0, 2], &[2, 1]), &[5, 6]).unwrap();
    dataset.close().unwrap();
    let script = "import netCDF4, sys; dataset = netCDF4.Dataset(sys.argv[1]); \
        [print(dataset[name][...].filled(0).tolist()) for name in ('a', 'b')]";
    let output = Command::new(python).args(["-c", script]).arg(&path).output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(text, "[[1, 2, 5], [3, 4, 6]]\n[[1, 2, 0], [3, 4, 0]]\n", "{output:?}");
}

#[test]
fn a_dimension_that_hdf5_has_no_room_for_is_refused_and_the_longest_one_is_read_again() {
    let (session, (_folder, temp)) = (session(), temp());
    let longest = u64::MAX / 4;
    for (len, is_taken) in [(longest, true), (longest + 1, false), (u64::MAX - 3, false)] {
        let path = temp.join(format!("{len}.nc"));
        let dataset = create(&path, Kind::Nc4, &session);
        dataset.root().add_dimension("x", DimensionLen::Fixed(len)).unwrap();
        match dataset.close() {
            Ok(()) => {
                let made = open(&path, &session).unwrap();
                assert!(is_taken && len_of(&made, "x") == DimensionLen::Fixed(len), "{len}");
                let read = program("ncdump").map(|ncdump| Command::new(ncdump).arg(&path).output().unwrap());
                assert!(read.is_none_or(|output| output.status.success()), "{len}");
            }
            Err(error) => assert!(!is_taken && error.to_string().contains('x') && !path.exists(), "{error}"),
        }
    }
}
