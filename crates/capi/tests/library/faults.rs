//! Panics that are injected into calls: the call fails, its file is given up, and all others go on.
use super::calls::compiled_with_own_headers;
use super::loaded_from;
use std::process::Command;

#[test]
fn a_panic_in_a_call_gives_up_its_file_and_no_other() {
    for (kind, cases) in [("classic", 43), ("netCDF-4", 42), ("zarr", 40)] {
        let folder = tempfile::tempdir().unwrap();
        let program = compiled_with_own_headers(folder.path(), "faults");
        let files = tempfile::tempdir().unwrap();
        let output = Command::new(program)
            .arg(files.path())
            .arg(kind)
            .current_dir(folder.path())
            .env("LD_LIBRARY_PATH", loaded_from(folder.path()))
            .env("NCIRRUS_FAULT", "")
            .env("RUST_BACKTRACE", "0")
            .output()
            .unwrap();
        let said = String::from_utf8_lossy(&output.stdout);
        assert_eq!(said, format!("{cases} cases, 0 wrong\n"), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(output.status.success(), "{}", output.status);
        // What was given up and left open is not there.
        let mut left: Vec<_> =
            files.path().read_dir().unwrap().map(|entry| entry.unwrap().file_name()).collect();
        left.sort();
        assert_eq!(left, [if kind == "zarr" { "faults.zarr" } else { "faults.nc" }, "other.nc"]);
    }
}
