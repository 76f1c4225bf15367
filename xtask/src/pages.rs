//! Pages that name other pages: by links, not by paths in back-ticks. MkDocs checks the links (`site`).
use crate::citations::files;
use crate::run::{Outcome, project};
use std::fs::read_to_string;
use std::path::{Component, Path};

/// The folder of pages that are cited by sections, and cite.
const SPECIFICATIONS: &str = "docs/spec/";
/// Records of the past, which are kept as they were written.
const RECORDS: &[&str] = &["docs/design/022-changes-before-0.1.md", "docs/design/023-faults-before-0.1.md"];

/// Checks every Markdown file.
pub(crate) fn check() -> Outcome {
    let root = project();
    let mut wrong = Vec::new();
    let all = files(&root)?;
    let names = all
        .iter()
        .map(|file| (file, file.strip_prefix(&root).unwrap_or(file).to_string_lossy().replace('\\', "/")));
    let is_checked =
        |name: &str| name.ends_with(".md") && !name.starts_with(SPECIFICATIONS) && !RECORDS.contains(&name);
    for (file, name) in names.filter(|(_, name)| is_checked(name)) {
        let text = read_to_string(file).map_err(|error| format!("{name}: {error}"))?;
        wrong.extend(unlinked(&name, &text, |page| root.join(page).is_file()));
    }
    if wrong.is_empty() { Ok(()) } else { Err(format!("pages without a link:\n  {}", wrong.join("\n  "))) }
}

/// Paths of pages between back-ticks, outside of blocks of code.
fn unlinked(name: &str, text: &str, is_there: impl Fn(&str) -> bool) -> Vec<String> {
    let mut wrong = Vec::new();
    let mut code = false;
    for (number, line) in (1..).zip(text.lines()) {
        code ^= line.trim_start().starts_with("```");
        let pieces: Vec<&str> = line.split('`').collect();
        for piece in pieces.iter().skip(1).step_by(2).filter(|_| !code) {
            let path = piece.split_once('#').map_or(*piece, |(path, _)| path);
            let page = candidates(name, path).into_iter().find(|page| is_there(page));
            if let Some(page) = page.filter(|page| !page.starts_with(SPECIFICATIONS)) {
                wrong.push(format!("{name}:{number}: `{piece}` is the page {page}: make it a link"));
            }
        }
    }
    wrong
}

/// What a path may mean: relative to the page, to the folder of pages or to the project.
fn candidates(name: &str, path: &str) -> Vec<String> {
    let is_path = |letter: char| letter.is_ascii_alphanumeric() || "/._-".contains(letter);
    if !path.ends_with(".md") || !path.chars().all(is_path) {
        return Vec::new();
    }
    let folder = Path::new(name).parent().unwrap_or(Path::new(""));
    [folder, Path::new("docs"), Path::new("")].iter().map(|folder| normal(&folder.join(path))).collect()
}

/// A path without `..`.
fn normal(path: &Path) -> String {
    let mut parts: Vec<String> = Vec::new();
    for part in path.components() {
        match part {
            Component::ParentDir => _ = parts.pop(),
            Component::Normal(part) => parts.push(part.to_string_lossy().into_owned()),
            _ => {}
        }
    }
    parts.join("/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_between_back_ticks_are_found() {
        let cited = format!("{SPECIFICATIONS}s.md");
        let there = ["docs/a.md", "docs/b/c.md", "SECURITY.md", &cited];
        let text = "`a.md`, `../a.md#x` and `docs/b/c.md`\n[`a.md`](../a.md) `../../SECURITY.md`\n\
            ```\n`a.md`\n```\n`SPECs.md` 3, `none.md`, `docs/*.md`, `cat a.md`\n";
        let text = text.replace("SPEC", SPECIFICATIONS);
        let found = unlinked("docs/b/d.md", &text, |page| there.contains(&page));
        let expected = [
            "docs/b/d.md:1: `a.md` is the page docs/a.md: make it a link",
            "docs/b/d.md:1: `../a.md#x` is the page docs/a.md: make it a link",
            "docs/b/d.md:1: `docs/b/c.md` is the page docs/b/c.md: make it a link",
            "docs/b/d.md:2: `a.md` is the page docs/a.md: make it a link",
            "docs/b/d.md:2: `../../SECURITY.md` is the page SECURITY.md: make it a link",
        ];
        assert_eq!(found, expected);
    }
}
