//! Datasets behind a real HTTP server: files, trees and zips are read by ranges, and one odd member costs only itself.
#![cfg(all(feature = "http", feature = "zip"))]
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
mod support;

use ncirrus::{Atomic, Attribute, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Session};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use support::{exact_cdl, session, temp};

/// Serves the files below a folder, ranges included, to the end of the test; paths that contain `denied` are denied.
fn serve(folder: &Path, denied: Option<&'static str>) -> String {
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

fn answer(stream: TcpStream, folder: &Path, denied: Option<&str>) -> Option<()> {
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
        let is_denied = denied.is_some_and(|denied| path.contains(denied));
        let file = folder.join(path);
        stream.write_all(&response((!is_denied).then_some(&file), range.as_deref())).ok()?;
    }
}

/// What the server says of a file; `None`: that it is denied.
fn response(file: Option<&PathBuf>, range: Option<&str>) -> Vec<u8> {
    let plain = |status: &str| format!("HTTP/1.1 {status}\r\nContent-Length: 0\r\n\r\n").into_bytes();
    let Some(file) = file else { return plain("403 Forbidden") };
    let Ok(body) = std::fs::read(file) else { return plain("404 Not Found") };
    let size = body.len();
    let (status, start, end) = match range.and_then(|range| range.split_once('-')) {
        Some(("", last)) => ("206 Partial Content", size.saturating_sub(last.parse().unwrap()), size),
        Some((first, last)) => {
            let first: usize = first.parse().unwrap();
            if first >= size {
                return plain("416 Range Not Satisfiable");
            }
            ("206 Partial Content", first, last.parse().map_or(size, |last: usize| size.min(last + 1)))
        }
        None => ("200 OK", 0, size),
    };
    let last = end.saturating_sub(1);
    let mut bytes = format!(
        "HTTP/1.1 {status}\r\nContent-Length: {}\r\nContent-Range: bytes {start}-{last}/{size}\r\nETag: \"{size}\"\r\n\r\n",
        end - start
    )
    .into_bytes();
    bytes.extend_from_slice(&body[start..end]);
    bytes
}

/// A small dataset with two variables, as the options say.
fn make(path: &Path, options: &CreateOptions, session: &Session) {
    let dataset = Dataset::create_with(path.to_str().unwrap(), options, session).unwrap();
    let root = dataset.root();
    root.set_attribute(Attribute::text("title", "over the wire")).unwrap();
    root.add_dimension("x", DimensionLen::Fixed(5)).unwrap();
    for name in ["a", "secret"] {
        let variable = root.add_variable(name, Atomic::Short, &["x"]).unwrap();
        variable.write_all(&[1i16, 2, 3, 4, 5]).unwrap();
    }
    dataset.close().unwrap();
}

fn options(kind: Kind, consolidated: bool) -> CreateOptions {
    CreateOptions { kind: Some(kind), consolidated, ..CreateOptions::default() }
}

#[test]
fn files_trees_and_zips_read_as_they_do_locally() {
    let (_folder, root) = temp();
    let session = session();
    for (name, options) in [
        ("a.nc", options(Kind::Nc3, false)),
        ("b.zarr", options(Kind::NcZarr, true)),
        ("c.zip", options(Kind::NcZarr, true)),
        ("d.zarr", options(Kind::Zarr3, true)),
    ] {
        let path = root.join(name);
        make(&path, &options, &session);
        let local = exact_cdl(&support::open(&path, &session).unwrap(), "x");
        let url = format!("{}/{name}", serve(&root, None));
        let remote = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session);
        assert_eq!(exact_cdl(&remote.unwrap(), "x"), local, "{name}");
    }
}

#[test]
fn a_denied_member_costs_only_itself() {
    let (_folder, root) = temp();
    let session = session();
    make(&root.join("x.zarr"), &options(Kind::NcZarr, false), &session);
    let url = format!("{}/x.zarr", serve(&root, Some("secret")));
    let dataset = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session).unwrap();
    assert_eq!(dataset.variable("a").unwrap().read::<i16>().unwrap(), [1, 2, 3, 4, 5]);
    assert!(dataset.variable("secret").unwrap().fault().is_some());
}

#[test]
fn what_is_not_there_is_told_as_such() {
    let (_folder, root) = temp();
    let url = format!("{}/nope.nc", serve(&root, None));
    let error = Dataset::open_with(&url, &ncirrus::OpenOptions::default(), &session()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::NotFound, "{error}");
    assert!(error.to_string().contains("nope.nc"), "{error}");
}
