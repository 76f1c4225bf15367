//! `ncirrus optimize` and `ncirrus check --profile`, and being killed while at it.
use crate::support::{open, session, temp};
use ncirrus::{Atomic, CodecSpec, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Storage};
use ncirrus_testkit::law::RandomSource;
use std::path::Path;
use std::process::{Command, Output, Stdio};
use std::time::{Duration, Instant};

const SIDE: u64 = 128;

/// Maps in chunks of one step, with metadata behind them.
fn made(path: &Path, steps: u64, session: &Session) {
    let options = CreateOptions::new().kind(Kind::Nc4).reserve(Some(64));
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    let root = dataset.root();
    for (name, len) in [("time", steps), ("y", SIDE), ("x", SIDE)] {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let maps = root.add_variable("maps", Atomic::Int, &["time", "y", "x"]).unwrap();
    maps.set_storage(Storage::Chunked(vec![1, SIDE, SIDE]), vec![CodecSpec::hdf5(1, &[1])]).unwrap();
    let mut random = RandomSource(steps);
    for step in 0..steps {
        let map: Vec<i32> = (0..SIDE * SIDE).map(|_| i32::try_from(random.below(1 << 12)).unwrap()).collect();
        maps.write(&Selection::slab(&[step, 0, 0], &[1, SIDE, SIDE]), &map).unwrap();
    }
    dataset.close().unwrap();
}

fn command(arguments: &[&str]) -> Command {
    let mut command = crate::program::command();
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> (Option<i32>, String, String) {
    let Output { status, stdout, stderr } = command(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (status.code(), text(stdout), text(stderr))
}

#[test]
fn a_file_is_checked_optimized_and_checked_again() {
    let (_guard, root) = temp();
    let path = root.join("a.nc");
    made(&path, 100, &session());
    let path = path.to_str().unwrap();
    let (code, report, _) = run(&["check", "--profile", "cmip7", path]);
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("profile-metadata") && report.contains("profile-small-chunks"), "{report}");
    let (code, report, _) = run(&["optimize", "--profile", "cmip7", "--dry-run", path]);
    assert!(code == Some(0) && report.contains("planned") && report.contains("about"), "{report}");
    let (code, report, errors) = run(&["optimize", "--profile", "cmip7", path]);
    assert_eq!((code, errors.as_str()), (Some(0), ""), "{report}");
    for part in
        ["optimized: ", "/maps: rechunked from [1, 128, 128] to [64, 128, 128]", "opening", "one series"]
    {
        assert!(report.contains(part), "{part}: {report}");
    }
    let (code, report, _) = run(&["check", "--profile", "cmip7", path]);
    assert_eq!(code, Some(0), "{report}");
    let (code, report, _) = run(&["optimize", "--profile", "cmip7", "--json", path]);
    assert!(code == Some(0) && report.contains("\"outcome\": \"unchanged\""), "{report}");
    let found: serde_json::Value = serde_json::from_str(&report).unwrap();
    let maps = &found[0]["variables"][0];
    let facts = ["dims", "shape", "element_bytes", "to"].map(|name| maps[name].to_string());
    assert_eq!(facts, [r#"["time","y","x"]"#, "[100,128,128]", "4", "[64,128,128]"]);
}

#[test]
fn failures_are_reported_with_their_exit_codes() {
    let (_guard, root) = temp();
    let path = root.join("a.nc");
    made(&path, 2, &session());
    let (path, absent) = (path.to_str().unwrap(), root.join("absent.nc"));
    for (arguments, wanted, reason) in [
        (&["optimize", "--profile", "cmip8", path][..], 2, "cmip8"),
        (&["optimize", "https://example.org/a.nc"], 6, "this machine"),
        (&["optimize", absent.to_str().unwrap(), path], 3, "absent.nc"),
        (&["optimize", root.to_str().unwrap()], 2, "folder"),
        (&["check", "--profile", "cmip8", path], 2, "cmip8"),
        (&["check", "--profile", "cmip7", "--cf", path], 2, "--cf"),
    ] {
        let (code, report, errors) = run(arguments);
        assert_eq!(code, Some(wanted), "{arguments:?}: {report}{errors}");
        assert!(errors.contains(reason), "{arguments:?}: {errors}");
    }
}

/// Runs that are killed, unless the environment says how many.
const ROUNDS: u32 = 16;

#[test]
fn a_file_whose_optimization_is_killed_is_the_old_or_the_new_one() {
    let (_guard, root) = temp();
    let (original, path, session) = (root.join("original.nc"), root.join("a.nc"), session());
    made(&original, 96, &session);
    let values = |path: &Path| open(path, &session).unwrap().variable("maps").unwrap().read::<i32>().unwrap();
    let whole = values(&original);
    let arguments = ["optimize", "--profile", "cmip7", path.to_str().unwrap()];
    let rounds = std::env::var("NCIRRUS_TEST_KILLS").map_or(ROUNDS, |count| count.parse().unwrap());
    std::fs::copy(&original, &path).unwrap();
    let start = Instant::now();
    assert!(command(&arguments).output().unwrap().status.success());
    let mut longest = start.elapsed();
    let (mut random, mut killed) = (RandomSource(7), 0);
    for round in 0..rounds {
        std::fs::copy(&original, &path).unwrap();
        let mut child = command(&arguments).spawn().unwrap();
        let wait = longest * u32::try_from(random.below(1000)).unwrap() / 1000;
        std::thread::sleep(wait);
        child.kill().unwrap();
        let in_time = !child.wait().unwrap().success();
        killed += u32::from(in_time);
        // The duration of a run depends on the load of the machine.
        longest = if in_time { longest * 11 / 10 } else { (longest * 3 / 4).max(Duration::from_millis(20)) };
        assert!(values(&path) == whole, "round {round}, killed after {wait:?}");
    }
    assert!(killed > rounds / 4, "{killed} of {rounds} runs were killed");
    // The next run removes what the killed ones left.
    std::fs::copy(&original, &path).unwrap();
    assert!(command(&arguments).output().unwrap().status.success());
    assert!(values(&path) == whole);
    let mut names: Vec<_> =
        std::fs::read_dir(&root).unwrap().map(|entry| entry.unwrap().file_name()).collect();
    names.sort();
    assert_eq!(names, ["a.nc", "original.nc"]);
}
