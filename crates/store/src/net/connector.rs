//! The clients of object stores send their requests through the service of all stores.
use super::failure::{Failure, Outlook};
use super::operation::again;
use super::service::{Answered, Service, TOLD};
use super::watch::Watched;
use async_trait::async_trait;
use object_store::ClientOptions;
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpResponseBody, HttpService,
};

/// Gives the providers' clients the connections of all stores.
#[derive(Debug)]
pub(crate) struct Connector(pub(crate) Service);

impl HttpConnector for Connector {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.0.clone()))
    }
}

#[async_trait]
impl HttpService for Service {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        loop {
            let answer = self.send(|| copy(&request)).await.map_err(error)?;
            match with_reason(answer).await {
                Ok(answer) => return Ok(answer.map(HttpResponseBody::new)),
                Err(failure) => again(failure).await.map_err(error)?,
            }
        }
    }
}

/// An answer, whole where it tells of an error: whoever reads that above does not ask again when it breaks off.
async fn with_reason(answer: Answered) -> Result<Answered, Failure> {
    if !answer.status().is_client_error() {
        return Ok(answer);
    }
    let (parts, mut body) = answer.into_parts();
    let told = body.collect(TOLD).await?;
    Ok(http::Response::from_parts(parts, Watched::ready(told)))
}

/// The request once more.
fn copy(request: &HttpRequest) -> Result<reqwest::Request, Failure> {
    let failed = |_| Failure::lasting(ncirrus_layout::Error::invalid("an address that is none"));
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

/// A failure as the clients of object stores pass it on: none of these is tried again above.
pub(super) fn error(failure: Failure) -> HttpError {
    let kind = match failure.outlook {
        Outlook::Final => HttpErrorKind::Unknown,
        Outlook::Passing | Outlook::Unreached => HttpErrorKind::Interrupted,
    };
    HttpError::new(kind, failure)
}
