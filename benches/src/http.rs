//! A file server on this machine that answers with a delay, like a remote one, and a client without overhead.
use crate::Failure;
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Serves the files of a folder by ranges until standard input ends; every answer is delayed by `latency`. Prints its
/// URL as the only line.
pub(crate) fn serve(folder: &str, latency: Duration) -> Result<String, Failure> {
    let listener = TcpListener::bind("127.0.0.1:0")?;
    let url = format!("http://{}", listener.local_addr()?);
    let folder = PathBuf::from(folder);
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer_all(stream, &folder, latency));
        }
    });
    Ok(url)
}

/// Answers requests of one connection until it ends.
fn answer_all(stream: TcpStream, folder: &Path, latency: Duration) -> Option<()> {
    stream.set_nodelay(true).ok()?;
    let (mut reader, mut stream) = (BufReader::new(stream.try_clone().ok()?), stream);
    loop {
        let head = head(&mut reader)?;
        std::thread::sleep(latency);
        answer(&mut stream, &head, folder).ok()?;
    }
}

/// The lines of a request's or response's head; `None` at the end of the connection.
fn head(reader: &mut impl BufRead) -> Option<Vec<String>> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        match line.trim() {
            "" => return Some(lines),
            line => lines.push(line.to_owned()),
        }
    }
}

/// The value of a header field.
fn header<'a>(head: &'a [String], wanted: &str) -> Option<&'a str> {
    let pairs = head.iter().filter_map(|line| line.split_once(':'));
    pairs.filter(|(name, _)| name.eq_ignore_ascii_case(wanted)).map(|(_, value)| value.trim()).next()
}

fn answer(stream: &mut TcpStream, head: &[String], folder: &Path) -> Result<(), Failure> {
    let mut words = head.first().map(String::as_str).unwrap_or_default().split(' ');
    let (method, path) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    let Ok(mut file) = File::open(folder.join(path.trim_start_matches('/'))) else {
        return Ok(stream.write_all(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")?);
    };
    let size = file.metadata()?.len();
    let requested = header(head, "range").and_then(|value| value.strip_prefix("bytes=")?.split_once('-'));
    let (status, start, end) = match requested {
        Some(("", last)) => ("206 Partial Content", size.saturating_sub(last.parse()?), size),
        Some((first, "")) => ("206 Partial Content", first.parse()?, size),
        Some((first, last)) => ("206 Partial Content", first.parse()?, size.min(last.parse::<u64>()? + 1)),
        None => ("200 OK", 0, size),
    };
    if start >= end {
        return Ok(stream.write_all(b"HTTP/1.1 416 Range Not Satisfiable\r\nContent-Length: 0\r\n\r\n")?);
    }
    let (last, len) = (end - 1, end - start);
    write!(
        stream,
        "HTTP/1.1 {status}\r\nAccept-Ranges: bytes\r\nETag: \"{size}\"\r\nContent-Length: {len}\r\n"
    )?;
    if requested.is_some() {
        write!(stream, "Content-Range: bytes {start}-{last}/{size}\r\n")?;
    }
    stream.write_all(b"\r\n")?;
    if method != "HEAD" {
        file.seek(SeekFrom::Start(start))?;
        std::io::copy(&mut file.take(len), stream)?;
    }
    Ok(())
}

/// A connection that requests ranges of one file.
pub(crate) struct Client {
    reader: BufReader<TcpStream>,
    host: String,
    path: String,
}

impl Client {
    pub(crate) fn connect(url: &str) -> Result<Self, Failure> {
        let rest = url.strip_prefix("http://").ok_or("only http is measured")?;
        let (host, path) = rest.split_once('/').ok_or("a URL without a path")?;
        let stream = TcpStream::connect(host)?;
        stream.set_nodelay(true)?;
        Ok(Self { reader: BufReader::new(stream), host: host.to_owned(), path: path.to_owned() })
    }

    pub(crate) fn get(&mut self, range: &Range<u64>, out: &mut [u8]) -> Result<(), Failure> {
        let request = format!(
            "GET /{} HTTP/1.1\r\nHost: {}\r\nRange: bytes={}-{}\r\n\r\n",
            self.path,
            self.host,
            range.start,
            range.end - 1
        );
        self.reader.get_mut().write_all(request.as_bytes())?;
        let head = head(&mut self.reader).ok_or("the connection ended")?;
        if header(&head, "content-length").and_then(|len| len.parse().ok()) != Some(out.len()) {
            return Err(format!("an answer of another length: {head:?}").into());
        }
        Ok(self.reader.read_exact(out)?)
    }

    /// Fetches a whole object from the same host.
    pub(crate) fn whole(&mut self, path: &str) -> Result<Vec<u8>, Failure> {
        let request = format!("GET /{path} HTTP/1.1\r\nHost: {}\r\n\r\n", self.host);
        self.reader.get_mut().write_all(request.as_bytes())?;
        self.body()
    }

    /// Puts an object on the same host.
    pub(crate) fn put(&mut self, path: &str, body: &[u8]) -> Result<(), Failure> {
        let len = body.len();
        let request = format!("PUT /{path} HTTP/1.1\r\nHost: {}\r\nContent-Length: {len}\r\n\r\n", self.host);
        self.reader.get_mut().write_all(request.as_bytes())?;
        self.reader.get_mut().write_all(body)?;
        self.body().map(|_| ())
    }

    /// The body of a successful answer.
    fn body(&mut self) -> Result<Vec<u8>, Failure> {
        let head = head(&mut self.reader).ok_or("the connection ended")?;
        if !head.first().is_some_and(|line| line.contains(" 200 ")) {
            return Err(format!("refused: {head:?}").into());
        }
        let len = header(&head, "content-length").unwrap_or("0").parse()?;
        let mut body = vec![0; len];
        self.reader.read_exact(&mut body)?;
        Ok(body)
    }
}
