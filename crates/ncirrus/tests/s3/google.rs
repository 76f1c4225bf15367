//! Google's XML API in front of a server of Amazon's protocol, in process.
//!
//! What it covers: the requests of the client that is used, with its bearer token, its way to write keys, generations
//! of objects and conditions on them, as <https://cloud.google.com/storage/docs/xml-api/overview> describes them.
//! Listings, multipart uploads and errors have Amazon's form there, and are produced by the server behind it.
//!
//! What it does not cover: it is neither Google's service nor an emulator that others test. It was written from the
//! documentation, so it shows that the library conforms to that, and says nothing about limits, copies, old
//! generations, or how tokens are obtained.
use super::places::Place;
use super::server::{BUCKET, Manners, Server, refusal};
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, HeaderName, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response};
use hyper_util::rt::TokioIo;
use ncirrus::store::PutCondition;
use ncirrus::{CreateOptions, Dataset, ErrorKind, Kind, OpenOptions};
use ncirrus_tools::{removal, remove};
use s3s::Body;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::Arc;
use tokio::sync::RwLock;

/// The token that grants access.
pub(crate) const TOKEN: &str = "ya29.a-token-that-is-no-secret";
const GENERATION: HeaderName = HeaderName::from_static("x-goog-generation");
const IF_GENERATION: HeaderName = HeaderName::from_static("x-goog-if-generation-match");

struct Front {
    server: Server,
    generations: RwLock<Generations>,
}

/// The states of objects, by the paths of their addresses.
#[derive(Default)]
struct Generations {
    last: u64,
    of: BTreeMap<String, u64>,
}

/// Starts it in front of a server that accepts all requests; returns its address. It runs until the process ends.
pub(crate) fn start() -> String {
    let server = Server::with(Manners { no_conditions: true, ..Manners::default() });
    let front = Arc::new(Front { server, generations: RwLock::default() });
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
        runtime.unwrap().block_on(serve(listener, front));
    });
    address
}

async fn serve(listener: std::net::TcpListener, front: Arc<Front>) {
    let listener = tokio::net::TcpListener::from_std(listener).unwrap();
    while let Ok((socket, _)) = listener.accept().await {
        let front = Arc::clone(&front);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let front = Arc::clone(&front);
                async move { Ok::<_, Infallible>(front.answer(request).await) }
            });
            _ = http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await;
        });
    }
}

impl Front {
    async fn answer(&self, mut request: Request<Incoming>) -> Response<Body> {
        let known = format!("Bearer {TOKEN}");
        if request.headers().get(AUTHORIZATION).is_none_or(|given| given.as_bytes() != known.as_bytes()) {
            return refusal(401, "AuthenticationRequired");
        }
        let path = plain(request.uri().path());
        let query = request.uri().query().unwrap_or_default().to_owned();
        let uri = if query.is_empty() { path.clone() } else { format!("{path}?{query}") };
        *request.uri_mut() = uri.parse().unwrap();
        let is_of_upload = query.contains("uploadId=");
        match *request.method() {
            Method::PUT if !is_of_upload => self.change(request, path, true).await,
            Method::POST if is_of_upload => self.change(request, path, true).await,
            Method::DELETE if !is_of_upload => self.change(request, path, false).await,
            _ => {
                let generations = self.generations.read().await;
                marked(self.server.call(request).await, generations.of.get(&path))
            }
        }
    }

    /// Creates or removes an object, if it has the generation that the request requires; 0 means absent.
    async fn change(&self, request: Request<Incoming>, path: String, is_made: bool) -> Response<Body> {
        let mut generations = self.generations.write().await;
        let now = generations.of.get(&path).copied().unwrap_or(0);
        let wanted = request.headers().get(IF_GENERATION).map(|wanted| wanted.to_str().unwrap().to_owned());
        if wanted.is_some_and(|wanted| wanted != now.to_string()) {
            return refusal(412, "PreconditionFailed");
        }
        let answer = self.server.call(request).await;
        if answer.status().is_success() {
            generations.last += 1;
            let last = generations.last;
            if is_made {
                _ = generations.of.insert(path.clone(), last)
            } else {
                _ = generations.of.remove(&path)
            }
        }
        marked(answer, generations.of.get(&path))
    }
}

fn marked(mut answer: Response<Body>, generation: Option<&u64>) -> Response<Body> {
    if let Some(generation) = generation {
        answer.headers_mut().insert(GENERATION, HeaderValue::from(*generation));
    }
    answer
}

/// A path without the escapes that Amazon's clients do not write.
fn plain(path: &str) -> String {
    let escapes = [("%2F", "/"), ("%2E", "."), ("%2D", "-"), ("%5F", "_"), ("%7E", "~")];
    escapes.iter().fold(path.to_owned(), |path, (escape, plain)| path.replace(escape, plain))
}

fn create(url: &str, place: &Place) -> ncirrus::Result<()> {
    let options = CreateOptions::new().kind(Kind::NcZarr);
    Dataset::create_with(url, &options, &place.session())?.close()
}

#[test]
fn datasets_are_made_once_and_removed() {
    let place = Place::google();
    let (url, session) = (place.url("d/x"), place.session());
    create(&url, &place).unwrap();
    assert_eq!(create(&url, &place).unwrap_err().kind(), ErrorKind::Conflict);
    create(&place.url("d/xy"), &place).unwrap();
    remove(&url, removal(&url, &session).unwrap(), &session).unwrap();
    let opened = Dataset::open_with(&url, &OpenOptions::default(), &session);
    assert_eq!(opened.unwrap_err().kind(), ErrorKind::NotFound);
    Dataset::open_with(&place.url("d/xy"), &OpenOptions::default(), &session).unwrap();
}

#[test]
fn an_object_is_replaced_in_the_generation_that_was_seen() {
    let place = Place::google();
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let (url, session) = (place.url("object"), place.session());
    let opened = runtime.block_on(ncirrus::store::open(&url, session.store_context())).unwrap();
    let put = |body: &'static [u8], when| {
        runtime.block_on(opened.store.put(&opened.root, bytes::Bytes::from_static(body), when))
    };
    let first = put(b"same", PutCondition::Absent).unwrap();
    assert_eq!(put(b"same", PutCondition::Absent).unwrap_err().kind(), ErrorKind::Conflict);
    let second = put(b"same", PutCondition::Matches(first.clone())).unwrap();
    assert_ne!(first, second, "of the same bytes, but another generation");
    assert_eq!(put(b"other", PutCondition::Matches(first)).unwrap_err().kind(), ErrorKind::Conflict);
    put(b"other", PutCondition::Matches(second)).unwrap();
}

#[test]
fn who_has_no_token_is_denied() {
    let mut place = Place::google();
    place.settings.insert("google_bearer_token".to_owned(), "another".to_owned());
    let error = create(&place.url("x"), &place).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Denied, "{error}");
    assert!(!format!("{error:?}").contains("another"), "{error:?}");
    assert_eq!(place.prefix, format!("gs://{BUCKET}/"));
}
