//! A server of OPeNDAP for tests, over any dataset that a test can read (docs/spec/dap.md 9): DAP2 and DAP4 of variables of
//! atomic types, and of compounds of these, one request per connection, on loopback.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test cannot go on without its server"
)]
mod dap2;
mod dap4;
mod ranges;
mod tables;
mod tree;

pub use dap4::crc32;
use ncirrus_layout::Result;
use ncirrus_model::{Atomic, GroupId, Model, Selection, TypeRef, UserKind, Values, VarId};
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// Reads the selected values of a variable.
pub type ReadValues = Box<dyn Fn(VarId, &Selection) -> Result<Values> + Send + Sync>;

/// A dataset that is served.
pub struct ServedDataset {
    /// Its definitions.
    pub model: Arc<Model>,
    /// Reads its values.
    pub read: ReadValues,
}

/// How the server behaves.
#[derive(Debug, Clone, Copy, Default)]
pub struct DapBehaviour {
    /// How long each answer waits.
    pub latency: Duration,
    /// The most bytes of values that it sends: more is refused with 403.
    pub max_bytes: Option<u64>,
    /// Big-endian data of DAP4.
    pub big_endian: bool,
    /// No checksums, whatever is asked for.
    pub no_checksums: bool,
    /// Bytes of a chunk of DAP4; 0: 64 KiB.
    pub chunk_len: usize,
    /// Encoded brackets are taken for a part of the name.
    pub raw_brackets: bool,
    /// Answers end after this many bytes, silently.
    pub cut_at: Option<usize>,
    /// The same, of answers with data.
    pub cut_data_at: Option<usize>,
    /// How bodies are compressed.
    pub encoding: Option<BodyEncoding>,
    /// The length of an answer is not stated: it ends with the connection.
    pub no_length: bool,
    /// While a request is answered, others are refused with 503.
    pub busy: bool,
    /// Every so many data requests the connection ends in the middle of the answer; 0: never.
    pub cut_every: usize,
    /// So many answers of DAP4 have a wrong checksum.
    pub wrong_checksums: usize,
    /// Requests for several variables are refused with 400.
    pub refuses_batches: bool,
    /// Instead of the data from this byte on, an error of the server follows.
    pub error_at: Option<usize>,
    /// Answers are sent in pieces of this many bytes, each after a millisecond; 0: at once.
    pub trickle: usize,
    /// DAP2: the variables along one dimension alone are one sequence, named after it, of which rows may be selected.
    pub sequences: bool,
    /// After so many answers with data, sequences have lost their last row.
    pub rows_lost_after: Option<usize>,
    /// DAP2: which variables are grids.
    pub grids: ServedGrids,
    /// Variables of compound types are structures; in DAP2 groups are structures, too.
    pub structures: bool,
}

/// Which variables are grids of DAP2.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ServedGrids {
    /// None: they are arrays.
    #[default]
    None,
    /// Those with a coordinate for each dimension, which are variables of their own, too.
    Beside,
    /// The same, and their coordinates are maps alone.
    MapsAlone,
}

/// How a body is compressed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[expect(missing_docs, reason = "the names say it")]
pub enum BodyEncoding {
    Gzip,
    Zlib,
    RawDeflate,
}

/// A running server; it ends with the process.
pub struct DapServer {
    address: SocketAddr,
    state: Arc<ServerState>,
}

struct ServerState {
    datasets: BTreeMap<String, ServedDataset>,
    behaviour: DapBehaviour,
    requests: Mutex<Vec<String>>,
    in_flight: AtomicUsize,
    max_in_flight: AtomicUsize,
    sent: AtomicUsize,
    data_requests: AtomicUsize,
    damaged: AtomicUsize,
}

/// A status and a body.
type Reply = (&'static str, Vec<u8>);

impl DapServer {
    /// Serves datasets by name.
    ///
    /// # Panics
    /// If no port is available.
    pub fn start(
        datasets: impl IntoIterator<Item = (String, ServedDataset)>,
        behaviour: DapBehaviour,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let state = Arc::new(ServerState {
            datasets: datasets.into_iter().collect(),
            behaviour,
            requests: Mutex::default(),
            in_flight: AtomicUsize::new(0),
            max_in_flight: AtomicUsize::new(0),
            sent: AtomicUsize::new(0),
            data_requests: AtomicUsize::new(0),
            damaged: AtomicUsize::new(0),
        });
        let shared = Arc::clone(&state);
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let shared = Arc::clone(&shared);
                thread::spawn(move || shared.serve(stream));
            }
        });
        Self { address, state }
    }

    /// The address of a dataset, without a protocol.
    pub fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }

    /// Paths and queries of the requests so far, which are forgotten.
    pub fn take_requests(&self) -> Vec<String> {
        std::mem::take(&mut self.state.requests.lock().unwrap())
    }

    /// The most requests that were in flight at once.
    pub fn max_in_flight(&self) -> usize {
        self.state.max_in_flight.load(Ordering::SeqCst)
    }

    /// Forgets the most requests that were in flight.
    pub fn reset_max_in_flight(&self) {
        self.state.max_in_flight.store(0, Ordering::SeqCst);
    }

    /// The body of the answer to a path and query.
    pub fn reply_to(&self, target: &str) -> Vec<u8> {
        self.state.reply(target).1
    }

    /// Bytes of all bodies so far.
    pub fn sent(&self) -> usize {
        self.state.sent.load(Ordering::SeqCst)
    }
}

impl ServerState {
    fn serve(&self, mut stream: TcpStream) {
        let mut lines =
            BufReader::new(stream.try_clone().unwrap()).lines().map_while(std::result::Result::ok);
        let Some(first) = lines.next() else { return };
        lines.take_while(|line| !line.is_empty()).for_each(drop);
        let target = first.split(' ').nth(1).unwrap_or_default().trim_start_matches('/').to_owned();
        if target == "counts" {
            _ = self.send_counts(&mut stream);
            return;
        }
        let now = self.in_flight.fetch_add(1, Ordering::SeqCst) + 1;
        let answering = Answering(&self.in_flight);
        self.max_in_flight.fetch_max(now, Ordering::SeqCst);
        self.requests.lock().unwrap().push(target.clone());
        thread::sleep(self.behaviour.latency);
        let (status, body) = if self.behaviour.busy && now > 1 {
            ("503 Service Unavailable\r\nretry-after: 0", b"busy".to_vec())
        } else {
            self.reply(&target)
        };
        self.sent.fetch_add(body.len(), Ordering::SeqCst);
        let _ = self.send(&mut stream, status, &body, (is_data(&target), answering));
    }

    /// What was asked for since this was last asked for, as JSON: for programs that are compared.
    fn send_counts(&self, stream: &mut TcpStream) -> std::io::Result<()> {
        let requests = std::mem::take(&mut *self.requests.lock().unwrap()).len();
        let (bytes, max) =
            (self.sent.swap(0, Ordering::SeqCst), self.max_in_flight.swap(0, Ordering::SeqCst));
        let body = format!("{{\"requests\": {requests}, \"bytes\": {bytes}, \"most_in_flight\": {max}}}");
        write!(stream, "HTTP/1.1 200 OK\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
    }

    fn send(
        &self,
        stream: &mut TcpStream,
        status: &str,
        body: &[u8],
        (is_data, answering): (bool, Answering<'_>),
    ) -> std::io::Result<()> {
        let (encoding, body) = match self.behaviour.encoding {
            Some(encoding) => encoded(encoding, body),
            None => ("", body.to_vec()),
        };
        let len = body.len();
        write!(stream, "HTTP/1.1 {status}\r\n{encoding}connection: close\r\n")?;
        if !self.behaviour.no_length {
            write!(stream, "content-length: {len}\r\n")?;
        }
        stream.write_all(b"\r\n")?;
        let turn = if is_data { 1 + self.data_requests.fetch_add(1, Ordering::SeqCst) } else { 0 };
        let every = self.behaviour.cut_every;
        let end = if every > 0 && is_data && turn.is_multiple_of(every) {
            len / 2
        } else {
            let of_data = self.behaviour.cut_data_at.filter(|_| is_data);
            of_data.or(self.behaviour.cut_at).unwrap_or(len).min(len)
        };
        let piece = if self.behaviour.trickle == 0 { len.max(1) } else { self.behaviour.trickle };
        let (first, last) = body[..end].split_at(end.saturating_sub(1));
        for piece in first.chunks(piece) {
            stream.write_all(piece)?;
            if self.behaviour.trickle > 0 {
                thread::sleep(Duration::from_millis(1));
            }
        }
        // With the last byte the client may send the next request.
        drop(answering);
        stream.write_all(last)
    }

    /// Makes the last data of an answer of DAP4 wrong, the first few times.
    fn damage(&self, (status, mut body): Reply) -> Reply {
        let at = body.len().saturating_sub(4 + 4 + 1);
        if self.damaged.fetch_add(1, Ordering::SeqCst) < self.behaviour.wrong_checksums {
            body[at] ^= 0x55;
        }
        (status, body)
    }

    fn reply(&self, target: &str) -> Reply {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let query = if self.behaviour.raw_brackets {
            decoded(&query.replace("%5B", "%255B").replace("%5D", "%255D"))
        } else {
            decoded(query)
        };
        // The longest suffix first.
        for suffix in [".dmr.xml", ".dods", ".dds", ".das", ".dmr", ".dap"] {
            let Some(dataset) = path.strip_suffix(suffix).and_then(|name| self.datasets.get(&decoded(name)))
            else {
                continue;
            };
            let made = match suffix {
                ".dds" => dap2::dds(dataset, &query, &self.behaviour),
                ".das" => Ok(dap2::das(dataset, &self.behaviour)),
                ".dods" => {
                    let answered = self.data_requests.load(Ordering::SeqCst);
                    let is_shorter = self.behaviour.rows_lost_after.is_some_and(|after| answered >= after);
                    dap2::dods(dataset, &query, &self.behaviour, is_shorter)
                }
                ".dap" => {
                    let made = dap4::dap(dataset, &query, &self.behaviour).map(|reply| self.damage(reply));
                    return made.unwrap_or_else(dap4::refused);
                }
                _ => return dap4::dmr(dataset, &query, &self.behaviour).unwrap_or_else(dap4::refused),
            };
            return made.map_or_else(dap2::refused, |body| ("200 OK", body));
        }
        dap2::refused(("404 Not Found", format!("no dataset {path}")))
    }
}

/// A request is in flight as long as this lives.
struct Answering<'a>(&'a AtomicUsize);

impl Drop for Answering<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::SeqCst);
    }
}

fn is_data(target: &str) -> bool {
    target.split('?').next().is_some_and(|path| path.ends_with(".dods") || path.ends_with(".dap"))
}

/// The header of an encoding, and a body in it.
fn encoded(encoding: BodyEncoding, body: &[u8]) -> (&'static str, Vec<u8>) {
    use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
    let level = flate2::Compression::fast();
    let all = |mut writer: Box<dyn Write + '_>| writer.write_all(body).unwrap();
    let mut made = Vec::new();
    match encoding {
        BodyEncoding::Gzip => all(Box::new(GzEncoder::new(&mut made, level))),
        BodyEncoding::Zlib => all(Box::new(ZlibEncoder::new(&mut made, level))),
        BodyEncoding::RawDeflate => all(Box::new(DeflateEncoder::new(&mut made, level))),
    }
    match encoding {
        BodyEncoding::Gzip => ("content-encoding: gzip\r\n", made),
        BodyEncoding::Zlib | BodyEncoding::RawDeflate => ("content-encoding: deflate\r\n", made),
    }
}

/// A refusal: a status and why.
type Refusal = (&'static str, String);

/// The variables of a group that are served: of atomic types, and as structures of compounds of these.
fn served_variables(model: &Model, group: GroupId, behaviour: &DapBehaviour) -> Vec<VarId> {
    let vars = model.group(group).map(|group| group.vars.clone()).unwrap_or_default();
    let is_served = |id: &VarId| match model.variable(*id).map(|variable| variable.ty) {
        Some(TypeRef::Atomic(_)) => true,
        Some(ty) => behaviour.structures && is_structure(model, ty),
        None => false,
    };
    vars.into_iter().filter(is_served).collect()
}

/// Whether values of a type are structures of numbers and strings. Characters are not: members cannot have that type.
fn is_structure(model: &Model, ty: TypeRef) -> bool {
    let TypeRef::User(id) = ty else { return ty != TypeRef::Atomic(Atomic::Char) };
    match model.user_type(id).map(|ty| &ty.kind) {
        Some(UserKind::Compound(fields)) => fields.iter().all(|field| is_structure(model, field.ty)),
        _ => false,
    }
}

/// Text with `%HH` resolved.
fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let (mut out, mut at) = (Vec::new(), 0);
    while at < bytes.len() {
        let escape = bytes.get(at + 1..at + 3).filter(|_| bytes[at] == b'%');
        let number = escape.and_then(|hex| u8::from_str_radix(std::str::from_utf8(hex).ok()?, 16).ok());
        out.push(number.unwrap_or(bytes[at]));
        at += if number.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}
