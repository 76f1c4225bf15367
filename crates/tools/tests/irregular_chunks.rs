//! Chunks of different lengths: made by request in Zarr v3, kept from there to there, and refused elsewhere.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{json, session, values};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, ErrorKind, Kind, OpenOptions,
    Selection, Session, Values,
};
use ncirrus_tools::{ChunkRule, CopyOptions, copy};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Days from the end of January to the first of March, along an unlimited dimension.
fn days(folder: &Path, session: &Session) -> Dataset {
    let to = folder.join("days.nc");
    let create = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(to.to_str().unwrap(), &create, session).unwrap();
    dataset.root().add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(4)).unwrap();
    let time = dataset.root().add_variable("time", Atomic::Int, &["time"]).unwrap();
    time.set_attribute(Attribute::text("units", "days since 2001-01-30")).unwrap();
    time.write_values(&Selection::slab(&[0], &[5]), &Values::Int(vec![0, 1, 2, 3, 30])).unwrap();
    let v = dataset.root().add_variable("v", Atomic::Short, &["time", "x"]).unwrap();
    v.write_values(&Selection::slab(&[0, 0], &[5, 4]), &Values::Short((0..20).collect())).unwrap();
    dataset.close().unwrap();
    opened(&to, session)
}

fn opened(path: &Path, session: &Session) -> Dataset {
    Dataset::open_with(path.to_str().unwrap(), &OpenOptions::default(), session).unwrap()
}

fn copied(
    source: &Dataset,
    to: &Path,
    (kind, dialect): (Kind, Option<Dialect>),
    rules: &[&str],
    session: &Session,
) -> ncirrus::Result<PathBuf> {
    let rules: Vec<ChunkRule> = rules.iter().map(|rule| ChunkRule::parse(rule).unwrap()).collect();
    let options = CopyOptions::new().create(CreateOptions::new().kind(kind).dialect(dialect)).chunks(rules);
    copy(source, to.to_str().unwrap(), &options, session).map(|_| to.to_owned())
}

fn grid(store: &Path, variable: &str) -> Value {
    json(&store.join(variable).join("zarr.json"))["chunk_grid"].clone()
}

fn rectilinear(shapes: &Value) -> Value {
    json!({"name": "rectilinear", "configuration": {"kind": "inline", "chunk_shapes": shapes}})
}

const PLAIN: (Kind, Option<Dialect>) = (Kind::Zarr3, Some(Dialect::Plain));

#[test]
fn chunks_have_the_lengths_that_are_asked_for_and_keep_them_in_copies() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = days(folder.path(), &session);
    for (at, (rules, wanted)) in [
        (vec!["time/monthly", "x/4"], json!([[[2, 2], 1], [4]])),
        (vec!["time/[1,3,1]", "x/2"], json!([[1, 3, 1], [[2, 2]]])),
    ]
    .into_iter()
    .enumerate()
    {
        let first =
            copied(&source, &folder.path().join(format!("{at}a.zarr")), PLAIN, &rules, &session).unwrap();
        assert_eq!(grid(&first, "v"), rectilinear(&wanted), "{rules:?}");
        let kept = opened(&first, &session);
        let second = copied(&kept, &folder.path().join(format!("{at}b.zarr")), PLAIN, &[], &session).unwrap();
        assert_eq!(grid(&second, "v"), rectilinear(&wanted), "{rules:?}");
        for store in [&first, &second] {
            let copy = opened(store, &session);
            assert_eq!(values(&copy.variable("v").unwrap()).unwrap(), Values::Short((0..20).collect()));
        }
        let regular =
            copied(&kept, &folder.path().join(format!("{at}c.zarr")), PLAIN, &["time/3,x/4"], &session)
                .unwrap();
        assert_eq!(grid(&regular, "v")["name"], "regular", "another rule ends them");
    }
}

#[test]
fn lengths_that_do_not_fit_are_refused_before_anything_is_written() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = days(folder.path(), &session);
    let to = folder.path().join("refused");
    for (kind, rule, reason) in [
        (PLAIN, "time/[2,2]", "chunks of 4 elements"),
        (PLAIN, "x/monthly", "no coordinate variable of times"),
        ((Kind::Nc4, None), "time/[2,3]", "Zarr v3"),
        ((Kind::Zarr2, None), "time/monthly", "Zarr v3"),
    ] {
        let error = copied(&source, &to, kind, &[rule], &session).unwrap_err();
        assert!(error.kind() == ErrorKind::Invalid && error.to_string().contains(reason), "{rule}: {error}");
        assert!(!to.exists(), "{rule}");
    }
}

#[test]
fn an_array_does_not_grow_beyond_chunks_of_different_lengths() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = days(folder.path(), &session);
    let to = copied(&source, &folder.path().join("a.zarr"), (Kind::Zarr3, None), &["time/[2,3]"], &session)
        .unwrap();
    let dataset = Dataset::update_with(to.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let v = dataset.variable("v").unwrap();
    let more = Selection::slab(&[5, 0], &[1, 4]);
    let written = v.write_values(&more, &Values::Short(vec![9; 4])).and_then(|()| dataset.close());
    let error = written.unwrap_err();
    assert!(error.to_string().contains("rectilinear"), "{error}");
    let after = opened(&to, &session);
    assert_eq!(values(&after.variable("v").unwrap()).unwrap(), Values::Short((0..20).collect()));
}
