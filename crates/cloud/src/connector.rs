//! Sends the requests of the object stores' clients through the service of all stores.
use async_trait::async_trait;
use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};
use ncirrus_http::{MonitoredBody, RequestFailure, RequestService, ResponseHead, RetryOutlook, again};
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};
use std::pin::Pin;
use std::task::{Context, Poll};

/// Maximum number of bytes read from an error answer.
const MAX_ERROR_BYTES: usize = 64 << 10;

/// Gives the providers' clients the connections of all stores.
#[derive(Debug)]
pub(crate) struct PooledConnector(pub(crate) RequestService);

impl HttpConnector for PooledConnector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(PooledService(self.0.clone())))
    }
}

/// The service of all stores, as an HTTP client for the providers' clients.
#[derive(Debug, Clone)]
pub(crate) struct PooledService(pub(crate) RequestService);

#[async_trait]
impl HttpService for PooledService {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        loop {
            let answer = self.0.send(|| copy(&request)).await.map_err(error)?;
            match with_reason(answer).await {
                Ok(answer) => return Ok(answer.map(|body| HttpResponseBody::new(PooledBody(body)))),
                Err(failure) => again(failure).await.map_err(error)?,
            }
        }
    }
}

/// An answer; error answers are read completely, because the callers do not retry when the body is interrupted.
async fn with_reason(answer: ResponseHead) -> Result<ResponseHead, RequestFailure> {
    if !answer.status().is_client_error() {
        return Ok(answer);
    }
    let (parts, mut body) = answer.into_parts();
    let reported = body.collect(MAX_ERROR_BYTES).await?;
    Ok(http::Response::from_parts(parts, MonitoredBody::ready(reported)))
}

/// A copy of the request.
fn copy(request: &HttpRequest) -> Result<reqwest::Request, RequestFailure> {
    let failed = |_| RequestFailure::lasting(ncirrus_layout::Error::invalid("an invalid address"));
    let url = request.uri().to_string().parse().map_err(failed)?;
    let mut copy = reqwest::Request::new(request.method().clone(), url);
    copy.headers_mut().clone_from(request.headers());
    *copy.body_mut() = Some(body(request.body()));
    Ok(copy)
}

fn body(body: &HttpRequestBody) -> reqwest::Body {
    match body.as_bytes() {
        Some(bytes) => bytes.clone().into(),
        None => reqwest::Body::wrap(body.clone()),
    }
}

/// A failure as an error of the object stores' clients: none of these is retried above.
fn error(failure: RequestFailure) -> HttpError {
    let kind = match failure.outlook {
        RetryOutlook::Final => HttpErrorKind::Unknown,
        RetryOutlook::Passing | RetryOutlook::Unreached => HttpErrorKind::Interrupted,
    };
    HttpError::new(kind, failure)
}

/// The body of an answer, with errors of the providers' clients.
struct PooledBody(MonitoredBody);

impl Body for PooledBody {
    type Data = Bytes;
    type Error = HttpError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, HttpError>>> {
        Pin::new(&mut self.0).poll_frame(context).map_err(error)
    }

    fn size_hint(&self) -> SizeHint {
        self.0.size_hint()
    }
}
