//! A server against the clients that users have.
use crate::support::{TestServer, fixtures};
use ncirrus_testkit::corpus::{peers_python, program};
use std::process::Command;

const SCRIPT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/peers.py");

/// Runs the script with each client; what failed.
fn compare(clients: &[&str]) {
    let Some(python) = peers_python() else { return };
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let address = format!("http://{}", server.address());
    let mut failed = Vec::new();
    for client in clients {
        let file = folder.path().join("four.nc");
        let output =
            Command::new(&python).arg(SCRIPT).arg(file).args([&address, "four.nc", client]).output().unwrap();
        if output.stdout != b"same\n" {
            failed.push(format!("{client}: {}", String::from_utf8_lossy(&output.stderr)));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

#[test]
fn netcdf4_python_reads_what_is_served() {
    compare(&["netcdf4-dap2", "netcdf4-dap4"]);
}

#[test]
fn pydap_reads_what_is_served() {
    compare(&["pydap-dap2", "pydap-dap4"]);
}

#[test]
fn xarray_reads_what_is_served() {
    compare(&["xarray-netcdf4", "xarray-pydap", "xarray-zarr", "xarray-zarr2"]);
}

#[test]
fn zarr_python_reads_what_is_served() {
    compare(&["zarr-v3", "zarr-v2"]);
}

#[test]
fn siphon_reads_the_catalogue() {
    compare(&["siphon"]);
}

#[test]
fn ncdump_prints_the_values_of_the_file() {
    let Some(ncdump) = program("ncdump") else { return };
    let folder = fixtures();
    let server = TestServer::start(folder.path(), |builder| builder);
    let text = |address: &str| {
        let output = Command::new(&ncdump).args(["-v", "t,time,x,one", address]).output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let (_, data) = text.split_once("data:").unwrap_or_else(|| panic!("{address}: {output:?}"));
        data.to_owned()
    };
    let wanted = text(folder.path().join("three.nc").to_str().unwrap());
    for (name, mode) in
        [("three.nc", "dap2"), ("three.nc", "dap4"), ("sub/v3.zarr", "dap2"), ("v2.zarr", "dap4")]
    {
        let got = text(&format!("http://{}/dap/{name}#{mode}", server.address()));
        let words = |text: &str| {
            let mut parts: Vec<String> =
                text.split(';').map(|part| part.split_whitespace().collect()).collect();
            // Groups are printed behind the data of the root.
            parts.retain(|part| ["t=", "time=", "x=", "one="].iter().any(|name| part.starts_with(name)));
            parts.sort();
            parts
        };
        assert_eq!(words(&got), words(&wanted), "{name} {mode}");
    }
}
