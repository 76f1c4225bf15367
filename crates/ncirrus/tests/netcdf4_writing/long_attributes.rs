//! Attributes that are longer than a message of an object header can be: every program can read and change them.
use super::{Making, session};
use ncirrus_engine::{Dataset, Session};
use ncirrus_hdf5::{FileStructures, Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, OpenOptions};
use ncirrus_model::{Atomic, Attribute, Attributes, DimensionLen, Model, NodeId, Selection, Values};
use ncirrus_store::DirectoryStore;
use ncirrus_testkit::corpus::{peers_python, program};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

fn numbers(count: i32) -> Values {
    Values::Int((0..count).collect())
}

fn strings(count: usize) -> Values {
    Values::String((0..count).map(|number| Some(format!("s{number}"))).collect())
}

/// Long and short attributes at the root and at a variable.
fn define(model: &mut Model) {
    let root = model.root();
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(3)).unwrap();
    let long = model.add_variable(root, "long", Atomic::Int.into(), &[x]).unwrap();
    model.add_variable(root, "short", Atomic::Int.into(), &[x]).unwrap();
    for node in [NodeId::Group(root), NodeId::Variable(long)] {
        let attributes = model.attributes_mut(node).unwrap().known_mut();
        attributes.put(Attribute::text("title", "before"));
        attributes.put(Attribute::atomic("numbers", numbers(50_000)));
        attributes.put(Attribute::text("text", &"é~".repeat(50_000)));
        attributes.put(Attribute::atomic("strings", strings(5000)));
        attributes.put(Attribute::atomic("last", numbers(2)));
    }
}

fn open(session: &Session, path: &Path) -> Dataset {
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    let (store, root) = DirectoryStore::of_file(path).unwrap();
    session.block_on(session.open(store.shared(), root, &drivers, &OpenOptions::default())).unwrap()
}

fn attributes(session: &Session, dataset: &Dataset, var: Option<&str>) -> Attributes {
    let model = dataset.model();
    let node = match var {
        Some(name) => NodeId::Variable(model.variable_at(name).unwrap()),
        None => NodeId::Group(model.root()),
    };
    session.block_on(dataset.attributes(&[node])).remove(0).unwrap()
}

/// What Python programs print of the attributes: names and lengths of the values, in order.
const SCRIPT: &str = r#"
import sys, h5py, netCDF4, numpy
path, change = sys.argv[1:3]
expected = {"numbers": numpy.arange(50000), "text": "é~" * 50000, "last": [0, 1]}
def check(name, value):
    if name in expected:
        assert numpy.array_equal(value.decode() if isinstance(value, bytes) else value, expected[name]), name
    if name == "strings":
        assert [s.decode() if isinstance(s, bytes) else s for s in value] == [f"s{n}" for n in range(5000)]
with h5py.File(path) as file:
    for object in (file, file["long"], file["short"]):
        names = [name for name in object.attrs if not name.isupper() and name[0] != "_"]
        print("h5py", " ".join(names))
        for name in names:
            check(name, object.attrs[name])
with netCDF4.Dataset(path) as file:
    for object in (file, file["long"], file["short"]):
        print("netcdf", " ".join(object.ncattrs()))
        for name in object.ncattrs():
            check(name, object.getncattr(name))
if change == "change":
    with h5py.File(path, "r+") as file:
        for object in (file, file["long"]):
            object.attrs["added"] = numpy.arange(30000)
            object.attrs["tiny"] = 1
            del object.attrs["numbers"]
"#;

/// What the other programs print; they then change the file, if requested.
fn others(path: &Path, change: &str) -> Option<Vec<String>> {
    let output = Command::new(peers_python()?).args(["-c", SCRIPT]).arg(path).arg(change).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    for (tool, arguments) in [("ncdump", &["-h"][..]), ("h5dump", &["-H"]), ("h5stat", &[])] {
        let Some(tool) = program(tool) else { continue };
        let output = Command::new(&tool).args(arguments).arg(path).output().unwrap();
        assert!(output.status.success(), "{}: {}", tool.display(), String::from_utf8_lossy(&output.stderr));
    }
    Some(String::from_utf8(output.stdout).unwrap().lines().map(str::to_owned).collect())
}

#[test]
fn everyone_reads_long_attributes_and_changes_them() {
    let session = session();
    for structures in [FileStructures::V18, FileStructures::V110] {
        let making = Making::begin(Hdf5Writer { structures, ..Hdf5Writer::default() });
        making.edit(define);
        making.sync();
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("long.nc");
        std::fs::write(&path, making.bytes()).unwrap();
        let dataset = open(&session, &path);
        for var in [None, Some("long")] {
            let found = attributes(&session, &dataset, var);
            assert_eq!(found.find("numbers").unwrap().values, numbers(50_000));
            assert_eq!(found.find("strings").unwrap().values, strings(5000));
            let names: Vec<&str> = found.iter().map(|attribute| attribute.name.as_str()).collect();
            assert_eq!(names, ["title", "numbers", "text", "strings", "last"]);
        }
        let all = "title numbers text strings last";
        if let Some(lines) = others(&path, "change") {
            for maker in ["h5py", "netcdf"] {
                let of: Vec<&str> =
                    lines.iter().filter_map(|line| line.strip_prefix(maker)).map(str::trim).collect();
                assert_eq!(of, [all, all, ""], "{structures:?}");
            }
            let dataset = open(&session, &path);
            let found = attributes(&session, &dataset, Some("long"));
            assert_eq!(found.find("added").unwrap().values.len(), 30_000);
            assert!(found.find("tiny").is_some() && found.find("numbers").is_none());
        }
        change(&session, &path);
        others(&path, "");
    }
}

/// A long attribute is added to a header that had none, a short one changes beside long ones, all long ones are
/// removed.
fn change(session: &Session, path: &Path) {
    let dataset = open(session, path);
    session
        .block_on(async {
            let writer = session.update(&dataset).await?;
            writer
                .edit(|model| {
                    let short = NodeId::Variable(model.variable_at("short").unwrap());
                    let long = NodeId::Variable(model.variable_at("long").unwrap());
                    let root = NodeId::Group(model.root());
                    let of = |model: &mut Model, node, attribute| {
                        model.attributes_mut(node).unwrap().known_mut().put(attribute);
                    };
                    of(model, short, Attribute::atomic("numbers", numbers(50_000)));
                    of(model, long, Attribute::text("title", "after"));
                    let gone: Vec<String> = ["numbers", "added", "text", "strings"].map(String::from).into();
                    let left = model.attributes_mut(root).unwrap().known_mut();
                    gone.iter().for_each(|name| _ = left.remove(name));
                    Ok(())
                })
                .await?;
            writer.close().await
        })
        .unwrap();
    let dataset = open(session, path);
    let short = attributes(session, &dataset, Some("short"));
    assert_eq!(short.find("numbers").unwrap().values, numbers(50_000));
    let long = attributes(session, &dataset, Some("long"));
    assert_eq!(long.find("title"), Some(&Attribute::text("title", "after")));
    assert_eq!(long.find("strings").unwrap().values, strings(5000));
    let root = attributes(session, &dataset, None);
    assert!(root.iter().all(|attribute| attribute.values.len() <= 6), "{root:?}");
}

#[test]
fn a_dimension_of_many_variables_knows_them_all() {
    let making = Making::begin(Hdf5Writer::default());
    making.edit(|model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(3)).unwrap();
        for number in 0..5000 {
            model.add_variable(root, &format!("v{number}"), Atomic::Int.into(), &[x]).unwrap();
        }
    });
    making.sync();
    let seen = making.seen();
    assert_eq!(seen.model().variables().len(), 5000);
    let read = making
        .session
        .block_on(seen.read(seen.model().variable_at("v4999").unwrap(), &Selection::all(&[3])))
        .unwrap();
    assert_eq!(read.len(), 3);
    let Some(python) = peers_python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("many.nc");
    std::fs::write(&path, making.bytes()).unwrap();
    let script = "import sys, h5py; print(len(h5py.File(sys.argv[1])['x'].attrs['REFERENCE_LIST']))";
    let output = Command::new(python).args(["-c", script]).arg(&path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "5000");
}
