//! Phrases that pages, help and comments do not use, as `prose.tsv` lists them.
use crate::citations::files;
use crate::run::{Outcome, project};
use crate::text::{self, Fences, Passage};
use std::fs::read_to_string;

/// The phrases: `phrase`, `except`, `instead`. Words with `|` between them are alternatives, `*` is any word, and `^` is
/// the beginning of a sentence. The phrases of `except`, with `;` between them, are allowed although they contain the
/// phrase.
const RULES: &str = include_str!("prose.tsv");
/// Where a phrase is right: `file`, `words`, `why`. The words contain the phrase.
const EXCEPTIONS: &str = include_str!("prose_exceptions.tsv");
/// Texts that are not checked: the specifications, records of the past, and the page that quotes such phrases.
const NOT_CHECKED: &[&str] = &[
    "docs/spec/",
    "docs/design/022-changes-before-0.1.md",
    "docs/design/023-faults-before-0.1.md",
    "docs/STYLE.md",
];
/// The pages whose blocks of text are the help of the commands.
const COMMANDS: &str = "docs/commands/";

/// Checks all pages, the comments of the sources of Rust that are not tests, and those of all Python files.
pub(crate) fn check() -> Outcome {
    let root = project();
    let (rules, exceptions) = (rules(RULES), exceptions(EXCEPTIONS));
    let (mut wrong, mut used) = (Vec::new(), vec![false; exceptions.len()]);
    for path in files(&root)? {
        let file = path.strip_prefix(&root).unwrap_or(&path).to_string_lossy().replace('\\', "/");
        let read = || read_to_string(&path).map_err(|error| format!("{file}: {error}"));
        for passage in passages(&file, read)? {
            let words = words(&passage);
            for hit in rules.iter().flat_map(|rule| hits(rule, &words)) {
                let allowed = exceptions.iter().zip(&mut used).find(|(exception, _)| {
                    exception.file == file && covers(&exception.words, &words, hit.start, hit.end)
                });
                match allowed {
                    Some((_, used)) => *used = true,
                    None => wrong.push(format!("{file}:{}: {}", hit.line, hit.message)),
                }
            }
        }
    }
    let unused = exceptions.iter().zip(used).filter(|(_, used)| !used);
    wrong.extend(unused.map(|(exception, _)| format!("{}: an exception is not needed", exception.file)));
    let count = wrong.len();
    if count == 0 { Ok(()) } else { Err(format!("{count} phrases of prose.tsv:\n  {}", wrong.join("\n  "))) }
}

/// The prose of a file; nothing of those that are not checked.
fn passages(file: &str, read: impl Fn() -> Result<String, String>) -> Result<Vec<Passage>, String> {
    let is_source = file.split('/').any(|part| part == "src");
    if NOT_CHECKED.iter().any(|start| file.starts_with(start)) {
        return Ok(Vec::new());
    }
    let fences = if file.starts_with(COMMANDS) { Fences::Prose } else { Fences::Code };
    match file.rsplit_once('.') {
        Some((_, "md")) => Ok(text::of_page(&read()?, fences)),
        Some((_, "rs")) if is_source => Ok(text::of_rust(&read()?)),
        Some((_, "py" | "pyi")) => Ok(text::of_python(&read()?)),
        _ => Ok(Vec::new()),
    }
}

/// Words in sequence, each with its alternatives.
#[derive(Debug)]
struct WordPattern {
    begins_sentence: bool,
    words: Vec<Vec<String>>,
}

impl WordPattern {
    fn parse(text: &str) -> Self {
        let words = text.trim_start_matches('^').split_whitespace();
        let words = words.map(|word| word.split('|').map(str::to_owned).collect()).collect();
        Self { begins_sentence: text.starts_with('^'), words }
    }

    fn is_at(&self, words: &[ProseWord], at: usize) -> bool {
        let Some(found) = words.get(at..at + self.words.len()) else { return false };
        let same = |(wanted, found): (&Vec<String>, &ProseWord)| {
            !found.is_mark() && wanted.iter().any(|word| word == "*" || *word == found.text)
        };
        let begins = !self.begins_sentence || found.first().is_some_and(|word| word.begins_sentence);
        begins && self.words.iter().zip(found).all(same)
    }
}

#[derive(Debug)]
struct PhraseRule {
    phrase: WordPattern,
    except: Vec<WordPattern>,
    instead: String,
}

struct AllowedPhrase {
    file: String,
    words: WordPattern,
}

fn rules(table: &str) -> Vec<PhraseRule> {
    let rule = |[phrase, except, instead]: [&str; 3]| PhraseRule {
        phrase: WordPattern::parse(phrase),
        except: except.split(';').filter(|phrase| !phrase.is_empty()).map(WordPattern::parse).collect(),
        instead: instead.to_owned(),
    };
    rows(table).map(rule).collect()
}

fn exceptions(table: &str) -> Vec<AllowedPhrase> {
    let exception = |[file, words, _]: [&str; 3]| AllowedPhrase {
        file: file.to_owned(),
        words: WordPattern::parse(words),
    };
    rows(table).map(exception).collect()
}

/// The rows after the heading, of three fields each.
fn rows(table: &str) -> impl Iterator<Item = [&str; 3]> {
    table.lines().skip(1).filter(|line| !line.is_empty()).map(|line| {
        let mut fields = line.split('\t');
        [(); 3].map(|()| fields.next().unwrap_or_default())
    })
}

/// A word in small letters, or the mark that separates it from the next one.
#[derive(Debug)]
struct ProseWord {
    text: String,
    line: usize,
    begins_sentence: bool,
}

impl ProseWord {
    fn is_mark(&self) -> bool {
        self.text.starts_with(is_mark)
    }
}

/// Marks that no phrase extends across.
fn is_mark(letter: char) -> bool {
    ".?!,;:()|".contains(letter)
}

fn words(passage: &Passage) -> Vec<ProseWord> {
    let mut found: Vec<ProseWord> = Vec::new();
    let mut begins_sentence = true;
    for (line, text) in (passage.line..).zip(passage.text.lines()) {
        let mut rest = text;
        while let Some(letter) = rest.chars().next() {
            let is_part = |letter: char| letter.is_alphanumeric() || "'-".contains(letter);
            let len = rest.find(|letter| !is_part(letter)).unwrap_or(rest.len()).max(letter.len_utf8());
            let (word, after) = rest.split_at(len);
            rest = after;
            if is_part(letter) || is_mark(letter) || letter == '`' {
                found.push(ProseWord { text: word.to_lowercase(), line, begins_sentence });
                begins_sentence = ".?!:|".contains(letter) || (begins_sentence && word == "-");
            }
        }
    }
    found
}

struct PhraseHit {
    line: usize,
    start: usize,
    end: usize,
    message: String,
}

/// Where a phrase occurs, except within the phrases that are allowed.
fn hits(rule: &PhraseRule, words: &[ProseWord]) -> Vec<PhraseHit> {
    let len = rule.phrase.words.len();
    let found = (0..words.len()).filter(|at| rule.phrase.is_at(words, *at));
    let found = found.filter(|at| !rule.except.iter().any(|phrase| covers(phrase, words, *at, at + len)));
    found.map(|start| hit(rule, words, start, start + len)).collect()
}

fn hit(rule: &PhraseRule, words: &[ProseWord], start: usize, end: usize) -> PhraseHit {
    let around = words.get(start.saturating_sub(4)..(end + 4).min(words.len())).unwrap_or_default();
    let around: Vec<&str> = around.iter().map(|word| word.text.as_str()).collect();
    let line = words.get(start).map_or(0, |word| word.line);
    PhraseHit { line, start, end, message: format!("\"{}\"; rather {}", around.join(" "), rule.instead) }
}

/// Whether a phrase that contains the words from `start` to `end` is there.
fn covers(phrase: &WordPattern, words: &[ProseWord], start: usize, end: usize) -> bool {
    let first = (end).saturating_sub(phrase.words.len());
    (first..=start).any(|at| phrase.is_at(words, at))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Lines of the text in which the rule is broken.
    fn lines(rule: &str, text: &str) -> Vec<usize> {
        let rules = rules(&format!("phrase\texcept\tinstead\n{rule}\n"));
        let passages = text::of_page(text, Fences::Code);
        let found = passages.iter().flat_map(|passage| {
            let words = words(passage);
            rules.iter().flat_map(|rule| hits(rule, &words)).collect::<Vec<_>>()
        });
        found.map(|hit| hit.line).collect()
    }

    #[test]
    fn phrases_are_found_across_lines_but_not_across_marks() {
        let rule = "is|are no\t\tis not a";
        assert_eq!(lines(rule, "x\nThis is\nno file; *these are* no files."), [2, 3]);
        assert_eq!(lines(rule, "What it is, no file has. `is no`\n\n```\nis no\n```\n| is | no |"), [0; 0]);
    }

    #[test]
    fn longer_phrases_may_be_allowed() {
        let rule = "is no\tthere is no;is no longer\tis not a";
        assert_eq!(lines(rule, "There is no file.\nIt is no longer there. It is no file."), [2]);
    }

    #[test]
    fn a_phrase_may_have_to_begin_a_sentence() {
        let rule = "^who *s\t\t";
        assert_eq!(lines(rule, "who *s"), [0; 0]);
        assert_eq!(lines("^who *\t\t", "Those who read. Who writes waits. So: who reads."), [1, 1]);
        assert_eq!(lines("^who *\t\t", "- Who reads\n- those who"), [1]);
    }

    #[test]
    fn every_rule_says_what_to_write_instead() {
        for rule in rules(RULES) {
            assert!(!rule.phrase.words.is_empty() && !rule.instead.is_empty(), "{rule:?}");
        }
        assert!(rows(EXCEPTIONS).all(|fields| fields.iter().all(|field| !field.is_empty())));
    }
}
