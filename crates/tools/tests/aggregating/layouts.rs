//! What S3netCDF4 wrote is written identically, definition by definition and value by value.
use super::files::{Bench, master};
use crate::support::exact_cdl;
use ncirrus::Kind;
use ncirrus_testkit::corpus::corpus;
use ncirrus_tools::aggregate::{Convention, SplitOptions, split};

fn check(convention: Convention, folder: &str) {
    let Some(corpus) = corpus("cfa") else { return };
    let theirs = corpus.join(folder).join("s3nc-regular/m.nca");
    let theirs = theirs.to_str().unwrap();
    let bench = Bench::new();
    let target = bench.path("m.nca");
    let shape = [("time".to_owned(), 5), ("lat".to_owned(), 2)].into();
    let options = SplitOptions::new().shape(shape).like_s3netcdf4(true);
    split(&bench.open(theirs), &target, &options, &master(convention, Kind::Nc4), &bench.session).unwrap();
    assert_eq!(exact_cdl(&bench.open_raw(&target), "m"), exact_cdl(&bench.open_raw(theirs), "m"));
    assert_eq!(exact_cdl(&bench.open(&target), "m"), exact_cdl(&bench.open(theirs), "m"));
}

#[test]
fn masters_of_cfa_0_5_are_those_of_s3netcdf4() {
    check(Convention::Cfa05, "v0.5");
}

#[test]
fn masters_of_cfa_0_4_are_those_of_s3netcdf4() {
    check(Convention::Cfa04, "v0.4");
}
