//! DAP2 and DAP4: `/dap/NAME.dds`, `.das`, `.dods`, `.ascii`, `.dmr`, `.dap` (docs/spec/dap.md 9).
mod pieces;

use crate::http::{self, Representation};
use crate::response::streamed;
use crate::{HttpError, ServedDataset, ServerState};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, RawQuery, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use ncirrus::{Error, ErrorKind};
use ncirrus_dap::{Dap2Dataset, Dap2Request, Dap4Dataset, Dap4Request, dap2_error, dap4_error};
use percent_encoding::percent_decode_str;
use pieces::{Dap2Pieces, Dap4Pieces};
use std::collections::BTreeMap;
use std::sync::Arc;

/// Bytes of a piece of an answer.
pub(crate) const PIECE: usize = 512 << 10;
/// Answers of DAP4 up to this size are made before they are sent, so that their DMR states checksums.
const SMALL: u64 = 1 << 20;

pub(crate) fn routes() -> Router<ServerState> {
    Router::new().route("/dap/{*path}", get(answer))
}

/// What is asked for: the longest suffix first.
const SUFFIXES: [(&str, Asked); 9] = [
    (".dmr.xml", Asked::DmrXml),
    (".ascii", Asked::Ascii),
    (".dods", Asked::Dods),
    (".asc", Asked::Ascii),
    (".dds", Asked::Dds),
    (".das", Asked::Das),
    (".dmr", Asked::Dmr),
    (".dap", Asked::Dap),
    (".ver", Asked::Version),
];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Dds,
    Das,
    Dods,
    Ascii,
    Dmr,
    DmrXml,
    Dap,
    Version,
}

impl Asked {
    fn is_dap4(self) -> bool {
        matches!(self, Self::Dmr | Self::DmrXml | Self::Dap)
    }

    fn content_type(self) -> &'static str {
        match self {
            Self::Dds | Self::Das | Self::Ascii | Self::Version => "text/plain; charset=utf-8",
            Self::Dods => "application/octet-stream",
            Self::Dmr => "application/vnd.opendap.dap4.dataset-metadata+xml",
            Self::DmrXml => "text/xml; charset=utf-8",
            Self::Dap => "application/vnd.opendap.dap4.data",
        }
    }

    fn description(self) -> Option<&'static str> {
        match self {
            Self::Dds => Some("dods-dds"),
            Self::Das => Some("dods-das"),
            Self::Dods => Some("dods-data"),
            _ => None,
        }
    }
}

async fn answer(
    State(state): State<ServerState>,
    Path(path): Path<String>,
    RawQuery(query): RawQuery,
    headers: HeaderMap,
) -> Response {
    let found = SUFFIXES.iter().find_map(|(suffix, asked)| Some((path.strip_suffix(suffix)?, *asked)));
    let Some((name, asked)) = found else {
        let message = "add .dds, .das, .dods, .ascii, .dmr or .dap to the name of a dataset";
        return refused(Asked::Dds, &HttpError::not_found(message), None);
    };
    let made = make(&state, name, asked, query.as_deref().unwrap_or_default(), &headers).await;
    made.unwrap_or_else(|failure| refused(asked, &failure.0, failure.1.as_ref()))
}

/// A refusal, and the error of the library that it comes from.
struct Failure(HttpError, Option<Error>);

impl From<HttpError> for Failure {
    fn from(error: HttpError) -> Self {
        Self(error, None)
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self(HttpError::from(error.clone()), Some(error))
    }
}

async fn make(
    state: &ServerState,
    name: &str,
    asked: Asked,
    query: &str,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let (served, rest) = state.open(name).await?;
    if !rest.is_empty() {
        return Err(HttpError::not_found(format!("{name:?} is not served")).into());
    }
    let is_data = matches!(asked, Asked::Dods | Asked::Ascii | Asked::Dap);
    let form = if asked == Asked::Dap && is_netcdf_c(headers) { " with checksums in the DMR" } else { "" };
    let of = format!("{asked:?}{form} {query}");
    let etag = if is_data { served.etag_of_data(&of) } else { served.etag(&of) };
    if let Some(mut unchanged) = http::unchanged(headers, etag.as_deref()) {
        put_vary(asked, unchanged.headers_mut());
        return Ok(unchanged);
    }
    let body = match asked {
        Asked::Version => Body::from(format!("ncirrus/{}\nDAP2 2.0\nDAP4 4.0\n", ncirrus::VERSION)).into(),
        Asked::Dds | Asked::Das | Asked::Dods | Asked::Ascii => dap2(state, served, asked, query).await?,
        Asked::Dmr | Asked::DmrXml | Asked::Dap => dap4(state, served, asked, query, headers).await?,
    };
    Ok(respond(asked, body, etag.as_deref()))
}

fn respond(asked: Asked, body: Representation, etag: Option<&str>) -> Response {
    let mut response = body.body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(asked.content_type()));
    if let Some(len) = body.len {
        headers.insert(header::CONTENT_LENGTH, HeaderValue::from(len));
    }
    http::put_etag(headers, etag);
    put_vary(asked, headers);
    protocol_headers(asked, headers);
    response
}

/// Says on what the form of a response depends.
fn put_vary(asked: Asked, headers: &mut HeaderMap) {
    if asked == Asked::Dap {
        headers.append(header::VARY, HeaderValue::from_static("user-agent"));
    }
}

/// Whether the client is netCDF-C. It takes checksums for values unless the DMR states them (docs/spec/dap.md 6.3): all are
/// computed before its answer begins.
fn is_netcdf_c(headers: &HeaderMap) -> bool {
    let agent = headers.get(header::USER_AGENT).and_then(|agent| agent.to_str().ok()).unwrap_or_default();
    agent.to_ascii_lowercase().starts_with("netcdf")
}

fn protocol_headers(asked: Asked, headers: &mut HeaderMap) {
    let version = if asked.is_dap4() { "4.0" } else { "2.0" };
    headers.insert(HeaderName::from_static("xdap"), HeaderValue::from_static(version));
    headers.insert(HeaderName::from_static("xdods-server"), HeaderValue::from_static("dods/3.2"));
    if let Some(description) = asked.description() {
        headers.insert(HeaderName::from_static("content-description"), HeaderValue::from_static(description));
    }
}

async fn dap2(
    state: &ServerState,
    served: Arc<ServedDataset>,
    asked: Asked,
    query: &str,
) -> Result<Representation, Failure> {
    let query = decoded(query)?;
    let max = state.limits().response_bytes;
    let dataset = Arc::clone(&served);
    let worked = state.work(move || Ok(prepare2(&dataset, asked, &query, max))).await?;
    let (shown, request) = worked?;
    Ok(match asked {
        Asked::Dds => Body::from(shown.dds(&request)).into(),
        Asked::Das => Body::from(shown.das()).into(),
        Asked::Ascii => {
            let answer = shown.ascii(request, PIECE / 8)?;
            Representation { body: streamed(state, Dap2Pieces::new(served, answer)), len: None }
        }
        _ => {
            let len = shown.answer_len(&request);
            let answer = shown.answer(request, PIECE)?;
            Representation { body: streamed(state, Dap2Pieces::new(served, answer)), len }
        }
    })
}

/// The definitions in DAP2 and what is asked for, which is within the limits.
fn prepare2(
    served: &ServedDataset,
    asked: Asked,
    query: &str,
    max: u64,
) -> Result<(Arc<Dap2Dataset>, Dap2Request), Error> {
    let shown = served.derived(|dataset| Ok(Dap2Dataset::new(dataset.model()?, served.last_name())))?;
    // The attributes are those of the dataset, whatever is asked for.
    let request = shown.request(if asked == Asked::Das { "" } else { query })?;
    let bytes = shown.answer_len(&request).unwrap_or_else(|| shown.value_bytes(&request));
    if matches!(asked, Asked::Dods | Asked::Ascii) {
        check_len(bytes, max)?;
    }
    Ok((shown, request))
}

fn check_len(bytes: u64, max: u64) -> Result<(), Error> {
    if bytes <= max {
        return Ok(());
    }
    Err(Error::limit(format!(
        "the response would have {bytes} bytes, the limit is {max}: ask for a smaller part"
    )))
}

async fn dap4(
    state: &ServerState,
    served: Arc<ServedDataset>,
    asked: Asked,
    query: &str,
    headers: &HeaderMap,
) -> Result<Representation, Failure> {
    let (mut expression, mut has_checksums) = (String::new(), true);
    for field in query.split('&') {
        match field.split_once('=') {
            Some(("dap4.ce", text)) => expression = decoded(text)?,
            Some(("dap4.checksum", text)) => has_checksums = text != "false",
            _ => {}
        }
    }
    let max = state.limits().response_bytes;
    let dataset = Arc::clone(&served);
    let worked = state.work(move || Ok(prepare4(&dataset, &expression, asked, max))).await?;
    let (shown, request) = worked?;
    if asked != Asked::Dap {
        return Ok(Body::from(shown.dmr(&request)).into());
    }
    let bytes = shown.value_bytes(&request);
    let needs_them = is_netcdf_c(headers) && request.len() > 1;
    let is_small = bytes.is_some_and(|bytes| bytes <= SMALL);
    let mut known = BTreeMap::new();
    if has_checksums && (is_small || needs_them) {
        let answer = shown.answer(request.clone(), true, &BTreeMap::new(), PIECE)?;
        let pieces = Dap4Pieces::new(Arc::clone(&served), answer);
        known = state.work(move || pieces.checksums()).await?;
    }
    let answer = shown.answer(request, has_checksums, &known, PIECE)?;
    Ok(Representation { body: streamed(state, Dap4Pieces::new(served, answer)), len: None })
}

fn prepare4(
    served: &ServedDataset,
    expression: &str,
    asked: Asked,
    max: u64,
) -> Result<(Arc<Dap4Dataset>, Dap4Request), Error> {
    let shown = served.derived(|dataset| Ok(Dap4Dataset::new(dataset.model()?, served.last_name())))?;
    let request = shown.request(expression)?;
    if asked == Asked::Dap {
        check_len(shown.least_bytes(&request), max)?;
    }
    Ok((shown, request))
}

/// A query, decoded once.
fn decoded(text: &str) -> Result<String, HttpError> {
    let decoded = percent_decode_str(text).decode_utf8();
    decoded.map(std::borrow::Cow::into_owned).map_err(|_| HttpError::invalid("the query is not UTF-8"))
}

/// The document of an error, as the protocol has it.
fn refused(asked: Asked, error: &HttpError, cause: Option<&Error>) -> Response {
    let kind = match error.status {
        StatusCode::NOT_FOUND => ErrorKind::NotFound,
        StatusCode::BAD_REQUEST => ErrorKind::Invalid,
        StatusCode::FORBIDDEN => ErrorKind::Denied,
        StatusCode::NOT_IMPLEMENTED => ErrorKind::Unsupported,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::Limit,
        _ => ErrorKind::Io { retryable: false },
    };
    let mut shown = Error::new(kind, error.message.clone());
    // The message has the path already; the code says that it is a variable's.
    if cause.is_some_and(|cause| cause.place().path.is_some()) && kind == ErrorKind::NotFound {
        shown = Error::new(kind, "no such variable").at_path(error.message.clone());
    }
    let (document, content_type) = if asked.is_dap4() {
        (dap4_error(error.status.as_u16(), &shown), "application/vnd.opendap.dap4.error+xml")
    } else {
        (dap2_error(&shown), "text/plain; charset=utf-8")
    };
    let mut response = (error.status, document).into_response();
    let headers = response.headers_mut();
    protocol_headers(asked, headers);
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    if !asked.is_dap4() {
        headers
            .insert(HeaderName::from_static("content-description"), HeaderValue::from_static("dods-error"));
    }
    if let Some(seconds) = error.retry_after {
        headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
    }
    error.note_in(&mut response);
    response
}
