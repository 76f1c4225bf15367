//! What is shown first, and lists of folders.
use super::failure::json_response;
use super::parameters::Call;
use super::work::work;
use crate::published::{Entry, EntryKind};
use axum::response::Response;
use ncirrus::store::Url;
use serde_json::{Value, json};

/// What was given: a folder, or one dataset with its path.
pub(super) async fn start(call: Call) -> Response {
    work(call, |call| {
        let published = call.state.published();
        let given = published.addresses();
        let path = published.only_dataset().unwrap_or_default();
        let address = match given.as_slice() {
            [address] if call.options.is_local => shown(address),
            _ => "datasets".to_owned(),
        };
        let has_coastlines = call.options.coastlines.is_some();
        Ok(json_response(&json!({
            "address": address, "path": path, "version": ncirrus::VERSION, "coastlines": has_coastlines,
            "activity": call.options.is_local,
        })))
    })
    .await
}

/// The datasets and folders in a folder.
pub(super) async fn list(call: Call) -> Response {
    work(call, |call| {
        let entries = call.state.published().entries(call.text("path"))?;
        let entries: Vec<Value> = entries.iter().map(described).collect();
        Ok(json_response(&json!({"entries": entries})))
    })
    .await
}

/// What the session has fetched so far: for the user who started the program alone, since others share the session.
pub(super) async fn activity(call: Call) -> Response {
    let statistics = call.state.session().statistics();
    json_response(&json!({"requests": statistics.requests, "bytes": statistics.bytes_fetched}))
}

fn described(entry: &Entry) -> Value {
    let kind = match entry.kind {
        EntryKind::Folder => "folder",
        EntryKind::Dataset(kind) => kind.map_or("dataset", |kind| kind.as_str()),
    };
    json!({
        "name": entry.name, "kind": kind, "folder": entry.kind == EntryKind::Folder, "size": entry.size,
        "modified": entry.modified,
    })
}

/// An address without password and query.
pub(super) fn shown(address: &str) -> String {
    Url::parse(address).map_or_else(|_| String::new(), |url| url.to_string())
}
