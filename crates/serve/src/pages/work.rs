//! Work of a request, which ends with the request.
use super::failure::Failure;
use super::parameters::Call;
use crate::{HttpError, ServerState, http};
use axum::body::{Body, HttpBody};
use axum::http::{HeaderValue, header};
use axum::response::Response;
use futures_util::StreamExt;
use std::sync::Arc;
use tokio::sync::OwnedSemaphorePermit;

/// Bytes that a request may hold until its response is sent. Their share of the memory is reserved before the work begins;
/// a tile of values and what it is made of are smaller.
pub(super) const HELD: u64 = 8 << 20;

/// Bytes that the body of a response holds besides the piece that is sent, as an extension of the response.
#[derive(Clone, Copy)]
pub(super) struct HeldByBody(pub(super) u64);

/// Runs what blocks on a worker thread. If the client goes away, the server drops this future: reads of the work end with
/// an error then, and their requests are cancelled.
pub(crate) async fn work(
    call: Call,
    work: impl FnOnce(&Call) -> Result<Response, Failure> + Send + 'static,
) -> Response {
    let options = Arc::clone(&call.options);
    let done = within_memory(call, work).await;
    Call::respond(&options, done)
}

async fn within_memory(
    call: Call,
    work: impl FnOnce(&Call) -> Result<Response, Failure> + Send + 'static,
) -> Result<Response, Failure> {
    let state = call.state.clone();
    let share = state.reserve(HELD).await?;
    let response = state.work(move || Ok(work(&call))).await??;
    Ok(holding(&state, response, share).await?)
}

/// The response, whose body keeps its share of the memory until it is sent.
async fn holding(
    state: &ServerState,
    mut response: Response,
    share: OwnedSemaphorePermit,
) -> Result<Response, HttpError> {
    let Some(len) = response.body().size_hint().exact() else {
        let held = response.extensions_mut().remove::<HeldByBody>().map_or(0, |held| held.0);
        let share = shrunk(share, held);
        let pieces = move |body: Body| {
            body.into_data_stream().map(move |piece| {
                let _kept = &share;
                piece
            })
        };
        return Ok(response.map(|body| Body::from_stream(pieces(body))));
    };
    let more = if len > HELD { Some(state.reserve(len - HELD).await?) } else { None };
    let (mut parts, body) = response.into_parts();
    let bytes = axum::body::to_bytes(body, usize::MAX).await;
    let bytes = bytes.map_err(|error| HttpError::internal(error.to_string()))?;
    parts.headers.insert(header::CONTENT_LENGTH, HeaderValue::from(len));
    Ok(Response::from_parts(parts, http::held(bytes, (shrunk(share, len), more))))
}

/// As much of the share as so many bytes need.
fn shrunk(mut share: OwnedSemaphorePermit, bytes: u64) -> OwnedSemaphorePermit {
    let kib = usize::try_from(bytes.div_ceil(1024)).unwrap_or(usize::MAX);
    drop(share.split(share.num_permits().saturating_sub(kib)));
    share
}
