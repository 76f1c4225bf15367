//! Coastlines as binary numbers.
use super::failure::Failure;
use super::parameters::Call;
use super::work::at_once;
use axum::http::header;
use axum::response::{IntoResponse, Response};

/// Pairs of longitude and latitude in degrees as little-endian float32, with a pair of NaN behind each line.
#[expect(clippy::cast_possible_truncation, reason = "float32 has a hundred-thousandth of a degree")]
pub(super) async fn coastlines(call: Call) -> Response {
    let Some(points) = call.options.coastlines else {
        return at_once(&call.options, Err(Failure::not_found("this program has no coastlines")));
    };
    let lines = points(call.text("detail") == "fine");
    let mut bytes = Vec::with_capacity(8 * lines.iter().map(|line| line.len() + 1).sum::<usize>());
    for (longitude, latitude) in
        lines.into_iter().flat_map(|line| line.into_iter().chain([(f64::NAN, f64::NAN)]))
    {
        bytes.extend((longitude as f32).to_le_bytes());
        bytes.extend((latitude as f32).to_le_bytes());
    }
    let headers =
        [(header::CONTENT_TYPE, "application/octet-stream"), (header::CACHE_CONTROL, "max-age=86400")];
    (headers, bytes).into_response()
}
