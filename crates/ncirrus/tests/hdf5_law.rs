//! The law of availability over the HDF5 corpus: what is read from a file does not depend on which bytes arrive when.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::json;
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_testkit::corpus::corpus;
use ncirrus_testkit::sample::in_turn;
use ncirrus_testkit::{ObjectView, law};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

/// Number of orders of arrival that are tried for each file; more with `NCIRRUS_LAW_SEEDS`.
const SEEDS: u64 = 1;

/// The file, and the neighbouring files that it names: external links and virtual datasets.
fn objects(path: &Path) -> ObjectView {
    let body = std::fs::read(path).unwrap();
    let mut objects = ObjectView::new();
    for entry in std::fs::read_dir(path.parent().unwrap()).unwrap() {
        let (file, name) = entry.map(|entry| (entry.path(), entry.file_name())).unwrap();
        let name = name.to_str().unwrap().to_owned();
        let is_named = body.windows(name.len()).any(|part| part == name.as_bytes());
        if file == path || (file.is_file() && is_named) {
            objects.put(&name, std::fs::read(&file).unwrap());
        }
    }
    objects
}

#[test]
fn what_is_made_of_a_file_does_not_depend_on_the_order_of_arrival() {
    let Some(root) = corpus("hdf5") else { return };
    let seeds = std::env::var("NCIRRUS_LAW_SEEDS").map_or(SEEDS, |text| text.parse().unwrap());
    let manifest = json(&root.join("manifest.json"));
    let mut broken = Vec::new();
    let files = manifest.as_array().unwrap().iter().filter(|case| case["fmt"] == "hdf5");
    for (_, case) in files.enumerate().filter(|(number, _)| in_turn(*number, 2)) {
        let path = case["path"].as_str().unwrap();
        let (objects, name) = (objects(&root.join(path)), path.rsplit('/').next().unwrap());
        let outcome =
            catch_unwind(AssertUnwindSafe(|| law::availability(&Hdf5Driver, &objects, name, seeds)));
        match outcome {
            Ok(text) if text.contains("\nopen Ok") => {
                let indexes = AssertUnwindSafe(|| law::chunk_indexes(&Hdf5Driver, &objects, name));
                if catch_unwind(indexes).is_err() {
                    broken.push(format!("{path}: the law of chunk indexes is broken"));
                }
            }
            Ok(text) => broken.push(format!("{path}: {}", text.lines().nth(1).unwrap_or_default())),
            Err(_) => broken.push(format!("{path}: the law is broken")),
        }
    }
    assert!(broken.is_empty(), "{} files:\n{}", broken.len(), broken.join("\n"));
}
