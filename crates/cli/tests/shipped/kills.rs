//! The running program is killed at any moment: afterwards there is nothing, the old dataset, or the new one, and the
//! next run is not blocked by the remains.
use super::{done, str_of, whole};
use crate::support::{open, session, temp};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, OpenOptions, Selection, Session, Values,
};
use ncirrus_testkit::law::RandomSource;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

const ROUNDS: u64 = 16;

#[test]
fn copies_that_are_killed_are_absent_or_whole() {
    let bench = Bench::new();
    for (ending, options) in TARGETS {
        let to = bench.folder.join(format!("copied.{ending}"));
        let command = bench.copy(&bench.new, &to, options);
        bench.kill_often(&to, &command, ending, || remove(&to), &[None, Some(&bench.new)]);
    }
}

#[test]
fn copies_over_others_that_are_killed_leave_the_old_or_the_new() {
    let bench = Bench::new();
    for (ending, options) in TARGETS {
        let to = bench.folder.join(format!("over.{ending}"));
        let old = bench.copy(&bench.old, &to, options);
        let new = bench.copy(&bench.new, &to, options);
        let again = || done(&words(&old)).unwrap();
        bench.kill_often(&to, &new, ending, again, &[Some(&bench.old), Some(&bench.new)]);
    }
}

#[test]
fn appends_to_an_aggregation_that_are_killed_leave_the_old_or_the_new() {
    let bench = Bench::new();
    let master = bench.folder.join("all.nca");
    let (old, new) = (str_of(&bench.old), str_of(&bench.new));
    let both = bench.folder.join("both.nca");
    done(&["aggregate", "--axis", "t", str_of(&both), old, new]).unwrap();
    let one = bench.folder.join("one.nca");
    done(&["aggregate", "--axis", "t", str_of(&one), old]).unwrap();
    let add = ["aggregate", "--add", "--axis", "t", str_of(&master), new];
    let again = || _ = std::fs::copy(&one, &master).unwrap();
    bench.kill_often(&master, &add.map(str::to_owned), "nca", again, &[Some(&one), Some(&both)]);
}

/// Extensions of targets, and how they are written slowly enough to be killed.
const TARGETS: [(&str, &[&str]); 6] = [
    ("nc", &["-k", "nc5"]),
    ("nc4", &["-c", "t/1,x/", "-d", "9"]),
    ("zarr", &["-c", "t/1,x/", "-d", "9"]),
    ("v3.zarr", &["-k", "zarr3", "-c", "t/4,x/", "-d", "6"]),
    ("plain.zarr", &["-k", "zarr2", "-c", "t/4,x/"]),
    ("zip", &["-c", "t/2,x/", "-d", "6"]),
];

struct Bench {
    _guard: tempfile::TempDir,
    folder: PathBuf,
    session: Session,
    old: PathBuf,
    new: PathBuf,
}

impl Bench {
    fn new() -> Self {
        let (session, (guard, folder)) = (session(), temp());
        let [old, new] =
            [("old.nc", 1), ("new.nc", 2)].map(|(name, seed)| made(&folder.join(name), seed, &session));
        Self { _guard: guard, folder, session, old, new }
    }

    fn copy(&self, from: &Path, to: &Path, options: &[&str]) -> Vec<String> {
        let words = [&["copy", "-q", "--overwrite"], options, &[str_of(from), str_of(to)]].concat();
        words.into_iter().map(str::to_owned).collect()
    }

    /// Kills the command at moments within its usual time; each state must be one of the allowed ones.
    fn kill_often(
        &self,
        target: &Path,
        command: &[String],
        what: &str,
        prepare: impl Fn(),
        allowed: &[Option<&Path>],
    ) {
        prepare();
        let start = Instant::now();
        done(&words(command)).unwrap();
        let mut longest = start.elapsed();
        let states: Vec<Option<String>> =
            allowed.iter().map(|path| path.and_then(|path| self.state(path))).collect();
        let last = states.last().unwrap().clone();
        assert_eq!(self.state(target), last, "{what}: of a run that was not killed");
        let mut random = RandomSource(what.bytes().map(u64::from).sum());
        let mut killed = 0;
        for round in 0..ROUNDS {
            prepare();
            let wait = longest * u32::try_from(random.below(1000)).unwrap() / 1000;
            let in_time = kill_after(command, wait);
            killed += u64::from(in_time);
            // The duration of a run depends on the load of the machine.
            longest = if in_time { longest * 11 / 10 } else { longest * 3 / 4 };
            let state = self.state(target);
            assert!(states.contains(&state), "{what}: round {round}, killed after {wait:?}");
        }
        assert!(killed > ROUNDS / 4, "{what}: {killed} of {ROUNDS} runs were killed");
        done(&words(command)).unwrap();
        assert_eq!(self.state(target), last, "{what}: the next run");
    }

    /// The whole text of a dataset; `None` if there is none.
    fn state(&self, path: &Path) -> Option<String> {
        match open(path, &self.session) {
            Ok(dataset) => Some(whole(&dataset).unwrap()),
            Err(error) => {
                assert_eq!(error.kind(), ErrorKind::NotFound, "{}: {error}", path.display());
                None
            }
        }
    }
}

/// Runs the command and kills it; returns whether it was still running.
fn kill_after(command: &[String], wait: Duration) -> bool {
    let mut child = crate::program::command();
    let mut child = child.args(command).stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    std::thread::sleep(wait);
    child.kill().unwrap();
    !child.wait().unwrap().success()
}

/// A file with numbers that do not compress well.
fn made(path: &Path, seed: u64, session: &Session) -> PathBuf {
    let options = CreateOptions::new().kind(Kind::Nc5);
    let dataset = Dataset::create_with(str_of(path), &options, session).unwrap();
    let define = |model: &mut ncirrus::Model| {
        let root = model.root();
        let dims = [
            model.add_dimension(root, "t", DimensionLen::Fixed(48))?,
            model.add_dimension(root, "x", DimensionLen::Fixed(1000))?,
        ];
        model.add_variable(root, "v", Atomic::Int.into(), &dims)?;
        Ok(())
    };
    dataset.edit(define).unwrap();
    let mut random = RandomSource(seed);
    let values = (0..48_000).map(|_| i32::try_from(random.below(1 << 20)).unwrap()).collect();
    let all = Selection::slab(&[0, 0], &[48, 1000]);
    dataset.variable("v").unwrap().write_values(&all, &Values::Int(values)).unwrap();
    dataset.close().unwrap();
    drop(Dataset::open_with(str_of(path), &OpenOptions::default(), session).unwrap());
    path.to_owned()
}

fn words(command: &[String]) -> Vec<&str> {
    command.iter().map(String::as_str).collect()
}

fn remove(path: &Path) {
    let removed = if path.is_dir() { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    assert!(removed.is_ok() || !path.exists(), "{}", path.display());
}
