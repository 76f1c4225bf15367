//! Icechunk repositories and references at scale: `ncirrus-bench icechunk CASE PLACE RUNS`. `benches/icechunk_peers.py` makes the data.
//!
//! CASE is one of `open`, `series` (one point of 128 chunks) and `read` (all of them) of the repository `s3://bench/repo`, with the
//! address of an S3 server as PLACE; or, with a folder as PLACE, `virtual-open`, `virtual-step` (1,000 chunks, the manifest
//! known), `virtual-value` (opening, and one value) of `repo` with virtual chunks, and `parquet-open`, `parquet-step` and
//! `parquet-value` of references in `refs.parq`; or `json-open` of `refs.json`; or `scan`, with the address of a web server as PLACE:
//! references for its 1,000 netCDF-4 files.
use crate::{Failure, timed};
use ncirrus::store::{ContainerRule, StoreOptions};
use ncirrus::{Dataset, OpenOptions, Selection, Session};
use ncirrus_tools::{ReferenceOptions, write_references};
use std::time::Duration;

const SHAPE: [u64; 3] = [128, 512, 512];
/// Files that are scanned.
const FILES: usize = 1000;
/// Steps between two that are read.
const FAR: u64 = 389;
/// Chunks of a step, and elements of a chunk.
const STEP: [u64; 2] = [1000, 16];

pub(crate) fn run(case: &str, place: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    if case == "scan" {
        return scan(place, runs);
    }
    let (form, action) = case.split_once('-').unwrap_or(("remote", case));
    // Rules and addresses of local files are absolute.
    let folder = std::path::absolute(place)?;
    let folder = folder.display();
    let address = match form {
        "virtual" => format!("{folder}/repo"),
        "parquet" => format!("{folder}/refs.parq"),
        "json" => format!("{folder}/refs.json"),
        _ => return remote(action, place, runs),
    };
    let rule = (format!("file://{folder}/data/"), ContainerRule::Allow);
    let session = || Session::builder().chunk_cache(0).containers([rule.clone()]).build();
    let open = |session: &Session| Dataset::open_with(&address, &OpenOptions::default(), session);
    match action {
        "open" => timed(runs, || Ok(open(&session()?).map(|_| ())?)),
        "value" => timed(runs, || {
            let dataset = open(&session()?)?;
            let steps = dataset.variable("v")?.shape().first().copied().unwrap_or_default();
            Ok(dataset
                .variable("v")?
                .values(&Selection::slab(&[steps / 3, 501, 7], &[1, 1, 1]))
                .map(|_| ())?)
        }),
        "step" => {
            let dataset = open(&session()?)?;
            let variable = dataset.variable("v")?;
            let mut out = vec![0f32; 16_000];
            let steps = variable.shape().first().copied().unwrap_or_default().max(1);
            let mut number = 0;
            let mut step = || {
                // Far apart: steps that follow one another are read ahead.
                number = (number + FAR) % steps;
                let part = Selection::slab(&[number, 0, 0], &[1, STEP[0], STEP[1]]);
                Ok(variable.read_into(&part, &mut out)?)
            };
            step()?;
            timed(runs, step)
        }
        other => Err(format!("unknown case {other:?}").into()),
    }
}

/// Makes references for the files of a web server.
fn scan(server: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let files: Vec<String> = (0..FILES).map(|number| format!("{server}/{number:04}.nc")).collect();
    let options = ReferenceOptions::new().axis("time".to_owned()).overwrite(true);
    timed(runs, || {
        let session = Session::new()?;
        let report = write_references(&files, "memory://icechunk-scan/refs.json", &options, &session)?;
        if report.left_out.is_empty() { Ok(()) } else { Err(format!("{:?}", report.left_out).into()) }
    })
}

fn remote(case: &str, endpoint: &str, runs: usize) -> Result<Vec<Duration>, Failure> {
    let mut stores = StoreOptions::default();
    let settings = [("aws_endpoint", endpoint), ("aws_region", "us-east-1"), ("aws_skip_signature", "true")];
    stores.settings.extend(settings.map(|(name, value)| (name.to_owned(), value.to_owned())));
    let part = match case {
        "open" => None,
        "series" => Some(Selection::slab(&[0, 257, 131], &[SHAPE[0], 1, 1])),
        "read" => Some(Selection::all(&SHAPE)),
        other => return Err(format!("unknown case {other:?}").into()),
    };
    let count = part.as_ref().and_then(Selection::element_count).unwrap_or_default();
    let mut out = vec![0f32; usize::try_from(count)?];
    timed(runs, || {
        let session = Session::builder().chunk_cache(0).stores(stores.clone()).build()?;
        let dataset = Dataset::open_with("s3://bench/repo", &OpenOptions::default(), &session)?;
        let variable = dataset.variable("v")?;
        if let Some(part) = &part {
            variable.read_into(part, &mut out)?;
        }
        Ok(())
    })
}
