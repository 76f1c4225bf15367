//! What the process has once: the session.
use ncirrus::Session;
use std::sync::{Mutex, PoisonError};

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

/// Ends the session; the next call makes another one.
pub(crate) fn end_session() {
    drop(SESSION.lock().unwrap_or_else(PoisonError::into_inner).take());
}
