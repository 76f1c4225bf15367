//! What comments and documents refer to must exist: sections of the specifications in `docs/spec`, and files.
use crate::run::{Outcome, project};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::read_to_string;
use std::path::{Path, PathBuf};

/// Checks every citation in the project.
pub(crate) fn check() -> Outcome {
    let root = project();
    let specifications = Specifications::read(&root)?;
    let mut wrong = Vec::new();
    for file in files(&root)? {
        let name = file.strip_prefix(&root).unwrap_or(&file).to_string_lossy().replace('\\', "/");
        let text = read_to_string(&file).map_err(|error| format!("{name}: {error}"))?;
        wrong.extend(specifications.wrong_citations(&name, &text));
        if name.ends_with(".md") && !name.starts_with(HISTORY) {
            wrong.extend(missing_files(&root, &name, &text));
        }
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("wrong citations:\n  {}", wrong.join("\n  "))) }
}

/// The folder of the specifications.
const FOLDER: &str = "docs/spec/";
/// Notes about the past, which may name files that no longer exist.
const HISTORY: &str = "docs/design/";
/// Files that may cite something.
const ENDINGS: &[&str] = &["rs", "py", "pyi", "md", "tsv", "toml"];
/// Folders of the project; files named below one of them must exist.
const FOLDERS: &[&str] = &["crates/", "docs/", "xtask/", "fuzz/", "benches/", "peers/", "examples/"];

/// The specifications by name, each with the sections that it has.
struct Specifications(BTreeMap<String, BTreeSet<String>>);

impl Specifications {
    fn read(root: &Path) -> Result<Self, String> {
        let folder = root.join(FOLDER);
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{FOLDER}: {error}"))?;
        let mut all = BTreeMap::new();
        for entry in entries {
            let path = entry.map_err(|error| format!("{FOLDER}: {error}"))?.path();
            let text = read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
            let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
            all.insert(name, sections(&text));
        }
        Ok(Self(all))
    }

    /// Citations in one file of sections that do not exist, or of specifications without their folder.
    fn wrong_citations(&self, file: &str, text: &str) -> Vec<String> {
        let flat = Flat::of(text);
        let mut wrong = Vec::new();
        for (at, path) in flat.names_of_files() {
            let end = at + path.len();
            let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
            let line = flat.line(at);
            match (self.0.get(name), folder) {
                (Some(sections), "docs/spec" | "../spec" | "spec") => {
                    let absent = ids(flat.after_name(end)).into_iter().filter(|id| !sections.contains(id));
                    wrong.extend(absent.map(|id| format!("{file}:{line}: {name} has no section {id}")));
                }
                (Some(_), _) if !file.starts_with(FOLDER) => {
                    wrong.push(format!("{file}:{line}: {name} is {FOLDER}{name}"));
                }
                (None, "docs/spec") => wrong.push(format!("{file}:{line}: there is no {FOLDER}{name}")),
                _ => {}
            }
        }
        wrong.extend(self.wrong_shorthands(file, text));
        wrong
    }

    /// In files that state that numbers are "sections of docs/spec/...": those that begin a field of a table with tabs,
    /// elsewhere those in parentheses.
    fn wrong_shorthands(&self, file: &str, text: &str) -> Vec<String> {
        let words = text.split_once("sections of").unwrap_or_default().1;
        let Some(words) = words.trim_start().trim_start_matches('`').strip_prefix(FOLDER) else {
            return Vec::new();
        };
        let Some((name, sections)) = self.0.iter().find(|(name, _)| words.starts_with(name.as_str())) else {
            return Vec::new();
        };
        let shorthands = if file.ends_with(".tsv") { in_fields } else { in_parentheses };
        let cited = text
            .lines()
            .enumerate()
            .flat_map(|(number, line)| shorthands(line).into_iter().map(move |id| (number + 1, id)));
        let absent = cited.filter(|(_, id)| !sections.contains(id));
        absent.map(|(number, id)| format!("{file}:{number}: {name} has no section {id}")).collect()
    }
}

/// Sections that begin fields: `3.1: why`.
fn in_fields(line: &str) -> Vec<String> {
    let fields = line.split('\t').skip(1).filter_map(|field| field.split_once(": "));
    fields.filter(|(id, _)| is_id(id)).map(|(id, _)| id.to_owned()).collect()
}

/// Sections that are the only contents of parentheses: `(3.1, 3.2)`.
fn in_parentheses(line: &str) -> Vec<String> {
    let pieces = line.split('(').skip(1).filter_map(|piece| piece.split_once(')'));
    let lists = pieces.filter(|(list, _)| list.split(", ").all(|id| is_id(id) && id.contains('.')));
    lists.flat_map(|(list, _)| ids(list)).collect()
}

/// Names of all sections of a specification: the numbers of its headings, of paragraphs below a heading that begin with
/// a number of their own, and of entries of lists and tables such as `D7`.
fn sections(text: &str) -> BTreeSet<String> {
    let mut found = BTreeSet::new();
    let mut heading = String::new();
    let mut code = false;
    for line in text.lines() {
        code ^= line.starts_with("```");
        let title = line.trim_start_matches('#');
        let entry = line.trim_start_matches(['-', '|', '*', ' ']);
        let (is_title, is_listed) = (title.len() < line.len(), entry.len() < line.len());
        let Some(id) = first_id(if is_title { title } else { entry }) else { continue };
        if is_title && !code {
            heading = format!("{id}.");
        }
        let paragraph = !is_listed && !code && !heading.is_empty() && id.starts_with(&heading);
        if (is_title && !code) || paragraph || (is_listed && is_entry(&id)) {
            found.insert(id);
        }
    }
    found
}

/// The name of a section at the start of a text, before a blank or a full stop with a blank.
fn first_id(text: &str) -> Option<String> {
    let word = text.split_whitespace().next()?;
    let word = word.strip_suffix('.').unwrap_or(word);
    is_id(word).then(|| word.to_owned())
}

/// Whether a word is the name of a section: `3`, `3.12`, `3.8.1`, `A`, `H.2`, `D7`.
fn is_id(word: &str) -> bool {
    let number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let mut parts = word.split('.');
    let first = parts.next().unwrap_or_default();
    let letter = first.len() == 1 && first.bytes().all(|byte| byte.is_ascii_uppercase());
    (letter || number(first) || is_entry(first)) && parts.all(number)
}

/// Whether a word is the name of an entry of a list: a letter and a number.
fn is_entry(word: &str) -> bool {
    let Some(rest) = word.strip_prefix(|letter: char| letter.is_ascii_uppercase()) else { return false };
    !rest.is_empty() && rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// The names of sections at the start of a text: `3.8 to 3.10, 5.4` and the like.
fn ids(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = text;
    loop {
        let end = rest.find(|letter: char| !letter.is_alphanumeric() && letter != '.').unwrap_or(rest.len());
        let (word, after) = rest.split_at(end);
        let word = word.trim_end_matches('.');
        if !is_id(word) {
            return found;
        }
        found.push(word.to_owned());
        let separators = [", ", " to ", " and "];
        let Some(next) = separators.iter().find_map(|separator| after.strip_prefix(separator)) else {
            return found;
        };
        rest = next;
    }
}

/// A text without comment markers and line ends: citations may extend over several lines.
struct Flat {
    text: String,
    /// Offsets of the lines.
    lines: Vec<usize>,
}

impl Flat {
    fn of(text: &str) -> Self {
        let mut flat = Self { text: String::new(), lines: Vec::new() };
        for line in text.lines() {
            flat.lines.push(flat.text.len());
            flat.text.push_str(line.trim().trim_start_matches(['/', '!', '#', '>']).trim_start());
            flat.text.push(' ');
        }
        flat
    }

    /// Number of the line that contains the byte.
    fn line(&self, at: usize) -> usize {
        self.lines.partition_point(|start| *start <= at)
    }

    /// The text after a name that ends there, and after the mark that ends code in Markdown.
    fn after_name(&self, end: usize) -> &str {
        let rest = self.text.get(end..).unwrap_or_default();
        rest.strip_prefix('`').unwrap_or(rest).trim_start()
    }

    /// Names of Markdown files, each with its path and its offset.
    fn names_of_files(&self) -> impl Iterator<Item = (usize, &str)> {
        self.text.match_indices(".md").filter_map(|(end, ending)| {
            let part = |letter: char| letter.is_ascii_alphanumeric() || "./_-".contains(letter);
            let before = self.text.get(..end)?;
            let start = before.trim_end_matches(part).len();
            let after = self.text.get(end + ending.len()..)?.chars().next();
            let whole = after.is_none_or(|letter| !letter.is_ascii_alphanumeric());
            whole.then(|| self.text.get(start..end + ending.len())).flatten().map(|name| (start, name))
        })
    }
}

/// Files and folders that a document names between backticks and that do not exist.
fn missing_files(root: &Path, file: &str, text: &str) -> Vec<String> {
    let pieces = text
        .lines()
        .enumerate()
        .flat_map(|(number, line)| line.split('`').skip(1).step_by(2).map(move |piece| (number + 1, piece)));
    let absent = pieces.filter(|(_, piece)| {
        let plain = piece.chars().all(|letter| letter.is_ascii_alphanumeric() || "/._-".contains(letter));
        plain && FOLDERS.iter().any(|folder| piece.starts_with(folder)) && !root.join(piece).exists()
    });
    absent.map(|(number, piece)| format!("{file}:{number}: there is no {piece}")).collect()
}

/// All files of the project that may cite something.
pub(crate) fn files(root: &Path) -> Result<Vec<PathBuf>, String> {
    let mut found = Vec::new();
    let mut folders = vec![root.to_path_buf()];
    while let Some(folder) = folders.pop() {
        let entries = std::fs::read_dir(&folder).map_err(|error| format!("{}: {error}", folder.display()))?;
        for entry in entries {
            let entry = entry.map_err(|error| format!("{}: {error}", folder.display()))?;
            let kind = entry.file_type().map_err(|error| format!("{}: {error}", folder.display()))?;
            let (path, name) = (entry.path(), entry.file_name());
            let ending = path.extension().unwrap_or_default().to_string_lossy().into_owned();
            if kind.is_dir() && name != "target" && !name.to_string_lossy().starts_with('.') {
                folders.push(path);
            } else if kind.is_file() && ENDINGS.contains(&ending.as_str()) {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}

#[cfg(test)]
mod tests;
