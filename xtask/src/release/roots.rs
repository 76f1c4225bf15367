//! The artefacts in fresh Debian systems with nothing else in them, made by debootstrap, and the wheel on this machine's Pythons.
mod command;
mod development;
mod library;
mod python;
mod scenario;
mod system;

use super::report::{Check, StepOutput};
use std::time::{Duration, Instant};

/// Debian's releases: their names, and those of the systems in the report.
const SUITES: [(&str, &str); 2] = [("bookworm", "Debian 12"), ("trixie", "Debian 13")];

/// The next release, which has the newest Python. It is in preparation: that it cannot be made is not an error.
const NEXT: (&str, &str) = ("forky", "Debian testing");

/// How long an installation may take.
const LONGEST_INSTALLATION: Duration = Duration::from_secs(20);

/// Runs all checks, and reports those that fail together.
pub(super) fn check() -> Result<StepOutput, String> {
    system::prepare()?;
    let mut checks = Checks::default();
    for (suite, root) in SUITES {
        checks.root = root.to_owned();
        command::check(suite, &mut checks)?;
        library::check(suite, &mut checks)?;
        development::check(suite, &mut checks)?;
        python::check(suite, &mut checks)?;
    }
    checks.root = NEXT.1.to_owned();
    match system::base(NEXT.0) {
        Ok(_) => python::check(NEXT.0, &mut checks)?,
        Err(reason) => {
            checks.add(&python::name()?, "import and read", Ok(format!("untried: {reason}")));
        }
    }
    python::check_here(&mut checks)?;
    let transcript = scenario::check(&mut checks)?;
    Ok(StepOutput { checks: checks.all, transcript: Some(transcript), ..StepOutput::default() })
}

/// What was checked so far.
#[derive(Default)]
struct Checks {
    /// The system of the checks that follow.
    root: String,
    all: Vec<Check>,
}

impl Checks {
    /// Records a check. Returns whether it passed.
    fn add(&mut self, artefact: &str, what: &str, outcome: Result<String, String>) -> bool {
        let is_right = outcome.is_ok();
        match &outcome {
            Ok(found) => println!("{}, {artefact}, {what}: ok {found}", self.root),
            Err(message) => println!("{}, {artefact}, {what}: FAILED: {message}", self.root),
        }
        self.all.push(Check {
            root: self.root.clone(),
            artefact: artefact.to_owned(),
            what: what.to_owned(),
            outcome,
        });
        is_right
    }

    /// Records an installation, which must not take long. Returns whether the artefact is installed.
    fn add_installation(&mut self, artefact: &str, install: impl FnOnce() -> Result<String, String>) -> bool {
        let start = Instant::now();
        let installed = install();
        let (took, is_installed) = (start.elapsed(), installed.is_ok());
        let outcome = installed.and_then(|_| {
            let shown = format!("{:.1} s", took.as_secs_f64());
            if took < LONGEST_INSTALLATION { Ok(shown) } else { Err(format!("took {shown}")) }
        });
        self.add(artefact, "installed in under 20 s without a compiler", outcome);
        is_installed
    }
}

/// Fails unless a text is the expected one.
fn equal(found: &str, expected: &str) -> Result<String, String> {
    if found == expected {
        return Ok(String::new());
    }
    let mut lines = found.lines().zip(expected.lines());
    match lines.find(|(found, expected)| found != expected) {
        Some((found, expected)) => Err(format!("{found:?}, not {expected:?}")),
        None => Err(format!("{} lines, not {}", found.lines().count(), expected.lines().count())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_line_that_differs_is_reported() {
        assert_eq!(equal("a\nb\n", "a\nb\n"), Ok(String::new()));
        assert_eq!(equal("a\nb\n", "a\nc\n"), Err("\"b\", not \"c\"".to_owned()));
        assert_eq!(equal("a\n", "a\nc\n"), Err("1 lines, not 2".to_owned()));
    }

    #[test]
    fn a_failed_check_is_recorded_with_its_system() {
        let mut checks = Checks { root: "Debian 13".to_owned(), ..Checks::default() };
        assert!(checks.add_installation("a.deb", || Ok(String::new())));
        assert!(!checks.add("a.deb", "runs", Err("no".to_owned())));
        assert_eq!(checks.all[1].root, "Debian 13");
        assert_eq!(checks.all[1].outcome, Err("no".to_owned()));
    }
}
