//! Random programs of updates and copies, each compared with an oracle that keeps every value in memory; at the end
//! netCDF4-python, h5py and zarr-python must read the same.
//!
//! `NCIRRUS_PROGRAMS` sets their number (500), `NCIRRUS_PROGRAMS_FROM` the first seed; `cargo xtask programs` runs
//! many. A failure names its seed and the program's steps: `NCIRRUS_PROGRAMS=1 NCIRRUS_PROGRAMS_FROM=SEED` runs it
//! alone.
#![expect(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may panic and tell counts")]

use crate::support::session;
use ncirrus::Session;
use ncirrus_testkit::corpus::peers_python;
use serde_json::Value;
use std::fs;
use std::path::Path;
use std::process::Command;

mod compare;
mod forms;
mod made;
mod oracle;
mod steps;

/// Programs whose files other programs read together.
const BATCH: u64 = 500;

fn number(variable: &str, default: u64) -> u64 {
    std::env::var(variable).map_or(default, |text| text.parse().unwrap())
}

#[test]
fn random_programs_of_updates_and_copies_keep_every_value() {
    let (first, count) = (number("NCIRRUS_PROGRAMS_FROM", 0), number("NCIRRUS_PROGRAMS", 500));
    let (session, mut failures) = (session(), Vec::new());
    for start in (first..first + count).step_by(usize::try_from(BATCH).unwrap()) {
        batch(start..(start + BATCH).min(first + count), &session, &mut failures);
        println!("{} programs, {} failures", (start + BATCH).min(first + count) - first, failures.len());
    }
    assert!(failures.is_empty(), "{} failures:\n{}", failures.len(), failures.join("\n"));
}

fn batch(seeds: std::ops::Range<u64>, session: &Session, failures: &mut Vec<String>) {
    let folder = tempfile::tempdir().unwrap();
    let (mut expected, mut logs) = (Vec::new(), std::collections::BTreeMap::new());
    for seed in seeds {
        let mut program = steps::Program::new(seed, folder.path(), session);
        match program.run(seed) {
            Ok(()) => {
                expected.push(compare::expectation(seed, &program));
                logs.insert(seed, program.log);
            }
            Err(reason) => failures.push(failure(seed, &program.log, &reason)),
        }
    }
    match read_by_others(folder.path(), &expected) {
        Ok(wrong) => {
            failures.extend(wrong.iter().map(|(seed, reason)| failure(*seed, &logs[seed], reason)));
        }
        Err(reason) => failures.push(format!("{reason}; the files are in {}", folder.keep().display())),
    }
}

fn failure(seed: u64, log: &[String], reason: &str) -> String {
    let log: String =
        log.iter().map(|line| format!("    {}\n", line.chars().take(600).collect::<String>())).collect();
    format!("seed {seed}: {}\n{log}", reason.chars().take(1500).collect::<String>())
}

/// Seeds of files that other programs read differently, and how; an error if a reader crashes.
fn read_by_others(folder: &Path, expected: &[Value]) -> Result<Vec<(u64, String)>, String> {
    let Some(python) = peers_python() else { return Ok(Vec::new()) };
    let list = folder.join("expected.json");
    fs::write(&list, serde_json::to_vec(expected).unwrap()).unwrap();
    let script = include_str!("programs/read.py");
    let output = Command::new(python).arg("-c").arg(script).arg(&list).output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        return Err(format!("the script ended with {}: {errors}", output.status));
    }
    let reported: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(reported["files"], expected.len());
    println!("read by others: {}", reported["read"]);
    let wrong = reported["failures"].as_array().unwrap().iter();
    Ok(wrong.map(|one| (one[0].as_u64().unwrap(), one[1].as_str().unwrap().to_owned())).collect())
}
