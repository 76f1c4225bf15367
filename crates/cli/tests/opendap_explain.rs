//! Requests to servers of OPeNDAP, told beforehand: as many as are sent, and as many bytes.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_requests::{made, values};
use ncirrus::{Dataset, OpenOptions, ReadPlan, Selection, Session, VarId};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer};
use serde_json::Value;
use std::time::Duration;

const MODES: [&str; 2] = ["dap2", "dap4"];

struct Served {
    server: DapServer,
    dataset: Dataset,
    mode: &'static str,
}

/// A dataset of floats, as many variables of each shape as is said.
fn served(shapes: &[(&str, usize, &[u64])], mode: &'static str) -> Served {
    let each = |(name, count, shape): &(&str, usize, &[u64])| {
        let names: Vec<_> = (0..*count).map(|at| (format!("{name}{at}"), shape.to_vec())).collect();
        names
    };
    let variables: Vec<_> = shapes.iter().flat_map(each).collect();
    let server = DapServer::start([("x".to_owned(), made(&variables, values))], DapBehaviour::default());
    let dataset = open(&server, mode);
    server.take_requests();
    Served { server, dataset, mode }
}

fn open(server: &DapServer, mode: &str) -> Dataset {
    let address = format!("{}#{mode}", server.url("x"));
    Dataset::open_with(&address, &OpenOptions::default(), &Session::new().unwrap()).unwrap()
}

impl Served {
    fn id(&self, name: &str) -> VarId {
        self.dataset.model().unwrap().variable_at(name).unwrap()
    }

    /// Reads selections together as one, or one after the other, and compares with what was told: the number of requests.
    fn read(&self, wanted: &[(&str, Selection)]) -> u64 {
        let wanted: Vec<_> = wanted.iter().map(|(name, part)| (self.id(name), part.clone())).collect();
        let plan = self.dataset.plan_many(&wanted).unwrap();
        assert!(self.server.take_requests().is_empty(), "a plan sends nothing");
        let before = self.server.sent();
        let read = self.dataset.read_many(&wanted).unwrap();
        for ((_, part), read) in wanted.iter().zip(&read) {
            assert_eq!(*read, values(part), "{}", self.mode);
        }
        let requests = self.server.take_requests();
        let sent = (self.server.sent() - before) as u64;
        assert_eq!(requests.len() as u64, plan.requests, "{}: {requests:?}", self.mode);
        self.compare_bytes(sent, &plan);
        plan.requests
    }

    /// The payload, 1 % for the marks of chunks and checksums, and the head of each answer: the structure of what is in it.
    fn compare_bytes(&self, sent: u64, plan: &ReadPlan) {
        let structure = match self.mode {
            "dap2" => 60 * self.dataset.model().unwrap().variables().len() as u64,
            // With the dimensions that are not asked for, and a checksum for each variable.
            _ => 2 * self.server.reply_to("x.dmr").len() as u64,
        };
        let head = (structure + 400) * plan.requests;
        let max = plan.bytes + plan.bytes / 100 + head;
        assert!(
            !plan.is_estimate && (plan.bytes..=max).contains(&sent),
            "{sent} bytes, not {}..{max}",
            plan.bytes
        );
    }
}

#[test]
fn opening_takes_requests_of_one_trip() {
    let latency = DapBehaviour { latency: Duration::from_millis(20), ..DapBehaviour::default() };
    for (mode, requests) in [("dap2", 2), ("dap4", 1)] {
        let variables = [("v".to_owned(), vec![3])];
        let server = DapServer::start([("x".to_owned(), made(&variables, values))], latency);
        open(&server, mode);
        assert_eq!((server.take_requests().len(), server.max_in_flight()), (requests, requests), "{mode}");
    }
}

#[test]
fn plans_have_the_requests_of_single_reads() {
    for mode in MODES {
        let served = served(&[("v", 1, &[365, 30, 40]), ("c", 40, &[9]), ("row", 1, &[5000, 3])], mode);
        let series = Selection::slab(&[0, 7, 9], &[365, 1, 1]);
        assert_eq!(served.read(&[("v0", series.clone())]), 1, "a point through all steps");
        assert_eq!(served.read(&[("v0", series)]), 0, "what was read is kept");
        assert_eq!(served.read(&[("v0", Selection::slab(&[9, 9, 9], &[1, 1, 1]))]), 1, "one value");
        assert_eq!(served.read(&[("v0", Selection::slab(&[3, 0, 0], &[9, 30, 40]))]), 1);
        assert_eq!(served.read(&[("v0", Selection::strided(&[4, 1, 2], &[3, 4, 5], &[2, 5, 3]))]), 0);
        // Coordinates come together with the first of them.
        let all = Selection::all(&[9]);
        let coordinates = (0..40).map(|at| served.read(&[(&format!("c{at}"), all.clone())]));
        assert_eq!(coordinates.collect::<Vec<_>>(), [&[1][..], &[0; 39]].concat());
        let rows = (0..5000).map(|row| served.read(&[("row0", Selection::slab(&[row, 0], &[1, 3]))]));
        assert_eq!(rows.sum::<u64>(), 2);
    }
}

#[test]
fn plans_have_the_requests_of_reads_of_many_variables() {
    let all = |shape: &[u64]| Selection::all(shape);
    for mode in MODES {
        let served = served(&[("c", 40, &[9]), ("v", 12, &[250, 1000]), ("large", 1, &[80, 256, 256])], mode);
        let names: Vec<String> = (0..40).map(|at| format!("c{at}")).collect();
        let coordinates: Vec<_> = names.iter().map(|name| (name.as_str(), all(&[9]))).collect();
        assert_eq!(served.read(&coordinates), 1);
        // 1 MB each, four in an answer; 20 MiB in two parts; one point.
        let mut wanted: Vec<(String, Selection)> =
            (0..12).map(|at| (format!("v{at}"), all(&[250, 1000]))).collect();
        wanted.push(("large0".to_owned(), all(&[80, 256, 256])));
        let wanted: Vec<_> = wanted.iter().map(|(name, part)| (name.as_str(), part.clone())).collect();
        assert_eq!(served.read(&wanted), 3 + 2);
        let scattered: Vec<_> =
            (0..100).map(|at| ("large0", Selection::slab(&[at % 80, at * 2, at], &[1, 2, 3]))).collect();
        assert_eq!(served.read(&scattered), 100);
        assert_eq!(served.read(&[]), 0);
    }
}

#[test]
fn reads_of_neighbouring_boxes_together_fetch_nothing_twice() {
    let served = served(&[("v", 1, &[200, 30])], "dap2");
    let rows: Vec<_> = (0..100).map(|row| ("v0", Selection::slab(&[row, 0], &[1, 30]))).collect();
    assert_eq!(served.read(&rows), 100);
}

fn ncirrus(arguments: &[&str]) -> Vec<u8> {
    let output = crate::program::command().args(arguments).output().unwrap();
    assert!(output.status.success(), "{output:?}");
    output.stdout
}

#[test]
fn the_command_reports_the_requests_of_a_dump_and_a_copy() {
    let folder = tempfile::tempdir().unwrap();
    let copy = folder.path().join("copy.nc");
    let shapes: Vec<(String, Vec<u64>)> = (0..150)
        .map(|at| (format!("v{at}"), vec![100, 25]))
        .chain((0..14).map(|at| (format!("w{at}"), vec![250, 900])))
        .chain([("large".to_owned(), vec![70, 256, 256])])
        .collect();
    let server = DapServer::start([("x".to_owned(), made(&shapes, values))], DapBehaviour::default());
    for mode in MODES {
        let address = format!("{}#{mode}", server.url("x"));
        let reported = ncirrus(&["explain", "--json", &address]);
        let reported: Value = serde_json::from_slice(&reported).unwrap();
        let opened = server.take_requests().len() as u64;
        let requests = reported["requests"].as_u64().unwrap();
        assert_eq!(reported["open"]["requests"], opened, "{mode}");
        assert_eq!(reported["variables"].as_array().unwrap().len(), 165);
        for arguments in [&["dump"][..], &["copy", "--overwrite"]] {
            let mut arguments = arguments.to_vec();
            arguments.push(&address);
            arguments.extend((arguments[0] == "copy").then_some(copy.to_str().unwrap()));
            ncirrus(&arguments);
            let sent = server.take_requests();
            let data =
                sent.iter().filter(|target| target.contains(".dods") || target.contains(".dap")).count();
            assert_eq!(
                (data as u64, sent.len() as u64),
                (requests, requests + opened),
                "{arguments:?}: {sent:#?}"
            );
        }
        let text = ncirrus(&["explain", &address, "v0", "large[3,0:2,:]"]);
        let text = String::from_utf8(text).unwrap();
        assert!(text.contains("variable    /v0 /large\n") && text.contains("requests    1, "), "{text}");
        server.take_requests();
    }
}
