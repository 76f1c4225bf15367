//! Responses of OPeNDAP in files, through the command: shown as netCDF-C shows them, copied, and refused.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str]) -> Output {
    crate::program::command().args(arguments).output().unwrap()
}

fn words(text: &[u8]) -> String {
    let text = String::from_utf8_lossy(text);
    let text = text.split_once('{').map_or(&*text, |(_, rest)| rest);
    text.split_whitespace().collect()
}

/// Listings of netCDF-C that are not those of the bytes; the crate `dap` has the reasons.
const WRONG: [&str; 3] = ["netcdf-c/1998-6-avhrr.dat", "netcdf-c/synth9", "netcdf-c/dap4/test_vlen4.nc"];

fn cases(folder: &Path) -> Vec<Value> {
    let manifest = std::fs::read(folder.join("manifest.json")).unwrap();
    serde_json::from_slice::<Value>(&manifest).unwrap().as_array().unwrap().clone()
}

/// The address of a case: its files without their suffix.
fn address_of(folder: &Path, case: &Value) -> String {
    let file = folder.join(case["files"][0].as_str().unwrap());
    let mode = case["protocol"].as_str().unwrap().to_lowercase();
    format!("file://{}#{mode}", file.with_extension("").display())
}

#[test]
fn responses_in_files_are_shown_as_netcdf_c_shows_them() {
    let Some(folder) = corpus("dap") else { return };
    let (mut equal, mut all, mut different) = (0, 0, Vec::new());
    for case in cases(&folder) {
        let (Some(name), Some(expected)) = (case["name"].as_str(), case["expected_cdl"].as_str()) else {
            continue;
        };
        all += 1;
        let expected = std::fs::read(folder.join(expected)).unwrap();
        let address = format!("{}&view=netcdf-c", address_of(&folder, &case));
        // Types of fill values are told for netCDF-4 only.
        let output = match case["protocol"].as_str() {
            Some("DAP2") => ncirrus(&["dump", &address]),
            _ => ncirrus(&["ncdump", "-XF", &address]),
        };
        let is_equal = words(&output.stdout) == words(&expected);
        equal += usize::from(is_equal);
        if is_equal == WRONG.contains(&name) {
            different.push((name.to_owned(), String::from_utf8_lossy(&output.stderr).into_owned()));
        }
    }
    eprintln!("listings of netCDF-C through the command: {equal} of {all} equal");
    assert!(different.is_empty(), "{different:#?}");
}

#[test]
fn bad_responses_end_with_an_error_that_states_what_they_are() {
    let Some(folder) = corpus("dap") else { return };
    let cases = [
        ("dap2/bad_html.dds#dap2", "a web page"),
        ("dap2/bad_error_after_mark.dods", "the server answers: error 500"),
        ("dap2/bad_short.dods", "truncated"),
        ("dap2/bad_wrong_shape.dods", "count"),
        ("dap4/bad_error.xml.dap#dap4", "nope"),
        ("dap4/bad_short.dap", "truncated"),
        ("dap4/bad_bad_crc.dap", "checksum"),
    ];
    for (file, reported) in cases {
        let output = ncirrus(&["dump", &format!("file://{}/{file}", folder.display())]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(reported), "{file}: {error}");
    }
    let fine = ncirrus(&["dump", &format!("{}/dap4/bad_le_only_on_data.dap", folder.display())]);
    assert!(String::from_utf8_lossy(&fine.stdout).contains("1, 2, 3, 4"), "{fine:?}");
}

#[test]
fn a_dataset_of_responses_is_copied_and_explained() {
    let Some(folder) = corpus("dap") else { return };
    let made = tempfile::tempdir().unwrap();
    let (grid, copy) = (folder.join("dap2/pydap_grid2.dods"), made.path().join("copy.nc"));
    let (grid, copy) = (grid.to_str().unwrap(), copy.to_str().unwrap());
    assert!(ncirrus(&["copy", grid, copy]).status.success());
    let (from, to) = (ncirrus(&["dump", "-n", "x", grid]), ncirrus(&["dump", "-n", "x", copy]));
    assert_eq!(words(&from.stdout), words(&to.stdout));
    let explained = ncirrus(&["explain", grid, "temp"]);
    assert!(
        String::from_utf8_lossy(&explained.stdout).contains("boxes that the server computes"),
        "{explained:?}"
    );
}

const DDS: &str = "Dataset { Int16 t[x = 4][y = 3]; Float64 x[x = 4]; Sequence { Int32 i; } q; } d;\n";
const DAS: &str = "Attributes { t { String units \"K\"; } }\n";

/// An answer of DAP2: its DDS, and words after it.
fn dods(dds: &str, words: &[u32]) -> ServerPage {
    let mut body = format!("Dataset {{ {dds} }} d;\nData:\n").into_bytes();
    words.iter().for_each(|word| body.extend(word.to_be_bytes()));
    ServerPage::Whole(body)
}

/// A server of one dataset, `/d/set`, which knows these queries for data.
fn server(answers: &[(&str, ServerPage)]) -> TestHttpServer {
    let server = TestHttpServer::start([
        ("/d/set.dds", ServerPage::Whole(DDS.into())),
        ("/d/set.das", ServerPage::Whole(DAS.into())),
        ("/d/set.dods?q.i", dods("Sequence { Int32 i; } q;", &[0x5a00_0000, 7, 0xa500_0000])),
    ]);
    for (query, page) in answers {
        server.add(&format!("/d/set.dods?{query}"), page.clone());
    }
    server
}

fn address(server: &TestHttpServer) -> String {
    server.url("/d/set").replace("http:", "dap2:")
}

#[test]
fn a_header_is_two_requests_and_one_for_each_sequence() {
    let server = server(&[]);
    let output = ncirrus(&["dump", "-h", &address(&server)]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        text.contains("short t(x, y)") && text.contains("t:units = \"K\"") && text.contains("q = 1"),
        "{output:?}"
    );
    let mut requests = server.requests();
    requests.sort();
    assert_eq!(requests, ["/d/set.das", "/d/set.dds", "/d/set.dods?q.i"]);
}

#[test]
fn a_selection_is_the_constraint_of_one_request() {
    let (t, x) = ("t%5B1:2%5D%5B0:1%5D", "x%5B1:2%5D");
    let sent = [&[4, 4, 1, 2, 3, 0xffff_fffc][..], &[2, 2, 0x3ff0_0000, 0, 0x3ff0_0000, 0]].concat();
    let both = dods("Int16 t[x = 2][y = 2]; Float64 x[x = 2];", &sent);
    let server = server(&[(&format!("{t},{x}"), both)]);
    let made = tempfile::tempdir().unwrap();
    let copy = made.path().join("copy.nc");
    let copy = copy.to_str().unwrap();
    let output = ncirrus(&["copy", "--select", "t[1:3,0:2]", &address(&server), copy]);
    assert!(output.status.success(), "{output:?} {:?}", server.requests());
    let shown = ncirrus(&["dump", copy]);
    assert!(words(&shown.stdout).contains("t=1,2,3,-4;"), "{shown:?}");
    let data: Vec<String> = server.requests().into_iter().filter(|path| path.contains("dods?t")).collect();
    assert_eq!(data, [format!("/d/set.dods?{t},{x}")]);
}

#[test]
fn the_constraint_of_an_address_is_part_of_every_request() {
    let server = server(&[("t%5B1:2%5D%5B2%5D", dods("Int16 t[x = 2][y = 1];", &[2, 2, 8, 9]))]);
    let dds = "Dataset { Int16 t[x = 2][y = 1]; } d;\n";
    server.add("/d/set.dds?t%5B1:2%5D%5B2%5D", ServerPage::Whole(dds.into()));
    let output = ncirrus(&["dump", &format!("{}?t[1:2][2]", address(&server))]);
    assert!(words(&output.stdout).contains("t=8,9;"), "{output:?} {:?}", server.requests());
}

#[test]
fn what_a_server_says_is_the_error_with_any_status() {
    let reported = b"Error { code = 1005; message = \"no such constraint\"; };".to_vec();
    for status in ["200 OK\r\n", "400 Bad Request\r\n", "500 Internal Server Error\r\n"] {
        let server = server(&[("x", ServerPage::WithStatus(status, reported.clone()))]);
        let output = ncirrus(&["dump", "-v", "x", &address(&server)]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains("no such constraint"), "{status}: {error}");
        let requested = server.requests().iter().filter(|path| path.ends_with("?x")).count();
        assert_eq!(requested, 1, "{status}: it is not asked for again");
    }
    let page = b"<html><title>Log in</title></html>".to_vec();
    let server = server(&[("x", ServerPage::WithStatus("200 OK\r\n", page))]);
    let output = ncirrus(&["dump", "-v", "x", &address(&server)]);
    assert!(String::from_utf8_lossy(&output.stderr).contains("a web page (Log in)"), "{output:?}");
}

#[test]
fn a_box_that_is_too_large_for_the_server_is_halved() {
    let dds = "Dataset { Float64 big[n = 262144]; } d;\n";
    let server = TestHttpServer::start([("/d/big.dds", ServerPage::Whole(dds.into()))]);
    let half = |first: u32| {
        let mut numbers = vec![131_072, 131_072];
        (0..131_072).for_each(|at| {
            let bits = f64::from(first + at).to_bits();
            numbers.extend([u32::try_from(bits >> 32).unwrap(), u32::try_from(bits & 0xffff_ffff).unwrap()]);
        });
        dods("Float64 big[n = 131072];", &numbers)
    };
    let refusal = b"Error { code = 403; message = \"Request too big=2 Mbytes, max=1\"; };".to_vec();
    server.add("/d/big.dods?big", ServerPage::WithStatus("403 Forbidden\r\n", refusal));
    server.add("/d/big.dods?big%5B0:131071%5D", half(0));
    server.add("/d/big.dods?big%5B131072:262143%5D", half(131_072));
    let made = tempfile::tempdir().unwrap();
    let copy = made.path().join("copy.nc");
    let copy = copy.to_str().unwrap();
    let output = ncirrus(&["copy", &server.url("/d/big#dap2"), copy]);
    assert!(output.status.success(), "{output:?} {:?}", server.requests());
    let shown = ncirrus(&["dump", copy]);
    assert!(words(&shown.stdout).ends_with("262142,262143;}"), "the last values");
}

#[test]
fn attributes_that_cannot_be_read_are_left_out_with_a_warning() {
    let server = server(&[]);
    server.add("/d/set.das", ServerPage::WithStatus("500 Internal Server Error\r\n", b"oops".to_vec()));
    let output = ncirrus(&["info", &address(&server)]);
    assert!(output.status.success(), "{output:?}");
    let reported = String::from_utf8_lossy(&output.stdout) + String::from_utf8_lossy(&output.stderr);
    assert!(reported.contains("attributes cannot be read") && reported.contains("oops"), "{reported}");
}

#[test]
fn dap4_is_one_request_and_one_for_each_variable() {
    let Some(folder) = corpus("dap") else { return };
    let file = |name: &str| std::fs::read(folder.join("dap4").join(name)).unwrap();
    let server = TestHttpServer::start([
        ("/d/one.dmr.xml", ServerPage::Whole(file("test_one_vararray.nc.dmr"))),
        ("/d/one.dap?dap4.ce=/t&dap4.checksum=true", ServerPage::Whole(file("test_one_vararray.nc.dap"))),
    ]);
    let output = ncirrus(&["dump", &server.url("/d/one#dap4")]);
    let expected = std::fs::read(folder.join("dap4/test_one_vararray.nc.expected.cdl")).unwrap();
    assert_eq!(words(&output.stdout), words(&expected), "{:?}", server.requests());
    assert_eq!(server.requests().len(), 2);
}

#[test]
fn a_plain_address_of_a_server_is_found_to_be_a_dataset() {
    let server = server(&[]);
    let output = ncirrus(&["info", &server.url("/d/set")]);
    assert!(String::from_utf8_lossy(&output.stdout).contains("protocol: DAP2"), "{output:?}");
    // Both protocols are asked for together, in one trip more.
    let requests = server.requests();
    let at = |end: &str| requests.iter().filter(|path| path.ends_with(end)).count();
    assert_eq!((at("/d/set.dmr.xml"), at("/d/set.dds"), at("/d/set.das")), (1, 1, 1), "{requests:?}");
    // What is at no address is told as such.
    let nothing = ncirrus(&["info", &server.url("/d/nothing")]);
    assert!(!nothing.status.success());
}

#[test]
fn small_coordinates_come_in_one_request() {
    let names: Vec<String> = (0..40).map(|at| format!("c{at}")).collect();
    let declared: String = names.iter().map(|name| format!("Int32 {name}[{name} = 1];")).collect();
    let server = TestHttpServer::start([]);
    server.add("/d/many.dds", ServerPage::Whole(format!("Dataset {{ {declared} }} d;").into()));
    server.add("/d/many.das", ServerPage::Whole("Attributes { }".into()));
    let sent: Vec<u32> = (0..40).flat_map(|at| [1, 1, at]).collect();
    server.add(&format!("/d/many.dods?{}", names.join(",")), dods(&declared, &sent));
    let output = ncirrus(&["dump", &server.url("/d/many#dap2")]);
    assert!(words(&output.stdout).ends_with("c39=39;}"), "{output:?} {:?}", server.requests());
    assert_eq!(server.requests().len(), 3);
}

#[test]
fn what_a_host_shows_of_brackets_is_remembered_for_its_datasets() {
    let refusal = b"Error { code = 0; message = \"variable 't%5B1:2%5D' was not found\"; };".to_vec();
    let server = TestHttpServer::start([]);
    for name in ["a", "b", "c"] {
        let dds = "Dataset { Int16 t[x = 4]; } d;";
        server.add(&format!("/{name}.dds"), ServerPage::Whole(dds.into()));
        server.add(&format!("/{name}.dds?t[1:2]"), ServerPage::Whole(dds.replace('4', "2").into()));
        let part = dods("Int16 t[x = 2];", &[2, 2, 8, 9]);
        for query in ["t[1:2]", "t[2:2]", "t[2]"] {
            server.add(&format!("/{name}.dods?{query}"), part.clone());
        }
        for query in ["dods?t%5B1:2%5D", "dds?t%5B1:2%5D"] {
            server.add(
                &format!("/{name}.{query}"),
                ServerPage::WithStatus("404 Not Found\r\n", refusal.clone()),
            );
        }
    }
    let session = ncirrus::Session::new().unwrap();
    let options = ncirrus::OpenOptions::default();
    let encoded = || server.requests().iter().filter(|path| path.contains("%5B")).count();
    for (address, refused) in [("a#dap2", 1), ("b#dap2", 1), ("c?t[1:2]#dap2", 1)] {
        let dataset =
            ncirrus::Dataset::open_with(&server.url(&format!("/{address}")), &options, &session).unwrap();
        let variable = dataset.variable("t").unwrap();
        let part = match variable.shape()[0] {
            4 => ncirrus::Selection::slab(&[1], &[2]),
            len => ncirrus::Selection::all(&[len]),
        };
        assert_eq!(variable.values(&part).unwrap(), ncirrus::Values::Short(vec![8, 9]), "{address}");
        assert_eq!(encoded(), refused, "{address}: {:?}", server.requests());
    }
    // Also when it is the first to be opened.
    let session = ncirrus::Session::new().unwrap();
    let address = server.url("/c?t[1:2]#dap2");
    let dataset = ncirrus::Dataset::open_with(&address, &options, &session).unwrap();
    assert_eq!((dataset.variable("t").unwrap().shape(), encoded()), (vec![2], 2), "{:?}", server.requests());
}

#[test]
fn brackets_are_left_alone_for_servers_that_do_not_decode_them() {
    let dds = "Dataset { Int16 t[x = 4][y = 3]; } d;";
    let refusal = b"Error { code = 0; message = \"variable 't%5B1:2%5D' was not found\"; };".to_vec();
    let (encoded, raw) = ("/d/set.dods?t%5B1:2%5D%5B0:2%5D", "/d/set.dods?t[1:2][0:2]");
    let server = TestHttpServer::start([
        ("/d/set.dds", ServerPage::Whole(dds.into())),
        (encoded, ServerPage::WithStatus("404 Not Found\r\n", refusal)),
        (raw, dods("Int16 t[x = 2][y = 3];", &[6, 6, 1, 2, 3, 4, 5, 6])),
    ]);
    let made = tempfile::tempdir().unwrap();
    for mode in ["", "&encode=none"] {
        let copy = made.path().join(format!("copy{mode}.nc"));
        let address = format!("{}#dap2{mode}", server.url("/d/set"));
        let output = ncirrus(&["copy", "--select", "t[1:3,:]", &address, copy.to_str().unwrap()]);
        assert!(output.status.success(), "{output:?} {:?}", server.requests());
        let shown = ncirrus(&["dump", copy.to_str().unwrap()]);
        assert!(words(&shown.stdout).contains("t=1,2,3,4,5,6;"), "{shown:?}");
    }
    let requested = |path: &str| server.requests().iter().filter(|requested| *requested == path).count();
    assert_eq!((requested(encoded), requested(raw)), (1, 2), "{:?}", server.requests());
}

#[test]
fn the_tools_of_netcdf_show_what_netcdf_c_shows() {
    let Some(folder) = corpus("dap") else { return };
    let address = format!("file://{}#dap2", folder.join("dap2/test.01").display());
    let output = ncirrus(&["ncdump", "-h", &address]);
    assert!(words(&output.stdout).contains("chars(maxStrlen64);"), "{output:?}");
    let native = ncirrus(&["ncdump", "-h", &format!("{address}&view=native")]);
    assert!(words(&native.stdout).contains("strings;"), "{native:?}");
}

#[test]
fn values_that_a_server_computes_cannot_be_referred_to() {
    let Some(folder) = corpus("dap") else { return };
    let made = tempfile::tempdir().unwrap();
    let (from, to) = (folder.join("dap2/pydap_grid2.dods"), made.path().join("r.json"));
    let output = ncirrus(&["reference", from.to_str().unwrap(), to.to_str().unwrap()]);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(!output.status.success() && error.contains("no stored bytes to refer to"), "{error}");
}
