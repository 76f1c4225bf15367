//! A file that is rewritten beside itself, checked by the caller, and then replaced.
use super::scratch::{ScratchClaim, folder_of, resolve};
use super::{OverwritePolicy, exists};
use crate::fault;
use crate::locate::path_error;
use crate::platform::{self, ReadingLock};
use crate::url::anchored_path;
use ncirrus_layout::{Error, ErrorKind, Result};
use std::fs::{self, File, FileTimes, Metadata};
use std::io;
use std::path::{Path, PathBuf};

/// A file that will replace another one, or be new. It is written under a temporary name in a folder beside the target,
/// which `ncirrus clean` and the next replacement of the same file recognize as a leftover. Dropping this removes it.
#[derive(Debug)]
pub struct FileReplacement {
    claim: ScratchClaim,
    target: PathBuf,
    /// The state of the file that is replaced; `None` for a new file.
    old: Option<FileState>,
    _lock: ReadingLock,
}

/// What changes when a program changes a file.
#[derive(Debug, PartialEq, Eq)]
struct FileState {
    len: u64,
    modified: Option<std::time::SystemTime>,
    identity: (u64, u64),
}

impl FileReplacement {
    /// A replacement of the file at `target`, which must not be open for writing in another program. A link is followed.
    ///
    /// # Errors
    /// `NotFound`; `Denied` if nothing can be written beside the file; `Conflict` if another program has it open for writing,
    /// or if it has several names, which would become different files; `Invalid` for anything but a file.
    pub fn of(target: &Path) -> Result<Self> {
        let target = anchored_path(&resolve(target)?);
        let metadata = Self::check(&target)?;
        let lock = platform::lock_for_reading(&target).map_err(|error| path_error(error, &target))?;
        if matches!(lock, ReadingLock::Refused) {
            return Err(fault::conflict("another program has it open for writing", target.display()));
        }
        let claim = ScratchClaim::private_directory(&target)?;
        Ok(Self { claim, target, old: Some(FileState::of(&metadata)), _lock: lock })
    }

    /// What is known of a file that can be replaced.
    ///
    /// # Errors
    /// `NotFound`; `Conflict` if it has several names; `Invalid` for anything but a file.
    pub fn check(target: &Path) -> Result<Metadata> {
        let metadata = fs::metadata(target).map_err(|error| path_error(error, target))?;
        if !metadata.is_file() {
            return Err(Error::invalid("is not a regular file").at_object(target.display()));
        }
        if platform::has_other_names(&metadata) {
            let message = "has several names (hard links), and only one of them would be replaced";
            return Err(fault::conflict(message, target.display()));
        }
        Ok(metadata)
    }

    /// A new file at `target`; an existing one is replaced only by that policy.
    ///
    /// # Errors
    /// `Conflict` if something exists there that may not be replaced, `Denied` if nothing can be written there.
    pub fn new_at(target: &Path, overwrite: OverwritePolicy) -> Result<Self> {
        if fs::symlink_metadata(target).is_ok() {
            return match overwrite {
                OverwritePolicy::Never => Err(exists(target.display())),
                OverwritePolicy::Replace => Self::of(target),
            };
        }
        let target = anchored_path(&resolve(target)?);
        let claim = ScratchClaim::private_directory(&target)?;
        Ok(Self { claim, target, old: None, _lock: ReadingLock::Unsupported })
    }

    /// Where the new file is to be written.
    pub fn path(&self) -> PathBuf {
        self.claim.path().join(self.target.file_name().unwrap_or_default())
    }

    /// The file that is replaced, or will be new.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// Gives the new file its name, atomically, with the permissions, the access control list and, as far as this user may, the
    /// owner of the file `like`, and with these times. Returns what was not possible: the new file has its name all the same.
    ///
    /// # Errors
    /// `Changed` if the file was changed meanwhile, `Conflict` if a new file's name was taken, `Denied`, `Io`; then nothing
    /// has changed.
    pub fn commit(self, like: &Path, times: Option<FileTimes>, durable: bool) -> Result<Vec<String>> {
        let new = self.path();
        let at = |error: io::Error| fault::of_io(error, self.target.display());
        let model = fs::metadata(like).map_err(|error| fault::of_io(error, like.display()))?;
        platform::keep_owner(&new, &model);
        let file = File::open(&new).map_err(at)?;
        if let Some(times) = times {
            file.set_times(times).map_err(at)?;
        }
        // Without the list, the permissions of the group would apply to all users in the list.
        platform::keep_access(&new, like).map_err(at)?;
        // Set last: the old file may be read-only.
        fs::set_permissions(&new, model.permissions()).map_err(at)?;
        if durable {
            file.sync_all().map_err(at)?;
        }
        let has_owner = fs::metadata(&new).is_ok_and(|made| owner(&made) == owner(&model));
        // The last step before the file is replaced: synchronizing takes time.
        self.check_unchanged()?;
        match &self.old {
            Some(_) => fs::rename(&new, &self.target).map_err(at)?,
            None => platform::rename_new(&new, &self.target).map_err(at)?,
        }
        let mut notes = Vec::new();
        if !has_owner {
            notes.push("belongs to this user now: its owner could not be kept".to_owned());
        }
        if durable && let Err(error) = platform::sync_directory(folder_of(&self.target)) {
            notes.push(format!(
                "was replaced, but may be the old file after a failure of the system: {error}"
            ));
        }
        Ok(notes)
    }

    /// Fails if the file is not the one that was there at the beginning.
    fn check_unchanged(&self) -> Result<()> {
        let Some(old) = &self.old else { return Ok(()) };
        let now = fs::metadata(&self.target).map_err(|error| path_error(error, &self.target))?;
        if FileState::of(&now) == *old {
            return Ok(());
        }
        let message = "was changed while its replacement was written, and is kept";
        Err(Error::new(ErrorKind::Changed, message).at_object(self.target.display()))
    }
}

impl FileState {
    fn of(metadata: &Metadata) -> Self {
        Self { len: metadata.len(), modified: metadata.modified().ok(), identity: identity(metadata) }
    }
}

/// Device and number of a file.
#[cfg(unix)]
fn identity(metadata: &Metadata) -> (u64, u64) {
    use std::os::unix::fs::MetadataExt;
    (metadata.dev(), metadata.ino())
}

#[cfg(not(unix))]
fn identity(_: &Metadata) -> (u64, u64) {
    (0, 0)
}

/// User and group of a file.
#[cfg(unix)]
fn owner(metadata: &Metadata) -> (u32, u32) {
    use std::os::unix::fs::MetadataExt;
    (metadata.uid(), metadata.gid())
}

#[cfg(not(unix))]
fn owner(_: &Metadata) -> (u32, u32) {
    (0, 0)
}
