//! What a server receives, mutated: constraints, queries, keys, paths, headers and whole requests. `NCIRRUS_FUZZ_INPUTS`
//! sets the number of inputs of each target (a twentieth of it for whole requests), on two threads.
use ncirrus_fuzz::ServedExamples;
use ncirrus_testkit::law::RandomSource;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

const THREADS: u64 = 2;

/// Number of inputs, unless the environment has another.
fn inputs(usual: u64, share: u64) -> u64 {
    std::env::var("NCIRRUS_FUZZ_INPUTS").map_or(usual, |text| text.parse::<u64>().unwrap() / share)
}

/// Runs the target over the samples and over mutations of them; prints the number and the time.
fn mutate(name: &str, samples: &[&str], count: u64, target: &(dyn Fn(&[u8]) + Sync)) {
    samples.iter().for_each(|sample| target(sample.as_bytes()));
    let (since, has_failed) = (Instant::now(), AtomicBool::new(false));
    let run = |first: u64| {
        let mut bytes = Vec::new();
        for seed in (first..count).step_by(usize::try_from(THREADS).unwrap()) {
            if has_failed.load(Ordering::Relaxed) {
                return;
            }
            let mut random = RandomSource(seed);
            bytes.clear();
            bytes.extend(pick(samples, &mut random).bytes());
            for _ in 0..1 + random.below(5) {
                change(&mut bytes, samples, &mut random);
            }
            if catch_unwind(AssertUnwindSafe(|| target(&bytes))).is_err() {
                has_failed.store(true, Ordering::Relaxed);
                eprintln!("{name} failed for input {seed}: {:?}", String::from_utf8_lossy(&bytes));
            }
        }
    };
    std::thread::scope(|scope| {
        let run = &run;
        (0..THREADS).for_each(|first| _ = scope.spawn(move || run(first)));
    });
    assert!(!has_failed.into_inner(), "{name}");
    println!("{name}: {count} inputs in {:.1} s", since.elapsed().as_secs_f64());
}

fn pick<'a>(texts: &[&'a str], random: &mut RandomSource) -> &'a str {
    texts[usize::try_from(random.below(texts.len() as u64)).unwrap()]
}

/// A place in the bytes, or behind them.
fn place(bytes: &[u8], random: &mut RandomSource) -> usize {
    usize::try_from(random.below(bytes.len() as u64 + 1)).unwrap()
}

/// One change: of a byte, of a part, by a word of the languages, by a part of another sample.
fn change(bytes: &mut Vec<u8>, samples: &[&str], random: &mut RandomSource) {
    let (at, other) = (place(bytes, random), place(bytes, random));
    let part = at.min(other)..at.max(other);
    match random.below(8) {
        0 if at < bytes.len() => bytes[at] = random.next_u64().to_le_bytes()[0],
        1 if at < bytes.len() => bytes[at] ^= 1 << random.below(8),
        2 if at < bytes.len() => _ = bytes.remove(at),
        3 => _ = bytes.drain(part),
        4 if bytes.len() < 400 => {
            let copied = bytes[part].to_vec();
            _ = bytes.splice(at..at, copied);
        }
        5 if bytes.len() < 400 => {
            let sample = pick(samples, random).as_bytes();
            let from = place(sample, random);
            _ = bytes.splice(at..at, sample[from..].iter().copied());
        }
        6 => {
            let end = bytes.len().min(at + usize::try_from(random.below(4)).unwrap());
            _ = bytes.splice(at..end, pick(WORDS, random).bytes());
        }
        _ => _ = bytes.splice(at..at, pick(WORDS, random).bytes()),
    }
}

/// What the languages of requests are made of.
const WORDS: &[&str] = &[
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "[]",
    "[0]",
    "[0:1]",
    "[0:2:3]",
    ":",
    ";",
    ",",
    ".",
    "..",
    "/",
    "//",
    "&",
    "=",
    "?",
    "%",
    "%2F",
    "%2e",
    "%5B",
    "%5D",
    "%00",
    "%25",
    "%ff",
    "+",
    "-",
    "*",
    "\\",
    "\"",
    "'",
    " ",
    "\n",
    "\t",
    "0",
    "1",
    "-1",
    "00",
    "4294967295",
    "4294967296",
    "9223372036854775807",
    "18446744073709551615",
    "18446744073709551616",
    "1e308",
    "1e999",
    "NaN",
    "inf",
    "2020-02-29",
    "2020-02-30T24:00",
    "-2020",
    "9999999",
    "t",
    "x",
    "time",
    "g",
    "/g/v",
    "g_v",
    "s.a",
    "var=",
    "select=",
    "dap4.ce=",
    "q=0",
    ";q=0.5",
    "gzip",
    "zstd",
    "bytes=",
    "0-",
    "-0",
    "W/",
    "../",
    "..%2f",
    ".nc",
    ".zarr",
    "zarr.json",
    "c/0/0",
    "\u{e9}",
    "\u{1f30d}",
    "\0",
];

/// Those of the recordings in the corpora, and others.
#[test]
fn constraints_of_all_kinds_are_answered_or_refused() {
    let samples = [
        "t[0:2:2][1:3],g_v,s[1].b[0:1],a%2Eb[4],c[0][0:2]",
        "/x=[1:2:3];/t[][];/g/v;/s[1:2]{b};/a\\.b[3:]",
        "t&t>3,mean(t),s.a",
        "t[1:2:3],c",
        "t[0:1:1][0:1:0]",
        "c,s.a[0:1:0],s.b[1:1:2][0:2:3]",
        "/g/v[1];/t",
        "/t[0:1:1][];/g/v[1]",
        "/y=[0:1];/x=[1:1:4];/t;/c;/s",
        "/s{a;b[0:1]};/s.a",
        "",
    ];
    mutate("constraints", &samples, inputs(10_000, 1), &ncirrus_fuzz::constraints);
}

#[test]
fn headers_of_requests_are_understood_or_ignored() {
    let samples = [
        "Range: bytes=2-4\nIf-Range: \"a\"",
        "Range: bytes=-3\nRange: bytes=0-1,3-4",
        "If-None-Match: \"b\", W/\"a\"\nAccept-Encoding: gzip;q=0.5, zstd",
        "Accept-Encoding: gzip, deflate, br, zstd\nAccept-Encoding: *;q=0.001, identity;q=0",
    ];
    mutate("headers", &samples, inputs(20_000, 1), &ncirrus_fuzz::request_headers);
}

#[test]
fn a_chunk_has_one_key() {
    let samples = ["c/0/12", "c", "0.3.10", "4/0", "0", "c/18446744073709551615"];
    mutate("keys", &samples, inputs(20_000, 1), &ncirrus_fuzz::chunk_keys);
}

#[test]
fn queries_of_subsets_select_what_is_there() {
    let served = ServedExamples::new().unwrap();
    let samples = [
        "var=sst,time&time=2026-03..2026-05&lat=-30..60&lon=[0:10:2]&format=nc3",
        "lat=15&lon=[{1,5,3}]&time=[3]",
        "var=/g/words&x=10..&time=2020-02-29T12",
        "time=..2020-03-01T00:00:00Z&x=[1:4]&one=1",
        "var=all&g=1&x=20..-1&format=netcdf4",
    ];
    mutate("subsets", &samples, inputs(1_000, 1), &|data| served.subset_query(data));
}

#[test]
fn paths_lead_to_listed_names_alone() {
    let served = ServedExamples::new().unwrap();
    let samples = [
        "sst.nc",
        "/sub/a b.zarr/t/c/0/1",
        "groups.nc/g/words",
        "sub//",
        "../secret",
        "sub/../../secret",
        "link.nc",
        "./sst.nc",
        "",
    ];
    mutate("paths", &samples, inputs(20_000, 1), &|data| served.served_path(data));
}

#[test]
fn whole_requests_never_fail_because_of_the_server() {
    let served = ServedExamples::new().unwrap();
    let samples = [
        "GET /dap/sst.nc.dds\nAccept-Encoding: gzip",
        "GET /dap/groups.nc.dods?t%5B0:1%5D%5B0:2:4%5D,g_words\nUser-Agent: netCDF-C/4.9",
        "GET /dap/sub/a%20b.zarr.dap?dap4.ce=/x=[0:1];/t;/g/words&dap4.checksum=true",
        "GET /dap/groups.nc.ascii?one,time\nAccept-Encoding: zstd;q=1.0, gzip;q=0.9",
        "HEAD /dap/sst.nc.dmr.xml\nIf-None-Match: *",
        "GET /zarr/groups.nc/zarr.json\nRange: bytes=3-9",
        "GET /zarr/sub/a%20b.zarr/t/c/1/0\nRange: bytes=-4",
        "GET /zarr2/sst.nc/sst/0.0.0",
        "GET /nc/groups.nc?var=t&x=[0:2]&time=2020-02-28..",
        "GET /catalog.xml\nX-Forwarded-Prefix: /front/a\nX-Forwarded-For: 10.0.0.1, 10.0.0.2",
        "GET /catalog/sub/catalog.xml",
        "GET /metrics",
        "GET /view/api/list?path=sub",
        "GET /view/api/variable?path=groups.nc&var=/t",
        "GET /view/api/axis?path=sst.nc&var=/sst&axis=0",
        "GET /view/api/values?path=sst.nc&var=/sst&select=[0,0:4:2,1:9]&accept=1",
        "GET /view/api/texts?path=groups.nc&var=/g/words&select=[0:3]",
        "GET /view/api/chunks?path=groups.nc&var=/t",
        "GET /view/api/download?path=groups.nc&var=/t&select=[0:2,:]&form=csv",
        "OPTIONS /dap/../secret",
    ];
    mutate("requests", &samples, inputs(300, 20), &|data| served.request(data));
}
