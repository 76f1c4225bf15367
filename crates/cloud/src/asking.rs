//! Requests to S3-compatible stores that the provider's client does not support.
use crate::fault::CloudFault;
use bytes::Bytes;
use ncirrus_http::RequestFailure;
use ncirrus_layout::{Error, ErrorKind};
use ncirrus_store::query_encoded;
use object_store::HeaderValue;
use object_store::client::{HttpClient, HttpError, HttpRequest, HttpRequestBody};
use reqwest::header::{CONTENT_TYPE, HeaderName};
use reqwest::{Method, StatusCode};

/// Sends requests that the provider's client does not support.
pub(crate) struct BucketClient {
    /// The address of the bucket.
    bucket: String,
    /// Signs its requests.
    client: HttpClient,
}

impl BucketClient {
    pub(crate) fn new(bucket: String, client: HttpClient) -> Self {
        Self { bucket, client }
    }

    /// The answer to a GET request about the whole bucket.
    pub(crate) async fn ask(&self, query: &[(&str, &str)]) -> Result<(StatusCode, String), CloudFault> {
        self.send(self.request(query)?).await
    }

    /// The answer to a POST request about the whole bucket, with a body.
    pub(crate) async fn order(
        &self,
        query: &[(&str, &str)],
        body: String,
        digests: [(HeaderName, String); 2],
    ) -> Result<(StatusCode, String), CloudFault> {
        let mut request = self.request(query)?;
        *request.method_mut() = Method::POST;
        *request.body_mut() = HttpRequestBody::from(Bytes::from(body));
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/xml"));
        for (name, digest) in digests {
            let digest = HeaderValue::from_str(&digest).map_err(|_| failed("a digest that is none"))?;
            request.headers_mut().insert(name, digest);
        }
        self.send(request).await
    }

    fn request(&self, query: &[(&str, &str)]) -> Result<HttpRequest, CloudFault> {
        let query: Vec<String> =
            query.iter().map(|(name, value)| format!("{name}={}", query_encoded(value))).collect();
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        let url = format!("{}?{}", self.bucket, query.join("&"));
        *request.uri_mut() = url.parse().map_err(|_| failed("an invalid address"))?;
        Ok(request)
    }

    /// Truncated answers are requested again.
    async fn send(&self, request: HttpRequest) -> Result<(StatusCode, String), CloudFault> {
        loop {
            let answer = self.client.execute(request.clone()).await;
            let answer = answer.map_err(|error| fault(&error, "the server cannot be reached"))?;
            let status = answer.status();
            let error = match answer.into_body().bytes().await {
                Ok(body) => return Ok((status, String::from_utf8_lossy(&body).into_owned())),
                Err(error) => error,
            };
            let Some(failure) = RequestFailure::below(&error) else {
                return Err(failed("the answer was cut"));
            };
            let again = ncirrus_http::again(failure.clone()).await;
            again.map_err(|failure| CloudFault::Failed(failure.error))?;
        }
    }
}

fn fault(error: &HttpError, otherwise: &str) -> CloudFault {
    match RequestFailure::below(error) {
        Some(failure) => CloudFault::Failed(failure.error.clone()),
        None => failed(otherwise),
    }
}

pub(crate) fn failed(what: impl Into<String>) -> CloudFault {
    CloudFault::Other(Error::new(ErrorKind::Io { retryable: false }, what))
}
