//! Sixteen threads read through one handle, locally and over HTTP: different variables and the same ones, whole and in
//! parts; every value is right. `NCIRRUS_STRESS_SECONDS` sets the duration; a few seconds by default.
#![cfg(feature = "http")]
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

use crate::support::temp;
use ncirrus::{Dataset, OpenOptions, Selection, Session, Values, Variable};
use ncirrus_testkit::corpus::peers_python;
use ncirrus_testkit::law::RandomSource;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

const THREADS: u64 = 16;

fn duration() -> Duration {
    let seconds = std::env::var("NCIRRUS_STRESS_SECONDS").map(|text| text.parse().unwrap());
    Duration::from_secs(seconds.unwrap_or(4) / 2)
}

/// A session whose caches hold only a part of the file.
fn session() -> Session {
    Session::builder().threads(2).memory(32 << 20).chunk_cache(1 << 20).build().unwrap()
}

fn make(path: &Path) -> Option<()> {
    let python = peers_python()?;
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/hdf5_stress/make.py");
    let output = Command::new(python).arg(script).arg(path).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Some(())
}

#[test]
fn many_threads_read_one_local_file() {
    let (_folder, folder) = temp();
    let path = folder.join("stress.nc");
    let Some(()) = make(&path) else { return };
    stress(path.to_str().unwrap());
}

#[test]
fn many_threads_read_one_file_over_http() {
    let (_folder, folder) = temp();
    let Some(()) = make(&folder.join("stress.nc")) else { return };
    stress(&format!("{}/stress.nc", ncirrus_testkit::files_over_http::serve(&folder, None)));
}

fn stress(url: &str) {
    let session = session();
    let dataset = Dataset::open_with(url, &OpenOptions::default(), &session).unwrap();
    let (end, reads) = (Instant::now() + duration(), AtomicU64::new(0));
    std::thread::scope(|scope| {
        for thread in 0..THREADS {
            let (dataset, reads) = (dataset.clone(), &reads);
            scope.spawn(move || {
                let (variables, mut random) = (dataset.variables(), RandomSource(thread));
                while Instant::now() < end {
                    let chosen = random.below(variables.len() as u64);
                    check(&variables[usize::try_from(chosen).unwrap()], &mut random);
                    reads.fetch_add(1, Ordering::Relaxed);
                }
            });
        }
    });
    assert!(reads.into_inner() >= THREADS);
}

/// Reads a random box, perhaps with strides, and compares it with the positions of its elements.
fn check(variable: &Variable, random: &mut RandomSource) {
    let shape = variable.shape();
    let (mut start, mut count, mut stride) = (Vec::new(), Vec::new(), Vec::new());
    for len in &shape {
        let first = random.below(*len);
        let most = if random.below(8) == 0 { len - first } else { (len - first).min(12) };
        let step = 1 + if random.below(3) == 0 { random.below(5) } else { 0 };
        start.push(first);
        stride.push(step);
        count.push(1 + random.below(most.div_ceil(step)));
    }
    let selection = Selection::strided(&start, &count, &stride);
    let values = variable.values(&selection).unwrap();
    let mut expected = Vec::new();
    positions(&shape, (&start, &count, &stride), 0, &mut expected);
    let got: Vec<u64> = (0..values.len()).map(|index| number(&values, index)).collect();
    assert!(got == expected, "{} {selection:?}", variable.path());
}

/// Row-major positions of a box.
fn positions(shape: &[u64], slab: (&[u64], &[u64], &[u64]), before: u64, out: &mut Vec<u64>) {
    let (Some((len, shape)), (start, count, stride)) = (shape.split_first(), slab) else {
        return out.push(before);
    };
    for at in 0..count[0] {
        let position = before * len + start[0] + at * stride[0];
        positions(shape, (&start[1..], &count[1..], &stride[1..]), position, out);
    }
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "whole numbers were written")]
fn number(values: &Values, index: usize) -> u64 {
    match values {
        Values::String(words) => std::str::from_utf8(words.get(index).unwrap()).unwrap().parse().unwrap(),
        numbers => numbers.number(index).unwrap() as u64,
    }
}
