//! Grids, sequences and structures of the test server as other programs read them: Debian's `ncdump`, and pydap's client.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::{served, words};
use crate::opendap_structures::structures;
use ncirrus::{Dataset, Selection};
use ncirrus_testkit::corpus::{peers_python, program};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedGrids};
use std::path::{Path, PathBuf};
use std::process::Command;

fn example() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").into()
}

fn serve(path: &Path, behaviour: DapBehaviour) -> DapServer {
    DapServer::start([("x".to_owned(), served(path))], behaviour)
}

#[test]
fn ncdump_reads_grids_sequences_and_structures_as_this_program_shows_them() {
    let Some(ncdump) = program("ncdump") else { return };
    let folder = tempfile::tempdir().unwrap();
    let plain = DapBehaviour::default();
    let cases = [
        (example(), DapBehaviour { grids: ServedGrids::Beside, ..plain }),
        (example(), DapBehaviour { grids: ServedGrids::MapsAlone, ..plain }),
        (example(), DapBehaviour { sequences: true, ..plain }),
        (structures(folder.path()), DapBehaviour { structures: true, ..plain }),
    ];
    let mut different = Vec::new();
    for (path, behaviour) in cases {
        let address = format!("{}#dap2", serve(&path, behaviour).url("x"));
        let theirs = Command::new(&ncdump).arg(&address).output().unwrap();
        let ours = crate::program::command().args(["ncdump", &address]).output().unwrap();
        let (ours, theirs) = (words(&ours.stdout), words(&theirs.stdout));
        assert!(theirs.contains("data:"), "{behaviour:?}: ncdump reads nothing");
        if ours != theirs {
            let at = ours.bytes().zip(theirs.bytes()).position(|(one, other)| one != other).unwrap_or(0);
            let around = |text: &str| text.chars().skip(at.saturating_sub(80)).take(300).collect::<String>();
            different.push((behaviour, around(&ours), around(&theirs)));
        }
    }
    assert!(different.is_empty(), "{different:#?}");
}

/// The values of a variable, member or column by its path, as JSON.
const SCRIPT: &str = r#"
import json, sys, warnings
warnings.simplefilter("ignore")
import numpy
from pydap.client import open_url
from pydap.model import GridType, SequenceType

def flat(found):
    found = numpy.asarray(getattr(found, "data", found))
    return [float(value) for value in found.ravel()]

dataset = open_url(sys.argv[1], protocol="dap2")
values = {}
for path in sys.argv[2:]:
    found, column = dataset, None
    for name in path.split("."):
        if isinstance(found, SequenceType):
            column = name
            break
        found = found[name]
    if column is not None:
        rows = numpy.array([row for row in found[column].iterdata()], dtype=float)
        values[path] = [float(value) for value in rows]
    elif isinstance(found, GridType):
        values[path] = flat(found.array[:])
    elif found.shape == ():
        values[path] = flat(found[...] if found.ndim else found.data)
    else:
        values[path] = flat(found[:])
print(json.dumps(values))
"#;

/// What pydap's client reads, and what the source has.
fn compare_with_pydap(path: &Path, behaviour: DapBehaviour, pairs: &[(&str, &str)]) {
    let Some(python) = peers_python() else { return };
    let server = serve(path, behaviour);
    let paths = pairs.iter().map(|(path, _)| *path);
    let output = Command::new(python).args(["-c", SCRIPT, &server.url("x")]).args(paths).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let read: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let source = Dataset::open(path.to_str().unwrap()).unwrap();
    for (path, of_source) in pairs {
        let variable = source.variable(of_source).unwrap();
        let values = variable.values(&Selection::all(&variable.shape())).unwrap();
        let expected: Vec<f64> = (0..values.len()).map(|at| values.number(at).unwrap()).collect();
        let found: Vec<f64> = serde_json::from_value(read[*path].clone()).unwrap();
        assert_eq!(found, expected, "{path}");
    }
}

#[test]
fn pydap_reads_grids_sequences_and_structures_equal_to_the_source() {
    let plain = DapBehaviour::default();
    let grids = [("sst", "/sst"), ("sst.lat", "/lat"), ("sst.lon", "/lon")];
    for kind in [ServedGrids::Beside, ServedGrids::MapsAlone] {
        compare_with_pydap(&example(), DapBehaviour { grids: kind, ..plain }, &grids);
    }
    let columns = [("lat.lat", "/lat"), ("lon.lon", "/lon")];
    compare_with_pydap(&example(), DapBehaviour { sequences: true, ..plain }, &columns);
    let folder = tempfile::tempdir().unwrap();
    let members = [("g.flag", "/g/flag"), ("g.v", "/g/v"), ("g.h.w", "/g/h/w"), ("plain", "/plain")];
    compare_with_pydap(&structures(folder.path()), DapBehaviour { structures: true, ..plain }, &members);
}
