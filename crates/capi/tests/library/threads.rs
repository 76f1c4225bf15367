//! Many threads, forks, and many opens.
use super::calls::compiled_with;
use super::{Library, printed, run};

/// Seconds of the test with many threads: `NCIRRUS_STRESS_SECONDS`, a few by default.
fn seconds() -> String {
    std::env::var("NCIRRUS_STRESS_SECONDS").unwrap_or_else(|_| "5".to_owned())
}

#[test]
fn sixteen_threads_use_files_of_all_kinds_and_one_handle() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "threads", &["-lpthread"]);
    let said = printed(Library::Own, folder.path(), &program, &[".", &seconds(), "16"]);
    assert_eq!(said.lines().filter(|line| line.ends_with(": done")).count(), 12, "{said}");
    assert_eq!(said.lines().count(), 12, "{said}");
}

#[test]
fn closing_waits_for_the_calls_that_run() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "closing", &["-lpthread"]);
    for kind in ["3", "4"] {
        let said = printed(Library::Own, folder.path(), &program, &[".", kind]);
        assert_eq!(said, "close: 0, after it: 0, other codes: 0\nlost: 0\n");
    }
}

#[test]
fn a_child_reads_what_was_open_and_leaves_what_is_written_to_its_parent() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "forks", &["-lpthread"]);
    let said = printed(Library::Own, folder.path(), &program, &["."]);
    let child = "child: read 0 4498500, put -103, make 0, close 0, read 0 4498500, close 0";
    assert_eq!(said.lines().filter(|line| *line == child).count(), 20, "{said}");
    assert!(said.ends_with("parent: children 20, wrong 0, close 0, read 0 4498500\n"), "{said}");
    for number in 0..20 {
        let dump = printed(Library::Debian, folder.path(), "ncdump", &["-h", &format!("child{number}.nc")]);
        assert!(dump.contains("int v(x)"), "{dump}");
    }
}

#[test]
fn values_are_read_while_another_thread_synchronizes() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "beside", &["-lpthread"]);
    let said = printed(Library::Own, folder.path(), &program, &["a.nc", "sync"]);
    assert_eq!(said, "code 0, wrong 0, any 1, failed 0\nclose 0\n");
}

/// The limit is that of a child that would never end.
#[test]
fn a_child_closes_what_threads_of_its_parent_write() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "beside", &["-lpthread"]);
    let said = printed(Library::Own, folder.path(), "timeout", &["300", &program, "a.nc", "fork"]);
    assert_eq!(said, "closed 10\nclose 0\n");
}

/// `cargo xtask races` makes 1,000 of each, also on an object store.
#[test]
fn of_processes_that_change_one_dataset_none_loses_what_another_one_wrote() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "races", &["-pthread"]);
    for (end, mode) in [("zarr", "nczarr,file"), ("zip", "nczarr,zip")] {
        for change in ["append", "region", "attribute", "variable", "creation", "replacement"] {
            let before = format!("file://{change}-");
            let after = format!(".{end}#mode={mode}");
            let said = printed(Library::Own, folder.path(), &program, &[change, "6", &before, &after]);
            let is_right = said.starts_with("lost 0, mixed 0, all failed 0, errors ");
            assert!(is_right && said.contains("broken 0\n"), "{change} {mode}: {said}");
        }
    }
}

/// Opens of the test that counts memory and handles: `NCIRRUS_CAPI_OPENS`.
fn opens() -> String {
    std::env::var("NCIRRUS_CAPI_OPENS").unwrap_or_else(|_| "20000".to_owned())
}

#[test]
fn opening_and_closing_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with(folder.path(), "opens", &[]);
    let text = "netcdf d {\ndimensions:\n\tx = 3 ;\nvariables:\n\tint v(x) ;\ndata:\n v = 1, 2, 3 ;\n}\n";
    std::fs::write(folder.path().join("text.cdl"), text).unwrap();
    let kinds = ["classic", "64-bit offset", "cdf5", "netCDF-4 classic model", "netCDF-4"];
    let files: Vec<String> = (0..kinds.len()).map(|number| format!("{number}.nc")).collect();
    for (kind, file) in kinds.iter().zip(&files) {
        printed(Library::Debian, folder.path(), "ncgen", &["-k", kind, "-o", file, "text.cdl"]);
    }
    let zarr = "file://d.zarr#mode=nczarr,file";
    printed(Library::Debian, folder.path(), "nccopy", &["4.nc", zarr]);
    let count = opens();
    let arguments: Vec<&str> =
        [".", &count].into_iter().chain(files.iter().map(String::as_str)).chain([zarr]).collect();
    let output = run(Library::Own, folder.path(), &program, &arguments);
    let said = String::from_utf8_lossy(&output.stdout);
    assert_eq!(said, "handles: 0, memory: as before\n", "{}", String::from_utf8_lossy(&output.stderr));
}
