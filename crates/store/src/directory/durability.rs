//! What was put since the last barrier.
use crate::platform;
use ncirrus_layout::LockExt;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard};

/// Above this number, files are made durable with their whole file system at once, if the platform supports that.
const FEW: usize = 8;
/// Maximum number of files remembered: if the platform cannot sync a whole file system, they are made durable before
/// more are accepted.
const MANY: usize = 4096;

/// Files that were changed since the last barrier. Syncing each when it is put would cost a disk round trip per
/// chunk.
#[derive(Debug)]
pub(super) struct UnsyncedFiles {
    root: PathBuf,
    noted: Mutex<UnsyncedState>,
}

#[derive(Debug, Default)]
struct UnsyncedState {
    files: BTreeSet<PathBuf>,
    /// What failed before the barrier, which reports it.
    failure: Option<io::Error>,
}

impl UnsyncedFiles {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, noted: Mutex::default() }
    }

    /// Records that a file was changed, created or removed.
    pub(super) fn note(&self, path: &Path) {
        let mut noted = self.lock();
        if noted.files.len() < MANY {
            noted.files.insert(path.to_owned());
            return;
        }
        if cfg!(target_os = "linux") {
            return;
        }
        let full = std::mem::replace(&mut noted.files, BTreeSet::from([path.to_owned()]));
        drop(noted);
        if let Err(failure) = self.sync_each(&full) {
            self.lock().failure.get_or_insert(failure);
        }
    }

    /// Makes everything recorded durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        let noted = std::mem::take(&mut *self.lock());
        let result = noted.failure.map_or(Ok(()), Err).and_then(|()| self.sync_all(&noted.files));
        if result.is_err() {
            self.lock().files.extend(noted.files);
        }
        result
    }

    fn lock(&self) -> MutexGuard<'_, UnsyncedState> {
        self.noted.guard()
    }

    fn sync_all(&self, files: &BTreeSet<PathBuf>) -> io::Result<()> {
        let is_done = files.is_empty()
            || (files.len() > FEW && self.root.is_dir() && platform::sync_file_system(&self.root)?);
        if is_done { Ok(()) } else { self.sync_each(files) }
    }

    fn sync_each(&self, files: &BTreeSet<PathBuf>) -> io::Result<()> {
        files.iter().try_for_each(|file| sync_file(file))?;
        let above = files.iter().flat_map(|file| file.ancestors().skip(1));
        let directories: BTreeSet<&Path> = above.filter(|above| above.starts_with(&self.root)).collect();
        directories.into_iter().try_for_each(|directory| ignore_absence(platform::sync_directory(directory)))
    }
}

/// If a file has been removed since, it is enough that its directory is durable.
fn sync_file(path: &Path) -> io::Result<()> {
    if path.is_dir() {
        return Ok(());
    }
    ignore_absence(File::open(path).and_then(|file| file.sync_all()))
}

fn ignore_absence(result: io::Result<()>) -> io::Result<()> {
    match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    }
}
