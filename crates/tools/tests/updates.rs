//! Datasets opened for update: everything can be added, overwritten, renamed and removed, and nothing else changes.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{exact_cdl, session, temp};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, ErrorKind, Kind, OpenOptions,
    Selection, Session, Values,
};
use ncirrus_testkit::corpus::peers_python;
use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Name, kind, dialect and whether groups can be added.
const KINDS: [(&str, Kind, Option<Dialect>); 11] = [
    ("a.nc", Kind::Nc3, None),
    ("b.nc5", Kind::Nc5, None),
    ("c.zarr", Kind::NcZarr, None),
    ("d.zip", Kind::NcZarr, None),
    ("e.zarr", Kind::NcZarr, Some(Dialect::Lc)),
    ("f.zarr", Kind::Zarr2, None),
    ("g.zarr", Kind::Zarr3, None),
    ("h.zarr", Kind::Zarr3, Some(Dialect::Plain)),
    ("i.zip", Kind::Zarr3, None),
    ("j.nc", Kind::Nc4, None),
    ("k.nc", Kind::Nc4Classic, None),
];

/// Creates every kind, with and without consolidated metadata, and passes it to a test.
fn each(test: impl Fn(&str, Kind, bool, &Session)) {
    let session = session();
    for consolidated in [true, false] {
        for (name, kind, dialect) in KINDS {
            let (_folder, temp) = temp();
            let url = temp.join(name).to_str().unwrap().to_owned();
            let grows = kind.is_classic()
                || matches!(
                    (kind, dialect),
                    (Kind::NcZarr | Kind::Zarr3 | Kind::Nc4 | Kind::Nc4Classic, None)
                );
            let options = CreateOptions::new().kind(kind).dialect(dialect).consolidated(consolidated);
            create(&url, &options, grows, &session);
            test(&url, kind, grows, &session);
        }
    }
}

fn create(url: &str, options: &CreateOptions, grows: bool, session: &Session) {
    let dataset = Dataset::create_with(url, options, session).unwrap();
    let root = dataset.root();
    let len = if grows { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(3) };
    root.add_dimension("time", len).unwrap();
    root.add_dimension("x", DimensionLen::Fixed(4)).unwrap();
    root.set_attribute(Attribute::text("title", "before")).unwrap();
    root.set_attribute(Attribute::text("history", "made")).unwrap();
    let time = root.add_variable("time", Atomic::Double, &["time"]).unwrap();
    let sst = root.add_variable("sst", Atomic::Short, &["time", "x"]).unwrap();
    sst.set_attribute(Attribute::text("units", "K")).unwrap();
    let mask = root.add_variable("mask", Atomic::Byte, &["x"]).unwrap();
    time.write(&Selection::slab(&[0], &[3]), &[0.5, 1.5, 2.5]).unwrap();
    let numbers: Vec<i16> = (0..12).collect();
    sst.write(&Selection::slab(&[0, 0], &[3, 4]), &numbers).unwrap();
    mask.write_all(&[1i8, 0, 1, 0]).unwrap();
    dataset.close().unwrap();
}

fn update(url: &str, session: &Session) -> Dataset {
    Dataset::update_with(url, &OpenOptions::default(), session).unwrap()
}

fn open(url: &str, session: &Session) -> Dataset {
    Dataset::open_with(url, &OpenOptions::default(), session).unwrap()
}

/// Every file at and below a path.
fn bytes(path: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut all = BTreeMap::new();
    let mut open = vec![path.to_path_buf()];
    while let Some(path) = open.pop() {
        if path.is_dir() {
            open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path()));
        } else {
            _ = all.insert(path.to_str().unwrap().to_owned(), std::fs::read(&path).unwrap());
        }
    }
    all
}

#[test]
fn opening_for_change_and_closing_leaves_every_byte() {
    each(|url, _, _, session| {
        let before = bytes(Path::new(url));
        update(url, session).close().unwrap();
        assert!(before == bytes(Path::new(url)), "{url} changed");
        drop(update(url, session));
        assert!(before == bytes(Path::new(url)), "{url} changed when dropped");
    });
}

#[test]
fn members_are_added_and_values_overwritten() {
    each(|url, kind, _, session| {
        let dataset = update(url, session);
        let root = dataset.root();
        root.add_dimension("y", DimensionLen::Fixed(2)).unwrap();
        let new = root.add_variable("new", Atomic::Float, &["y", "x"]).unwrap();
        new.set_attribute(Attribute::atomic("valid_range", Values::Float(vec![-1.0, 1.0]))).unwrap();
        root.set_attribute(Attribute::text("title", "after, and much longer than it was before")).unwrap();
        new.write_all(&[0.0f32, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0]).unwrap();
        let sst = dataset.variable("sst").unwrap();
        sst.write(&Selection::strided(&[0, 1], &[2, 2], &[2, 2]), &[-1i16, -2, -3, -4]).unwrap();
        assert_eq!(
            sst.read::<i16>().unwrap(),
            [0, -1, 2, -2, 4, 5, 6, 7, 8, -3, 10, -4],
            "{url}: before closing"
        );
        if !kind.is_classic() && kind != Kind::Nc4Classic {
            let group = root.add_group("g").unwrap();
            let inner = group.add_variable("inner", Atomic::Int64, &["y"]).unwrap();
            inner.write_all(&[i64::MIN, i64::MAX]).unwrap();
        }
        dataset.close().unwrap();
        let dataset = open(url, session);
        let title = dataset.attribute("title").unwrap().unwrap();
        assert_eq!(title.as_text().unwrap(), "after, and much longer than it was before");
        assert_eq!(
            dataset.variable("sst").unwrap().read::<i16>().unwrap(),
            [0, -1, 2, -2, 4, 5, 6, 7, 8, -3, 10, -4]
        );
        assert_eq!(dataset.variable("new").unwrap().read::<f32>().unwrap(), [0., 1., 2., 3., 4., 5., 6., 7.]);
        assert_eq!(dataset.variable("time").unwrap().read::<f64>().unwrap(), [0.5, 1.5, 2.5]);
        assert_eq!(dataset.variable("mask").unwrap().read::<i8>().unwrap(), [1, 0, 1, 0]);
        if !kind.is_classic() && kind != Kind::Nc4Classic {
            assert_eq!(dataset.variable("/g/inner").unwrap().read::<i64>().unwrap(), [i64::MIN, i64::MAX]);
        }
        exact_cdl(&dataset, "whole");
    });
}

#[test]
fn records_are_appended_again_and_again() {
    each(|url, _, grows, session| {
        if !grows {
            let dataset = update(url, session);
            let past = dataset.variable("time").unwrap().write(&Selection::slab(&[3], &[1]), &[3.5]);
            assert!(past.is_err(), "{url}: a fixed dimension does not grow");
            return;
        }
        for record in 3..6u64 {
            let dataset = update(url, session);
            let at = i16::try_from(record).unwrap();
            let time = dataset.variable("time").unwrap();
            time.write(&Selection::slab(&[record], &[1]), &[f64::from(at) + 0.5]).unwrap();
            let sst = dataset.variable("sst").unwrap();
            sst.write(&Selection::slab(&[record, 0], &[1, 4]), &[at * 4, at * 4 + 1, at * 4 + 2, at * 4 + 3])
                .unwrap();
            dataset.close().unwrap();
        }
        let dataset = open(url, session);
        assert_eq!(
            dataset.variable("time").unwrap().read::<f64>().unwrap(),
            [0.5, 1.5, 2.5, 3.5, 4.5, 5.5],
            "{url}"
        );
        assert_eq!(
            dataset.variable("sst").unwrap().read::<i16>().unwrap(),
            (0..24).collect::<Vec<_>>(),
            "{url}"
        );
    });
}

#[test]
fn members_are_renamed() {
    each(|url, _, _, session| {
        let dataset = update(url, session);
        dataset.variable("sst").unwrap().rename("sea_surface_temperature").unwrap();
        dataset
            .edit(|model| {
                let x = model.dimension_at("x").unwrap();
                model.rename_dimension(x, "longitude_of_cell")?;
                let root = model.root();
                let attributes = model.attributes_mut(ncirrus::NodeId::Group(root)).unwrap();
                Ok(attributes.known_mut().rename("title", "headline")?)
            })
            .unwrap();
        dataset.close().unwrap();
        let dataset = open(url, session);
        assert!(dataset.variable("sst").is_err(), "{url}");
        let sst = dataset.variable("sea_surface_temperature").unwrap();
        assert_eq!(sst.read::<i16>().unwrap(), (0..12).collect::<Vec<_>>(), "{url}");
        assert_eq!(sst.dimensions()[1].name, "longitude_of_cell", "{url}");
        assert_eq!(sst.attribute("units").unwrap().unwrap().as_text().unwrap(), "K", "{url}");
        assert_eq!(dataset.attribute("headline").unwrap().unwrap().as_text().unwrap(), "before", "{url}");
        assert_eq!(dataset.attribute("title").unwrap(), None, "{url}");
        exact_cdl(&dataset, "whole");
    });
}

#[test]
fn attributes_and_variables_are_removed() {
    each(|url, _, _, session| {
        let dataset = update(url, session);
        dataset.root().remove_attribute("history").unwrap();
        dataset.variable("sst").unwrap().remove_attribute("units").unwrap();
        let mask = dataset.variable("mask").unwrap().id();
        dataset.edit(|model| Ok(model.remove_variable(mask).map(|_| ())?)).unwrap();
        dataset.close().unwrap_or_else(|error| panic!("{url}: {error}"));
        let dataset = open(url, session);
        assert_eq!(dataset.attribute("history").unwrap(), None, "{url}");
        assert!(dataset.variable("sst").unwrap().attributes().unwrap().is_empty(), "{url}");
        assert!(dataset.variable("mask").is_err(), "{url}");
        assert_eq!(
            dataset.variable("sst").unwrap().read::<i16>().unwrap(),
            (0..12).collect::<Vec<_>>(),
            "{url}"
        );
        assert!(!Path::new(url).join("mask").exists(), "{url}: objects of the removed variable are left");
        exact_cdl(&dataset, "whole");
    });
}

#[test]
fn what_is_not_closed_never_happened() {
    each(|url, kind, _, session| {
        let before = exact_cdl(&open(url, session), "same");
        let dataset = update(url, session);
        dataset.root().set_attribute(Attribute::text("title", "never")).unwrap();
        dataset.root().add_dimension("never", DimensionLen::Fixed(9)).unwrap();
        if !kind.is_classic() {
            dataset.root().add_group("never").unwrap();
        }
        drop(dataset);
        assert_eq!(before, exact_cdl(&open(url, session), "same"), "{url}");
    });
}

#[test]
fn wrong_usage_is_an_error_that_says_so() {
    each(|url, _, _, session| {
        let reading = open(url, session);
        let denied = reading.root().set_attribute(Attribute::text("a", "b")).unwrap_err();
        assert_eq!(denied.kind(), ErrorKind::Denied, "{url}");
        assert!(reading.variable("mask").unwrap().write_all(&[0i8; 4]).is_err(), "{url}");
        let existing = CreateOptions::new().kind(Kind::NcZarr);
        assert!(Dataset::create_with(url, &existing, session).is_err(), "{url}: it is there already");

        let dataset = update(url, session);
        let root = dataset.root();
        assert_eq!(dataset.variable("none").unwrap_err().kind(), ErrorKind::NotFound, "{url}");
        assert!(root.add_dimension("x", DimensionLen::Fixed(1)).is_err(), "{url}: the name is in use");
        assert!(root.add_variable("mask", Atomic::Int, &["x"]).is_err(), "{url}: the name is in use");
        assert!(root.add_variable("bad/name", Atomic::Int, &["x"]).is_err(), "{url}");
        assert!(root.add_variable("lost", Atomic::Int, &["nowhere"]).is_err(), "{url}");
        assert!(root.remove_attribute("none").is_err(), "{url}");
        let mask = dataset.variable("mask").unwrap();
        assert!(mask.rename("sst").is_err(), "{url}: the name is in use");
        assert!(mask.write_all(&[1i8; 5]).is_err(), "{url}: too many values");
        assert!(mask.write(&Selection::slab(&[2], &[3]), &[1i8; 3]).is_err(), "{url}: past the end");
        assert!(mask.write_all(&[1.0, 2.0, 3.0, 300.0]).is_err(), "{url}: out of range");
        assert_eq!(mask.read::<i8>().unwrap(), [1, 0, 1, 0], "{url}: what failed changed nothing");
        let clone = dataset.clone();
        dataset.close().unwrap();
        let closed = clone.root().set_attribute(Attribute::text("a", "b")).unwrap_err();
        assert_eq!(closed.kind(), ErrorKind::Invalid, "{url}");
        assert!(Dataset::update_with(&format!("{url}.none"), &OpenOptions::default(), session).is_err());
    });
}

#[test]
fn values_are_read_beside_a_thread_that_syncs() {
    let ((_folder, temp), session) = (temp(), session());
    for kind in [Kind::Nc4, Kind::Nc3, Kind::NcZarr] {
        let url = temp.join(format!("{kind:?}")).to_str().unwrap().to_owned();
        let dataset = Dataset::create_with(&url, &CreateOptions::new().kind(kind), &session).unwrap();
        dataset.root().add_dimension("t", DimensionLen::Unlimited(0)).unwrap();
        dataset.root().add_dimension("x", DimensionLen::Fixed(100)).unwrap();
        let variable = dataset.root().add_variable("v", Atomic::Double, &["t", "x"]).unwrap();
        let record = |number: u64| Selection::slab(&[number, 0], &[1, 100]);
        let (written, records) = (AtomicU64::new(0), 500);
        std::thread::scope(|scope| {
            scope.spawn(|| {
                for number in 0..records {
                    variable
                        .write(&record(number), &[f64::from(u32::try_from(number).unwrap()); 100])
                        .unwrap();
                    dataset.sync().unwrap();
                    written.store(number + 1, Ordering::Release);
                }
            });
            let mut last = 0;
            while last < records {
                last = written.load(Ordering::Acquire);
                for number in [0, last / 2, last.saturating_sub(1)].into_iter().take_while(|_| last > 0) {
                    let read = variable.read_selection::<f64>(&record(number)).unwrap();
                    let expected = f64::from(u32::try_from(number).unwrap());
                    assert!(read.iter().all(|value| *value == expected), "{url}: {number}");
                }
            }
        });
        dataset.close().unwrap();
    }
}

const UNNAMED_TYPES: &str = r#"
import sys, h5py, numpy
made = sys.argv[2] == "make"
with h5py.File(sys.argv[1], "w" if made else "r") as file:
    if made:
        file["v"] = numpy.arange(3)
        file.attrs["flag"] = True
        file.attrs["flags"] = numpy.array([True, False])
        file.attrs["pair"] = numpy.array([(1, 2.5)], dtype=[("a", "i4"), ("b", "f4")])
        lists = numpy.empty(1, dtype=h5py.vlen_dtype("i4"))
        lists[0] = numpy.arange(3, dtype="i4")
        file["v"].attrs["lists"] = lists
    for of, node in (("", file), ("v", file["v"])):
        for name, value in sorted(node.attrs.items()):
            print(of, name, node.attrs.get_id(name).dtype, numpy.ravel(value).tolist())
"#;

#[test]
fn attributes_of_types_without_a_name_are_renamed_and_copied() {
    let Some(python) = peers_python() else { return };
    let ((_folder, temp), session) = (temp(), session());
    let path = temp.join("unnamed.h5");
    let run = |how: &str| {
        let output = Command::new(&python).args(["-c", UNNAMED_TYPES]).arg(&path).arg(how).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let before = run("make");
    let url = path.to_str().unwrap();
    let dataset = Dataset::update_with(url, &OpenOptions::default(), &session).unwrap();
    let (root, v) = (dataset.root(), dataset.variable("v").unwrap());
    for (name, now) in [("flag", "bit"), ("flags", "bits")] {
        let removed = root.remove_attribute(name).unwrap();
        root.set_attribute(Attribute { name: now.to_owned(), ..removed }).unwrap();
    }
    root.set_attribute(v.attribute("lists").unwrap().unwrap()).unwrap();
    v.set_attribute(root.attribute("pair").unwrap().unwrap()).unwrap();
    dataset.close().unwrap();
    let mut expected: Vec<String> =
        before.lines().map(|line| line.replace(" flag ", " bit ").replace(" flags ", " bits ")).collect();
    let line = |start: &str| before.lines().find(|line| line.starts_with(start)).unwrap();
    expected.push(format!("v{}", line(" pair ")));
    expected.push(line("v lists ").trim_start_matches('v').to_owned());
    expected.sort();
    let after = run("show");
    let mut after: Vec<&str> = after.lines().collect();
    after.sort_unstable();
    assert_eq!(after, expected);
}

/// Runs a test that would hang if the code were wrong.
fn in_time<T: Send + 'static>(test: impl FnOnce() -> T + Send + 'static) -> T {
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || sender.send(test()));
    receiver.recv_timeout(Duration::from_secs(60)).unwrap()
}

#[test]
fn an_edit_may_look_at_its_dataset_and_write_to_it_but_not_edit_it() {
    each(|url, _, grows, session| {
        let (url, session) = (url.to_owned(), session.clone());
        in_time(move || {
            let dataset = Dataset::update_with(&url, &OpenOptions::default(), &session).unwrap();
            let time = dataset.variable("time").unwrap();
            let seen = dataset.edit(|model| {
                model.add_dimension(model.root(), "y", DimensionLen::Fixed(2))?;
                let rows = if grows { 5 } else { 3 };
                time.write(&Selection::slab(&[0], &[rows]), &vec![9.0; usize::try_from(rows).unwrap()])?;
                let nested = dataset.root().set_attribute(Attribute::text("within", "edit")).unwrap_err();
                assert_eq!(nested.kind(), ErrorKind::Invalid, "{nested}");
                let sst = dataset.variable("sst")?;
                assert_eq!(sst.shape(), [rows, 4], "{url}");
                assert!(
                    dataset.model()?.dimension_in(model.root(), "y").is_none(),
                    "{url}: not before the end"
                );
                dataset.sync()?;
                Ok((time.shape(), time.read::<f64>()?.to_vec()))
            });
            let (shape, values) = seen.unwrap();
            assert_eq!(shape[0], values.len() as u64, "{url}");
            assert_eq!(values, vec![9.0; values.len()], "{url}");
            assert_eq!(time.shape(), shape, "{url}: what grew meanwhile stays");
            let root = dataset.root();
            root.add_variable("late", Atomic::Int, &["y"]).unwrap().write_all(&[1, 2]).unwrap();
            assert!(root.attribute("within").unwrap().is_none(), "{url}");
            dataset.close().unwrap();
            let dataset = Dataset::open_with(&url, &OpenOptions::default(), &session).unwrap();
            assert_eq!(dataset.variable("late").unwrap().read::<i32>().unwrap(), [1, 2], "{url}");
            assert_eq!(dataset.variable("time").unwrap().shape(), shape, "{url}");
        });
    });
}

#[test]
fn an_edit_of_what_is_closed_within_it_is_an_error() {
    let (_folder, temp) = temp();
    let url = temp.join("closed.zarr").to_str().unwrap().to_owned();
    let error = in_time(move || {
        let dataset = Dataset::create_with(&url, &CreateOptions::default(), &session()).unwrap();
        let same = dataset.clone();
        let edited = dataset.edit(|model| {
            same.close()?;
            Ok(model.add_dimension(model.root(), "y", DimensionLen::Fixed(2))?)
        });
        edited.unwrap_err()
    });
    assert_eq!(error.kind(), ErrorKind::Invalid, "{error}");
}

#[test]
fn netcdf4_python_opens_classic_model_files_to_which_dimensions_were_added() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let url = temp.join("a.nc").to_str().unwrap().to_owned();
    let options = CreateOptions::new().kind(Kind::Nc4Classic);
    create(&url, &options, true, &session);
    for name in ["first", "second"] {
        let dataset = update(&url, &session);
        dataset.root().add_dimension(name, DimensionLen::Fixed(2)).unwrap();
        dataset.root().add_variable(&format!("of_{name}"), Atomic::Int, &[name]).unwrap();
        dataset.close().unwrap();
    }
    // It numbers the dimensions of the classic model from 0.
    let script = "import netCDF4, sys; print(*netCDF4.Dataset(sys.argv[1]).dimensions)";
    let output = Command::new(python).args(["-c", script, &url]).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "time x first second\n", "{errors}");
}

#[test]
fn the_fill_value_of_netcdf3_is_changed_and_taken_away_after_there_are_data() {
    let (_folder, root) = temp();
    let session = session();
    for kind in [Kind::Nc3, Kind::Nc6, Kind::Nc5] {
        let url = root.join(format!("{kind:?}.nc")).to_str().unwrap().to_owned();
        let url = url.as_str();
        let dataset = Dataset::create_with(url, &CreateOptions::new().kind(kind), &session).unwrap();
        dataset.root().add_dimension("t", DimensionLen::Unlimited(0)).unwrap();
        let variable = dataset.root().add_variable("v", Atomic::Byte, &["t"]).unwrap();
        variable.set_attribute(fill_value(13)).unwrap();
        variable.write(&Selection::slab(&[1], &[1]), &[62_i8]).unwrap();
        dataset.close().unwrap();
        for (change, at) in [(None, 3), (Some(42), 5)] {
            let dataset = Dataset::update_with(url, &OpenOptions::default(), &session).unwrap();
            let variable = dataset.variable("v").unwrap();
            match change {
                None => drop(variable.remove_attribute("_FillValue").unwrap()),
                Some(value) => variable.set_attribute(fill_value(value)).unwrap(),
            }
            variable.write(&Selection::slab(&[at], &[1]), &[62_i8]).unwrap();
            dataset.close().unwrap();
            let dataset = open(url, &session);
            let found = dataset.variable("v").unwrap().attribute("_FillValue").unwrap();
            assert_eq!(found, change.map(fill_value), "{kind:?}");
        }
        let dataset = open(url, &session);
        assert_eq!(
            dataset.variable("v").unwrap().read::<i8>().unwrap(),
            [13, 62, -127, 62, 42, 62],
            "{kind:?}"
        );
    }
}

fn fill_value(value: i8) -> Attribute {
    Attribute::atomic("_FillValue".to_owned(), Values::Byte(vec![value]))
}
