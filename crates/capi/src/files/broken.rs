//! What becomes of a file when a call panics with it: it is given up. Its ids answer `NC_EINTERNAL` until they are closed, and
//! nothing more of it becomes permanent, because what the call left half done is not known.
use crate::c_types::codes::{Code, NC_EINTERNAL, Outcome};
use crate::process::last_error;
use std::ops::{Deref, DerefMut};
use std::sync::{OnceLock, RwLockWriteGuard};

/// What a file is called in words about it, and the call that panicked with it.
#[derive(Debug, Default)]
pub(crate) struct FileHealth {
    name: OnceLock<String>,
    broken_by: OnceLock<&'static str>,
}

/// Gives a file up if the call panics while it has this.
pub(crate) struct PanicMark<'a>(&'a FileHealth);

/// What a lock of a file guards, for one call alone.
pub(crate) struct MarkedGuard<'a, T> {
    // Dropped first: whoever takes the lock next finds the file marked.
    _mark: PanicMark<'a>,
    guard: RwLockWriteGuard<'a, T>,
}

impl FileHealth {
    /// The path of the first handle.
    pub(crate) fn set_name(&self, path: &[u8]) {
        // Further handles are of the same file.
        let _ = self.name.set(String::from_utf8_lossy(path).into_owned());
    }

    fn name(&self) -> &str {
        self.name.get().map_or("", String::as_str)
    }

    /// A call panicked: nothing is answered any more.
    #[cold]
    pub(crate) fn give_up(&self) {
        // The first failure is reported.
        let _ = self.broken_by.set(last_error::function());
        last_error::give_up(self.name());
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.broken_by.get().is_some()
    }

    /// Whether the file can be used.
    ///
    /// # Errors
    /// `NC_EINTERNAL`, with the call that panicked in the words of the last error.
    pub(crate) fn check(&self) -> Outcome<()> {
        let Some(call) = self.broken_by.get() else { return Ok(()) };
        last_error::set(&format!("{}: the file was given up after an internal error in {call}", self.name()));
        Err(Code(NC_EINTERNAL))
    }
}

impl<'a> PanicMark<'a> {
    pub(crate) fn new(health: &'a FileHealth) -> Self {
        Self(health)
    }
}

impl Drop for PanicMark<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.give_up();
        }
    }
}

impl<'a, T> MarkedGuard<'a, T> {
    pub(crate) fn new(health: &'a FileHealth, guard: RwLockWriteGuard<'a, T>) -> Self {
        Self { _mark: PanicMark(health), guard }
    }
}

impl<T> Deref for MarkedGuard<'_, T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MarkedGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}
