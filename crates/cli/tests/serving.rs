//! `ncirrus serve` with many clients.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::corpus::left_out;
use rustix::process::{Pid, Resource, Rlimit, Signal, getrlimit, kill_process, setrlimit};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// A running `ncirrus serve` of the examples, which ends with the test.
struct ServeProcess {
    process: Child,
    address: SocketAddr,
}

impl ServeProcess {
    /// Under a limit of file descriptors, as options of `ulimit`.
    fn start(limit: &str) -> Self {
        let program = crate::program::command();
        let examples = concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples");
        let mut process = Command::new("sh")
            .args(["-c", &format!("ulimit {limit} && exec \"$0\" \"$@\"")])
            .arg(program.get_program())
            .args(["serve", "--bind", "127.0.0.1:0", "--log", "none", "--idle-time", "600", examples])
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let address = line.trim().strip_prefix("listening on http://").unwrap();
        let address = address.trim_end_matches('/').parse().unwrap();
        Self { process, address }
    }

    fn connect(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream.write_all(text.as_bytes()).unwrap();
        stream
    }

    /// A response as it arrives.
    fn get(&self, target: &str) -> String {
        let mut stream =
            self.connect(&format!("GET {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n"));
        let mut bytes = Vec::new();
        stream.read_to_end(&mut bytes).unwrap();
        String::from_utf8_lossy(&bytes).into_owned()
    }

    /// The time of 50 requests, one after the other.
    fn time(&self) -> Duration {
        let since = Instant::now();
        for _ in 0..50 {
            let reply = self.get("/dap/sst.nc.dods");
            assert!(reply.starts_with("HTTP/1.1 200"), "{reply}");
        }
        since.elapsed()
    }

    fn open_connections(&self) -> usize {
        let text = self.get("/metrics");
        let line = text.lines().find_map(|line| line.strip_prefix("ncirrus_connections "));
        line.unwrap().trim().parse().unwrap()
    }

    /// Bytes of memory.
    fn resident(&self) -> usize {
        let status = std::fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap();
        line.trim().trim_end_matches(" kB").parse::<usize>().unwrap() << 10
    }

    /// Processor time, in hundredths of a second.
    fn ticks(&self) -> u64 {
        let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.process.id())).unwrap();
        let fields: Vec<&str> = stat.rsplit_once(')').unwrap().1.split_whitespace().collect();
        fields[11..13].iter().map(|field| field.parse::<u64>().unwrap()).sum()
    }

    /// Asks the server to end; how long that takes.
    fn end(mut self) -> Duration {
        let since = Instant::now();
        kill_process(Pid::from_child(&self.process), Signal::TERM).unwrap();
        assert!(self.process.wait().unwrap().success());
        since.elapsed()
    }
}

impl Drop for ServeProcess {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// The number of connections that a server and its clients may have, each in a process of its own.
fn allowed() -> usize {
    let limit = getrlimit(Resource::Nofile);
    setrlimit(Resource::Nofile, Rlimit { current: limit.maximum, ..limit }).unwrap();
    let descriptors = limit.maximum.map_or(usize::MAX, |descriptors| usize::try_from(descriptors).unwrap());
    // The server keeps at most 1,024 for files; the test has files of its own.
    descriptors.saturating_sub(1200)
}

/// A client that does nothing: before its request, within it, or after a response.
fn idle(server: &ServeProcess, number: usize) -> TcpStream {
    match number % 3 {
        0 => server.connect(""),
        1 => server.connect("GET /dap/sst.nc.dds HTTP/1.1\r\nHost: a"),
        _ => {
            let mut stream = server.connect("GET /dap/sst.nc.dds HTTP/1.1\r\nHost: a\r\n\r\n");
            let mut status = [0; 12];
            stream.read_exact(&mut status).unwrap();
            assert_eq!(&status, b"HTTP/1.1 200");
            stream
        }
    }
}

#[test]
fn ten_thousand_idle_connections_need_little_memory_and_others_are_served() {
    const WANTED: usize = 10_000;
    let count = WANTED.min(allowed());
    // A soft limit as systems have it: the server raises it.
    let server = ServeProcess::start("-Sn 512");
    server.time();
    let (alone, before) = (server.time(), server.resident());
    let clients: Vec<TcpStream> = (0..count).map(|number| idle(&server, number)).collect();
    let since = Instant::now();
    while server.open_connections() < count {
        assert!(since.elapsed() < Duration::from_secs(60), "{} of {count}", server.open_connections());
        std::thread::sleep(Duration::from_millis(20));
    }
    let each = server.resident().saturating_sub(before) / count;
    let beside = server.time();
    println!("{count} connections: {each} bytes each; 50 requests {alone:?} before, {beside:?} beside them");
    assert!(each <= 20 << 10, "{each} bytes for each of {count} connections");
    assert!(beside < 10 * alone + Duration::from_secs(1), "{alone:?} {beside:?}");
    assert!(server.open_connections() >= count);
    assert!(server.end() < Duration::from_secs(20));
    drop(clients);
    if count < WANTED {
        left_out(&format!("file descriptors for {} connections", WANTED - count));
    }
}

#[test]
fn more_clients_than_file_descriptors_are_survived() {
    let server = ServeProcess::start("-n 96");
    server.time();
    let clients: Vec<TcpStream> = (0..300).map(|_| server.connect("")).collect();
    server.time();
    let before = server.ticks();
    std::thread::sleep(Duration::from_secs(1));
    let spent = server.ticks() - before;
    assert!(spent < 30, "{spent} hundredths of a second in one second");
    drop(clients);
    server.time();
}
