//! The slots of open files: read by every call without waiting, changed by one thread at a time.
use crate::c_types::codes::{Code, NC_ENFILE, Outcome};
use crate::files::handles::{OpenFile, RunningCall};
use crate::files::user_file::UserFile;
use arc_swap::ArcSwapOption;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Slots have fifteen bits. The first one is never used: no id is below 65536.
const SLOTS: usize = 1 << 15;

static FILES: [ArcSwapOption<SlotFile>; SLOTS] = [const { ArcSwapOption::const_empty() }; SLOTS];
/// Slots that were ever used are below this one.
static END: AtomicUsize = AtomicUsize::new(1);
/// Held by those who change slots.
static CHANGES: Mutex<()> = Mutex::new(());

/// What is in a slot.
#[derive(Debug)]
pub(crate) enum SlotFile {
    Own(Arc<OpenFile>),
    /// Of a format of the program.
    User(Arc<UserFile>),
}

/// The slots while no other thread changes them.
pub(crate) struct HeldSlots {
    _changes: MutexGuard<'static, ()>,
}

/// All slots, which no other thread changes meanwhile.
pub(crate) fn held() -> HeldSlots {
    HeldSlots { _changes: CHANGES.lock().unwrap_or_else(PoisonError::into_inner) }
}

impl HeldSlots {
    /// Puts a file into the lowest free slot.
    ///
    /// # Errors
    /// `NC_ENFILE` if all are in use.
    pub(crate) fn insert(&self, file: SlotFile) -> Outcome<usize> {
        let free = FILES.iter().skip(1).position(|place| place.load().is_none());
        let slot = free.ok_or(Code(NC_ENFILE))? + 1;
        self.replace(slot, Some(file));
        END.fetch_max(slot + 1, Ordering::AcqRel);
        Ok(slot)
    }

    /// Puts another file, or none, into a slot.
    pub(crate) fn replace(&self, slot: usize, file: Option<SlotFile>) {
        if let Some(place) = FILES.get(slot) {
            let former = place.swap(file.map(Arc::new));
            if let Some(SlotFile::Own(former)) = former.as_deref() {
                former.door.close();
            }
        }
    }

    /// In a child process: the parent's files are left as they are, with all that they hold.
    pub(crate) fn leave_to_parent(&self) {
        for file in own() {
            std::mem::forget(file);
        }
    }
}

fn at<T>(slot: usize, look: impl FnOnce(&SlotFile) -> Option<T>) -> Option<T> {
    FILES.get(slot)?.load().as_deref().and_then(look)
}

/// The file in a slot.
pub(crate) fn file_at(slot: usize) -> Option<Arc<OpenFile>> {
    look_at(slot, |file| Some(Arc::clone(file)))
}

/// Looks at the file in a slot.
pub(crate) fn look_at<T>(slot: usize, look: impl FnOnce(&Arc<OpenFile>) -> Option<T>) -> Option<T> {
    at(slot, |file| match file {
        SlotFile::Own(file) => look(file),
        SlotFile::User(_) => None,
    })
}

/// Begins a call with the file in a slot. `None` without one, and for one that is being closed.
pub(crate) fn call(slot: usize) -> Option<RunningCall> {
    look_at(slot, RunningCall::begin)
}

/// The file of a format of the program in a slot.
pub(crate) fn user_at(slot: usize) -> Option<Arc<UserFile>> {
    at(slot, |file| match file {
        SlotFile::User(file) => Some(Arc::clone(file)),
        SlotFile::Own(_) => None,
    })
}

/// All files of the library's own formats, in the order of their slots.
pub(crate) fn own() -> Vec<Arc<OpenFile>> {
    (1..END.load(Ordering::Acquire)).filter_map(file_at).collect()
}
