//! Random schemas survive a round trip through netCDF-4 files, and other programs read them.
//!
//! Other programs read 500 files, or the number in `NCIRRUS_SCHEMAS`.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::nc4::reading::{printed, read_all, same_of};
use crate::nc4::schemas::{Schema, schemas};
use crate::support::{session, temp};
use ncirrus::{
    Atomic, CreateOptions, Dataset, Endianness, FileStructures, Kind, Model, NodeId, OpenOptions, Selection,
    Session, TypeRef, UserKind, Values,
};
use ncirrus_testkit::corpus::peers_python;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::{Config, TestRunner};
use serde_json::Value;

/// Writes a file and reads it here.
fn there_and_back(schema: &Schema, url: &str, session: &Session) -> Dataset {
    let structures = if schema.newer { FileStructures::V110 } else { FileStructures::V18 };
    let options = CreateOptions::new().kind(Kind::Nc4).structures(structures).overwrite(true);
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let parts = dataset.edit(|model| schema.build(model)).unwrap();
    let mut written = Vec::new();
    for part in parts {
        let path = dataset.model().unwrap().variable_path(part.var);
        let selection = Selection::slab(&vec![0; part.count.len()], &part.count);
        if !part.values.is_empty() {
            dataset.variable(&path).unwrap().write_values(&selection, &part.values).unwrap();
        }
        written.push((path, selection, part.values));
    }
    let wanted = described(&dataset);
    dataset.close().unwrap();
    let read = Dataset::open_with(url, &OpenOptions::default(), session).unwrap();
    assert_eq!(described(&read), wanted);
    for (path, selection, values) in written.iter().filter(|(_, _, values)| !values.is_empty()) {
        let got = read.variable(path).unwrap().values(selection).unwrap();
        assert_eq!(printed(&got), printed(values), "{path}");
    }
    read
}

/// All definitions, one per line.
fn described(dataset: &Dataset) -> Vec<String> {
    let model = dataset.model().unwrap();
    let name = |ty: TypeRef| ncirrus_tools::type_name(&model, ty);
    let mut lines = Vec::new();
    for id in model.walk() {
        let group = model.group(id).unwrap();
        let dims = group.dims.iter().map(|dim| format!("{:?}", model.dimension(*dim).unwrap()));
        let types = group.types.iter().map(|ty| {
            let ty = model.user_type(*ty).unwrap();
            format!("{} {}", ty.name, structure(&model, &ty.kind))
        });
        lines.push(model.group_path(id));
        lines.extend(dims.chain(types));
    }
    for var in model.variables() {
        let variable = model.variable(var).unwrap();
        let dims: Vec<String> =
            variable.dims.iter().map(|dim| model.dimension(*dim).unwrap().name.clone()).collect();
        let big = variable.endianness == Endianness::Big;
        lines.push(format!("{} {} {dims:?} big {big}", model.variable_path(var), name(variable.ty)));
    }
    let nodes = model
        .walk()
        .into_iter()
        .map(NodeId::Group)
        .chain(model.variables().into_iter().map(NodeId::Variable));
    for attributes in nodes.filter_map(|node| model.attributes(node)?.known()) {
        let line =
            |one: &ncirrus::Attribute| format!(":{} {} {}", one.name, name(one.ty), printed(&one.values));
        lines.extend(attributes.iter().filter(|one| one.name != "_NCProperties").map(line));
    }
    lines
}

/// A type with all that it consists of. HDF5 keeps the components of a type without their names, so of two
/// components that are equal either one may be meant.
fn structure(model: &Model, kind: &UserKind) -> String {
    let of = |ty: TypeRef| match ty {
        TypeRef::Atomic(atomic) => format!("{atomic:?}"),
        TypeRef::User(id) => structure(model, &model.user_type(id).unwrap().kind),
    };
    match kind {
        UserKind::Vlen(base) => format!("Vlen({})", of(*base)),
        UserKind::Compound(fields) => {
            let fields =
                fields.iter().map(|field| format!("{}: {} {:?}", field.name, of(field.ty), field.dims));
            format!("Compound({})", fields.collect::<Vec<_>>().join(", "))
        }
        UserKind::Enum { .. } | UserKind::Opaque(_) => format!("{kind:?}"),
    }
}

proptest! {
    #![proptest_config(Config { failure_persistence: None, ..Config::with_cases(64) })]

    #[test]
    fn random_schemas_survive(schema in schemas()) {
        there_and_back(&schema, "memory://schemas/it", &session());
    }
}

#[test]
fn others_read_random_schemas() {
    let Some(python) = peers_python() else { return };
    let count = std::env::var("NCIRRUS_SCHEMAS").map_or(500, |text| text.parse().unwrap());
    let ((_folder, temp), session) = (temp(), session());
    let mut runner = TestRunner::deterministic();
    let (mut paths, mut datasets) = (Vec::new(), Vec::new());
    for number in 0..count {
        let schema = schemas().new_tree(&mut runner).unwrap().current();
        let path = temp.join(format!("{number:04}.nc"));
        datasets.push((there_and_back(&schema, path.to_str().unwrap(), &session), schema));
        paths.push(path);
    }
    let read = read_all(&python, "h5py,netcdf4", &paths);
    let mut failures = Vec::new();
    for (path, (dataset, schema)) in paths.iter().zip(&datasets) {
        let read = &read[path.to_str().unwrap()];
        let outcome = same_of(dataset, &read["h5py"], "h5py", |_| true)
            .and_then(|()| same_attributes(dataset, &read["h5py"]))
            .and_then(|()| match read["netcdf4"].get("error") {
                Some(error) if TOO_NESTED.iter().any(|reported| error.to_string().contains(reported)) => {
                    Ok(())
                }
                _ => same_of(dataset, &read["netcdf4"], "netcdf4", |ty| known_to_netcdf4(dataset, ty)),
            });
        failures.extend(outcome.map_err(|reason| format!("{reason}\n  of {schema:?}")).err());
    }
    let first: Vec<String> = failures.iter().take(5).cloned().collect();
    assert!(failures.is_empty(), "{} failures, the first:\n{}", failures.len(), first.join("\n"));
}

/// netCDF4-python's errors for arrays of compounds and strings in compounds; it then opens nothing of the file.
const TOO_NESTED: [&str; 2] = ["nested structured dtype arrays not supported", "Not a valid data type"];

/// Whether netCDF4-python supports a type: it leaves out opaque and nested types.
fn known_to_netcdf4(dataset: &Dataset, ty: TypeRef) -> bool {
    match ty {
        TypeRef::Atomic(_) => true,
        TypeRef::User(id) => {
            let model = dataset.model().unwrap();
            model.user_type(id).is_some_and(|ty| matches!(ty.kind, UserKind::Enum { .. }))
        }
    }
}

/// Attributes of variables, as h5py reads them.
fn same_attributes(dataset: &Dataset, read: &Value) -> Result<(), String> {
    for variable in dataset.variables() {
        let theirs = &read[variable.path()]["attributes"];
        for attribute in variable.attributes().unwrap().iter() {
            let ours = match &attribute.values {
                Values::Char(_) => Value::from(vec![attribute.as_text().unwrap()]),
                values => printed(values),
            };
            if theirs[&attribute.name] != ours {
                let (path, name) = (variable.path(), &attribute.name);
                return Err(format!("h5py {path}:{name} is {}, not {ours}", theirs[name]));
            }
        }
        let atomic = matches!(variable.ty(), Some(TypeRef::Atomic(atomic)) if atomic != Atomic::String);
        if atomic && theirs.is_null() {
            return Err(format!("h5py {}: no attributes", variable.path()));
        }
    }
    Ok(())
}
