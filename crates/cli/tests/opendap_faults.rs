//! Servers of OPeNDAP that fail, are slow, or send what is wrong: equal values or an error that tells it.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_requests::made;
use crate::opendap_server::served;
use ncirrus::{Dataset, OpenOptions, Selection, Session, Values, VarId};
use ncirrus_testkit::dap_server::{BodyEncoding, DapBehaviour, DapServer};
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
use std::path::Path;
use std::process::Output;

fn example() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc"))
}

fn start(behaviour: DapBehaviour) -> DapServer {
    DapServer::start([("sst.nc".to_owned(), served(example()))], behaviour)
}

fn open(server: &DapServer, mode: &str) -> Dataset {
    let session = Session::builder().chunk_cache(0).build().unwrap();
    let address = format!("{}#{mode}", server.url("sst.nc"));
    Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap()
}

fn ncirrus(arguments: &[&str]) -> Output {
    crate::program::command().args(arguments).output().unwrap()
}

/// All variables that both have by the same type, whole, from the server and from the file.
fn compare(far: &Dataset) {
    let source = Dataset::open(example().to_str().unwrap()).unwrap();
    let (ours, theirs) = (source.model().unwrap(), far.model().unwrap());
    let mut compared = 0;
    for id in ours.variables() {
        let Some(other) = theirs.variable_at(&ours.variable_path(id)) else { continue };
        let all = Selection::all(&ours.shape(id));
        let read = |dataset: &Dataset, id: VarId| dataset.read_many(&[(id, all.clone())]).unwrap().remove(0);
        assert!(read(far, other).is_identical(&read(&source, id)), "{}", ours.variable_path(id));
        compared += 1;
    }
    assert!(compared >= 4, "{compared}");
}

#[test]
fn bodies_are_compressed_cut_into_pieces_or_without_a_length() {
    let plain = DapBehaviour::default();
    let behaviours = [
        DapBehaviour { encoding: Some(BodyEncoding::Gzip), ..plain },
        DapBehaviour { encoding: Some(BodyEncoding::Zlib), no_length: true, ..plain },
        DapBehaviour { encoding: Some(BodyEncoding::RawDeflate), trickle: 700, ..plain },
        DapBehaviour { no_length: true, ..plain },
        DapBehaviour { trickle: 100, ..plain },
        DapBehaviour { cut_every: 3, ..plain },
        DapBehaviour { cut_every: 2, encoding: Some(BodyEncoding::Gzip), no_length: true, ..plain },
        DapBehaviour { busy: true, ..plain },
    ];
    for behaviour in behaviours {
        let server = start(behaviour);
        for mode in ["dap2", "dap4"] {
            eprintln!("{mode} {behaviour:?}");
            compare(&open(&server, mode));
        }
    }
}

#[test]
fn a_busy_server_is_sent_one_request_at_a_time() {
    let server = start(DapBehaviour {
        busy: true,
        latency: std::time::Duration::from_millis(5),
        ..DapBehaviour::default()
    });
    let dataset = open(&server, "dap2");
    let id = dataset.model().unwrap().variable_at("/sst").unwrap();
    let scattered = |row: u64| (id, Selection::slab(&[row, 3 * row % 7, 2], &[1, 1, 1]));
    let wanted: Vec<_> = (0..12).map(scattered).collect();
    dataset.read_many(&wanted).unwrap();
    server.take_requests();
    server.reset_max_in_flight();
    dataset.read_many(&wanted).unwrap();
    assert_eq!((server.take_requests().len(), server.max_in_flight()), (12, 1));
}

#[test]
fn a_wrong_checksum_is_fetched_once_more_and_then_reported() {
    let all = |dataset: &Dataset| {
        let id = dataset.model().unwrap().variable_at("/sst").unwrap();
        let whole = Selection::all(&dataset.model().unwrap().shape(id));
        dataset.read_many(&[(id, whole)])
    };
    let server = start(DapBehaviour { wrong_checksums: 1, ..DapBehaviour::default() });
    let dataset = open(&server, "dap4");
    server.take_requests();
    assert!(all(&dataset).is_ok());
    assert_eq!(server.take_requests().len(), 2);
    let server = start(DapBehaviour { wrong_checksums: usize::MAX, ..DapBehaviour::default() });
    let dataset = open(&server, "dap4");
    server.take_requests();
    let error = all(&dataset).unwrap_err().to_string();
    assert!(error.contains("checksum") && error.contains("sst"), "{error}");
    assert_eq!(server.take_requests().len(), 2);
    assert!(all(&open(&server, "dap4&hyrax")).is_ok());
}

#[test]
fn a_refused_request_for_several_variables_is_not_sent_again() {
    let variables: Vec<(String, Vec<u64>)> = (0..5).map(|at| (format!("v{at}"), vec![7])).collect();
    let ones = |selection: &Selection| {
        Values::Float(vec![1.0; usize::try_from(selection.element_count().unwrap()).unwrap()])
    };
    for mode in ["dap2", "dap4"] {
        let behaviour = DapBehaviour { refuses_batches: true, ..DapBehaviour::default() };
        let server = DapServer::start([("x".to_owned(), made(&variables, ones))], behaviour);
        let address = format!("{}#{mode}", server.url("x"));
        let session = Session::builder().chunk_cache(0).build().unwrap();
        let dataset = Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap();
        server.take_requests();
        let wanted: Vec<_> =
            dataset.model().unwrap().variables().into_iter().map(|id| (id, Selection::all(&[7]))).collect();
        for expected in [6, 5] {
            let read = dataset.read_many(&wanted).unwrap();
            assert!(read.iter().all(|values| *values == Values::Float(vec![1.0; 7])));
            let requests = server.take_requests();
            assert_eq!(requests.len(), expected, "{mode}: {requests:?}");
        }
    }
}

#[test]
fn what_a_server_says_among_its_values_is_the_error() {
    for mode in ["dap2", "dap4"] {
        for at in [0, 8, 100, 2000, 1_000_000] {
            let server = start(DapBehaviour { error_at: Some(at), chunk_len: 64, ..DapBehaviour::default() });
            let output = ncirrus(&["dump", "-v", "sst", &format!("{}#{mode}", server.url("sst.nc"))]);
            let error = String::from_utf8_lossy(&output.stderr);
            assert!(error.contains("the disk failed"), "{mode} {at}: {error}");
            assert!(!output.status.success());
            // 1165128303 is `Erro`.
            assert!(!String::from_utf8_lossy(&output.stdout).contains("sst = "), "{mode} {at}: no values");
        }
    }
}

#[test]
fn answers_that_end_early_are_errors_with_a_length_and_without() {
    let fine = start(DapBehaviour::default());
    for mode in ["dap2", "dap4"] {
        let dataset = open(&fine, mode);
        fine.take_requests();
        let part = Selection::slab(&[0, 0, 0], &[2, 3, 4]);
        dataset.variable("sst").unwrap().values(&part).unwrap();
        let [target] = fine.take_requests().try_into().unwrap();
        let whole = fine.reply_to(&target);
        let stores = ncirrus::store::StoreOptions { retries: 0, ..Default::default() };
        for no_length in [false, true] {
            for cut_at in (0..whole.len()).step_by(7).chain([whole.len() - 1]) {
                let cut = DapBehaviour { no_length, cut_data_at: Some(cut_at), ..DapBehaviour::default() };
                let session = Session::builder().chunk_cache(0).stores(stores.clone()).build().unwrap();
                let address = format!("{}#{mode}", start(cut).url("sst.nc"));
                let dataset = Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap();
                let read = dataset.variable("sst").unwrap().values(&part);
                assert!(read.is_err(), "{mode} cut at {cut_at} of {}", whole.len());
            }
        }
    }
}

const DDS: &str = "Dataset { Int16 t[x = 4][y = 3]; Float64 x[x = 4]; } d;\n";

fn dods(dds: &str, words: &[u32]) -> Vec<u8> {
    let mut body = format!("Dataset {{ {dds} }} d;\nData:\n").into_bytes();
    words.iter().for_each(|word| body.extend(word.to_be_bytes()));
    body
}

/// What the command tells of a variable whose answer is this, and its exit code.
fn reported_for(page: ServerPage, variable: &str) -> (String, i32) {
    let server = TestHttpServer::start([
        ("/d/set.dds", ServerPage::Whole(DDS.into())),
        ("/d/set.das", ServerPage::Whole("Attributes { }".into())),
    ]);
    server.add(&format!("/d/set.dods?{variable}"), page);
    let shown = ncirrus(&["dump", "-v", variable, &server.url("/d/set#dap2")]);
    assert!(!String::from_utf8_lossy(&shown.stdout).contains(" = 1165128303"), "an error text is no value");
    (String::from_utf8_lossy(&shown.stderr).into_owned(), shown.status.code().unwrap())
}

#[test]
fn bad_answers_with_data_are_reported_as_what_they_are() {
    let error = b"Error { code = 1007; message = \"cannot read\"; };".to_vec();
    let whole = dods("Float64 x[x = 4];", &[4, 4, 0, 0, 0, 0, 0, 0, 0, 0]);
    let cases: Vec<(ServerPage, &str)> = vec![
        (ServerPage::WithStatus("400 Bad Request\r\n", error.clone()), "error 1007: cannot read"),
        (ServerPage::WithStatus("200 OK\r\n", error.clone()), "error 1007: cannot read"),
        (
            ServerPage::WithStatus("200 OK\r\n", [dods("Float64 x[x = 4];", &[]), error.clone()].concat()),
            "cannot read",
        ),
        (
            ServerPage::WithStatus(
                "200 OK\r\n",
                [dods("Float64 x[x = 4];", &[4, 4, 0, 1]), error.clone()].concat(),
            ),
            "cannot read",
        ),
        (ServerPage::WithStatus("200 OK\r\n", [whole.clone(), error].concat()), "cannot read"),
        (ServerPage::Whole(whole[..whole.len() - 6].to_vec()), "truncated"),
        // A generator that failed after the status was sent.
        (ServerPage::Whole(b"Dataset {\n    Float64 x[".to_vec()), "the end of the text"),
        (ServerPage::Whole(b"Dataset { Float64 x[x = 4]; } d;\n".to_vec()), "truncated"),
        (ServerPage::Whole(dods("Float64 x[x = 4];", &[4])), "truncated"),
        (ServerPage::Whole(dods("Float64 x[x = 4];", &[4, 5])), "the counts 4 and 5"),
        (ServerPage::Whole(dods("Float64 x[x = 3];", &[3, 3, 0, 0, 0, 0, 0, 0])), "shape"),
        (
            ServerPage::Whole(dods("Int32 x[x = 4];", &[4, 4, 1, 2, 3, 4])),
            "the answer has int where the dataset has double",
        ),
        (ServerPage::Whole(Vec::new()), "empty"),
        (
            ServerPage::WithStatus("200 OK\r\n", b"<html><title>Log in</title></html>".to_vec()),
            "a web page (Log in)",
        ),
        (
            ServerPage::WithStatus("404 Not Found\r\n", b"<html><title>Gone</title></html>".to_vec()),
            "404 Not Found: Gone",
        ),
        (
            ServerPage::WithStatus("403 Forbidden\r\n", b"<html>Not for you</html>".to_vec()),
            "403 Forbidden: Not for you",
        ),
    ];
    let mut wrong = Vec::new();
    for (page, expected) in cases {
        let (reported, code) = reported_for(page, "x");
        if !reported.contains(expected) || code != 1 {
            wrong.push((expected, code, reported));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
    // A line break after the data is none.
    assert_eq!(reported_for(ServerPage::Whole([whole, b"\n".to_vec()].concat()), "x").1, 0);
}

#[test]
fn bad_structures_are_reported_as_what_they_are() {
    let error = b"Error { code = 1003; message = \"no such dataset\"; };".to_vec();
    let cases = [
        (ServerPage::WithStatus("200 OK\r\n", error.clone()), "error 1003: no such dataset", 3),
        (ServerPage::WithStatus("404 Not Found\r\n", error), "error 1003: no such dataset", 3),
        (
            ServerPage::WithStatus("404 Not Found\r\n", b"<html><title>Nothing</title></html>".to_vec()),
            "404 Not Found: Nothing",
            3,
        ),
        (
            ServerPage::WithStatus("200 OK\r\n", b"<html><title>Log in</title></html>".to_vec()),
            "a web page (Log in)",
            4,
        ),
        (ServerPage::WithStatus("401 Unauthorized\r\n", b"who?".to_vec()), "401 Unauthorized", 4),
        (ServerPage::Whole(b"Dataset { Int32 a[".to_vec()), "the end of the text", 5),
        (ServerPage::Whole(b"\xef\xbb\xbf \n Error { message = \"early\"; }".to_vec()), "early", 8),
    ];
    let mut wrong = Vec::new();
    for (page, expected, code) in cases {
        let server = TestHttpServer::start([("/d/set.das", ServerPage::Whole("Attributes { }".into()))]);
        server.add("/d/set.dds", page);
        let output = ncirrus(&["dump", "-h", &server.url("/d/set#dap2")]);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        if !reported.contains(expected) || output.status.code() != Some(code) {
            wrong.push((expected, output.status.code(), reported));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
