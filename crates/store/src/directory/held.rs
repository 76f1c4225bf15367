//! The file of a dataset that stays open as long as its store, whatever becomes of its name.
//!
//! A name may lead to another file by the time that something is written: what was opened is changed, never what took its place.
use super::DirectoryStore;
use crate::{fault, platform};
use ncirrus_layout::{Error, LockExt, ObjectId, Result, Tag};
use std::fs::{File, OpenOptions};
use std::io;
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

/// The file that a store holds, if it holds one. Reads ask for it: a store that holds none takes no lock.
#[derive(Debug, Default)]
pub(super) struct HeldFiles(Option<HeldFile>);

/// An open file, and the key under which it was opened.
#[derive(Debug)]
struct HeldFile {
    key: Box<str>,
    held_for: HeldFor,
    /// The state in which it was opened.
    tag: Tag,
    /// None after the store removed what it is in.
    file: Mutex<Option<Arc<File>>>,
    /// Whether it was changed since the last barrier.
    is_unsynced: AtomicBool,
}

impl HeldFiles {
    /// The open file of a key.
    pub(super) fn of(&self, key: &str) -> Option<Arc<File>> {
        self.find(key)?.file.guard().clone()
    }

    /// The open file of a key, if it may be changed; it is made durable by the next barrier.
    pub(super) fn changed(&self, key: &str) -> Option<Arc<File>> {
        self.find(key).filter(|held| held.held_for == HeldFor::Changing)?.changed()
    }

    /// The tag of a file that is read as it was opened.
    pub(super) fn tag(&self, key: &str) -> Option<Tag> {
        let held = self.find(key).filter(|held| held.held_for == HeldFor::Reading)?;
        held.file.guard().is_some().then(|| held.tag.clone())
    }

    /// Makes what was changed durable.
    pub(super) fn sync(&self) -> io::Result<()> {
        let Some(held) = self.0.as_ref().filter(|held| held.is_unsynced.swap(false, Ordering::AcqRel)) else {
            return Ok(());
        };
        let file = held.file.guard().clone();
        let synced = file.map_or(Ok(()), |file| file.sync_all());
        if synced.is_err() {
            held.is_unsynced.store(true, Ordering::Release);
        }
        synced
    }

    /// The open file of a key whose name leads elsewhere by now, or nowhere: it is not replaced by another one, but gets new bytes.
    pub(super) fn moved(&self, key: &str, path: &Path) -> Option<Arc<File>> {
        let file = self.of(key)?;
        let is_there = platform::is_at(&file, path) || leads_to(path, &file);
        if is_there { None } else { self.find(key)?.changed() }
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
        let Some(held) = self.find(key) else { return Ok(()) };
        if let Some(old) = held.file.guard().as_mut() {
            *old = Arc::new(open(path, held.held_for)?);
        }
        Ok(())
    }

    /// Nothing is held any more.
    pub(super) fn forget(&self) {
        if let Some(held) = &self.0 {
            *held.file.guard() = None;
        }
    }

    fn find(&self, key: &str) -> Option<&HeldFile> {
        self.0.as_ref().filter(|held| *held.key == *key)
    }
}

impl HeldFile {
    /// The file, which is changed.
    fn changed(&self) -> Option<Arc<File>> {
        self.is_unsynced.store(true, Ordering::Release);
        self.file.guard().clone()
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
        let held = HeldFile {
            key: object.key().into(),
            held_for,
            tag,
            file: Mutex::new(Some(Arc::new(file))),
            is_unsynced: AtomicBool::new(false),
        };
        Ok(Self { held: HeldFiles(Some(held)), ..self })
    }
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
