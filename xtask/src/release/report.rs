//! What the steps made and found: a record of each step, and the report about all.
use super::VERSION;
use crate::run::{self, Outcome, target};
use serde_json::{Value, json};
use std::fmt::Write as _;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// What a step made.
#[derive(Debug, Default)]
pub(super) struct StepOutput {
    /// Names of files in the folder of artefacts.
    pub(super) artefacts: Vec<String>,
    /// The reason why the step was not tried, if it is one that may be left out.
    pub(super) untried: Option<String>,
    pub(super) checks: Vec<Check>,
    /// Commands with their output.
    pub(super) transcript: Option<String>,
}

/// An artefact used in a system.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Check {
    pub(super) root: String,
    pub(super) artefact: String,
    pub(super) what: String,
    /// What was found, or what is wrong.
    pub(super) outcome: Result<String, String>,
}

impl StepOutput {
    pub(super) fn of(artefacts: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { artefacts: artefacts.into_iter().map(Into::into).collect(), ..Self::default() }
    }

    pub(super) fn untried(reason: &str) -> Self {
        println!("untried: {reason}");
        Self { untried: Some(reason.to_owned()), ..Self::default() }
    }

    /// The checks that failed, in one message.
    pub(super) fn failures(&self) -> Outcome {
        let failed: Vec<String> = self.checks.iter().filter_map(Check::failure).collect();
        if failed.is_empty() { Ok(()) } else { Err(failed.join("\n  ")) }
    }
}

impl Check {
    fn failure(&self) -> Option<String> {
        let message = self.outcome.as_ref().err()?;
        Some(format!("{}, {}, {}: {message}", self.root, self.artefact, self.what))
    }

    fn to_json(&self) -> Value {
        let (is_right, text) = match &self.outcome {
            Ok(text) => (true, text),
            Err(text) => (false, text),
        };
        json!({"root": self.root, "artefact": self.artefact, "what": self.what, "right": is_right, "text": text})
    }

    fn from_json(value: &Value) -> Option<Self> {
        let text = |key: &str| value[key].as_str().map(str::to_owned);
        let outcome = if value["right"].as_bool()? { Ok(text("text")?) } else { Err(text("text")?) };
        Some(Self { root: text("root")?, artefact: text("artefact")?, what: text("what")?, outcome })
    }
}

/// The record of a step, which is kept until the step runs again.
pub(super) struct Part {
    pub(super) made: StepOutput,
    pub(super) took: Duration,
    pub(super) failed: Option<String>,
}

/// The folder of the records.
pub(super) fn parts() -> PathBuf {
    target().join("release-parts")
}

impl Part {
    pub(super) fn save(&self, step: &str) -> Outcome {
        let (folder, made) = (parts(), &self.made);
        super::create(&folder)?;
        let checks: Vec<Value> = made.checks.iter().map(Check::to_json).collect();
        let record = json!({
            "seconds": self.took.as_secs_f64(), "failed": self.failed, "artefacts": made.artefacts,
            "untried": made.untried, "checks": checks, "transcript": made.transcript,
        });
        write_text(&folder.join(format!("{step}.json")), &record.to_string())
    }

    fn load(step: &str) -> Option<Self> {
        let text = fs::read_to_string(parts().join(format!("{step}.json"))).ok()?;
        let record: Value = serde_json::from_str(&text).ok()?;
        let list = |key: &str| record[key].as_array().cloned().unwrap_or_default();
        let text = |key: &str| record[key].as_str().map(str::to_owned);
        let made = StepOutput {
            artefacts: list("artefacts").iter().filter_map(|name| name.as_str().map(str::to_owned)).collect(),
            untried: text("untried"),
            checks: list("checks").iter().filter_map(Check::from_json).collect(),
            transcript: text("transcript"),
        };
        Some(Self {
            made,
            took: Duration::try_from_secs_f64(record["seconds"].as_f64()?).ok()?,
            failed: text("failed"),
        })
    }
}

/// Writes the checksums and the report, and prints the report's tables.
pub(super) fn write(folder: &Path, steps: &[&str]) -> Outcome {
    write_checksums(folder)?;
    let parts: Vec<(&str, Part)> = steps.iter().filter_map(|step| Some((*step, Part::load(step)?))).collect();
    let commit = run::output("git", &["rev-parse", "HEAD"], &[])?;
    let mut text = format!("# Release {VERSION}\n\nCommit {}.\n", commit.trim());
    for (title, table) in [
        ("Steps", steps_table(&parts)),
        ("Artefacts", artefacts_table(folder, &parts)),
        ("Checks", checks_table(&parts)),
    ] {
        if !table.rows.is_empty() {
            _ = write!(text, "\n## {title}\n\n{}", table.markdown());
        }
    }
    print!("{text}");
    for (_, part) in &parts {
        if let Some(transcript) = &part.made.transcript {
            _ = write!(text, "\n## Transcript\n\n{transcript}");
        }
    }
    write_text(&folder.join(REPORT), &text)
}

const REPORT: &str = "REPORT.md";
const CHECKSUMS: &str = "SHA256SUMS";

fn write_checksums(folder: &Path) -> Outcome {
    let mut names = Vec::new();
    for entry in fs::read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if entry.path().is_file() && name != REPORT && name != CHECKSUMS {
            names.push(name);
        }
    }
    names.sort();
    if names.is_empty() {
        return Ok(());
    }
    let paths: Vec<String> =
        names.iter().map(|name| folder.join(name).to_string_lossy().into_owned()).collect();
    let arguments: Vec<&str> = paths.iter().map(String::as_str).collect();
    let sums = run::output("sha256sum", &arguments, &[])?;
    let sums: String = sums
        .lines()
        .zip(&names)
        .map(|(line, name)| format!("{}  {name}\n", line.split_whitespace().next().unwrap_or_default()))
        .collect();
    write_text(&folder.join(CHECKSUMS), &sums)
}

fn write_text(path: &Path, text: &str) -> Outcome {
    fs::write(path, text).map_err(|error| format!("{}: {error}", path.display()))
}

fn steps_table(parts: &[(&str, Part)]) -> ReportTable {
    let mut table = ReportTable::new(&["step", "seconds", "outcome"]);
    for (step, part) in parts {
        let outcome = match (&part.failed, &part.made.untried) {
            (Some(message), _) => format!("FAILED: {}", first_line(message)),
            (None, Some(reason)) => format!("untried: {reason}"),
            (None, None) => "ok".to_owned(),
        };
        table.row([(*step).to_owned(), format!("{:.0}", part.took.as_secs_f64()), outcome]);
    }
    table
}

fn artefacts_table(folder: &Path, parts: &[(&str, Part)]) -> ReportTable {
    let mut table = ReportTable::new(&["artefact", "MiB", "step"]);
    for (step, part) in parts {
        for name in &part.made.artefacts {
            let size =
                fs::metadata(folder.join(name)).map_or_else(|_| "missing".to_owned(), |is| mib(is.len()));
            table.row([format!("`{name}`"), size, (*step).to_owned()]);
        }
    }
    table
}

/// The beginning of a message, for a table.
fn first_line(message: &str) -> String {
    let line = message.lines().next().unwrap_or_default();
    if line.chars().count() <= LONGEST_CELL {
        return line.to_owned();
    }
    line.chars().take(LONGEST_CELL).chain("...".chars()).collect()
}

const LONGEST_CELL: usize = 150;

/// A number of bytes in MiB.
pub(super) fn mib(bytes: u64) -> String {
    format!("{:.2}", bytes as f64 / f64::from(1 << 20))
}

fn checks_table(parts: &[(&str, Part)]) -> ReportTable {
    let mut table = ReportTable::new(&["root", "artefact", "check", "outcome"]);
    for check in parts.iter().flat_map(|(_, part)| &part.made.checks) {
        let outcome = match &check.outcome {
            Ok(found) if found.is_empty() => "ok".to_owned(),
            Ok(found) => format!("ok: {found}"),
            Err(message) => format!("FAILED: {}", first_line(message)),
        };
        table.row([check.root.clone(), check.artefact.clone(), check.what.clone(), outcome]);
    }
    table
}

/// A table that is readable in a terminal and in Markdown.
struct ReportTable {
    head: Vec<String>,
    rows: Vec<Vec<String>>,
}

impl ReportTable {
    fn new(head: &[&str]) -> Self {
        Self { head: head.iter().map(|cell| (*cell).to_owned()).collect(), rows: Vec::new() }
    }

    fn row<const N: usize>(&mut self, cells: [String; N]) {
        self.rows.push(cells.into_iter().map(|cell| cell.replace('|', "\\|").replace('\n', " ")).collect());
    }

    fn markdown(&self) -> String {
        let width = |column: usize| {
            let cells = self.rows.iter().chain([&self.head]).filter_map(|row| row.get(column));
            cells.map(|cell| cell.chars().count()).max().unwrap_or_default()
        };
        let widths: Vec<usize> = (0..self.head.len()).map(width).collect();
        let line = |row: &[String]| {
            let cells = row.iter().zip(&widths).map(|(cell, width)| format!("{cell:width$}"));
            format!("| {} |\n", cells.collect::<Vec<_>>().join(" | "))
        };
        let rule: Vec<String> = widths.iter().map(|width| "-".repeat(*width)).collect();
        [&self.head, &rule].into_iter().chain(&self.rows).map(|row| line(row)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_columns_of_equal_width() {
        let mut table = ReportTable::new(&["a", "long"]);
        table.row(["x|y".to_owned(), "1".to_owned()]);
        assert_eq!(table.markdown(), "| a    | long |\n| ---- | ---- |\n| x\\|y | 1    |\n");
    }

    #[test]
    fn checks_are_kept_as_they_are() {
        for outcome in [Ok("2.1 s".to_owned()), Err("not found".to_owned())] {
            let check = Check { root: "r".into(), artefact: "a".into(), what: "w".into(), outcome };
            assert_eq!(Check::from_json(&check.to_json()), Some(check));
        }
    }

    #[test]
    fn a_failed_check_fails_its_step() {
        let check = |outcome| Check { root: "r".into(), artefact: "a".into(), what: "w".into(), outcome };
        let made = |outcome| StepOutput { checks: vec![check(outcome)], ..StepOutput::default() };
        assert_eq!(made(Ok(String::new())).failures(), Ok(()));
        assert_eq!(made(Err("late".into())).failures(), Err("r, a, w: late".into()));
    }
}
