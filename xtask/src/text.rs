//! The prose of a page or of the comments of a source file, without code.
use std::iter::once;

/// A paragraph, a heading, an item of a list, a row of a table or a comment.
#[derive(Debug, PartialEq)]
pub(crate) struct Passage {
    /// The number of its first line.
    pub(crate) line: usize,
    /// Its lines. A piece of code is a single back-tick, a link is its text.
    pub(crate) text: String,
}

/// Whether the blocks between fences are prose, too.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Fences {
    Code,
    /// As in the pages of commands, whose blocks are the help.
    Prose,
}

/// The prose of a Markdown page.
pub(crate) fn of_page(text: &str, fences: Fences) -> Vec<Passage> {
    passages((1..).zip(text.lines()), fences)
}

/// The comments of a Rust file that have lines of their own.
pub(crate) fn of_rust(text: &str) -> Vec<Passage> {
    let comment = |line: &str| {
        let comment = line.trim_start().strip_prefix("//")?;
        Some(comment.trim_start_matches(['/', '!']).to_owned())
    };
    of_runs(text, comment)
}

/// The comments and docstrings of a Python file that have lines of their own.
pub(crate) fn of_python(text: &str) -> Vec<Passage> {
    // Whether the line is inside a string of several lines, and whether that is a docstring.
    let (mut inside, mut is_docstring) = (false, false);
    let comment = |line: &str| {
        let line = line.trim();
        if !inside {
            is_docstring = line.starts_with("\"\"\"");
        }
        inside ^= line.matches("\"\"\"").count() % 2 == 1;
        let docstring = || is_docstring.then(|| line.replace("\"\"\"", ""));
        docstring().or_else(|| line.strip_prefix('#').map(str::to_owned))
    };
    of_runs(text, comment)
}

/// The passages of each run of lines that are comments.
fn of_runs(text: &str, mut comment: impl FnMut(&str) -> Option<String>) -> Vec<Passage> {
    let (mut found, mut run) = (Vec::new(), Vec::new());
    for (number, line) in (1..).zip(text.lines().map(Some).chain(once(None))) {
        match line.and_then(&mut comment) {
            Some(line) => run.push((number, line)),
            None if run.is_empty() => {}
            None => {
                let lines = run.iter().map(|(number, line): &(usize, String)| (*number, line.as_str()));
                found.extend(passages(lines, Fences::Code));
                run.clear();
            }
        }
    }
    found
}

fn passages<'a>(lines: impl Iterator<Item = (usize, &'a str)>, fences: Fences) -> Vec<Passage> {
    let mut found: Vec<Passage> = Vec::new();
    let (mut code, mut continues) = (false, false);
    for (number, line) in lines {
        let is_indented = !continues && !code && line.starts_with("    ");
        let line = line.trim();
        if line.starts_with("```") {
            (code, continues) = (!code, false);
        } else if line.is_empty() || (code && fences == Fences::Code) || is_indented {
            // A block of code, too, is indented by four blanks after a blank line.
            continues = false;
        } else {
            match found.last_mut().filter(|_| continues && !begins_passage(line)) {
                Some(passage) => {
                    passage.text.push('\n');
                    passage.text.push_str(line);
                }
                None => found.push(Passage { line: number, text: line.to_owned() }),
            }
            continues = !line.starts_with(['#', '|']);
        }
    }
    for passage in &mut found {
        passage.text = without_targets(&without_code(&passage.text));
    }
    found
}

/// Whether a line is a heading, a row of a table or an item of a list.
fn begins_passage(line: &str) -> bool {
    let after_number = line.trim_start_matches(|letter: char| letter.is_ascii_digit());
    line.starts_with(['#', '|'])
        || line.starts_with("- ")
        || line.starts_with("* ")
        || (after_number.len() < line.len() && after_number.starts_with(". "))
}

/// Replaces pieces of code by a back-tick and as many line ends as they have.
fn without_code(text: &str) -> String {
    let mut plain = String::new();
    for (at, piece) in text.split('`').enumerate() {
        if at % 2 == 0 {
            plain.push_str(piece);
        } else {
            plain.push('`');
            plain.extend(piece.matches('\n'));
        }
    }
    plain
}

/// Removes the targets of links.
fn without_targets(text: &str) -> String {
    let mut pieces = text.split("](");
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        let (target, rest) = piece.split_once(')').unwrap_or(("", piece));
        plain.push(']');
        plain.extend(target.matches('\n'));
        plain.push_str(rest);
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(passages: &[Passage]) -> Vec<(usize, &str)> {
        passages.iter().map(|passage| (passage.line, passage.text.as_str())).collect()
    }

    #[test]
    fn a_page_is_paragraphs_items_and_rows() {
        let page = "# Title\nfirst `a\nb` line\n- item [a](b.md\n) end\n\n| row |\n| row |\n```sh\ncode\n```\n1. one\n\n    code\n    code";
        let expected = [
            (1, "# Title"),
            (2, "first `\n line"),
            (4, "- item [a]\n end"),
            (7, "| row |"),
            (8, "| row |"),
            (12, "1. one"),
        ];
        assert_eq!(shown(&of_page(page, Fences::Code)), expected);
        assert_eq!(of_page("```text\nhelp\n```", Fences::Prose).len(), 1);
    }

    #[test]
    fn comments_of_rust_are_passages() {
        let text =
            "//! Module.\n//!\n//! More\n//! of it.\nfn a() {} // no\n    // Why.\n/// Item.\nfn b() {}";
        let expected = [(1, "Module."), (3, "More\nof it."), (6, "Why.\nItem.")];
        assert_eq!(shown(&of_rust(text)), expected);
    }

    #[test]
    fn docstrings_of_python_are_passages() {
        let text = "\"\"\"Module.\"\"\"\nx = 1\n# why\ndef f():\n    \"\"\"Does\n    it.\n    \"\"\"\n    return 1\n";
        assert_eq!(shown(&of_python(text)), [(1, "Module."), (3, "why"), (5, "Does\nit.")]);
    }

    #[test]
    fn other_strings_of_python_are_not_passages() {
        let text = "X = \"\"\"\ntext\n\"\"\"\n\n\ndef f():\n    \"\"\"Does it.\"\"\"\n";
        assert_eq!(shown(&of_python(text)), [(7, "Does it.")]);
    }
}
