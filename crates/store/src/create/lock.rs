//! The lock that HDF5 takes on files, so that two programs never change one at the same time.
//!
//! HDF5 locks a file that is open for writing exclusively (`flock`), one that is open for reading with a shared lock,
//! and never waits. Here a file that is changed is locked exclusively until the first sync, and shared with readers
//! from then on.
use crate::{fault, platform};
use ncirrus_layout::Result;
use std::fs::File;
use std::path::{Path, PathBuf};

/// A locked file.
#[derive(Debug)]
pub(super) struct FileLock {
    file: File,
    path: PathBuf,
}

/// The locking mode set by the environment, as HDF5 interprets it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum LockingMode {
    /// No locks.
    Off,
    /// If the file system supports them.
    BestEffort,
    /// Always.
    On,
}

impl LockingMode {
    /// The value of `HDF5_USE_FILE_LOCKING`.
    pub(super) fn of_environment() -> Self {
        Self::of(std::env::var("HDF5_USE_FILE_LOCKING").ok().as_deref())
    }

    fn of(value: Option<&str>) -> Self {
        match value {
            Some("FALSE" | "0") => Self::Off,
            Some("TRUE" | "1") => Self::On,
            _ => Self::BestEffort,
        }
    }
}

impl FileLock {
    /// Locks a file for changing it; `None` if there are no locks.
    ///
    /// # Errors
    /// `Conflict` if another program has it open.
    pub(super) fn take(path: &Path, locking: LockingMode) -> Result<Option<Self>> {
        if locking == LockingMode::Off {
            return Ok(None);
        }
        match platform::lock_as_hdf5(path) {
            Ok(Some(file)) => Ok(Some(Self { file, path: path.to_owned() })),
            Ok(None) => Err(fault::conflict(IN_USE, path.display())),
            Err(_) if locking == LockingMode::BestEffort => Ok(None),
            Err(error) => Err(fault::of_io(error, path.display())),
        }
    }

    /// Admits readers; other writers stay excluded.
    ///
    /// # Errors
    /// `Conflict` if another program was faster: locks are not converted atomically.
    pub(super) fn share(&self) -> Result<()> {
        match platform::share_lock(&self.file) {
            Ok(true) => Ok(()),
            Ok(false) => Err(fault::conflict(IN_USE, self.path.display())),
            Err(error) => Err(fault::of_io(error, self.path.display())),
        }
    }
}

const IN_USE: &str = "another program has the file open: close it there, or set HDF5_USE_FILE_LOCKING=FALSE if no one is \
                      writing to it";

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use ncirrus_layout::ErrorKind;

    #[test]
    fn one_writer_keeps_others_out_until_it_is_done() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.nc");
        std::fs::write(&path, "CDF").unwrap();
        let lock = FileLock::take(&path, LockingMode::On).unwrap().unwrap();
        let refused = FileLock::take(&path, LockingMode::BestEffort).err().unwrap();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(refused.message().contains("HDF5_USE_FILE_LOCKING=FALSE"), "{refused}");
        let reader = File::open(&path).unwrap();
        assert!(reader.try_lock_shared().is_err(), "readers wait for the first sync");
        lock.share().unwrap();
        lock.share().unwrap();
        reader.try_lock_shared().unwrap();
        assert!(FileLock::take(&path, LockingMode::On).is_err(), "no second writer");
        assert!(FileLock::take(&path, LockingMode::Off).unwrap().is_none());
        drop(reader);
        drop(lock);
        FileLock::take(&path, LockingMode::On).unwrap().unwrap();
    }

    #[test]
    fn the_environment_is_read_as_hdf5_reads_it() {
        use LockingMode::{BestEffort, Off, On};
        let values = [None, Some("BEST_EFFORT"), Some("TRUE"), Some("1"), Some("FALSE"), Some("0")];
        assert_eq!(values.map(LockingMode::of), [BestEffort, BestEffort, On, On, Off, Off]);
    }
}
