//! The bookkeeping, with recipes that are shell commands.
use super::parts::{PARTS, Part};
use super::{PartEnd, Record, all};
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

struct TestFolder(PathBuf);

impl TestFolder {
    fn new(name: &str) -> Self {
        let folder = std::env::temp_dir().join(format!("ncirrus-long-{}-{name}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        Self(folder)
    }

    fn record(&self, commit: &str) -> Record {
        Record::open(&self.0.join("long"), commit).unwrap()
    }
}

impl Drop for TestFolder {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

const fn part(name: &'static str, arguments: &'static [&'static str]) -> Part {
    Part { name, arguments, environment: &[("WORD", "hello")], missing: || None }
}

/// The commit and the outcome of each part that was run, in order.
fn ends(record: &Record) -> Vec<(String, String, String)> {
    let text = fs::read_to_string(record.state()).unwrap();
    let row = |line: &str| {
        let mut words = line.split('\t').map(str::to_owned);
        let (commit, name, _, end) =
            (words.next().unwrap(), words.next().unwrap(), words.next().unwrap(), words.next().unwrap());
        (commit, name, end.split(':').next().unwrap().to_owned())
    };
    text.lines().map(row).collect()
}

fn rows(list: &[(&str, &str, &str)]) -> Vec<(String, String, String)> {
    list.iter().map(|(a, b, c)| ((*a).to_owned(), (*b).to_owned(), (*c).to_owned())).collect()
}

const SHELL: &str = "/bin/sh";
const RECIPES: [Part; 3] = [
    part("says", &["-c", "echo $WORD; echo trouble >&2"]),
    part("fails", &["-c", "exit 3"]),
    Part { missing: || Some("no such tool".to_owned()), ..part("lacks", &["-c", "exit 3"]) },
];

#[test]
fn each_part_is_run_and_noted_and_what_failed_is_named_at_the_end() {
    let folder = TestFolder::new("noted");
    let record = folder.record("c1");
    let outcome = all(RECIPES.iter(), &record, false, Path::new(SHELL));
    assert_eq!(outcome, Err("failed: fails".to_owned()));
    assert_eq!(
        ends(&record),
        rows(&[("c1", "says", "ok"), ("c1", "fails", "FAILED"), ("c1", "lacks", "skipped")])
    );
    assert_eq!(fs::read_to_string(record.log("says")).unwrap(), "hello\ntrouble\n");
}

#[test]
fn a_run_goes_on_where_it_stopped_and_another_commit_or_again_begins_anew() {
    let folder = TestFolder::new("resumed");
    let record = folder.record("c1");
    // Interrupted after the first part.
    all(RECIPES[..1].iter(), &record, false, Path::new(SHELL)).unwrap();
    assert!(all(RECIPES.iter(), &record, false, Path::new(SHELL)).is_err());
    let first = [("c1", "says", "ok"), ("c1", "fails", "FAILED"), ("c1", "lacks", "skipped")];
    assert_eq!(ends(&record), rows(&first));
    // Only what failed runs again.
    assert!(all(RECIPES.iter(), &record, false, Path::new(SHELL)).is_err());
    assert_eq!(ends(&record), rows(&[&first[..], &[("c1", "fails", "FAILED")]].concat()));
    assert!(all(RECIPES[..1].iter(), &record, true, Path::new(SHELL)).is_ok());
    let other = folder.record("c2");
    assert!(all(RECIPES[..1].iter(), &other, false, Path::new(SHELL)).is_ok());
    let again = [("c1", "fails", "FAILED"), ("c1", "says", "ok"), ("c2", "says", "ok")];
    assert_eq!(ends(&record), rows(&[&first[..], &again].concat()));
}

#[test]
fn lines_have_name_minutes_and_end() {
    let folder = TestFolder::new("lines");
    let record = folder.record("c1");
    let line =
        record.add("deny", &PartEnd::Skipped("no\nnetwork".to_owned()), Duration::from_secs(90)).unwrap();
    assert_eq!(line, "deny                       1.5 min   skipped: no network");
    assert_eq!(record.finished("deny").unwrap(), Some(line));
    assert_eq!(record.finished("den").unwrap(), None);
}

#[test]
fn parts_have_names_of_their_own_and_run_recipes() {
    for (at, part) in PARTS.iter().enumerate() {
        assert!(!PARTS[..at].iter().any(|other| other.name == part.name), "{}", part.name);
        assert!(crate::TASKS.iter().any(|task| task.name == part.arguments[0]), "{}", part.name);
    }
    // Every recipe outside the stages is one, but those that make or measure something, or are a part of a stage.
    let others =
        ["test", "long", "peers", "corpus", "example", "bench", "capi", "coastlines", "pictures", "site"];
    let known = |name: &str| others.contains(&name) || crate::STAGES.contains(&name);
    let missing = crate::TASKS.iter().map(|task| task.name).filter(|name| !known(name));
    let is_part = |name: &&str| PARTS.iter().any(|part| part.arguments[0] == *name);
    assert_eq!(missing.filter(|name| !is_part(name)).collect::<Vec<_>>(), Vec::<&str>::new());
}
