//! Debian's `ncdump` prints the same on both libraries.
use super::{Library, printed, run};
use std::path::Path;

/// A dataset of the classic model, for every kind of file.
pub(super) const CLASSIC: &str = r#"netcdf c {
dimensions:
	time = UNLIMITED ;
	x = 3 ;
	s = 5 ;
variables:
	double time(time) ;
		time:units = "hours since 1999-12-31 06:30" ;
		time:calendar = "noleap" ;
	byte b(x) ;
	char name(x, s) ;
		name:long_name = "a name\nin two lines" ;
	short v(time, x) ;
		v:_FillValue = -9s ;
		v:scale_factor = 0.5f, 1.f ;
		v:valid_range = -5s, 100s ;
	int i(x) ;
	float f(time) ;
	double scalar ;

// global attributes:
		:title = "t" ;
		:empty = "" ;
		:numbers = 1, 2, 3 ;
data:
 time = 0, 12.5 ;
 b = -1, 2, 127 ;
 name = "ab", "hello", "" ;
 v = 1, 2, 3, 4, _, 6 ;
 i = -2147483647, 0, 7 ;
 f = 1.5, 1e30 ;
 scalar = 3.25 ;
}
"#;

/// What only netCDF-4 has.
pub(super) const ENHANCED: &str = r#"netcdf e {
types:
  compound point { byte tag ; double x ; short y(2, 2) ; string label ; } ;
  int(*) row ;
  byte enum kind { no = 0, yes = 1, maybe = -3 } ;
  opaque(5) blob ;
  compound nested { point p ; kind k ; } ;
dimensions:
	n = 2 ;
	u = UNLIMITED ;
variables:
	point p(n) ;
	row r(n) ;
	kind k(n) ;
		kind k:_FillValue = maybe ;
	blob o(n) ;
	nested q(n) ;
	string words(u) ;
	uint64 large(u) ;
		large:_FillValue = 7ULL ;
	ubyte ub(n) ;
	float packed(n, u) ;
		packed:_ChunkSizes = 2, 5 ;
		packed:_DeflateLevel = 4 ;
		packed:_Shuffle = "true" ;
		packed:_Fletcher32 = "true" ;
	int big(n) ;
		big:_Endianness = "big" ;
		string big:notes = "one", "two" ;
		row big:rows = {1, 2}, {3} ;
		point big:at = {1, 2.5, {1, 2, 3, 4}, "l"} ;
data:
 p = {1, 2.5, {1, 2, 3, 4}, "first"}, {-1, -0.5, {5, 6, 7, 8}, "second"} ;
 r = {1, 2, 3}, {} ;
 k = yes, maybe ;
 o = 0X0102030405, 0XFFFEFDFCFB ;
 q = {{1, 2.5, {1, 2, 3, 4}, "in"}, no}, {{2, 3.5, {0, 0, 0, 0}, ""}, yes} ;
 words = "", "two\nlines", NIL ;
 large = 18446744073709551615, _, 3 ;
 ub = 0, 255 ;
 packed = {1, 2, 3}, {4, 5, 6} ;
 big = 1, -2 ;
group: g {
  types:
    int64 enum wide { far = 5000000000 } ;
  dimensions:
	m = 2 ;
  variables:
	wide w(m, u) ;
	int n(n) ;
  // group attributes:
		:where = "inside" ;
  data:
   w = {far, far, far}, {far, far, far} ;
   n = 1, 2 ;
  group: h {
    variables:
	double deep(m) ;
    data:
     deep = 1, 2 ;
  }
}
}
"#;

/// What Debian's library can read back from NCZarr: with texts of no length it crashes.
const ZARR: &str = r#"netcdf z {
dimensions:
	y = 2 ;
	x = 3 ;
variables:
	int v(y, x) ;
		v:valid_range = -5, 100 ;
	float f(x) ;
		f:units = "K" ;
	double d(y) ;
	short s(y, x) ;
data:
 v = 1, 2, 3, 4, 5, 6 ;
 f = 1.5, -2.5, 1e20 ;
 d = 0.1, 1e-300 ;
 s = -1, 2, 3, 4, 5, 32767 ;
group: g {
  variables:
	ubyte u(x) ;
  data:
   u = 0, 128, 255 ;
}
}
"#;

fn generate(folder: &Path, kind: &str, text: &str, target: &str) {
    std::fs::write(folder.join("text.cdl"), text).unwrap();
    printed(Library::Debian, folder, "ncgen", &["-k", kind, "-o", target, "text.cdl"]);
}

fn assert_same_dumps(folder: &Path, target: &str, options: &[&[&str]]) {
    for options in options {
        let arguments: Vec<&str> = options.iter().copied().chain([target]).collect();
        let reference = run(Library::Debian, folder, "ncdump", &arguments);
        if !reference.status.success() {
            // Debian's own fails for `-s` of CDF-5.
            assert!(arguments.contains(&"-s"), "ncdump {arguments:?}");
            continue;
        }
        let expected = String::from_utf8(reference.stdout).unwrap();
        assert!(expected.contains("netcdf") || *options == ["-k"] || *options == ["-K"], "{expected}");
        assert_eq!(printed(Library::Own, folder, "ncdump", &arguments), expected, "ncdump {arguments:?}");
    }
}

const OPTIONS: &[&[&str]] = &[&[], &["-k"], &["-K"], &["-s"], &["-h"], &["-c"], &["-t"], &["-v", "v,time"]];

#[test]
fn files_of_the_classic_model_are_printed_alike() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["classic", "64-bit offset", "cdf5", "netCDF-4 classic model", "netCDF-4"] {
        generate(folder.path(), kind, CLASSIC, "c.nc");
        assert_same_dumps(folder.path(), "c.nc", OPTIONS);
    }
}

#[test]
fn groups_and_types_are_printed_alike() {
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path(), "netCDF-4", ENHANCED, "e.nc");
    assert_same_dumps(folder.path(), "e.nc", &[&[], &["-k"], &["-K"], &["-s"], &["-h"], &["-g", "g"]]);
}

#[test]
fn nczarr_is_printed_alike() {
    let folder = tempfile::tempdir().unwrap();
    generate(folder.path(), "netCDF-4", ZARR, "c.nc");
    let target = format!("file://{}/z.file#mode=nczarr,file", folder.path().display());
    printed(Library::Debian, folder.path(), "nccopy", &["c.nc", &target]);
    assert_same_dumps(folder.path(), &target, &[&[], &["-k"], &["-h"], &["-s"]]);
}

#[test]
fn aggregations_are_printed_as_what_they_stand_for_or_as_they_are_stored() {
    let Some(corpus) = ncirrus_testkit::corpus::corpus("cfa") else { return };
    let folder = tempfile::tempdir().unwrap();
    let part = corpus.join("cf1.13/cfdm-concat-rel");
    let [master, expected] =
        ["m.nca", "expected.nc"].map(|name| part.join(name).to_str().unwrap().to_owned());
    let shown = |library, file: &str, raw: &str| {
        let mut command = std::process::Command::new("ncdump");
        command.arg(file).current_dir(folder.path()).env("NCIRRUS_RAW", raw);
        if library == Library::Own {
            command.env("LD_LIBRARY_PATH", super::loaded_from(folder.path()));
        }
        let output = command.output().unwrap();
        assert!(output.status.success(), "{file}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let stored = shown(Library::Debian, &master, "");
    assert_eq!(shown(Library::Own, &master, "1"), stored);
    let values = |text: &str| text.split_once("data:").unwrap().1.to_owned();
    let assembled = shown(Library::Own, &master, "");
    assert_ne!(assembled, stored);
    let (all, wanted) = (values(&assembled), values(&shown(Library::Debian, &expected, "")));
    let variable = wanted.split(" ;").find(|part| part.contains("pt =")).unwrap();
    assert!(all.contains(variable), "{variable}\n{all}");
}

/// Debian's program on the library prints a repository as it prints a copy of it in netCDF-4.
#[test]
fn icechunk_repositories_are_printed_in_the_state_that_is_named() {
    let Some(corpus) = ncirrus_testkit::corpus::corpus("icechunk") else { return };
    let folder = tempfile::tempdir().unwrap();
    let repository = corpus.join("history/repo").display().to_string();
    let shown = |address: &str, settings: &str| {
        std::fs::write(folder.path().join(".ncrc"), settings).unwrap();
        let mut command = std::process::Command::new("ncdump");
        command.args(["-n", "x", address]).current_dir(folder.path()).env("HOME", folder.path());
        let output = command.env("LD_LIBRARY_PATH", super::loaded_from(folder.path())).output().unwrap();
        assert!(output.status.success(), "{address}: {}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).unwrap()
    };
    let latest = shown(&repository, "");
    let tagged = shown(&format!("file://{repository}#tag=v1.0"), "");
    assert!(latest.contains("variables:") && latest != tagged);
    for (name, text) in [("latest", &latest), ("tagged", &tagged)] {
        let state = if name == "tagged" { "#tag=v1.0" } else { "" };
        let copy = format!("{name}.nc");
        printed(
            Library::Own,
            folder.path(),
            "nccopy",
            &["-F", "none", &format!("file://{repository}{state}"), &copy],
        );
        assert_eq!(printed(Library::Debian, folder.path(), "ncdump", &["-n", "x", &copy]), *text);
    }
    assert_eq!(shown(&repository, "ICECHUNK.TAG=v1.0\n"), tagged);
    assert_eq!(
        shown(&repository, "ICECHUNK.BRANCH=dev\n"),
        shown(&format!("file://{repository}#branch=dev"), "")
    );
}
