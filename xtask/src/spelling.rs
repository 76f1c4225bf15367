//! Misspelt words in pages and in comments, which codespell finds.
use crate::citations::files;
use crate::run::{Outcome, program, project, target};
use crate::text::{self, Fences, Passage};
use std::fs::{read_to_string, write};
use std::path::Path;
use std::process::Command;

/// Words that codespell takes for misspelt ones, one to a line.
const ACCEPTED: &str = "xtask/src/spelling.txt";

/// Checks all Markdown files, and the comments of all Rust and Python files.
pub(crate) fn check(python: &Path) -> Outcome {
    let root = project();
    let (mut lines, mut places) = (String::new(), Vec::new());
    for path in files(&root)? {
        let file = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        for passage in passages(&file, || read_to_string(&path).map_err(|error| format!("{file}: {error}")))?
        {
            for (number, line) in (passage.line..).zip(passage.text.lines()) {
                lines.push_str(line);
                lines.push('\n');
                places.push(format!("{file}:{number}"));
            }
        }
    }
    let collected = target().join("spelling.txt");
    write(&collected, lines).map_err(|error| format!("{}: {error}", collected.display()))?;
    let codespell = python.with_file_name(program("codespell"));
    let mut command = Command::new(&codespell);
    command.arg("--ignore-words").arg(root.join(ACCEPTED)).arg(&collected);
    let output =
        command.output().map_err(|error| format!("{} cannot be run: {error}", codespell.display()))?;
    let found = located(&String::from_utf8_lossy(&output.stdout), &places);
    match (found.is_empty(), output.status.success()) {
        (true, true) => Ok(()),
        (true, false) => Err(format!("codespell: {}", String::from_utf8_lossy(&output.stderr))),
        (false, _) => Err(format!("misspelt, or missing in {ACCEPTED}:\n  {}", found.join("\n  "))),
    }
}

fn passages(file: &str, read: impl Fn() -> Result<String, String>) -> Result<Vec<Passage>, String> {
    match file.rsplit_once('.') {
        Some((_, "md")) => Ok(text::of_page(&read()?, Fences::Code)),
        Some((_, "rs")) => Ok(text::of_rust(&read()?)),
        Some((_, "py" | "pyi")) => Ok(text::of_python(&read()?)),
        _ => Ok(Vec::new()),
    }
}

/// The lines of codespell's report, `FILE:LINE: teh ==> the`, with the places of the lines.
fn located(report: &str, places: &[String]) -> Vec<String> {
    let located = |line: &str| {
        let (place, words) = line.split_once(": ")?;
        let number: usize = place.rsplit_once(':')?.1.parse().ok()?;
        Some(format!("{}: {words}", places.get(number.checked_sub(1)?)?))
    };
    report.lines().filter_map(located).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_reported_with_their_places() {
        let places = ["a.md:7".to_owned(), "b.rs:9".to_owned()];
        assert_eq!(located("/x/spelling.txt:2: teh ==> the\nother\n", &places), ["b.rs:9: teh ==> the"]);
    }
}
