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
