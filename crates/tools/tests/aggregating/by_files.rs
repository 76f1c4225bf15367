//! Copies of aggregations to Zarr v3 with a chunk for each file.
use super::files::{Bench, master};
use crate::support::json;
use ncirrus::{CreateOptions, Dataset, Dialect, Kind, Session};
use ncirrus_tools::aggregate::{AggregateOptions, Convention, aggregate};
use ncirrus_tools::{AppendOptions, ChunkRule, CopyOptions, append, copy};
use serde_json::{Value, json};
use std::path::Path;

fn copy_by_files(source: &Dataset, to: &str, session: &Session) -> ncirrus::Result<()> {
    let create = CreateOptions::new().kind(Kind::Zarr3).dialect(Some(Dialect::Plain));
    let rules = vec![ChunkRule::parse("time/files").unwrap()];
    copy(source, to, &CopyOptions::new().create(create).chunks(rules), session).map(|_| ())
}

/// The lengths of the chunks along the first axis of a variable.
fn lengths(store: &str, variable: &str) -> Value {
    let array = json(&Path::new(store).join(variable).join("zarr.json"));
    array["chunk_grid"]["configuration"]["chunk_shapes"][0].clone()
}

#[test]
fn a_copy_of_an_aggregation_has_a_chunk_for_each_file() {
    let bench = Bench::new();
    let files = [bench.field("a.nc", 0..5), bench.field("b.nc", 5..6), bench.field("c.nc", 6..10)];
    let master = master(Convention::Cf113, Kind::Nc4);
    aggregate(&bench.path("m.nca"), &files, &AggregateOptions::default(), &master, &bench.session).unwrap();
    let source = bench.open(&bench.path("m.nca"));
    let to = bench.path("copy.zarr");
    copy_by_files(&source, &to, &bench.session).unwrap();
    for variable in ["tas", "time"] {
        assert_eq!(lengths(&to, variable), json!([5, 1, 4]), "{variable}");
    }
    assert_eq!(bench.numbers(&to, "tas"), bench.numbers(&bench.path("m.nca"), "tas"));
    let more = [bench.field("d.nc", 10..13)];
    let options = AppendOptions::new().along(Some("time".to_owned()));
    let options = options.ignore(["Conventions", "history"].map(str::to_owned));
    append(&to, &more, &options, &bench.session).unwrap();
    assert_eq!(lengths(&to, "tas"), json!([5, 1, 4, 3]));
    let error = copy_by_files(&bench.open(&files[0]), &bench.path("no.zarr"), &bench.session);
    assert!(error.unwrap_err().to_string().contains("no variable composed of files"));
}
