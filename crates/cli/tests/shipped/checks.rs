//! `check` over the corpora: what is sound has no errors, and each damaged dataset has the codes of `checks/expected.tsv`.
#![expect(clippy::unwrap_used, reason = "helpers of tests fail the test")]
use super::{none, run, sources, str_of};
use ncirrus_testkit::corpus::peers_python;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;
use std::sync::Mutex;

/// What a check ended with: exit code, and severity and code of the findings that are no notes.
type Outcome = (i32, BTreeSet<String>);

#[test]
fn corpora_have_the_findings_that_are_due() {
    let due = expected();
    let (mut failures, mut met) = (Vec::new(), BTreeSet::new());
    let printed = tempfile::tempdir().unwrap();
    for corpus in ["hdf5", "nczarr", "cfa", "realdata"] {
        let sources = sources::of(corpus);
        let found = Mutex::new(Vec::new());
        let next = Mutex::new(sources.iter().enumerate());
        std::thread::scope(|scope| {
            for _ in 0..std::thread::available_parallelism().map_or(2, usize::from) {
                scope.spawn(|| {
                    loop {
                        let Some((number, source)) = next.lock().unwrap().next() else { break };
                        let file = printed.path().join(format!("{corpus}-{number}.json"));
                        found.lock().unwrap().push((format!("{corpus}/{}", source.id), of(source, &file)));
                    }
                });
            }
        });
        let found = found.into_inner().unwrap();
        print(corpus, &found);
        for (name, outcome) in found {
            let expected = due.get(&name).cloned().unwrap_or_default();
            met.insert(name.clone());
            match outcome {
                Ok(outcome) if outcome == expected => {}
                Ok(outcome) => failures.push(format!("{name}: {outcome:?}, not {expected:?}")),
                Err(reason) => failures.push(format!("{name}: {reason}")),
            }
        }
    }
    if !met.is_empty() {
        let stale = due.keys().filter(|name| !met.contains(*name));
        failures.extend(stale.map(|name| format!("{name} is not in the corpora any more")));
        failures.extend(against_the_schema(printed.path()));
    }
    none(&failures);
}

#[expect(clippy::print_stdout, reason = "tells how many there are")]
fn print(corpus: &str, found: &[(String, Result<Outcome, String>)]) {
    let sound = found.iter().filter(|(_, outcome)| matches!(outcome, Ok((0, _)))).count();
    println!("check, {corpus}: {sound} of {} datasets are sound", found.len());
}

/// Checks a dataset, and keeps what was printed.
fn of(source: &sources::Source, file: &Path) -> Result<Outcome, String> {
    let run = run(&["check", "--json", str_of(&source.path)]);
    let code = run.code.ok_or("it was killed")?;
    let report: Value = serde_json::from_str(&run.out).map_err(|error| format!("{error}: {}", run.err))?;
    std::fs::write(file, &run.out).unwrap();
    let word = |finding: &Value, member: &str| finding[member].as_str().unwrap_or("?").to_owned();
    let findings = report["findings"].as_array().ok_or("no findings")?.iter();
    let findings = findings.filter(|finding| finding["severity"] != "note");
    Ok((
        code,
        findings.map(|finding| format!("{}:{}", word(finding, "severity"), word(finding, "code"))).collect(),
    ))
}

/// The reports that are no instances of `docs/check.schema.json`.
fn against_the_schema(folder: &Path) -> Vec<String> {
    let Some(python) = peers_python() else { return Vec::new() };
    let schema = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/check.schema.json");
    let script = "import json, pathlib, sys, jsonschema
schema = json.loads(pathlib.Path(sys.argv[1]).read_text())
validator = jsonschema.Draft202012Validator(schema)
files = sorted(pathlib.Path(sys.argv[2]).glob('*.json'))
assert len(files) > 15
for file in files:
    for error in validator.iter_errors(json.loads(file.read_text())):
        print(file.name, error.json_path, error.message)
";
    let output = Command::new(python).args(["-c", script, schema]).arg(folder).output().unwrap();
    let mut reported: Vec<String> =
        String::from_utf8_lossy(&output.stdout).lines().map(str::to_owned).collect();
    if !output.status.success() {
        reported.push(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    reported
}

/// The datasets that are not sound.
fn expected() -> BTreeMap<String, Outcome> {
    let lines = include_str!("checks/expected.tsv").lines().filter(|line| !line.starts_with('#'));
    lines
        .map(|line| {
            let mut columns = line.split('\t');
            let (name, code) = (columns.next().unwrap(), columns.next().unwrap());
            let findings = columns.next().unwrap_or_default().split_whitespace().map(str::to_owned);
            (name.to_owned(), (code.parse().unwrap(), findings.collect()))
        })
        .collect()
}
