//! Subsets as netCDF files: `/nc/NAME?var=..&time=..&lat=..`.
mod coordinate;
mod date;
pub(crate) mod query;

use crate::temporary::TemporaryFile;
use crate::{HttpError, ServedDataset, ServerState, http};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ncirrus::{CreateOptions, Kind};
use ncirrus_tools::CopyOptions;
use query::{SubsetFormat, SubsetQuery};
use std::sync::Arc;

pub(crate) fn routes() -> Router<ServerState> {
    Router::new().route("/nc/{*path}", get(subset))
}

async fn subset(
    State(state): State<ServerState>,
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Result<Response, HttpError> {
    let query = query.unwrap_or_default();
    let (served, rest) = state.open(&path).await?;
    if !rest.is_empty() {
        return Err(HttpError::not_found(format!("{path:?} is not served")));
    }
    let etag = served.etag_of_data(&format!("nc {query}"));
    if let Some(unchanged) = http::unchanged(&headers, etag.as_deref()) {
        return Ok(unchanged);
    }
    let query = SubsetQuery::parse(&query)?;
    let (dataset, max) = (Arc::clone(&served), state.limits().response_bytes);
    let (file, format) = state.work(move || make(&dataset, &query, max)).await?;
    let len = file.len();
    let range = http::range_of(&headers, etag.as_deref(), len);
    let (status, part) = match &range {
        None => (StatusCode::OK, 0..len),
        Some(None) => (StatusCode::RANGE_NOT_SATISFIABLE, 0..0),
        Some(Some(range)) => (StatusCode::PARTIAL_CONTENT, range.clone()),
    };
    let sent = part.end - part.start;
    let body = if sent == 0 { Body::empty() } else { crate::response::streamed(&state, file.part(part)?) };
    let mut response = (status, body).into_response();
    let response_headers = response.headers_mut();
    http::put_range(response_headers, range.as_ref(), len);
    http::put_etag(response_headers, etag.as_deref());
    response_headers.insert(header::CONTENT_LENGTH, HeaderValue::from(sent));
    response_headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(format.content_type()));
    if let Ok(value) = HeaderValue::from_str(&disposition(served.last_name())) {
        response_headers.insert(header::CONTENT_DISPOSITION, value);
    }
    Ok(response)
}

/// The name under which browsers keep the file.
fn disposition(name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let is_plain = |letter: char| letter.is_ascii_alphanumeric() || "-_.".contains(letter);
    let stem: String = stem.chars().map(|letter| if is_plain(letter) { letter } else { '_' }).collect();
    format!("attachment; filename=\"{stem}.nc\"")
}

/// Writes the subset to a temporary file.
fn make(
    served: &ServedDataset,
    query: &SubsetQuery,
    max: u64,
) -> Result<(TemporaryFile, SubsetFormat), HttpError> {
    let dataset = served.dataset();
    let boxes = query.boxes(dataset)?;
    if boxes.bytes > max {
        let bytes = boxes.bytes;
        let message = format!("the subset has {bytes} bytes, the limit is {max}: ask for a smaller part");
        return Err(HttpError::too_large(message));
    }
    let session = dataset.session();
    let file = TemporaryFile::new(&session.cache_folder(), "subset.nc")?;
    let kind = match query.format {
        SubsetFormat::Nc3 => Kind::Nc3,
        SubsetFormat::Nc4 => Kind::Nc4,
    };
    let options = CopyOptions::new()
        .create(CreateOptions::new().kind(kind).exact_path(true).durable(false))
        .variables(boxes.variables)
        .select(boxes.selections)
        .drop_filters(true);
    let report = ncirrus_tools::copy(dataset, file.target(), &options, session)?;
    if let Some(lost) = report.left_out.first().filter(|_| query.has_variables()) {
        // The reason is for the log alone: it may name a place of the server.
        let message = format!("{}: it cannot be read, or the format has no form for it", lost.path);
        let cause = Some(lost.to_string());
        return Err(HttpError { cause, ..HttpError::new(StatusCode::NOT_IMPLEMENTED, message) });
    }
    Ok((file.complete()?, query.format))
}
