//! Signing requests when they are sent: with valid credentials, for the region of the bucket.
mod server_verdict;

use super::bucket::BucketIdentity;
use super::clock::sign_for;
use super::context::CloudContext;
use super::fetch::{CredentialCache, FixedConnector, TokenClient};
use super::known::{BucketFacts, CredentialRegistry};
use async_trait::async_trait;
use bytes::Bytes;
use futures_util::TryStreamExt;
use ncirrus_http::{RequestFailure, StoreOperation, clock_difference_text, once};
use ncirrus_layout::Error;
use object_store::CredentialProvider;
use object_store::aws::{AwsAuthorizer, AwsCredential};
use object_store::client::{
    HttpClient, HttpConnector, HttpError, HttpErrorKind, HttpRequest, HttpRequestBody, HttpResponse,
    HttpService,
};
use reqwest::header::{IF_MATCH, IF_NONE_MATCH};
use reqwest::{Method, StatusCode};
use server_verdict::ServerVerdict;
use std::fmt;
use std::sync::Arc;

/// Signs the requests for a bucket. The region that the bucket reports, and whether it is public, is remembered.
#[derive(Clone)]
pub(crate) struct BucketSigner(Arc<SigningService>);

struct SigningService {
    inner: HttpClient,
    cache: Arc<CredentialCache>,
    region: String,
    learnt: Arc<BucketFacts>,
    known: CredentialRegistry,
    address: String,
    /// The note for a denied read that succeeds without a signature.
    who: String,
    unsigned_retry: bool,
    sign_payload: bool,
    requester_pays: bool,
    /// Whether the region is part of the server's name.
    is_own_server: bool,
    /// That the bucket is not an alias either, if it could be one.
    no_alias: Option<String>,
}

/// How often a denied read is retried unsigned in vain.
const DENIALS: u32 = 8;

impl BucketSigner {
    pub(crate) fn new(
        identity: &BucketIdentity,
        address: &str,
        inner: HttpClient,
        context: &CloudContext,
        sign_payload: bool,
    ) -> Self {
        let region = identity.region.as_ref().map(|region| region.value.clone()).unwrap_or_default();
        let known = context.identities.clone();
        let environment = context.network.config.environment().clone();
        let token_client = TokenClient {
            client: inner.clone(),
            environment,
            codes: context.codes.clone(),
            region: region.clone(),
        };
        let cache =
            known.cache(&identity.source, &region, || CredentialCache::new(&identity.source, token_client));
        Self(Arc::new(SigningService {
            inner,
            cache,
            learnt: known.bucket(address),
            is_own_server: identity.endpoint.value == format!("https://s3.{region}.amazonaws.com"),
            region,
            known,
            address: address.to_owned(),
            who: identity.credentials.value.clone(),
            unsigned_retry: identity.unsigned_retry,
            sign_payload,
            requester_pays: identity.requester_pays.as_ref().is_some_and(|pays| pays.value),
            no_alias: address.starts_with("s3://").then(|| context.network.config.no_alias()),
        }))
    }
}

impl HttpConnector for BucketSigner {
    fn connect(&self, options: &object_store::ClientOptions) -> object_store::Result<HttpClient> {
        FixedConnector(HttpClient::new(self.clone())).connect(options)
    }
}

#[async_trait]
impl CredentialProvider for BucketSigner {
    type Credential = AwsCredential;

    async fn get_credential(&self) -> object_store::Result<Arc<AwsCredential>> {
        let failed = |source: Box<dyn std::error::Error + Send + Sync>| object_store::Error::Generic {
            store: "S3",
            source,
        };
        let found =
            self.0.cache.open().await.map_err(|error| failed(Box::new(RequestFailure::lasting(error))))?;
        found.ok_or_else(|| failed("no credentials were found".into()))
    }
}

#[async_trait]
impl HttpService for BucketSigner {
    async fn call(&self, request: HttpRequest) -> Result<HttpResponse, HttpError> {
        self.0.call(whole(request).await?).await
    }
}

impl SigningService {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let is_conditional = depends(&mut request);
        let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
        // Another store of the session may have learnt it; chosen credentials are used all the same.
        if is_read && self.unsigned_retry && self.learnt.facts().is_public {
            return self.send(&request, None).await;
        }
        let region = self.region();
        let mut credential = self.cache.open().await.map_err(refused)?;
        let mut answer = self.ask(&request, credential.as_deref()).await?;
        // Taken in any case: it belongs to this answer.
        let is_over = StoreOperation::take_expired()
            | answer.is_over()
            | may_hide_expiry(&request, credential.as_deref(), &answer);
        if is_over && let Some(renewed) = self.renewed(credential.as_deref()).await? {
            credential = Some(renewed);
            answer = self.ask(&request, credential.as_deref()).await?;
        }
        if self.learns_region(&answer, &region) {
            answer = self.ask(&request, credential.as_deref()).await?;
        }
        if is_conditional && answer.response.status() == StatusCode::NOT_IMPLEMENTED {
            [IF_MATCH, IF_NONE_MATCH].iter().for_each(|name| _ = request.headers_mut().remove(name));
            answer = self.ask(&request, credential.as_deref()).await?;
        }
        if let Some(no_alias) = self.no_alias.as_ref().filter(|_| answer.has_no_bucket()) {
            self.known.note(format!("{} is not a bucket, and {no_alias}", self.address));
        }
        let may_be_public = is_read && credential.is_some() && self.unsigned_retry && answer.is_denied();
        if may_be_public
            && self.learnt.facts().denials < DENIALS
            && let Some(unsigned) = self.unsigned(&request).await
        {
            return Ok(unsigned);
        }
        Ok(answer.response)
    }

    /// Sends a request; retried with the server's clock if the time of its signature is rejected.
    async fn ask(
        &self,
        request: &HttpRequest,
        credential: Option<&AwsCredential>,
    ) -> Result<ServerVerdict, HttpError> {
        match self.send(request, credential).await {
            Err(error) if self.learns_clock(&error) => {
                ServerVerdict::of(self.send(request, credential).await?).await
            }
            answer => ServerVerdict::of(answer?).await,
        }
    }

    /// Credentials other than those that a server reported as expired, if there are any.
    async fn renewed(&self, old: Option<&AwsCredential>) -> Result<Option<Arc<AwsCredential>>, HttpError> {
        let Some(old) = old.filter(|_| self.cache.can_renew()) else { return Ok(None) };
        self.cache.refused(old).await;
        let new = self.cache.open().await.map_err(refused)?;
        Ok(new.filter(|new| **new != *old))
    }

    /// Whether a request was rejected for the time of its signature.
    fn learns_clock(&self, error: &HttpError) -> bool {
        let Some(ahead) = RequestFailure::below(error).and_then(|failure| failure.clock) else {
            return false;
        };
        self.learnt.change(|facts| facts.clock = ahead);
        let reported = clock_difference_text(ahead);
        self.known.note(format!("{}: {reported}: requests are signed by the server's", self.address));
        true
    }

    /// Retries a read without a signature. If the server fails then, the first answer counts: access is denied.
    async fn unsigned(&self, request: &HttpRequest) -> Option<HttpResponse> {
        let answer = once(self.send(request, None)).await.ok()?;
        if answer.status() == StatusCode::FORBIDDEN || answer.status() == StatusCode::UNAUTHORIZED {
            self.learnt.change(|facts| facts.denials += 1);
            return None;
        }
        self.learnt.change(|facts| facts.is_public = true);
        self.known.note(format!(
            "{} is read anonymously: it is public, and access is denied to {}",
            self.address, self.who
        ));
        Some(answer)
    }

    /// Whether the bucket reported another region than the one used for the request; another task may have learnt it
    /// meanwhile.
    fn learns_region(&self, answer: &ServerVerdict, requested: &str) -> bool {
        let Some(region) = answer.region().filter(|region| region != requested) else { return false };
        self.learnt.change(|facts| facts.region = Some(region));
        true
    }

    fn region(&self) -> String {
        self.learnt.facts().region.unwrap_or_else(|| self.region.clone())
    }

    async fn send(
        &self,
        request: &HttpRequest,
        credential: Option<&AwsCredential>,
    ) -> Result<HttpResponse, HttpError> {
        let mut request = request.clone();
        let region = self.region();
        if self.is_own_server && region != self.region {
            move_to(&mut request, &self.region, &region)?;
        }
        if let Some(credential) = credential {
            let authorizer = AwsAuthorizer::new(credential, "s3", &region);
            let authorizer = authorizer.with_sign_payload(self.sign_payload);
            let signed = authorizer.with_request_payer(self.requester_pays).try_authorize(&mut request, None);
            signed.map_err(|error| HttpError::new(HttpErrorKind::Request, error))?;
            sign_for(&mut request, credential, (&region, "s3"), self.learnt.facts().clock);
        } else if self.requester_pays {
            let value = object_store::HeaderValue::from_static("requester");
            request.headers_mut().insert("x-amz-request-payer", value);
        }
        self.inner.execute(request).await
    }
}

/// Whether a request completes a conditional multipart upload; the condition is then added to it.
fn depends(request: &mut HttpRequest) -> bool {
    let is_end = *request.method() == Method::POST
        && request
            .uri()
            .query()
            .is_some_and(|query| query.split('&').any(|pair| pair.starts_with("uploadId=")));
    let Some((name, value)) = StoreOperation::condition().filter(|_| is_end) else { return false };
    request.headers_mut().insert(name, value);
    true
}

/// Whether a session token may have expired: answers to HEAD do not say why.
fn may_hide_expiry(
    request: &HttpRequest,
    credential: Option<&AwsCredential>,
    answer: &ServerVerdict,
) -> bool {
    *request.method() == Method::HEAD
        && answer.response.status() == StatusCode::BAD_REQUEST
        && credential.is_some_and(|credential| credential.token.is_some())
}

/// Amazon's server of another region.
fn move_to(request: &mut HttpRequest, from: &str, to: &str) -> Result<(), HttpError> {
    let moved =
        request.uri().to_string().replacen(&format!("s3.{from}.amazonaws"), &format!("s3.{to}.amazonaws"), 1);
    *request.uri_mut() = moved.parse().map_err(|error| HttpError::new(HttpErrorKind::Request, error))?;
    Ok(())
}

/// The body in one piece, so that it can be signed and sent again.
async fn whole(request: HttpRequest) -> Result<HttpRequest, HttpError> {
    if request.body().as_bytes().is_some() {
        return Ok(request);
    }
    let (parts, body) = request.into_parts();
    let pieces: Vec<Bytes> =
        object_store::client::HttpResponseBody::new(body).bytes_stream().try_collect().await?;
    let body = match <[Bytes; 1]>::try_from(pieces) {
        Ok([one]) => one,
        Err(pieces) => pieces.concat().into(),
    };
    Ok(HttpRequest::from_parts(parts, HttpRequestBody::from(body)))
}

fn refused(error: Error) -> HttpError {
    HttpError::new(HttpErrorKind::Unknown, RequestFailure::lasting(error))
}

/// Without credentials.
impl fmt::Debug for BucketSigner {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Signer({})", self.0.address)
    }
}
