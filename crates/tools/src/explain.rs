//! Plans of reads, as JSON.
use ncirrus::ReadPlan;
use serde_json::{Value, json};

/// The plan of reading selections of variables (their paths) together, as [`plan_json`] has it, with `variables` instead
/// of `variable`, and without a shape.
pub fn plans_json(variables: &[String], plan: &ReadPlan) -> Value {
    let mut object = plan_json("", plan);
    if let Some(members) = object.as_object_mut() {
        members.remove("variable");
        members.remove("shape");
        members.insert("variables".into(), json!(variables));
    }
    object
}

/// The plan of reading a selection of a variable (its path) as the JSON object that `ncirrus explain --json` prints,
/// without what opening the dataset took. Sizes are in bytes.
pub fn plan_json(variable: &str, plan: &ReadPlan) -> Value {
    json!({
        "variable": variable,
        "shape": plan.shape,
        "layout": plan.layout,
        "codecs": plan.codecs,
        "index": {"requests": plan.metadata_requests, "bytes": plan.metadata_bytes},
        "references": plan.references,
        "requests": plan.requests,
        "bytes": plan.bytes,
        "bytes_estimated": plan.is_estimate,
        "whole_objects": plan.whole_objects,
        "parts": plan.tiles,
        "sources": plan.sources,
        "chunks": plan.chunks,
        "missing_chunks": plan.missing,
        "decoded_bytes": plan.decoded_bytes,
        "needed_bytes": plan.needed_bytes,
        "over_read": plan.over_read(),
    })
}
