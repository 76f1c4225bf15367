//! Responses of OPeNDAP in files, through the command: shown as netCDF-C shows them, copied, and refused.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::corpus;
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
fn address(folder: &Path, case: &Value) -> String {
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
        let address = format!("{}&view=netcdf-c", address(&folder, &case));
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
fn bad_responses_end_with_an_error_that_tells_what_they_are() {
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
    for (file, told) in cases {
        let output = ncirrus(&["dump", &format!("file://{}/{file}", folder.display())]);
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(!output.status.success() && error.contains(told), "{file}: {error}");
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
