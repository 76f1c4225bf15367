//! Regression tests for small faults.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus::{Atomic, Dataset, DimensionLen, Selection};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Output;

fn ncirrus(arguments: &[&str], folder: &Path) -> Output {
    crate::program::command().args(arguments).current_dir(folder).output().unwrap()
}

fn messages(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn example() -> String {
    concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc").to_owned()
}

#[test]
fn very_many_threads_are_as_good_as_some() {
    let folder = tempfile::tempdir().unwrap();
    let output = ncirrus(&["--threads", "10000", "copy", &example(), "a.zarr"], folder.path());
    assert!(output.status.success(), "{}", messages(&output));
}

/// Bytes in zlib's format, stored uncompressed.
fn stored(bytes: &[u8]) -> Vec<u8> {
    let mut framed = vec![0x78, 1];
    let mut parts = bytes.chunks(0xffff).peekable();
    while let Some(part) = parts.next() {
        let len = u16::try_from(part.len()).unwrap();
        framed.push(u8::from(parts.peek().is_none()));
        framed.extend(len.to_le_bytes());
        framed.extend((!len).to_le_bytes());
        framed.extend(part);
    }
    let (mut a, mut b) = (1u32, 0u32);
    for byte in bytes {
        a = (a + u32::from(*byte)) % 65521;
        b = (b + a) % 65521;
    }
    framed.extend((b << 16 | a).to_be_bytes());
    framed
}

#[test]
fn a_chunk_that_is_far_too_long_is_damage_and_no_question_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let made =
        ncirrus(&["copy", "-c", "time/1,lat/,lon/", "-d", "1", "-s", &example(), "a.zarr"], folder.path());
    assert!(made.status.success(), "{}", messages(&made));
    std::fs::write(folder.path().join("a.zarr/sst/3.0.0"), stored(&vec![7; 1 << 20])).unwrap();
    let output = ncirrus(&["dump", "a.zarr"], folder.path());
    assert_eq!(output.status.code(), Some(1), "{}", messages(&output));
    assert!(
        messages(&output).contains("sst") && !messages(&output).contains("--memory"),
        "{}",
        messages(&output)
    );
}

#[test]
fn shards_are_said_to_be_read_and_written() {
    let folder = tempfile::tempdir().unwrap();
    let output = ncirrus(&["filters"], folder.path());
    let listed = String::from_utf8(output.stdout).unwrap();
    let line = listed.lines().find(|line| line.contains("sharding_indexed")).unwrap();
    assert_eq!(line.split_whitespace().skip(3).take(2).collect::<Vec<_>>(), ["yes", "yes"], "{line}");
}

#[test]
fn a_hint_does_not_name_what_is_in_use() {
    let folder = tempfile::tempdir().unwrap();
    let dataset = Dataset::create(folder.path().join("a.nc4").to_str().unwrap()).unwrap();
    dataset.root().add_group("g").unwrap().add_variable("v", Atomic::Int, &[]).unwrap();
    dataset.close().unwrap();
    let output = ncirrus(&["copy", "-k", "nc5", "a.nc4", "b.nc"], folder.path());
    assert_eq!(output.status.code(), Some(6), "{}", messages(&output));
    assert!(
        messages(&output).contains("-k nc4") && !messages(&output).contains("-k nc5"),
        "{}",
        messages(&output)
    );
}

#[test]
fn an_unlimited_dimension_stays_so_without_a_coordinate_variable() {
    let folder = tempfile::tempdir().unwrap();
    for kind in ["nc3", "nc4"] {
        let name = format!("{kind}.{kind}");
        let dataset = Dataset::create(folder.path().join(&name).to_str().unwrap()).unwrap();
        let root = dataset.root();
        root.add_dimension("t", DimensionLen::Unlimited(0)).unwrap();
        root.add_dimension("x", DimensionLen::Fixed(2)).unwrap();
        let variable = root.add_variable("v", Atomic::Int, &["t", "x"]).unwrap();
        variable.write(&Selection::slab(&[0, 0], &[3, 2]), &[1, 2, 3, 4, 5, 6]).unwrap();
        dataset.close().unwrap();
        for convention in ["cf-1.13", "cfa-0.6", "cfa-0.5", "cfa-0.4"] {
            if convention == "cfa-0.5" && kind == "nc3" {
                continue;
            }
            let master = format!("{kind}-{convention}.nca");
            let split =
                ["split", "--shape", "t=1", "--convention", convention, "--format", kind, &name, &master];
            let output = ncirrus(&split, folder.path());
            assert!(output.status.success(), "{convention}: {}", messages(&output));
            let output = ncirrus(&["dump", &master], folder.path());
            let dump = String::from_utf8_lossy(&output.stdout).into_owned();
            assert!(dump.contains("t = UNLIMITED ; // (3 currently)"), "{convention}, {kind}: {dump}");
            assert!(dump.contains("5, 6 ;"), "{convention}, {kind}: {dump}");
        }
    }
}

/// A bucket with a Zarr group, from which nothing may be removed.
fn guarded() -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", listener.local_addr().unwrap());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || serve(stream));
        }
    });
    address
}

fn serve(mut stream: std::net::TcpStream) -> Option<()> {
    let mut reader = BufReader::new(stream.try_clone().ok()?);
    loop {
        let (mut first, mut len, mut is_part) = (String::new(), 0, false);
        reader.read_line(&mut first).ok().filter(|len| *len > 0)?;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line).ok()?;
            if line.trim().is_empty() {
                break;
            }
            let line = line.to_ascii_lowercase();
            if let Some(value) = line.strip_prefix("content-length:") {
                len = value.trim().parse().ok()?;
            }
            is_part |= line.starts_with("range:");
        }
        let mut body = vec![0; len];
        reader.read_exact(&mut body).ok()?;
        let requested = String::from_utf8_lossy(&body).into_owned();
        let (mut status, body) = answer(&first, &requested);
        let mut body = body.as_str();
        let mut range = String::new();
        if is_part && status == "200 OK" {
            range = format!("Content-Range: bytes 0-0/{}\r\n", body.len());
            (status, body) = ("206 Partial Content", &body[..1]);
        }
        let kept = if first.starts_with("HEAD") { "" } else { body };
        let head = format!(
            "HTTP/1.1 {status}\r\n{range}Content-Length: {}\r\nETag: \"1\"\r\nLast-Modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n\r\n",
            body.len()
        );
        stream.write_all(head.as_bytes()).ok()?;
        stream.write_all(kept.as_bytes()).ok()?;
    }
}

/// The status and body of an answer to a request with that beginning and body.
fn answer(first: &str, requested: &str) -> (&'static str, String) {
    const LISTED: &str = "<?xml version=\"1.0\"?><ListBucketResult><Name>b</Name><KeyCount>1</KeyCount>\
        <IsTruncated>false</IsTruncated><Contents><Key>d/.zgroup</Key>\
        <LastModified>2000-01-01T00:00:00.000Z</LastModified><ETag>\"1\"</ETag><Size>17</Size></Contents>\
        </ListBucketResult>";
    const DENIED: &str = "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>";
    let is_group = first.contains("/d/.zgroup");
    let (status, body) = match first.split(' ').next() {
        Some("DELETE") => ("204 No Content", ""),
        // An answer about a key that was not requested to be removed.
        Some("POST") if first.contains("/odd") => return ("200 OK", refused("<Key>d/other</Key>")),
        Some("POST") if first.contains("delete") => return ("200 OK", refused(requested)),
        Some("GET" | "HEAD") if is_group => ("200 OK", "{\"zarr_format\":2}"),
        Some("GET") if first.contains("list-type") => ("200 OK", LISTED),
        Some("GET" | "HEAD") => ("404 Not Found", "<Error><Code>NoSuchKey</Code></Error>"),
        _ => ("403 Forbidden", DENIED),
    };
    (status, body.to_owned())
}

/// The answer if none of the requested keys may be removed.
fn refused(requested: &str) -> String {
    let keys = requested.split("<Key>").skip(1).filter_map(|rest| rest.split("</Key>").next());
    let errors = keys.map(|key| {
        format!("<Error><Key>{key}</Key><Code>AccessDenied</Code><Message>Access Denied</Message></Error>")
    });
    format!("<?xml version=\"1.0\"?><DeleteResult>{}</DeleteResult>", errors.collect::<String>())
}

#[test]
fn removing_what_is_denied_is_denied() {
    let folder = tempfile::tempdir().unwrap();
    // The server refuses each document that the format may have. They are removed side by side, so any of them may be
    // the one that is named.
    for (bucket, place) in [("b", "s3://b/d/"), ("odd", "s3://odd/d")] {
        let output = crate::program::command()
            .args(["rm", "-y", "--force", &format!("s3://{bucket}/d")])
            .current_dir(folder.path())
            .env("AWS_ENDPOINT_URL", guarded())
            .env("AWS_REGION", "us-east-1")
            .env("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
            .env("AWS_SECRET_ACCESS_KEY", "secret")
            .output()
            .unwrap();
        assert_eq!(output.status.code(), Some(4), "{}", messages(&output));
        assert!(messages(&output).contains(place), "{}", messages(&output));
    }
}
