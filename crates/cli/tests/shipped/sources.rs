//! The datasets of the corpus.
use crate::support::json;
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::path::{Path, PathBuf};

pub(crate) struct Source {
    pub(crate) id: String,
    pub(crate) path: PathBuf,
}

/// All datasets in a folder of the corpus; none if it is absent.
pub(crate) fn of(folder: &str) -> Vec<Source> {
    let Some(root) = corpus(folder) else { return Vec::new() };
    let sources = match folder {
        "realdata" => files(&root.join("files")),
        "hdf5" => listed(&root, json(&root.join("manifest.json")).as_array().unwrap(), hdf5),
        "cfa" => listed(&root, list(&root).as_array().unwrap(), aggregation),
        _ => listed(&root, list(&root).as_array().unwrap(), zarr),
    };
    assert!(sources.len() > 15, "{folder}: {} datasets", sources.len());
    sources
}

fn list(root: &Path) -> Value {
    json(&root.join("manifest.json"))["cases"].take()
}

fn listed(root: &Path, cases: &[Value], path_of: fn(&Value) -> Option<String>) -> Vec<Source> {
    let paths = cases.iter().filter_map(path_of);
    paths.map(|path| Source { path: root.join(&path), id: path }).collect()
}

fn hdf5(case: &Value) -> Option<String> {
    (case["fmt"] == "hdf5").then(|| case["path"].as_str().unwrap().to_owned())
}

fn zarr(case: &Value) -> Option<String> {
    Some(case["path"].as_str().unwrap().to_owned())
}

fn aggregation(case: &Value) -> Option<String> {
    Some(format!("{}/{}", case["id"].as_str().unwrap(), case["master"].as_str().unwrap()))
}

fn files(folder: &Path) -> Vec<Source> {
    let paths = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut paths: Vec<PathBuf> = paths.collect();
    paths.sort();
    let source = |path: PathBuf| Source { id: path.file_name().unwrap().display().to_string(), path };
    paths.into_iter().map(source).collect()
}
