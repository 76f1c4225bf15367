//! What the process has once: the session.
use ncirrus::Session;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How often the process was forked, counted in the child.
static GENERATION: AtomicU64 = AtomicU64::new(0);

static SESSION: Mutex<Option<Session>> = Mutex::new(None);

/// The session of the process, made at the first call from the user's configuration.
///
/// # Errors
/// If the configuration is wrong.
pub(crate) fn session() -> ncirrus::Result<Session> {
    let mut session = SESSION.lock().unwrap_or_else(PoisonError::into_inner);
    match &*session {
        Some(session) => Ok(session.clone()),
        None => Ok(session.insert(Session::new()?).clone()),
    }
}

/// How often the process, or its parents, were forked.
pub(crate) fn generation() -> u64 {
    GENERATION.load(Ordering::Acquire)
}

/// The session, which no other thread makes or ends meanwhile.
pub(crate) fn held_session() -> MutexGuard<'static, Option<Session>> {
    SESSION.lock().unwrap_or_else(PoisonError::into_inner)
}

/// In a child process: its session has threads of the parent, and is left as it is.
pub(crate) fn leave_to_parent(session: &mut Option<Session>) {
    std::mem::forget(session.take());
    GENERATION.fetch_add(1, Ordering::AcqRel);
}

/// Ends the session; the next call makes another one.
pub(crate) fn end_session() {
    drop(SESSION.lock().unwrap_or_else(PoisonError::into_inner).take());
}
