//! Other programs read what is written here: ncdump, h5dump, netCDF4-python, h5py, h5netcdf, zarr-python and xarray.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::numbers::{NUMBERS, six};
use crate::support::{cdl_of, session, temp, values};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, EnumMember, Field, FileStructures,
    Kind, Model, NodeId, OpenOptions, Result, Selection, Session, Storage, TypeRef, UserKind, UserType,
    Values,
};
use ncirrus_testkit::corpus::{peers_python, program};
use serde_json::{Value, json};
use std::path::Path;
use std::process::Command;

/// What a dataset contains besides numbers along fixed dimensions.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Extent {
    Numbers,
    Netcdf4,
    UserTypes,
}

fn define(model: &mut Model, extent: Extent) -> Result<Vec<(String, Values)>> {
    let root = model.root();
    let y = model.add_dimension(root, "y", DimensionLen::Fixed(2))?;
    let x = model.add_dimension(root, "x", DimensionLen::Fixed(3))?;
    let group = model.add_group(root, "g")?;
    let z = model.add_dimension(group, "z", DimensionLen::Fixed(6))?;
    let mut written = Vec::new();
    let mut add =
        |model: &mut Model, home, name: &str, ty: TypeRef, dims: &[_], values: Values| -> Result<()> {
            let var = model.add_variable(home, name, ty, dims)?;
            let attribute = match ty {
                TypeRef::Atomic(atomic) if atomic.is_numeric() => {
                    Attribute::atomic("some", values.slice(2..5))
                }
                _ => Attribute::text("note", "text it is"),
            };
            model.attributes_mut(NodeId::Variable(var)).unwrap().known_mut().put(attribute);
            written.push((model.variable_path(var), values));
            Ok(())
        };
    for atomic in NUMBERS {
        add(model, root, &format!("v_{}", atomic.name()), atomic.into(), &[y, x], six(atomic))?;
        add(model, group, &format!("w_{}", atomic.name()), atomic.into(), &[z], six(atomic))?;
        let var = model.variable_at(&format!("/g/w_{}", atomic.name())).unwrap();
        model.set_fill(var, six(atomic).slice(3..4))?;
        model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![4]);
    }
    if extent != Extent::Numbers {
        let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
        add(model, root, "growing", Atomic::Int.into(), &[time, x], six(Atomic::Int))?;
        add(model, root, "letters", Atomic::Char.into(), &[y, x], six(Atomic::Char))?;
        add(model, root, "scalar", Atomic::Double.into(), &[], Values::Double(vec![2.5]))?;
    }
    if extent == Extent::UserTypes {
        add(model, root, "words", Atomic::String.into(), &[y, x], six(Atomic::String))?;
        define_user_types(model, &mut add)?;
    }
    let attributes = model.attributes_mut(NodeId::Group(root)).unwrap().known_mut();
    attributes.put(Attribute::text("title", "for others to read"));
    attributes.put(Attribute::atomic("numbers", Values::Short(vec![1, -2, 3])));
    Ok(written)
}

/// Adds a variable: group, name, type, dimensions, values.
type Add<'a> = dyn FnMut(&mut Model, ncirrus_model::GroupId, &str, TypeRef, &[ncirrus_model::DimId], Values) -> Result<()>
    + 'a;

fn define_user_types(model: &mut Model, add: &mut Add<'_>) -> Result<()> {
    let root = model.root();
    let x = model.dimension_at("x").unwrap();
    let field = |name: &str, ty: Atomic| Field { name: name.to_owned(), ty: ty.into(), dims: Vec::new() };
    let member = |name: &str, value| EnumMember { name: name.to_owned(), value };
    let kinds = [
        (
            "level_t",
            UserKind::Enum { base: Atomic::Byte, members: vec![member("Low", 0), member("High", 1)] },
        ),
        ("raw_t", UserKind::Opaque(2)),
        ("row_t", UserKind::Vlen(Atomic::Int.into())),
        ("flat_t", UserKind::Compound(vec![field("n", Atomic::Int), field("d", Atomic::Double)])),
        ("mixed_t", UserKind::Compound(vec![field("n", Atomic::Int), field("s", Atomic::String)])),
    ];
    let texts = Values::String([Some("a"), None, Some("")].into_iter().collect());
    let values = [
        Values::Byte(vec![0, 1, 0]),
        Values::Opaque { size: 2, bytes: b"abcdef".to_vec() },
        Values::Vlen { ends: vec![0, 2, 3], elements: Box::new(Values::Int(vec![1, 2, 3])) },
        Values::Compound {
            len: 3,
            fields: vec![Values::Int(vec![1, 2, 3]), Values::Double(vec![0.5, 1.5, 2.5])],
        },
        Values::Compound { len: 3, fields: vec![Values::Int(vec![1, 2, 3]), texts] },
    ];
    for ((name, kind), values) in kinds.into_iter().zip(values) {
        let ty = model.add_type(root, UserType { name: name.to_owned(), kind })?;
        add(model, root, &format!("of_{name}"), TypeRef::User(ty), &[x], values)?;
    }
    Ok(())
}

fn made(path: &Path, kind: Kind, dialect: Option<Dialect>, extent: Extent, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(kind).dialect(dialect);
    made_so(path, &options, extent, session)
}

fn made_so(path: &Path, options: &CreateOptions, extent: Extent, session: &Session) -> Dataset {
    let url = path.to_str().unwrap();
    let dataset = Dataset::create_with(url, options, session).unwrap();
    for (path, values) in dataset.edit(|model| define(model, extent)).unwrap() {
        let variable = dataset.variable(&path).unwrap();
        let mut shape = variable.shape();
        if path == "/growing" {
            shape[0] = 2;
        }
        variable.write_values(&Selection::all(&shape), &values).unwrap();
    }
    dataset.close().unwrap();
    Dataset::open_with(url, &OpenOptions::default(), session).unwrap()
}

/// Values as the scripts print them: bytes in hexadecimal digits, or a list of strings.
fn printed(values: &Values) -> Value {
    match values {
        Values::String(strings) => {
            strings.iter().map(|text| String::from_utf8_lossy(text.unwrap_or(b"\0")).into_owned()).collect()
        }
        fixed => Value::from(hex(fixed.as_bytes().unwrap())),
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

fn run(python: &Path, script: &str, arguments: &[&str]) -> Value {
    let output = Command::new(python).arg("-c").arg(script).args(arguments).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {errors}");
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn ncdump_prints_upper_case_datasets_as_we_do() {
    let Some(ncdump) = program("ncdump") else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let path = temp.join("numbers.zarr");
    let dataset = made(&path, Kind::NcZarr, Some(Dialect::Uc), Extent::Numbers, &session);
    let (ours, whole) = cdl_of(&dataset, "numbers", |_| ()).unwrap();
    assert!(whole);
    let url = format!("file://{}#mode=nczarr,file", path.display());
    let output = Command::new(ncdump).args(["-n", "numbers", &url]).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    crate::support::difference(&String::from_utf8_lossy(&output.stdout), &ours).unwrap();
}

#[test]
fn netcdf4_python_reads_all_that_has_no_user_types() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let path = temp.join("all.zarr");
    let dataset = made(&path, Kind::NcZarr, None, Extent::Netcdf4, &session);
    let url = format!("file://{}#mode=nczarr,file", path.display());
    netcdf4_python_reads_all(&python, &dataset, &url);
    for (name, options) in netcdf4_files() {
        let path = temp.join(name);
        let dataset = made_so(&path, &options, Extent::Netcdf4, &session);
        netcdf4_python_reads_all(&python, &dataset, path.to_str().unwrap());
    }
}

/// Names of netCDF-4 files and their options: for HDF5 1.8, for 1.10, with filters and aligned chunks.
fn netcdf4_files() -> [(&'static str, CreateOptions); 2] {
    let newer = FileStructures::V110;
    [("old.nc4", FileStructures::V18), ("new.nc4", newer)].map(|(name, structures)| {
        let align = (structures == newer).then_some(4096);
        (name, CreateOptions::new().kind(Kind::Nc4).structures(structures).align(align))
    })
}

fn netcdf4_python_reads_all(python: &Path, dataset: &Dataset, url: &str) {
    let theirs = run(python, include_str!("peers/netcdf.py"), &[url]);
    let model = dataset.model().unwrap();
    let groups: Vec<String> = model.walk().into_iter().map(|group| model.group_path(group)).collect();
    assert_eq!(theirs["groups"], json!(groups));
    assert_eq!(theirs["dimensions"]["/time"], json!([2, true]));
    assert_eq!(theirs["dimensions"]["/g/z"], json!([6, false]));
    assert_eq!(theirs["variables"].as_object().unwrap().len(), dataset.variables().len());
    for variable in dataset.variables() {
        let (path, other) = (variable.path(), &theirs["variables"][variable.path()]);
        let names: Vec<String> = variable.dimensions().into_iter().map(|dimension| dimension.name).collect();
        assert_eq!(other["shape"], json!(variable.shape()), "{path}");
        assert_eq!(other["dims"], json!(names), "{path}");
        assert_eq!(other["values"], printed(&values(&variable).unwrap()), "{path}");
        same_attributes(&variable.attributes().unwrap(), &theirs["attributes"][&path], &path);
    }
    same_attributes(&dataset.root().attributes().unwrap(), &theirs["attributes"]["/"], "/");
}

#[test]
fn ncdump_and_h5dump_print_netcdf4_files() {
    let (Some(ncdump), Some(h5dump)) = (program("ncdump"), program("h5dump")) else { return };
    let (session, (_folder, temp)) = (session(), temp());
    for (name, options) in netcdf4_files() {
        let path = temp.join(name);
        let dataset = made_so(&path, &options, Extent::UserTypes, &session);
        let (ours, whole) = cdl_of(&dataset, "numbers", |_| ()).unwrap();
        assert!(whole);
        let output = Command::new(&ncdump).args(["-n", "numbers"]).arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        crate::support::difference(&String::from_utf8_lossy(&output.stdout), &ours).unwrap();
        let output = Command::new(&h5dump).arg("-p").arg(&path).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}

#[test]
fn h5py_h5netcdf_and_xarray_read_netcdf4_files() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let ways = [(Extent::UserTypes, "h5py"), (Extent::Netcdf4, "h5py,h5netcdf,xarray")];
    for ((name, options), (extent, programs)) in
        netcdf4_files().into_iter().flat_map(|file| ways.map(|way| (file.clone(), way)))
    {
        let path = temp.join(format!("{extent:?}-{name}"));
        let dataset = made_so(&path, &options, extent, &session);
        let arguments = [path.to_str().unwrap(), programs, "/", "/g"];
        let theirs = run(&python, include_str!("peers/hdf5.py"), &arguments);
        for (program, variable) in programs
            .split(',')
            .flat_map(|program| dataset.variables().into_iter().map(move |one| (program, one)))
        {
            let (path, read) = (variable.path(), &theirs[program][variable.path()]);
            let names: Vec<String> =
                variable.dimensions().into_iter().map(|dimension| dimension.name).collect();
            assert_eq!(read["shape"], json!(variable.shape()), "{name} {program} {path}");
            assert_eq!(read["dims"], json!(names), "{name} {program} {path}");
            if let Some(theirs) = read.get("values") {
                let ours = printed(&values(&variable).unwrap());
                assert_eq!(*theirs, ours, "{name} {program} {path}");
            }
        }
    }
}

fn same_attributes(ours: &ncirrus::Attributes, theirs: &Value, path: &str) {
    for attribute in ours.iter() {
        let wanted = attribute.as_text().map_or_else(|| printed(&attribute.values), Value::from);
        assert_eq!(theirs[&attribute.name], wanted, "{path}:{}", attribute.name);
    }
}

#[test]
fn zarr_python_and_xarray_read_all_that_they_have_types_for() {
    let Some(python) = peers_python() else { return };
    let (session, (_folder, temp)) = (session(), temp());
    for (name, kind, dialect) in [
        ("att", Kind::NcZarr, None),
        ("lc", Kind::NcZarr, Some(Dialect::Lc)),
        ("uc", Kind::NcZarr, Some(Dialect::Uc)),
        ("plain", Kind::Zarr2, None),
        ("v3", Kind::Zarr3, Some(Dialect::Plain)),
        ("nczarr3", Kind::Zarr3, None),
    ] {
        let path = temp.join(format!("{name}.zarr"));
        let dataset = made(&path, kind, dialect, Extent::UserTypes, &session);
        let theirs = run(&python, include_str!("peers/zarrs.py"), &[path.to_str().unwrap(), "/", "/g"]);
        for program in ["zarr", "xarray"] {
            let read = theirs[program].as_object().unwrap();
            assert_eq!(read.len(), dataset.variables().len(), "{name} {program}: {:?}", read.keys());
            for variable in dataset.variables() {
                same_array(
                    &variable,
                    &read[&variable.path()],
                    &format!("{name} {program} {}", variable.path()),
                );
            }
        }
    }
}

fn same_array(variable: &ncirrus::Variable, theirs: &Value, place: &str) {
    let names: Vec<String> = variable.dimensions().into_iter().map(|dimension| dimension.name).collect();
    assert_eq!(theirs["shape"], json!(variable.shape()), "{place}");
    assert_eq!(theirs["dims"], json!(names), "{place}");
    let is_typed = matches!(variable.ty(), Some(TypeRef::Atomic(_))) || variable.name() == "of_level_t";
    if is_typed {
        assert_eq!(theirs["values"], printed(&values(variable).unwrap()), "{place}");
    }
    let fill = variable.attribute("_FillValue").unwrap();
    if let (Some(fill), Some(theirs)) = (fill, theirs.get("fill")) {
        assert_eq!(*theirs, printed(&fill.values), "{place}: fill value");
    }
}
