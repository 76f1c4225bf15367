//! Aggregations of datasets of OPeNDAP servers.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::served;
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer};
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str]) -> Output {
    crate::program::command().args(arguments).output().unwrap()
}

fn done(arguments: &[&str]) -> String {
    let output = ncirrus(arguments);
    assert!(output.status.success(), "{arguments:?}: {output:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Parts of a year, each a file of its own.
fn parts(folder: &Path) -> Vec<(String, String)> {
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    let part = |number: usize| {
        let (name, first) = (format!("part{number}.nc"), 4 * number);
        let path = folder.join(&name).to_str().unwrap().to_owned();
        done(&["copy", "--select", &format!("sst[{first}:{},:,:]", first + 4), example, &path]);
        (name, path)
    };
    (0..3).map(part).collect()
}

struct ServedParts {
    server: DapServer,
    folder: tempfile::TempDir,
    parts: Vec<(String, String)>,
}

fn serve() -> ServedParts {
    let folder = tempfile::tempdir().unwrap();
    let parts = parts(folder.path());
    let each = parts.iter().map(|(name, path)| (name.clone(), served(Path::new(path))));
    ServedParts { server: DapServer::start(each, DapBehaviour::default()), folder, parts }
}

impl ServedParts {
    fn path(&self, name: &str) -> String {
        self.folder.path().join(name).to_str().unwrap().to_owned()
    }

    fn addresses(&self, scheme: &str) -> Vec<String> {
        let address = |(name, _): &(String, String)| self.server.url(name).replacen("http", scheme, 1);
        self.parts.iter().map(address).collect()
    }

    /// What the aggregation of the files themselves shows.
    fn expected(&self) -> String {
        let master = self.path("local.nca");
        let files: Vec<String> = self.parts.iter().map(|(_, path)| path.clone()).collect();
        aggregate(&["--axis", "time", &master], &files);
        shown(&master)
    }

    /// A response of the server.
    fn response(&self, target: &str) -> Vec<u8> {
        let (host, start) = (self.server.url(""), "http://".len());
        let mut stream = TcpStream::connect(host[start..].trim_end_matches('/')).unwrap();
        write!(stream, "GET /{target} HTTP/1.0\r\n\r\n").unwrap();
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let head = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
        answer.split_off(head)
    }
}

fn aggregate(options: &[&str], addresses: &[String]) {
    let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
    done(&[&["aggregate", "-q"], options, addresses.as_slice()].concat());
}

fn shown(master: &str) -> String {
    data(&done(&["dump", "-v", "sst,time", master]))
}

const CONVENTIONS: [&str; 4] = ["cfa-0.4", "cfa-0.5", "cfa-0.6", "cf-1.13"];

fn data(cdl: &str) -> String {
    cdl.split_once("data:").unwrap().1.to_owned()
}

#[test]
fn definitions_and_coordinates_alone_are_requested_for_an_aggregation() {
    let served = serve();
    let expected = served.expected();
    for (scheme, opened) in [("dap2", 2), ("dap4", 1)] {
        let (master, addresses) = (served.path(&format!("{scheme}.nca")), served.addresses(scheme));
        let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
        done(&[&["aggregate", "-q", "--axis", "time", &master], addresses.as_slice()].concat());
        let requests = served.server.take_requests();
        assert!(
            !requests.iter().any(|target| target.contains("sst%5B") || target.contains("sst,")),
            "{requests:?}"
        );
        // The first is opened to know what an aggregation of it is, and like the others to be compared.
        assert_eq!(requests.len(), (3 + 1) * (opened + 1), "{requests:#?}");
        assert_eq!(data(&done(&["dump", "-v", "sst,time", &master])), expected, "{scheme}");
        let requests = served.server.take_requests();
        assert_eq!(requests.len(), 3 * (opened + 1), "{requests:#?}");
    }
}

#[test]
fn fragments_of_servers_are_read_in_every_generation() {
    let served = serve();
    let expected = served.expected();
    let plain = served.addresses("dods").remove(0);
    for convention in CONVENTIONS {
        for scheme in ["dods", "dap2", "dap4", "http"] {
            let (master, addresses) = (served.path("m.nca"), served.addresses(scheme));
            let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
            _ = std::fs::remove_file(&master);
            let options = ["aggregate", "-q", "--convention", convention, "--axis", "time", &master];
            done(&[&options[..], addresses.as_slice()].concat());
            let fragments = done(&["fragments", &master]);
            assert!(fragments.contains("part0.nc"), "{convention}: {fragments}");
            assert_eq!(data(&done(&["dump", "-v", "sst,time", &master])), expected, "{convention} {scheme}");
        }
    }
    let reference = ncirrus(&["reference", &plain, &served.path("r.json")]);
    let error = String::from_utf8_lossy(&reference.stderr);
    assert!(!reference.status.success() && error.contains("no stored bytes to refer to"), "{error}");
}

#[test]
fn plain_addresses_of_fragments_are_found_to_be_datasets_of_a_server() {
    let served = serve();
    let expected = served.expected();
    let files: Vec<String> = served.parts.iter().map(|(_, path)| path.clone()).collect();
    for convention in CONVENTIONS {
        let master = served.path(&format!("{convention}.nca"));
        aggregate(&["--convention", convention, "--axis", "time", &master], &files);
        done(&["relocate", "--prefix", served.server.url("").trim_end_matches('/'), &master]);
        let names = done(&["fragments", &master]);
        assert!(names.contains(&served.server.url("part2.nc")), "{names}");
        served.server.take_requests();
        assert_eq!(shown(&master), expected, "{convention}");
        // What is at the address itself goes before the protocols, which are tried together until that of the host is known.
        let requests = served.server.take_requests();
        let requested = |end: &str| requests.iter().filter(|target| target.ends_with(end)).count();
        assert_eq!((requested("part0.nc"), requested("part0.nc.dmr.xml")), (1, 1), "{requests:#?}");
        assert!((1..=3).contains(&requested(".dds")), "{requests:#?}");
    }
}

#[test]
fn fragments_may_be_responses_in_files() {
    let served = serve();
    let expected = served.expected();
    for (protocol, endings) in [("dap2", &["dds", "das", "dods"][..]), ("dap4", &["dmr", "dap"])] {
        let mut addresses = Vec::new();
        for (name, path) in &served.parts {
            let path = format!("{path}.responses");
            for ending in endings {
                let response = served.response(&format!("{name}.{ending}"));
                std::fs::write(format!("{path}.{ending}"), response).unwrap();
            }
            addresses.push(format!("file://{path}#{protocol}"));
        }
        for convention in CONVENTIONS {
            let master = served.path(&format!("{convention}-{protocol}.nca"));
            aggregate(&["--convention", convention, "--axis", "time", &master], &addresses);
            assert_eq!(shown(&master), expected, "{convention} {protocol}");
        }
    }
}

#[test]
fn datasets_of_a_server_are_added_once_whatever_protocol_is_named() {
    let served = serve();
    let expected = served.expected();
    let schemes = ["http", "dap2", "dap4"];
    for first in schemes {
        for second in schemes {
            let master = served.path(&format!("{first}-{second}.nca"));
            aggregate(&["--axis", "time", &master], &served.addresses(first)[..2]);
            let addresses = served.addresses(second);
            let addresses: Vec<&str> = addresses.iter().map(String::as_str).collect();
            let added = ncirrus(&[&["aggregate", "--add", &master], addresses.as_slice()].concat());
            let notes = String::from_utf8_lossy(&added.stderr);
            assert!(added.status.success(), "{first} {second}: {notes}");
            assert_eq!(notes.matches("already in the aggregation").count(), 2, "{first} {second}: {notes}");
            assert_eq!(shown(&master), expected, "{first} {second}");
        }
    }
    let twice = [served.addresses("http").remove(0), served.addresses("dap2").remove(0)];
    let twice = ncirrus(&["aggregate", "--axis", "time", &served.path("twice.nca"), &twice[0], &twice[1]]);
    let reported = String::from_utf8_lossy(&twice.stderr);
    assert!(!twice.status.success() && reported.contains("given twice"), "{reported}");
}
