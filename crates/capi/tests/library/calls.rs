//! An own C program makes the same calls on both libraries: equal codes and values.
use super::{Library, loaded_from, printed};
use std::path::Path;
use std::process::Command;

/// Compiles a program of `tests/c` against Debian's header and library.
pub(super) fn compiled(folder: &Path, name: &str) -> String {
    compiled_with(folder, name, &[])
}

/// As [`compiled`], with further arguments for the compiler.
pub(super) fn compiled_with(folder: &Path, name: &str, more: &[&str]) -> String {
    let source = format!("{}/tests/c/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let program = folder.join(name);
    let mut command = Command::new("gcc");
    command.args(["-Wall", "-Werror", "-o"]).arg(&program).args([&source, "-lnetcdf"]).args(more);
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    program.to_str().unwrap().to_owned()
}

const TEXT: &str = r#"netcdf d {
dimensions:
	t = UNLIMITED ;
	x = 3 ;
variables:
	int v(t, x) ;
		v:a = 300, -1 ;
		v:text = "abc" ;
	char c(x) ;
	double f(x) ;
	byte b(x) ;
data:
 v = 1, 2, 3, 4, 5, 300 ;
 c = "xyz" ;
 f = 1.5, -2.5, 1e20 ;
 b = -1, 0, 1 ;
}
"#;

#[test]
fn codes_and_values_are_those_of_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "reading");
    std::fs::write(folder.path().join("text.cdl"), TEXT).unwrap();
    for kind in ["classic", "cdf5", "netCDF-4"] {
        printed(Library::Debian, folder.path(), "ncgen", &["-k", kind, "-o", "d.nc", "text.cdl"]);
        let expected = printed(Library::Debian, folder.path(), &program, &["d.nc"]);
        assert!(expected.lines().count() > 60, "{expected}");
        assert_eq!(printed(Library::Own, folder.path(), &program, &["d.nc"]), expected, "{kind}");
    }
}

#[test]
fn types_and_their_values_are_those_of_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "types");
    std::fs::write(folder.path().join("text.cdl"), super::dumps::ENHANCED).unwrap();
    printed(Library::Debian, folder.path(), "ncgen", &["-k", "netCDF-4", "-o", "d.nc", "text.cdl"]);
    let expected = printed(Library::Debian, folder.path(), &program, &["d.nc"]);
    assert!(expected.contains("second"), "{expected}");
    assert_eq!(printed(Library::Own, folder.path(), &program, &["d.nc"]), expected);
}

#[test]
fn programs_log_to_standard_error_as_with_debians_library() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled(folder.path(), "logging");
    let said = |library, level: Option<&str>| {
        let mut command = Command::new(&program);
        if library == Library::Own {
            command.env("LD_LIBRARY_PATH", loaded_from(folder.path()));
        }
        let output = command.envs(level.map(|level| ("NCLOGGING", level))).output().unwrap();
        assert!(output.status.success());
        [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap())
    };
    let [codes, lines] = said(Library::Debian, None);
    assert_eq!(codes, "0 1 0 1\n");
    assert_eq!(lines, "Note:a\nWarning:b\nDebug:c\nunknown:d\nError:e\nNote:f\n");
    assert_eq!(said(Library::Own, None), [codes, lines]);
    assert_eq!(said(Library::Own, Some("1")), said(Library::Debian, Some("1")));
}

/// As `ncdump` of Debian 13 does, whose function Debian 12's library does not have.
#[test]
fn programs_of_newer_versions_log_by_levels() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with_own_headers(folder.path(), "levels");
    let output = Command::new(&program).env("LD_LIBRARY_PATH", loaded_from(folder.path())).output().unwrap();
    let [codes, lines] = [output.stdout, output.stderr].map(|said| String::from_utf8(said).unwrap());
    assert_eq!((&*codes, &*lines), ("0 3 0 0\n", "Error:a\nNote:b\n"));
}

/// A program of `tests/c` that is compiled with the own headers and library.
pub(super) fn compiled_with_own_headers(folder: &Path, name: &str) -> String {
    for header in ncirrus_netcdf::HEADERS {
        std::fs::write(folder.join(header), ncirrus_netcdf::header(header)).unwrap();
    }
    let source = format!("{}/tests/c/{name}.c", env!("CARGO_MANIFEST_DIR"));
    let output = Command::new("gcc")
        .args(["-Wall", "-Werror", "-I.", "-o", name, &source, "-L"])
        .arg(loaded_from(folder))
        .args(["-lnetcdf", "-lpthread"])
        .current_dir(folder)
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    folder.join(name).to_str().unwrap().to_owned()
}

#[test]
fn programs_that_are_compiled_with_the_own_headers_and_library_run() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("text.cdl"), TEXT).unwrap();
    printed(Library::Debian, folder.path(), "ncgen", &["-k", "netCDF-4", "-o", "d.nc", "text.cdl"]);
    let program = compiled_with_own_headers(folder.path(), "reading");
    let said = printed(Library::Own, folder.path(), &program, &["d.nc"]);
    assert_eq!(said, printed(Library::Debian, folder.path(), &program, &["d.nc"]));
}

#[test]
fn filters_are_named_in_the_words_of_zarr() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with_own_headers(folder.path(), "filter_json");
    let rest = "v4: -136 | | 1\nv5: -136 | | 1\nv6: -36 | | 1\nv7: -36 | | 1\nv8: -36 | | 1\nv9: -36 | | 1\n\
                scalar: -36\nlate: -39\nclose: 0\nsame: 1\n";
    let said = printed(Library::Own, folder.path(), &program, &["json.nc"]);
    assert_eq!(
        said,
        format!("v0: 0 | 32015 | 0\nv1: 0 | 2 1 | 0\nv2: 0 | 32015 | 0\nv3: -136 | | 1\n{rest}")
    );
    let target = format!("file://{}#mode=nczarr,file", folder.path().join("json.zarr").display());
    let said = printed(Library::Own, folder.path(), &program, &[&target]);
    let rest = rest.replace("| | 1", "| | 0");
    assert_eq!(said, format!("v0: 0 | 32015 | 0\nv1: 0 | 2 1 | 0\nv2: 0 | 32015 | 0\nv3: 0 | | 0\n{rest}"));
    let array = |name: &str| std::fs::read_to_string(folder.path().join("json.zarr").join(name)).unwrap();
    assert!(array("v3/.zarray").contains("\"delta\""), "{}", array("v3/.zarray"));
    assert!(array("v0/.zarray").replace(' ', "").contains("\"level\":5"), "{}", array("v0/.zarray"));
}

#[test]
fn shards_are_defined_and_inquired() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with_own_headers(folder.path(), "shards");
    let target = format!("file://{}#mode=zarr3,file", folder.path().join("a.zarr").display());
    let said = printed(Library::Own, folder.path(), &program, &[&target]);
    let expected = "before: 0 | 0 | 0 0\nodd: -127\nnone: -127\nshards: 0\nafter: 0 | 1 | 4 6\nno variable: -49\n\
                    taken back: 0\ntaken back: 0 | 0 | 0 0\nlate: -123\nclose: 0\nopened: 0 | 1 | 4 6\nsame: 1\nnull: 0\n";
    assert_eq!(said, expected);
    assert_eq!(std::fs::read_dir(folder.path().join("a.zarr/v/c")).unwrap().count(), 2);
    // Other formats have none.
    let said = printed(Library::Own, folder.path(), &program, &["a.nc"]);
    assert!(said.contains("shards: -128\nafter: 0 | 0 | 0 0\n"), "{said}");
    assert!(said.ends_with("opened: 0 | 0 | 0 0\nsame: 1\nnull: 0\n"), "{said}");
}

#[test]
fn what_netcdf_has_no_words_for_is_in_the_own_header() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with_own_headers(folder.path(), "own");
    let output = Command::new(program)
        .arg(".")
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", loaded_from(folder.path()))
        .env("NCIRRUS_ERRORS", "1")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), OWN);
    let said = String::from_utf8_lossy(&output.stderr);
    // Every call that failed.
    let failed: Vec<&str> =
        said.lines().filter_map(|line| line.strip_prefix("ncirrus: ")?.split(':').next()).collect();
    let expected = [
        "nc_open",
        "nc_close",
        "nci_configure",
        "nci_configure",
        "nci_read_many",
        "nci_read_many",
        "nc_enddef",
        "nc_close",
    ];
    assert_eq!(failed, expected, "{said}");
    assert!(said.lines().any(|line| line.contains("none.nc") && line.ends_with("(2)")), "{said}");
}

#[test]
fn what_newer_versions_added_is_in_the_own_headers() {
    let folder = tempfile::tempdir().unwrap();
    let program = compiled_with_own_headers(folder.path(), "newer");
    let output = Command::new(program)
        .arg(".")
        .current_dir(folder.path())
        .env("LD_LIBRARY_PATH", loaded_from(folder.path()))
        .env("HDF5_PLUGIN_PATH", "/usual:/other")
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), NEWER);
}

/// What `tests/c/newer.c` prints.
const NEWER: &str = "parse 0: [/a] [/b;c] []
text 0 [/a;/b;c;]
append 0, prepend 0: [/first] [/a] [/b;c] [] [/z]
clear 0 0 1
part 0: [/x] [/y]
reclaim 0
nothing 0 0
null -36 -36 -36 0
ndirs 0 2
get 0: [/usual] [/other]
set 0
len 19, get 0 [/usual;/other;/more]
short 0 [/usu##]
set 0: [/p] [q]
null -36 -36 -36 -36
type 0 short 2 0 0 3
type 0 rows 16 4 0 13
type -45
copy 0 [1 2 3] 0 [1 2 3]
provenance 0 [version=2] [netcdf=4.9.0] [hdf5=1.10.8]
provenance 0 [a=1] [b,c=2=3] [d=]
provenance 0
provenance -36
";

/// What `tests/c/own.c` prints.
const OWN: &str = "version 1
[]
2
names the file: 1
another thread: []
-33 NetCDF: Not a valid ID
configure: 0 -36 -36: \"memori\" is no key that programs set
rc: 0 7 1
many: 0
31 32 33 41 42 43 2 2.5 3 
many: -57 NetCDF: Start+count exceeds dimension bound
many: -36
explain: 0 1 1
explain: 0 1
statistics: 0 1
compound: -101 /g/pair: a compound without fields cannot be stored: nc_insert_compound adds some
enum: -36 /g/state: an enum without members cannot be stored: nc_insert_enum adds some
";
