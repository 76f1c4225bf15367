//! What the intended readers of a copy cannot read is reported, and the storage of strings is an option.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Strings, Values};
use ncirrus_testkit::corpus::peers_python;
use std::path::Path;
use std::process::{Command, Output};

fn ncirrus(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A netCDF-4 file with the strings "one" and "three" along an axis of length 2.
fn strings(folder: &Path) {
    let options = CreateOptions::new().kind(Kind::Nc4);
    let path = folder.join("strings.nc");
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &Session::new().unwrap()).unwrap();
    let root = dataset.root();
    root.add_dimension("x", DimensionLen::Fixed(2)).unwrap();
    let variable = root.add_variable("words", Atomic::String, &["x"]).unwrap();
    let mut words = Strings::new();
    [b"one".as_slice(), b"three"].into_iter().for_each(|word| words.push(Some(word)));
    variable.write_values(&Selection::slab(&[0], &[2]), &Values::String(words)).unwrap();
    dataset.close().unwrap();
}

/// A netCDF-3 file with a scalar and a variable of an empty dimension.
fn odd(folder: &Path) {
    let dataset = Dataset::create(folder.join("odd.nc").to_str().unwrap()).unwrap();
    let root = dataset.root();
    root.add_dimension("t", DimensionLen::Unlimited(0)).unwrap();
    root.add_variable("none", Atomic::Int, &["t"]).unwrap();
    root.add_variable("scalar", Atomic::Int, &[]).unwrap().write(&Selection::all(&[]), &[7]).unwrap();
    dataset.close().unwrap();
}

#[test]
fn a_copy_that_older_netcdf_c_cannot_read_says_so_and_ends_with_1() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    strings(folder);
    odd(folder);
    for (source, dialect, parts) in [
        ("strings.nc", "uc", &["/words: netCDF-C 4.8.1 and 4.9.0 do not list strings"][..]),
        ("odd.nc", "uc", &["/scalar: netCDF-C 4.9.0 crashes", "t: netCDF-C 4.9.0 refuses"]),
        ("strings.nc", "lc", &[]),
        ("odd.nc", "lc", &[]),
        ("odd.nc", "att", &[]),
    ] {
        let target = format!("{source}.{dialect}.zarr");
        let output = ncirrus(&["copy", "-k", "nczarr", "--dialect", dialect, source, &target], folder);
        let messages = messages(&output);
        assert_eq!(
            output.status.code(),
            Some(i32::from(!parts.is_empty())),
            "{source}, {dialect}: {messages}"
        );
        assert_eq!(messages.lines().count(), parts.len(), "{source}, {dialect}: {messages}");
        assert!(parts.iter().all(|part| messages.contains(part)), "{source}, {dialect}: {messages}");
    }
}

#[test]
fn filters_that_older_netcdf_c_may_pass_over_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let example = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc");
    for (options, is_reported) in [(&["-d", "1"], true), (&["-d", "0"], false)] {
        let arguments =
            [&["copy", "-k", "nczarr", "--dialect", "uc"], &options[..], &[example, "a.zarr", "--overwrite"]];
        let output = ncirrus(&arguments.concat(), folder);
        assert!(output.status.success(), "{}", messages(&output));
        assert_eq!(
            messages(&output).contains("shows encoded bytes as values"),
            is_reported,
            "{}",
            messages(&output)
        );
    }
}

/// Which variables netCDF-C lists, and the data type in zarr-python.
const LISTED: &str = r#"
import sys, netCDF4, json
listed = netCDF4.Dataset(f"file://{sys.argv[1]}#mode=nczarr,file")
print(sorted(listed.variables), json.load(open(sys.argv[1] + "/words/.zarray"))["dtype"])
if "words" in listed.variables: assert listed["words"][:].tolist() == ["one", "three"]
"#;

#[test]
fn strings_are_stored_as_the_option_says() {
    let Some(python) = peers_python() else { return };
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    strings(folder);
    for (options, expected) in [
        (&[][..], "['words'] |S5"),
        (&["--strings", "fixed"], "['words'] |S5"),
        (&["--strings", "fixed=9"], "['words'] |S9"),
        (&["--strings", "variable"], "[] |O"),
    ] {
        let arguments = [&["copy"], options, &["strings.nc", "a.zarr", "--overwrite"]].concat();
        let output = ncirrus(&arguments, folder);
        assert!(output.status.success(), "{options:?}: {}", messages(&output));
        let store = folder.join("a.zarr");
        let listed = Command::new(&python).args(["-c", LISTED]).arg(&store).output().unwrap();
        let text = String::from_utf8_lossy(&listed.stdout);
        assert_eq!(text.trim(), expected, "{options:?}: {}", messages(&listed));
    }
    let output = ncirrus(&["copy", "--strings", "fixed=4", "strings.nc", "b.zarr"], folder);
    assert_ne!(output.status.code(), Some(0));
    assert!(
        messages(&output).contains("text of 5 bytes does not fit 4 bytes: \"three\""),
        "{}",
        messages(&output)
    );
    assert!(!folder.join("b.zarr").exists());
    let output = ncirrus(&["copy", "--strings", "short", "strings.nc", "b.zarr"], folder);
    assert_eq!(output.status.code(), Some(2), "{}", messages(&output));
}
