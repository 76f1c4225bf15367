//! Coastlines as binary numbers.
use super::CoastlinePoints;
use super::failure::Failure;
use super::parameters::Call;
use super::work::work;
use axum::Extension;
use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use std::sync::{Arc, OnceLock};

/// The coarse and the fine coastlines, each encoded when it is first requested.
#[derive(Default)]
pub(super) struct EncodedCoastlines([OnceLock<Bytes>; 2]);

/// Pairs of longitude and latitude in degrees as little-endian float32, with a pair of NaN behind each line.
pub(super) async fn coastlines(
    Extension(encoded): Extension<Arc<EncodedCoastlines>>,
    call: Call,
) -> Response {
    work(call, move |call| {
        let points = call.options.coastlines;
        let points = points.ok_or_else(|| Failure::not_found("this program has no coastlines"))?;
        let is_fine = call.text("detail") == "fine";
        let [coarse, fine] = &encoded.0;
        let bytes = if is_fine { fine } else { coarse }.get_or_init(|| as_bytes(points(is_fine)));
        let headers =
            [(header::CONTENT_TYPE, "application/octet-stream"), (header::CACHE_CONTROL, "max-age=86400")];
        Ok((headers, bytes.clone()).into_response())
    })
    .await
}

#[expect(clippy::cast_possible_truncation, reason = "float32 has a hundred-thousandth of a degree")]
fn as_bytes(lines: CoastlinePoints) -> Bytes {
    let mut bytes = Vec::with_capacity(8 * lines.iter().map(|line| line.len() + 1).sum::<usize>());
    for (longitude, latitude) in
        lines.into_iter().flat_map(|line| line.into_iter().chain([(f64::NAN, f64::NAN)]))
    {
        bytes.extend((longitude as f32).to_le_bytes());
        bytes.extend((latitude as f32).to_le_bytes());
    }
    bytes.into()
}
