//! What a child process has of the library: the files of its parent, but none of its threads.
//!
//! While the process is forked, all that the whole process has is held, so that a child finds nothing half changed and
//! nothing locked. What the parent has open is left to it, with its locks, whatever other threads do with them; a file that is
//! read is opened again at the first call that uses it (`files`).
use crate::files::slots::{self, HeldSlots};
use crate::{
    c_types::memory, files::opened_blocks, opening::chunk_caches, opening::place_turns, process,
    programs::user_formats,
};
use std::any::Any;
use std::cell::RefCell;
use std::mem::ManuallyDrop;
use std::sync::{MutexGuard, Once};

/// What is held while the process is forked.
struct HeldProcess {
    slots: HeldSlots,
    session: MutexGuard<'static, Option<ncirrus::Session>>,
    _others: Vec<Box<dyn Any>>,
}

thread_local! {
    /// Taken out after the fork. It has no destructor: functions of `atexit` fork, too, when variables that have one are gone.
    static HELD: RefCell<Option<ManuallyDrop<HeldProcess>>> = const { RefCell::new(None) };
}

/// Cares for forks from now on; asked for once.
pub(crate) fn watch() {
    static ASKED: Once = Once::new();
    ASKED.call_once(|| memory::at_fork(hold, release, begin_child));
}

fn hold() {
    // In the order in which a call takes them: the settings are read while a session is made.
    let session = process::held_session();
    let others = vec![
        process::held_settings(),
        chunk_caches::held(),
        opened_blocks::held(),
        user_formats::held(),
        place_turns::held(),
    ];
    let held = HeldProcess { slots: slots::held(), session, _others: others };
    HELD.set(Some(ManuallyDrop::new(held)));
}

fn taken() -> Option<HeldProcess> {
    HELD.take().map(ManuallyDrop::into_inner)
}

fn release() {
    drop(taken());
}

fn begin_child() {
    if let Some(mut held) = taken() {
        held.slots.leave_to_parent();
        process::leave_to_parent(&mut held.session);
    }
}
