//! NCO and CDO do the same work on both libraries.
use super::{Library, printed};
use std::path::Path;

/// What NCO works on.
const SERIES: &str = r#"netcdf t {
dimensions:
	time = UNLIMITED ;
	lat = 3 ;
	lon = 4 ;
variables:
	double time(time) ;
		time:units = "days since 2000-01-01" ;
	float lat(lat) ;
	float v(time, lat, lon) ;
		v:units = "K" ;
		v:_FillValue = -9.f ;
	short p(time, lat) ;
		p:scale_factor = 0.5 ;
	int k(lat) ;
	char name(lat, lon) ;
data:
 time = 1, 2 ;
 lat = 10, 20, 30 ;
 v = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2, 3, 4, _, 6, 7, 8, 9, 10, 11, 12, 13 ;
 p = 1, 2, 3, 4, 5, 6 ;
 k = 7, 8, 9 ;
 name = "ab", "cdef", "g" ;
}
"#;

/// Programs of NCO with their options, before the source and the target.
const OPERATIONS: &[&[&str]] = &[
    &["ncks", "-O"],
    &["ncks", "-O", "-d", "time,1", "-d", "lat,0,2,2"],
    &["ncks", "-O", "-4", "-L", "1"],
    &["ncks", "-O", "-3"],
    &["ncks", "-O", "--fix_rec_dmn", "time"],
    &["ncra", "-O"],
    &["ncwa", "-O", "-a", "lat"],
    &["ncpdq", "-O", "-a", "lon,lat"],
    &["ncrename", "-O", "-v", "v,w", "-d", "lat,y"],
    &["ncap2", "-O", "-s", "z=v*2"],
    &["ncatted", "-O", "-a", "new,global,c,d,1.5"],
];

/// What CDO works on: it goes by the attributes of coordinates.
const GRID: &str = r#"netcdf t {
dimensions:
	time = UNLIMITED ;
	lat = 3 ;
	lon = 4 ;
variables:
	double time(time) ;
		time:standard_name = "time" ;
		time:units = "days since 2000-01-01 00:00:00" ;
		time:calendar = "standard" ;
	double lat(lat) ;
		lat:standard_name = "latitude" ;
		lat:units = "degrees_north" ;
	double lon(lon) ;
		lon:standard_name = "longitude" ;
		lon:units = "degrees_east" ;
	float v(time, lat, lon) ;
		v:units = "K" ;
		v:_FillValue = -9.f ;
	short p(time, lat, lon) ;
		p:scale_factor = 0.5 ;
		p:add_offset = 10. ;
data:
 time = 1, 2, 3 ;
 lat = -30, 0, 30 ;
 lon = 0, 90, 180, 270 ;
 v = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 2, 3, 4, _, 6, 7, 8, 9, 10, 11, 12, 13, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14.5 ;
 p = 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 21, 22, 23, 24 ;
}
"#;

/// Operators of CDO.
const CDO_OPERATIONS: &[&[&str]] = &[
    &["timmean"],
    &["-f", "nc4", "-z", "zip_3", "timmax"],
    &["-f", "nc4c", "settaxis,2001-01-01,12:00,1day"],
    &["-f", "nc2", "copy"],
    &["-f", "nc5", "-b", "F64", "addc,1"],
    &["sellonlatbox,-10,100,-40,10"],
    &["chname,v,w"],
    &["remapnn,r8x4"],
    &["setattribute,v@note=text"],
];

/// Dumps without what names the files and the time of day.
fn dumped(folder: &Path, file: &str) -> String {
    let text = printed(Library::Debian, folder, "ncdump", &["-n", "x", file]);
    let lines = text.lines().filter(|line| !line.contains(":history"));
    lines.map(|line| format!("{line}\n")).collect()
}

/// Runs a program on each library; the files that it makes are equal.
fn assert_same_work(folder: &Path, program: &str, options: &[&str], sources: &[&str]) {
    for (library, target) in [(Library::Debian, "debian.nc"), (Library::Own, "own.nc")] {
        let _ = std::fs::remove_file(folder.join(target));
        let arguments: Vec<&str> = options.iter().chain(sources).copied().chain([target]).collect();
        printed(library, folder, program, &arguments);
    }
    assert_eq!(dumped(folder, "own.nc"), dumped(folder, "debian.nc"), "{program} {options:?}");
}

fn generate(folder: &Path, kind: &str, text: &str, target: &str) {
    std::fs::write(folder.join("text.cdl"), text).unwrap();
    printed(Library::Debian, folder, "ncgen", &["-k", kind, "-o", target, "text.cdl"]);
}

#[test]
fn nco_does_the_same_on_both_libraries() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["classic", "netCDF-4"] {
        generate(folder.path(), kind, SERIES, "from.nc");
        for operation in OPERATIONS {
            let (program, options) = operation.split_first().unwrap();
            assert_same_work(folder.path(), program, options, &["from.nc"]);
        }
    }
}

#[test]
fn cdo_does_the_same_on_both_libraries() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["classic", "netCDF-4"] {
        generate(folder.path(), kind, GRID, "from.nc");
        for operation in CDO_OPERATIONS {
            let options: Vec<&str> = ["-s"].iter().chain(*operation).copied().collect();
            assert_same_work(folder.path(), "cdo", &options, &["from.nc"]);
        }
        generate(folder.path(), kind, &GRID.replace("time = 1, 2, 3", "time = 4, 5, 6"), "later.nc");
        assert_same_work(folder.path(), "cdo", &["-s", "mergetime"], &["from.nc", "later.nc"]);
    }
}
