//! Shared code of the end-to-end tests: whole datasets as CDL, exceptions and their counts, differences of texts.
#![allow(dead_code, reason = "each test binary uses a part of it")]
#![allow(clippy::allow_attributes, reason = "an expectation would fail in the binaries that use all of it")]
#![allow(clippy::unwrap_used, clippy::print_stdout, reason = "helpers of tests may panic and tell counts")]

#[path = "../../../ncirrus/tests/support/mod.rs"]
mod datasets;

#[allow(unused_imports, reason = "each test binary uses a part of them")]
pub(crate) use datasets::{json, open, session, temp, values};

use ncirrus::{Dataset, Result};
use ncirrus_tools::cdl;
use std::cell::Cell;
use std::collections::BTreeSet;
use std::path::Path;

/// The whole dataset as CDL, and whether every member could be read.
pub(crate) fn cdl_of(
    dataset: &Dataset,
    name: &str,
    change: impl FnOnce(&mut cdl::PrintOptions),
) -> Result<(String, bool)> {
    let mut options =
        cdl::PrintOptions::new().name(name.to_owned()).classic(ncirrus_tools::is_classic_model(dataset));
    change(&mut options);
    let mut text = Vec::new();
    let summary = ncirrus_tools::dump(dataset, &mut text, &options)?;
    Ok((String::from_utf8_lossy(&text).into_owned(), summary.faults.is_empty()))
}

/// Exact CDL of everything: with so many digits that equal text means equal values.
pub(crate) fn exact_cdl(dataset: &Dataset, name: &str) -> String {
    let exact = |options: &mut cdl::PrintOptions| {
        options.float_digits = Some(9);
        options.double_digits = Some(17);
    };
    let (text, whole) = cdl_of(dataset, name, exact).unwrap();
    assert!(whole, "{}: a member cannot be read:\n{text}", dataset.url());
    text
}

/// Everything as text, in netCDF-4 terms whatever the kind.
pub(crate) fn exact(dataset: &Dataset) -> String {
    let change = |options: &mut cdl::PrintOptions| {
        options.float_digits = Some(9);
        options.double_digits = Some(17);
        options.classic = false;
    };
    let (text, whole) = cdl_of(dataset, "name", change).unwrap();
    assert!(whole, "{}: a member cannot be read:\n{text}", dataset.url());
    text
}

/// Lines `case<TAB>check<TAB>failure<TAB>reason` of a file beside the tests; `#` starts a comment. A case may contain
/// one `*`; the failure must start with the text in the line, so that an exception hides only what it explains.
pub(crate) struct Exceptions(Vec<Exception>);

struct Exception {
    case: String,
    check: String,
    failure: String,
    reason: String,
    used: Cell<bool>,
}

impl Exception {
    fn new(line: &str) -> Self {
        let parts: Vec<&str> = line.split('\t').collect();
        assert!(
            parts.len() == 4 && !parts[3].trim().is_empty(),
            "an exception needs case, check, failure and reason: {line:?}"
        );
        let [case, check, failure, reason] = [0, 1, 2, 3].map(|at| parts[at].to_owned());
        Self { case, check, failure, reason, used: Cell::new(false) }
    }

    fn covers(&self, case: &str, check: &str) -> bool {
        let named = match self.case.split_once('*') {
            Some((start, end)) => case.strip_prefix(start).is_some_and(|rest| rest.ends_with(end)),
            None => self.case == case,
        };
        named && self.check == check
    }
}

impl Exceptions {
    pub(crate) fn load(name: &str) -> Self {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/corpus").join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        let lines = text.lines().filter(|line| !line.trim().is_empty() && !line.starts_with('#'));
        Self(lines.map(Exception::new).collect())
    }

    /// The reasons of all exceptions.
    pub(crate) fn reasons(&self) -> BTreeSet<&str> {
        self.0.iter().map(|exception| exception.reason.as_str()).collect()
    }

    /// Where only some cases are tried, exceptions of the others are not missed.
    pub(crate) fn need_no_case(&self) {
        self.0.iter().for_each(|exception| exception.used.set(true));
    }

    /// The expected start of the failure of a check of a case, if it is an exception.
    fn of(&self, case: &str, check: &str) -> Option<&str> {
        let exception = self.0.iter().find(|exception| exception.covers(case, check))?;
        exception.used.set(true);
        Some(&exception.failure)
    }
}

/// Counts checks and collects what failed.
#[derive(Default)]
pub(crate) struct Tally {
    passed: usize,
    excepted: usize,
    failures: Vec<String>,
}

impl Tally {
    /// Records a check; an excepted one must fail, or its exception is stale.
    pub(crate) fn record(
        &mut self,
        exceptions: &Exceptions,
        case: &str,
        check: &str,
        outcome: std::result::Result<(), String>,
    ) {
        match (outcome, exceptions.of(case, check)) {
            (Ok(()), None) => self.passed += 1,
            (Err(reason), Some(failure)) if reason.starts_with(failure) => self.excepted += 1,
            (Ok(()), Some(_)) => self.failures.push(format!("{case} [{check}]: excepted, but it passes")),
            (Err(reason), _) => self.failures.push(format!("{case} [{check}]: {reason}")),
        }
    }

    /// Prints `N of M` and fails if something failed or an exception was not used.
    pub(crate) fn finish(mut self, what: &str, exceptions: &Exceptions) {
        let total = self.passed + self.excepted + self.failures.len();
        println!("{what}: {} of {total} ({} excepted)", self.passed, self.excepted);
        let unused = exceptions.0.iter().filter(|exception| !exception.used.get());
        self.failures
            .extend(unused.map(|one| format!("{} [{}]: an exception of nothing", one.case, one.check)));
        assert!(self.failures.is_empty(), "{} failures:\n{}", self.failures.len(), self.failures.join("\n"));
    }
}

/// `Err` with the numbers of missing and of surplus lines, and the first lines in which two texts differ.
pub(crate) fn difference(expected: &str, got: &str) -> std::result::Result<(), String> {
    if expected == got {
        return Ok(());
    }
    let (wanted, have): (Vec<&str>, Vec<&str>) = (expected.lines().collect(), got.lines().collect());
    let at = wanted.iter().zip(&have).take_while(|(a, b)| a == b).count();
    let common = at + common_lines(&wanted[at..], &have[at..]);
    let show = |lines: &[&str]| lines.get(at).unwrap_or(&"(end)").chars().take(160).collect::<String>();
    Err(format!(
        "-{} +{} lines; line {}: expected {:?}, got {:?}",
        wanted.len() - common,
        have.len() - common,
        at + 1,
        show(&wanted),
        show(&have)
    ))
}

/// Length of the longest common subsequence.
fn common_lines(a: &[&str], b: &[&str]) -> usize {
    let mut lengths = vec![0; b.len() + 1];
    for line in a {
        let mut before = 0;
        for (at, other) in b.iter().enumerate() {
            let above = lengths[at + 1];
            lengths[at + 1] = if line == other { before + 1 } else { above.max(lengths[at]) };
            before = above;
        }
    }
    lengths[b.len()]
}

pub(crate) fn copy_tree(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap().path();
        let target = to.join(entry.file_name().unwrap());
        if entry.is_dir() { copy_tree(&entry, &target) } else { _ = std::fs::copy(&entry, &target).unwrap() }
    }
}
