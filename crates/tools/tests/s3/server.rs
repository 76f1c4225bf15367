//! A real server of Amazon's protocol, in process, over a temporary folder. It checks signatures.
use super::guard::Guard;
use hyper::body::Incoming;
use hyper::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderName, IF_MATCH, IF_NONE_MATCH};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use ncirrus::Session;
use ncirrus::store::StoreOptions;
use s3s::Body;
use s3s::auth::SimpleAuth;
use s3s::config::{S3Config, StaticConfigProvider};
use s3s::service::{S3Service, S3ServiceBuilder};
use s3s_fs::FileSystem;
use std::collections::BTreeMap;
use std::convert::Infallible;
use std::sync::{Arc, Mutex};
use tokio::net::TcpListener;

/// The access key of the servers.
pub(crate) const KEY: &str = "AKIDEXAMPLE";
pub(crate) const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";
/// The bucket that exists.
pub(crate) const BUCKET: &str = "bucket";

/// How a server differs from Amazon's.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Manners {
    /// Accepts all requests, and ignores conditions on puts.
    pub(crate) no_conditions: bool,
    /// Listing is not permitted: absent objects are denied.
    pub(crate) no_lists: bool,
    /// Answers everything with that status and code.
    pub(crate) refuses: Option<(u16, &'static str)>,
    /// Refuses puts of objects whose names end so.
    pub(crate) refuses_puts_of: Option<&'static str>,
    /// Answers this many puts, and no more.
    pub(crate) puts: Option<usize>,
    /// Completes multipart uploads only when this many wait for completion.
    pub(crate) ends_together: Option<usize>,
    /// Refuses conditions on completing multipart uploads.
    pub(crate) no_condition_at_ends: bool,
    /// Responds to each request after this delay; requests that are sent together wait together.
    pub(crate) answers_after: Option<std::time::Duration>,
}

/// The server, until the end of the test.
pub(crate) struct Server {
    pub(crate) address: String,
    pub(crate) folder: tempfile::TempDir,
    shared: Arc<Shared>,
}

struct Shared {
    folder: std::path::PathBuf,
    service: S3Service,
    manners: Mutex<Manners>,
    guard: Mutex<Guard>,
    /// Multipart uploads that wait for completion.
    ends: tokio::sync::watch::Sender<usize>,
    /// Codes of the guard's refusals.
    refused: Mutex<Vec<&'static str>>,
    /// Method, path and query of every request.
    seen: Mutex<Vec<String>>,
    /// Serializes changes of objects, since the file system below does not check and put atomically.
    changing: tokio::sync::RwLock<()>,
    /// Requests without an answer, and how many times one arrived when there were none.
    rounds: Mutex<(usize, usize)>,
}

impl Server {
    pub(crate) fn start() -> Self {
        Self::with(Manners::default())
    }

    pub(crate) fn with(manners: Manners) -> Self {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join(BUCKET)).unwrap();
        let mut builder = S3ServiceBuilder::new(FileSystem::new(folder.path()).unwrap());
        let mut config = S3Config::default();
        // The guard has a clock of its own.
        config.presigned_url_max_skew_time_secs = u32::MAX;
        builder.set_config(Arc::new(StaticConfigProvider::new(Arc::new(config))));
        if !manners.no_conditions {
            builder.set_auth(SimpleAuth::from_single(KEY, SECRET));
        }
        let shared = Shared {
            folder: folder.path().to_path_buf(),
            service: builder.build(),
            manners: Mutex::new(manners),
            guard: Mutex::default(),
            ends: tokio::sync::watch::Sender::default(),
            refused: Mutex::default(),
            seen: Mutex::default(),
            changing: tokio::sync::RwLock::default(),
            rounds: Mutex::default(),
        };
        let shared = Arc::new(shared);
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        listener.set_nonblocking(true).unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let serving = Arc::clone(&shared);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build();
            runtime.unwrap().block_on(serve(TcpListener::from_std, listener, serving));
        });
        Self { address, folder, shared }
    }

    /// Answers a request that was received elsewhere, whoever signed it.
    pub(crate) async fn call(&self, request: Request<Incoming>) -> Response<Body> {
        self.shared.allowed(request).await
    }

    /// Method, path and query of the requests since the last call.
    pub(crate) fn requests(&self) -> Vec<String> {
        std::mem::take(&mut self.shared.seen.lock().unwrap())
    }

    /// Rounds of requests since the last call; they can be distinguished if the server responds with a delay.
    pub(crate) fn rounds(&self) -> usize {
        std::mem::take(&mut self.shared.rounds.lock().unwrap().1)
    }

    pub(crate) fn behave(&self, manners: Manners) {
        *self.shared.manners.lock().unwrap() = manners;
    }

    pub(crate) fn guard(&self, guard: Guard) {
        *self.shared.guard.lock().unwrap() = guard;
    }

    /// Codes of the guard's refusals so far.
    pub(crate) fn refused(&self) -> Vec<&'static str> {
        self.shared.refused.lock().unwrap().clone()
    }

    pub(crate) fn url(&self, key: &str) -> String {
        format!("s3://{BUCKET}/{key}")
    }

    pub(crate) fn session(&self) -> Session {
        session(&settings(&self.address, KEY, SECRET))
    }

    /// Keys of all objects.
    pub(crate) fn keys(&self) -> Vec<String> {
        let (root, mut keys) = (self.folder.path().join(BUCKET), Vec::new());
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
                if entry.is_dir() {
                    folders.push(entry);
                } else {
                    keys.push(entry.strip_prefix(&root).unwrap().to_str().unwrap().to_owned());
                }
            }
        }
        keys.sort();
        keys
    }
}

/// Settings of a server on this machine.
pub(crate) fn settings(address: &str, key: &str, secret: &str) -> BTreeMap<String, String> {
    let settings = [
        ("aws_endpoint_url", address),
        ("aws_access_key_id", key),
        ("aws_secret_access_key", secret),
        ("aws_region", "us-east-1"),
    ];
    settings.map(|(name, value)| (name.to_owned(), value.to_owned())).into()
}

pub(crate) fn session(settings: &BTreeMap<String, String>) -> Session {
    let stores = StoreOptions { settings: settings.clone(), retries: 0, ..StoreOptions::default() };
    Session::builder().threads(2).durable(false).stores(stores).build().unwrap()
}

async fn serve(
    of: fn(std::net::TcpListener) -> std::io::Result<TcpListener>,
    listener: std::net::TcpListener,
    shared: Arc<Shared>,
) {
    let listener = of(listener).unwrap();
    while let Ok((socket, _)) = listener.accept().await {
        let shared = Arc::clone(&shared);
        tokio::spawn(async move {
            let answer = service_fn(move |request| {
                let shared = Arc::clone(&shared);
                async move { Ok::<_, Infallible>(shared.answer(request).await) }
            });
            _ = http1::Builder::new().serve_connection(TokioIo::new(socket), answer).await;
        });
    }
}

impl Shared {
    async fn answer(&self, request: Request<Incoming>) -> Response<Body> {
        {
            let mut rounds = self.rounds.lock().unwrap();
            rounds.1 += usize::from(rounds.0 == 0);
            rounds.0 += 1;
        }
        let late = self.manners.lock().unwrap().answers_after;
        if let Some(late) = late {
            tokio::time::sleep(late).await;
        }
        let answer = self.checked(request).await;
        self.rounds.lock().unwrap().0 -= 1;
        answer
    }

    async fn checked(&self, request: Request<Incoming>) -> Response<Body> {
        let guard = self.guard.lock().unwrap().clone();
        let mut answer = match guard.refuses(&request) {
            Some((code, answer)) => {
                self.seen.lock().unwrap().push(format!("{} {}", request.method(), request.uri()));
                self.refused.lock().unwrap().push(code);
                answer
            }
            None => self.allowed(request).await,
        };
        answer.headers_mut().insert(DATE, guard.date());
        answer
    }

    async fn allowed(&self, mut request: Request<Incoming>) -> Response<Body> {
        let method = request.method().clone();
        self.seen.lock().unwrap().push(format!("{method} {}", request.uri()));
        let manners = *self.manners.lock().unwrap();
        if let Some((status, code)) = manners.refuses {
            return refusal(status, code);
        }
        if manners.no_conditions {
            [IF_MATCH, IF_NONE_MATCH, AUTHORIZATION]
                .iter()
                .for_each(|name: &HeaderName| _ = request.headers_mut().remove(name));
        }
        let is_change = method != Method::GET && method != Method::HEAD;
        if is_change && !self.is_alive() {
            return refusal(501, "Dead");
        }
        if method == Method::PUT
            && manners.refuses_puts_of.is_some_and(|end| request.uri().path().ends_with(end))
        {
            return refusal(403, "AccessDenied");
        }
        if request.uri().query().is_none() && self.is_folder(request.uri().path()) {
            return if is_change { refusal(204, "Nothing") } else { refusal(404, "NoSuchKey") };
        }
        if method == Method::POST && request.uri().query().is_some_and(|query| query.contains("uploadId=")) {
            let is_conditional =
                [IF_MATCH, IF_NONE_MATCH].iter().any(|name| request.headers().contains_key(name));
            if manners.no_condition_at_ends && is_conditional {
                return refusal(501, "NotImplemented");
            }
            self.wait_for_ends(manners.ends_together).await;
        }
        let is_list = request.uri().query().is_some_and(|query| query.contains("list-type"));
        let answer = if is_change {
            let _alone = self.changing.write().await;
            self.service.call(request.map(Body::from)).await
        } else {
            // The file system's server opens a file and looks up its tag one after the other: a change in between would
            // give the old content with the new tag.
            let _unchanged = self.changing.read().await;
            self.service.call(request.map(Body::from)).await
        };
        match answer {
            Ok(answer) if manners.no_lists && (is_list || answer.status() == StatusCode::NOT_FOUND) => {
                refusal(403, "AccessDenied")
            }
            Ok(answer) => answer,
            Err(error) => panic!("{error:?}"),
        }
    }

    async fn wait_for_ends(&self, together: Option<usize>) {
        self.ends.send_modify(|ends| *ends += 1);
        if let Some(many) = together {
            self.ends.subscribe().wait_for(|ends| ends.is_multiple_of(many)).await.unwrap();
        }
    }

    /// Whether the file system has a folder there, which Amazon's protocol does not know.
    fn is_folder(&self, path: &str) -> bool {
        let key = path.trim_start_matches('/').trim_end_matches('/').replace("%20", " ");
        key.contains('/') && self.folder.join(key).is_dir()
    }

    /// Whether the server accepts another change.
    fn is_alive(&self) -> bool {
        match &mut self.manners.lock().unwrap().puts {
            None => true,
            Some(0) => false,
            Some(left) => {
                *left -= 1;
                true
            }
        }
    }
}

pub(crate) fn refusal(status: u16, code: &str) -> Response<Body> {
    refusal_with(status, code, "")
}

/// An error, with further elements.
pub(crate) fn refusal_with(status: u16, code: &str, more: &str) -> Response<Body> {
    let xml = format!(
        "<?xml version=\"1.0\"?><Error><Code>{code}</Code><Message>said by the server</Message>{more}</Error>"
    );
    let answer = Response::builder().status(status).header(CONTENT_TYPE, "application/xml");
    answer.body(Body::from(xml)).unwrap()
}
