//! A proxy between client and server that disturbs requests by rule: the same requests in the same way in every run.
use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to a request that is disturbed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Harm {
    /// It is answered with this status instead of being passed on.
    Status(&'static str),
    /// The connection is closed before the request is passed on.
    Unheard,
    /// The request is passed on, and the connection is closed without an answer.
    Unanswered,
    /// The connection is closed within the body of the answer.
    Cut,
    /// A part is one byte shorter than its range.
    Short,
    /// The whole object is sent instead of a part.
    NoRange,
    /// The body stalls, and the connection stays open.
    Stalled,
}

/// All kinds of failing requests.
pub(crate) const FAILING: [Harm; 7] = [
    Harm::Status("500 Internal Server Error"),
    Harm::Status("503 Service Unavailable"),
    Harm::Status("503 Service Unavailable\r\nRetry-After: 0"),
    Harm::Status("429 Too Many Requests"),
    Harm::Status("504 Gateway Timeout"),
    Harm::Unheard,
    Harm::Unanswered,
];

/// Which requests are disturbed, and how.
#[derive(Debug, Clone)]
pub(crate) struct Rule {
    pub(crate) harms: Vec<Harm>,
    /// One request in this many.
    pub(crate) one_in: u64,
    /// Delay before every answer.
    pub(crate) latency: Duration,
    pub(crate) seed: u64,
}

/// The proxy, until the end of the test.
pub(crate) struct Proxy {
    /// `http://host:port`.
    pub(crate) address: String,
    shared: Arc<Shared>,
}

/// Counts the requests in flight.
#[derive(Debug, Default)]
pub(crate) struct Gauge {
    now: AtomicUsize,
    max: AtomicUsize,
}

impl Gauge {
    /// Maximum number of requests in flight since the last call.
    pub(crate) fn take(&self) -> usize {
        self.max.swap(0, Ordering::SeqCst)
    }

    fn begin(&self) {
        let now = self.now.fetch_add(1, Ordering::SeqCst) + 1;
        self.max.fetch_max(now, Ordering::SeqCst);
    }

    fn end(&self) {
        self.now.fetch_sub(1, Ordering::SeqCst);
    }
}

struct Shared {
    gauge: Arc<Gauge>,
    upstream: String,
    rule: Rule,
    /// How often each request came, by method, target and range.
    seen: Mutex<HashMap<String, u64>>,
    log: Mutex<Vec<Seen>>,
}

/// A request, and what was done to it.
#[derive(Debug, Clone)]
pub(crate) struct Seen {
    pub(crate) method: String,
    pub(crate) target: String,
    pub(crate) harm: Option<Harm>,
}

/// A request or an answer.
struct Message {
    /// Lines of the head, without line ends.
    head: Vec<String>,
    body: Vec<u8>,
}

impl Proxy {
    /// Runs in front of a server at `http://host:port`.
    pub(crate) fn start(upstream: &str, rule: Rule) -> Self {
        Self::watched(upstream, rule, Arc::default())
    }

    /// As [`start`](Self::start), and counts requests.
    pub(crate) fn watched(upstream: &str, rule: Rule, gauge: Arc<Gauge>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = format!("http://{}", listener.local_addr().unwrap());
        let upstream = upstream.trim_start_matches("http://").to_owned();
        let (seen, log) = (Mutex::default(), Mutex::default());
        let shared = Arc::new(Shared { gauge, upstream, rule, seen, log });
        let server = Arc::clone(&shared);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let server = Arc::clone(&server);
                std::thread::spawn(move || server.serve(stream));
            }
        });
        Self { address, shared }
    }

    /// The requests so far.
    pub(crate) fn requests(&self) -> Vec<Seen> {
        self.shared.log.lock().unwrap().clone()
    }
}

impl Shared {
    /// Answers the requests of a connection; `None` is its end.
    fn serve(&self, mut client: TcpStream) -> Option<()> {
        let mut from_client = BufReader::new(client.try_clone().ok()?);
        let mut server = TcpStream::connect(&self.upstream).ok()?;
        let mut from_server = BufReader::new(server.try_clone().ok()?);
        loop {
            let mut request = Message::read(&mut from_client, None)?;
            let harm = self.decide(&request);
            if harm == Some(Harm::NoRange) {
                request.head.retain(|line| !line.to_ascii_lowercase().starts_with("range:"));
            }
            match harm {
                Some(Harm::Status(status)) => {
                    write!(client, "HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").ok()?;
                    continue;
                }
                Some(Harm::Unheard) => return None,
                _ => {}
            }
            self.gauge.begin();
            let answer = request
                .write(&mut server)
                .and_then(|()| Message::read(&mut from_server, Some(request.method())));
            std::thread::sleep(self.rule.latency);
            // Before the client can send the next one.
            self.gauge.end();
            answer?.send(&mut client, harm)?;
        }
    }

    fn decide(&self, request: &Message) -> Option<Harm> {
        let (method, target) = (request.method().to_owned(), request.target().to_owned());
        let key = format!("{method} {target} {}", request.header("range").unwrap_or_default());
        let times = {
            let mut seen = self.seen.lock().unwrap();
            let times = seen.entry(key.clone()).or_default();
            *times += 1;
            *times
        };
        let mut hasher = DefaultHasher::new();
        (self.rule.seed, key, times).hash(&mut hasher);
        let dice = hasher.finish();
        let harms = &self.rule.harms;
        let is_harmed = !harms.is_empty() && dice.is_multiple_of(self.rule.one_in);
        let which = usize::try_from((dice / self.rule.one_in) % harms.len().max(1) as u64).unwrap();
        let harm = is_harmed.then(|| harms[which]);
        self.log.lock().unwrap().push(Seen { method, target, harm });
        harm
    }
}

impl Message {
    /// Reads a request, or the answer to a request with that method.
    fn read(stream: &mut impl BufRead, method: Option<&str>) -> Option<Self> {
        let mut head = Vec::new();
        loop {
            let mut line = String::new();
            if stream.read_line(&mut line).ok()? == 0 {
                return None;
            }
            match line.trim_end() {
                "" => break,
                line => head.push(line.to_owned()),
            }
        }
        let mut message = Self { head, body: Vec::new() };
        if method == Some("HEAD") {
            return Some(message);
        }
        if message.header("transfer-encoding").is_some() {
            message.body = chunked(stream)?;
            message.head.retain(|line| !line.to_ascii_lowercase().starts_with("transfer-encoding"));
            message.head.push(format!("Content-Length: {}", message.body.len()));
            return Some(message);
        }
        let len = message.header("content-length").map_or(0, |len| len.parse().unwrap());
        stream.take(len).read_to_end(&mut message.body).ok()?;
        Some(message)
    }

    fn method(&self) -> &str {
        self.head[0].split(' ').next().unwrap()
    }

    fn target(&self) -> &str {
        self.head[0].split(' ').nth(1).unwrap()
    }

    fn header(&self, name: &str) -> Option<&str> {
        self.head.iter().skip(1).find_map(|line| {
            let (key, value) = line.split_once(':')?;
            key.eq_ignore_ascii_case(name).then(|| value.trim())
        })
    }

    fn write(&self, stream: &mut TcpStream) -> Option<()> {
        stream.write_all(format!("{}\r\n\r\n", self.head.join("\r\n")).as_bytes()).ok()?;
        stream.write_all(&self.body).ok()
    }

    /// Passes an answer on, disturbed or not.
    fn send(mut self, client: &mut TcpStream, harm: Option<Harm>) -> Option<()> {
        let half = self.body.len() / 2;
        match harm {
            Some(Harm::Unanswered) => None,
            Some(Harm::Cut) if half > 0 => {
                self.body.truncate(half);
                self.write(client);
                None
            }
            Some(Harm::Stalled) if half > 0 => {
                self.body.truncate(half);
                self.write(client)?;
                // Until the client gives up.
                let _ = std::io::copy(client, &mut std::io::sink());
                None
            }
            Some(Harm::Short) if self.head[0].contains(" 206 ") && half > 0 => {
                self.body.pop();
                self.head.retain(|line| !line.to_ascii_lowercase().starts_with("content-length"));
                self.head.push(format!("Content-Length: {}", self.body.len()));
                self.write(client)
            }
            _ => self.write(client),
        }
    }
}

/// The body of a message with chunked transfer encoding.
fn chunked(stream: &mut impl BufRead) -> Option<Vec<u8>> {
    let mut body = Vec::new();
    loop {
        let mut line = String::new();
        stream.read_line(&mut line).ok()?;
        let len = u64::from_str_radix(line.trim().split(';').next()?, 16).ok()?;
        stream.take(len).read_to_end(&mut body).ok()?;
        stream.read_line(&mut String::new()).ok()?;
        if len == 0 {
            return Some(body);
        }
    }
}
