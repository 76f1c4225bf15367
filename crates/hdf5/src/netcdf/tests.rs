//! Files as netCDF: those that peers write during the test, and some of the corpus.
use crate::Hdf5Driver;
use crate::testing::done;
use ncirrus_layout::{Catalog, DatasetView, Driver, ErrorKind, OpenOptions};
use ncirrus_model::{
    Atomic, Attributes, DimId, FaultKind, Format, GroupId, Model, NodeId, TypeRef, Values, VarId,
};
use ncirrus_testkit::corpus::{corpus, peers_python};
use ncirrus_testkit::{MemoryView, ObjectView};
use serde_json::{Map, Value, json};
use std::process::Command;
use std::sync::Arc;

const SCRIPT: &str = include_str!("tests/peers.py");

/// A file that is open.
struct OpenFile {
    view: MemoryView,
    catalog: Arc<dyn Catalog>,
    model: Arc<Model>,
}

impl OpenFile {
    fn new(objects: ObjectView, name: &str) -> Self {
        let view = MemoryView::new(objects);
        let catalog = done(Hdf5Driver.open(&view, &ObjectView::id(name), &OpenOptions::default())).unwrap();
        let model = done(catalog.tree(&view)).unwrap();
        Self { view, catalog, model }
    }

    fn attributes(&self, node: NodeId) -> Attributes {
        done(self.catalog.attributes(&self.view, &[node])).unwrap().remove(0).unwrap()
    }

    fn root_attributes(&self) -> Attributes {
        self.attributes(NodeId::Group(self.model.root()))
    }

    fn dims(&self, variable: &str) -> Vec<String> {
        let variable = self.model.variable(self.model.variable_at(variable).unwrap()).unwrap();
        variable.dims.iter().map(|dim| self.model.dimension_path(*dim)).collect()
    }
}

/// The files of the peers' script, and what netCDF-C reads from them.
fn written() -> Option<(ObjectView, Map<String, Value>)> {
    let python = peers_python()?;
    let home = tempfile::tempdir().unwrap();
    let output = Command::new(python).args(["-c", SCRIPT]).arg(home.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let said = serde_json::from_slice(&output.stdout).unwrap();
    Some((ObjectView::from_dir(home.path()).unwrap(), said))
}

fn of_corpus(path: &str) -> Option<OpenFile> {
    let file = corpus("hdf5")?.join(path);
    Some(OpenFile::new(ObjectView::one("f", std::fs::read(file).unwrap()), "f"))
}

/// A group as the script describes it.
fn seen(open: &OpenFile, id: GroupId) -> Value {
    let (model, group) = (&open.model, open.model.group(id).unwrap());
    let dimension = |dim: &DimId| {
        let dim = model.dimension(*dim).unwrap();
        json!([dim.name, dim.len.current(), dim.len.is_unlimited()])
    };
    // Opaque types are not in the peer's list.
    let is_listed = |name: &&str| !name.contains("Opaque");
    let types = group.types.iter().map(|id| model.user_type(*id).unwrap().name.as_str());
    let mut types: Vec<&str> = types.filter(is_listed).collect();
    types.sort_unstable();
    let variable = |id: &VarId| {
        let variable = model.variable(*id).unwrap();
        let is_opaque = matches!(variable.ty, TypeRef::User(id) if model.type_path(id).contains("Opaque"));
        let dims: Vec<&str> =
            variable.dims.iter().map(|dim| model.dimension(*dim).unwrap().name.as_str()).collect();
        let attributes = names(&open.attributes(NodeId::Variable(*id)));
        (!is_opaque).then(|| json!([variable.name, dims, attributes]))
    };
    let subgroup = |id: &GroupId| (model.group(*id).unwrap().name.clone(), seen(open, *id));
    json!({
        "dimensions": group.dims.iter().map(dimension).collect::<Vec<_>>(),
        "types": types,
        "variables": group.vars.iter().filter_map(variable).collect::<Vec<_>>(),
        "attributes": names(&open.attributes(NodeId::Group(id))),
        "groups": group.groups.iter().map(subgroup).collect::<Map<_, _>>(),
    })
}

fn names(attributes: &Attributes) -> Vec<String> {
    attributes.iter().map(|attribute| attribute.name.clone()).collect()
}

#[test]
fn files_of_peers_are_seen_as_netcdf_c_sees_them() {
    let Some((objects, said)) = written() else { return };
    // The two ways in which releases differ are tested below.
    let said = said.iter().filter(|(name, said)| !said.is_null() && *name != "class_of_any_length.h5");
    let mut seen_files = 0;
    for (name, said) in said {
        let open = OpenFile::new(objects.clone(), name);
        let mut ours = seen(&open, open.model.root());
        ours["model"] = match open.catalog.kind().format {
            Format::NetCdf4Classic => json!("NETCDF4_CLASSIC"),
            Format::NetCdf4 | Format::Classic | Format::Offset64 | Format::Data64 => json!("NETCDF4"),
        };
        assert_eq!(ours, *said, "{name}");
        seen_files += 1;
    }
    assert!(seen_files >= 13, "{seen_files} files");
}

#[test]
fn what_netcdf_c_refuses_is_read_as_far_as_it_goes() {
    let Some((objects, said)) = written() else { return };
    assert!(
        said["links.h5"].is_null() && said["partly_attached.h5"].is_null() && said["attributes.h5"].is_null()
    );

    let open = OpenFile::new(objects.clone(), "links.h5");
    let paths: Vec<String> = open.model.variables().iter().map(|id| open.model.variable_path(*id)).collect();
    assert_eq!(paths, ["/d", "/hard", "/soft", "/there/w", "/there/h/v"]);
    let warnings = open.catalog.warnings();
    for name in ["/dangling", "/foreign", "/g/up", "/g/loop"] {
        assert!(warnings.iter().any(|text| text.contains(name)), "{name}: {warnings:?}");
    }

    let strictly = |name: &str| {
        let (view, options) =
            (MemoryView::new(objects.clone()), OpenOptions::default().view(DatasetView::NetcdfCStrict));
        done(Hdf5Driver.open(&view, &ObjectView::id(name), &options)).map(|_| ())
    };
    let refused = strictly("links.h5").unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Malformed);
    assert!(refused.to_string().contains("netCDF-C does not open this file"), "{refused}");
    strictly("class_of_any_length.h5").unwrap();

    let open = OpenFile::new(objects.clone(), "partly_attached.h5");
    assert_eq!(open.dims("v"), ["/x", "/phony_dim_1"]);

    let open = OpenFile::new(objects, "class_of_any_length.h5");
    assert_eq!(open.dims("vlen"), ["/phony_dim_0"]);
}

#[test]
fn attributes_of_every_form_are_read_and_only_those_without_a_type_are_faults() {
    let Some((objects, _)) = written() else { return };
    let open = OpenFile::new(objects, "attributes.h5");
    let attributes = open.root_attributes();
    let values = |name: &str| attributes.find(name).unwrap_or_else(|| panic!("no {name}")).values.clone();
    let strings = |list: &[&str]| Values::String(list.iter().map(|text| Some(*text)).collect());
    assert_eq!(values("full"), Values::Char(b"abc".to_vec()));
    assert_eq!(values("padded"), Values::Char(b"abc\0\0\0".to_vec()));
    assert_eq!(values("fixed"), strings(&["ab", "abcd"]));
    assert_eq!(values("vlen"), strings(&["text"]));
    assert_eq!(values("vlens"), strings(&["one", "", "three"]));
    assert_eq!(values("nothing"), Values::Char(Vec::new()));
    assert_eq!(values("no_numbers"), Values::Float(Vec::new()));
    assert_eq!(values("scalar"), Values::Short(vec![7]));
    assert_eq!(values("square"), Values::Int(vec![0, 1, 2, 3]));
    assert_eq!(values("array"), Values::Short(vec![0, 1, 2, 3, 4, 5]));
    assert_eq!(values("truth"), Values::Byte(vec![1]));
    assert_eq!(values("object"), strings(&["/"]));
    assert_eq!(values("region"), strings(&["/d {(1)-(2)}"]));
    assert!(attributes.find("NAME").is_none() && attributes.find("CLASS").is_none());
    let faults: Vec<_> = attributes.faults.iter().map(|(name, fault)| (name.as_str(), fault.kind)).collect();
    assert_eq!(faults, [("time", FaultKind::Unsupported)]);

    let empty = open.model.variable(open.model.variable_at("empty").unwrap()).unwrap();
    assert_eq!((empty.ty, empty.rank(), &empty.fault), (Atomic::Float.into(), 0, &None));
}

#[test]
fn types_are_those_that_are_committed_even_when_they_are_equal() {
    let Some((objects, _)) = written() else { return };
    let open = OpenFile::new(objects, "committed.h5");
    let type_of = |path: &str| {
        let variable = open.model.variable(open.model.variable_at(path).unwrap()).unwrap();
        let TypeRef::User(id) = variable.ty else { panic!("{path} is atomic") };
        open.model.type_path(id)
    };
    assert_eq!(["of_first", "of_second", "of_none"].map(type_of), ["/first", "/second", "/first"]);
}

#[test]
fn provenance_of_both_versions_is_a_fact() {
    let fact = |path: &str| of_corpus(path)?.catalog.facts().provenance;
    let Some(old) = fact("ext/netcdf4-python/test_gold.nc") else { return };
    assert!(old.starts_with("version=1|netcdflibversion="), "{old}");
    let new = fact("gennc/nc4_groups.nc").unwrap();
    assert!(new.starts_with("version=2,") && !new.contains('\0'), "{new}");
}

#[test]
fn back_references_of_any_form_do_not_matter() {
    for path in ["ext/netcdf-c/ref_tst_compounds3.nc", "ext/netcdf-c/ref_tst_compounds.nc"] {
        let Some(open) = of_corpus(path) else { return };
        assert!(open.catalog.warnings().is_empty(), "{path}: {:?}", open.catalog.warnings());
        for id in open.model.variables() {
            assert!(open.attributes(NodeId::Variable(id)).faults.is_empty(), "{path}");
        }
    }
}

#[test]
fn a_net_of_links_that_could_be_followed_for_ever_is_read_in_bounds() {
    let Some(python) = peers_python() else { return };
    let home = tempfile::tempdir().unwrap();
    // Two links from each of 40 groups to the next: 2^40 paths.
    let script = "import h5py, sys
with h5py.File(sys.argv[1], 'w') as f:
    last = f.create_group('g0')
    for number in range(1, 40):
        last['a'] = last['b'] = group = f.create_group(f'g{number}')
        last = group
";
    let path = home.path().join("net.h5");
    let made = Command::new(python).args(["-c", script]).arg(&path).output().unwrap();
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let open = OpenFile::new(ObjectView::one("f", std::fs::read(path).unwrap()), "f");
    assert!(open.model.walk().len() < 40 * 257, "{}", open.model.walk().len());
    assert!(open.catalog.warnings().iter().any(|text| text.contains("too many paths")));
}
