//! What was put since the last barrier.
use crate::platform;
use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

/// More files than these are made durable with their whole file system at once, where the platform can.
const FEW: usize = 8;
/// More files than these are not remembered: they are made durable before more are taken.
const MANY: usize = 4096;

/// Files that were changed since the last barrier. Making each durable as it is put would cost a disk's round trip per
/// chunk.
#[derive(Debug)]
pub(super) struct Unsynced {
    root: PathBuf,
    files: Mutex<BTreeSet<PathBuf>>,
}

impl Unsynced {
    pub(super) fn new(root: PathBuf) -> Self {
        Self { root, files: Mutex::default() }
    }

    /// Remembers that a file was changed, created or removed.
    pub(super) fn note(&self, path: &Path) {
        let mut files = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        if files.len() < MANY {
            files.insert(path.to_owned());
        } else if !cfg!(target_os = "linux") {
            let full = std::mem::take(&mut *files);
            drop(files);
            // A failure here shows again at the barrier, which syncs the directories above.
            _ = full.iter().try_for_each(|file| sync_file(file));
        }
    }

    /// Makes everything durable that was noted.
    pub(super) fn sync(&self) -> io::Result<()> {
        let files = std::mem::take(&mut *self.files.lock().unwrap_or_else(PoisonError::into_inner));
        let result = self.sync_all(&files);
        if result.is_err() {
            self.files.lock().unwrap_or_else(PoisonError::into_inner).extend(files);
        }
        result
    }

    fn sync_all(&self, files: &BTreeSet<PathBuf>) -> io::Result<()> {
        if files.is_empty()
            || (files.len() > FEW && self.root.is_dir() && platform::sync_file_system(&self.root)?)
        {
            return Ok(());
        }
        files.iter().try_for_each(|file| sync_file(file))?;
        let directories: BTreeSet<&Path> = files
            .iter()
            .flat_map(|file| file.ancestors().skip(1))
            .filter(|above| above.starts_with(&self.root))
            .collect();
        directories.into_iter().try_for_each(|directory| ignore_absence(platform::sync_directory(directory)))
    }
}

/// A file that has gone since needs no more than that its directory is durable.
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
