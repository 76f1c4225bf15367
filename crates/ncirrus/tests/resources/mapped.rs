//! Arrays that are larger than memory.
use crate::support::{open, temp};
use ncirrus::{
    Atomic, AxisSelection, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Selection, Session,
    Storage, Values, Variable,
};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

fn session(folder: &Path) -> Session {
    Session::builder().threads(2).durable(false).memory(64 << 20).cache_folder(folder).build().unwrap()
}

/// A variable of shorts with consecutive values, modulo 10,000.
fn counting(path: &Path, kind: Kind, shape: [u64; 2], chunks: [u64; 2], session: &Session) -> Variable {
    let options = CreateOptions::new().kind(kind);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, session).unwrap();
    let root = dataset.root();
    for (name, len) in ["y", "x"].into_iter().zip(shape) {
        root.add_dimension(name, DimensionLen::Fixed(len)).unwrap();
    }
    let variable = root.add_variable("v", Atomic::Short, &["y", "x"]).unwrap();
    if !kind.is_classic() {
        variable.set_storage(Storage::Chunked(chunks.to_vec()), Vec::new()).unwrap();
    }
    let values: Vec<i16> = (0..shape[0] * shape[1]).map(|at| i16::try_from(at % 10_000).unwrap()).collect();
    variable.write_all(&values).unwrap();
    dataset.close().unwrap();
    open(path, session).unwrap().variable("v").unwrap()
}

#[test]
fn a_mapped_array_has_the_values_of_a_read() {
    let ((_folder, temp), maps) = (temp(), tempfile::tempdir().unwrap());
    let session = session(maps.path());
    for (name, kind) in [("a.nc", Kind::Nc3), ("b.nc", Kind::Nc4), ("c.zarr", Kind::Zarr2)] {
        // Several windows if they are converted.
        let variable = counting(&temp.join(name), kind, [2500, 1100], [300, 500], &session);
        let strided = AxisSelection::Slice { start: 3, count: 800, stride: 3 };
        let listed = AxisSelection::Indices(vec![1000, 7, 7, 8]);
        for selection in [
            Selection::all(&[2500, 1100]),
            Selection::new(
                vec![strided.clone(), strided.clone()].into_iter().take(1).chain([listed]).collect(),
            ),
            Selection::slab(&[2499, 1099], &[1, 1]),
            Selection::slab(&[0, 0], &[0, 1100]),
        ] {
            let same = variable.read_mapped::<i16>(&selection).unwrap();
            assert!(same == variable.read_selection::<i16>(&selection).unwrap(), "{name}");
            assert_eq!(same.shape(), selection.shape());
            let converted = variable.read_mapped::<f64>(&selection).unwrap();
            assert!(converted == variable.read_selection::<f64>(&selection).unwrap(), "{name}");
            let files = std::fs::read_dir(maps.path()).unwrap().count();
            assert!(files == 0 || cfg!(windows), "a file that has a name would be left behind");
        }
    }
}

#[test]
fn a_mapped_array_can_be_changed_and_outlives_its_dataset() {
    let ((_folder, temp), maps) = (temp(), tempfile::tempdir().unwrap());
    let mut array = {
        let session = session(maps.path());
        let variable = counting(&temp.join("a.zarr"), Kind::Zarr2, [20, 30], [7, 30], &session);
        variable.read_mapped::<i32>(&Selection::all(&[20, 30])).unwrap()
    };
    array[0] = -5;
    array.sort_unstable();
    assert_eq!((array[0], array[1], array[599]), (-5, 1, 599));
}

#[test]
fn what_cannot_be_read_leaves_nothing_behind() {
    let ((_folder, temp), maps) = (temp(), tempfile::tempdir().unwrap());
    let session = session(maps.path());
    let variable = counting(&temp.join("a.zarr"), Kind::Zarr2, [20, 30], [7, 30], &session);
    let past = variable.read_mapped::<i16>(&Selection::slab(&[19, 0], &[2, 30])).unwrap_err();
    assert_eq!(past.kind(), ErrorKind::Invalid);
    let narrow = variable.read_mapped::<i8>(&Selection::all(&[20, 30])).unwrap_err();
    assert_eq!(narrow.kind(), ErrorKind::Invalid, "599 is no byte");
    assert_eq!(narrow.place().path.as_deref(), Some("/v"));
    assert_eq!(std::fs::read_dir(maps.path()).unwrap().count(), 0);
}

#[test]
fn what_is_larger_than_the_memory_is_in_a_file_and_read_alike() {
    let ((_folder, temp), maps) = (temp(), tempfile::tempdir().unwrap());
    let variable = counting(&temp.join("a.zarr"), Kind::Zarr2, [20, 30], [7, 30], &session(maps.path()));
    let small = Session::builder().threads(2).memory(1200).cache_folder(maps.path()).build().unwrap();
    let (few, many) = (Selection::slab(&[0, 0], &[3, 30]), Selection::all(&[20, 30]));
    for variable in [&variable, &open(&temp.join("a.zarr"), &small).unwrap().variable("v").unwrap()] {
        let is_small = variable.read::<i64>().unwrap().is_mapped();
        // 1,200 bytes as shorts, 2,400 as integers.
        assert!(!variable.read_selection::<i16>(&many).unwrap().is_mapped());
        assert!(!variable.read_selection::<f64>(&few).unwrap().is_mapped());
        let all = variable.read::<i32>().unwrap();
        assert_eq!((all.is_mapped(), all.shape()), (is_small, [20, 30].as_slice()));
        assert_eq!(format!("{all:?}").contains("in a file"), is_small);
        let due: Vec<i32> = (0..600).collect();
        assert_eq!(all, due);
        assert_eq!(due, all);
        assert!(all.iter().eq(&due) && (&all).into_iter().eq(&due));
        assert_eq!(all.into_iter().collect::<Vec<i32>>(), due);
        assert_eq!(variable.read::<i32>().unwrap().into_vec(), due);
    }
}

#[test]
fn where_no_file_can_be_made_the_setting_is_named() {
    let (_folder, temp) = temp();
    let in_the_way = temp.join("file");
    std::fs::write(&in_the_way, "").unwrap();
    let path = temp.join("a.zarr");
    counting(&path, Kind::Zarr2, [20, 30], [7, 30], &session(&in_the_way));
    let small = Session::builder().memory(100).cache_folder(in_the_way.join("maps")).build().unwrap();
    let variable = open(&path, &small).unwrap().variable("v").unwrap();
    for error in [
        variable.read::<i16>().unwrap_err(),
        variable.read_mapped::<i16>(&Selection::slab(&[0, 0], &[1, 1])).unwrap_err(),
    ] {
        let text = error.to_string();
        for part in ["cache.folder", "memory", "100 bytes", "maps", "/v"] {
            assert!(text.contains(part), "{part} in {text}");
        }
    }
    assert_eq!(variable.read_selection::<i16>(&Selection::slab(&[1, 1], &[1, 1])).unwrap(), [31]);
}

/// Where a separate run of this binary finds its data and stores its measurement.
const MEASURED: &str = "NCIRRUS_TEST_MEASURED";
/// The memory limit in S3netCDF4's file.
const MEMORY: u64 = 32_000_000;
/// Memory for code, threads and the allocator.
const BESIDES: u64 = 24 << 20;
/// Shorts that are read: 60 MB, and 240 MB as doubles.
const SHAPE: [u64; 2] = [3000, 10_000];

#[test]
fn a_plain_read_of_many_times_the_memory_that_s3netcdf4_was_given_stays_within_it() {
    if anonymous_memory().is_none() {
        return;
    }
    let ((_folder, temp), maps) = (temp(), tempfile::tempdir().unwrap());
    for (name, kind) in [("a.nc", Kind::Nc3), ("b.zarr", Kind::Zarr2)] {
        counting(&temp.join(name), kind, SHAPE, [128, 10_000], &session(maps.path()));
    }
    let config = temp.join("s3nc.json");
    let text = format!(
        r#"{{"version": "9", "hosts": {{}}, "cache_location": {:?},
            "resource_allocation": {{"memory": "32MB", "filehandles": 20}}}}"#,
        maps.path()
    );
    std::fs::write(&config, text).unwrap();
    let run = std::process::Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "resources::mapped::reading_in_a_process_of_its_own"])
        .env_clear()
        .env("S3_NC_CONFIG", &config)
        .env(MEASURED, &temp)
        .output()
        .unwrap();
    assert!(run.status.success(), "{}", String::from_utf8_lossy(&run.stdout));
    let grown: u64 = std::fs::read_to_string(temp.join("grown")).unwrap().parse().unwrap();
    assert!(grown < MEMORY + BESIDES, "{} KiB", grown >> 10);
}

/// Part of the test above.
#[test]
fn reading_in_a_process_of_its_own() {
    let Some(temp) = std::env::var_os(MEASURED) else { return };
    let temp = Path::new(&temp);
    let session = Session::new().unwrap();
    assert_eq!((session.memory() as u64, session.notes()), (MEMORY, vec![]));
    let before = anonymous_memory().unwrap();
    let ((), max) = watching(|| {
        for name in ["a.nc", "b.zarr"] {
            let variable = open(&temp.join(name), &session).unwrap().variable("v").unwrap();
            let (same, converted) = (variable.read::<i16>().unwrap(), variable.read::<f64>().unwrap());
            assert!(same.is_mapped() && converted.is_mapped());
            let due = (0..SHAPE[0] * SHAPE[1]).map(|at| i16::try_from(at % 10_000).unwrap());
            assert!(same.iter().copied().eq(due.clone()));
            assert!(converted.iter().copied().eq(due.map(f64::from)));
        }
    });
    std::fs::write(temp.join("grown"), (max - before).to_string()).unwrap();
}

/// The result of a function, and the maximum anonymous memory of this process meanwhile.
fn watching<T>(work: impl FnOnce() -> T) -> (T, u64) {
    let watched = AtomicBool::new(true);
    std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut max = 0;
            while watched.load(Ordering::Relaxed) {
                max = max.max(anonymous_memory().unwrap_or(0));
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            max
        });
        let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(work));
        watched.store(false, Ordering::Relaxed);
        (outcome.unwrap(), watch.join().unwrap())
    })
}

/// Bytes of memory of this process that are not backed by a file.
fn anonymous_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Run alone, with `cargo test -p ncirrus --test network -- --ignored`.
#[test]
#[ignore = "takes 8 GiB of disk and minutes"]
fn eight_gibibytes_are_read_within_one_of_memory() {
    const SIDE: u64 = 1 << 15;
    const MAX_BYTES: u64 = 1 << 30;
    let ((_folder, temp), maps) = (temp(), tempfile::tempdir().unwrap());
    let session = session(maps.path());
    let path = temp.join("large.zarr");
    let options = CreateOptions::new().kind(Kind::Zarr2);
    let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session).unwrap();
    for name in ["y", "x"] {
        dataset.root().add_dimension(name, DimensionLen::Fixed(SIDE)).unwrap();
    }
    let variable = dataset.root().add_variable("v", Atomic::Double, &["y", "x"]).unwrap();
    variable.set_storage(Storage::Chunked(vec![16, 16]), Vec::new()).unwrap();
    variable.set_fill(Values::Double(vec![-1.0])).unwrap();
    variable.write(&Selection::slab(&[SIDE - 1, SIDE - 1], &[1, 1]), &[5.0]).unwrap();
    dataset.close().unwrap();
    let variable = open(&path, &session).unwrap().variable("v").unwrap();

    let (array, max) = watching(|| variable.read::<f64>().unwrap());
    assert!(max < MAX_BYTES, "{} MiB of memory", max >> 20);
    assert_eq!(array.len() as u64, SIDE * SIDE);
    assert_eq!((array[0], array[array.len() / 2], array[array.len() - 1]), (-1.0, -1.0, 5.0));
}
