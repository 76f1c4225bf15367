//! The file of a dataset that stays open as long as its store, whatever becomes of its name.
//!
//! A name may lead to another file by the time that something is written: what was opened is changed, never what took its place.
use super::DirectoryStore;
use crate::{fault, platform, want};
use ncirrus_layout::{Error, LockExt, ObjectBytes, ObjectId, Result, Tag, Want};
use std::fs::{File, Metadata, OpenOptions};
use std::io;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// First bytes of a local file that are read together when its format begins to read: copying more takes longer than another call of
/// the system does.
pub const FRONT: u64 = 16 << 10;

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
    /// What was read when it was opened, for the first read of it.
    front: Mutex<Option<ObjectBytes>>,
    /// Whether it was changed since the last barrier.
    is_unsynced: AtomicBool,
}

impl HeldFiles {
    /// The open file of a key.
    pub(super) fn of(&self, key: &str) -> Option<Arc<File>> {
        self.find(key)?.file.guard().clone()
    }

    /// The wanted bytes of a file that was opened and not read yet, if they were read then.
    pub(super) fn front(&self, key: &str, want: &Want) -> Option<ObjectBytes> {
        let front = self.find(key)?.front.guard().take()?;
        let range = want::resolve(want, front.size);
        let (start, end) = (usize::try_from(range.start).ok()?, usize::try_from(range.end).ok()?);
        let is_there = end <= front.bytes.len();
        is_there.then(|| ObjectBytes { bytes: front.bytes.slice(start..end), offset: range.start, ..front })
    }

    /// Copies the first bytes of a file that was opened and not read yet, and returns how many; the next one reads them, too.
    pub(super) fn copy_front(&self, key: &str, buffer: &mut [u8]) -> Option<usize> {
        let front = self.find(key)?.front.guard();
        let front = front.as_ref()?;
        let len = usize::try_from(front.size).map_or(buffer.len(), |size| buffer.len().min(size));
        buffer.get_mut(..len)?.copy_from_slice(front.bytes.get(..len)?);
        Some(len)
    }

    /// The open file of a key, if it may be changed; it is made durable by the next barrier.
    pub(super) fn changed(&self, key: &str) -> Option<Arc<File>> {
        self.forget_front(key);
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
        self.forget_front(key);
        if let Some(old) = held.file.guard().as_mut() {
            *old = Arc::new(open(path, held.held_for)?);
        }
        Ok(())
    }

    /// Nothing is held any more.
    pub(super) fn forget(&self) {
        if let Some(held) = &self.0 {
            *held.file.guard() = None;
            *held.front.guard() = None;
        }
    }

    fn forget_front(&self, key: &str) {
        if let Some(held) = self.find(key) {
            *held.front.guard() = None;
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
        Ok(self.held_as(object, held_for, (file, tag), None))
    }

    /// As [`holding`](Self::holding), to read a file that is open already. Its first bytes are read at once: whether it is a zip file
    /// and where its format begins to read are the same bytes then.
    pub(crate) fn reading_on(self, object: &ObjectId, file: File, metadata: &Metadata) -> Self {
        let (tag, size) = (super::tag_of(metadata), metadata.len());
        let (mut bytes, len) = (Vec::new(), usize::try_from(size.min(FRONT)).unwrap_or_default());
        // What cannot be read is read again, which reports it.
        let is_read = platform::read_append(&file, &mut bytes, 0, len).is_ok_and(|read| read == len);
        let front = is_read.then(|| ObjectBytes { bytes: bytes.into(), offset: 0, size, tag: tag.clone() });
        self.held_as(object, HeldFor::Reading, (file, tag), front)
    }

    fn held_as(
        self,
        object: &ObjectId,
        held_for: HeldFor,
        (file, tag): (File, Tag),
        front: Option<ObjectBytes>,
    ) -> Self {
        let held = HeldFile {
            key: object.key().into(),
            held_for,
            tag,
            file: Mutex::new(Some(Arc::new(file))),
            front: Mutex::new(front),
            is_unsynced: AtomicBool::new(false),
        };
        Self { held: HeldFiles(Some(held)), ..self }
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
