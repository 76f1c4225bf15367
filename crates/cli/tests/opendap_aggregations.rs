//! Aggregations of datasets of OPeNDAP servers.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::served;
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer};
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
        let files: Vec<&str> = self.parts.iter().map(|(_, path)| path.as_str()).collect();
        done(&[&["aggregate", "-q", "--axis", "time", &master], files.as_slice()].concat());
        data(&done(&["dump", "-v", "sst,time", &master]))
    }
}

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
    for convention in ["cfa-0.4", "cfa-0.5", "cfa-0.6", "cf-1.13"] {
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
    assert!(!reference.status.success() && error.contains("no bytes to refer to"), "{error}");
}
