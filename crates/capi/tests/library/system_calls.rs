//! How often the system is called: programs that open thousands of small files wait for little else.
use super::calls::compiled;
use super::{Library, printed};

/// For the working directory, the file, its state, its first bytes, and to close it. With debug assertions the standard library checks a
/// file before it closes it.
const OF_AN_OPENING: u64 = if cfg!(debug_assertions) { 6 } else { 5 };

#[test]
fn a_small_file_is_opened_and_closed_with_five_calls_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "system_calls");
    std::fs::write(folder.path().join("text.cdl"), "netcdf d { dimensions: x = 3 ; variables: int v(x) ; }")
        .unwrap();
    for kind in ["classic", "netCDF-4"] {
        printed(Library::Debian, folder.path(), "ncgen", &["-k", kind, "-o", "d.nc", "text.cdl"]);
        let counted = printed(Library::Own, folder.path(), &program, &["d.nc"]);
        if counted.trim() != "untraced" {
            assert_eq!(counted.trim().parse(), Ok(OF_AN_OPENING), "{kind}");
        }
    }
}

/// To make a folder, and to open, write and close three files in it. With debug assertions the standard library checks a file
/// before it closes it.
const OF_A_SMALL_VARIABLE: u64 = if cfg!(debug_assertions) { 13 } else { 10 };

#[test]
fn a_small_variable_of_a_new_tree_takes_ten_calls_of_the_system() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "system_calls");
    let counted = |count: u64| {
        let url = format!("file://{}/{count}.zarr#mode=nczarr,file", folder.path().display());
        printed(Library::Own, folder.path(), &program, &[&url, &count.to_string()]).trim().parse::<u64>().ok()
    };
    let (Some(few), Some(many)) = (counted(100), counted(300)) else { return };
    // Memory is requested from the system now and then, too.
    assert_eq!((many - few) / 200, OF_A_SMALL_VARIABLE, "{few} and {many} calls");
}
