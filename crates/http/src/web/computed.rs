//! Answers that a server computes (docs/spec/dap.md 8): they have no ranges and no state, and what the server says of a
//! failure is in the body.
use super::HttpStore;
use super::redirects::RedirectRequest;
use crate::net::{self, MonitoredBody, RequestFailure};
use bytes::{Bytes, BytesMut};
use ncirrus_layout::{Error, ErrorKind, ObjectBytes, ObjectId, Result, Tag, Want};
use ncirrus_store::{key, want};
use reqwest::StatusCode;

/// Concurrent requests to one server.
pub(super) const AT_ONCE: usize = 4;
/// How much is read of what a server says of a failure.
const TOLD: usize = 64 << 10;

impl HttpStore {
    /// The answer; an error document of OPeNDAP is one, whatever its status.
    pub(super) async fn read_computed(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        key::check(object)?;
        let fetched = self.fetch_computed(object).await;
        let body = fetched.map_err(|failure| failure.error.at_object(object).by("http"))?;
        Ok(body.map(|body| {
            let tag = Tag::new(format!("{} computed bytes", body.len()));
            want::blob(&body, want, tag)
        }))
    }

    async fn fetch_computed(&self, object: &ObjectId) -> std::result::Result<Option<Bytes>, RequestFailure> {
        let address = self.address(object);
        loop {
            let asked = RedirectRequest { range: None, state: None };
            let response = self.reach(&address, &asked).await?;
            let status = response.status();
            if status.is_success() {
                match whole(response.into_body(), self.limits.chunk_bytes).await {
                    Ok(body) => return Ok(Some(body)),
                    // An answer that was interrupted begins anew.
                    Err(failure) => net::again(failure).await?,
                }
                continue;
            }
            let mut body = response.into_body();
            let told = body.collect(TOLD).await.unwrap_or_default();
            return match status {
                _ if is_error_document(&told) => Ok(Some(told)),
                StatusCode::NOT_FOUND | StatusCode::GONE if !repeats_query(&told) => Ok(None),
                _ => Err(RequestFailure::lasting(refused(status, &told))),
            };
        }
    }
}

async fn whole(mut body: MonitoredBody, most: u64) -> std::result::Result<Bytes, RequestFailure> {
    let mut bytes = BytesMut::new();
    while let Some(piece) = body.piece().await {
        bytes.extend_from_slice(&piece?);
        if bytes.len() as u64 > most {
            let message = format!("the answer has more bytes than the limit of {most}");
            return Err(RequestFailure::lasting(Error::limit(message)));
        }
    }
    Ok(bytes.freeze())
}

/// Whether what a server says contains an encoded bracket: it does not decode queries.
fn repeats_query(body: &[u8]) -> bool {
    body.windows(3).any(|letters| letters.eq_ignore_ascii_case(b"%5b"))
}

/// Whether a body is an error of DAP2 or DAP4, which says more than the status.
fn is_error_document(body: &[u8]) -> bool {
    let text = String::from_utf8_lossy(body.get(..1024.min(body.len())).unwrap_or_default()).to_lowercase();
    let text = text.trim_start_matches('\u{feff}').trim_start();
    let is_dap2 = text.strip_prefix("error").is_some_and(|rest| rest.trim_start().starts_with('{'));
    is_dap2 || (text.starts_with('<') && !text.contains("<html") && text.contains("error"))
}

fn refused(status: StatusCode, body: &[u8]) -> Error {
    let kind = match status {
        StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN => ErrorKind::Denied,
        StatusCode::BAD_REQUEST => ErrorKind::Invalid,
        StatusCode::NOT_FOUND | StatusCode::GONE => ErrorKind::NotFound,
        StatusCode::PAYLOAD_TOO_LARGE => ErrorKind::Limit,
        StatusCode::NOT_IMPLEMENTED => ErrorKind::Unsupported,
        _ => ErrorKind::Io { retryable: false },
    };
    let told = first_words(&String::from_utf8_lossy(body));
    let told = if told.is_empty() { told } else { format!(": {told}") };
    Error::new(kind, format!("server answered {status}{told}"))
}

/// The first words of a body, without tags.
fn first_words(body: &str) -> String {
    const MOST: usize = 24;
    let mut text = String::new();
    for (at, part) in body.split('<').enumerate() {
        let part = if at == 0 { part } else { part.split_once('>').map_or("", |(_, text)| text) };
        text.push_str(part);
        text.push(' ');
    }
    text.split_whitespace().take(MOST).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn error_documents_are_told_from_pages() {
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
        let error =
            refused(StatusCode::FORBIDDEN, b"<html><title>Request too big</title><p>600 MB > 500 MB</html>");
        assert_eq!(error.kind(), ErrorKind::Denied);
        assert!(error.to_string().contains("403 Forbidden: Request too big 600 MB > 500 MB"), "{error}");
    }
}
