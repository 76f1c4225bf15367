//! Strings of a server as netCDF-C shows them: characters, whose number takes at most one request, of which the answer is
//! kept.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use ncirrus::{Dataset, OpenOptions, Selection, Session, Values};
use ncirrus_testkit::http_server::{ServerPage, TestHttpServer};

const DDS: &str = "String s[x = 3]; String t; Structure { String u; } g; Int32 n;";

/// A string of DAP2.
fn xdr(text: &str) -> Vec<u8> {
    let mut bytes = [&u32::try_from(text.len()).unwrap().to_be_bytes()[..], text.as_bytes()].concat();
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn dods(dds: &str, data: &[Vec<u8>]) -> ServerPage {
    ServerPage::Whole([format!("Dataset {{ {dds} }} d;\nData:\n").into_bytes(), data.concat()].concat())
}

fn array(texts: &[&str]) -> Vec<u8> {
    let count = u32::try_from(texts.len()).unwrap().to_be_bytes().to_vec();
    [vec![count], texts.iter().map(|text| xdr(text)).collect()].concat().concat()
}

fn long() -> String {
    "c".repeat(70)
}

/// A server of one dataset, `/d`.
fn server(das: &str) -> TestHttpServer {
    let long = long();
    let server = TestHttpServer::start([]);
    server.add("/d.dds", ServerPage::Whole(format!("Dataset {{ {DDS} }} d;").into()));
    server.add("/d.das", ServerPage::Whole(format!("Attributes {{ {das} }}").into()));
    let s = array(&["ab", &long, ""]);
    let all = "String s[x = 3]; String t; Structure { String u; } g;";
    server.add("/d.dods?s,t,g.u", dods(all, &[s.clone(), xdr("tt"), xdr("uu")]));
    server.add("/d.dods?s", dods("String s[x = 3];", &[s]));
    server.add("/d.dods?t", dods("String t;", &[xdr("tt")]));
    server.add("/d.dods?g.u", dods("Structure { String u; } g;", &[xdr("uu")]));
    server
}

fn open(server: &TestHttpServer, query: &str, session: &Session) -> Dataset {
    let address = format!("{}{query}#dap2&view=netcdf-c", server.url("/d"));
    Dataset::open_with(&address, &OpenOptions::default(), session).unwrap()
}

fn padded(texts: &[&str], len: usize) -> Values {
    let bytes = |text: &&str| [text.as_bytes(), &vec![0; len - text.len()]].concat();
    Values::Char(texts.iter().flat_map(bytes).collect())
}

/// Reads all strings, and compares them; characters of each variable.
fn read(dataset: &Dataset, lens: [usize; 3]) {
    let long = long();
    for (name, texts, len) in
        [("s", &["ab", long.as_str(), ""][..], lens[0]), ("t", &["tt"], lens[1]), ("g.u", &["uu"], lens[2])]
    {
        let variable = dataset.variable(name).unwrap();
        assert_eq!(variable.shape().last(), Some(&(len as u64)), "{name}");
        assert_eq!(
            variable.values(&Selection::all(&variable.shape())).unwrap(),
            padded(texts, len),
            "{name}"
        );
    }
}

#[test]
fn strings_that_were_measured_are_not_requested_again() {
    let server = server("");
    let dataset = open(&server, "", &Session::new().unwrap());
    let mut requests = server.requests();
    requests.sort();
    assert_eq!(requests, ["/d.das", "/d.dds", "/d.dods?s,t,g.u"]);
    read(&dataset, [70, 64, 64]);
    let part = dataset.variable("s").unwrap().values(&Selection::slab(&[1, 68], &[2, 2])).unwrap();
    assert_eq!(part, Values::Char(b"cc\0\0".to_vec()));
    assert_eq!(server.requests().len(), 3, "{:?}", server.requests());
    // Without memory they are.
    let dataset = open(&server, "", &Session::builder().chunk_cache(0).build().unwrap());
    read(&dataset, [70, 64, 64]);
    assert_eq!(server.requests().len(), 9, "{:?}", server.requests());
}

#[test]
fn strings_of_a_part_are_not_taken_from_the_whole() {
    let server = server("");
    server.add("/d.dds?s%5B1:2%5D", ServerPage::Whole(b"Dataset { String s[x = 2]; } d;".to_vec()));
    server.add("/d.dods?s%5B1:2%5D", dods("String s[x = 2];", &[array(&[&long(), ""])]));
    let dataset = open(&server, "?s[1:2]", &Session::new().unwrap());
    let values = dataset.variable("s").unwrap().values(&Selection::all(&[2, 70])).unwrap();
    assert_eq!(values, padded(&[&long(), ""], 70), "{:?}", server.requests());
}

#[test]
fn lengths_that_a_server_declares_are_not_measured() {
    let das = "s { DODS { Int32 strlen 72; String dimName \"n\"; } } t { Int32 string_length 2; } \
               g { u { String note \"short\"; Int32 string_length 9; } }";
    let server = server(das);
    let dataset = open(&server, "", &Session::new().unwrap());
    assert_eq!(server.requests().len(), 2, "{:?}", server.requests());
    read(&dataset, [72, 64, 64]);
    // Less than there is: it is told, and nothing is cut.
    let server = self::server(&das.replace("72", "5"));
    let dataset = open(&server, "", &Session::new().unwrap());
    let error = dataset.variable("s").unwrap().values(&Selection::all(&[3, 64])).unwrap_err();
    assert!(error.to_string().contains("a string of 70 bytes"), "{error}");
}
