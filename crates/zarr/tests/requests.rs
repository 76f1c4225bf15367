//! The cost of opening: requests, and how many of them are sequential.
#![expect(clippy::expect_used, reason = "a broken fixture fails the test")]
use ncirrus_layout::{Catalog, Driver, OpenOptions};
use ncirrus_testkit::{ObjectView, StallingView, drive};
use ncirrus_zarr::ZarrDriver;
use serde_json::{Map, Value, json};
use std::sync::Arc;

fn open(rounds: &StallingView) -> Arc<dyn Catalog> {
    drive(rounds, |view| ZarrDriver.open(view, &ObjectView::id(""), &OpenOptions::default()))
        .expect("it opens")
}

fn names(count: usize) -> Vec<String> {
    (0..count).map(|at| format!("v{at:04}")).collect()
}

fn zarray() -> Value {
    json!({"zarr_format": 2, "shape": [3], "dtype": "<i4", "chunks": [3], "fill_value": 0, "order": "C",
        "compressor": null, "filters": null})
}

/// A group's `.zattrs` in the dialect of netcdf-c 4.9.3 and later.
fn nczarr_group(dims: &Value, arrays: &[String], groups: &[&str]) -> Value {
    json!({"_nczarr_group": {"dimensions": dims, "arrays": arrays, "groups": groups},
        "_nczarr_superblock": {"version": "2.0.0"}})
}

fn nczarr(arrays: &[String]) -> ObjectView {
    let mut objects = ObjectView::new();
    objects.put(".zgroup", r#"{"zarr_format": 2}"#);
    objects.put(".zattrs", nczarr_group(&json!({"x": 3}), arrays, &[]).to_string());
    for name in arrays {
        objects.put(&format!("{name}/.zarray"), zarray().to_string());
        let info = json!({"_nczarr_array": {"dimension_references": ["/x"], "storage": "chunked"}});
        objects.put(&format!("{name}/.zattrs"), info.to_string());
        objects.put(&format!("{name}/0"), vec![0; 12]);
    }
    objects
}

fn consolidated(of: &ObjectView) -> ObjectView {
    let mut metadata = Map::new();
    for key in of.keys().filter(|key| key.contains(".z")) {
        let body = of.find(key).expect("listed");
        metadata.insert(key.to_owned(), serde_json::from_slice(body).expect("JSON"));
    }
    let all = json!({"metadata": metadata, "zarr_consolidated_format": 1});
    ObjectView::one(".zmetadata", all.to_string())
}

#[test]
fn consolidated_metadata_of_a_thousand_variables_cost_two_requests() {
    let rounds = StallingView::new(consolidated(&nczarr(&names(1000))));
    let catalog = open(&rounds);
    let model = drive(&rounds, |view| catalog.tree(view)).expect("a tree");
    assert_eq!(model.variables().len(), 1000);
    for id in model.variables() {
        drive(&rounds, |view| catalog.source(view, id)).expect("a source");
    }
    assert_eq!((rounds.requests().len(), rounds.rounds()), (2, 1), "{:?}", rounds.requests());
}

#[test]
fn inline_consolidated_metadata_of_version_3_cost_two_requests() {
    let array = json!({"zarr_format": 3, "node_type": "array", "shape": [3], "data_type": "int32", "fill_value": 0,
        "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [3]}},
        "chunk_key_encoding": {"name": "default"}, "codecs": [{"name": "bytes", "configuration": {"endian": "little"}}],
        "dimension_names": ["x"]});
    let metadata: Map<String, Value> = names(1000).into_iter().map(|name| (name, array.clone())).collect();
    let root = json!({"zarr_format": 3, "node_type": "group", "attributes": {},
        "consolidated_metadata": {"kind": "inline", "must_understand": false, "metadata": metadata}});
    let rounds = StallingView::new(ObjectView::one("zarr.json", root.to_string()));
    let catalog = open(&rounds);
    let model = drive(&rounds, |view| catalog.tree(view)).expect("a tree");
    assert_eq!(model.variables().len(), 1000);
    assert_eq!((rounds.requests().len(), rounds.rounds()), (2, 1), "{:?}", rounds.requests());
}

#[test]
fn nczarr_without_consolidated_metadata_is_three_round_trips_deep() {
    let rounds = StallingView::new(nczarr(&names(200)));
    let catalog = open(&rounds);
    let model = drive(&rounds, |view| catalog.tree(view)).expect("a tree");
    assert_eq!(model.variables().len(), 200);
    assert_eq!(rounds.rounds(), 3);
    let of_members =
        rounds.requests().iter().filter(|(key, want)| key.contains('/') && want.is_some()).count();
    assert_eq!(of_members, 400, "two objects per variable, each once");
}

#[test]
fn every_level_of_groups_adds_one_round_trip() {
    let mut objects = nczarr(&names(3));
    objects.put(".zattrs", nczarr_group(&json!({"x": 3}), &names(3), &["g", "h"]).to_string());
    for group in ["g", "h"] {
        objects.put(&format!("{group}/.zgroup"), r#"{"zarr_format": 2}"#);
        objects
            .put(&format!("{group}/.zattrs"), nczarr_group(&json!({}), &["v".to_owned()], &[]).to_string());
        objects.put(&format!("{group}/v/.zarray"), zarray().to_string());
        objects.put(&format!("{group}/v/.zattrs"), "{}");
    }
    let rounds = StallingView::new(objects);
    let catalog = open(&rounds);
    let model = drive(&rounds, |view| catalog.tree(view)).expect("a tree");
    assert!(model.variable_at("/g/v").is_some() && model.variable_at("/h/v").is_some());
    assert_eq!(rounds.rounds(), 4);
}

#[test]
fn probing_first_makes_opening_no_deeper() {
    let rounds = StallingView::new(nczarr(&names(20)));
    drive(&rounds, |view| ZarrDriver.probe(view, &ObjectView::id(""))).expect("no failure");
    open(&rounds);
    assert_eq!(rounds.rounds(), 3, "listed members travel with the listing");
}

#[test]
fn probing_asks_for_what_opening_needs_anyway() {
    let rounds = StallingView::new(consolidated(&nczarr(&names(3))));
    let sure = drive(&rounds, |view| ZarrDriver.probe(view, &ObjectView::id(""))).expect("no failure");
    assert_eq!(sure, ncirrus_layout::Confidence::Yes);
    open(&rounds);
    assert_eq!(rounds.requests().len(), 2);
}
