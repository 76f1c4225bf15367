//! Debian's `nccopy` as a client: copies of what is served, by both protocols, have the values and attributes of the source.
use crate::support::{self, TestServer, fixtures};
use ncirrus::{Attribute, Attributes, Dataset, Selection, Values};
use ncirrus_testkit::corpus::{corpus, program};
use std::path::Path;
use std::process::Command;

/// Protocol, dataset, path, and the reason why netCDF-C's copy differs from the source.
type NetcdfCException = (&'static str, &'static str, &'static str, &'static str);

const EXCEPTIONS: &[NetcdfCException] = &[
    ("dap2", "four.nc", "/g/bytes", SIGNED),
    ("dap2", "sub/v3.zarr", "/g/bytes", SIGNED),
    ("dap2", "v2.zarr", "/g/bytes", SIGNED),
    ("dap2", "sharded.zarr", "/g/bytes", SIGNED),
    ("dap2", "src_types4.nc", "/ub", SIGNED),
    ("dap2", "src_types4.nc", "/us", SIGNED),
    ("dap2", "src_types4.nc", "/ui", SIGNED),
    ("dap2", "src_types3b.nc", "/we-ird.x", "netCDF-C shows names as DAP2 writes them: we-ird%2Ex"),
    (
        "dap2",
        "src_groups.nc",
        "/",
        "DAP2 has no integers of 64 bits, and some values are beyond those of Float64",
    ),
    ("dap4", "sst.nc", "/sst:_FillValue", LAST_BITS),
    ("dap4", "src_types4.nc", "/f:att", LAST_BITS),
];
const SIGNED: &str =
    "netCDF-3 has no unsigned integers: the attribute _Unsigned, or the type in the DDS, says what they are";
const LAST_BITS: &str =
    "netCDF-C 4.9.0 reads the last bits of attributes of type Float32 wrongly, whatever their text";

/// The datasets of the other clients' tests, and those with all types and with groups.
fn sources(folder: &Path) -> Vec<String> {
    let mut names =
        ["three.nc", "four.nc", "sub/v3.zarr", "v2.zarr", "sharded.zarr"].map(str::to_owned).to_vec();
    let mut add = |from: &Path| {
        let name = from.file_name().unwrap().to_str().unwrap();
        std::fs::copy(from, folder.join(name)).unwrap();
        names.push(name.to_owned());
    };
    add(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc")));
    if let Some(corpus) = corpus("dap") {
        ["src_groups.nc", "src_types3b.nc", "src_types4.nc"].iter().for_each(|name| add(&corpus.join(name)));
    }
    names
}

#[test]
fn nccopy_copies_what_is_served() {
    let Some(nccopy) = program("nccopy") else { return };
    let folder = fixtures();
    let names = sources(folder.path());
    let server = TestServer::start(folder.path(), |builder| builder);
    let (mut wrong, mut unused) = (Vec::new(), EXCEPTIONS.to_vec());
    for name in &names {
        for mode in ["dap2", "dap4"] {
            let target = tempfile::tempdir().unwrap();
            let copy = target.path().join("copy.nc");
            let address = format!("http://{}/dap/{name}#{mode}", server.address());
            let output = Command::new(&nccopy).arg(&address).arg(&copy).output().unwrap();
            let found = if output.status.success() {
                differences(&folder.path().join(name), &copy, mode == "dap2")
            } else {
                vec![("/".to_owned(), String::from_utf8_lossy(&output.stderr).into_owned())]
            };
            for (path, difference) in found {
                let is_this =
                    |row: &NetcdfCException| (row.0, row.1, row.2) == (mode, name.as_str(), path.as_str());
                if EXCEPTIONS.iter().any(is_this) {
                    unused.retain(|row| !is_this(row));
                } else {
                    wrong.push(format!("{mode} {name} {path}: {difference}"));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(unused.is_empty(), "not needed: {unused:?}");
}

/// What differs between a dataset and its copy, by paths.
fn differences(source: &Path, copy: &Path, is_dap2: bool) -> Vec<(String, String)> {
    let open = |path: &Path| Dataset::open(path.to_str().unwrap()).unwrap();
    let (source, copy) = (open(source), open(copy));
    let mut found = Vec::new();
    let mut note = |path: &str, difference: String| found.push((path.to_owned(), difference));
    lost(&source.root().attributes().unwrap(), &copy.root().attributes().unwrap(), "/", &mut note);
    for variable in source.variables() {
        let path = variable.path();
        // DAP2 has no groups.
        let there = if is_dap2 { format!("/{}", path[1..].replace('/', "_")) } else { path.clone() };
        let Ok(copied) = copy.variable(&there) else {
            note(&path, format!("there is no {there}"));
            continue;
        };
        let (wanted, got) = (shown(&source, &path), shown(&copy, &there));
        if wanted != got {
            let at = wanted.iter().zip(&got).position(|(wanted, got)| wanted != got).unwrap_or(0);
            let lens = (got.len(), wanted.len());
            note(&path, format!("{:?} instead of {:?} at {at}, {lens:?}", got.get(at), wanted.get(at)));
        }
        lost(&variable.attributes().unwrap(), &copied.attributes().unwrap(), &path, &mut note);
    }
    found
}

/// Attributes that are absent from the copy, or have other values there.
fn lost(source: &Attributes, copy: &Attributes, path: &str, note: &mut impl FnMut(&str, String)) {
    let text = |attribute: &Attribute| match attribute.as_text() {
        Some(text) => text,
        None => format!("{:?}", numbers(&attribute.values)),
    };
    for attribute in source.iter() {
        let (wanted, got) = (text(attribute), copy.find(&attribute.name).map(text));
        if got.as_ref() != Some(&wanted) {
            note(&format!("{path}:{}", attribute.name), format!("{got:?} instead of {wanted:?}"));
        }
    }
}

fn numbers(values: &Values) -> Vec<String> {
    (0..values.len())
        .map(|at| values.number(at).map_or("none".to_owned(), |number| number.to_string()))
        .collect()
}

/// All values of a variable as numbers, or as texts: those of DAP2 are arrays of characters in netCDF-C.
fn shown(dataset: &Dataset, path: &str) -> Vec<String> {
    let variable = dataset.variable(path).unwrap();
    let shape = variable.shape();
    let values = variable.values(&Selection::all(&shape)).unwrap();
    let shape = if shape.is_empty() { vec![1] } else { shape };
    support::texts(&values, &shape).unwrap_or_else(|| numbers(&values))
}
