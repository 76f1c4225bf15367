//! Appending, and being killed while at it.
use crate::support::{open, session, temp};
use ncirrus::{
    Atomic, Attribute, CreateOptions, Dataset, DimensionLen, Kind, Selection, Session, Shards, Storage,
};
use ncirrus_testkit::law::RandomSource;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const WIDTH: u64 = 2_000;

fn made(path: &Path, kind: Kind, steps: std::ops::Range<u32>, session: &Session) -> PathBuf {
    let options = CreateOptions::new().kind(kind).overwrite(true);
    let count = u64::from(steps.end - steps.start);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    dataset
        .edit(|model| {
            let root = model.root();
            let is_plain = matches!(kind, Kind::Zarr2 | Kind::Zarr3);
            let len = if is_plain { DimensionLen::Fixed(count) } else { DimensionLen::Unlimited(0) };
            let time = model.add_dimension(root, "time", len)?;
            let x = model.add_dimension(root, "x", DimensionLen::Fixed(WIDTH))?;
            model.add_variable(root, "time", Atomic::Int.into(), &[time])?;
            let v = model.add_variable(root, "v", Atomic::Int.into(), &[time, x])?;
            if path.to_string_lossy().contains("shards") {
                let variable = model.variable_mut(v).unwrap();
                variable.storage = Storage::Chunked(vec![2, 500]);
                variable.shards = Some(Shards::new(vec![8, 1000]));
            }
            Ok(())
        })
        .unwrap();
    let (time, v) = (dataset.variable("time").unwrap(), dataset.variable("v").unwrap());
    time.set_attribute(Attribute::text("units", "days since 2000-01-01")).unwrap();
    let mut random = RandomSource(u64::from(steps.start) + 1);
    for (at, step) in (0..).zip(steps) {
        let row: Vec<i32> = (0..WIDTH).map(|_| i32::try_from(random.below(1 << 20)).unwrap()).collect();
        time.write(&Selection::slab(&[at], &[1]), &[i32::try_from(step).unwrap()]).unwrap();
        v.write(&Selection::slab(&[at, 0], &[1, WIDTH]), &row).unwrap();
    }
    dataset.close().unwrap();
    path.to_owned()
}

fn append(options: &[&str], target: &Path, sources: &[&Path]) -> Command {
    let mut command = crate::program::command();
    command.arg("append").args(options).arg(target).args(sources);
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    command
}

/// All values, which a target that opens must have.
fn state(path: &Path, session: &Session) -> (Vec<i32>, Vec<i32>) {
    let dataset = open(path, session).unwrap();
    let of = |name: &str| dataset.variable(name).unwrap().read::<i32>().unwrap().to_vec();
    (of("time"), of("v"))
}

fn copied(from: &Path, to: &Path) {
    let removed = if to.is_dir() { std::fs::remove_dir_all(to) } else { std::fs::remove_file(to) };
    assert!(removed.is_ok() || !to.exists());
    let done = Command::new("cp").arg("-r").args([from, to]).status().unwrap();
    assert!(done.success());
}

#[test]
fn appends_that_are_killed_and_repeated_end_as_others() {
    let rounds = std::env::var("NCIRRUS_TEST_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(20u64);
    let ((_guard, folder), session) = (temp(), session());
    let source = made(&folder.join("source.nc"), Kind::Nc5, 10..40, &session);
    for (name, kind) in [
        ("a.nc", Kind::Nc3),
        ("a.nc4", Kind::Nc4),
        ("a.zarr", Kind::NcZarr),
        ("a2.zarr", Kind::Zarr2),
        ("a3.zarr", Kind::Zarr3),
        ("a-shards.zarr", Kind::Zarr3),
        ("a.zarr.zip", Kind::NcZarr),
    ] {
        let old = made(&folder.join(format!("old-{name}")), kind, 0..10, &session);
        let (before, to) = (state(&old, &session), folder.join(name));
        copied(&old, &to);
        let start = Instant::now();
        let done = append(&["--along", "time"], &to, &[&source]).output().unwrap();
        assert!(done.status.success(), "{name}: {}", String::from_utf8_lossy(&done.stderr));
        let mut longest = start.elapsed();
        let after = state(&to, &session);
        assert_eq!(after.0, (0..40).collect::<Vec<_>>(), "{name}");
        let bytes = to.is_file().then(|| std::fs::read(&to).unwrap());
        let mut random = RandomSource(rounds);
        for round in 0..rounds {
            copied(&old, &to);
            let wait = longest * u32::try_from(random.below(1000)).unwrap() / 1000;
            let mut child = append(&["--along", "time"], &to, &[&source]).spawn().unwrap();
            std::thread::sleep(wait.max(Duration::from_micros(1)));
            child.kill().unwrap();
            let was_killed = !child.wait().unwrap().success();
            longest = if was_killed { longest * 11 / 10 } else { longest * 3 / 4 };
            let now = state(&to, &session);
            assert!(
                now == before || now == after,
                "{name}: round {round}, killed after {wait:?}: {:?}",
                now.0
            );
            let again = append(&["--skip-existing", "--along", "time"], &to, &[&source]).output().unwrap();
            assert!(again.status.success(), "{name}: {}", String::from_utf8_lossy(&again.stderr));
            assert_eq!(state(&to, &session), after, "{name}: round {round}");
            let is_classic = kind == Kind::Nc3;
            if is_classic {
                assert_eq!(to.is_file().then(|| std::fs::read(&to).unwrap()), bytes, "{name}: round {round}");
            }
        }
    }
}

#[test]
fn what_does_not_fit_is_reported_and_a_dry_run_writes_nothing() {
    let ((_guard, folder), session) = (temp(), session());
    let target = made(&folder.join("a.nc"), Kind::Nc4, 0..3, &session);
    let next = made(&folder.join("b.nc"), Kind::Nc3, 3..5, &session);
    let dry = append(&["--dry-run"], &target, &[&next]).output().unwrap();
    assert_eq!(dry.status.code(), Some(0));
    assert!(String::from_utf8_lossy(&dry.stdout).contains("/time would grow from 3 to 5"));
    let twice = append(&["--dry-run"], &target, &[&next, &next]).output().unwrap();
    assert_eq!(twice.status.code(), Some(1));
    let twice = append(&[], &target, &[&next, &next]).output().unwrap();
    assert_eq!(twice.status.code(), Some(7), "{}", String::from_utf8_lossy(&twice.stderr));
    assert_eq!(state(&target, &session).0, [0, 1, 2]);
    assert!(append(&[], &target, &[&next]).status().unwrap().success());
    assert_eq!(state(&target, &session).0, [0, 1, 2, 3, 4]);
    let printed = Command::new("ncdump").args(["-v", "time"]).arg(&target).output();
    if let Ok(printed) = printed {
        assert!(String::from_utf8_lossy(&printed.stdout).contains("time = 0, 1, 2, 3, 4 ;"));
    }
}
