//! Sequences of calls that seeds choose, with right and wrong arguments, on both libraries: equal codes, answers and files.
use super::calls::compiled;
use super::exceptions::KnownDifference;
use super::{Library, loaded_from};
use ncirrus_testkit::sample::all_cases;
use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Differences that are known: kinds of files (or `all`, or `seed:` and its number), Debian's line, ours, and the reason. An asterisk stands
/// for any text. With `rare` among the kinds, the sequences that are run by default do not have it. What follows the first difference of a
/// sequence is not compared.
const EXCEPTIONS: &str = include_str!("sequence_exceptions.tsv");

/// Which sequences have the exceptions. The first of them are compared, or all if all cases are wanted; `NCIRRUS_SEQUENCES` and
/// `NCIRRUS_SEQUENCES_FROM` in the environment change it. One alone is reported, too, if its difference is known.
const ALL_SEEDS: Range<u64> = 0..2000;

/// How many of them are compared in each run.
const SOME: u64 = 500;

/// So many run in one process, so that neither texts nor files become many.
const BLOCK: u64 = 500;

/// How many sequences that differ are shortened and told.
const MAX_REPORTED: usize = 5;

/// The most calls of a sequence.
const MAX_CALLS: usize = 60;

#[test]
fn sequences_of_calls_answer_and_leave_the_same() {
    let folder = tempfile::tempdir().unwrap();
    // Files that are made permanent thousands of times are in memory, where there is such a folder.
    let files = tempfile::tempdir_in("/dev/shm").or_else(|_| tempfile::tempdir()).unwrap();
    let program = compiled(folder.path(), "sequences");
    let comparison = Comparison { program, folder: folder.path(), files: files.path() };
    let rules: Vec<Rule> = EXCEPTIONS.lines().map(KnownDifference::from_line).map(Rule).collect();
    let seeds = chosen_seeds();
    let (mut wrong, mut used, mut excepted) = (Vec::new(), BTreeSet::new(), 0);
    let mut start = seeds.start;
    while start < seeds.end {
        for (seed, kind, difference) in comparison.differences(start..seeds.end.min(start + BLOCK), None) {
            match rules.iter().position(|rule| rule.fits(seed, &kind, &difference)) {
                Some(rule) => {
                    used.insert(rule);
                    excepted += 1;
                }
                None => wrong.push((seed, kind, difference)),
            }
        }
        start += BLOCK;
    }
    let many = seeds.end - seeds.start;
    println!("{many} sequences, {excepted} with differences that are known, {} with others", wrong.len());
    let mut said = String::new();
    for (seed, kind, difference) in &wrong {
        let _ = writeln!(said, "seed {seed} ({kind}): {difference}");
    }
    for (seed, ..) in wrong.iter().take(MAX_REPORTED) {
        said.push_str(&comparison.shortened(*seed));
    }
    assert!(wrong.is_empty(), "{} of {many} sequences differ:\n{said}", wrong.len());
    if many == 1 && excepted == 1 {
        println!("{}", comparison.shortened(seeds.start));
    }
    // What is excepted is not compared to its end.
    assert!(excepted * 3 < many || many < SOME, "{excepted} of {many} sequences have an exception");
    if seeds == ALL_SEEDS {
        let unused: Vec<&str> = (0..rules.len())
            .filter(|rule| !used.contains(rule) && !rules[*rule].is_rare())
            .map(|rule| rules[rule].0.debian)
            .collect();
        assert!(unused.is_empty(), "exceptions that no sequence has: {unused:#?}");
    }
}

fn chosen_seeds() -> Range<u64> {
    let number = |name: &str| std::env::var(name).ok().map(|text| text.parse::<u64>().unwrap());
    let count = if all_cases() { ALL_SEEDS.end } else { SOME };
    let from = number("NCIRRUS_SEQUENCES_FROM").unwrap_or(ALL_SEEDS.start);
    from..from + number("NCIRRUS_SEQUENCES").unwrap_or(count)
}

/// The first line in which the libraries differ.
struct Difference {
    debian: String,
    own: String,
}

impl Difference {
    /// Whether the same calls answer the same codes; values may be others.
    fn is_like(&self, other: &Difference) -> bool {
        let start = |line: &str| line.chars().take(60).filter(|c| !c.is_ascii_digit()).collect::<String>();
        start(&self.debian) == start(&other.debian) && start(&self.own) == start(&other.own)
    }
}

impl std::fmt::Display for Difference {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Debian's: {}\n    ours: {}", self.debian, self.own)
    }
}

/// A difference that is known, of some kinds of files.
struct Rule<'a>(KnownDifference<'a>);

impl Rule<'_> {
    fn is_rare(&self) -> bool {
        self.0.of.split(' ').any(|kind| kind == "rare")
    }

    /// Whether it is this difference. What ends our process is never wanted.
    fn fits(&self, seed: u64, kind: &str, difference: &Difference) -> bool {
        let is_of =
            |of: &str| of == kind || of == "all" || of.strip_prefix("seed:") == Some(&seed.to_string());
        self.0.of.split(' ').any(is_of)
            && !["crash", "hang"].iter().any(|end| difference.own.ends_with(end))
            && self.0.answers(&difference.debian, &difference.own)
    }
}

/// The lines of each sequence.
type SaidBySeed = BTreeMap<u64, Vec<String>>;

struct Comparison<'a> {
    program: String,
    /// With the library.
    folder: &'a Path,
    /// For the files of the sequences.
    files: &'a Path,
}

impl Comparison<'_> {
    /// The sequences that differ: seed, kind of file, and where they begin to differ. Of the calls those are made that have a 1 in `chosen`.
    fn differences(&self, seeds: Range<u64>, chosen: Option<&str>) -> Vec<(u64, String, Difference)> {
        let [debians, owns] = ["debian", "own"].map(|name| self.emptied(name));
        let [debian, own] = joined([
            self.start(Library::Debian, "run", &debians, &seeds, chosen),
            self.start(Library::Own, "run", &owns, &seeds, chosen),
        ]);
        let [expected, left, reread] = joined([
            self.start(Library::Debian, "dump", &debians, &seeds, None),
            self.start(Library::Debian, "dump", &owns, &seeds, None),
            self.start(Library::Own, "dump", &debians, &seeds, None),
        ]);
        let one = |seed: u64| {
            let kind = debian[&seed][0].clone();
            let said = in_calls(&debian[&seed], &own[&seed]);
            let difference = match debian[&seed].last().map(String::as_str) {
                Some("crash" | "hang") => said,
                _ => said
                    .or_else(|| in_dumps("file", &expected[&seed], &left[&seed]))
                    .or_else(|| in_dumps("Debian's file read", &expected[&seed], &reread[&seed])),
            };
            difference.map(|difference| (seed, kind, difference))
        };
        seeds.clone().filter_map(one).collect()
    }

    fn emptied(&self, name: &str) -> PathBuf {
        let place = self.files.join(name);
        let _ = std::fs::remove_dir_all(&place);
        std::fs::create_dir(&place).unwrap();
        place
    }

    fn start(
        &self,
        library: Library,
        what: &str,
        place: &Path,
        seeds: &Range<u64>,
        chosen: Option<&str>,
    ) -> Child {
        let mut command = Command::new(&self.program);
        command.arg(what).arg(place).arg(seeds.start.to_string()).arg((seeds.end - seeds.start).to_string());
        command.args(chosen).stdout(Stdio::piped()).stderr(Stdio::null());
        if library == Library::Own {
            command.env("LD_LIBRARY_PATH", loaded_from(self.folder));
        }
        command.spawn().unwrap()
    }

    /// The shortest beginning of a sequence that differs, without the calls that it differs without.
    fn shortened(&self, seed: u64) -> String {
        let Some((_, _, whole)) = self.differences(seed..seed + 1, None).pop() else {
            return format!("seed {seed} differs only among others\n");
        };
        // Another difference is another story.
        let differs = |chosen: &str| {
            let found = self.differences(seed..seed + 1, Some(chosen)).pop();
            found.filter(|(_, _, difference)| difference.is_like(&whole))
        };
        let Some(count) = (0..=MAX_CALLS).find(|count| differs(&"1".repeat(*count)).is_some()) else {
            return format!("seed {seed} differs only as a whole\n");
        };
        let mut chosen = "1".repeat(count);
        for call in (0..count).rev() {
            let mut fewer = chosen.clone();
            fewer.replace_range(call..=call, "0");
            if differs(&fewer).is_some() {
                chosen = fewer;
            }
        }
        let (_, kind, difference) = differs(&chosen).unwrap();
        let place = self.emptied("told");
        let [said] = joined([self.start(Library::Debian, "run", &place, &(seed..seed + 1), Some(&chosen))]);
        let made = said[&seed].join("\n  ");
        format!(
            "\nseed {seed} ({kind}) differs after {count} calls, with {chosen} of them:\n  {made}\n{difference}\n"
        )
    }
}

/// What programs that run side by side print, by seed.
fn joined<const N: usize>(children: [Child; N]) -> [SaidBySeed; N] {
    let threads = children.map(|child| std::thread::spawn(|| child.wait_with_output().unwrap()));
    threads.map(|thread| {
        let output = thread.join().unwrap();
        assert!(output.status.success(), "{}", output.status);
        let mut said = SaidBySeed::new();
        let mut seed = 0;
        for line in String::from_utf8_lossy(&output.stdout).lines() {
            match line.strip_prefix("seed ").and_then(|rest| rest.split_once(' ')) {
                Some((number, kind)) => {
                    seed = number.parse().unwrap();
                    said.insert(seed, vec![kind.to_owned()]);
                }
                None => said.entry(seed).or_default().push(line.to_owned()),
            }
        }
        said
    })
}

/// Where Debian's library ends the process, ours answers what it did before, and goes on.
fn in_calls(debian: &[String], own: &[String]) -> Option<Difference> {
    let is_ended = |said: &[String]| matches!(said.last().map(String::as_str), Some("crash" | "hang"));
    let expected = if is_ended(debian) { &debian[..debian.len() - 1] } else { debian };
    let first = first_difference(expected, own);
    match first {
        Some(difference) if !is_ended(debian) || difference.debian != END => Some(difference),
        _ if is_ended(own) => Some(Difference { debian: END.to_owned(), own: own.last()?.clone() }),
        _ => None,
    }
}

/// Stands for a line after the last one.
const END: &str = "(end)";

fn first_difference(debian: &[String], own: &[String]) -> Option<Difference> {
    let line = |said: &[String], at: usize| said.get(at).map_or(END, |line| line.trim()).to_owned();
    let at = (0..debian.len().max(own.len())).find(|at| debian.get(*at) != own.get(*at))?;
    Some(Difference { debian: line(debian, at), own: line(own, at) })
}

fn in_dumps(what: &str, debian: &[String], own: &[String]) -> Option<Difference> {
    let Difference { debian, own } = first_difference(debian, own)?;
    Some(Difference { debian: format!("{what}: {debian}"), own: format!("{what}: {own}") })
}
