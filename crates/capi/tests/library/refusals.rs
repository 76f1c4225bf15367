//! Definitions that a file refuses are told by `nc_enddef`, and take nothing else along.
use super::calls::compiled;
use super::{Library, printed, run};

/// What a step of `tests/c/refusals.c` prints is what Debian's library prints.
fn assert_as_by_debian(step: &str, parts: [&str; 2]) {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "refusals");
    let [expected, said] = [Library::Debian, Library::Own]
        .map(|library| printed(library, folder.path(), &program, &["a.nc", step]));
    assert!(parts.iter().all(|part| expected.contains(part)), "{expected}");
    assert_eq!(said, expected);
}

#[test]
fn attributes_and_values_stay_beside_a_definition_that_is_refused() {
    assert_as_by_debian("dimension", ["nc_enddef(ncid) = -101\n", "of v 0 8\n"]);
}

#[test]
fn an_attribute_of_another_type_is_renamed_to_a_fill_value() {
    assert_as_by_debian("fill", ["nc_close(ncid) = 0\n", "fill 0 1\nvalues 0 4 5 6\n"]);
}

#[test]
fn what_functions_of_version_2_say_names_what_it_names_in_debians() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "version2_messages");
    let [expected, said] = [Library::Debian, Library::Own].map(|library| {
        let output = run(library, folder.path(), &program, &["."]);
        assert!(output.status.success());
        String::from_utf8(output.stderr).unwrap()
    });
    assert!(expected.starts_with("ncopen: filename \"none.nc\": No such file or directory\n"), "{expected}");
    assert_eq!(said, expected);
}
