//! A server in a thread, datasets for it, and a client that sends what it is given.
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, Dialect, DimensionLen, Kind, Selection, Session, Shards,
    Storage, Strings, Values,
};
use ncirrus_serve::{ServerBuilder, ServerLimits};
use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::mpsc;
use std::thread::JoinHandle;
use std::time::Duration;
use tempfile::TempDir;

/// A running server; it ends when this is dropped.
pub(crate) struct TestServer {
    address: SocketAddr,
    stop: Option<tokio::sync::oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl TestServer {
    pub(crate) fn start(folder: &Path, choose: impl FnOnce(ServerBuilder) -> ServerBuilder) -> Self {
        let session = Session::builder().threads(2).build().unwrap();
        let address = folder.to_str().unwrap().to_owned();
        let server = choose(ServerBuilder::new([address], &session)).build().unwrap();
        let (sender, receiver) = mpsc::channel();
        let (stop, stopped) = tokio::sync::oneshot::channel::<()>();
        let thread = std::thread::spawn(move || {
            let listening = |address| sender.send(address).unwrap();
            let shutdown = async { _ = stopped.await };
            server.run("127.0.0.1:0".parse().unwrap(), listening, shutdown).unwrap();
        });
        Self { address: receiver.recv().unwrap(), stop: Some(stop), thread: Some(thread) }
    }

    pub(crate) fn address(&self) -> SocketAddr {
        self.address
    }

    /// Asks the server to end; its thread.
    pub(crate) fn stop(mut self) -> JoinHandle<()> {
        drop(self.stop.take());
        self.thread.take().unwrap()
    }

    pub(crate) fn get(&self, target: &str) -> Reply {
        self.request("GET", target, &[])
    }

    pub(crate) fn request(&self, method: &str, target: &str, headers: &[(&str, &str)]) -> Reply {
        let headers: String = headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        let text = format!("{method} {target} HTTP/1.1\r\nHost: a\r\nConnection: close\r\n{headers}\r\n");
        let mut stream = raw(self.address, &text);
        let mut bytes = Vec::new();
        _ = stream.read_to_end(&mut bytes);
        Reply::parse(&bytes)
    }

    /// The value of a counter.
    pub(crate) fn metric(&self, name: &str) -> u64 {
        let text = self.get("/metrics").text();
        let line = text.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(' '));
        line.unwrap_or_else(|| panic!("{name} in {text}")).parse().unwrap()
    }
}

impl Drop for TestServer {
    fn drop(&mut self) {
        drop(self.stop.take());
    }
}

/// A response.
pub(crate) struct Reply {
    pub(crate) status: u16,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) body: Vec<u8>,
}

impl Reply {
    pub(crate) fn parse(bytes: &[u8]) -> Self {
        let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").expect("a head");
        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
        let mut lines = head.lines();
        let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
        let header = |line: &str| {
            let (name, value) = line.split_once(": ")?;
            Some((name.to_ascii_lowercase(), value.to_owned()))
        };
        let headers: Vec<(String, String)> = lines.filter_map(header).collect();
        let body = &bytes[end + 4..];
        let is_chunked =
            headers.iter().any(|(name, value)| name == "transfer-encoding" && value == "chunked");
        Self { status, body: if is_chunked { unchunked(body) } else { body.to_vec() }, headers }
    }

    pub(crate) fn text(&self) -> String {
        String::from_utf8_lossy(&self.body).into_owned()
    }

    pub(crate) fn header(&self, name: &str) -> Option<String> {
        self.headers.iter().find(|(own, _)| own == name).map(|(_, value)| value.clone())
    }
}

/// The parts of a chunked body.
fn unchunked(mut body: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    while let Some(end) = body.windows(2).position(|two| two == b"\r\n") {
        let len = usize::from_str_radix(std::str::from_utf8(&body[..end]).unwrap(), 16).unwrap();
        if len == 0 {
            break;
        }
        out.extend(&body[end + 2..end + 2 + len]);
        body = &body[end + 2 + len + 2..];
    }
    out
}

/// A connection on which a text was sent.
pub(crate) fn raw(address: SocketAddr, text: &str) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.write_all(text.as_bytes()).unwrap();
    stream
}

/// A request whose response has begun, and is not read.
pub(crate) fn begun(server: &TestServer, path: &str) -> TcpStream {
    let mut stream = raw(server.address(), &format!("GET {path} HTTP/1.1\r\nHost: a\r\n\r\n"));
    let mut status = [0; 12];
    stream.read_exact(&mut status).unwrap();
    assert_eq!(&status, b"HTTP/1.1 200");
    stream
}

/// A server with other limits than the usual ones.
pub(crate) fn limited(builder: ServerBuilder, choose: impl FnOnce(&mut ServerLimits)) -> ServerBuilder {
    let mut limits = ServerLimits::default();
    choose(&mut limits);
    builder.limits(limits)
}

/// Tries for a while.
pub(crate) fn until(mut is_true: impl FnMut() -> bool) -> bool {
    (0..200).any(|_| {
        let holds = is_true();
        if !holds {
            std::thread::sleep(Duration::from_millis(50));
        }
        holds
    })
}

/// Values of text, characters as strings along their last dimension; nulls are empty.
pub(crate) fn texts(values: &Values, shape: &[u64]) -> Option<Vec<String>> {
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).trim_end_matches('\0').to_owned();
    match values {
        Values::String(strings) => Some(strings.iter().map(|one| text(one.unwrap_or_default())).collect()),
        Values::Char(all) => {
            let len = usize::try_from(*shape.last()?).unwrap();
            Some(all.chunks(len).map(text).collect())
        }
        _ => None,
    }
}

/// A folder of datasets of several kinds with the same values.
pub(crate) fn fixtures() -> TempDir {
    let folder = tempfile::tempdir().unwrap();
    let at = |name: &str| folder.path().join(name);
    std::fs::create_dir(at("sub")).unwrap();
    write(&at("three.nc"), Kind::Nc3, 6, None);
    write(&at("four.nc"), Kind::Nc4, 6, None);
    write(&at("v2.zarr"), Kind::Zarr2, 6, None);
    write(&at("sub/v3.zarr"), Kind::Zarr3, 6, None);
    write(&at("sharded.zarr"), Kind::Zarr3, 6, Some(&Shards::new(vec![4, 10])));
    big(&at("big.nc"));
    folder
}

/// Many zeros, more than sockets hold.
fn big(path: &Path) {
    let dataset = Dataset::create(path.to_str().unwrap()).unwrap();
    dataset
        .edit(|model| {
            let x = model.add_dimension(model.root(), "x", DimensionLen::Fixed(8 << 20))?;
            model.add_variable(model.root(), "v", Atomic::Float.into(), &[x])?;
            Ok(())
        })
        .unwrap();
    dataset.close().unwrap();
}

/// A dataset of that kind with so many times.
pub(crate) fn write(path: &Path, kind: Kind, times: u64, shards: Option<&Shards>) {
    let session = Session::builder().threads(2).build().unwrap();
    let dialect = (kind == Kind::Zarr3 || kind == Kind::Zarr2).then_some(Dialect::Plain);
    let options = CreateOptions::new().kind(kind).dialect(dialect).overwrite(true);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session).unwrap();
    let has_groups = kind != Kind::Nc3;
    dataset
        .edit(|model| {
            let root = model.root();
            let time = model.add_dimension(root, "time", DimensionLen::Unlimited(0))?;
            let x = model.add_dimension(root, "x", DimensionLen::Fixed(20))?;
            let len = model.add_dimension(root, "len", DimensionLen::Fixed(3))?;
            let t = model.add_variable(root, "t", Atomic::Float.into(), &[time, x])?;
            if has_groups && let Some(variable) = model.variable_mut(t) {
                variable.storage = Storage::Chunked(vec![2, 10]);
                variable.shards = shards.cloned();
            }
            model.add_variable(root, "time", Atomic::Int.into(), &[time])?;
            model.add_variable(root, "x", Atomic::Double.into(), &[x])?;
            model.add_variable(root, "names", Atomic::Char.into(), &[time, len])?;
            model.add_variable(root, "one", Atomic::Short.into(), &[])?;
            if has_groups {
                let group = model.add_group(root, "g")?;
                model.add_variable(group, "words", Atomic::String.into(), &[x])?;
                model.add_variable(group, "bytes", Atomic::UByte.into(), &[x])?;
            }
            Ok(())
        })
        .unwrap();
    let variable = |path: &str| dataset.variable(path).unwrap();
    variable("t").set_attribute(Attribute::text("units", "K")).unwrap();
    variable("time").set_attribute(Attribute::text("units", "days since 2020-01-01")).unwrap();
    let t: Vec<f32> = (0..times * 20).map(|at| f32::from(u16::try_from(at).unwrap()) / 4.0).collect();
    variable("t").write(&Selection::slab(&[0, 0], &[times, 20]), &t).unwrap();
    let days: Vec<i32> = (0..i32::try_from(times).unwrap()).collect();
    variable("time").write(&Selection::slab(&[0], &[times]), &days).unwrap();
    let x: Vec<f64> = (0..20_u8).map(|at| f64::from(at) * 10.0).collect();
    variable("x").write_all(&x).unwrap();
    let names: Vec<u8> = (0..times).flat_map(|at| [b'a', b'0' + u8::try_from(at).unwrap(), 0]).collect();
    variable("names").write_values(&Selection::slab(&[0, 0], &[times, 3]), &Values::Char(names)).unwrap();
    variable("one").write_all(&[-7_i16]).unwrap();
    if has_groups {
        let words: Strings =
            (0..20).map(|at| Some(if at == 3 { String::new() } else { format!("w\u{e9}{at}") })).collect();
        variable("g/words").write_values(&Selection::all(&[20]), &Values::String(words)).unwrap();
        let bytes: Vec<u8> = (0..20_u8).map(|at| 12 * at).collect();
        variable("g/bytes").write_all(&bytes).unwrap();
    }
    dataset.close().unwrap();
}
