//! Several handles of one file, files that others add to, and what the system refuses.
use super::calls::{compiled, compiled_with_own_headers};
use super::{Library, loaded_from, printed};
use std::process::Command;

/// What a step of `tests/c/shared.c` prints is for files of both kinds what Debian's library prints for netCDF-3.
fn assert_as_netcdf_3_by_debian(step: &str, part: &str) {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "shared");
    let shown = |library, kind| printed(library, folder.path(), &program, &[step, "a.nc", kind]);
    let expected = shown(Library::Debian, "3");
    assert!(expected.contains(part), "{expected}");
    for kind in ["3", "4"] {
        assert_eq!(shown(Library::Own, kind), expected, "{kind}");
    }
}

#[test]
fn a_reader_sees_what_another_process_added_after_it_synchronized() {
    assert_as_netcdf_3_by_debian("added", "after: 0 2 0 7 9\n");
}

#[test]
fn a_reader_that_shares_a_classic_file_sees_what_others_put_without_synchronizing() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "shared");
    let [expected, said] = [Library::Debian, Library::Own]
        .map(|library| printed(library, folder.path(), &program, &["follow", "a.nc", "3"]));
    assert!(expected.contains("changed: 0 1 0 8\n") && expected.contains("after: 0 2 0 8 9\n"), "{expected}");
    assert_eq!(said, expected);
}

#[test]
fn all_readers_of_a_process_see_what_one_of_its_handles_writes() {
    assert_as_netcdf_3_by_debian("writer", "two: 0 2 0 7 9\n");
}

#[test]
fn a_handle_goes_on_after_another_one_is_aborted() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "shared");
    // Debian's second handle does not know what was defined through the first one.
    let said = printed(Library::Own, folder.path(), &program, &["abort", "a.nc", "4"]);
    assert_eq!(said, "create 0 0 0 0 0 0\n");
    let shown = printed(Library::Debian, folder.path(), "ncdump", &["a.nc"]);
    assert!(shown.contains("t = 2 ;"), "{shown}");
}

#[test]
fn a_process_forks_while_sessions_are_made() {
    let folder = tempfile::tempdir().unwrap();
    let program = super::calls::compiled_with(folder.path(), "fork_sessions", &["-lpthread"]);
    assert_eq!(printed(Library::Own, folder.path(), &program, &["."]), "good 200\n");
}

#[test]
fn a_file_that_may_not_grow_is_told_with_the_number_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let text = "netcdf d {\ndimensions:\n\tx = 900000 ;\nvariables:\n\tint v(x) ;\n}\n";
    std::fs::write(folder.path().join("text.cdl"), text).unwrap();
    printed(Library::Debian, folder.path(), "ncgen", &["-o", "d.nc", "text.cdl"]);
    // The shell's limit counts blocks of 1024 bytes.
    let command = "trap '' XFSZ; ulimit -f 1000; nccopy d.nc copy.nc";
    let copied = Command::new("bash")
        .args(["-c", command])
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", loaded_from(folder.path()))
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&copied.stderr);
    assert!(!copied.status.success() && said.contains("File too large"), "{said}");
    assert!(!folder.path().join("copy.nc").exists(), "nothing half written is left");
}

#[test]
fn single_values_of_large_chunks_are_those_that_were_written() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "large_chunks");
    let said = printed(Library::Own, folder.path(), &program, &["."]);
    assert_eq!(said, "wrong 0\nbefore 105.006 after -3, wrong 0, close 0\n");
}

#[test]
fn slabs_that_follow_each_other_are_decoded_before_they_are_asked_for() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with_own_headers(folder.path(), "ahead");
    let said = printed(Library::Own, folder.path(), &program, &["."]);
    let expected = "decoded ahead: 1\nwrong: 0, each chunk about once: 1\n\
                    levels: 0 threes: 0 others: 0 after the end: -40 close: 0\n";
    assert_eq!(said, expected);
}

#[test]
fn values_that_are_encoded_behind_the_caller_are_those_of_the_last_write() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "behind");
    let shown = |library| printed(library, folder.path(), &program, &[".", "order"]);
    let expected = shown(Library::Debian);
    assert_eq!(expected, "range -60 close 0 open 0 wrong 0 close 0\n");
    assert_eq!(shown(Library::Own), expected);
    let shown = printed(Library::Own, folder.path(), &program, &[".", "full"]);
    assert_eq!(shown, "told 1 whole 1 close 0\n");
}
