//! Interpretation of answers from S3-compatible servers.
use bytes::Bytes;
use object_store::client::{HttpError, HttpResponse};
use reqwest::StatusCode;
use reqwest::header::HeaderMap;

/// How much of an answer is parsed.
const LOOKED_INTO: usize = 1 << 20;

/// An answer, and the error in its body.
pub(super) struct ServerVerdict {
    pub(super) response: HttpResponse,
    body: Bytes,
}

impl ServerVerdict {
    pub(super) async fn of(response: HttpResponse) -> Result<Self, HttpError> {
        let says_why = matches!(
            response.status(),
            StatusCode::BAD_REQUEST
                | StatusCode::FORBIDDEN
                | StatusCode::NOT_FOUND
                | StatusCode::MOVED_PERMANENTLY
        );
        if !says_why {
            return Ok(Self { response, body: Bytes::new() });
        }
        let (parts, body) = response.into_parts();
        let body = body.bytes().await?;
        Ok(Self { response: HttpResponse::from_parts(parts, body.clone().into()), body })
    }

    pub(super) fn is_denied(&self) -> bool {
        matches!(self.response.status(), StatusCode::FORBIDDEN | StatusCode::UNAUTHORIZED)
    }

    pub(super) fn has_no_bucket(&self) -> bool {
        self.response.status() == StatusCode::NOT_FOUND && self.text().contains("<Code>NoSuchBucket</Code>")
    }

    /// Whether the credentials have expired.
    pub(super) fn is_over(&self) -> bool {
        let says = |code: &str| self.text().contains(&format!("<Code>{code}</Code>"));
        ["ExpiredToken", "ExpiredTokenException", "TokenRefreshRequired"].into_iter().any(says)
    }

    /// The region of the bucket, if the answer says that the request went to another one.
    pub(super) fn region(&self) -> Option<String> {
        let status = self.response.status();
        let may_say =
            status.is_redirection() || matches!(status, StatusCode::BAD_REQUEST | StatusCode::FORBIDDEN);
        let headers: &HeaderMap = self.response.headers();
        let header = headers.get("x-amz-bucket-region").and_then(|value| value.to_str().ok());
        let text = self.text();
        let reported = || Some(text.split_once("<Region>")?.1.split_once("</Region>")?.0);
        let region = header.or_else(reported).filter(|_| may_say)?;
        let is_region = |text: &&str| {
            !text.is_empty()
                && text.len() < 40
                && text.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
        };
        Some(region).filter(is_region).map(str::to_owned)
    }

    fn text(&self) -> std::borrow::Cow<'_, str> {
        String::from_utf8_lossy(self.body.get(..LOOKED_INTO.min(self.body.len())).unwrap_or_default())
    }
}
