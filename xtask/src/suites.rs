//! The tests: most in a profile with the optimisation of `release`, with assertions and overflow checks; those of the
//! command against the program of `cargo build --release` itself.
use crate::run::{self, Outcome, project, target};
use crate::{capi, peers};
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::process::{Command, Stdio};

/// Everything except the command's tests and what else needs the program that ships; arguments are passed to `cargo test`.
pub(crate) fn unit(arguments: &[String]) -> Outcome {
    if !arguments.is_empty() {
        let all = [&TEST[..], &["--workspace"]].concat();
        return tests(&[all, arguments.iter().map(String::as_str).collect()].concat(), &[]);
    }
    if has_nextest() {
        let filter = "not (binary(command) | test(/^shipped::/))";
        nextest(filter, &[])?;
        return tests(&[&TEST[..], &["--workspace", "--doc", "--quiet"]].concat(), &[]);
    }
    tests(&[&TEST[..], &["--workspace", "--", "--skip", "shipped::"]].concat(), &[])
}

/// The command's tests, against the program of `cargo build --release`, and the C library's that need it installed; arguments select
/// some of them.
pub(crate) fn shipped(arguments: &[String]) -> Outcome {
    let prefix = target().join("prefix");
    capi::install_for_tests(&prefix)?;
    let program = target().join("release").join(run::program("ncirrus"));
    let places = [("NCIRRUS_BINARY", program), ("NCIRRUS_PREFIX", prefix)];
    if arguments.is_empty() && has_nextest() {
        let filter = "binary(command) | (binary(library) & test(/^shipped::/))";
        return nextest(filter, &places);
    }
    // Builds the whole workspace, so that its crates have the same features as in the other tests.
    let some = |binary: &'static str| [&TEST[..], &["--workspace", "--test", binary, "--"]].concat();
    let selected: Vec<&str> = arguments.iter().map(String::as_str).collect();
    tests(&[&some("command")[..], &selected].concat(), &places)?;
    // Those of the library begin so; a name that is selected may be one of the command's only.
    let library: &[&str] = if selected.is_empty() { &["shipped::"] } else { &selected };
    tests(&[&some("library")[..], library].concat(), &places)
}

/// The fuzz targets are plain functions; here they run on a few thousand mutated samples each, as they do in `unit`.
/// `fuzz/README.md` describes how to run them under libFuzzer.
pub(crate) fn fuzz(arguments: &[String]) -> Outcome {
    let rounds: Vec<_> = arguments.iter().map(|rounds| ("NCIRRUS_FUZZ_ROUNDS", rounds.as_str())).collect();
    let test = [
        &TEST[..],
        &["--workspace", "--quiet", "--test", "hdf5", "--test", "mutations", "--test", "serving"],
    ]
    .concat();
    run::command("cargo", &test, &rounds)
}

/// Creates datasets of every format with the peers, and their truth, in a folder: `corpus` below cargo's build folder,
/// unless another is named. Tests create their own.
pub(crate) fn corpus(arguments: &[String]) -> Outcome {
    let folder = arguments.first().map_or_else(|| target().join("corpus"), PathBuf::from);
    let script = project().join("peers/corpus.py");
    let (python, script, folder) = (peers::python(), script.to_string_lossy(), folder.to_string_lossy());
    run::command(&python.to_string_lossy(), &[&script, &folder], &[])
}

const TEST: [&str; 3] = ["test", "--profile", "checked"];

/// Runs the tests that a filter selects; one run shows all that fail.
fn nextest(filter: &str, places: &[(&str, PathBuf)]) -> Outcome {
    let threads = run::concurrent_tests();
    let run = ["nextest", "run", "--workspace", "--cargo-profile", "checked", "--no-fail-fast"];
    tests(&[&run[..], &["--test-threads", &threads, "--filterset", filter]].concat(), places)
}

/// It runs tests of all binaries concurrently; it is optional.
fn has_nextest() -> bool {
    let mut command = Command::new("cargo");
    command.args(["nextest", "--version"]).stdout(Stdio::null()).stderr(Stdio::null());
    command.current_dir(project()).status().is_ok_and(|status| status.success())
}

/// Runs cargo with the environment that tests need, and variables for what ships.
fn tests(arguments: &[&str], places: &[(&str, PathBuf)]) -> Outcome {
    let pythons = [peers::python(), peers::cfa_python(), peers::cf_python()];
    let pythons = pythons.map(|python| python.to_string_lossy().into_owned());
    let names = ["NCIRRUS_PEERS_PYTHON", "NCIRRUS_CFA_PYTHON", "NCIRRUS_CF_PYTHON"];
    let mut environment: Vec<_> = names.into_iter().zip(pythons.iter().map(String::as_str)).collect();
    let places: Vec<_> = places.iter().map(|(name, path)| (*name, path.to_string_lossy())).collect();
    environment.extend(places.iter().map(|(name, path)| (*name, &**path)));
    let notes = target().join("left-out.txt");
    // It is fine if there are none yet.
    let _ = std::fs::remove_file(&notes);
    let file = notes.to_string_lossy();
    environment.push(("NCIRRUS_LEFT_OUT", &file));
    let outcome = run::command("cargo", arguments, &environment);
    if let Some(line) = left_out(&std::fs::read_to_string(&notes).unwrap_or_default()) {
        println!("{line}");
    }
    outcome
}

/// A one-line summary of skipped tests: the notes are lines, one per test, that say what was missing.
fn left_out(notes: &str) -> Option<String> {
    let mut tests: BTreeMap<&str, usize> = BTreeMap::new();
    notes.lines().for_each(|absent| *tests.entry(absent).or_default() += 1);
    let absent: Vec<String> =
        tests.iter().map(|(absent, count)| format!("{absent} ({count} tests)")).collect();
    (!absent.is_empty()).then(|| format!("left out, as they are not there: {}", absent.join(", ")))
}

#[cfg(test)]
mod tests {
    use super::left_out;

    #[test]
    fn what_is_left_out_is_reported_in_one_line() {
        let line = left_out("288 cases of nczarr\nthe program ncks\n288 cases of nczarr\n").unwrap();
        assert_eq!(
            line,
            "left out, as they are not there: 288 cases of nczarr (2 tests), the program ncks (1 tests)"
        );
        assert_eq!(left_out(""), None);
    }
}
