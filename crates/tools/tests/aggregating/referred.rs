//! Reference files on servers, and of other kinds.
use super::files::{Bench, doubles};
use ncirrus::{CreateOptions, Dataset, ErrorKind, Kind, OpenOptions};
use ncirrus_testkit::files_over_http::serve;
use ncirrus_testkit::small_s3::S3;
use ncirrus_tools::{CopyOptions, ReferenceOptions};
use std::path::Path;

#[test]
fn references_on_servers_are_read_and_copied() {
    let bench = Bench::new();
    let folder = bench.path("place/bucket");
    let files = [bench.field("place/bucket/a.nc", 0..3), bench.field("place/bucket/b.nc", 3..7)];
    let options = ReferenceOptions::new().axis("time".to_owned()).relative(true).inline_threshold(0);
    let local = format!("{folder}/refs.json");
    ncirrus_tools::write_references(&files, &local, &options, &bench.session).unwrap();
    let (place, objects) = (bench.path("place"), bench.path("objects/none"));
    let objects = Path::new(&objects).parent().unwrap();
    for name in ["a.nc", "b.nc", "refs.json"] {
        std::fs::copy(format!("{folder}/{name}"), objects.join(format!("bucket%{name}"))).unwrap();
    }
    let (http, s3) = (serve(Path::new(&place), None), S3::start(objects));
    for (number, url) in
        [local, format!("{http}/bucket/refs.json"), format!("{}/bucket/refs.json#mode=s3", s3.address)]
            .into_iter()
            .enumerate()
    {
        assert_eq!(bench.numbers(&url, "tas"), doubles(&(0..7)), "{url}");
        for kind in [Kind::Nc4, Kind::NcZarr] {
            let copy = bench.path(&format!("copy{number}-{kind:?}"));
            let create = CreateOptions::new().kind(kind);
            let options = CopyOptions::new().create(create);
            ncirrus_tools::copy(&bench.open(&url), &copy, &options, &bench.session).unwrap();
            assert_eq!(bench.numbers(&copy, "tas"), doubles(&(0..7)), "{url} {kind:?}");
            assert_eq!(bench.numbers(&copy, "time_bnds").len(), 14, "{url} {kind:?}");
        }
    }
}

#[test]
fn files_of_other_formats_and_damaged_references_are_named() {
    let bench = Bench::new();
    std::fs::write(bench.path("refs.parquet"), b"PAR1 and more").unwrap();
    std::fs::write(bench.path("refs.json.zst"), [0x28, 0xb5, 0x2f, 0xfd, 4, 0x58]).unwrap();
    std::fs::write(bench.path("refs.json"), [0x28, 0xb5, 0x2f, 0xfd, 4, 0x58]).unwrap();
    std::fs::write(bench.path("a.nc.gz"), [0x1f, 0x8b, 8, 0, 0, 0]).unwrap();
    let damaged = (ErrorKind::Malformed, "damaged or truncated");
    for (name, (kind, reported)) in [
        ("refs.parquet", (ErrorKind::Unsupported, "Parquet")),
        ("refs.json.zst", damaged),
        ("refs.json", damaged),
        ("a.nc.gz", (ErrorKind::Unsupported, "compressed by gzip")),
    ] {
        let opened = Dataset::open_with(&bench.path(name), &OpenOptions::default(), &bench.session);
        let error = opened.unwrap_err();
        assert_eq!(error.kind(), kind, "{name}: {error}");
        assert!(error.to_string().contains(reported) && error.to_string().contains(name), "{error}");
    }
}
