//! Folders of a new tree that need not be made any more.
use ncirrus_layout::LockExt;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Mutex;

/// Folders that were made for new files. Making a folder before its first file takes one call of the system. Finding out
/// that it is missing takes another one.
#[derive(Debug, Default)]
pub(super) struct MadeFolders(Mutex<HashSet<PathBuf>>);

impl MadeFolders {
    /// Makes a folder unless it was made before. What fails here fails again, and is handled, when the file is created: a
    /// folder may be missing above it, or may have been removed since.
    pub(super) fn make(&self, folder: Option<&Path>) {
        let Some(folder) = folder else { return };
        let mut made = self.0.guard();
        if made.contains(folder) {
            return;
        }
        if made.len() >= MAX_FOLDERS {
            made.clear();
        }
        made.insert(folder.to_owned());
        drop(made);
        _ = fs::create_dir(folder);
    }
}

/// Maximum number of folders that are remembered.
const MAX_FOLDERS: usize = 1 << 14;
