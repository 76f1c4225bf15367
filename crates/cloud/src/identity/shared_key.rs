//! What Azure's client does not support: the condition on completing a multipart upload, and signatures with the
//! server's clock. Both are added below the client, so requests signed with an account key are signed again.
use super::known::{BucketFacts, CredentialRegistry};
use async_trait::async_trait;
use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use ncirrus_http::{RequestFailure, StoreOperation, clock_difference_text};
use object_store::client::{HttpClient, HttpConnector, HttpError, HttpRequest, HttpResponse, HttpService};
use object_store::{ClientOptions, HeaderValue};
use reqwest::header::{AUTHORIZATION, DATE, HeaderMap};
use reqwest::{Method, Url};
use ring::hmac;
use std::fmt;
use std::sync::Arc;
use std::time::{Duration, SystemTime};

/// Sends the requests of Azure's client, changed and signed again where needed.
#[derive(Clone)]
pub(crate) struct SharedKey(Arc<SharedKeySigner>);

struct SharedKeySigner {
    inner: HttpClient,
    /// The account key, if requests are signed with it.
    key: Option<hmac::Key>,
    learnt: Arc<BucketFacts>,
    known: CredentialRegistry,
    address: String,
}

impl SharedKey {
    /// `key` is as in the configuration.
    pub(crate) fn new(
        inner: HttpClient,
        key: Option<&str>,
        known: CredentialRegistry,
        address: &str,
    ) -> Self {
        let key = key.and_then(|key| BASE64_STANDARD.decode(key).ok());
        let key = key.map(|key| hmac::Key::new(hmac::HMAC_SHA256, &key));
        let (learnt, address) = (known.bucket(address), address.to_owned());
        Self(Arc::new(SharedKeySigner { inner, key, learnt, known, address }))
    }
}

impl HttpConnector for SharedKey {
    fn connect(&self, _: &ClientOptions) -> object_store::Result<HttpClient> {
        Ok(HttpClient::new(self.clone()))
    }
}

#[async_trait]
impl HttpService for SharedKey {
    async fn call(&self, mut request: HttpRequest) -> Result<HttpResponse, HttpError> {
        let signs = &self.0;
        if let Some((name, value)) = StoreOperation::condition().filter(|_| ends_upload(&request)) {
            request.headers_mut().insert(name, value);
            signs.sign(&mut request);
        }
        if signs.learnt.facts().clock != 0 {
            signs.sign(&mut request);
        }
        match signs.inner.execute(request.clone()).await {
            Err(error) if signs.learns_clock(&error) && signs.sign(&mut request) => {
                signs.inner.execute(request).await
            }
            answer => answer,
        }
    }
}

impl SharedKeySigner {
    /// Signs a request again, with the time of the server's clock; false if it is not signed with a known key.
    fn sign(&self, request: &mut HttpRequest) -> bool {
        let time = time(SystemTime::now(), self.learnt.facts().clock);
        let signed = time.zip(self.key.as_ref()).and_then(|(time, key)| sign(request, key, time));
        signed.is_some()
    }

    /// Whether a request was rejected for the time of its signature.
    fn learns_clock(&self, error: &HttpError) -> bool {
        let Some(ahead) = RequestFailure::below(error).and_then(|failure| failure.clock) else {
            return false;
        };
        if self.key.is_none() {
            return false;
        }
        self.learnt.change(|facts| facts.clock = ahead);
        let reported = clock_difference_text(ahead);
        self.known.note(format!("{}: {reported}: requests are signed by the server's", self.address));
        true
    }
}

/// Whether a request completes a multipart upload.
fn ends_upload(request: &HttpRequest) -> bool {
    let query = request.uri().query().unwrap_or_default();
    *request.method() == Method::PUT && query.split('&').any(|pair| pair == "comp=blocklist")
}

fn time(now: SystemTime, ahead: i64) -> Option<SystemTime> {
    let seconds = Duration::from_secs(ahead.unsigned_abs());
    if ahead < 0 { now.checked_sub(seconds) } else { now.checked_add(seconds) }
}

/// Replaces time and signature of a request that is signed with an account key.
fn sign(request: &mut HttpRequest, key: &hmac::Key, time: SystemTime) -> Option<()> {
    let before = request.headers().get(AUTHORIZATION)?.to_str().ok()?;
    let account = before.strip_prefix("SharedKey ")?.split_once(':')?.0.to_owned();
    let url: Url = request.uri().to_string().parse().ok()?;
    let date = HeaderValue::from_str(&httpdate::fmt_http_date(time)).ok()?;
    request.headers_mut().insert(DATE, date);
    let text = to_sign(request.method(), request.headers(), &url, &account);
    let signature = BASE64_STANDARD.encode(hmac::sign(key, text.as_bytes()));
    let authorization = HeaderValue::from_str(&format!("SharedKey {account}:{signature}")).ok()?;
    request.headers_mut().insert(AUTHORIZATION, authorization);
    Some(())
}

/// Headers whose values are signed, in this order.
const SIGNED: [&str; 11] = [
    "content-encoding",
    "content-language",
    "content-length",
    "content-md5",
    "content-type",
    "date",
    "if-modified-since",
    "if-match",
    "if-none-match",
    "if-unmodified-since",
    "range",
];

/// The string to sign of a request (Shared Key authorization, version 2015-02-21 and later).
fn to_sign(method: &Method, headers: &HeaderMap, url: &Url, account: &str) -> String {
    let value = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let values = SIGNED.map(|name| match (name, value(name)) {
        ("content-length", "0") => "",
        (_, value) => value,
    });
    let mut own: Vec<String> = headers
        .keys()
        .filter(|name| name.as_str().starts_with("x-ms-"))
        .map(|name| format!("{name}:{}\n", value(name.as_str())))
        .collect();
    own.sort_unstable();
    let mut pairs: Vec<(String, String)> =
        url.query_pairs().map(|(name, value)| (name.to_lowercase(), value.into_owned())).collect();
    pairs.sort_unstable();
    let query: String = pairs.iter().map(|(name, value)| format!("\n{name}:{value}")).collect();
    format!("{method}\n{}\n{}/{account}{}{query}", values.join("\n"), own.concat(), url.path())
}

/// Without the key.
impl fmt::Debug for SharedKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SharedKey({})", self.0.address)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use object_store::azure::{AzureAccessKey, AzureAuthorizer, AzureCredential};
    use object_store::client::HttpRequestBody;

    const KEY: &str = "aHVudGVyMg==";

    fn request(method: &str, address: &str) -> HttpRequest {
        let mut request = HttpRequest::new(HttpRequestBody::empty());
        *request.method_mut() = method.parse().unwrap();
        *request.uri_mut() = address.parse().unwrap();
        for (name, value) in [
            ("x-ms-blob-type", "BlockBlob"),
            ("content-length", "7"),
            ("content-type", "application/xml"),
            ("if-none-match", "*"),
            ("range", "bytes=0-1"),
        ] {
            request.headers_mut().insert(name, HeaderValue::from_static(value));
        }
        request
    }

    #[test]
    fn signatures_are_those_of_the_client() {
        let credential = AzureCredential::AccessKey(AzureAccessKey::try_new(KEY).unwrap());
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"hunter2");
        for (method, address) in [
            ("GET", "https://account.blob.core.windows.net/box/a%20b/%C2%B5"),
            ("PUT", "http://127.0.0.1:1/account/box/a?comp=blocklist"),
            ("GET", "https://account.blob.core.windows.net/box?restype=container&prefix=a%2Fb&comp=list"),
        ] {
            let mut request = request(method, address);
            AzureAuthorizer::new(&credential, "account").try_authorize(&mut request).unwrap();
            let theirs = request.headers().clone();
            let date = httpdate::parse_http_date(theirs[DATE].to_str().unwrap()).unwrap();
            sign(&mut request, &key, date).unwrap();
            assert_eq!(*request.headers(), theirs, "{address}");
        }
    }

    #[test]
    fn requests_that_bear_no_signature_are_left_alone() {
        let key = hmac::Key::new(hmac::HMAC_SHA256, b"hunter2");
        let mut request = request("GET", "https://account.blob.core.windows.net/box/a?sig=x");
        request.headers_mut().insert(AUTHORIZATION, HeaderValue::from_static("Bearer token"));
        let before = request.headers().clone();
        assert_eq!(sign(&mut request, &key, SystemTime::now()), None);
        assert_eq!(*request.headers(), before);
    }

    #[test]
    fn ends_of_uploads_are_distinguished_from_parts() {
        assert!(ends_upload(&request("PUT", "http://h/box/a?comp=blocklist")));
        assert!(!ends_upload(&request("PUT", "http://h/box/a?comp=block&blockid=x")));
        assert!(!ends_upload(&request("GET", "http://h/box/a?comp=blocklist")));
    }
}
