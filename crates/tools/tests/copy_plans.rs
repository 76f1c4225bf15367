//! Copies between kinds do what their plans say, and chunks that are copied unchanged are what the other kind would
//! read.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{exact_cdl, session, temp};
use ncirrus::{CodecSpec, CreateOptions, Dataset, Kind, OpenOptions, Session};
use ncirrus_tools::{ChunkRule, CopyOptions, Filters};
use std::path::Path;

fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

fn open(url: &str, session: &Session) -> Dataset {
    Dataset::open_with(url, &OpenOptions::default(), session).unwrap()
}

fn options(kind: Kind) -> CopyOptions<'static> {
    let create = CreateOptions::new().kind(kind);
    CopyOptions::new().create(create).fix_unlimited(true)
}

/// The example in chunks that do not divide it, with these filters.
fn chunked(kind: Kind, filters: &[CodecSpec], to: &str, session: &Session) {
    let options = options(kind)
        .chunks(vec![ChunkRule::parse("time/5,lat/5,lon/7").unwrap()])
        .filters(Filters::Replace(filters.to_vec()));
    ncirrus_tools::copy(&open(&example(), session), to, &options, session).unwrap();
}

fn chains() -> Vec<Vec<CodecSpec>> {
    let v2 = |text: &str| match serde_json::from_str(text).unwrap() {
        serde_json::Value::Object(map) => CodecSpec::V2(map),
        _ => unreachable!("a codec is an object"),
    };
    vec![
        vec![],
        vec![CodecSpec::hdf5(2, &[]), CodecSpec::hdf5(1, &[4])],
        vec![v2(r#"{"id":"zstd","level":3}"#)],
        vec![v2(r#"{"id":"bz2","level":3}"#)],
        vec![v2(r#"{"id":"blosc","cname":"lz4","clevel":5,"shuffle":1,"blocksize":0}"#)],
        vec![v2(r#"{"id":"blosc","cname":"zstd","clevel":5,"shuffle":2,"blocksize":0}"#)],
    ]
}

#[test]
fn chunks_pass_through_between_kinds_and_are_read_there() {
    let ((_folder, at), session) = (temp(), session());
    let at = |name: &str| at.join(name).to_str().unwrap().to_owned();
    let kinds = [(Kind::Nc4, "nc4"), (Kind::NcZarr, "nczarr"), (Kind::Zarr3, "zarr3")];
    for (number, filters) in chains().iter().enumerate() {
        for (from, from_name) in kinds {
            let first = at(&format!("{number}-{from_name}"));
            chunked(from, filters, &first, &session);
            let source = open(&first, &session);
            let whole = exact_cdl(&source, "x");
            for (to, to_name) in kinds {
                let second = at(&format!("{number}-{from_name}-{to_name}"));
                let plans = ncirrus_tools::plan_copy(&source, &second, &options(to), &session).unwrap();
                assert!(!Path::new(&second).exists());
                let sst = plans.variables.iter().find(|plan| plan.path == "/sst").unwrap();
                assert_eq!(
                    (sst.passed, sst.decoded),
                    (3 * 4 * 6, 0),
                    "{filters:?} {from_name} {to_name}\n{plans}"
                );
                ncirrus_tools::copy(&source, &second, &options(to), &session).unwrap();
                assert_eq!(
                    exact_cdl(&open(&second, &session), "x"),
                    whole,
                    "{filters:?} {from_name} {to_name}"
                );
            }
        }
    }
}

#[test]
fn other_filters_chunks_and_framings_are_decoded() {
    let ((_folder, at), session) = (temp(), session());
    let at = |name: &str| at.join(name).to_str().unwrap().to_owned();
    let lz4 = CodecSpec::hdf5(32004, &[]);
    chunked(Kind::Nc4, std::slice::from_ref(&lz4), &at("lz4"), &session);
    chunked(Kind::Nc4, &[CodecSpec::hdf5(1, &[1])], &at("deflate"), &session);
    let passed = |from: &str, options: &CopyOptions<'_>| {
        let plans =
            ncirrus_tools::plan_copy(&open(&at(from), &session), &at("to"), options, &session).unwrap();
        plans.variables.iter().find(|plan| plan.path == "/sst").unwrap().passed
    };
    assert_eq!(passed("lz4", &options(Kind::NcZarr)), 0);
    assert_eq!(passed("lz4", &options(Kind::Nc4)), 3 * 4 * 6);
    let deflate = Filters::Replace(vec![CodecSpec::hdf5(1, &[2])]);
    assert_eq!(passed("deflate", &options(Kind::NcZarr).filters(deflate)), 0);
    let chunks = vec![ChunkRule::parse("time/5,lat/5,lon/8").unwrap()];
    assert_eq!(passed("deflate", &options(Kind::NcZarr).chunks(chunks)), 0);
    assert_eq!(passed("deflate", &options(Kind::Nc5)), 0);
}
