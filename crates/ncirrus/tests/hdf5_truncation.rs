//! Truncated files: whatever is missing, what can still be read equals what was written, and the rest is an error;
//! never a panic. `NCIRRUS_CUTS=all` tries every length of the files whose names contain `NCIRRUS_CUTS_OF`.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may panic and tell counts")]

use crate::support::json;
use bytes::Bytes;
use ncirrus_engine::{Dataset, Session};
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_layout::{Driver, Limits, OpenOptions, Result};
use ncirrus_model::{Attribute, Attributes, NodeId, Selection, Values};
use ncirrus_store::{LocalStore, MemoryStore, PutCondition};
use ncirrus_testkit::corpus::corpus;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;
use std::sync::Arc;

/// Files below this size are cut at every 101st byte, others at a fixed number of places.
const SMALL: usize = 64 << 10;
const EVERY: usize = 101;
const PLACES: usize = 80;

/// All that was read: values of variables and attributes of nodes, by path.
struct Contents {
    shapes: BTreeMap<String, Vec<u64>>,
    values: BTreeMap<String, Result<Values>>,
    attributes: BTreeMap<String, Result<Attributes>>,
    is_whole: bool,
}

fn session() -> Session {
    let limits = Limits { metadata_bytes: 1 << 26, chunk_bytes: 1 << 26, ..Limits::default() };
    Session::builder().threads(1).memory(64 << 20).chunk_cache(0).limits(limits).build().unwrap()
}

fn opened(session: &Session, body: &Bytes) -> Result<Dataset> {
    let store = MemoryStore::new("memory://cut");
    let root = store.root().child("x.h5");
    LocalStore::put(&store, &root, body, &PutCondition::None)?;
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    session.block_on(session.open(store.shared(), root, &drivers, &OpenOptions::default()))
}

fn contents(session: &Session, dataset: &Dataset) -> Contents {
    let model = dataset.model();
    let (mut shapes, mut values) = (BTreeMap::new(), BTreeMap::new());
    for var in model.variables() {
        let (path, shape) = (model.variable_path(var), model.shape(var));
        let read = session.block_on(dataset.read(var, &Selection::all(&shape)));
        values.insert(path.clone(), read);
        shapes.insert(path, shape);
    }
    let nodes = model.nodes();
    let path = |node: &NodeId| match *node {
        NodeId::Group(group) => format!("group {}", model.group_path(group)),
        NodeId::Variable(var) => model.variable_path(var),
    };
    let attributes = session.block_on(dataset.attributes(&nodes));
    let attributes = nodes.iter().map(path).zip(attributes).collect();
    let is_faulty = |group| model.group(group).is_none_or(|group| group.fault.is_some());
    // A lost member is a fault of its group, which every command reports.
    let is_whole = !model.walk().into_iter().any(is_faulty);
    Contents { shapes, values, attributes, is_whole }
}

/// What in a truncated file neither equals the whole one nor is an error.
fn wrong(whole: &Contents, cut: &Contents) -> Option<String> {
    if cut.is_whole && cut.shapes != whole.shapes {
        return Some("members or shapes differ, and nothing tells of it".to_owned());
    }
    for (path, read) in &cut.values {
        let Ok(read) = read else { continue };
        let same_shape = cut.shapes.get(path) == whole.shapes.get(path);
        match whole.values.get(path) {
            _ if is_nameless(read, cut) => {}
            Some(Ok(expected)) if same_shape && !same(read, expected) => {
                return Some(format!("{path} has other values"));
            }
            Some(Err(error)) => return Some(format!("{path} can be read, which was {error}")),
            None => return Some(format!("{path} is new")),
            Some(Ok(_)) => {}
        }
    }
    for (path, read) in &cut.attributes {
        let (Ok(read), Some(Ok(expected))) = (read, whole.attributes.get(path)) else { continue };
        let differs = |one: &&Attribute| {
            let expected = expected.find(&one.name);
            expected.is_none_or(|expected| !same(&expected.values, &one.values))
        };
        if let Some(other) = read.iter().filter(|one| !is_nameless(&one.values, cut)).find(differs) {
            return Some(format!("attribute {} of {path} differs", other.name));
        }
        if read.faults.is_empty() && read.iter().count() != expected.iter().count() && cut.is_whole {
            return Some(format!("attributes of {path} are missing, and nothing tells of it"));
        }
    }
    None
}

/// References to objects whose paths were in the missing part: they are shown by address.
fn is_nameless(values: &Values, cut: &Contents) -> bool {
    !cut.is_whole && has_address(values)
}

fn has_address(values: &Values) -> bool {
    match values {
        Values::String(strings) => strings.iter().flatten().any(|text| text.starts_with(b"#")),
        Values::Vlen { elements, .. } => has_address(elements),
        Values::Compound { fields, .. } => fields.iter().any(has_address),
        _ => false,
    }
}

/// Equal, also if numbers are NaN.
fn same(a: &Values, b: &Values) -> bool {
    match (a.as_bytes(), b.as_bytes()) {
        (Some(x), Some(y)) => a.atomic() == b.atomic() && x == y,
        _ => a == b || format!("{a:?}") == format!("{b:?}"),
    }
}

fn cuts(len: usize, all: bool) -> Vec<usize> {
    let step = match len {
        _ if all => 1,
        len if len < SMALL => EVERY,
        len => len.div_ceil(PLACES),
    };
    (0..len).step_by(step).collect()
}

fn files() -> Vec<(String, PathBuf)> {
    let Some(root) = corpus("hdf5") else { return Vec::new() };
    let part = std::env::var("NCIRRUS_CUTS_OF").unwrap_or_default();
    let manifest = json(&root.join("manifest.json"));
    let cases = manifest.as_array().unwrap().iter().filter(|case| case["fmt"] == "hdf5");
    let paths = cases.map(|case| case["path"].as_str().unwrap().to_owned());
    paths.filter(|path| path.contains(&part)).map(|path| (path.clone(), root.join(path))).collect()
}

#[test]
fn a_file_that_is_cut_off_gives_errors_or_equal_values() {
    let all = std::env::var("NCIRRUS_CUTS").is_ok_and(|value| value == "all");
    let files = files();
    let halves = files.len().div_ceil(2).max(1);
    let failures: Vec<String> = std::thread::scope(|scope| {
        let threads: Vec<_> =
            files.chunks(halves).map(|files| scope.spawn(move || sweep(files, all))).collect();
        threads.into_iter().flat_map(|thread| thread.join().unwrap()).collect()
    });
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

/// The first failure of each file.
fn sweep(files: &[(String, PathBuf)], all: bool) -> Vec<String> {
    let (session, mut failures, mut tried) = (session(), Vec::new(), 0);
    for (name, path) in files {
        let body = Bytes::from(std::fs::read(path).unwrap());
        let whole = match opened(&session, &body) {
            Ok(dataset) => contents(&session, &dataset),
            Err(error) => {
                failures.push(format!("{name}: {error}"));
                continue;
            }
        };
        for len in cuts(body.len(), all) {
            tried += 1;
            let outcome = catch_unwind(AssertUnwindSafe(|| {
                let dataset = opened(&session, &body.slice(..len)).ok()?;
                wrong(&whole, &contents(&session, &dataset))
            }));
            if let Some(reason) = outcome.unwrap_or_else(|_| Some("it panicked".to_owned())) {
                failures.push(format!("{name} cut at {len} of {}: {reason}", body.len()));
                break;
            }
        }
    }
    println!("{tried} cuts of {} files", files.len());
    failures
}
