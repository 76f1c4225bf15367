//! The file of a dataset that stays open as long as its store, whatever becomes of its name.
//!
//! A name may lead to another file by the time that something is written: what was opened is changed, never what took its place.
use super::DirectoryStore;
use crate::{fault, platform};
use ncirrus_layout::{Error, LockExt, ObjectId, Result, Tag};
use std::fs::{File, OpenOptions};
use std::io::{self, Seek};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What a file is held for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum HeldFor {
    /// Reading what was opened, even if it is changed meanwhile.
    Reading,
    /// Changing it in place.
    Changing,
}

/// The file that a store holds, if it holds one.
#[derive(Debug, Default)]
pub(super) struct HeldFiles {
    file: Mutex<Option<HeldFile>>,
    /// Whether it was changed since the last barrier.
    is_unsynced: AtomicBool,
}

/// An open file, and the key under which it was opened.
#[derive(Debug, Clone)]
struct HeldFile {
    key: Box<str>,
    file: Arc<File>,
    held_for: HeldFor,
    /// The state in which it was opened.
    tag: Tag,
}

impl HeldFiles {
    /// The open file of a key.
    pub(super) fn of(&self, key: &str) -> Option<Arc<File>> {
        self.find(key).map(|held| held.file)
    }

    /// The open file of a key, if it may be changed; it is made durable by the next barrier.
    pub(super) fn changed(&self, key: &str) -> Option<Arc<File>> {
        let held = self.find(key).filter(|held| held.held_for == HeldFor::Changing)?;
        self.is_unsynced.store(true, Ordering::Release);
        Some(held.file)
    }

    /// The tag of a file that is read as it was opened.
    pub(super) fn tag(&self, key: &str) -> Option<Tag> {
        self.find(key).filter(|held| held.held_for == HeldFor::Reading).map(|held| held.tag)
    }

    /// Makes what was changed durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        if !self.is_unsynced.swap(false, Ordering::AcqRel) {
            return Ok(());
        }
        let held = self.file.guard().clone();
        let synced = held.map_or(Ok(()), |held| held.file.sync_all());
        if synced.is_err() {
            self.is_unsynced.store(true, Ordering::Release);
        }
        synced
    }

    /// The open file of a key whose name leads elsewhere by now, or nowhere: it is not replaced by another one, but gets new bytes.
    pub(super) fn moved(&self, key: &str, path: &Path) -> Option<Arc<File>> {
        let file = self.of(key).filter(|file| !platform::is_at(file, path) && !leads_to(path, file))?;
        self.is_unsynced.store(true, Ordering::Release);
        Some(file)
    }

    /// Before a file is removed: whether the name still leads to what is held.
    ///
    /// # Errors
    /// `Conflict` if another file has the name now, or none.
    pub(super) fn check_name(&self, object: &ObjectId, path: &Path) -> Result<()> {
        self.moved(object.key(), path).map_or(Ok(()), |_| Err(moved(object)))
    }

    /// After the file of a key was replaced: the new one is held.
    ///
    /// # Errors
    /// If it cannot be opened.
    pub(super) fn renew(&self, key: &str, path: &Path) -> io::Result<()> {
        let mut held = self.file.guard();
        match held.as_mut() {
            Some(old) if *old.key == *key => {
                old.file = Arc::new(open(path, old.held_for)?);
                Ok(())
            }
            _ => Ok(()),
        }
    }

    /// Nothing is held any more.
    pub(super) fn forget(&self) {
        *self.file.guard() = None;
    }

    fn find(&self, key: &str) -> Option<HeldFile> {
        self.file.guard().as_ref().filter(|held| *held.key == *key).cloned()
    }
}

impl DirectoryStore {
    /// Opens the file of an object, which stays open as long as the store.
    ///
    /// # Errors
    /// If it cannot be opened that way.
    pub(crate) fn holding(self, object: &ObjectId, held_for: HeldFor) -> Result<Self> {
        let failed = |error| fault::of_io(error, object);
        let file = open(&self.path(object)?, held_for).map_err(failed)?;
        let tag = super::tag_of(&file.metadata().map_err(failed)?);
        let held = HeldFile { key: object.key().into(), file: Arc::new(file), held_for, tag };
        *self.held.file.guard() = Some(held);
        Ok(self)
    }
}

/// Gives an open file the bytes of another one, which is removed.
pub(super) fn take_bytes(file: &File, from: &Path) -> io::Result<()> {
    let mut target = file;
    file.set_len(0)?;
    target.seek(io::SeekFrom::Start(0))?;
    io::copy(&mut File::open(from)?, &mut target)?;
    std::fs::remove_file(from)
}

fn open(path: &Path, held_for: HeldFor) -> io::Result<File> {
    match held_for {
        HeldFor::Reading => platform::open(path),
        HeldFor::Changing => OpenOptions::new().read(true).write(true).open(path),
    }
}

/// Whether a link leads to a file.
fn leads_to(path: &Path, file: &File) -> bool {
    std::fs::canonicalize(path).is_ok_and(|path| platform::is_at(file, &path))
}

fn moved(object: &ObjectId) -> Error {
    fault::conflict(
        "another file has its name now, or none: it was moved or replaced after it was opened",
        object,
    )
}
