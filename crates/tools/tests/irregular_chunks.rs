//! Chunks of different lengths: made by request in Zarr v3, kept from there to there, and refused elsewhere.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::{json, session, values};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, ErrorKind, Kind, OpenOptions,
    Selection, Session, Values,
};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_tools::{AppendOptions, ChunkRule, CopyOptions, append, copy};
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

/// Days of the year 2001, from the one after January 30 with that number on.
fn more_days(folder: &Path, first: i32, count: i32, session: &Session) -> String {
    let to = folder.join(format!("{first}.nc"));
    let create = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(to.to_str().unwrap(), &create, session).unwrap();
    let len = u64::try_from(count).unwrap();
    dataset.root().add_dimension("time", DimensionLen::Unlimited(0)).unwrap();
    dataset.root().add_dimension("x", DimensionLen::Fixed(4)).unwrap();
    let time = dataset.root().add_variable("time", Atomic::Int, &["time"]).unwrap();
    time.set_attribute(Attribute::text("units", "days since 2001-01-30")).unwrap();
    let days: Vec<i32> = (first..first + count).collect();
    time.write_values(&Selection::slab(&[0], &[len]), &Values::Int(days)).unwrap();
    let v = dataset.root().add_variable("v", Atomic::Short, &["time", "x"]).unwrap();
    let values = vec![i16::try_from(first).unwrap(); usize::try_from(4 * len).unwrap()];
    v.write_values(&Selection::slab(&[0, 0], &[len, 4]), &Values::Short(values)).unwrap();
    dataset.close().unwrap();
    to.to_str().unwrap().to_owned()
}

#[test]
fn appended_records_get_chunks_by_a_rule() {
    let session = session();
    // The source has the days 0, 1 (January), 2, 3 (February), 30 (March); 61 is the first of April.
    for (rule, wanted) in [
        ("time/monthly", json!([[[2, 2], 1, 30, 15], [4]])),
        ("time/[2,3]", json!([[2, 3, 35, 10], [4]])),
        ("time/[5]", json!([[5, 35, 10], [4]])),
        ("time/[1,1,1,1,1]", json!([[[1, 50]], [4]])),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let source = days(folder.path(), &session);
        let rules = [rule, "x/4"];
        let to = copied(&source, &folder.path().join("a.zarr"), PLAIN, &rules, &session).unwrap();
        let more = [(31, 35), (66, 10)].map(|(at, count)| more_days(folder.path(), at, count, &session));
        let options = AppendOptions::new().along(Some("time".to_owned()));
        append(to.to_str().unwrap(), &more, &options, &session).unwrap();
        assert_eq!(grid(&to, "v"), rectilinear(&wanted), "{rule}");
        let after = opened(&to, &session);
        let mut expected: Vec<i16> = (0..20).collect();
        expected.extend([31; 140]);
        expected.extend([66; 40]);
        assert_eq!(values(&after.variable("v").unwrap()).unwrap(), Values::Short(expected), "{rule}");
    }
}

#[test]
fn a_write_beyond_the_end_adds_one_chunk_and_others_follow() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = days(folder.path(), &session);
    for (dialect, name) in [(None, "a.zarr"), (Some(Dialect::Plain), "b.zarr")] {
        let kind = (Kind::Zarr3, dialect);
        let to = copied(&source, &folder.path().join(name), kind, &["time/[2,3]"], &session).unwrap();
        let dataset = Dataset::update_with(to.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
        let v = dataset.variable("v").unwrap();
        if dialect.is_some() {
            dataset
                .edit(|model| {
                    let time = model.dimension_at("/time").unwrap();
                    Ok(model.set_dimension_len(time, DimensionLen::Unlimited(5))?)
                })
                .unwrap();
        }
        v.write_values(&Selection::slab(&[5, 0], &[2, 4]), &Values::Short(vec![9; 8])).unwrap();
        v.write_values(&Selection::slab(&[7, 0], &[1, 4]), &Values::Short(vec![8; 4])).unwrap();
        assert_eq!(
            v.values(&Selection::slab(&[4, 3], &[4, 1])).unwrap(),
            Values::Short(vec![19, 9, 9, 8]),
            "before the commit"
        );
        dataset.close().unwrap();
        assert_eq!(grid(&to, "v")["configuration"]["chunk_shapes"][0], json!([2, 3, 2, 1]), "{name}");
        // The variable that was not written has the fill value behind its own end.
        assert_eq!(grid(&to, "time")["configuration"]["chunk_shapes"], json!([[2, [3, 2]]]), "{name}");
        let after = opened(&to, &session);
        let mut expected: Vec<i16> = (0..20).collect();
        expected.extend([9, 9, 9, 9, 9, 9, 9, 9, 8, 8, 8, 8]);
        assert_eq!(values(&after.variable("v").unwrap()).unwrap(), Values::Short(expected), "{name}");
    }
}

#[test]
fn chunks_of_given_lengths_are_added_before_the_values() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = days(folder.path(), &session);
    let kind = (Kind::Zarr3, None);
    let to = copied(&source, &folder.path().join("a.zarr"), kind, &["time/[2,3]"], &session).unwrap();
    let dataset = Dataset::update_with(to.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let v = dataset.variable("v").unwrap();
    v.add_chunks(0, &[4, 2]).unwrap();
    assert_eq!(v.add_chunks(0, &[0]).unwrap_err().kind(), ErrorKind::Invalid);
    for row in 5..11 {
        v.write_values(
            &Selection::slab(&[row, 0], &[1, 4]),
            &Values::Short(vec![i16::try_from(row).unwrap(); 4]),
        )
        .unwrap();
    }
    dataset.close().unwrap();
    assert_eq!(grid(&to, "v")["configuration"]["chunk_shapes"][0], json!([2, 3, 4, 2]));
    let after = opened(&to, &session);
    let rows = after.variable("v").unwrap().values(&Selection::slab(&[5, 0], &[6, 1])).unwrap();
    assert_eq!(rows, Values::Short((5..11).collect()));
}

/// zarr-python 3.4 reads what was appended, and appends to it by itself.
#[test]
fn a_chunk_that_would_be_too_large_is_rejected_and_the_dataset_stays_usable() {
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = days(folder.path(), &session);
    let store = folder.path().join("far.zarr");
    let store = copied(&source, &store, PLAIN, &["time/[1,3,1]", "x/4"], &session).unwrap();
    let dataset = Dataset::update_with(store.to_str().unwrap(), &OpenOptions::default(), &session).unwrap();
    let v = dataset.variable("v").unwrap();
    let far = Selection::slab(&[1 << 50, 0], &[1, 4]);
    let error = v.write_values(&far, &Values::Short(vec![1; 4])).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert_eq!(v.shape(), [5, 4]);
    // Definitions keep the chunks that were added.
    v.add_chunks(0, &[4, 2]).unwrap();
    v.set_attribute(Attribute::text("note", "more")).unwrap();
    v.write_values(&Selection::slab(&[5, 0], &[6, 4]), &Values::Short(vec![7; 24])).unwrap();
    dataset.close().unwrap();
    assert_eq!(grid(&store, "v")["configuration"]["chunk_shapes"][0], json!([1, 3, 1, 4, 2]));
}

#[test]
fn zarr_python_reads_and_continues_what_was_appended() {
    let Some(python) = peers_python() else { return };
    let (folder, session) = (tempfile::tempdir().unwrap(), session());
    let source = days(folder.path(), &session);
    let to =
        copied(&source, &folder.path().join("a.zarr"), PLAIN, &["time/monthly", "x/4"], &session).unwrap();
    let more = [more_days(folder.path(), 31, 35, &session)];
    let options = AppendOptions::new().along(Some("time".to_owned()));
    append(to.to_str().unwrap(), &more, &options, &session).unwrap();
    let script = "
import sys, zarr
zarr.config.set({'array.rectilinear_chunks': True})
v = zarr.open_group(sys.argv[1], mode='r+')['v']
assert v.shape == (40, 4) and v[:5].ravel().tolist() == list(range(20)) and (v[5:] == 31).all(), v[:]
v.append(v[:3])
";
    let output = std::process::Command::new(python).args(["-c", script]).arg(&to).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(json(&to.join("v").join("zarr.json"))["shape"], json!([43, 4]));
}
