//! What is around each response: limits, the access log, metrics.
mod body;

use crate::access::{AccessRecord, ClientPermit};
use crate::compress::{self, ContentCoding};
use crate::{HttpError, ServerState};
use axum::body::{Body, HttpBody};
use axum::extract::{ConnectInfo, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};
use body::GuardedBody;
use std::net::{IpAddr, SocketAddr};
use std::time::Instant;

/// Runs a request within the limits.
pub(crate) async fn guard(State(state): State<ServerState>, request: Request, next: Next) -> Response {
    let begun = Instant::now();
    let peer = request.extensions().get::<ConnectInfo<SocketAddr>>().map(|info| info.0.ip());
    let client = client_of(&state, peer, request.headers());
    let record = AccessRecord::new(&request, client, begun);
    let coding = ContentCoding::preferred(request.headers());
    let permit = match state.clients().enter(client) {
        Ok(permit) => permit,
        Err(error) => {
            let response = error.into_response();
            return finish(&state, response, record, None, coding);
        }
    };
    let deadline = begun + state.limits().response_time;
    let response = match tokio::time::timeout_at(deadline.into(), next.run(request)).await {
        Ok(response) => response,
        Err(_) => HttpError::busy("the response took too long").into_response(),
    };
    finish(&state, response, record, Some(permit), coding)
}

/// Wraps the body, so that limits, log and metrics see its end.
fn finish(
    state: &ServerState,
    response: Response,
    record: AccessRecord,
    permit: Option<ClientPermit>,
    coding: Option<ContentCoding>,
) -> Response {
    let (mut parts, body) = response.into_parts();
    if parts.status == StatusCode::METHOD_NOT_ALLOWED && !parts.headers.contains_key(header::ALLOW) {
        parts.headers.insert(header::ALLOW, HeaderValue::from_static("GET, HEAD"));
    }
    put_usual(&mut parts.headers);
    let cause = parts.extensions.remove::<crate::error::ErrorCause>().map(|cause| cause.0);
    let record = record.cause(cause).status(parts.status);
    let len = parts.headers.get(header::CONTENT_LENGTH).and_then(|len| len.to_str().ok()?.parse().ok());
    let is_empty = body.size_hint().exact() == Some(0);
    let body = GuardedBody::new(body, len, state.clone(), record, permit);
    if !compress::depends_on_coding(&parts.headers, parts.status) {
        return Response::from_parts(parts, Body::new(body));
    }
    compress::put_vary(&mut parts.headers);
    // A response to HEAD has the headers of the one to GET: its body is dropped without being read.
    let body = match coding.filter(|_| !is_empty) {
        Some(coding) => {
            compress::put_headers(&mut parts.headers, coding);
            compress::compressed(body, coding)
        }
        None => Body::new(body),
    };
    Response::from_parts(parts, body)
}

/// Headers of all responses.
fn put_usual(headers: &mut HeaderMap) {
    headers
        .entry(header::SERVER)
        .or_insert(HeaderValue::from_static(concat!("ncirrus/", env!("CARGO_PKG_VERSION"))));
    // Pages of other hosts may read what is public.
    headers.entry(header::ACCESS_CONTROL_ALLOW_ORIGIN).or_insert(HeaderValue::from_static("*"));
    headers.entry(header::X_CONTENT_TYPE_OPTIONS).or_insert(HeaderValue::from_static("nosniff"));
}

/// The address of the client: the peer's, or behind a proxy what the proxy says.
fn client_of(state: &ServerState, peer: Option<IpAddr>, headers: &HeaderMap) -> Option<IpAddr> {
    if !state.is_behind_proxy() {
        return peer;
    }
    // The last address is the one that the proxy has seen; those before it are what the client claims.
    let name = HeaderName::from_static("x-forwarded-for");
    let last = headers.get_all(name).iter().next_back().and_then(|value| value.to_str().ok());
    let last = last.and_then(|list| list.rsplit(',').next()).and_then(|address| address.trim().parse().ok());
    last.or(peer)
}
