//! A netCDF-4 file of many small variables, copied to an NCZarr folder: `ncirrus-bench trees WHO FOLDER COUNT RUNS`. WHO is
//! `ncirrus` or `limit`, which wait for the disk, or `ncirrus-unsynced` or `limit-unsynced`.
//!
//! The limit creates the folders and files that the copy consists of, with the same bytes, in a folder with a temporary name.
//! It then waits for the whole file system once, renames the folder, and waits for the names around it.
//!
//! Each run has a new name, and nothing is removed: ext4 does not use the inodes of removed files again for one to five
//! minutes, and each creation passes over them one by one (`recently_deleted` in the kernel). A file that takes 15 us to
//! create in a fresh folder takes 450 us after thousands of removals.
use crate::Failure;
use ncirrus::{Atomic, CreateOptions, Dataset, DimensionLen, Kind, OpenOptions, Session};
use ncirrus_tools::{CopyOptions, copy};
use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

pub(crate) fn run(who: &str, folder: &str, count: usize, runs: usize) -> Result<Vec<Duration>, Failure> {
    let (program, durable) = match who.split_once('-') {
        Some((program, "unsynced")) => (program, false),
        _ => (who, true),
    };
    let session = Session::builder().durable(durable).build()?;
    let folder = Path::new(folder);
    fs::create_dir_all(folder)?;
    let source = folder.join(format!("{count}.nc"));
    if !source.exists() {
        make(&source, count)?;
    }
    let stamp = SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos();
    let target = |run: usize| folder.join(format!("{who}-{stamp}-{run}.zarr"));
    let copied = |target: &Path| copied(&source, target, &session);
    match program {
        "ncirrus" => each(runs, folder, |run| copied(&target(run))),
        "limit" => {
            copied(&target(runs))?;
            let tree = Tree::of(&target(runs))?;
            each(runs, folder, |run| tree.create(&target(run), durable))
        }
        other => Err(format!("unknown program {other:?}").into()),
    }
}

/// Runs something several times, each after what was written before is on disk.
fn each(
    runs: usize,
    folder: &Path,
    mut work: impl FnMut(usize) -> Result<(), Failure>,
) -> Result<Vec<Duration>, Failure> {
    (0..runs)
        .map(|run| {
            rustix::fs::syncfs(File::open(folder)?)?;
            let start = Instant::now();
            work(run).map(|()| start.elapsed())
        })
        .collect()
}

/// Variables of one number, with an attribute and a value each.
fn make(source: &Path, count: usize) -> Result<(), Failure> {
    let session = Session::builder().durable(false).build()?;
    let options = CreateOptions::new().kind(Kind::Nc4);
    let dataset = Dataset::create_with(text(source)?, &options, &session)?;
    dataset.root().add_dimension("x", DimensionLen::Fixed(1))?;
    for at in 0..count {
        let variable = dataset.root().add_variable(&format!("name_{at}"), Atomic::Int, &["x"])?;
        variable.set_attribute(ncirrus::Attribute::text("units", "m"))?;
        variable.write_all(&[i32::try_from(at)?])?;
    }
    Ok(dataset.close()?)
}

fn copied(source: &Path, target: &Path, session: &Session) -> Result<(), Failure> {
    let dataset = Dataset::open_with(text(source)?, &OpenOptions::default(), session)?;
    let mut options = CopyOptions::default();
    options.create = CreateOptions::new().kind(Kind::NcZarr);
    let report = copy(&dataset, text(target)?, &options, session)?;
    if report.is_complete() { Ok(()) } else { Err("the copy is not complete".into()) }
}

fn text(path: &Path) -> Result<&str, Failure> {
    path.to_str().ok_or_else(|| "the folder's name is not UTF-8".into())
}

/// Folders, each before what it contains, and files with their bytes.
#[derive(Default)]
struct Tree(Vec<(PathBuf, Option<Vec<u8>>)>);

impl Tree {
    fn of(root: &Path) -> Result<Self, Failure> {
        let mut tree = Self::default();
        tree.add(root, Path::new(""))?;
        Ok(tree)
    }

    fn add(&mut self, root: &Path, folder: &Path) -> Result<(), Failure> {
        for entry in fs::read_dir(root.join(folder))? {
            let entry = entry?;
            let path = folder.join(entry.file_name());
            if entry.file_type()?.is_dir() {
                self.0.push((path.clone(), None));
                self.add(root, &path)?;
            } else {
                let bytes = fs::read(entry.path())?;
                self.0.push((path, Some(bytes)));
            }
        }
        Ok(())
    }

    fn create(&self, target: &Path, durable: bool) -> Result<(), Failure> {
        let made = target.with_extension("tmp");
        fs::create_dir(&made)?;
        for (path, bytes) in &self.0 {
            let path = made.join(path);
            match bytes {
                Some(bytes) => fs::write(path, bytes)?,
                None => fs::create_dir(path)?,
            }
        }
        if durable {
            rustix::fs::syncfs(File::open(&made)?)?;
        }
        fs::rename(&made, target)?;
        if durable {
            File::open(target.parent().ok_or("no folder")?)?.sync_all()?;
        }
        Ok(())
    }
}
