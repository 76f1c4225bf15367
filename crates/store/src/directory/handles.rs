//! Open files, kept for repeated reads within one budget for all stores that share it.
use hashlink::LinkedHashMap;
use ncirrus_layout::LockExt;
use std::borrow::Borrow;
use std::fs::File;
use std::hash::{Hash, Hasher};
use std::io;
use std::sync::{Arc, Mutex, MutexGuard};

/// A budget of open files. Clones share it, and so do the stores of one set of [`StoreOptions`](crate::StoreOptions):
/// the least recently used files are closed first. The budget is exceeded only while every open file is being read,
/// by those that wait to be read.
#[derive(Debug, Clone)]
pub struct HandleBudget(Arc<SharedHandles>);

#[derive(Debug)]
struct SharedHandles {
    max: usize,
    state: Mutex<HandleState>,
}

#[derive(Debug, Default)]
struct HandleState {
    /// Least recently used first.
    files: LinkedHashMap<HandleKey, Arc<File>>,
    /// Number of those, and of those that are being opened.
    open: usize,
    next_store: u64,
}

/// What a file is open for: a file that is read and changed is open twice.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(super) enum FileUse {
    Reading,
    Changing,
}

/// Which file: its store, what it is open for, and its key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct HandleKey(u64, FileUse, Box<str>);

/// The parts of a [`HandleKey`], for a lookup without allocation.
trait HandleParts {
    fn parts(&self) -> (u64, FileUse, &str);
}

/// Default limit of open files, if the process's cannot be queried.
const USUAL_LIMIT: u64 = 1024;
/// The default budget is this fraction of the process's limit.
const SHARE: u64 = 4;

impl HandleBudget {
    /// Keeps at most this many files open; 0 keeps none.
    pub fn new(max: usize) -> Self {
        Self(Arc::new(SharedHandles { max, state: Mutex::default() }))
    }

    /// How many files are kept open at most.
    pub fn max(&self) -> usize {
        self.0.max
    }

    /// How many files are kept open now.
    pub fn open_count(&self) -> usize {
        self.lock().open
    }

    /// The part of the budget that a new store uses.
    pub(super) fn of_store(&self) -> StoreHandles {
        let mut state = self.lock();
        state.next_store += 1;
        StoreHandles { store: state.next_store, shared: self.clone() }
    }

    fn lock(&self) -> MutexGuard<'_, HandleState> {
        self.0.state.guard()
    }
}

impl Default for HandleBudget {
    /// A quarter of the files that this process may open, at least 16 and at most 4,096.
    fn default() -> Self {
        let limit = crate::platform::open_files_limit().unwrap_or(USUAL_LIMIT);
        Self::new(usize::try_from(limit / SHARE).unwrap_or(usize::MAX).clamp(16, 4096))
    }
}

/// The open files of one store; they are closed with it.
#[derive(Debug)]
pub(super) struct StoreHandles {
    shared: HandleBudget,
    store: u64,
}

impl StoreHandles {
    /// The file of a key: open already, or opened now and kept.
    pub(super) fn get_or_open(
        &self,
        usage: FileUse,
        key: &str,
        open: impl FnOnce() -> io::Result<File>,
    ) -> io::Result<Arc<File>> {
        if self.shared.max() == 0 {
            return open().map(Arc::new);
        }
        let mut state = self.shared.lock();
        if let Some(file) = state.find(self.store, usage, key) {
            return Ok(file);
        }
        // Room is made first, so that the limit is never exceeded. Others may continue while this one is opened.
        state.make_room(self.shared.max());
        state.open += 1;
        drop(state);
        let opened = open();
        let mut state = self.shared.lock();
        match opened {
            Ok(file) => Ok(state.keep(self.store, usage, key, file)),
            Err(error) => {
                state.open -= 1;
                Err(error)
            }
        }
    }

    /// Closes the file of a key, which is about to be replaced.
    pub(super) fn forget(&self, key: &str) {
        let mut state = self.shared.lock();
        for usage in [FileUse::Reading, FileUse::Changing] {
            let removed = state.files.remove(&(self.store, usage, key) as &dyn HandleParts);
            state.open -= usize::from(removed.is_some());
        }
    }

    /// Closes all files.
    pub(super) fn forget_all(&self) {
        let mut state = self.shared.lock();
        let before = state.files.len();
        state.files.retain(|HandleKey(store, ..), _| *store != self.store);
        state.open -= before - state.files.len();
    }
}

impl Drop for StoreHandles {
    fn drop(&mut self) {
        self.forget_all();
    }
}

impl HandleState {
    fn find(&mut self, store: u64, usage: FileUse, key: &str) -> Option<Arc<File>> {
        self.files.to_back(&(store, usage, key) as &dyn HandleParts).cloned()
    }

    /// Keeps a file for which there is room.
    fn keep(&mut self, store: u64, usage: FileUse, key: &str, file: File) -> Arc<File> {
        let file = Arc::new(file);
        let old = self.files.insert(HandleKey(store, usage, key.into()), Arc::clone(&file));
        self.open -= usize::from(old.is_some());
        file
    }

    /// Closes files that are not being read, least recently used first, until one more may be open.
    fn make_room(&mut self, max: usize) {
        while self.open >= max {
            let idle = self.files.iter().find(|(_, file)| Arc::strong_count(file) == 1);
            let Some(key) = idle.map(|(key, _)| key.clone()) else { return };
            self.files.remove(&key);
            self.open -= 1;
        }
    }
}

impl HandleParts for HandleKey {
    fn parts(&self) -> (u64, FileUse, &str) {
        (self.0, self.1, &self.2)
    }
}

impl HandleParts for (u64, FileUse, &str) {
    fn parts(&self) -> (u64, FileUse, &str) {
        *self
    }
}

impl<'a> Borrow<dyn HandleParts + 'a> for HandleKey {
    fn borrow(&self) -> &(dyn HandleParts + 'a) {
        self
    }
}

/// Hashes like the key that it is a part of: numbers, then text.
impl Hash for dyn HandleParts + '_ {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.parts().hash(state);
    }
}

impl PartialEq for dyn HandleParts + '_ {
    fn eq(&self, other: &Self) -> bool {
        self.parts() == other.parts()
    }
}

impl Eq for dyn HandleParts + '_ {}

#[cfg(test)]
mod tests;
