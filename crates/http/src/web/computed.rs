//! Answers that a server computes (docs/spec/dap.md 8): they have no ranges and no state, and what the server says of a
//! failure is in the body.
use super::HttpStore;
use super::encoding::BodyDecoder;
use super::page::{PageGuard, first_words};
use super::redirects::{RedirectRequest, RedirectTarget};
use crate::net::{self, RequestFailure, ResponseHead};
use bytes::{Bytes, BytesMut};
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, ObjectId, Result, Tag, Want};
use ncirrus_store::{AnswerPart, AnswerReceiver, key, want};
use reqwest::StatusCode;
use reqwest::header::CONTENT_ENCODING;

/// Concurrent requests to one server.
pub(super) const AT_ONCE: usize = 4;
/// How much is read of what a server says of a failure.
const MAX_ERROR_BYTES: usize = 64 << 10;

impl HttpStore {
    /// The answer; an error document of OPeNDAP is one, whatever its status.
    pub(super) async fn read_computed(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let mut whole = WholeAnswer { bytes: BytesMut::new(), max: self.limits.chunk_bytes };
        let is_there = self.receive_computed(object, &mut whole).await?;
        let body = whole.bytes.freeze();
        Ok(is_there.then(|| {
            let tag = Tag::new(format!("{} computed bytes", body.len()));
            want::blob(&body, want, tag)
        }))
    }

    /// Passes on the answer while it arrives; false if there is none and the server says nothing of it.
    pub(super) async fn receive_computed(
        &self,
        object: &ObjectId,
        receiver: &mut dyn AnswerReceiver,
    ) -> Result<bool> {
        key::check(object)?;
        let passed = self.pass_on_computed(object, receiver).await;
        passed.map_err(|failure| failure.error.at_object(object).by("http"))
    }

    async fn pass_on_computed(
        &self,
        object: &ObjectId,
        receiver: &mut dyn AnswerReceiver,
    ) -> std::result::Result<bool, RequestFailure> {
        let address = self.address(object);
        loop {
            let requested = RedirectRequest { range: None, state: None };
            let response = self.reach(&address, &requested).await?;
            let (status, target) = (response.status(), RedirectTarget::of(&response).cloned());
            receiver.receive(AnswerPart::Begin).await.map_err(RequestFailure::lasting)?;
            if status.is_success() {
                let passed = match &target {
                    Some(target) => {
                        let mut guard = PageGuard::new(receiver, &target.host);
                        let passed = pass_on(response, &mut guard).await;
                        match passed {
                            Ok(()) => guard.finish().await.map_err(RequestFailure::lasting),
                            failed => failed,
                        }
                    }
                    None => pass_on(response, receiver).await,
                };
                match passed {
                    Ok(()) => return Ok(true),
                    // An answer that was interrupted begins anew.
                    Err(failure) => net::again(failure).await?,
                }
                continue;
            }
            let error_body = error_body(response).await;
            if is_error_document(&error_body) {
                let passed = receiver.receive(AnswerPart::Bytes(error_body)).await;
                return passed.map(|()| true).map_err(RequestFailure::lasting);
            }
            return match status {
                StatusCode::NOT_FOUND | StatusCode::GONE if error_body.trim_ascii().is_empty() => Ok(false),
                _ => Err(RequestFailure::lasting(refused(status, &error_body, target.as_ref()))),
            };
        }
    }
}

/// An answer that is needed whole.
struct WholeAnswer {
    bytes: BytesMut,
    max: u64,
}

impl AnswerReceiver for WholeAnswer {
    fn receive(&mut self, part: AnswerPart) -> BoxFuture<'_, Result<()>> {
        match part {
            AnswerPart::Begin => self.bytes.clear(),
            AnswerPart::Bytes(bytes) => self.bytes.extend_from_slice(&bytes),
        }
        let is_over = self.bytes.len() as u64 > self.max;
        let message = format!("the answer has more bytes than the limit of {}", self.max);
        std::future::ready(if is_over { Err(Error::limit(message)) } else { Ok(()) }).boxed()
    }
}

/// Passes on the body of an answer, decoded.
async fn pass_on(
    response: ResponseHead,
    receiver: &mut dyn AnswerReceiver,
) -> std::result::Result<(), RequestFailure> {
    let lasting = RequestFailure::lasting;
    let mut decoder = decoder_of(&response).map_err(lasting)?;
    let mut body = response.into_body();
    while let Some(piece) = body.piece().await {
        let piece = piece?;
        match &mut decoder {
            BodyDecoder::Plain => receiver.receive(AnswerPart::Bytes(piece)).await.map_err(lasting)?,
            BodyDecoder::Compressed(compressed) => {
                let mut input = compressed.input(&piece);
                while let Some(bytes) = input.next().map_err(lasting)? {
                    let bytes = Bytes::copy_from_slice(bytes);
                    receiver.receive(AnswerPart::Bytes(bytes)).await.map_err(lasting)?;
                }
            }
        }
    }
    match &decoder {
        BodyDecoder::Compressed(compressed) if !compressed.is_complete() => {
            Err(body.refuse(&RequestFailure::passing("the compressed answer was cut off")))
        }
        _ => Ok(()),
    }
}

fn decoder_of(response: &ResponseHead) -> Result<BodyDecoder> {
    let encoding = response.headers().get(CONTENT_ENCODING);
    BodyDecoder::new(encoding.map(|encoding| encoding.to_str().unwrap_or("?")))
}

/// The beginning of what a server says of a failure.
async fn error_body(response: ResponseHead) -> Bytes {
    let decoder = decoder_of(&response);
    let error_body = response.into_body().collect(MAX_ERROR_BYTES).await.unwrap_or_default();
    let Ok(BodyDecoder::Compressed(mut compressed)) = decoder else { return error_body };
    let mut plain = BytesMut::new();
    let mut input = compressed.input(&error_body);
    while plain.len() < MAX_ERROR_BYTES
        && let Ok(Some(bytes)) = input.next()
    {
        plain.extend_from_slice(bytes);
    }
    plain.freeze()
}

/// Whether a body is an error of DAP2 or DAP4, which says more than the status.
fn is_error_document(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body.get(..1024.min(body.len())).unwrap_or_default()).to_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let is_dap2 = text.strip_prefix("error").is_some_and(|rest| rest.trim_start().starts_with('{'));
    is_dap2 || (text.starts_with('<') && !text.contains("<html") && text.contains("error"))
}

fn refused(status: StatusCode, body: &[u8], target: Option<&RedirectTarget>) -> Error {
    let kind = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ErrorKind::Denied,
        StatusCode::BAD_REQUEST => ErrorKind::Invalid,
        StatusCode::NOT_FOUND | StatusCode::GONE => ErrorKind::NotFound,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::Limit,
        StatusCode::NOT_IMPLEMENTED => ErrorKind::Unsupported,
        _ => ErrorKind::Io { retryable: false },
    };
    let error_body = first_words(&String::from_utf8_lossy(body));
    let error_body = if error_body.is_empty() { error_body } else { format!(": {error_body}") };
    let answered = match target {
        Some(target) => target.denied(status).unwrap_or_else(|| format!("{} answered {status}", target.host)),
        None => format!("server answered {status}"),
    };
    Error::new(kind, format!("{answered}{error_body}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_documents_are_distinguished_from_pages() {
        for body in [
            "Error {\n code = 404; };",
            "\u{feff} ERROR{",
            "<?xml version=\"1.0\"?><Error httpcode=\"404\">",
            "<dap:Error>",
        ] {
            assert!(is_error_document(body.as_bytes()), "{body}");
        }
        for body in
            ["", "<html><title>Error 404</title>", "<!DOCTYPE html><html>error", "Errors", "not found"]
        {
            assert!(!is_error_document(body.as_bytes()), "{body}");
        }
    }

    #[test]
    fn refusals_say_what_the_page_says() {
        let error = refused(
            StatusCode::FORBIDDEN,
            b"<html><title>Request too big</title><p>600 MB > 500 MB</html>",
            None,
        );
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(error.to_string().contains("403 Forbidden: Request too big 600 MB > 500 MB"), "{error}");
    }
}
