//! Grids, sequences and structures of the test server as other programs read them: Debian's `ncdump`, and pydap's client.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::{served, words};
use crate::opendap_structures::structures;
use ncirrus::{Dataset, Selection};
use ncirrus_testkit::corpus::{peers_python, program};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedGrids};
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
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

/// Attributes of members and variables that share names, or paths.
const NAMED_ALIKE: [&str; 14] = [
    "t { String a \"1\"; }",
    "s { t { String a \"1\"; } }",
    "s.t { String a \"1\"; }",
    "g { String a \"1\"; y { String b \"2\"; } }",
    "s { String a \"1\"; u { String a \"2\"; } } u { String a \"3\"; String c \"4\"; }",
    "in { t { String a \"1\"; } String b \"2\"; }",
    "zz { t { String a \"1\"; } String b \"x\"; yy { String c \"3\"; } }",
    "y { String a \"2\"; } g.g { String k \"5\"; } g.y { String m \"6\"; } k { String n \"7\"; }",
    "arr { String a \"1\"; } k.arr { String b \"2\"; }",
    "NC_GLOBAL { t { String a \"1\"; } q { String c \"2\"; r { String d \"3\"; } } String e \"4\"; }",
    "DODS_EXTRA { t { String a \"1\"; } String b \"1\"; q { String c \"2\"; } }",
    "t { DODS { Int32 strlen 7; } String a \"1\"; } String top \"5\";",
    "s { t { u { String c \"2\"; } String d \"3\"; } } s.in.t { Int16 e 4; }",
    "g { g { String c \"2\"; } String d \"3\"; }",
];

#[test]
fn ncdump_gives_attributes_to_the_same_members() {
    let Some(ncdump) = program("ncdump") else { return };
    let dds = "Dataset { Int32 t; Structure { Int32 t; Int32 u; Structure { Int32 t; } in; } s; \
               Grid { ARRAY: Int32 g[y = 2]; MAPS: Int32 y[y = 2]; } g; Int32 u; Structure { Int32 y; Int32 g; } q; \
               Grid { ARRAY: Int32 arr[z = 2]; MAPS: Int32 z[z = 2]; } k; } x;";
    let server = TestHttpServer::start([]);
    let mut different = Vec::new();
    for (number, das) in NAMED_ALIKE.iter().enumerate() {
        let path = format!("/{number}");
        server.add(&format!("{path}.dds"), ServerPage::Whole(dds.into()));
        server.add(&format!("{path}.das"), ServerPage::Whole(format!("Attributes {{ {das} }}").into()));
        let address = format!("{}#dap2", server.url(&path));
        let theirs = Command::new(&ncdump).args(["-h", &address]).output().unwrap();
        let ours = crate::program::command().args(["ncdump", "-h", &address]).output().unwrap();
        let text = |output: &[u8]| String::from_utf8_lossy(output).split_once('{').unwrap().1.to_owned();
        let (ours, theirs) = (text(&ours.stdout), text(&theirs.stdout));
        if ours != theirs {
            different.push(format!("{das}\n{ours}\n{theirs}"));
        }
    }
    assert!(different.is_empty(), "{}", different.join("\n"));
}
