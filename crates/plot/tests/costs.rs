//! What pictures fetch.
use crate::made::plan;
use ncirrus::{Dataset, OpenOptions, Session};
use ncirrus_plot::{PlotOptions, PlotPlan};
use std::fs::File;
use std::io::Write;

const TIMES: u64 = 6250;
const ROWS: u64 = 1000;
const COLUMNS: u64 = 2000;
const BYTES: u64 = TIMES * ROWS * COLUMNS * 8;

/// A file of CDF-5 with a variable of 100 GB, of which nothing but the header is written.
fn sparse(folder: &std::path::Path) -> std::path::PathBuf {
    let path = folder.join("large.nc");
    let mut header = b"CDF\x05".to_vec();
    let number = |header: &mut Vec<u8>, number: u64| header.extend(number.to_be_bytes());
    let tag = |header: &mut Vec<u8>, tag: u32| header.extend(tag.to_be_bytes());
    let name = |header: &mut Vec<u8>, name: &[u8; 4]| {
        header.extend(4u64.to_be_bytes());
        header.extend(name);
    };
    number(&mut header, 0);
    tag(&mut header, 10);
    number(&mut header, 3);
    for (dim, len) in [(b"time", TIMES), (b"rows", ROWS), (b"cols", COLUMNS)] {
        name(&mut header, dim);
        number(&mut header, len);
    }
    tag(&mut header, 0);
    number(&mut header, 0);
    tag(&mut header, 11);
    number(&mut header, 1);
    name(&mut header, b"data");
    number(&mut header, 3);
    (0..3).for_each(|dim| number(&mut header, dim));
    tag(&mut header, 0);
    number(&mut header, 0);
    tag(&mut header, 6);
    number(&mut header, BYTES);
    let begin = header.len() as u64 + 8;
    number(&mut header, begin);
    let mut file = File::create(&path).unwrap();
    file.write_all(&header).unwrap();
    file.set_len(begin + BYTES).unwrap();
    path
}

#[test]
fn pictures_of_100_gigabytes_fetch_less_than_one_percent() {
    let folder = tempfile::tempdir().unwrap();
    let path = sparse(folder.path());
    let address = ncirrus_testkit::files_over_http::serve(folder.path(), None);
    let (map, series, section) = ("data", "data[:,500,1000]", "data[:,:,1000]");
    let (file, server) = (path.to_string_lossy().into_owned(), format!("{address}/large.nc"));
    for (source, selects) in [(file, vec![map, series, section]), (server, vec![map, series])] {
        for select in selects {
            let session = Session::new().unwrap();
            let dataset = Dataset::open_with(&source, &OpenOptions::default(), &session).unwrap();
            let before = session.statistics();
            let plan = plan(&dataset, &[select], &PlotOptions::default()).unwrap();
            assert!(plan.cost().bytes < PlotPlan::BUDGET, "{source} {select}: {:?}", plan.cost());
            let mut last = (0, 0);
            plan.read(&mut |done, total| last = (done, total)).unwrap();
            assert_eq!(last.0, last.1, "progress ends with the last value");
            let after = session.statistics();
            let (bytes, requests) =
                (after.bytes_fetched - before.bytes_fetched, after.requests - before.requests);
            println!("{source} {select}: {bytes} bytes, {requests} requests, planned {:?}", plan.cost());
            assert!(bytes < BYTES / 100, "{source} {select}: {bytes} bytes");
            assert!(
                bytes <= plan.cost().bytes * 2 + (1 << 20),
                "{source} {select}: {bytes} bytes of {:?}",
                plan.cost()
            );
        }
    }
}
