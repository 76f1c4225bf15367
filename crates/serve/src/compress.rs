//! Bodies of text in zstd (RFC 8878) or gzip, for clients that accept them.
mod coding;
mod encoder;
#[cfg(test)]
mod tests;

pub(crate) use coding::ContentCoding;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use encoder::BodyEncoder;
use http_body::Frame;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

/// Encoded bytes that are sent without waiting for more.
const READY: usize = 16 << 10;
/// Bytes that are encoded at once, so that other connections are served in between.
const STEP: usize = 256 << 10;
/// Bytes after which something is sent, however well they compress.
const UNSENT: usize = 1 << 20;

/// Whether the form of a response depends on `Accept-Encoding`: it is text, which becomes smaller for little, unlike numbers.
/// A response without a body says what the whole one would say (RFC 9110, 15.4.5).
pub(crate) fn depends_on_coding(headers: &HeaderMap, status: StatusCode) -> bool {
    let content_type =
        headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let is_text =
        content_type.starts_with("text/") || content_type.contains("json") || content_type.contains("+xml");
    let is_text = is_text || content_type.contains("/xml") || content_type.contains("javascript");
    let is_part = matches!(status, StatusCode::PARTIAL_CONTENT | StatusCode::RANGE_NOT_SATISFIABLE);
    let is_whole = !is_part && status != StatusCode::NO_CONTENT;
    (is_text && is_whole && !headers.contains_key(header::CONTENT_ENCODING))
        || status == StatusCode::NOT_MODIFIED
}

/// Says that the form of the response depends on the codings that clients accept.
pub(crate) fn put_vary(headers: &mut HeaderMap) {
    headers.append(header::VARY, HeaderValue::from_static("accept-encoding"));
}

/// Describes an encoded body.
pub(crate) fn put_headers(headers: &mut HeaderMap, coding: ContentCoding) {
    headers.remove(header::CONTENT_LENGTH);
    headers.remove(header::ACCEPT_RANGES);
    headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(coding.name()));
    // The compressed bytes are another representation: its tag is a weak one.
    let tag = headers.get(header::ETAG).and_then(|tag| tag.to_str().ok());
    let weak = tag.filter(|tag| !tag.starts_with("W/")).map(|tag| format!("W/{tag}"));
    if let Some(weak) = weak.and_then(|tag| HeaderValue::from_str(&tag).ok()) {
        headers.insert(header::ETAG, weak);
    }
}

/// The encoded body.
pub(crate) fn compressed<B>(body: B, coding: ContentCoding) -> Body
where
    B: HttpBody<Data = Bytes, Error = axum::Error> + Send + Unpin + 'static,
{
    Body::new(CompressedBody::new(body, coding))
}

struct CompressedBody<B> {
    body: B,
    stage: EncodingStage,
    /// Bytes of the body that are not encoded yet.
    rest: Bytes,
    /// Bytes that were encoded since the encoder was flushed.
    unflushed: usize,
}

/// The encoder needs memory only while a body is sent: not for `HEAD`, and not after the end.
enum EncodingStage {
    Unread(ContentCoding),
    Encoding(Box<BodyEncoder>),
    Ended,
}

impl<B> CompressedBody<B> {
    fn new(body: B, coding: ContentCoding) -> Self {
        Self { body, stage: EncodingStage::Unread(coding), rest: Bytes::new(), unflushed: 0 }
    }

    /// The encoder, unless the body has ended.
    fn encoder(&mut self) -> io::Result<Option<&mut BodyEncoder>> {
        if let EncodingStage::Unread(coding) = self.stage {
            self.stage = EncodingStage::Encoding(Box::new(BodyEncoder::new(coding)?));
        }
        Ok(match &mut self.stage {
            EncodingStage::Encoding(encoder) => Some(encoder),
            _ => None,
        })
    }

    /// Encodes a part of the rest; what is to be sent then.
    fn encode(&mut self) -> io::Result<Option<Bytes>> {
        let part = self.rest.split_to(STEP.min(self.rest.len()));
        let unflushed = self.unflushed + part.len();
        let Some(encoder) = self.encoder()? else { return Ok(None) };
        encoder.write(&part)?;
        if encoder.ready_len() >= READY {
            let ready = encoder.take();
            self.unflushed = unflushed;
            return Ok(Some(ready));
        }
        self.unflushed = unflushed;
        if unflushed >= UNSENT { self.flush() } else { Ok(None) }
    }

    /// Everything that was encoded, if there is something.
    fn flush(&mut self) -> io::Result<Option<Bytes>> {
        if self.unflushed == 0 {
            return Ok(None);
        }
        self.unflushed = 0;
        let Some(encoder) = self.encoder()? else { return Ok(None) };
        encoder.flush()?;
        Ok(Some(encoder.take()).filter(|bytes| !bytes.is_empty()))
    }

    fn finish(&mut self) -> io::Result<Option<Bytes>> {
        let Some(encoder) = self.encoder()? else { return Ok(None) };
        encoder.finish()?;
        let last = encoder.take();
        self.stage = EncodingStage::Ended;
        Ok(Some(last))
    }

    /// A frame, or the error that ends the body.
    fn frame(&mut self, encoded: io::Result<Option<Bytes>>) -> Option<Result<Frame<Bytes>, axum::Error>> {
        let error = match encoded {
            Ok(bytes) => return bytes.map(|bytes| Ok(Frame::data(bytes))),
            Err(error) => axum::Error::new(error),
        };
        self.stage = EncodingStage::Ended;
        Some(Err(error))
    }
}

impl<B: HttpBody<Data = Bytes, Error = axum::Error> + Unpin> HttpBody for CompressedBody<B> {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        loop {
            if !self.rest.is_empty() {
                let encoded = self.encode();
                match self.frame(encoded) {
                    None => continue,
                    frame => return Poll::Ready(frame),
                }
            }
            if matches!(self.stage, EncodingStage::Ended) {
                return Poll::Ready(None);
            }
            match Pin::new(&mut self.body).poll_frame(context) {
                // Nothing follows for a while: the client receives what there is.
                Poll::Pending => {
                    let flushed = self.flush();
                    return self.frame(flushed).map_or(Poll::Pending, |frame| Poll::Ready(Some(frame)));
                }
                Poll::Ready(Some(Ok(frame))) => self.rest = frame.into_data().unwrap_or_default(),
                Poll::Ready(Some(Err(error))) => {
                    self.stage = EncodingStage::Ended;
                    return Poll::Ready(Some(Err(error)));
                }
                Poll::Ready(None) => {
                    let last = self.finish();
                    return Poll::Ready(self.frame(last));
                }
            }
        }
    }
}
