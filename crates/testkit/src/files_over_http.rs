//! A small HTTP server of files, for tests.
#![expect(clippy::unwrap_used, reason = "a test cannot go on without its server")]

use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};

/// Serves the files below a folder, including ranges, until the test ends; paths that contain `denied` are denied.
pub fn serve(folder: &Path, denied: Option<&'static str>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_path_buf();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || answer(stream, &folder, denied));
        }
    });
    address
}

/// As [`serve`], with an ETag that is computed from the bytes of a file, and one time of modification for all.
pub fn serve_tagged(folder: &Path, etag: fn(&[u8]) -> String, modified: &'static str) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    let folder = folder.to_path_buf();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let folder = folder.clone();
            std::thread::spawn(move || {
                answer_each(stream, |path, range| tagged_response(&folder.join(path), range, etag, modified))
            });
        }
    });
    address
}

fn tagged_response(file: &Path, range: Option<&str>, etag: fn(&[u8]) -> String, modified: &str) -> Vec<u8> {
    let plain = response(Some(&file.to_path_buf()), range);
    let Ok(bytes) = std::fs::read(file) else { return plain };
    let start = b"\r\nETag: ";
    let Some(at) = plain.windows(start.len()).position(|window| window == start) else { return plain };
    let rest = plain.get(at + 2..).unwrap_or_default();
    let end = rest.iter().position(|byte| *byte == b'\r').map_or(plain.len(), |len| at + 2 + len);
    let header = format!("\r\nETag: {}\r\nLast-Modified: {modified}", etag(&bytes));
    [plain.get(..at).unwrap_or_default(), header.as_bytes(), plain.get(end..).unwrap_or_default()].concat()
}

fn answer(stream: TcpStream, folder: &Path, denied: Option<&str>) -> Option<()> {
    answer_each(stream, |path, range| {
        let is_denied = denied.is_some_and(|denied| path.contains(denied));
        let file = folder.join(path);
        response((!is_denied).then_some(&file), range)
    })
}

/// Responds to all requests of a connection.
fn answer_each(stream: TcpStream, respond: impl Fn(&str, Option<&str>) -> Vec<u8>) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    let mut stream = stream;
    loop {
        let mut lines = Vec::new();
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line).ok()? == 0 {
                return None;
            }
            if line.trim().is_empty() {
                break;
            }
            lines.push(line.trim().to_owned());
        }
        let path = lines.first()?.split(' ').nth(1)?.trim_start_matches('/').to_owned();
        let range = lines.iter().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            name.eq_ignore_ascii_case("range").then(|| value.trim().trim_start_matches("bytes=").to_owned())
        });
        stream.write_all(&respond(&path, range.as_deref())).ok()?;
    }
}

/// The server's response for a file; `None` means denied.
fn response(file: Option<&PathBuf>, range: Option<&str>) -> Vec<u8> {
    let plain = |status: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").into_bytes();
    let Some(file) = file else { return plain("403 Forbidden") };
    if file.is_dir() {
        return format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n{INDEX}", INDEX.len()).into_bytes();
    }
    let Ok(file) = File::open(file) else { return plain("404 Not Found") };
    let size = file.metadata().unwrap().len();
    let (status, start, end) = match range.and_then(|range| range.split_once('-')) {
        Some(("", last)) => ("206 Partial Content", size.saturating_sub(last.parse().unwrap()), size),
        Some((first, last)) => {
            let first: u64 = first.parse().unwrap();
            if first >= size {
                return plain("416 Range Not Satisfiable");
            }
            ("206 Partial Content", first, last.parse().map_or(size, |last: u64| size.min(last + 1)))
        }
        None => ("200 OK", 0, size),
    };
    let (last, len) = (end.saturating_sub(1), end - start);
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {len}\r\nContent-Range: bytes {start}-{last}/{size}\r\nETag: \"{size}\"\r\n\r\n"
    )
    .into_bytes();
    part(file, start, len, &mut bytes).unwrap();
    bytes
}

/// The page for a folder.
const INDEX: &str = "<!DOCTYPE html>\n<html><head><title>Index</title></head><body></body></html>";

fn part(mut file: File, start: u64, len: u64, out: &mut Vec<u8>) -> std::io::Result<()> {
    file.seek(SeekFrom::Start(start))?;
    file.take(len).read_to_end(out).map(|_| ())
}
