//! Files written by faulty builds are read, and a copy of them is right (`docs/design/023-faults-before-0.1.md`).
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::checked::mended;
use crate::support::{exact, session, temp};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Field, FileStructures, Kind, OpenOptions,
    Selection, Session, TypeRef, UserKind, UserType, Values,
};
use ncirrus_testkit::corpus::program;
use ncirrus_tools::{CopyOptions, LongNames, copy};
use std::path::Path;
use std::process::Command;

/// Dimension scales, and compounds of numbers as a type, in an attribute, and in lists.
fn compounds(path: &Path, structures: FileStructures, session: &Session) -> Dataset {
    let options = CreateOptions::new().kind(Kind::Nc4).structures(structures);
    let url = path.to_str().unwrap();
    let dataset = Dataset::create_with(url, &options, session).unwrap();
    let pairs = || Values::Compound {
        len: 2,
        fields: vec![Values::Int(vec![1, -2]), Values::Double(vec![0.5, 3.25])],
    };
    let build = |model: &mut ncirrus::Model| {
        let root = model.root();
        let x = model.add_dimension(root, "x", DimensionLen::Fixed(2))?;
        let field = |name: &str, ty: Atomic| Field { name: name.into(), ty: ty.into(), dims: Vec::new() };
        let kind = UserKind::Compound(vec![field("first", Atomic::Int), field("second", Atomic::Double)]);
        let pair = model.add_type(root, UserType { name: "pair".into(), kind })?;
        let kind = UserKind::Vlen(TypeRef::User(pair));
        let list = model.add_type(root, UserType { name: "list".into(), kind })?;
        for (name, ty) in
            [("x", TypeRef::Atomic(Atomic::Int)), ("p", TypeRef::User(pair)), ("l", TypeRef::User(list))]
        {
            model.add_variable(root, name, ty, &[x])?;
        }
        let attribute =
            Attribute { name: "a".into(), ty: TypeRef::User(pair), values: pairs(), is_json: false };
        model.attributes_mut(ncirrus::NodeId::Group(root)).unwrap().known_mut().put(attribute);
        Ok(())
    };
    dataset.edit(build).unwrap();
    let write = |name: &str, values: &Values| {
        dataset.variable(name).unwrap().write_values(&Selection::slab(&[0], &[2]), values).unwrap();
    };
    write("x", &Values::Int(vec![10, 20]));
    write("p", &pairs());
    write("l", &Values::Vlen { ends: vec![0, 2], elements: Box::new(pairs()) });
    dataset.close().unwrap();
    Dataset::open_with(url, &OpenOptions::default(), session).unwrap()
}

/// Relabels compounds of version 3 as version 1, as the miscompiled builds did; returns how many.
fn mislabel(path: &Path) -> usize {
    let bytes = std::fs::read(path).unwrap();
    let is_compound = |at: &usize| {
        let head = &bytes[*at..];
        head.starts_with(&[0x36, 2, 0, 0])
            && [&b"first\0"[..], b"dataset\0"].iter().any(|name| head[8..].starts_with(name))
    };
    let heads: Vec<usize> = (0..bytes.len() - 16).filter(is_compound).collect();
    let changed = mended(&bytes, |bytes| heads.iter().for_each(|at| bytes[*at] = 0x16));
    std::fs::write(path, changed).unwrap();
    heads.len()
}

#[test]
fn compounds_of_a_wrong_version_are_read_and_rewritten() {
    let (session, (_folder, temp)) = (session(), temp());
    for (name, structures) in [("old", FileStructures::V18), ("new", FileStructures::V110)] {
        let (path, copied) = (temp.join(format!("{name}.nc")), temp.join(format!("{name}-copied.nc")));
        let whole = exact(&compounds(&path, structures, &session));
        assert_eq!(mislabel(&path), 3, "the type, the one inside the list, and that of the references");
        if let Some(ncdump) = program("ncdump") {
            let status = Command::new(ncdump).arg("-h").arg(&path).output().unwrap().status;
            assert!(!status.success(), "netCDF-C reads it, there is nothing to repair");
        }
        let broken = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
        assert_eq!(exact(&broken), whole);
        let options = CopyOptions::new().create(CreateOptions::new().kind(Kind::Nc4).structures(structures));
        copy(&broken, copied.to_str().unwrap(), &options, &session).unwrap();
        let right = Dataset::open_with(copied.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
        assert_eq!(exact(&right), whole);
        for (tool, argument) in [("ncdump", "-h"), ("h5dump", "-p")] {
            let Some(tool) = program(tool) else { continue };
            let output = Command::new(tool).arg(argument).arg(&copied).output().unwrap();
            assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        }
    }
}

/// A group whose name has 300 bytes, because of which netCDF-C refuses the whole file.
#[test]
fn names_that_netcdf_c_cannot_read_are_refused_or_shortened() {
    let Some(corpus) = ncirrus_testkit::corpus::corpus("hdf5/gen") else { return };
    let (session, (_folder, temp)) = (session(), temp());
    let path = corpus.join("c_v18_groups.h5");
    let source = Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let copied = temp.join("short.nc");
    let options =
        |long_names| CopyOptions::new().create(CreateOptions::new().kind(Kind::Nc4)).long_names(long_names);
    let error = copy(&source, copied.to_str().unwrap(), &options(LongNames::Refuse), &session).unwrap_err();
    assert!(error.message().contains("more than the 256 that netCDF-C reads"), "{error}");
    assert!(!copied.exists());
    let report = copy(&source, copied.to_str().unwrap(), &options(LongNames::Shorten), &session).unwrap();
    assert!(report.losses.iter().any(|loss| loss.contains("is named")), "{:?}", report.losses);
    if let Some(ncdump) = program("ncdump") {
        let output = Command::new(ncdump).arg("-h").arg(&copied).output().unwrap();
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    }
}
