//! What becomes of a file when a call panics with it: it is given up. Its ids answer `NC_EINTERNAL` until they are closed, and
//! nothing more of it becomes permanent, because what the call left half done is not known.
use crate::codes::{Code, NC_EINTERNAL, Outcome};
use crate::file_state::{FileCore, FileState};
use crate::last_error;
use std::ops::{Deref, DerefMut};
use std::sync::{OnceLock, RwLockWriteGuard};

/// What a file is called in words about it, and the call that panicked with it.
#[derive(Debug, Default)]
pub(crate) struct FileHealth {
    name: OnceLock<String>,
    broken_by: OnceLock<&'static str>,
}

/// Gives a file up if the call panics while it has this.
pub(crate) struct PanicMark<'a>(&'a FileCore);

/// The state of a file while one call has it.
pub(crate) struct StateGuard<'a> {
    // Dropped first: whoever takes the lock next finds the file marked.
    _mark: PanicMark<'a>,
    state: RwLockWriteGuard<'a, FileState>,
}

/// The state of a file while no other call has it or its values.
pub(crate) struct ExclusiveState<'a> {
    mark: PanicMark<'a>,
    state: StateGuard<'a>,
    _in_use: RwLockWriteGuard<'a, ()>,
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
}

impl FileCore {
    /// A call panicked: nothing is answered any more.
    #[cold]
    pub(crate) fn set_broken(&self) {
        // The first one is told.
        let _ = self.health.broken_by.set(last_error::function());
        last_error::give_up(self.health.name());
        self.note_change();
    }

    pub(crate) fn is_broken(&self) -> bool {
        self.health.broken_by.get().is_some()
    }

    /// Whether the file can be used.
    ///
    /// # Errors
    /// `NC_EINTERNAL`, with the call that panicked in the words of the last error.
    pub(crate) fn check_whole(&self) -> Outcome<()> {
        let Some(call) = self.health.broken_by.get() else { return Ok(()) };
        let name = self.health.name();
        last_error::set(&format!("{name}: the file was given up after an internal error in {call}"));
        Err(Code(NC_EINTERNAL))
    }
}

impl<'a> PanicMark<'a> {
    pub(crate) fn new(core: &'a FileCore) -> Self {
        Self(core)
    }
}

impl Drop for PanicMark<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.set_broken();
        }
    }
}

impl<'a> StateGuard<'a> {
    pub(crate) fn new(core: &'a FileCore, state: RwLockWriteGuard<'a, FileState>) -> Self {
        Self { _mark: PanicMark(core), state }
    }
}

impl<'a> ExclusiveState<'a> {
    pub(crate) fn new(mark: PanicMark<'a>, in_use: RwLockWriteGuard<'a, ()>, state: StateGuard<'a>) -> Self {
        Self { mark, state, _in_use: in_use }
    }

    /// Ends the file: what was written becomes permanent.
    ///
    /// # Errors
    /// If writing fails; `NC_EINTERNAL` for a file that was given up, of which nothing becomes permanent.
    pub(crate) fn finish(&mut self) -> Outcome<()> {
        match self.mark.0.check_whole() {
            Ok(()) => self.close(),
            Err(code) => self.abandon().and(Err(code)),
        }
    }

    /// Ends the file without what did not become permanent yet.
    ///
    /// # Errors
    /// If what stands somewhere already cannot be removed.
    pub(crate) fn abandon(&mut self) -> Outcome<()> {
        Ok(self.dataset.clone().abort()?)
    }
}

impl Deref for ExclusiveState<'_> {
    type Target = FileState;
    fn deref(&self) -> &FileState {
        &self.state
    }
}

impl DerefMut for ExclusiveState<'_> {
    fn deref_mut(&mut self) -> &mut FileState {
        &mut self.state
    }
}

impl Deref for StateGuard<'_> {
    type Target = FileState;
    fn deref(&self) -> &FileState {
        &self.state
    }
}

impl DerefMut for StateGuard<'_> {
    fn deref_mut(&mut self) -> &mut FileState {
        &mut self.state
    }
}
