//! Sequences of a server of OPeNDAP: rows are counted once, and columns that are read together are of one answer.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::{Numbers, fixtures, name, start};
use ncirrus::{Atomic, Dataset, DimensionLen, ErrorKind, OpenOptions, Selection, Session, Values, VarId};
use ncirrus_model::Model;
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer, ServedDataset};
use std::sync::Arc;

const ROWS: u64 = 50;
const COLUMNS: [&str; 5] = ["name", "temp", "id", "flag", "lat"];

/// All values of a column.
fn column(name: &str) -> Values {
    let rows = 0..u8::try_from(ROWS).unwrap();
    match name {
        "name" => Values::String(
            rows.map(|row| Some(format!("station {}", "x".repeat(usize::from(row % 7))))).collect(),
        ),
        "temp" => Values::Double(rows.map(|row| f64::from(row) / 3.0).collect()),
        "id" => Values::Int(rows.map(|row| 1000 - i32::from(row)).collect()),
        "flag" => Values::Byte(rows.map(|row| i8::try_from(row).unwrap() - 25).collect()),
        _ => Values::Float(rows.map(|row| f32::from(row) * 1.5).collect()),
    }
}

fn part_of(values: &Values, part: &Selection) -> Values {
    let mut taken = values.empty_like();
    let axis = &part.axes()[0];
    for at in 0..axis.count() {
        let index = usize::try_from(axis.index(at).unwrap()).unwrap();
        assert!(taken.extend_from(values, index..index + 1));
    }
    taken
}

/// A table of stations.
fn table() -> ServedDataset {
    let mut model = Model::new();
    let root = model.root();
    let rows = model.add_dimension(root, "station", DimensionLen::Fixed(ROWS)).unwrap();
    for name in COLUMNS {
        let atomic = column(name).atomic().unwrap_or(Atomic::String);
        model.add_variable(root, name, atomic.into(), &[rows]).unwrap();
    }
    let names: Vec<(VarId, &str)> = model.variables().into_iter().zip(COLUMNS).collect();
    let read = move |id: VarId, part: &Selection| {
        let name = names.iter().find(|(other, _)| *other == id).unwrap().1;
        Ok(part_of(&column(name), part))
    };
    ServedDataset { model: Arc::new(model), read: Box::new(read) }
}

fn serve(behaviour: DapBehaviour) -> DapServer {
    DapServer::start([("x".to_owned(), table())], DapBehaviour { sequences: true, ..behaviour })
}

struct Opened {
    server: DapServer,
    dataset: Dataset,
}

fn open(server: &DapServer, query: &str) -> Dataset {
    let stores = ncirrus::store::StoreOptions { retries: 0, ..Default::default() };
    let session = Session::builder().stores(stores).build().unwrap();
    let address = format!("{}{query}#dap2", server.url("x"));
    Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap()
}

fn opened(behaviour: DapBehaviour) -> Opened {
    let server = serve(behaviour);
    let dataset = open(&server, "");
    let mut requests = server.take_requests();
    requests.sort();
    assert_eq!(requests, ["x.das", "x.dds", "x.dods?station.id"], "one more, for the rows");
    Opened { server, dataset }
}

impl Opened {
    /// Reads columns together; the requests, which are as many as are told beforehand, with as many bytes.
    fn read(&self, wanted: &[(&str, Selection)]) -> Vec<String> {
        let id = |name: &str| self.dataset.model().unwrap().variable_at(&format!("/station.{name}")).unwrap();
        let selections: Vec<_> = wanted.iter().map(|(name, part)| (id(name), part.clone())).collect();
        let plan = self.dataset.plan_many(&selections).unwrap();
        assert!(self.server.take_requests().is_empty(), "a plan sends nothing");
        let before = self.server.sent();
        let read = self.dataset.read_many(&selections).unwrap();
        for ((name, part), read) in wanted.iter().zip(read) {
            assert!(read.is_identical(&part_of(&column(name), part)), "{name} {part:?}: {read:?}");
        }
        let requests = self.server.take_requests();
        assert_eq!(requests.len() as u64, plan.requests, "{requests:?}");
        let sent = (self.server.sent() - before) as u64;
        let head = 200 * plan.requests;
        let is_exact = (plan.bytes..=plan.bytes + head).contains(&sent);
        assert!(is_exact || plan.is_estimate, "{sent} bytes, not {}", plan.bytes);
        requests
    }
}

fn all() -> Selection {
    Selection::all(&[ROWS])
}

#[test]
fn the_column_that_determines_the_rows_is_kept() {
    let opened = opened(DapBehaviour::default());
    assert!(opened.read(&[("id", Selection::strided(&[3], &[9], &[5]))]).is_empty());
    assert!(opened.read(&[("id", all())]).is_empty());
}

#[test]
fn a_part_of_a_column_is_one_request_for_all_of_it() {
    let opened = opened(DapBehaviour::default());
    assert_eq!(opened.read(&[("temp", Selection::slab(&[7], &[2]))]), ["x.dods?station.temp"]);
    let rows = ncirrus::AxisSelection::Indices(vec![0, 1, 7, 9, 30]);
    assert!(opened.read(&[("temp", Selection::new(vec![rows.clone()]))]).is_empty());
    assert_eq!(opened.read(&[("name", Selection::new(vec![rows]))]), ["x.dods?station.name"]);
    assert!(opened.read(&[("flag", Selection::slab(&[0], &[0]))]).is_empty());
    assert_eq!(opened.read(&[("flag", all())]), ["x.dods?station.flag"]);
}

#[test]
fn columns_that_are_read_together_come_in_one_answer() {
    let opened = opened(DapBehaviour::default());
    let wanted: Vec<_> = COLUMNS.iter().map(|name| (*name, all())).collect();
    let whole = "x.dods?station.name,station.temp,station.id,station.flag,station.lat";
    assert_eq!(opened.read(&wanted), [whole]);
    assert!(opened.read(&wanted[1..4]).is_empty(), "these came together");
    // The kept column came when the dataset was opened: it is asked for again with others.
    let again = self::opened(DapBehaviour::default());
    let both = [("id", all()), ("temp", Selection::slab(&[3], &[4])), ("id", Selection::slab(&[9], &[1]))];
    assert_eq!(again.read(&both), ["x.dods?station.temp,station.id"]);
    assert!(again.read(&both).is_empty());
    assert_eq!(again.read(&[("lat", all())]), ["x.dods?station.lat"]);
    let others = [("lat", all()), ("temp", all())];
    assert_eq!(again.read(&others), ["x.dods?station.temp,station.lat"], "they came one after the other");
    assert!(again.read(&others).is_empty());
}

fn ncirrus(arguments: &[&str]) -> std::process::Output {
    crate::program::command().args(arguments).output().unwrap()
}

#[test]
fn a_dump_and_a_copy_take_all_columns_from_one_answer() {
    let server = serve(DapBehaviour::default());
    let address = format!("{}#dap2", server.url("x"));
    let made = tempfile::tempdir().unwrap();
    let copy = made.path().join("copy.nc");
    let copy = copy.to_str().unwrap();
    let explained: serde_json::Value =
        serde_json::from_slice(&ncirrus(&["explain", "--json", &address]).stdout).unwrap();
    assert_eq!(explained["open"]["requests"], server.take_requests().len());
    for arguments in [&["dump", "-n", "x", &address][..], &["copy", &address, copy]] {
        let output = ncirrus(arguments);
        assert!(output.status.success(), "{output:?}");
        let requests = server.take_requests();
        assert_eq!(requests.len(), 4, "{requests:?}");
        assert!(requests[3].ends_with("station.temp,station.id,station.flag,station.lat"), "{requests:?}");
        assert_eq!(explained["requests"], 1);
    }
    let source = Dataset::open(copy).unwrap();
    for name in COLUMNS {
        let values = source.variable(&format!("station.{name}")).unwrap().values(&all()).unwrap();
        assert!(values.is_identical(&column(name)), "{name}: {values:?}");
    }
}

#[test]
fn selections_of_an_address_go_along_with_every_request() {
    let server = serve(DapBehaviour::default());
    let dataset = open(&server, "?station.name,station.temp&station.temp>=4&id!=985");
    let expected =
        Selection::new(vec![ncirrus::AxisSelection::Indices((12..ROWS).filter(|row| *row != 15).collect())]);
    for name in ["temp", "name"] {
        let variable = dataset.variable(&format!("station.{name}")).unwrap();
        let values = variable.values(&Selection::all(&variable.shape())).unwrap();
        assert!(values.is_identical(&part_of(&column(name), &expected)), "{name}: {values:?}");
    }
    let requests = server.take_requests();
    // Of the structure also without the projection: it shows which attributes belong to no variable.
    assert_eq!(requests.len(), 5, "{requests:?}");
    assert!(
        requests.iter().all(|requested| requested.ends_with("&station.temp%3E=4&id%21=985")
            || requested.ends_with("&station.temp%3E=4&id!=985")),
        "{requests:?}"
    );
}

#[test]
fn rows_that_were_lost_since_the_opening_are_reported_with_both_counts() {
    let opened = opened(DapBehaviour { rows_lost_after: Some(1), ..DapBehaviour::default() });
    let reported = "the sequence station has 49 rows; it had 50 when the dataset was opened";
    for part in [all(), Selection::slab(&[3], &[2])] {
        let error = opened.dataset.variable("station.temp").unwrap().values(&part).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed);
        assert!(error.to_string().contains(reported) && error.to_string().contains("x.dods"), "{error}");
    }
    opened.server.take_requests();
    let ids = opened.dataset.model().unwrap().variables();
    let wanted: Vec<_> = ids.into_iter().map(|id| (id, all())).collect();
    let error = opened.dataset.read_many(&wanted).unwrap_err();
    assert!(error.kind() == ErrorKind::Changed && error.to_string().contains(reported), "{error}");
    assert_eq!(opened.server.take_requests().len(), 1, "the columns are not asked for one by one");
    let output = ncirrus(&[
        "dump",
        &format!(
            "{}#dap2",
            serve(DapBehaviour { rows_lost_after: Some(1), ..DapBehaviour::default() }).url("x")
        ),
    ]);
    assert!(!output.status.success());
    assert!(String::from_utf8_lossy(&output.stderr).contains(reported), "{output:?}");
}

#[test]
fn a_sequence_that_is_cut_anywhere_is_an_error() {
    let fine = opened(DapBehaviour::default());
    let whole = fine.server.reply_to("x.dods?station.name").len();
    let counted = fine.server.reply_to("x.dods?station.id").len();
    assert!(whole > counted + 100, "{whole} and {counted}");
    for no_length in [false, true] {
        for cut_at in (0..whole).step_by(13).chain([whole - 4, whole - 1]) {
            let cut = DapBehaviour { no_length, cut_data_at: Some(cut_at), ..DapBehaviour::default() };
            let dataset = open(&serve(cut), "");
            let names = dataset.variable("station.name").unwrap();
            // Where the rows could not be counted, nothing can be read either.
            assert_eq!(names.shape(), [if cut_at < counted { 0 } else { ROWS }], "cut at {cut_at}");
            let read = names.values(&Selection::all(&names.shape()));
            assert!(read.is_err(), "cut at {cut_at} of {whole}: {read:?}");
        }
    }
}

#[test]
fn a_server_that_refuses_several_columns_gets_a_request_for_each() {
    let opened = opened(DapBehaviour { refuses_batches: true, ..DapBehaviour::default() });
    let ids = opened.dataset.model().unwrap().variables();
    let wanted: Vec<_> = ids.into_iter().map(|id| (id, all())).collect();
    let read = opened.dataset.read_many(&wanted).unwrap();
    for (name, values) in COLUMNS.iter().zip(read) {
        assert!(values.is_identical(&column(name)), "{name}");
    }
    // One is refused, and one column is there already.
    assert_eq!(opened.server.take_requests().len(), 1 + COLUMNS.len() - 1);
}

#[test]
fn columns_of_any_dataset_read_equal() {
    let fixtures = fixtures();
    let server = start(&fixtures, DapBehaviour { sequences: true, ..DapBehaviour::default() });
    let mut compared = 0;
    for path in &fixtures {
        let source = Dataset::open(path.to_str().unwrap()).unwrap();
        let address = format!("{}#dap2", server.url(&name(path)));
        let far = Dataset::open_with(&address, &OpenOptions::default(), &Session::new().unwrap()).unwrap();
        let (ours, theirs) = (source.model().unwrap(), far.model().unwrap());
        let mut numbers = Numbers(11);
        for id in ours.variables() {
            let variable = ours.variable(id).unwrap();
            let [dim] = variable.dims[..] else { continue };
            let is_in_root = ours.variable_path(id) == format!("/{}", variable.name);
            let path = format!("/{}.{}", ours.dimension(dim).unwrap().name, variable.name);
            let Some(other) = theirs.variable_at(&path).filter(|_| is_in_root) else { continue };
            if theirs.variable(other).unwrap().ty != variable.ty {
                continue;
            }
            let shape = ours.shape(id);
            assert_eq!(theirs.shape(other), shape, "{path}");
            for _ in 0..6 {
                let part = numbers.selection(&shape);
                let expected = source.read_many(&[(id, part.clone())]).unwrap().remove(0);
                let found = far.read_many(&[(other, part.clone())]).unwrap().remove(0);
                assert!(found.is_identical(&expected), "{address} {path} {part:?}: {found:?} {expected:?}");
            }
            compared += 1;
        }
    }
    assert!(compared >= 3, "{compared}");
}
