//! A small web server for tests: a thread per connection, one request each.
#![expect(clippy::unwrap_used, reason = "a test cannot go on without its server")]

use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// The behaviour of the server for a path.
#[derive(Clone)]
pub enum ServerPage {
    /// Sends ranges of these bytes.
    Ranged(Vec<u8>),
    /// Sends all bytes, whatever is requested.
    Whole(Vec<u8>),
    /// Sends a status line and headers, each with its line end, without a body.
    Status(&'static str),
    /// The same with a body.
    WithStatus(&'static str, Vec<u8>),
    /// Sends these bytes, of which the status line is the first, and closes the connection.
    Raw(Vec<u8>),
    /// Behaves like the first page this many times, then like the second.
    First(u32, Box<ServerPage>, Box<ServerPage>),
    /// Declares more bytes than it sends.
    Cut(Vec<u8>),
    /// As `Ranged`, but closes the connection after this many bytes.
    Broken(Vec<u8>, usize),
    /// As `Ranged`, but stalls after this many bytes.
    Trickle(Vec<u8>, usize),
    /// As `Ranged`, with another ETag.
    Tagged(&'static str, Vec<u8>),
    /// As `Ranged`, without stating the size of the object.
    Unsized(Vec<u8>),
    /// Sends what the function makes of these bytes and the requested range: status line and headers, and the body.
    Made(Vec<u8>, MadeAnswer),
    /// The first page if the request has this header line, otherwise the second.
    If(String, Box<ServerPage>, Box<ServerPage>),
}

/// Status line and headers, and the body, from the bytes of an object and the requested range.
pub type MadeAnswer = fn(&[u8], Option<&str>) -> (String, Vec<u8>);

/// A running server; it ends with the process.
pub struct TestHttpServer {
    /// The address on which it listens.
    pub address: SocketAddr,
    state: Arc<Mutex<ServerState>>,
}

#[derive(Default)]
struct ServerState {
    pages: BTreeMap<String, ServerPage>,
    requests: Vec<String>,
}

impl TestHttpServer {
    /// Starts serving pages by their paths.
    ///
    /// # Panics
    /// If no port is available.
    pub fn start(pages: impl IntoIterator<Item = (&'static str, ServerPage)>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let pages = pages.into_iter().map(|(path, page)| (path.to_owned(), page)).collect();
        let state = Arc::new(Mutex::new(ServerState { pages, requests: Vec::new() }));
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || answer(stream, &shared));
            }
        });
        Self { address, state }
    }

    /// The address of a path.
    pub fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Adds a page, or replaces it.
    pub fn add(&self, path: &str, page: ServerPage) {
        self.state.lock().unwrap().pages.insert(path.to_owned(), page);
    }

    /// Request lines with the relevant headers, in order of arrival.
    pub fn requests(&self) -> Vec<String> {
        self.state.lock().unwrap().requests.clone()
    }
}

fn answer(stream: TcpStream, state: &Mutex<ServerState>) {
    let mut lines = BufReader::new(stream.try_clone().unwrap()).lines().map_while(Result::ok);
    let Some(first) = lines.next() else { return };
    let headers: Vec<String> = lines.take_while(|line| !line.is_empty()).collect();
    let header = |name: &str| {
        headers.iter().find_map(|line| {
            let (key, value) = line.split_once(": ")?;
            key.eq_ignore_ascii_case(name).then(|| value.to_owned())
        })
    };
    let path = first.split(' ').nth(1).unwrap().to_owned();
    let (range, login) = (header("range"), header("authorization"));
    let note = [Some(path.clone()), range.clone(), login, header("cookie")]
        .into_iter()
        .flatten()
        .collect::<Vec<_>>()
        .join(" ");
    let page = {
        let mut state = state.lock().unwrap();
        state.requests.push(note);
        chosen(turn(state.pages.get_mut(&path)), &headers)
    };
    send(stream, &page, range.as_deref());
}

/// The headers that state the tag of an object.
const STATE: &str = "etag: \"1\"\r\nlast-modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n";

/// The page for this request.
fn turn(page: Option<&mut ServerPage>) -> ServerPage {
    match page {
        Some(ServerPage::First(0, _, then)) => (**then).clone(),
        Some(ServerPage::First(left, now, _)) => {
            *left -= 1;
            (**now).clone()
        }
        Some(page) => page.clone(),
        None => ServerPage::Status("404 Not Found\r\n"),
    }
}

/// The page for a request with these headers.
fn chosen(page: ServerPage, headers: &[String]) -> ServerPage {
    match page {
        ServerPage::If(line, yes, no) => {
            let has = headers.iter().any(|header| header.eq_ignore_ascii_case(&line));
            chosen(if has { *yes } else { *no }, headers)
        }
        page => page,
    }
}

fn send(mut stream: TcpStream, page: &ServerPage, range: Option<&str>) {
    if let ServerPage::Raw(bytes) = page {
        _ = stream.write_all(bytes);
        return;
    }
    let ranged = |bytes: &[u8]| match range {
        Some(range) => part(bytes, range),
        None => whole(bytes),
    };
    let (head, body) = match page {
        ServerPage::Ranged(bytes) | ServerPage::Broken(bytes, _) | ServerPage::Trickle(bytes, _) => {
            ranged(bytes)
        }
        ServerPage::Unsized(bytes) => {
            let (head, body) = ranged(bytes);
            (head.replace(&format!("/{}\r\n", bytes.len()), "/*\r\n"), body)
        }
        ServerPage::Tagged(etag, bytes) => {
            let (head, body) = ranged(bytes);
            (head.replace("\"1\"", etag), body)
        }
        ServerPage::Whole(bytes) => whole(bytes),
        ServerPage::Made(bytes, make) => make(bytes, range),
        ServerPage::Cut(bytes) => {
            (format!("200 OK\r\ncontent-length: {}\r\n", bytes.len() + 5), bytes.clone())
        }
        ServerPage::Status(head) => (format!("{head}content-length: 0\r\n"), Vec::new()),
        ServerPage::WithStatus(head, body) => {
            (format!("{head}content-length: {}\r\n", body.len()), body.clone())
        }
        ServerPage::First(..) | ServerPage::If(..) | ServerPage::Raw(_) => unreachable!("chosen before"),
    };
    let _ = write!(stream, "HTTP/1.1 {head}connection: close\r\n\r\n");
    match page {
        ServerPage::Broken(_, len) => _ = stream.write_all(&body[..body.len().min(*len)]),
        ServerPage::Trickle(_, len) => {
            let _ = stream.write_all(&body[..body.len().min(*len)]);
            // Until the other side closes the connection.
            let _ = std::io::copy(&mut stream, &mut std::io::sink());
        }
        _ => _ = stream.write_all(&body),
    }
}

fn whole(bytes: &[u8]) -> (String, Vec<u8>) {
    (format!("200 OK\r\n{STATE}content-length: {}\r\n", bytes.len()), bytes.to_vec())
}

fn part(bytes: &[u8], range: &str) -> (String, Vec<u8>) {
    let size = bytes.len();
    let (first, last) = range.strip_prefix("bytes=").unwrap().split_once('-').unwrap();
    let (start, end) = match (first.parse::<usize>(), last.parse::<usize>()) {
        (Err(_), Ok(suffix)) => (size.saturating_sub(suffix), size),
        (Ok(start), last) => (start, last.map_or(size, |last| size.min(last + 1))),
        _ => (size, size),
    };
    if start >= end {
        return (
            format!("416 Nothing\r\ncontent-range: bytes */{size}\r\ncontent-length: 0\r\n"),
            Vec::new(),
        );
    }
    let head = format!(
        "206 Partial\r\n{STATE}content-range: bytes {start}-{}/{size}\r\ncontent-length: {}\r\n",
        end - 1,
        end - start
    );
    (head, bytes[start..end].to_vec())
}
