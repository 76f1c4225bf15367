use super::*;
use reqwest::header::HeaderValue;

const NOW: u64 = 946_684_800; // 2000-01-01

fn now() -> SystemTime {
    SystemTime::UNIX_EPOCH + Duration::from_secs(NOW)
}

fn headers(pairs: &[(HeaderName, &'static str)]) -> HeaderMap {
    pairs.iter().map(|(name, value)| (name.clone(), HeaderValue::from_static(value))).collect()
}

#[test]
fn waits_are_requested_in_seconds_or_by_date() {
    let wait = |text| retry_after(&headers(&[(RETRY_AFTER, text)]), now());
    assert_eq!(wait("7"), Some(Duration::from_secs(7)));
    assert_eq!(wait("Sat, 01 Jan 2000 00:00:30 GMT"), Some(Duration::from_secs(30)));
    assert_eq!(wait("Fri, 31 Dec 1999 00:00:00 GMT"), Some(Duration::ZERO));
    assert_eq!(wait("soon"), None);
}

#[test]
fn clocks_are_compared() {
    let reported = |text| clocks_differ(&headers(&[(DATE, text)]), now(), 0).map(clock_difference_text);
    assert_eq!(reported("Sat, 01 Jan 2000 00:04:00 GMT"), None);
    let behind = "the clock of this machine is 20 min 5 s behind the server's";
    assert_eq!(reported("Sat, 01 Jan 2000 00:20:05 GMT").as_deref(), Some(behind));
    let ahead = "the clock of this machine is 1440 min 0 s ahead of the server's";
    assert_eq!(reported("Fri, 31 Dec 1999 00:00:00 GMT").as_deref(), Some(ahead));
    let signed =
        |seconds| clocks_differ(&headers(&[(DATE, "Sat, 01 Jan 2000 01:00:00 GMT")]), now(), seconds);
    assert_eq!(signed(0), Some(3600));
    assert_eq!(signed(3590), None, "signed by the server's clock");
    assert_eq!(signed(-3600), Some(3600));
}

#[test]
fn codes_of_errors_are_found_in_xml() {
    assert_eq!(code(b"<?xml version=\"1.0\"?>\n<Error><Code>SlowDown</Code></Error>"), Some("SlowDown"));
    for text in ["", "<Code>SlowDown</Code>", "<Error><Code>Slow", "<Error>", "\u{e9}"] {
        assert_eq!(code(text.as_bytes()), None, "{text}");
    }
}

#[test]
fn parts_have_the_bytes_that_were_requested() {
    let requested = PendingRequest {
        method: Method::GET,
        range: Some("bytes=2-5".to_owned()),
        parts: PartialAnswers::Requested,
        is_signed: false,
        ahead: 0,
    };
    let len = |place, declared| {
        let headers = headers(&[(CONTENT_RANGE, place), (CONTENT_LENGTH, declared)]);
        body_len(StatusCode::PARTIAL_CONTENT, &headers, &requested).map_err(|failure| failure.to_string())
    };
    assert_eq!(len("bytes 2-5/10", "4"), Ok(Some(4)));
    assert_eq!(len("bytes 2-3/4", "2"), Ok(Some(2)), "cut at the end of the object");
    assert_eq!(len("bytes 2-4/10", "3"), Err("answer has 3 of 4 bytes".to_owned()));
    assert_eq!(len("bytes 2-5/10", "3"), Err("the answer declares 3 bytes for a range of 4".to_owned()));
    assert_eq!(len("bytes 2-5/*", "4"), Ok(Some(4)), "the size need not be told");
    for form in
        ["Bytes 2-5/10", "BYTES 2-5/10", "bytes  2-5/10", "bytes\t2-5/10", " bytes 2-5/10 ", "bytes 2-5/ 10"]
    {
        assert_eq!(len(form, "3"), Err("the answer declares 3 bytes for a range of 4".to_owned()), "{form}");
    }
    assert_eq!(len("bytes 2-3/*", "2"), Ok(Some(2)), "it may be cut at the end of the object");
    let zipped =
        headers(&[(CONTENT_RANGE, "bytes 2-5/10"), (CONTENT_LENGTH, "3"), (CONTENT_ENCODING, "gzip")]);
    assert_eq!(body_len(StatusCode::PARTIAL_CONTENT, &zipped, &requested).unwrap(), Some(3));
    let any = PendingRequest { parts: PartialAnswers::Any, ..requested.clone() };
    let short = headers(&[(CONTENT_RANGE, "bytes 2-4/10"), (CONTENT_LENGTH, "3")]);
    assert_eq!(
        body_len(StatusCode::PARTIAL_CONTENT, &short, &any).unwrap(),
        Some(3),
        "the rest is requested"
    );
    let head = PendingRequest { method: Method::HEAD, ..requested };
    let headers = headers(&[(CONTENT_LENGTH, "10")]);
    assert_eq!(body_len(StatusCode::OK, &headers, &head).unwrap(), Some(0));
}

#[test]
fn what_a_status_does_not_say_its_body_does() {
    let requested = PendingRequest {
        method: Method::PUT,
        range: None,
        parts: PartialAnswers::Any,
        is_signed: true,
        ahead: 0,
    };
    let xml = |code: &str| format!("<Error><Code>{code}</Code></Error>").into_bytes();
    let check = |status, headers: &HeaderMap, code: &str| check_code(status, headers, &xml(code), &requested);
    let none = HeaderMap::new();
    assert_eq!(check(StatusCode::BAD_REQUEST, &none, "ExpiredToken").unwrap(), StatusMeaning::Expired);
    assert_eq!(check(StatusCode::FORBIDDEN, &none, "AccessDenied").unwrap(), StatusMeaning::Other);
    let again = check(StatusCode::BAD_REQUEST, &none, "RequestTimeout").unwrap_err();
    assert_eq!(again.to_string(), "server answered 400 Bad Request (RequestTimeout)");
    assert!(check(StatusCode::OK, &none, "InternalError").is_err());
    let old = headers(&[(DATE, "Sat, 01 Jan 2000 00:00:00 GMT")]);
    let skewed = check(StatusCode::FORBIDDEN, &old, "RequestTimeTooSkewed").unwrap_err();
    assert_eq!(skewed.error.kind(), ErrorKind::Denied);
    assert!(skewed.to_string().ends_with(" s ahead of the server's"), "{skewed}");
}

#[test]
fn codings_are_lists_in_several_lines() {
    let coding = |lines: &[&'static str]| {
        let mut all = HeaderMap::new();
        for line in lines {
            all.append(CONTENT_ENCODING, HeaderValue::from_static(line));
        }
        content_coding(&all)
    };
    for plain in [&[][..], &[""], &[" Identity , ,identity"], &["identity", ","]] {
        assert_eq!(coding(plain), None, "{plain:?}");
    }
    assert_eq!(coding(&["identity", "identity, GZIP, br"]).as_deref(), Some("GZIP"));
}

#[test]
fn one_answer_has_one_range() {
    let range = |lines: &[&'static str]| {
        let mut all = HeaderMap::new();
        for line in lines {
            all.append(CONTENT_RANGE, HeaderValue::from_static(line));
        }
        content_range(&all)
    };
    let first = ContentRange { first: 2, last: 5, size: Some(10) };
    assert_eq!(range(&["bytes 2-5/10"]), Some(first));
    assert_eq!(range(&["bytes 2-5/10", "bytes 2-5/10"]), Some(first));
    assert_eq!(range(&["bytes 2-5/10", "bytes 2-4/10"]), None);
    assert_eq!(range(&[]), None);
}
