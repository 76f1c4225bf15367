//! All recipes outside the stages, one after the other, and the tests whose counts the stages keep small with their full
//! counts: `cargo xtask long [--again] [PART..]`. `long/parts.rs` lists the parts.
//!
//! What each part prints is in `target/long/NAME.log`, how it ended in `target/long/state.tsv`. Of the same commit, parts
//! that have passed or been skipped are not run again, unless `--again` is given: an interrupted run goes on where it stopped.
mod parts;
#[cfg(test)]
mod tests;

use crate::run::{Outcome, project, target};
use parts::{PARTS, Part};
use std::fmt;
use std::fs::{self, File};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

/// Runs the parts that are named, or all.
pub(crate) fn run(arguments: &[String]) -> Outcome {
    let (options, names): (Vec<&str>, Vec<&str>) =
        arguments.iter().map(String::as_str).partition(|argument| argument.starts_with("--"));
    if let Some(unknown) = options.iter().find(|option| **option != "--again") {
        return Err(format!("no option {unknown:?}: --again"));
    }
    if let Some(unknown) = names.iter().find(|name| !PARTS.iter().any(|part| part.name == **name)) {
        let known: Vec<&str> = PARTS.iter().map(|part| part.name).collect();
        return Err(format!("no part {unknown:?}: {}", known.join(", ")));
    }
    let chosen = PARTS.iter().filter(|part| names.is_empty() || names.contains(&part.name));
    let program = std::env::current_exe().map_err(|error| format!("xtask: {error}"))?;
    let record = Record::open(&target().join("long"), &commit()?)?;
    all(chosen, &record, !options.is_empty(), &program)
}

/// Runs parts in sequence, prints one line for each, and fails if one has failed.
fn all<'a>(
    parts: impl Iterator<Item = &'a Part>,
    record: &Record,
    is_again: bool,
    program: &Path,
) -> Outcome {
    let mut failed = Vec::new();
    for part in parts {
        if let Some(line) = record.finished(part.name)?.filter(|_| !is_again) {
            println!("{line}   (before)");
            continue;
        }
        let (start, log) = (Instant::now(), record.log(part.name));
        let end = match (part.missing)() {
            Some(reason) => PartEnd::Skipped(reason),
            None if passes(part, program, &log)? => PartEnd::Passed,
            None => PartEnd::Failed(format!("see {}", log.display())),
        };
        println!("{}", record.add(part.name, &end, start.elapsed())?);
        if matches!(end, PartEnd::Failed(_)) {
            failed.push(part.name);
        }
    }
    if failed.is_empty() { Ok(()) } else { Err(format!("failed: {}", failed.join(", "))) }
}

/// Runs the recipe of a part; everything that it prints goes to a file.
fn passes(part: &Part, program: &Path, log: &Path) -> Result<bool, String> {
    let described = |error: std::io::Error| format!("{}: {error}", log.display());
    let output = File::create(log).map_err(described)?;
    let mut command = Command::new(program);
    command.args(part.arguments).envs(part.environment.iter().copied()).current_dir(project());
    command.stdout(output.try_clone().map_err(described)?).stderr(output);
    let status = command.status().map_err(|error| format!("{}: {error}", program.display()))?;
    Ok(status.success())
}

/// How a part has ended.
enum PartEnd {
    Passed,
    Failed(String),
    Skipped(String),
}

impl fmt::Display for PartEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Passed => f.write_str("ok"),
            Self::Failed(place) => write!(f, "FAILED: {place}"),
            Self::Skipped(reason) => write!(f, "skipped: {reason}"),
        }
    }
}

/// What is known of the parts of one commit: lines of commit, name, minutes and end in a file.
struct Record {
    folder: PathBuf,
    commit: String,
}

impl Record {
    fn open(folder: &Path, commit: &str) -> Result<Self, String> {
        fs::create_dir_all(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        Ok(Self { folder: folder.to_owned(), commit: commit.to_owned() })
    }

    fn log(&self, name: &str) -> PathBuf {
        self.folder.join(format!("{name}.log"))
    }

    fn state(&self) -> PathBuf {
        self.folder.join("state.tsv")
    }

    /// The line of a part that need not be run again: the last one of this commit, unless the part failed.
    fn finished(&self, name: &str) -> Result<Option<String>, String> {
        let path = self.state();
        if !path.exists() {
            return Ok(None);
        }
        let text = fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        let mut last = None;
        for line in text.lines() {
            if let [commit, part, minutes, end] = line.split('\t').collect::<Vec<_>>()[..]
                && commit == self.commit
                && part == name
            {
                last = Some((minutes, end)).filter(|_| !end.starts_with("FAILED"));
            }
        }
        Ok(last.map(|(minutes, end)| shown(name, minutes, end)))
    }

    /// Notes how a part has ended; its line.
    fn add(&self, name: &str, end: &PartEnd, took: Duration) -> Result<String, String> {
        let path = self.state();
        let described = |error: std::io::Error| format!("{}: {error}", path.display());
        let minutes = format!("{:.1}", took.as_secs_f64() / 60.0);
        let end = end.to_string().replace(['\t', '\n'], " ");
        let mut file = File::options().create(true).append(true).open(&path).map_err(described)?;
        writeln!(file, "{}\t{name}\t{minutes}\t{end}", self.commit).map_err(described)?;
        Ok(shown(name, &minutes, &end))
    }
}

fn shown(name: &str, minutes: &str, end: &str) -> String {
    format!("{name:22} {minutes:>7} min   {end}")
}

/// The commit that is checked out.
pub(crate) fn commit() -> Result<String, String> {
    let output = Command::new("git")
        .args(["rev-parse", "HEAD"])
        .current_dir(project())
        .output()
        .map_err(|error| format!("git: {error}"))?;
    let commit = String::from_utf8_lossy(&output.stdout).trim().to_owned();
    if commit.is_empty() { Err("git names no commit".to_owned()) } else { Ok(commit) }
}
