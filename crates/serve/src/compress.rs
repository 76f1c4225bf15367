//! Bodies in gzip, where the client takes them and they are text.
use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use flate2::Compression;
use flate2::write::GzEncoder;
use http_body::Frame;
use std::io::Write;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Whether the client takes gzip (RFC 9110, 12.5.3).
pub(crate) fn is_accepted(headers: &HeaderMap) -> bool {
    let lists = headers.get_all(header::ACCEPT_ENCODING).iter().filter_map(|value| value.to_str().ok());
    let mut codings = lists.flat_map(|list| list.split(','));
    codings.any(|coding| {
        let (name, weight) = coding.split_once(';').unwrap_or((coding, ""));
        let is_refused = weight.trim().strip_prefix("q=").is_some_and(|q| q.trim().parse() == Ok(0.0));
        name.trim().eq_ignore_ascii_case("gzip") && !is_refused
    })
}

/// Whether a body becomes smaller for little: text, not numbers.
pub(crate) fn is_worth_it(headers: &HeaderMap, status: StatusCode) -> bool {
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_text =
        content_type.starts_with("text/") || content_type.contains("json") || content_type.contains("+xml");
    let is_text = is_text || content_type.contains("/xml") || content_type.contains("javascript");
    let is_whole = status != StatusCode::PARTIAL_CONTENT && !headers.contains_key(header::CONTENT_ENCODING);
    let is_empty = matches!(status, StatusCode::NOT_MODIFIED | StatusCode::NO_CONTENT);
    is_text && is_whole && !is_empty
}

pub(crate) fn put_headers(headers: &mut HeaderMap) {
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::ACCEPT_RANGES);
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static("gzip"));
    headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
    // The compressed bytes are another representation: its tag is a weak one.
    let weak = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok()).map(|tag| format!("W/{tag}"));
    if let Some(weak) = weak.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
        headers.insert(header::ETAG, weak);
    }
}

/// The body in gzip.
pub(crate) fn gzip<B>(body: B) -> Body
where
    B: HttpBody<Data = Bytes, Error = axum::Error> + Send + Unpin + 'static,
{
    Body::new(GzipBody { body, encoder: Some(GzEncoder::new(Vec::new(), Compression::fast())) })
}

struct GzipBody<B> {
    body: B,
    /// `None` after the end.
    encoder: Option<GzEncoder<Vec<u8>>>,
}

impl<B: HttpBody<Data = Bytes, Error = axum::Error> + Unpin> HttpBody for GzipBody<B> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            if self.encoder.is_none() {
                return Poll::Ready(None);
            }
            let frame = match Pin::new(&mut self.body).poll_frame(context) {
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(Err(error))) => return Poll::Ready(Some(Err(error))),
                Poll::Ready(frame) => frame.and_then(Result::ok),
            };
            let Some(frame) = frame else {
                let end = self.encoder.take().map(GzEncoder::finish).transpose().map_err(axum::Error::new);
                return Poll::Ready(
                    end.transpose().map(|bytes| bytes.map(|bytes| Frame::data(bytes.into()))),
                );
            };
            let Ok(data) = frame.into_data() else { continue };
            let Some(encoder) = self.encoder.as_mut() else { continue };
            if let Err(error) = encoder.write_all(&data) {
                return Poll::Ready(Some(Err(axum::Error::new(error))));
            }
            if encoder.get_ref().len() >= 16 << 10 {
                let bytes = std::mem::take(encoder.get_mut());
                return Poll::Ready(Some(Ok(Frame::data(bytes.into()))));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gzip_is_sent_to_those_who_take_it() {
        let accepted = |text: &str| {
            is_accepted(&HeaderMap::from_iter([(
                header::ACCEPT_ENCODING,
                HeaderValue::from_str(text).unwrap(),
            )]))
        };
        assert!(accepted("deflate, gzip") && accepted("GZIP;q=0.5"));
        assert!(!accepted("deflate") && !accepted("gzip;q=0") && !accepted(""));
    }
}
