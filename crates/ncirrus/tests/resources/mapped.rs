//! Arrays that are larger than memory.
use crate::support::{open, temp};
use ncirrus::{
    Atomic, AxisSelection, CreateOptions, Dataset, DimensionLen, ErrorKind, Kind, Selection, Session,
    Storage, Values, Variable,
};
use std::path::Path;

fn session(folder: &Path) -> Session {
    Session::builder().threads(2).durable(false).memory(64 << 20).cache_folder(folder).build().unwrap()
}

/// A variable of shorts that count, modulo 10,000.
fn counting(path: &Path, kind: Kind, shape: [u64; 2], chunks: [u64; 2], session: &Session) -> Variable {
    let options = CreateOptions { kind: Some(kind), ..CreateOptions::default() };
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
        // Several windows where they are converted.
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
            assert!(*same == variable.read_selection::<i16>(&selection).unwrap(), "{name}");
            assert_eq!(same.shape(), selection.shape());
            let converted = variable.read_mapped::<f64>(&selection).unwrap();
            assert!(*converted == variable.read_selection::<f64>(&selection).unwrap(), "{name}");
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

/// Bytes of memory of this process that no file stands behind.
fn anonymous_memory() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("RssAnon:"))?;
    Some(line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()? << 10)
}

/// Run alone, with `cargo test -p ncirrus --test resources -- --ignored`.
#[test]
#[ignore = "takes 8 GiB of disk and minutes"]
fn eight_gibibytes_are_read_within_one_of_memory() {
    const SIDE: u64 = 1 << 15;
    const MOST: u64 = 1 << 30;
    let ((_folder, temp), maps) = (temp(), tempfile::tempdir().unwrap());
    let session = session(maps.path());
    let path = temp.join("large.zarr");
    let options = CreateOptions { kind: Some(Kind::Zarr2), ..CreateOptions::default() };
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

    let watched = std::sync::atomic::AtomicBool::new(true);
    let array = std::thread::scope(|scope| {
        let watch = scope.spawn(|| {
            let mut most = 0;
            while watched.load(std::sync::atomic::Ordering::Relaxed) {
                most = most.max(anonymous_memory().unwrap_or(0));
                std::thread::sleep(std::time::Duration::from_millis(5));
            }
            most
        });
        let array = variable.read_mapped::<f64>(&Selection::all(&[SIDE, SIDE])).unwrap();
        watched.store(false, std::sync::atomic::Ordering::Relaxed);
        let most = watch.join().unwrap();
        assert!(most < MOST, "{} MiB of memory", most >> 20);
        array
    });
    assert_eq!(array.len() as u64, SIDE * SIDE);
    assert_eq!((array[0], array[array.len() / 2], array[array.len() - 1]), (-1.0, -1.0, 5.0));
}
