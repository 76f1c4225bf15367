//! Bad answers of servers of OPeNDAP, through the command: every row of docs/spec/dap.md 8.3 and every case of 8.4. `dump`
//! leaves the variable out and says why; `copy` ends with the exit code of the error and leaves nothing.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus_testkit::dap_server::crc32;
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};

const DDS: &str =
    "Dataset { Int16 t[x = 4][y = 3]; Float64 x[x = 4]; String s[x = 4]; Sequence { Int32 i; } q; } d;\n";
const DMR: &str = "<?xml version=\"1.0\"?>\n<Dataset xmlns=\"http://xml.opendap.org/ns/DAP/4.0#\" dapVersion=\"4.0\" \
                   dmrVersion=\"1.0\" name=\"d\"><Dimension name=\"x\" size=\"4\"/><Int32 name=\"x\">\
                   <Dim name=\"/x\"/></Int32></Dataset>\r\n";
const ERROR: &[u8] = b"Error { code = 1007; message = \"the tape is torn\"; };";
const XML_ERROR: &[u8] = b"<?xml version=\"1.0\"?><Error xmlns=\"http://xml.opendap.org/ns/DAP/4.0#\" \
                           httpcode=\"404\"><Message>the tape is torn</Message><Context>c</Context></Error>";
const LOGIN: &[u8] = b"<html><title>Log in</title></html>";
const GONE: &[u8] = b"<!DOCTYPE html><html><head><title>Gone away</title></head></html>";

/// A bad answer, and what the command says of it.
struct BadAnswer {
    name: &'static str,
    /// The variable that is read; none for the structure.
    variable: Option<&'static str>,
    page: ServerPage,
    reported: &'static str,
    /// The exit code of a command that needs the answer.
    code: i32,
}

fn row(
    name: &'static str,
    variable: &'static str,
    page: ServerPage,
    (reported, code): (&'static str, i32),
) -> BadAnswer {
    BadAnswer { name, variable: (!variable.is_empty()).then_some(variable), page, reported, code }
}

fn reported(status: &'static str, body: impl AsRef<[u8]>) -> ServerPage {
    ServerPage::WithStatus(status, body.as_ref().to_vec())
}

fn whole(body: impl AsRef<[u8]>) -> ServerPage {
    ServerPage::Whole(body.as_ref().to_vec())
}

/// An answer whose end is that of the connection.
fn closed(body: impl AsRef<[u8]>) -> ServerPage {
    ServerPage::Raw([b"HTTP/1.0 200 OK\r\n\r\n", body.as_ref()].concat())
}

/// An answer in chunks of HTTP, of which the last is missing.
fn unfinished(body: impl AsRef<[u8]>) -> ServerPage {
    let head = "HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    let len = format!("{:x}\r\n", body.as_ref().len());
    ServerPage::Raw([head.as_bytes(), len.as_bytes(), body.as_ref(), b"\r\n"].concat())
}

/// An answer of DAP2: its DDS, words, and bytes after them.
fn dods(dds: &str, words: &[u32], rest: &[u8]) -> Vec<u8> {
    let mut body = format!("Dataset {{ {dds} }} d;\nData:\n").into_bytes();
    words.iter().for_each(|word| body.extend(word.to_be_bytes()));
    [body, rest.to_vec()].concat()
}

const X: &str = "Float64 x[x = 4];";
const S: &str = "String s[x = 4];";
const Q: &str = "Sequence { Int32 i; } q;";

fn chunk(flags: u8, payload: &[u8]) -> Vec<u8> {
    let [_, high, middle, low] = u32::try_from(payload.len()).unwrap().to_be_bytes();
    [&[flags, high, middle, low], payload].concat()
}

/// The values 1 to 4, and their checksum.
fn values_of_dap4() -> Vec<u8> {
    let values: Vec<u8> = [1_i32, 2, 3, 4].iter().flat_map(|value| value.to_le_bytes()).collect();
    let sum = crc32(&values);
    [values, sum.to_le_bytes().to_vec()].concat()
}

fn dap4(chunks: &[Vec<u8>]) -> Vec<u8> {
    [chunk(4, DMR.as_bytes()), chunks.concat()].concat()
}

fn good_dap4() -> Vec<u8> {
    dap4(&[chunk(4, &values_of_dap4()), chunk(5, &[])])
}

fn good_dods() -> Vec<u8> {
    dods(X, &[4, 4, 0, 0, 0, 0, 0, 0, 0, 0], b"")
}

const TORN: (&str, i32) = ("error 1007: the tape is torn", 8);
const CUT: (&str, i32) = ("truncated", 5);
const BROKEN_OFF: (&str, i32) = ("cut off", 8);

/// Answers of DAP2 to requests for the structure or for data.
fn rows_of_dap2() -> Vec<BadAnswer> {
    let short = good_dods()[..good_dods().len() - 6].to_vec();
    vec![
        row(".dds: Error, status 200", "", whole(ERROR), TORN),
        row(".dds: 404 and a page", "", reported("404 Not Found\r\n", GONE), ("404 Not Found: Gone away", 3)),
        row(".dds: 404 alone", "", ServerPage::Status("404 Not Found\r\n"), ("no such object", 3)),
        row(".dds: 200 and a page", "", whole(LOGIN), ("a web page (Log in) instead of a DDS", 4)),
        row(".dds: ends within", "", whole("Dataset { Int32 a["), ("the end of the text", 5)),
        row(".dods: 400 and Error", "x", reported("400 Bad Request\r\n", ERROR), TORN),
        row(".dods: 500 and Error", "x", reported("500 Internal Server Error\r\n", ERROR), TORN),
        row(".dods: 200 and Error", "x", whole(ERROR), TORN),
        row(
            ".dods: 404 and a page",
            "x",
            reported("404 Not Found\r\n", GONE),
            ("404 Not Found: Gone away", 3),
        ),
        row(".dods: 200 and a page", "x", whole(LOGIN), ("a web page (Log in) instead of data of DAP2", 4)),
        row(".dods: Error after the mark", "x", whole(dods(X, &[], ERROR)), TORN),
        row(".dods: Error among values", "x", whole(dods(X, &[4, 4, 0, 1], ERROR)), TORN),
        row(".dods: the same, closed", "x", closed(dods(X, &[4, 4, 0, 1], ERROR)), TORN),
        row(
            ".dods: Error among short values",
            "t",
            whole(dods("Int16 t[x = 4][y = 3];", &[12, 12, 1, 2], ERROR)),
            TORN,
        ),
        row(".dods: Error after all values", "x", whole([&good_dods(), ERROR].concat()), TORN),
        row(".dods: the same, closed", "x", closed([&good_dods(), ERROR].concat()), TORN),
        row(".dods: Error among strings", "s", whole(dods(S, &[4, 1, 0x4100_0000], ERROR)), TORN),
        row(".dods: cut, length of what came", "x", whole(&short), CUT),
        row(".dods: cut, another length", "x", ServerPage::Cut(short.clone()), BROKEN_OFF),
        row(".dods: cut, closed", "x", closed(&short), CUT),
        row(".dods: no last chunk", "x", unfinished(&short), BROKEN_OFF),
        row(".dods: no last chunk after all values", "x", unfinished(good_dods()), BROKEN_OFF),
        row(".dods: ends in the DDS", "x", closed("Dataset {\n    Float64 x["), ("the end of the text", 5)),
        row(".dods: ends after the DDS", "x", closed("Dataset { Float64 x[x = 4]; } d;\n"), CUT),
        row(".dods: ends after one count", "x", closed(dods(X, &[4], b"")), CUT),
        row(".dods: two counts", "x", whole(dods(X, &[4, 5], b"")), ("the counts 4 and 5", 5)),
        row(
            ".dods: another size",
            "x",
            whole(dods("Float64 x[x = 3];", &[3, 3, 0, 0, 0, 0, 0, 0], b"")),
            ("the shape [3] where [4] was asked for", 5),
        ),
        row(".dods: a string beyond the end", "s", whole(dods(S, &[4, 900, 0, 0, 0], b"")), CUT),
        row(
            ".dods: a string of 4 GiB",
            "s",
            whole(dods(S, &[4, 0xffff_ffff, 0, 0, 0], b"")),
            ("the limit", 9),
        ),
    ]
}

/// Answers of DAP4 to requests for the structure or for data.
fn rows_of_dap4() -> Vec<BadAnswer> {
    const TORN: (&str, i32) = ("error 404: the tape is torn", 3);
    let values = values_of_dap4();
    let good = good_dap4();
    let short = good[..good.len() - 6].to_vec();
    let beyond = [&[5, 0, 0x27, 0x0f][..], &values].concat();
    let shape = DMR.replace("size=\"4\"", "size=\"3\"");
    let sum = crc32(&values[..12]).to_le_bytes();
    let three = [chunk(4, shape.as_bytes()), chunk(5, &[&values[..12], &sum].concat())].concat();
    vec![
        row(".dmr: 404 and Error", "", reported("404 Not Found\r\n", XML_ERROR), TORN),
        row(".dmr: 200 and Error", "", whole(XML_ERROR), TORN),
        row(".dmr: 404 and a page", "", reported("404 Not Found\r\n", GONE), ("404 Not Found: Gone away", 3)),
        row(".dmr: 200 and a page", "", whole(LOGIN), ("a web page (Log in) instead of a DMR", 4)),
        row(".dmr: cut", "", whole(&DMR[..150]), ("no well-formed XML", 5)),
        row(
            ".dmr: a document type",
            "",
            whole(format!("<!DOCTYPE Dataset [<!ENTITY a \"b\">]>{}", &DMR[22..])),
            ("declares a document type", 5),
        ),
        row(
            ".dmr: a size below 0",
            "",
            whole(DMR.replace("size=\"4\"", "size=\"-4\"")),
            ("the size \"-4\"", 5),
        ),
        row(".dap: 404 and Error", "x", reported("404 Not Found\r\n", XML_ERROR), TORN),
        row(".dap: 200 and Error", "x", whole(XML_ERROR), TORN),
        row(
            ".dap: 404 and a page",
            "x",
            reported("404 Not Found\r\n", GONE),
            ("404 Not Found: Gone away", 3),
        ),
        row(".dap: 200 and a page", "x", whole(LOGIN), ("a web page (Log in) instead of data of DAP4", 4)),
        row(
            ".dap: error chunk after data",
            "x",
            whole(dap4(&[chunk(4, &values), chunk(6, XML_ERROR)])),
            TORN,
        ),
        row(
            ".dap: error chunk among data",
            "x",
            closed(dap4(&[chunk(4, &values[..6]), chunk(7, XML_ERROR)])),
            TORN,
        ),
        row(".dap: cut", "x", whole(&short), CUT),
        row(".dap: cut, another length", "x", ServerPage::Cut(short.clone()), BROKEN_OFF),
        row(".dap: cut, closed", "x", closed(&short), CUT),
        row(".dap: no last chunk of HTTP", "x", unfinished(&good), BROKEN_OFF),
        row(".dap: no last chunk", "x", closed(&good[..good.len() - 4]), CUT),
        row(".dap: a chunk beyond the end", "x", whole(dap4(&[beyond])), CUT),
        row(
            ".dap: wrong checksum",
            "x",
            whole(dap4(&[chunk(4, &[&values[..16], b"abcd"].concat()), chunk(5, &[])])),
            ("checksum", 5),
        ),
        row(".dap: another size", "x", whole(three), ("the shape [3] where [4] was asked for", 5)),
    ]
}

/// What is at the addresses of a dataset, with a page in the place of one answer.
fn serve(mode: &str, variable: Option<&str>, page: ServerPage) -> TestHttpServer {
    let rows = ServerPage::Whole(dods(Q, &[0x5a00_0000, 7, 0xa500_0000], b""));
    let server = TestHttpServer::start([
        ("/d/set.dds", ServerPage::Whole(DDS.into())),
        ("/d/set.das", ServerPage::Whole("Attributes { }".into())),
        ("/d/set.dods?q.i", rows),
        // The coordinate of what is copied.
        ("/d/set.dods?x", ServerPage::Whole(good_dods())),
        ("/d/set.dmr.xml", ServerPage::Whole(DMR.into())),
    ]);
    let place = match (mode, variable) {
        ("dap2", None) => "/d/set.dds".to_owned(),
        ("dap2", Some(variable)) => format!("/d/set.dods?{variable}"),
        (_, None) => "/d/set.dmr.xml".to_owned(),
        (_, Some(variable)) => format!("/d/set.dap?dap4.ce=/{variable}&dap4.checksum=true"),
    };
    server.add(&place, page);
    server
}

/// Runs the command without repetitions; its exit code, standard output and standard error.
fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let output = crate::program::command().env("NCIRRUS_RETRIES", "0").args(arguments).output().unwrap();
    let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    (output.status.code(), text(&output.stdout), text(&output.stderr))
}

/// What is wrong with how `dump` and `copy` take an answer.
fn faults_of(mode: &str, bad: &BadAnswer) -> Vec<String> {
    let server = serve(mode, bad.variable, bad.page.clone());
    let address = server.url(&format!("/d/set#{mode}"));
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("copy.nc");
    let read = bad.variable.unwrap_or("x");
    let mut faults = Vec::new();
    let mut check = |what: &str, is_right: bool, (code, out, reported): &(Option<i32>, String, String)| {
        if !is_right {
            faults.push(format!("{mode} {} {what}: {code:?} {reported} {out}", bad.name));
        }
    };
    let names_it = |reported: &str| match bad.variable {
        Some(name) => reported.contains(&format!("/{name}")) && reported.contains("in http://127.0.0.1"),
        None => reported.contains("in http://127.0.0.1"),
    };
    let dumped = run(&["dump", "-v", read, &address]);
    check("code", dumped.0 == Some(if bad.variable.is_some() { 1 } else { bad.code }), &dumped);
    check("message", dumped.2.contains(bad.reported) && names_it(&dumped.2), &dumped);
    let data = dumped.1.split_once("data:").map_or("", |(_, data)| data);
    check("values", !data.contains(" = "), &dumped);
    let copied = run(&["copy", "-V", read, &address, target.to_str().unwrap()]);
    check("code", copied.0 == Some(bad.code), &copied);
    check("message", copied.2.contains(bad.reported) && names_it(&copied.2), &copied);
    check("target", !target.exists(), &copied);
    faults
}

#[test]
fn every_bad_answer_is_reported_by_dump_and_copy() {
    let rows = [("dap2", rows_of_dap2()), ("dap4", rows_of_dap4())];
    let each = |(mode, rows): &(&'static str, Vec<BadAnswer>)| {
        let faults = rows.iter().flat_map(|bad| faults_of(mode, bad));
        faults.collect::<Vec<_>>()
    };
    let faults: Vec<String> = rows.iter().flat_map(each).collect();
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}

#[test]
fn the_same_answers_without_faults_are_read() {
    for page in [whole(good_dods()), closed(good_dods()), whole([&good_dods()[..], b"\n"].concat())] {
        let server = serve("dap2", Some("x"), page);
        let (code, out, _) = run(&["dump", "-v", "x", &server.url("/d/set#dap2")]);
        assert!(code == Some(0) && out.contains("x = 0, 0, 0, 0 ;"), "{code:?} {out}");
    }
    for page in [whole(good_dap4()), closed(good_dap4())] {
        let server = serve("dap4", Some("x"), page);
        let (code, out, _) = run(&["dump", "-v", "x", &server.url("/d/set#dap4")]);
        assert!(code == Some(0) && out.contains("x = 1, 2, 3, 4 ;"), "{code:?} {out}");
    }
    // A redirection is followed.
    let server = serve("dap2", Some("x"), whole(good_dods()));
    let moved = |path: &str| {
        let place = server.url(path);
        format!("HTTP/1.1 302 Found\r\nlocation: {place}\r\ncontent-length: 0\r\nconnection: close\r\n\r\n")
    };
    for suffix in ["dds", "das", "dods?q.i", "dods?x"] {
        let page = ServerPage::Raw(moved(&format!("/d/set.{suffix}")).into_bytes());
        server.add(&format!("/moved/set.{suffix}"), page);
    }
    let (code, out, reported) = run(&["dump", "-v", "x", &server.url("/moved/set#dap2")]);
    assert!(code == Some(0) && out.contains("x = 0, 0, 0, 0 ;"), "{code:?} {out} {reported}");
}

#[test]
fn attributes_that_fail_are_reported_and_the_values_read() {
    for page in [reported("500 Internal Server Error\r\n", "any text"), whole(ERROR), whole(LOGIN)] {
        let server = serve("dap2", Some("x"), whole(good_dods()));
        server.add("/d/set.das", page);
        for address in [server.url("/d/set#dap2"), server.url("/d/set").replace("http:", "dap2:")] {
            let folder = tempfile::tempdir().unwrap();
            let copy = folder.path().join("copy.nc");
            let dumped = run(&["dump", "-v", "x", &address]);
            let copied = run(&["copy", "-V", "x", &address, copy.to_str().unwrap()]);
            assert!(dumped.1.contains("x = 0, 0, 0, 0 ;"), "{dumped:?}");
            for (code, out, reported) in [dumped, copied] {
                assert_eq!(code, Some(0), "{address} {out} {reported}");
                assert!(reported.contains("note: the attributes cannot be read"), "{address} {reported}");
            }
        }
    }
}

#[test]
fn rows_of_a_sequence_that_cannot_be_read_are_left_out_of_a_dump_and_fail_a_copy() {
    let begun = [0x5a00_0000, 7];
    let cases = [
        (closed(dods(Q, &begun, ERROR)), TORN),
        (
            closed(dods(Q, &[0x5a00_0000, 7, 0x1100_0000], b"")),
            ("the byte 0x11 where a row of a sequence begins", 5),
        ),
        (closed(dods(Q, &begun, b"")), CUT),
        (reported("403 Forbidden\r\n", "not for you"), ("403 Forbidden: not for you", 4)),
    ];
    for (page, (expected, of_copy)) in cases {
        let server = serve("dap2", Some("q.i"), page);
        let (code, out, reported) = run(&["dump", "-v", "q.i", &server.url("/d/set#dap2")]);
        assert!(
            code == Some(1) && reported.contains(expected) && reported.contains("/q.i"),
            "{code:?} {reported}"
        );
        assert!(!out.contains("q.i = "), "{out}");
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("copy.nc");
        let copy = |variable: &str| {
            run(&["copy", "-V", variable, &server.url("/d/set#dap2"), target.to_str().unwrap()])
        };
        let (code, _, reported) = copy("q.i");
        assert!(code == Some(of_copy) && reported.contains(expected), "{code:?} {reported}");
        assert!(reported.contains("(/q") && reported.contains("in http://127.0.0.1"), "{reported}");
        assert!(!target.exists(), "what could not be read is no copy");
        let (code, _, reported) = copy("x");
        assert!(
            code == Some(0) && target.exists(),
            "what was not asked for does not matter: {code:?} {reported}"
        );
    }
}

#[test]
fn structures_without_a_bound_are_refused_before_memory_is_taken() {
    const LEN: u64 = 1_000_000_000_000_000_000;
    let dds = format!("Dataset {{ Float64 x[x = {LEN}]; }} d;");
    let server = serve("dap2", None, whole(&dds));
    let (code, out, _) = run(&["dump", "-h", &server.url("/d/set#dap2")]);
    assert!(code == Some(0) && out.contains(&format!("x = {LEN} ;")), "{out}");
    // The first part that is asked for is answered by another structure.
    for part in ["0:8388607", "0:2097151", "0:1048575", "0:524287"] {
        server.add(&format!("/d/set.dods?x%5B{part}%5D"), whole(dods(X, &[4, 4], b"")));
    }
    let address = server.url("/d/set#dap2");
    let (code, out, reported) = run(&["dump", "-v", "x", &address]);
    assert!(
        code == Some(1) && reported.contains("/x is left out") && !out.contains("x = 0"),
        "{code:?} {reported}"
    );
    let (code, _, reported) = run(&["explain", &address, "x"]);
    assert!(code == Some(9) && reported.contains("a plan of at least"), "{code:?} {reported}");
    let deep =
        format!("Dataset {{ {}Int32 x; {}}} d;", "Structure { ".repeat(100_000), "} s; ".repeat(100_000));
    let server = serve("dap2", None, whole(deep));
    let (code, _, reported) = run(&["dump", "-h", &server.url("/d/set#dap2")]);
    assert!(code == Some(9) && reported.contains("levels"), "{code:?} {reported}");
}
