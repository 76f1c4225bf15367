//! What documents state about the project: the lines of the crates, and the number, date and state of each note on design.
use crate::run::{Outcome, project};
use std::fs::{read_dir, read_to_string};
use std::path::Path;

const ARCHITECTURE: &str = "docs/ARCHITECTURE.md";
const NOTES: &str = "docs/design";
/// How far a count of lines may be from the right one, in percent.
const TOLERANCE_PERCENT: usize = 25;

/// Checks the table of crates and all notes.
pub(crate) fn check() -> Outcome {
    let root = project();
    let mut wrong = wrong_counts(&read(&root.join(ARCHITECTURE))?, &crates(&root)?);
    let notes = names(&root.join(NOTES))?;
    wrong.extend(wrong_numbers(&notes));
    for note in &notes {
        wrong.extend(wrong_heading(note, &read(&root.join(NOTES).join(note))?));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong in documents:\n  {}", wrong.join("\n  "))) }
}

fn read(path: &Path) -> Result<String, String> {
    read_to_string(path).map_err(|error| format!("{}: {error}", path.display()))
}

/// The names in a folder, in order.
fn names(folder: &Path) -> Result<Vec<String>, String> {
    let entries = read_dir(folder).map_err(|error| format!("{}: {error}", folder.display()))?;
    let mut names: Vec<String> =
        entries.flatten().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// All crates of the folder `crates` and their lines of Rust, without tests.
fn crates(root: &Path) -> Result<Vec<(String, usize)>, String> {
    let folder = root.join("crates");
    let all = names(&folder)?.into_iter().filter(|name| folder.join(name).join("Cargo.toml").is_file());
    all.map(|name| Ok((format!("crates/{name}"), lines_below(&folder.join(&name).join("src"))?))).collect()
}

fn lines_below(folder: &Path) -> Result<usize, String> {
    let mut lines = 0;
    for name in names(folder)? {
        let path = folder.join(&name);
        if path.is_dir() && name != "tests" {
            lines += lines_below(&path)?;
        } else if name.ends_with(".rs") && name != "tests.rs" {
            lines += lines_without_tests(&read(&path)?);
        }
    }
    Ok(lines)
}

/// The lines before the module of tests that ends a file.
fn lines_without_tests(text: &str) -> usize {
    text.split("\n#[cfg(test)]\nmod tests {").next().map_or(0, |text| text.lines().count())
}

/// Crates that the table does not list, and counts that are too far from the right ones.
fn wrong_counts(text: &str, crates: &[(String, usize)]) -> Vec<String> {
    let stated = |name: &str| {
        let row = text.lines().find(|line| line.starts_with(&format!("| `{name}` |")))?;
        let cell = row.trim_end().trim_end_matches('|').rsplit('|').next()?;
        cell.trim().replace(',', "").parse::<usize>().ok()
    };
    let mut wrong = Vec::new();
    for (name, lines) in crates {
        let right = thousands(lines.div_ceil(100) * 100);
        match stated(name) {
            None => wrong.push(format!("{ARCHITECTURE}: the table lacks {name}: {right} lines")),
            Some(stated) if stated.abs_diff(*lines) * 100 > lines * TOLERANCE_PERCENT => {
                wrong.push(format!("{ARCHITECTURE}: {name} has {right} lines, not {}", thousands(stated)));
            }
            Some(_) => {}
        }
    }
    wrong
}

/// A number below a million with a comma: `12,300`.
fn thousands(number: usize) -> String {
    if number < 1000 { number.to_string() } else { format!("{},{:03}", number / 1000, number % 1000) }
}

/// Notes, in order, whose number is not the next one.
fn wrong_numbers(notes: &[String]) -> Vec<String> {
    let is_wrong = |(number, note): &(usize, &String)| !note.starts_with(&format!("{number:03}-"));
    let wrong = (1..).zip(notes).filter(is_wrong);
    wrong.map(|(number, note)| format!("{NOTES}/{note}: its number is not {number:03}")).collect()
}

/// What is wrong with the line after the title of a note, `Date: 2026-11-21. State: in force.`
fn wrong_heading(note: &str, text: &str) -> Option<String> {
    let line = text.lines().skip(1).find(|line| !line.is_empty()).unwrap_or_default();
    let parts = line.strip_prefix("Date: ").and_then(|rest| rest.split_once(". State: "));
    let is_right = parts.is_some_and(|(date, state)| is_date(date) && is_state(state));
    (!is_right).then(|| {
        format!(
            "{NOTES}/{note}: after the title `Date: YYYY-MM-DD. State: STATE.` is missing; a state is `proposed`, \
             `in force`, `in force, partly replaced by NNN` or `replaced by NNN`"
        )
    })
}

fn is_date(text: &str) -> bool {
    let parts: Vec<&str> = text.split('-').collect();
    parts.iter().map(|part| part.len()).eq([4, 2, 2])
        && parts.iter().all(|part| part.bytes().all(|byte| byte.is_ascii_digit()))
}

fn is_state(text: &str) -> bool {
    let Some(state) = text.strip_suffix('.') else { return false };
    let number = |text: &str| text.len() == 3 && text.bytes().all(|byte| byte.is_ascii_digit());
    match state.split_once("replaced by ") {
        Some(("" | "in force, partly ", by)) => by.split(", ").all(number),
        Some(_) => false,
        None => state == "proposed" || state == "in force",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_may_be_off_by_a_quarter() {
        let table =
            "| `crates/a` | x | y | 1,000 |\n| `crates/b` | x | y | 7,000 |\n| `crates/d` | x | y | |\n";
        let crates = [("a", 1250), ("b", 16_226), ("c", 40), ("d", 900)];
        let crates = crates.map(|(name, lines)| (format!("crates/{name}"), lines));
        let expected = [
            "docs/ARCHITECTURE.md: crates/b has 16,300 lines, not 7,000",
            "docs/ARCHITECTURE.md: the table lacks crates/c: 100 lines",
            "docs/ARCHITECTURE.md: the table lacks crates/d: 900 lines",
        ];
        assert_eq!(wrong_counts(table, &crates), expected);
    }

    #[test]
    fn the_tests_at_the_end_of_a_file_are_not_counted() {
        assert_eq!(lines_without_tests("fn a() {}\n\n#[cfg(test)]\nmod tests {\n    use super::*;\n}\n"), 1);
        assert_eq!(lines_without_tests("fn a() {}\nfn b() {}\n"), 2);
    }

    #[test]
    fn numbers_of_notes_have_no_gap() {
        let notes = ["001-a.md", "002-b.md", "004-c.md"].map(str::to_owned);
        assert_eq!(wrong_numbers(&notes), ["docs/design/004-c.md: its number is not 003"]);
    }

    #[test]
    fn notes_have_a_date_and_a_state() {
        let note = |line: &str| wrong_heading("001-a.md", &format!("# 001: a\n\n{line}\n\n## Problem\n"));
        for state in ["proposed", "in force", "replaced by 010", "in force, partly replaced by 010, 011"] {
            assert_eq!(note(&format!("Date: 2026-11-21. State: {state}.")), None, "{state}");
        }
        for line in
            ["", "Date: 2026-11-21.", "Date: today. State: in force.", "Date: 2026-11-21. State: old."]
        {
            assert!(note(line).is_some(), "{line}");
        }
    }
}
