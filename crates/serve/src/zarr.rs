//! Zarr v3 and v2: `/zarr/NAME/..` and `/zarr2/NAME/..`. Metadata are those of a copy of the definitions; chunks are sent
//! as they are stored where the copy would store the same bytes, and otherwise encoded on request.
mod chunk;
pub(crate) mod key;
mod strings;
mod twin;

use crate::{HttpError, ServedDataset, ServerState, http};
use axum::Router;
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::response::Response;
use axum::routing::get;
use bytes::Bytes;
use std::sync::Arc;
use twin::{Twin, Zarr2Twin, Zarr3Twin};

pub(crate) fn routes() -> Router<ServerState> {
    Router::new().route("/zarr/{*path}", get(of_v3)).route("/zarr2/{*path}", get(of_v2))
}

async fn of_v3(
    state: State<ServerState>,
    path: Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    object(&state, &path, &headers, |served| Ok(Arc::clone(&served.derived(Zarr3Twin::new)?.0))).await
}

async fn of_v2(
    state: State<ServerState>,
    path: Path<String>,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    object(&state, &path, &headers, |served| Ok(Arc::clone(&served.derived(Zarr2Twin::new)?.0))).await
}

/// What is stored under a key.
enum Stored {
    Document(Bytes),
    Chunk(Bytes),
}

async fn object(
    state: &ServerState,
    path: &str,
    headers: &HeaderMap,
    twin: fn(&ServedDataset) -> ncirrus::Result<Arc<Twin>>,
) -> Result<Response, HttpError> {
    let (served, key) = state.open(path).await?;
    let is_document =
        key.rsplit('/').next().is_some_and(|name| name.starts_with(".z") || name == "zarr.json");
    let of = format!("{} {key}", path.len());
    let etag = if is_document { served.etag(&of) } else { served.etag_of_data(&of) };
    if let Some(unchanged) = http::unchanged(headers, etag.as_deref()) {
        return Ok(unchanged);
    }
    let max = state.limits().response_bytes;
    let (dataset, chunk_key) = (Arc::clone(&served), key.clone());
    let cost = state.work(move || Ok(twin(&dataset)?.chunk_cost(&chunk_key))).await?;
    if cost.is_some_and(|cost| cost > max) {
        return Err(HttpError::too_large("the chunk is larger than the limit of a response"));
    }
    let share = state.reserve(cost.unwrap_or(1)).await?;
    let stored = state
        .work(move || {
            let twin = twin(&served)?;
            match twin.document(&key) {
                Some(document) => Ok(Some(Stored::Document(document))),
                None => Ok(twin.chunk(served.dataset(), &key, max)?.map(Stored::Chunk)),
            }
        })
        .await?;
    match stored {
        Some(Stored::Document(bytes)) => {
            Ok(http::bytes(headers, "application/json", etag.as_deref(), &bytes))
        }
        Some(Stored::Chunk(bytes)) => {
            let (kind, etag) = ("application/octet-stream", etag.as_deref());
            Ok(http::held_bytes(headers, kind, etag, &bytes, share))
        }
        None => Err(HttpError::not_found("no such object")),
    }
}
