//! What RFC 9110 allows an answer to look like, against a real server.
use crate::web::tests::{connect, connect_with, digits, get, options, run};
use ncirrus_layout::{ErrorKind, Want};
use ncirrus_store::{ReadOnlyStore, StoreOptions};
use ncirrus_testkit::http_server::{MadeAnswer, ServerPage, TestHttpServer};
use rstest::rstest;

/// First and last byte of a requested range of an object.
fn requested(bytes: &[u8], range: Option<&str>) -> (usize, usize) {
    let size = bytes.len();
    let Some(range) = range else { return (0, size - 1) };
    match range.trim_start_matches("bytes=").split_once('-').unwrap() {
        ("", len) => (size.saturating_sub(len.parse().unwrap()), size - 1),
        (first, last) => (first.parse().unwrap(), last.parse::<usize>().unwrap().min(size - 1)),
    }
}

/// A partial answer with these bytes, of an object in a state.
fn sent(bytes: &[u8], (first, last): (usize, usize), state: &str) -> (String, Vec<u8>) {
    let (len, size) = (last + 1 - first, bytes.len());
    let head = format!(
        "206 Partial Content\r\n{state}content-range: bytes {first}-{last}/{size}\r\ncontent-length: {len}\r\n"
    );
    (head, bytes[first..=last].to_vec())
}

const TAG: &str = "etag: \"1\"\r\n";
const WEAK: &str = "etag: W/\"1\"\r\n";
const OLD: &str = "date: Sat, 01 Jan 2000 00:00:01 GMT\r\nlast-modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n";
const NEW: &str = "date: Sat, 01 Jan 2000 00:00:00 GMT\r\nlast-modified: Sat, 01 Jan 2000 00:00:00 GMT\r\n";

/// At most `MAX` bytes.
fn capped<const MAX: usize>(bytes: &[u8], range: Option<&str>, state: &str) -> (String, Vec<u8>) {
    let (first, last) = requested(bytes, range);
    sent(bytes, (first, last.min(first + MAX - 1)), state)
}

/// A body of parts with these ranges.
fn parts(bytes: &[u8], ranges: &[(usize, usize)]) -> (String, Vec<u8>) {
    let mut body = Vec::new();
    for (first, last) in ranges {
        let size = bytes.len();
        body.extend(format!("--b\r\nContent-Range: bytes {first}-{last}/{size}\r\n\r\n").bytes());
        body.extend(&bytes[*first..=*last]);
        body.extend(b"\r\n");
    }
    body.extend(b"--b--\r\n");
    let kind = "content-type: multipart/byteranges; boundary=b\r\n";
    (format!("206 Partial Content\r\n{TAG}{kind}content-length: {}\r\n", body.len()), body)
}

/// For bodies that take a busy machine some time.
fn patient() -> StoreOptions {
    StoreOptions { timeout: std::time::Duration::from_secs(30), ..options() }
}

fn requests_of(want: &Want, page: ServerPage) -> (Vec<u8>, Vec<String>) {
    let server = TestHttpServer::start([("/x", page)]);
    let blob = get(&server.url("/x"), want).unwrap().unwrap();
    assert_eq!(blob.size, 10, "{want:?}");
    let bytes = blob.bytes.to_vec();
    let start = usize::try_from(blob.offset).unwrap();
    assert_eq!(bytes, digits()[start..start + bytes.len()], "{want:?}");
    (bytes, server.requests().into_iter().map(|request| request.replace("/x bytes=", "")).collect())
}

#[test]
fn an_answer_that_is_shorter_than_requested_is_continued() {
    let page = ServerPage::Made(digits(), |bytes, range| capped::<4>(bytes, range, TAG));
    for (want, bytes, requests) in [
        (Want::Range(1..10), &b"123456789"[..], &["1-9", "5-9", "9-9"][..]),
        (Want::Range(2..6), b"2345", &["2-5"]),
        (Want::Range(2..50), b"23456789", &["2-49", "6-9"]),
        (Want::Parse(0..5), b"01234", &["0-4", "4-4"]),
        (Want::Suffix(6), b"456789", &["-6", "8-9"]),
        (Want::Suffix(60), b"0123456789", &["-60", "4-9", "8-9"]),
        (Want::All, b"0123456789", &["/x", "4-9", "8-9"]),
        (Want::AtMost(10), b"0123456789", &["/x", "4-9", "8-9"]),
        (Want::Range(3..3), b"", &["3-3"]),
    ] {
        let (read, seen) = requests_of(&want, page.clone());
        assert_eq!(
            (read.as_slice(), seen.as_slice()),
            (bytes, &requests.iter().map(|text| (*text).to_owned()).collect::<Vec<_>>()[..]),
            "{want:?}"
        );
    }
}

#[rstest]
#[case(TAG, "if-match: \"1\"")]
#[case(OLD, "if-unmodified-since: Sat, 01 Jan 2000 00:00:00 GMT")]
fn the_rest_is_requested_of_the_same_state(#[case] state: &str, #[case] condition: &str) {
    let made: MadeAnswer = match state {
        TAG => |bytes, range| capped::<6>(bytes, range, TAG),
        _ => |bytes, range| capped::<6>(bytes, range, OLD),
    };
    let page = ServerPage::Made(digits(), made);
    let again = ServerPage::If(
        condition.to_owned(),
        Box::new(page.clone()),
        Box::new(ServerPage::Status("400 Bad Request\r\n")),
    );
    let page = ServerPage::First(1, Box::new(page), Box::new(again));
    let (read, seen) = requests_of(&Want::Range(0..10), page);
    assert_eq!((read.len(), seen.len()), (10, 2), "{seen:?}");
}

#[test]
fn the_rest_of_an_object_that_changed_is_an_error() {
    let short = || Box::new(ServerPage::Made(digits(), |bytes, range| capped::<4>(bytes, range, TAG)));
    let server = TestHttpServer::start([
        ("/tag", ServerPage::First(1, short(), Box::new(ServerPage::Tagged("\"2\"", digits())))),
        ("/size", ServerPage::First(1, short(), Box::new(ServerPage::Ranged(digits()[..9].to_vec())))),
        ("/refused", ServerPage::First(1, short(), Box::new(ServerPage::Status("412 No\r\n")))),
        (
            "/gone",
            ServerPage::First(
                1,
                short(),
                Box::new(ServerPage::Status("416 No\r\ncontent-range: bytes */4\r\n")),
            ),
        ),
        (
            "/whole",
            ServerPage::First(
                1,
                short(),
                Box::new(ServerPage::WithStatus("200 OK\r\netag: \"2\"\r\n", digits())),
            ),
        ),
    ]);
    for path in ["/tag", "/size", "/refused", "/gone", "/whole"] {
        let error = get(&server.url(path), &Want::Range(0..10)).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Changed, "{path}: {error}");
    }
    assert_eq!(server.requests().len(), 10);
}

#[test]
fn the_whole_object_may_follow_a_part_of_it() {
    let short = ServerPage::Made(digits(), |bytes, range| capped::<4>(bytes, range, TAG));
    let page = ServerPage::First(1, Box::new(short), Box::new(ServerPage::Whole(digits())));
    let (read, seen) = requests_of(&Want::Range(0..9), page);
    assert_eq!((read.len(), seen.len()), (9, 2), "{seen:?}");
}

/// Neither a weak tag nor a time within the second of the answer identifies bytes.
#[rstest]
#[case(|bytes: &[u8], range: Option<&str>| capped::<7>(bytes, range, WEAK))]
#[case(|bytes: &[u8], range: Option<&str>| capped::<7>(bytes, range, NEW))]
#[case(|bytes: &[u8], range: Option<&str>| capped::<7>(bytes, range, ""))]
fn without_a_state_everything_is_requested_again_a_few_times(#[case] made: MadeAnswer) {
    let short = ServerPage::Made(digits(), made);
    let server = TestHttpServer::start([
        ("/always", short.clone()),
        ("/twice", ServerPage::First(2, Box::new(short), Box::new(ServerPage::Ranged(digits())))),
    ]);
    let error = get(&server.url("/always"), &Want::Range(0..8)).unwrap_err();
    assert!(error.message().starts_with("answer has 7 of 8 bytes, and neither a strong ETag"), "{error}");
    assert_eq!(server.requests(), ["/always bytes=0-7"; 3]);
    assert_eq!(get(&server.url("/twice"), &Want::Range(0..8)).unwrap().unwrap().bytes, digits()[..8]);
    assert_eq!(server.requests()[3..], ["/twice bytes=0-7"; 3]);
}

#[test]
fn a_server_that_sends_a_byte_at_a_time_is_given_up() {
    let bytes = vec![7; 1000];
    let server = TestHttpServer::start([
        ("/x", ServerPage::Made(bytes.clone(), |bytes, range| capped::<1>(bytes, range, TAG))),
        ("/y", ServerPage::Made(bytes, |bytes, range| capped::<4>(bytes, range, TAG))),
    ]);
    let error = get(&server.url("/x"), &Want::Range(0..1000)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    assert_eq!(error.message(), "256 answers have only 256 of the 1000 bytes that were requested");
    assert_eq!(server.requests().len(), 256);
    assert_eq!(get(&server.url("/y"), &Want::Range(0..1000)).unwrap().unwrap().bytes.len(), 1000);
    assert_eq!(server.requests().len(), 256 + 250);
}

#[test]
fn an_answer_without_the_next_byte_is_an_error() {
    let server = TestHttpServer::start([
        ("/again", ServerPage::Made(digits(), |bytes, _| sent(bytes, (0, 3), TAG))),
        ("/behind", ServerPage::Made(digits(), |bytes, _| sent(bytes, (3, 5), TAG))),
        ("/before", ServerPage::Made(digits(), |bytes, _| sent(bytes, (0, 1), TAG))),
        (
            "/refused",
            ServerPage::First(
                1,
                Box::new(ServerPage::Made(digits(), |bytes, range| capped::<4>(bytes, range, TAG))),
                Box::new(ServerPage::Status("416 No\r\ncontent-range: bytes */10\r\n")),
            ),
        ),
        ("/none", ServerPage::WithStatus("206 Partial Content\r\netag: \"1\"\r\n", digits())),
        (
            "/items",
            ServerPage::WithStatus("206 Partial Content\r\ncontent-range: items 0-9/10\r\n", digits()),
        ),
    ]);
    for (path, requests) in
        [("/again", 2), ("/behind", 1), ("/before", 1), ("/refused", 2), ("/none", 1), ("/items", 1)]
    {
        let before = server.requests().len();
        let want = if path == "/again" { Want::Range(0..8) } else { Want::Range(2..8) };
        let error = get(&server.url(path), &want).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Malformed, "{path}: {error}");
        assert_eq!(server.requests().len() - before, requests, "{path}: {error}");
    }
}

#[test]
fn an_answer_that_is_wider_than_requested_is_cut() {
    let wide = ServerPage::Made(digits(), |bytes, range| {
        let (first, last) = requested(bytes, range);
        sent(bytes, (first.saturating_sub(2), (last + 2).min(9)), TAG)
    });
    for (want, len) in
        [(Want::Range(3..5), 2), (Want::Range(0..10), 10), (Want::Suffix(3), 3), (Want::Range(9..20), 1)]
    {
        let (read, seen) = requests_of(&want, wide.clone());
        assert_eq!((read.len(), seen.len()), (len, 1), "{want:?}: {seen:?}");
    }
    let all = ServerPage::Made(digits(), |bytes, _| sent(bytes, (0, 9), TAG));
    let (read, seen) = requests_of(&Want::Range(4..6), all.clone());
    assert_eq!((read.as_slice(), seen.len()), (&b"45"[..], 1));
    // Short and wide at once.
    let blocks = ServerPage::Made(digits(), |bytes, range| {
        let first = requested(bytes, range).0 / 4 * 4;
        sent(bytes, (first, (first + 3).min(9)), TAG)
    });
    let (read, seen) = requests_of(&Want::Range(2..9), blocks);
    assert_eq!((read.as_slice(), seen), (&b"2345678"[..], ["2-8", "4-8", "8-8"].map(str::to_owned).to_vec()));
    let server = TestHttpServer::start([("/x", all)]);
    let (store, object) =
        connect_with(&server.url("/x"), StoreOptions { whole_bytes: 3, ..StoreOptions::default() });
    let error = run(store.get(&object, &Want::Range(4..6))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
}

#[test]
fn what_follows_a_wide_answer_is_not_read() {
    let wide = |bytes: &[u8], _: Option<&str>| sent(bytes, (0, bytes.len() - 1), TAG);
    let server = TestHttpServer::start([("/x", ServerPage::Made(vec![7; 8 << 20], wide))]);
    let context = crate::NetworkContext::from(patient());
    let url = ncirrus_store::Url::parse(&server.url("/x")).unwrap();
    let (store, object) = crate::HttpStore::connect(&url, &context).unwrap();
    assert_eq!(run(store.get(&object, &Want::Range(0..1000))).unwrap().unwrap().bytes.len(), 1000);
    let received = context.connections.traffic().received;
    assert!((1000..1 << 20).contains(&received), "{received} bytes were read");
}

#[test]
fn answers_of_several_parts_are_read() {
    let split = ServerPage::Made(digits(), |bytes, range| {
        let (first, last) = requested(bytes, range);
        let middle = (first + last) / 2;
        if first == last {
            parts(bytes, &[(first, last)])
        } else {
            parts(bytes, &[(middle + 1, last), (first, middle)])
        }
    });
    for want in [Want::Range(2..8), Want::Range(5..6), Want::Suffix(4), Want::Range(8..20), Want::Range(3..3)]
    {
        let (_, seen) = requests_of(&want, split.clone());
        assert_eq!(seen.len(), 1, "{want:?}: {seen:?}");
    }
    // With a hole, too short, and wider than requested.
    let odd = ServerPage::Made(digits(), |bytes, range| match requested(bytes, range) {
        (2, 8) => parts(bytes, &[(7, 8), (0, 3)]),
        (first, last) => parts(bytes, &[(first - 1, last)]),
    });
    let (read, seen) = requests_of(&Want::Range(2..9), odd);
    assert_eq!((read.as_slice(), seen), (&b"2345678"[..], ["2-8", "4-8"].map(str::to_owned).to_vec()));
}

#[test]
fn bad_answers_of_several_parts_are_errors() {
    let cut: MadeAnswer = |bytes, _| {
        let (head, mut body) = parts(bytes, &[(2, 7)]);
        body.truncate(body.len() - 6);
        (head.split("content-length").next().unwrap().to_owned(), body)
    };
    let server = TestHttpServer::start([
        ("/other", ServerPage::Made(digits(), |bytes, _| parts(bytes, &[(0, 1), (8, 9)]))),
        ("/long", ServerPage::Made(vec![7; 100_000], |bytes, _| parts(bytes, &[(2, 99_999)]))),
        ("/whole", ServerPage::Made(digits(), |bytes, _| parts(bytes, &[(0, 9)]))),
        ("/cut", ServerPage::Made(digits(), cut)),
    ]);
    for (path, want, kind, requests) in [
        ("/other", Want::Range(2..8), ErrorKind::Malformed, 1),
        ("/long", Want::Range(2..8), ErrorKind::Limit, 1),
        ("/whole", Want::All, ErrorKind::Malformed, 1),
        ("/cut", Want::Range(2..8), ErrorKind::Io { retryable: true }, 4),
    ] {
        let before = server.requests().len();
        let error = get(&server.url(path), &want).unwrap_err();
        assert_eq!(error.kind(), kind, "{path}: {error}");
        assert_eq!(server.requests().len() - before, requests, "{path}: {error}");
    }
    let once = ServerPage::First(
        1,
        Box::new(ServerPage::Made(digits(), cut)),
        Box::new(ServerPage::Ranged(digits())),
    );
    let (_, seen) = requests_of(&Want::Range(2..8), once);
    assert_eq!(seen.len(), 2, "{seen:?}");
}

#[test]
fn what_a_proxy_has_changed_is_the_object() {
    let head = "203 Non-Authoritative Information\r\netag: \"1\"\r\n";
    for want in [Want::All, Want::Range(2..5), Want::Suffix(3)] {
        let (_, seen) = requests_of(&want, ServerPage::WithStatus(head, digits()));
        assert_eq!(seen.len(), 1);
    }
    let server = TestHttpServer::start([("/x", ServerPage::WithStatus(head, digits()))]);
    let (store, object) = connect(&server.url("/x"));
    for start in 0..3 {
        assert!(run(store.get(&object, &Want::Range(start..start + 2))).unwrap().is_some());
    }
    assert_eq!(server.requests().len(), 1, "it was sent whole");
}

#[test]
fn a_whole_object_of_unknown_length_is_read_up_to_the_limit() {
    let endless: MadeAnswer = |bytes, _| (format!("200 OK\r\n{TAG}"), bytes.to_vec());
    let server = TestHttpServer::start([("/x", ServerPage::Made(vec![7; 8 << 20], endless))]);
    let context = crate::NetworkContext::from(StoreOptions { whole_bytes: 1 << 18, ..patient() });
    let url = ncirrus_store::Url::parse(&server.url("/x")).unwrap();
    let (store, object) = crate::HttpStore::connect(&url, &context).unwrap();
    let error = run(store.get(&object, &Want::Range(0..10))).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Limit, "{error}");
    let received = context.connections.traffic().received;
    assert!(received < 2 << 20, "{received} bytes were read");
}

#[test]
fn tags_may_have_bytes_beyond_ascii() {
    let page = ServerPage::Raw(
        b"HTTP/1.1 200 OK\r\netag: \"\xe9\"\r\ncontent-length: 10\r\nconnection: close\r\n\r\n0123456789"
            .to_vec(),
    );
    let server = TestHttpServer::start([("/x", page)]);
    assert_eq!(get(&server.url("/x"), &Want::All).unwrap().unwrap().tag.as_str(), "\"\u{e9}\"");
}

#[test]
fn a_compressed_answer_that_always_ends_early_is_given_up() {
    use std::io::Write as _;
    let mut zipped = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    zipped.write_all(&digits()).unwrap();
    let mut zipped = zipped.finish().unwrap();
    zipped.truncate(zipped.len() - 4);
    let page = ServerPage::WithStatus("200 OK\r\ncontent-encoding: gzip\r\n", zipped);
    let server = TestHttpServer::start([("/x", page)]);
    let (store, object) = connect(&format!("{}#dap4", server.url("/x")));
    let error = run(store.get(&object, &Want::All)).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io { retryable: true }, "{error}");
    assert!(error.message().starts_with("the compressed answer was cut off; given up after 4"), "{error}");
    assert_eq!(server.requests().len(), 4);
}
