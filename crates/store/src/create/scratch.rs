//! Temporary names of unfinished datasets, and files that are written under them.
use super::lock::FileLock;
use super::{CommitAction, OverwritePolicy, exists};
use crate::directory::tag_of;
use crate::locate::path_error;
use crate::store::{PutCondition, Store, StoreExt};
use crate::url::anchored_path;
use crate::{fault, platform, temporary};
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, ErrorKind, ObjectId, Result, Tag};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The object of a folder that says whose place it is.
pub(super) const SIGN: &str = ".ncirrus-joint";
/// How the sign of a place ends that belongs to no handle.
pub(super) const LEFT: &str = "\nhanded over\n";

/// A temporary file or directory beside its final location, locked so that others see that it is in use. Dropping it
/// removes what has that name.
#[derive(Debug)]
pub(super) struct ScratchClaim {
    path: PathBuf,
    _lock: Option<File>,
}

impl ScratchClaim {
    /// A new directory beside a path; remains of killed runs there are removed first.
    pub(super) fn directory(target: &Path) -> Result<Self> {
        Self::new(target, |path| fs::create_dir(path))
    }

    /// As [`directory`](Self::directory), and only this user may read what is in it.
    pub(super) fn private_directory(target: &Path) -> Result<Self> {
        Self::new(target, platform::create_private_directory)
    }

    /// A new file beside a path; remains of killed runs there are removed first.
    pub(super) fn file(target: &Path) -> Result<Self> {
        Self::new(target, |path| OpenOptions::new().write(true).create_new(true).open(path).map(|_| ()))
    }

    fn new(target: &Path, make: impl Fn(&Path) -> io::Result<()>) -> Result<Self> {
        remove_stale(target);
        let name = target.file_name().unwrap_or_default();
        for _ in 0..16 {
            let path = target.with_file_name(temporary::name_for(name));
            make(&path).map_err(|error| path_error(error, folder_of(target)))?;
            if let Some(lock) = take(&path) {
                return Ok(Self { path, _lock: lock });
            }
        }
        Err(fault::conflict("another process removes every temporary name", target.display()))
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Removes what has the name.
    pub(super) fn remove(&self) -> io::Result<()> {
        remove(&self.path)
    }
}

impl Drop for ScratchClaim {
    fn drop(&mut self) {
        _ = self.remove();
    }
}

/// Locks a new name. `None` if another program took it for a leftover in the meantime. Where locks are not supported,
/// the name alone must do.
fn take(path: &Path) -> Option<Option<File>> {
    match platform::try_lock(path) {
        Ok(Some(lock)) => platform::is_at(&lock, path).then_some(Some(lock)),
        Ok(None) => None,
        Err(error) if error.kind() == io::ErrorKind::NotFound => None,
        Err(_) => Some(None),
    }
}

/// Removes the temporary names of a target that are not locked: their writers were killed.
fn remove_stale(target: &Path) {
    let prefix = temporary::prefix_for(target.file_name().unwrap_or_default());
    let Ok(entries) = fs::read_dir(folder_of(target)) else { return };
    let names = entries.flatten().map(|entry| (entry.file_name(), entry.path()));
    for (name, path) in names {
        let name = name.to_string_lossy();
        let ours =
            temporary::is_temporary(&name) && name.strip_prefix(&*prefix).is_some_and(temporary::is_tail);
        // The lock is held until the name is gone: its writer may be about to take it.
        if ours
            && !is_left(&path)
            && let Ok(Some(lock)) = platform::try_lock(&path)
            && platform::is_at(&lock, &path)
        {
            _ = remove(&path);
        }
    }
}

pub(super) fn remove(path: &Path) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(path),
        Ok(_) => fs::remove_file(path),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        Err(error) => Err(error),
    }
}

/// The directory that holds a path.
pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// The target of a symbolic link: the dataset is replaced there, the link stays.
pub(super) fn resolve(path: &Path) -> Result<PathBuf> {
    if path.file_name().is_none() {
        return Err(Error::invalid(format!("{:?} cannot be created", path.to_string_lossy())));
    }
    let mut resolved = path.to_owned();
    for _ in 0..MAX_LINKS {
        let is_link = fs::symlink_metadata(&resolved).is_ok_and(|metadata| metadata.is_symlink());
        if !is_link {
            return Ok(resolved);
        }
        // It may lead to where nothing is yet.
        resolved = match (fs::canonicalize(&resolved), fs::read_link(&resolved)) {
            (Ok(there), _) => there,
            (Err(_), Ok(next)) => folder_of(&resolved).join(next),
            (Err(error), Err(_)) => return Err(path_error(error, path)),
        };
    }
    // The system says that they are too many.
    fs::metadata(path).map(|_| resolved).map_err(|error| path_error(error, path))
}

/// Links that lead to each other, as many as systems follow.
const MAX_LINKS: usize = 40;

/// A file that is written here, and then moved to its final location or sent there.
#[derive(Debug)]
pub(super) struct ScratchFile {
    claim: ScratchClaim,
    goes: ScratchTarget,
    /// The lock of the file that is replaced: other programs do not change it meanwhile.
    _lock: Option<FileLock>,
}

#[derive(Debug)]
enum ScratchTarget {
    To { target: PathBuf, clobber: OverwritePolicy, durable: bool, over: Option<Tag> },
    Up { store: Arc<dyn Store>, object: ObjectId, when: PutCondition },
}

impl ScratchFile {
    /// A file beside its final location.
    pub(super) fn beside(path: &Path, clobber: OverwritePolicy, durable: bool) -> Result<Self> {
        let target = resolve(path)?;
        check_file(&target, clobber)?;
        let target = anchored_path(&target);
        let claim = match ScratchClaim::file(&target) {
            // Nothing new may come into the folder, and what is there may be changed.
            Err(error) if error.kind() == ErrorKind::Denied && is_changeable(&target) => {
                let folder = crate::ScratchFile::usual_folder();
                ScratchClaim::file(&folder.join(target.file_name().unwrap_or_default()))?
            }
            claim => claim?,
        };
        Ok(Self { claim, goes: ScratchTarget::To { target, clobber, durable, over: None }, _lock: None })
    }

    /// A file in a directory for temporary files, to be sent to a store.
    pub(super) fn for_upload(
        folder: &Path,
        store: Arc<dyn Store>,
        object: ObjectId,
        clobber: OverwritePolicy,
    ) -> Result<Self> {
        let claim = ScratchClaim::file(&folder.join(format!("upload-{}", object.name())))?;
        let when = match clobber {
            OverwritePolicy::Never => PutCondition::Absent,
            OverwritePolicy::Replace => PutCondition::None,
        };
        Ok(Self { claim, goes: ScratchTarget::Up { store, object, when }, _lock: None })
    }

    /// On commit it replaces the object only if that has this tag.
    pub(super) fn only_over(&mut self, state: Tag) {
        match &mut self.goes {
            ScratchTarget::Up { when, .. } => *when = PutCondition::Matches(state),
            ScratchTarget::To { over, .. } => *over = Some(state),
        }
    }

    /// Holds the lock of the file that it replaces until then.
    #[cfg(feature = "zip")]
    pub(super) fn hold(&mut self, lock: Option<FileLock>) {
        self._lock = lock;
    }

    pub(super) fn path(&self) -> &Path {
        self.claim.path()
    }

    fn place(&self, target: &Path, clobber: OverwritePolicy, durable: bool) -> Result<()> {
        check_file(target, clobber)?;
        let from = self.claim.path();
        let failed = |error: io::Error| fault::of_io(error, target.display());
        if durable {
            OpenOptions::new().write(true).open(from).and_then(|file| file.sync_all()).map_err(failed)?;
        }
        let moved = match clobber {
            OverwritePolicy::Never => platform::rename_new(from, target),
            OverwritePolicy::Replace => platform::move_over(from, target),
        };
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(target.display()),
            _ => failed(error),
        })?;
        if durable { platform::sync_directory(folder_of(target)).map_err(failed) } else { Ok(()) }
    }
}

impl CommitAction for ScratchFile {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            match &self.goes {
                ScratchTarget::To { target, clobber, durable, over } => {
                    check_state(target, over.as_ref())?;
                    self.place(target, *clobber, *durable)
                }
                ScratchTarget::Up { store, object, when } => {
                    store.upload(object, self.claim.path(), when.clone()).await.map(|_| ())
                }
            }
        })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            self.claim.remove().map_err(|error| fault::of_io(error, self.claim.path().display()))
        })
    }
}

/// Whether there is a file whose bytes this user may change.
fn is_changeable(path: &Path) -> bool {
    path.is_file() && OpenOptions::new().write(true).open(path).is_ok()
}

/// Whether a file is as it was when its copy was made.
fn check_state(target: &Path, was: Option<&Tag>) -> Result<()> {
    let Some(was) = was else { return Ok(()) };
    let now = fs::metadata(target).map_err(|error| path_error(error, target))?;
    if tag_of(&now) == *was {
        return Ok(());
    }
    let message = "was changed by another program since it was opened for update; nothing was written to it";
    Err(fault::conflict(message, target.display()))
}

/// Whether the target of a file is free, or may be replaced.
fn check_file(target: &Path, clobber: OverwritePolicy) -> Result<()> {
    match (fs::symlink_metadata(target), clobber) {
        (Err(error), _) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        (Err(error), _) => Err(path_error(error, target)),
        (Ok(_), OverwritePolicy::Never) => Err(exists(target.display())),
        (Ok(metadata), _) if metadata.is_file() => Ok(()),
        (Ok(metadata), _) if metadata.is_dir() => Err(fault::in_the_way("a directory", target.display())),
        (Ok(_), _) => Err(fault::conflict("is not a regular file and is not replaced", target.display())),
    }
}

/// Whether a folder holds chunks that another process will finish.
pub(super) fn is_left(folder: &Path) -> bool {
    fs::read(folder.join(SIGN)).is_ok_and(|sign| sign.ends_with(LEFT.as_bytes()))
}
