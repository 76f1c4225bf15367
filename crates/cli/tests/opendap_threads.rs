//! Sixteen threads read datasets of one OPeNDAP server: equal bytes, and never more than four requests in flight.
//! `NCIRRUS_STRESS_SECONDS` sets the duration of both tests; a few seconds by default.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use crate::opendap_server::{Numbers, served};
use ncirrus::{Dataset, OpenOptions, Selection, Session};
use ncirrus_testkit::dap_server::{DapBehaviour, DapServer};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: u64 = 16;

fn duration() -> Duration {
    let seconds = std::env::var("NCIRRUS_STRESS_SECONDS").map(|text| text.parse().unwrap());
    Duration::from_secs(seconds.unwrap_or(4) / 2)
}

fn example() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../examples/sst.nc"))
}

/// Random parts of random variables of all these datasets, by all threads, against the file that is served; how many reads
/// took how many requests.
fn read_with_all_threads(server: &DapServer, datasets: &[Dataset]) -> (u64, usize) {
    let source = Dataset::open(example().to_str().unwrap()).unwrap();
    let (ours, end, reads) = (source.model().unwrap(), Instant::now() + duration(), AtomicU64::new(0));
    // Types that DAP2 has, too.
    let names: Vec<&str> =
        ["sst", "lat", "lon", "time"].into_iter().filter(|name| source.variable(name).is_ok()).collect();
    assert!(names.len() >= 2, "{names:?}");
    server.take_requests();
    server.forget_most_in_flight();
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (source, ours, names, reads) = (&source, &ours, &names, &reads);
            scope.spawn(move || {
                let mut numbers = Numbers(thread);
                let pick =
                    |len: usize, numbers: &mut Numbers| usize::try_from(numbers.below(len as u64)).unwrap();
                // Each reads something, however slow the machine is.
                for turn in 0_u64.. {
                    if turn >= 20 && Instant::now() >= end {
                        break;
                    }
                    let dataset = &datasets[pick(datasets.len(), &mut numbers)];
                    let name = names[pick(names.len(), &mut numbers)];
                    let shape = ours.shape(ours.variable_at(&format!("/{name}")).unwrap());
                    let part = match numbers.below(8) {
                        0 => Selection::all(&shape),
                        _ => numbers.selection(&shape),
                    };
                    let read = |dataset: &Dataset| dataset.variable(name).unwrap().values(&part).unwrap();
                    assert!(read(dataset).is_identical(&read(source)), "{name} {part:?}");
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert_eq!(server.most_in_flight(), 4);
    (reads.into_inner(), server.take_requests().len())
}

/// Datasets of one server, by both protocols in turn, in a session that keeps little.
fn opened(names: &[&str]) -> (DapServer, Vec<Dataset>) {
    let behaviour = DapBehaviour { latency: Duration::from_millis(1), ..DapBehaviour::default() };
    let served = names.iter().map(|name| ((*name).to_owned(), served(example())));
    let server = DapServer::start(served, behaviour);
    let session = Arc::new(Session::builder().chunk_cache(8 << 10).build().unwrap());
    let open = |(at, name): (usize, &&str)| {
        let address = format!("{}#{}", server.url(name), ["dap2", "dap4"][at % 2]);
        Dataset::open_with(&address, &OpenOptions::default(), &session).unwrap()
    };
    let datasets = names.iter().enumerate().map(open).collect();
    (server, datasets)
}

#[test]
fn sixteen_threads_read_one_dataset() {
    let (server, datasets) = opened(&["a"]);
    let (reads, requests) = read_with_all_threads(&server, &datasets);
    eprintln!("{reads} reads took {requests} requests");
}

#[test]
fn sixteen_threads_read_ten_datasets_of_one_host() {
    let (server, datasets) = opened(&["a", "b", "c", "d", "e", "f", "g", "h", "i", "j"]);
    let (reads, requests) = read_with_all_threads(&server, &datasets);
    eprintln!("{reads} reads took {requests} requests");
}
