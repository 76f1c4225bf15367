//! A server of OPeNDAP of which every tenth answer fails, or that sends a few bytes at a time: values are equal to those of
//! the source, or there is an error; never other values.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::{Numbers, served};
use ncirrus::store::StoreOptions;
use ncirrus::{Dataset, OpenOptions, Selection, Session, VarId};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// What happens to an answer on its way.
#[derive(Debug, Clone, Copy)]
enum Passage {
    /// One of ten fails: it is cut, refused, replaced by an error, or nothing comes at all.
    Failing,
    /// Pieces of one to seven bytes, with a pause now and then.
    Trickling,
}

/// Passes on requests to a server, and its answers as they should arrive.
struct Proxy {
    address: SocketAddr,
    failed: Arc<AtomicUsize>,
}

impl Proxy {
    fn start(server: &DapServer, passage: Passage, seed: u64) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let url = server.url("");
        let server = url.trim_start_matches("http://").trim_end_matches('/').to_owned();
        let (failed, numbers) = (Arc::new(AtomicUsize::new(0)), Arc::new(Mutex::new(Numbers(seed))));
        let count = Arc::clone(&failed);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (server, count, numbers) = (server.clone(), Arc::clone(&count), Arc::clone(&numbers));
                // A client that went away is no fault of the test.
                std::thread::spawn(move || _ = pass(stream, &server, passage, &numbers, &count));
            }
        });
        Self { address, failed }
    }

    fn url(&self, name: &str) -> String {
        format!("http://{}/{name}", self.address)
    }
}

fn pass(
    mut client: TcpStream,
    server: &str,
    passage: Passage,
    numbers: &Mutex<Numbers>,
    failed: &AtomicUsize,
) -> std::io::Result<()> {
    let mut head = String::new();
    let mut lines = BufReader::new(client.try_clone()?);
    while !head.ends_with("\r\n\r\n") {
        if lines.read_line(&mut head)? == 0 {
            return Ok(());
        }
    }
    let (mut far, mut answer) = (TcpStream::connect(server)?, Vec::new());
    far.write_all(head.as_bytes())?;
    far.read_to_end(&mut answer)?;
    let below = |limit: usize| usize::try_from(numbers.lock().unwrap().below(limit as u64)).unwrap();
    match passage {
        Passage::Trickling => {
            let mut rest = answer.as_slice();
            while !rest.is_empty() {
                let (piece, after) = rest.split_at((1 + below(7)).min(rest.len()));
                client.write_all(piece)?;
                rest = after;
                if below(200) == 0 {
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
            Ok(())
        }
        Passage::Failing if below(10) > 0 => client.write_all(&answer),
        Passage::Failing => {
            failed.fetch_add(1, Ordering::Relaxed);
            let kind = below(6);
            client.write_all(&failure(kind, &answer, below(answer.len())))
        }
    }
}

/// What comes instead of an answer.
fn failure(kind: usize, answer: &[u8], cut: usize) -> Vec<u8> {
    let reported = |status: &str, body: &str| {
        format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}", body.len())
            .into_bytes()
    };
    match kind {
        0 => Vec::new(),
        1 => answer[..cut].to_vec(),
        // The end of the connection is that of the answer, which is too short.
        2 => {
            let body = answer.windows(4).position(|end| end == b"\r\n\r\n").unwrap() + 4;
            [b"HTTP/1.0 200 OK\r\n\r\n", &answer[body..cut.max(body)]].concat()
        }
        3 => reported("503 Service Unavailable\r\nretry-after: 0", "busy"),
        4 => reported("500 Internal Server Error", "<html><title>Oops</title></html>"),
        _ => reported("200 OK", "Error { code = 500; message = \"the disk failed\"; };"),
    }
}

fn example() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc"))
}

/// How many reads were equal to the source, and how many failed.
fn reads_of(proxy: &Proxy, mode: &str, seed: u64, count: usize) -> (usize, usize) {
    let stores = StoreOptions { retries: 1, ..Default::default() };
    let session = Session::builder().chunk_cache(0).stores(stores).build().unwrap();
    let source = Dataset::open(example().to_str().unwrap()).unwrap();
    let address = format!("{}#{mode}", proxy.url("sst.nc"));
    // Opening fails, too, now and then.
    let open = || Dataset::open_with(&address, &OpenOptions::default(), &session).ok();
    let far = std::iter::repeat_with(open).take(100).flatten().next().unwrap();
    let (ours, theirs) = (source.model().unwrap(), far.model().unwrap());
    let both = |id: VarId| Some((id, theirs.variable_at(&ours.variable_path(id))?));
    let same: Vec<(VarId, VarId)> = ours.variables().into_iter().filter_map(both).collect();
    let (mut numbers, mut equal, mut failed) = (Numbers(seed), 0, 0);
    for turn in 0..count {
        // Alone, and several together.
        let wanted: Vec<(VarId, VarId, Selection)> = same
            .iter()
            .cycle()
            .skip(turn)
            .take(1 + turn % 3)
            .map(|(id, other)| (*id, *other, numbers.selection(&ours.shape(*id))))
            .collect();
        let at = |far: bool| -> Vec<(VarId, Selection)> {
            wanted.iter().map(|(id, other, part)| (if far { *other } else { *id }, part.clone())).collect()
        };
        match far.read_many(&at(true)) {
            Ok(found) => {
                let expected = source.read_many(&at(false)).unwrap();
                let is_equal =
                    found.iter().zip(&expected).all(|(found, expected)| found.is_identical(expected));
                assert!(
                    is_equal && found.len() == expected.len(),
                    "{mode} seed {seed} turn {turn}: {wanted:?}"
                );
                equal += 1;
            }
            Err(_) => failed += 1,
        }
    }
    (equal, failed)
}

#[test]
fn a_tenth_of_all_answers_fails_and_no_value_is_wrong() {
    let server = DapServer::start([("sst.nc".to_owned(), served(example()))], DapBehaviour::default());
    for mode in ["dap2", "dap4"] {
        let (mut equal, mut failed, mut faults) = (0, 0, 0);
        for seed in 1..=4 {
            let proxy = Proxy::start(&server, Passage::Failing, seed);
            let reads = reads_of(&proxy, mode, seed, 100);
            (equal, failed) = (equal + reads.0, failed + reads.1);
            faults += proxy.failed.load(Ordering::Relaxed);
        }
        eprintln!("{mode}: {faults} answers failed, {equal} reads were equal, {failed} ended in an error");
        // Both happen, or nothing was tried; most failures are repeated.
        assert!(faults >= 20 && failed > 0 && equal > 5 * failed, "{mode}: {faults} {equal} {failed}");
    }
}

#[test]
fn answers_that_trickle_are_read_equal() {
    let server = DapServer::start([("sst.nc".to_owned(), served(example()))], DapBehaviour::default());
    for mode in ["dap2", "dap4"] {
        let proxy = Proxy::start(&server, Passage::Trickling, 7);
        assert_eq!(reads_of(&proxy, mode, 7, 20), (20, 0), "{mode}");
    }
}
