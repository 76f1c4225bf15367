//! Grids and structures of a server of OPeNDAP: what they hold reads equal to the source, parts of them are what is
//! requested, and plans tell the requests and their bytes.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::{Numbers, served, start};
use ncirrus::{Dataset, OpenOptions, Selection, Session, TypeRef, Values};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedGrids};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

/// Compounds, scalar and in arrays, nested and with arrays inside; groups in groups; and a group of scalars.
const STRUCTURES: &str = "netcdf s {
types:
  compound point_t { ubyte quality ; short level ; double where(2) ; } ;
  compound pair_t { ubyte flags(5) ; point_t inner(2) ; float weight ; } ;
dimensions: x = 6 ; y = 4 ;
variables:
  point_t one ;
  point_t many(x, y) ;
  pair_t nested(y) ;
  ubyte alone ;
  int plain(x) ;
group: g {
  dimensions: z = 5 ;
  variables: ubyte flag(z) ; float v(x, z) ; ubyte best ;
  group: h { variables: short w(y) ; ubyte b(x, y) ; }
}
group: facts { variables: ubyte rank ; double height ; }
}";

/// That dataset as a file, with a value of its own for each element.
pub(crate) fn structures(folder: &Path) -> PathBuf {
    let mut next = 0;
    let mut number = || {
        next += 1;
        next
    };
    let mut numbers = |count: usize| (0..count).map(|_| number().to_string()).collect::<Vec<_>>().join(", ");
    let mut point = |at: usize| {
        format!("{{{}, {}, {{{}.5, -{at}}}}}", 100 + at, 7 - i64::try_from(at).unwrap() * 300, at)
    };
    let one = point(99);
    let many = (0..24).map(&mut point).collect::<Vec<_>>().join(", ");
    let nested = (0..4).map(|at| {
        let (first, second) = (point(2 * at), point(2 * at + 1));
        format!("{{{{1, 200, 3, 255, {at}}}, {{{first}, {second}}}, {at}.25}}")
    });
    let nested = nested.collect::<Vec<_>>().join(", ");
    let data = [
        ("one", one),
        ("many", many),
        ("nested", nested),
        ("alone", "200".to_owned()),
        ("plain", numbers(6)),
    ];
    let of = |values: &[(&str, String)]| {
        let mut text = "data:\n".to_owned();
        values.iter().for_each(|(name, values)| _ = writeln!(text, "{name} = {values} ;"));
        text
    };
    let (flag, v, w, b) = (numbers(5), numbers(30), numbers(4), numbers(24));
    let text = STRUCTURES
        .replacen("group: g {", &format!("{}group: g {{", of(&data)), 1)
        .replace(
            "ubyte best ;\n",
            &format!("ubyte best ;\n{}", of(&[("flag", flag), ("v", v), ("best", "130".into())])),
        )
        .replace("b(x, y) ; }", &format!("b(x, y) ; {} }}", of(&[("w", w), ("b", b)])))
        .replace(
            "double height ; }",
            &format!("double height ; {} }}", of(&[("rank", "250".into()), ("height", "1.75".into())])),
        );
    let (cdl, file) = (folder.join("s.cdl"), folder.join("s.nc4"));
    std::fs::write(&cdl, text).unwrap();
    ncirrus(&["generate", cdl.to_str().unwrap(), file.to_str().unwrap()]);
    file
}

fn ncirrus(arguments: &[&str]) -> String {
    let output = crate::program::command().args(arguments).output().unwrap();
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

fn example() -> PathBuf {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").into()
}

/// A dataset of a server beside its source.
struct Opened {
    server: DapServer,
    far: Dataset,
    source: Dataset,
    mode: &'static str,
}

fn opened(path: &Path, behaviour: DapBehaviour, mode: &'static str) -> Opened {
    let server = DapServer::start([("x".to_owned(), served(path))], behaviour);
    let session = Session::new().unwrap();
    let address = format!("{}#{mode}", server.url("x"));
    let far = Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap();
    assert_eq!(server.take_requests().len(), if mode == "dap2" { 2 } else { 1 }, "opening");
    let source = Dataset::open(path.to_str().unwrap()).unwrap();
    Opened { server, far, source, mode }
}

/// Bytes of the counts before so many bytes of values, which are all of an answer, and of the zeros behind them.
fn counts(values: &Values, is_array: bool, bytes: u64) -> u64 {
    match values {
        _ if !is_array => 0,
        Values::Compound { .. } => 4,
        Values::UByte(_) => 8 + bytes.wrapping_neg() % 4,
        _ => 8,
    }
}

impl Opened {
    /// Where a variable of the source stands: groups of DAP2 are structures.
    fn path(&self, of_source: &str) -> String {
        match self.mode {
            "dap2" => format!("/{}", of_source.trim_start_matches('/').replace('/', ".")),
            _ => of_source.to_owned(),
        }
    }

    /// Reads a part of a variable, equal to the source and as it was planned; the requests.
    fn read(&self, of_source: &str, part: &Selection) -> Vec<String> {
        let (ours, theirs) =
            (self.source.variable(of_source).unwrap(), self.far.variable(&self.path(of_source)).unwrap());
        let plan = self.far.plan(&theirs, part).unwrap();
        let expected = ours.values(part).unwrap();
        let found = theirs.values(part).unwrap();
        assert!(found.is_identical(&expected), "{} {of_source} {part:?}: {found:?} {expected:?}", self.mode);
        let requests = self.server.take_requests();
        assert_eq!(requests.len() as u64, plan.requests, "{of_source} {part:?}: {requests:?}");
        if let ("dap2", false, [only]) = (self.mode, plan.is_estimate, requests.as_slice())
            && !only.contains(',')
        {
            let body = self.server.reply_to(only);
            let start = body.windows(7).position(|mark| mark == b"\nData:\n").unwrap() + 7;
            let is_array = !ours.shape().is_empty();
            let sent = (body.len() - start) as u64;
            // Of structures inside others the server sends the counts, too.
            assert_eq!(sent, plan.bytes + counts(&expected, is_array, plan.bytes), "{only}");
        }
        requests
    }

    /// Reads variables whole and in random parts; how many there were.
    fn compare(&self) -> usize {
        let model = self.source.model().unwrap();
        let theirs = self.far.model().unwrap();
        let (mut numbers, mut compared) = (Numbers(5), 0);
        for id in model.variables() {
            let path = model.variable_path(id);
            let variable = model.variable(id).unwrap();
            let Some(other) = theirs.variable_at(&self.path(&path)) else { continue };
            let is_same = |ty: TypeRef| matches!(ty, TypeRef::User(_)) || ty == variable.ty;
            if !is_same(theirs.variable(other).unwrap().ty) {
                continue;
            }
            let shape = model.shape(id);
            assert_eq!(theirs.shape(other), shape, "{path}");
            (0..8).for_each(|_| _ = self.read(&path, &numbers.selection(&shape)));
            self.read(&path, &Selection::all(&shape));
            compared += 1;
        }
        compared
    }
}

#[test]
fn grids_read_equal_to_their_source_with_maps_beside_and_alone() {
    for grids in [ServedGrids::Beside, ServedGrids::MapsAlone] {
        let opened = opened(&example(), DapBehaviour { grids, ..DapBehaviour::default() }, "dap2");
        let dds = String::from_utf8(opened.server.reply_to("x.dds")).unwrap();
        assert!(dds.contains("Grid {") && dds.contains("Maps:"), "{dds}");
        assert_eq!(dds.starts_with("Dataset {\n    Grid"), grids == ServedGrids::MapsAlone, "{dds}");
        assert!(opened.compare() >= 4);
        let names = |dataset: &Dataset| -> Vec<String> {
            let model = dataset.model().unwrap();
            let mut names: Vec<String> =
                model.variables().iter().map(|id| model.variable_path(*id)).collect();
            names.sort();
            names
        };
        assert_eq!(names(&opened.far), names(&opened.source), "each map is shown once");
    }
}

#[test]
fn of_a_grid_the_array_or_a_map_is_requested() {
    let behaviour = DapBehaviour { grids: ServedGrids::MapsAlone, ..DapBehaviour::default() };
    let opened = opened(&example(), behaviour, "dap2");
    let part = Selection::slab(&[2, 0, 3], &[3, 2, 1]);
    assert_eq!(opened.read("/sst", &part), ["x.dods?sst.sst%5B2:4%5D%5B0:1%5D%5B3%5D"]);
    assert_eq!(
        opened.read("/sst", &Selection::all(&opened.source.variable("/sst").unwrap().shape())),
        ["x.dods?sst.sst"]
    );
    let map = opened.read("/lat", &Selection::slab(&[1], &[3]));
    assert!(map.len() == 1 && map[0].starts_with("x.dods?sst.lat,sst."), "with the other maps: {map:?}");
    assert!(opened.read("/lon", &Selection::slab(&[2], &[1])).is_empty(), "it came with the first");
}

#[test]
fn a_dump_and_a_copy_of_grids_are_those_of_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let dump = |address: &str| ncirrus(&["dump", "-n", "x", "-v", "sst,lat,lon,time", "-p", "9,17", address]);
    let data = |text: &str| text.split_once("data:").unwrap().1.split_whitespace().collect::<String>();
    for grids in [ServedGrids::None, ServedGrids::Beside, ServedGrids::MapsAlone] {
        let server = start(&[example()], DapBehaviour { grids, ..DapBehaviour::default() });
        let address = format!("{}#dap2", server.url("sst.nc"));
        let explained: serde_json::Value =
            serde_json::from_str(&ncirrus(&["explain", "--json", &address])).unwrap();
        server.take_requests();
        let copy = folder.path().join("copy.nc");
        let copy = copy.to_str().unwrap();
        let sorted = |text: String| {
            let mut parts: Vec<String> = data(&text).split(';').map(str::to_owned).collect();
            parts.sort();
            parts
        };
        let expected = sorted(dump(example().to_str().unwrap()));
        assert_eq!(sorted(dump(&address)), expected, "{grids:?}");
        server.take_requests();
        ncirrus(&["copy", "--overwrite", &address, copy]);
        let requests = server.take_requests();
        let sent = requests.iter().filter(|target| target.contains(".dods")).count();
        assert_eq!(explained["requests"], sent, "{requests:?}");
        assert_eq!(sorted(dump(copy)), expected, "{grids:?}");
    }
}

#[test]
fn structures_read_equal_to_their_source() {
    let folder = tempfile::tempdir().unwrap();
    let file = structures(folder.path());
    let behaviour = DapBehaviour { structures: true, ..DapBehaviour::default() };
    for (mode, behaviour, expected) in [
        ("dap2", behaviour, 10),
        ("dap4", behaviour, 12),
        ("dap4", DapBehaviour { big_endian: true, chunk_len: 3, ..behaviour }, 12),
    ] {
        let opened = opened(&file, behaviour, mode);
        assert_eq!(opened.compare(), expected, "{mode}");
    }
}

#[test]
fn of_a_structure_what_is_needed_is_requested_by_its_path() {
    let folder = tempfile::tempdir().unwrap();
    let file = structures(folder.path());
    let opened = opened(&file, DapBehaviour { structures: true, ..DapBehaviour::default() }, "dap2");
    let cases = [
        ("/many", Selection::slab(&[1, 0], &[3, 2]), "many%5B1:3%5D%5B0:1%5D"),
        ("/nested", Selection::strided(&[0], &[2], &[3]), "nested%5B0:3:3%5D"),
        ("/one", Selection::all(&[]), "one"),
        ("/alone", Selection::all(&[]), "alone"),
        ("/g/flag", Selection::slab(&[1], &[3]), "g.flag%5B1:3%5D"),
        ("/g/best", Selection::all(&[]), "g.best"),
        ("/g/v", Selection::slab(&[2, 1], &[2, 3]), "g.v%5B2:3%5D%5B1:3%5D"),
        ("/g/h/b", Selection::slab(&[5, 0], &[1, 4]), "g.h.b%5B5%5D%5B0:3%5D"),
        ("/g/h/w", Selection::all(&[4]), "g.h.w"),
    ];
    for (path, part, query) in cases {
        assert_eq!(opened.read(path, &part), [format!("x.dods?{query}")], "{path}");
    }
    // A structure of scalars is one value.
    let facts = opened.far.variable("/facts").unwrap();
    let fields = vec![Values::UByte(vec![250]), Values::Double(vec![1.75])];
    let plan = opened.far.plan(&facts, &Selection::all(&[])).unwrap();
    assert_eq!((plan.requests, plan.bytes, plan.is_estimate), (1, 4 + 8, false));
    assert_eq!(facts.values(&Selection::all(&[])).unwrap(), Values::Compound { len: 1, fields });
    assert_eq!(opened.server.take_requests(), ["x.dods?facts"]);
}

#[test]
fn members_of_structures_are_read_in_the_view_of_netcdf_c() {
    let folder = tempfile::tempdir().unwrap();
    let file = structures(folder.path());
    let opened = opened(&file, DapBehaviour { structures: true, ..DapBehaviour::default() }, "dap2");
    let session = Session::builder().chunk_cache(0).build().unwrap();
    let address = format!("{}#dap2&view=netcdf-c", opened.server.url("x"));
    let far = Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap();
    opened.server.take_requests();
    let Values::Compound { fields, .. } =
        opened.source.variable("/many").unwrap().values(&Selection::all(&[6, 4])).unwrap()
    else {
        unreachable!("a compound")
    };
    let level = far.variable("many.level").unwrap();
    assert!(level.values(&Selection::all(&[6, 4])).unwrap().is_identical(&fields[1]));
    assert_eq!(opened.server.take_requests(), ["x.dods?many.level"]);
    let part = Selection::slab(&[2, 1, 1], &[2, 2, 1]);
    let found = far.variable("many.where").unwrap().values(&part).unwrap();
    let all = |at: usize| fields[2].number(at).unwrap();
    let expected = [(2, 1), (2, 2), (3, 1), (3, 2)].map(|(x, y)| all((x * 4 + y) * 2 + 1));
    assert!(found.is_identical(&Values::Double(expected.to_vec())), "{found:?}");
    let [request] = opened.server.take_requests().try_into().unwrap();
    assert_eq!(request, "x.dods?many%5B2:3%5D%5B1:2%5D.where%5B1%5D");
    let plan = far.plan(&far.variable("many.where").unwrap(), &part).unwrap();
    let body = opened.server.reply_to(&request);
    let start = body.windows(7).position(|mark| mark == b"\nData:\n").unwrap() + 7;
    assert_eq!((body.len() - start) as u64, plan.bytes + 4, "the count of the structures");
}
