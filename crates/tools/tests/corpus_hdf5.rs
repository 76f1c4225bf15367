//! The HDF5 corpus: groups, variables, types, values, attributes and chunk tables equal those that h5py reads, or the
//! table of exceptions gives the reason.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

pub(crate) mod attributes;
pub(crate) mod datasets;
pub(crate) mod hashes;
pub(crate) mod types;

use crate::support::{Exceptions, Tally, json, open, session};
use ncirrus::{Dataset, Session};
use ncirrus_testkit::corpus::corpus;
use serde_json::Value;
use std::collections::BTreeMap;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// What was checked, and the result.
pub(crate) type Check = (String, Result<(), String>);

#[test]
fn every_file_holds_what_h5py_reads() {
    let Some(root) = corpus("hdf5") else { return };
    let exceptions = Exceptions::load("hdf5_exceptions.tsv");
    let (session, mut tally) = (session(), Tally::default());
    let mut features: BTreeMap<String, (usize, usize)> = BTreeMap::new();
    for case in json(&root.join("manifest.json")).as_array().unwrap().iter().filter(|case| is_hdf5(case)) {
        let path = case["path"].as_str().unwrap();
        let truth = json(&root.join("truth").join(format!("{}.json", path.replace('/', "__"))));
        let outcome = catch_unwind(AssertUnwindSafe(|| checks(&root.join(path), &truth, &session)));
        let checks = outcome.unwrap_or_else(|_| vec![("panic".to_owned(), Err("it panicked".to_owned()))]);
        for feature in features_of(case) {
            let (passed, total) = features.entry(feature).or_default();
            *passed += checks.iter().filter(|(_, outcome)| outcome.is_ok()).count();
            *total += checks.len();
        }
        for (check, outcome) in checks {
            tally.record(&exceptions, path, &check, outcome);
        }
    }
    for (feature, (passed, total)) in features {
        println!("{feature}: {passed} of {total}");
    }
    tally.finish("corpus hdf5", &exceptions);
}

fn is_hdf5(case: &Value) -> bool {
    case["fmt"] == "hdf5"
}

fn features_of(case: &Value) -> Vec<String> {
    let lists = ["features", "derived"].into_iter().filter_map(|key| case[key].as_array());
    let mut features: Vec<String> = lists.flatten().map(|name| name.as_str().unwrap().to_owned()).collect();
    features.sort();
    features.dedup();
    features
}

fn checks(path: &Path, truth: &Value, session: &Session) -> Vec<Check> {
    let dataset = match open(path, session) {
        Ok(dataset) => dataset,
        Err(error) => return vec![("open".to_owned(), Err(error.to_string()))],
    };
    let mut checks = vec![("open".to_owned(), Ok(()))];
    for (path, object) in truth["objs"].as_object().unwrap() {
        match object["kind"].as_str().unwrap() {
            "group" => {
                let group = dataset.group(path).map(|_| ()).map_err(|error| error.to_string());
                checks.push((format!("group:{path}"), group));
                attributes::of_group(&dataset, path, &object["attrs"], &mut checks);
            }
            "dataset" => {
                let (group, name) = split(path);
                let other = format!("{}/{NON_COORD}{name}", group.trim_end_matches('/'));
                let has_other = truth["objs"].get(other).is_some();
                datasets::checks(&dataset, path, object, has_other, &mut checks);
            }
            // netCDF has no named atomic types.
            "type" if object["t"].as_str().unwrap().starts_with(['c', 'e', 'v', 'o']) => {
                checks.push((format!("type:{path}"), has_type(&dataset, path)));
            }
            _ => {}
        }
    }
    checks
}

fn has_type(dataset: &Dataset, path: &str) -> Result<(), String> {
    let model = dataset.model().unwrap();
    model.type_at(path).map(|_| ()).ok_or_else(|| "there is no such type".to_owned())
}

/// The prefix of the name of a variable that has the name of a dimension which it does not describe
/// (docs/spec/hdf5-netcdf4.md H.4).
pub(crate) const NON_COORD: &str = "_nc4_non_coord_";

/// Group and simple name of a path.
pub(crate) fn split(path: &str) -> (&str, &str) {
    let (group, name) = path.rsplit_once('/').unwrap();
    (if group.is_empty() { "/" } else { group }, name)
}

#[test]
fn no_file_of_the_corpus_is_left_out() {
    let Some(root) = corpus("hdf5") else { return };
    let manifest = json(&root.join("manifest.json"));
    let count = manifest.as_array().unwrap().iter().filter(|case| is_hdf5(case)).count();
    let truths = std::fs::read_dir(root.join("truth")).unwrap();
    let is_json = |path: &Path| path.extension().is_some_and(|ending| ending == "json");
    assert_eq!(truths.filter(|entry| is_json(&entry.as_ref().unwrap().path())).count(), count);
}
