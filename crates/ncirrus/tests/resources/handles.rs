//! Open files stay within the session's budget.
use crate::support::{open, temp};
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, Session};
use std::path::Path;

/// How many files below a folder this process has open; `None` if that cannot be determined.
fn open_files(folder: &Path) -> Option<usize> {
    let entries = std::fs::read_dir("/proc/self/fd").ok()?;
    let targets = entries.filter_map(|entry| std::fs::read_link(entry.ok()?.path()).ok());
    Some(targets.filter(|target| target.starts_with(folder)).count())
}

#[test]
fn many_open_datasets_share_a_few_handles() {
    let (_folder, temp) = temp();
    let temp = temp.canonicalize().unwrap();
    let session = Session::builder().threads(2).durable(false).handles(20).build().unwrap();
    let paths: Vec<_> = (0..200).map(|number| temp.join(format!("{number}.nc"))).collect();
    for (number, path) in (0..).zip(&paths) {
        let kind = Some(if number % 2 == 0 { Kind::Nc3 } else { Kind::Nc4 });
        let options = CreateOptions::new().kind(kind);
        let dataset = Dataset::create_with(path.to_str().unwrap(), &options, &session).unwrap();
        dataset.root().add_dimension("x", DimensionLen::Fixed(3)).unwrap();
        let variable = dataset.root().add_variable("v", Atomic::Int, &["x"]).unwrap();
        variable.write_all(&[number, number + 1, number + 2]).unwrap();
        dataset.close().unwrap();
    }
    let datasets: Vec<Dataset> = paths.iter().map(|path| open(path, &session).unwrap()).collect();
    for _ in 0..2 {
        for (number, dataset) in (0..).zip(&datasets) {
            let values = dataset.variable("v").unwrap().read::<i32>().unwrap();
            assert_eq!(values, [number, number + 1, number + 2]);
            if let Some(files) = open_files(&temp) {
                assert!(files <= 20, "{files} files are open");
            }
        }
    }
    drop(datasets);
    assert!(open_files(&temp).is_none_or(|files| files == 0), "closed datasets keep no files open");
}
