//! Aggregations as a user types them.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use std::path::Path;
use std::process::Output;

fn run(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

fn ncirrus(arguments: &[&str], folder: &Path) -> String {
    let output = run(arguments, folder);
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{arguments:?}: {error}");
    String::from_utf8(output.stdout).unwrap()
}

fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

/// The values of the example's variable.
fn data(url: &str, folder: &Path) -> String {
    let text = ncirrus(&["dump", "-n", "x", "-v", "sst", url], folder);
    text.split_once("\ndata:").unwrap().1.to_owned()
}

#[test]
fn a_dataset_is_split_moved_and_put_together_again() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    let want = data(&example(), folder);
    let reported = ncirrus(&["split", "--shape", "time=1,lat=2", &example(), "m.nca"], folder);
    assert!(reported.contains("/sst") && reported.contains(" written, 0 kept"), "{reported}");
    assert_eq!(data("m.nca", folder), want);
    std::fs::rename(folder.join("m"), folder.join("n")).unwrap();
    let renamed = ncirrus(&["relocate", "--prefix", "n", "--dry-run", "m.nca"], folder);
    assert!(renamed.contains("/sst\tm/m.sst.0.0.0.nc\tn/m.sst.0.0.0.nc\n"), "{renamed}");
    ncirrus(&["relocate", "--prefix", "n", "m.nca"], folder);
    assert_eq!(data("m.nca", folder), want);
    std::fs::remove_file(folder.join("m.nca")).unwrap();
    ncirrus(&["aggregate", "--rebuild", "n", "--convention", "cfa-0.6", "m.nca"], folder);
    assert_eq!(data("m.nca", folder), want);
    let tiles = ["aggregate", "--axis", "time", "--axis", "lat", "t.nca", "n/*.nc"];
    let plan = ncirrus(&[&tiles[..], &["--dry-run"]].concat(), folder);
    assert!(plan.contains("aggregated  /sst") && !folder.join("t.nca").exists(), "{plan}");
    ncirrus(&tiles, folder);
    assert_eq!(data("t.nca", folder), want);
}

#[test]
fn files_that_do_not_fit_are_reported_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    ncirrus(&["copy", &example(), "a.nc"], folder);
    let output = run(&["aggregate", "m.nca", "a.nc", &example()], folder);
    assert!(!output.status.success() && !folder.join("m.nca").exists());
    let reported = String::from_utf8_lossy(&output.stderr);
    assert!(reported.contains("overlaps") && reported.contains("sst.nc"), "{reported}");
    let output = run(&["aggregate", "m.nca", "none*.nc"], folder);
    assert!(String::from_utf8_lossy(&output.stderr).contains("no dataset has that name"));
}

#[test]
fn a_master_does_not_replace_its_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    ncirrus(&["copy", &example(), "a.nc"], folder);
    let before = std::fs::read(folder.join("a.nc")).unwrap();
    for target in ["a.nc", "./a.nc"] {
        let output = run(&["aggregate", "--overwrite", "--axis", "time", target, "a.nc"], folder);
        let reported = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(7), "{reported}");
        assert!(reported.contains("a.nc") && reported.contains("replace"), "{reported}");
    }
    assert_eq!(std::fs::read(folder.join("a.nc")).unwrap(), before);
    // An older master among the files is replaced.
    for _ in 0..2 {
        ncirrus(&["aggregate", "--overwrite", "--axis", "time", "m.nca", "m.nca", "a.nc"], folder);
    }
}

#[test]
fn lists_of_names_have_comments() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    std::fs::write(folder.join("list"), format!("# files\n\n  {}  \n", example())).unwrap();
    let plan = ncirrus(&["aggregate", "--dry-run", "--from-list", "list", "m.nca"], folder);
    assert!(plan.contains("files       1"), "{plan}");
}

#[test]
fn fragments_of_no_size_and_along_no_dimension_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let folder = folder.path();
    for (arguments, reported) in [
        (&["--max-size", "0"][..], "the maximum size is 0"),
        (&["--shape", "tim=2"], "dimension \"tim\" does not exist"),
        (&["--shape", "time=0"], "is not of the form DIM=LEN"),
        (&["--shape", "time=1,time=2"], "two lengths along \"time\""),
    ] {
        let output = run(&[&["split"], arguments, &[&example(), "m.nca"]].concat(), folder);
        let error = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(!output.status.success() && error.contains(reported), "{arguments:?}: {error}");
        assert_eq!(folder.read_dir().unwrap().count(), 0, "{arguments:?}");
    }
}
