//! Objects in files below a directory.
mod durability;
mod handles;
mod held;
mod made;
mod putting;
#[cfg(test)]
mod tests;

use crate::store::{BlockingStore, Exclusion, LocalStore, PutBody, PutCondition, ReadAt, Store, StoreFacts};
use crate::url::anchored_path;
use crate::{fault, key, memory, page, path_text, platform, temporary, want};
use bytes::Bytes;
use durability::UnsyncedFiles;
use handles::{FileUse, StoreHandles};
use held::HeldFiles;
use ncirrus_layout::{Error, ListEntry, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::fs::{self, File, Metadata, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

pub use handles::HandleBudget;
pub use held::FRONT;
pub(crate) use held::HeldFor;
use made::MadeFolders;

/// Objects in files below a directory: a prefix is a directory, an object a file.
///
/// Objects are replaced by a temporary file and a rename. Symbolic links are followed: the user's own file system is
/// trusted, but no key leaves the directory.
#[derive(Debug)]
pub struct DirectoryStore {
    id: StoreId,
    root: PathBuf,
    handles: StoreHandles,
    held: HeldFiles,
    unsynced: Option<UnsyncedFiles>,
    /// Held while a precondition is checked and the object replaced.
    conditional: Mutex<()>,
    /// Whether what is put is not visible to other readers yet.
    unseen: Unseen,
    made: MadeFolders,
}

/// Whether a directory is not visible to other readers yet: shared with what gives it its name.
#[derive(Debug, Clone, Default)]
pub(crate) struct Unseen(Arc<AtomicBool>);

impl Unseen {
    fn is_so(&self) -> bool {
        self.0.load(Ordering::Acquire)
    }

    /// Others can see the directory from here on.
    pub(crate) fn end(&self) {
        self.0.store(false, Ordering::Release);
    }
}

impl DirectoryStore {
    /// A store of the files below a directory, which need not exist yet; they stay the same ones when the process changes its
    /// working directory. What is put is made durable by [`barrier`](LocalStore::barrier).
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self::with(root.into(), &HandleBudget::new(0), true)
    }

    fn with(root: PathBuf, handles: &HandleBudget, is_durable: bool) -> Self {
        let id = StoreId::new(path_text::of_path(&root).as_ref());
        let root = if root.as_os_str().is_empty() { PathBuf::from(".") } else { root };
        let root = anchored_path(&root);
        Self {
            unsynced: is_durable.then(|| UnsyncedFiles::new(root.clone())),
            id,
            root,
            handles: handles.of_store(),
            held: HeldFiles::default(),
            conditional: Mutex::default(),
            unseen: Unseen::default(),
            made: MadeFolders::default(),
        }
    }

    /// A store for one file: its directory, and the object in it. Open handles are kept for repeated reads.
    ///
    /// # Errors
    /// `Invalid` when the path names no file.
    pub fn of_file(path: impl AsRef<Path>) -> Result<(Self, ObjectId)> {
        Self::of_file_with(path.as_ref(), &HandleBudget::new(16), true)
    }

    /// As [`of_file`](Self::of_file), within a budget of open files that other stores share, durable or not.
    ///
    /// # Errors
    /// As [`of_file`](Self::of_file).
    pub(crate) fn of_file_with(
        path: &Path,
        handles: &HandleBudget,
        is_durable: bool,
    ) -> Result<(Self, ObjectId)> {
        let Some(name) = path.file_name() else {
            return Err(Error::invalid(format!("{:?} names no file", path.to_string_lossy())));
        };
        let folder = path.parent().unwrap_or(Path::new(""));
        let store = Self::with(folder.to_owned(), handles, is_durable);
        let object = store.root().child(&path_text::of_path(Path::new(name)));
        Ok((store, object))
    }

    /// Whether a barrier waits until everything is on disk (the default).
    #[must_use]
    pub fn durable(self, durable: bool) -> Self {
        let unsynced = durable.then(|| UnsyncedFiles::new(self.root.clone()));
        Self { unsynced, ..self }
    }

    /// Declares that no other program reads below the directory before all of it is moved to its final location, and that
    /// it is removed if that does not happen: new objects are then written under their own names, without a temporary
    /// one.
    #[must_use]
    pub(crate) fn unseen(self) -> Self {
        self.unseen.0.store(true, Ordering::Release);
        self
    }

    /// By which the owner of a directory that others do not read yet says that it has its name.
    pub(crate) fn visibility(&self) -> Unseen {
        self.unseen.clone()
    }

    /// Keeps files open within a budget that other stores share.
    #[must_use]
    pub fn sharing(self, handles: &HandleBudget) -> Self {
        Self { handles: handles.of_store(), ..self }
    }

    /// The root of the store: what [`ObjectId::child`] starts from.
    pub fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), "")
    }

    /// The same files as a [`Store`].
    pub fn shared(self) -> Arc<dyn Store> {
        Arc::new(BlockingStore(self))
    }

    fn path(&self, object: &ObjectId) -> Result<PathBuf> {
        Ok(self.root.join(key::check_path(object)?))
    }

    /// Opens an object for reading and returns its metadata; `None` if there is no such object, or it is a prefix.
    fn open(&self, object: &ObjectId) -> Result<Option<(Arc<File>, Metadata)>> {
        let Some(file) = self.handle(object)? else { return Ok(None) };
        Ok(Self::metadata(&file, object)?.map(|metadata| (file, metadata)))
    }

    /// The metadata of an object; `None` if it is a prefix.
    fn metadata(file: &File, object: &ObjectId) -> Result<Option<Metadata>> {
        match file.metadata() {
            Ok(metadata) if metadata.is_dir() => Ok(None),
            Ok(metadata) if metadata.is_file() => Ok(Some(metadata)),
            Ok(_) => Err(Error::invalid("not a regular file").at_object(object)),
            Err(error) => Err(fault::of_io(error, object)),
        }
    }

    /// A handle of whatever has the key, which may be a directory.
    fn handle(&self, object: &ObjectId) -> Result<Option<Arc<File>>> {
        if let Some(held) = self.held.of(object.key()) {
            return Ok(Some(held));
        }
        self.opened_by(object, |path| {
            self.handles.get_or_open(FileUse::Reading, object.key(), || platform::open(path))
        })
    }

    /// What `open` returns for the file that has the object's name; `None` if there is none.
    fn opened_by<F>(
        &self,
        object: &ObjectId,
        open: impl FnOnce(&Path) -> io::Result<F>,
    ) -> Result<Option<F>> {
        let path = self.path(object)?;
        match open(&path) {
            Ok(file) => Ok(Some(file)),
            Err(error) if is_broken_link(&path, &error) => Err(fault::broken_link(object).because(error)),
            Err(error) if fault::is_absence(&error) => Ok(None),
            // Platforms that cannot open directories return this error.
            Err(error) if error.kind() == io::ErrorKind::PermissionDenied && path.is_dir() => Ok(None),
            // Sockets, and devices without a driver.
            Err(_) if fs::metadata(&path).is_ok_and(|there| !there.is_file() && !there.is_dir()) => {
                Err(Error::invalid("not a regular file").at_object(object))
            }
            Err(error) => Err(fault::of_io(error, object)),
        }
    }

    /// Opens an object for changing it in place, creating it when absent.
    fn open_in_place(&self, object: &ObjectId) -> Result<Arc<File>> {
        if let Some(held) = self.held.changed(object.key()) {
            return Ok(held);
        }
        let path = self.path(object)?;
        let open = || OpenOptions::new().write(true).create(true).truncate(false).open(&path);
        let opened = self.handles.get_or_open(FileUse::Changing, object.key(), || match open() {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                create_parents(&path).and_then(|()| open())
            }
            other => other,
        });
        let file = opened.map_err(|error| write_error(error, object))?;
        self.note(&path);
        Ok(file)
    }

    /// The tag of an object that is open: that of its opening, if it is read so.
    fn tag(&self, object: &ObjectId, metadata: &Metadata) -> Tag {
        self.held.tag(object.key()).unwrap_or_else(|| tag_of(metadata))
    }

    /// Checks the condition of a put. An object that must be in a given state is locked: the handle keeps other programs from
    /// replacing it, too, until it is dropped.
    fn check(&self, object: &ObjectId, path: &Path, when: &PutCondition) -> Result<Option<File>> {
        let PutCondition::Matches(tag) = when else { return Ok(None) };
        let changed = || fault::conflict("was changed by someone else", object);
        if self.held.of(object.key()).is_some() {
            let now = self.stat(object)?.map(|(_, tag)| tag);
            return if now.as_ref() == Some(tag) { Ok(None) } else { Err(changed()) };
        }
        // A link is followed, as by reads; the link itself is what a put replaces.
        let locked = match platform::lock(path) {
            Ok(locked) => locked,
            Err(error) if fault::is_absence(&error) => return Err(changed()),
            Err(error) if platform::is_unsupported_lock(&error) => {
                let message =
                    "the file system has no locks: a file cannot be replaced depending on its state";
                return Err(Error::unsupported(message).at_object(object).because(error));
            }
            Err(error) => return Err(fault::of_io(error, object)),
        };
        // Another program may have replaced the file while this one waited for the lock of the old one.
        let is_current = self.stat_by_name(object)?.is_some_and(|(_, now)| now == *tag)
            && locked.metadata().is_ok_and(|metadata| tag_of(&metadata) == *tag);
        if is_current { Ok(Some(locked)) } else { Err(changed()) }
    }

    fn note(&self, path: &Path) {
        if let Some(unsynced) = &self.unsynced {
            unsynced.note(path);
        }
    }
}

/// A file that was opened for several reads; `None` if it does not exist.
struct OpenFile<'a> {
    file: Option<Arc<File>>,
    object: &'a ObjectId,
}

/// Reads what is there from an offset on; `None` of a directory, which is a prefix and no object.
fn read_file_at(file: &File, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
    match platform::read_at(file, buffer, offset) {
        Ok(count) => Ok(Some(count)),
        Err(error) if error.kind() == io::ErrorKind::IsADirectory => Ok(None),
        Err(error) => Err(fault::of_io(error, object)),
    }
}

impl ReadAt for OpenFile<'_> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.file.as_ref().map_or(Ok(None), |file| read_file_at(file, self.object, offset, buffer))
    }

    fn size(&self) -> Result<Option<u64>> {
        let Some(file) = &self.file else { return Ok(None) };
        let metadata = file.metadata().map_err(|error| fault::of_io(error, self.object))?;
        Ok(metadata.is_file().then_some(metadata.len()))
    }
}

impl LocalStore for DirectoryStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        if let Some(front) = self.held.front(object.key(), want) {
            return Ok(Some(front));
        }
        let Some((file, metadata)) = self.open(object)? else { return Ok(None) };
        let range = want::resolve(want, metadata.len());
        let len = usize::try_from(range.end - range.start)
            .map_err(|_| Error::limit("range is too large").at_object(object))?;
        let mut bytes = Vec::new();
        platform::read_append(&file, &mut bytes, range.start, len)
            .map_err(|error| fault::of_io(error, object))?;
        Ok(Some(ObjectBytes {
            bytes: Bytes::from(bytes),
            offset: range.start,
            size: metadata.len(),
            tag: self.tag(object, &metadata),
        }))
    }

    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        if offset == 0
            && let Some(len) = self.held.copy_front(object.key(), buffer)
        {
            return Ok(Some(len));
        }
        self.handle(object)?.map_or(Ok(None), |file| read_file_at(&file, object, offset, buffer))
    }

    fn opened<'a>(&'a self, object: &'a ObjectId) -> Result<Box<dyn ReadAt + 'a>> {
        Ok(Box::new(OpenFile { file: self.handle(object)?, object }))
    }

    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        // Objects that are read whole are rarely read again, and are not kept open: keeping one closes another, and all threads
        // wait for that.
        let held = self.held.of(object.key());
        let opened = if held.is_some() { None } else { self.opened_by(object, platform::open)? };
        let Some(file) = held.as_deref().or(opened.as_ref()) else { return Ok(None) };
        let start = buffer.len();
        // Whether there are more bytes takes less time to find out than how many there are. What has no bytes may be no file.
        let is_all = matches!(platform::fill_spare(file, buffer), Ok(true));
        let read = buffer.len() - start;
        if is_all && read > 0 && read as u64 <= limit {
            return Ok(Some(read));
        }
        let Some(metadata) = Self::metadata(file, object)? else { return Ok(None) };
        let len = usize::try_from(metadata.len()).ok().filter(|_| metadata.len() <= limit);
        let Some(len) = len else {
            buffer.truncate(start);
            return Err(memory::too_large(object, metadata.len(), limit));
        };
        let rest = platform::read_append(file, buffer, read as u64, len.saturating_sub(read));
        rest.map(|rest| Some(read + rest)).map_err(|error| fault::of_io(error, object))
    }

    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        let Some(held) = self.held.of(object.key()) else { return self.stat_by_name(object) };
        let metadata = held.metadata().map_err(|error| fault::of_io(error, object))?;
        Ok(Some((metadata.len(), self.tag(object, &metadata))))
    }

    fn stat_by_name(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        match fs::metadata(self.path(object)?) {
            Ok(metadata) if metadata.is_dir() => Ok(None),
            Ok(metadata) => Ok(Some((metadata.len(), tag_of(&metadata)))),
            Err(error) if fault::is_absence(&error) => Ok(None),
            Err(error) => Err(fault::of_io(error, object)),
        }
    }

    fn put(&self, object: &ObjectId, body: &[u8], when: &PutCondition) -> Result<Tag> {
        let metadata = self.put_and(object, body, when, |file| file.metadata())?;
        Ok(tag_of(&metadata))
    }

    fn put_untagged(&self, object: &ObjectId, body: PutBody<'_>, when: &PutCondition) -> Result<()> {
        self.put_and(object, body.as_slice(), when, |_| Ok(()))
    }

    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()> {
        let file = self.open_in_place(object)?;
        platform::write_at(&file, body, offset).map_err(|error| fault::of_io(error, object))
    }

    fn resize(&self, object: &ObjectId, len: u64) -> Result<()> {
        let file = self.open_in_place(object)?;
        file.set_len(len).map_err(|error| fault::of_io(error, object))
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        let path = self.path(object)?;
        self.held.check_name(object, &path)?;
        self.handles.forget(object.key());
        match fs::remove_file(&path) {
            Ok(()) => {
                self.note(&path);
                prune(&self.root, &path);
                Ok(())
            }
            Err(error) if fault::is_absence(&error) || path.is_dir() => Ok(()),
            Err(error) => Err(fault::of_io(error, object)),
        }
    }

    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        let path = self.path(prefix)?;
        self.handles.forget_all();
        self.held.forget();
        let removed = match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_dir() => fs::remove_dir_all(&path),
            Ok(_) => fs::remove_file(&path),
            Err(error) => Err(error),
        };
        match removed {
            Ok(()) => {
                self.note(&path);
                prune(&self.root, &path);
                Ok(())
            }
            Err(error) if fault::is_absence(&error) => Ok(()),
            Err(error) => Err(fault::of_io(error, prefix)),
        }
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        key::check_move(from, to)?;
        let (old, new) = (self.path(from)?, self.path(to)?);
        if fs::symlink_metadata(&old).is_err_and(|error| fault::is_absence(&error)) {
            return Ok(());
        }
        self.handles.forget_all();
        create_parents(&new).map_err(|error| write_error(error, to))?;
        move_new(&old, &new).map_err(|error| write_error(error, to))?;
        self.note(&old);
        self.note(&new);
        prune(&self.root, &old);
        Ok(())
    }

    fn name_for_copy(&self, object: &ObjectId) -> ObjectId {
        let name = temporary::name_for_put(object.name().as_ref());
        let key = key::folder(key::parent(object.key()).unwrap_or_default()) + &name.to_string_lossy();
        ObjectId::new(object.store.clone(), key)
    }

    fn replace(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        key::check_move(from, to)?;
        let (old, new) = (self.path(from)?, self.path(to)?);
        self.handles.forget_all();
        if let Some(held) = self.held.moved(to.key(), &new) {
            let copied = platform::copy_bytes(&old, &held).and_then(|()| fs::remove_file(&old));
            return copied.map_err(|error| write_error(error, to));
        }
        // The file that a link leads to is replaced, the link stays.
        let place = fs::canonicalize(&new).unwrap_or_else(|_| new.clone());
        platform::move_over(&old, &place).map_err(|error| write_error(error, to))?;
        self.held.renew(to.key(), &new).map_err(|error| fault::of_io(error, to))?;
        self.note(&new);
        Ok(())
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        let path = self.path(prefix)?;
        let names = match fs::read_dir(&path) {
            Ok(found) => {
                found.filter_map(|entry| entry_of(entry).transpose()).collect::<io::Result<Vec<_>>>()
            }
            Err(error) => Err(error),
        };
        match names {
            Ok(mut names) => {
                names.sort_unstable();
                Ok(page::cut(names.into_iter(), page))
            }
            Err(error) if fault::is_absence(&error) => Ok(Listing::default()),
            Err(error) => Err(fault::of_io(error, prefix)),
        }
    }

    fn mark_of(&self, prefix: &ObjectId) -> Option<(u64, u64)> {
        platform::identity(&fs::metadata(self.path(prefix).ok()?).ok()?)
    }

    fn exclusion(&self, object: &ObjectId) -> Result<Exclusion> {
        if self.unseen.is_so() || self.held.of(object.key()).is_some() {
            return Ok(Exclusion::Alone);
        }
        match platform::can_lock(&self.path(object)?) {
            Ok(false) => Ok(Exclusion::Nothing),
            Err(error) if !fault::is_absence(&error) => Err(fault::of_io(error, object)),
            _ => Ok(Exclusion::Conditions),
        }
    }

    fn barrier(&self) -> Result<()> {
        match &self.unsynced {
            Some(unsynced) => {
                let synced = self.held.sync().and_then(|()| unsynced.sync());
                synced.map_err(|error| fault::of_io(error, self.root()))
            }
            None => Ok(()),
        }
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_micros(20),
            concurrency: 64,
            merge_gap: 16 << 10,
            range_cap: 64 << 20,
            lists: true,
            writable: true,
            isolated: false,
        }
    }
}

/// The tag of a file: time, length, and inode number. Two states of one length within a tick of the file system's
/// clock (some milliseconds) may have the same, unless this library put them: it sets the time itself.
pub(crate) fn tag_of(metadata: &Metadata) -> Tag {
    let (seconds, nanoseconds, inode) = platform::stamp(metadata);
    let tag = Tag::new(format!("{seconds:x}.{nanoseconds:x}-{:x}-{inode:x}", metadata.len()));
    tag.modified_at(u64::try_from(seconds).ok())
}

/// What other programs (object_store, and so icechunk) take as the ETag of a local file with that tag: inode number, time
/// in microseconds, and length; `None` if it is not the tag of a file.
pub(crate) fn etag_of(tag: &Tag) -> Option<String> {
    tag.modified()?;
    let mut parts = tag.as_str().split('-');
    let (time, len, inode) = (parts.next()?, parts.next()?, parts.next()?);
    let (seconds, nanoseconds) = time.split_once('.')?;
    let number = |text: &str| u64::from_str_radix(text, 16).ok();
    let micros = number(seconds)?.checked_mul(1_000_000)?.checked_add(number(nanoseconds)? / 1000)?;
    Some(format!("{inode}-{micros:x}-{len}"))
}

fn create_parents(path: &Path) -> io::Result<()> {
    path.parent().map_or(Ok(()), fs::create_dir_all)
}

/// Moves a file or a directory to a name that must be free; an empty directory counts as free.
fn move_new(from: &Path, to: &Path) -> io::Result<()> {
    match platform::rename_new(from, to) {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
            fs::remove_dir(to).map_err(|_| error)?;
            platform::rename_new(from, to)
        }
        other => other,
    }
}

/// Removes the directories above a removed file that have become empty, up to the root.
fn prune(root: &Path, removed: &Path) {
    let above = removed.ancestors().skip(1).take_while(|above| *above != root && above.starts_with(root));
    for directory in above {
        if fs::remove_dir(directory).is_err() {
            break;
        }
    }
}

/// A name in a directory; `None` for one that cannot be part of a key, or belongs to an unfinished file.
fn entry_of(entry: io::Result<fs::DirEntry>) -> io::Result<Option<ListEntry>> {
    let entry = entry?;
    let Ok(name) = entry.file_name().into_string() else { return Ok(None) };
    if temporary::is_temporary(&name) {
        return Ok(None);
    }
    let kind = entry.file_type()?;
    let is_prefix = kind.is_dir() || (kind.is_symlink() && entry.path().is_dir());
    Ok(Some(ListEntry { name, is_prefix }))
}

/// Whether there is a link that leads nowhere, which is not the same as nothing.
fn is_broken_link(path: &Path, error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotFound
        && fs::symlink_metadata(path).is_ok_and(|found| found.is_symlink())
}

/// As [`fault::of_io`], if an existing directory or file of that name is a conflict.
fn write_error(error: io::Error, object: &ObjectId) -> Error {
    match error.kind() {
        io::ErrorKind::NotADirectory => fault::in_the_way("an object", object),
        io::ErrorKind::IsADirectory | io::ErrorKind::DirectoryNotEmpty => {
            fault::in_the_way("a prefix", object)
        }
        io::ErrorKind::AlreadyExists => fault::exists(object),
        _ => fault::of_io(error, object),
    }
}
