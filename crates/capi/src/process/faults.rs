//! Panics that tests inject: `NCIRRUS_FAULT=nc_sync:State` in the environment makes that call panic when it has got there.
//!
//! Builds with assertions have it, which are those of tests; release builds do not. A feature of cargo would not do: both kinds of library
//! would be built at the same place, and tests would run with either.

/// How far a call has got.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FaultPlace {
    /// It has not looked at anything.
    Begin,
    /// It has found the file of its id.
    File,
    /// A dataset is open, and no id refers to it yet.
    Opened,
    /// It has the state of the file.
    State,
    /// It has the file alone, and nothing else of it.
    Alone,
    /// No id refers to the file any more, which it ends next.
    Released,
    /// It writes values that were put one by one.
    Run,
    /// It reads a block around a value.
    Block,
    /// All definitions are written, and what was written becomes permanent next.
    End,
}

/// A call has got to a place.
#[cfg(not(debug_assertions))]
pub(crate) const fn reached(_: FaultPlace) {}

/// A call has got to a place, and panics there if a test wants that.
#[cfg(debug_assertions)]
#[expect(clippy::panic, reason = "what it is for")]
pub(crate) fn reached(place: FaultPlace) {
    use std::sync::OnceLock;
    const VARIABLE: &str = "NCIRRUS_FAULT";
    // Programs that never heard of it make millions of calls.
    static IS_ON: OnceLock<bool> = OnceLock::new();
    if !*IS_ON.get_or_init(|| std::env::var_os(VARIABLE).is_some()) {
        return;
    }
    let wanted = std::env::var(VARIABLE).unwrap_or_default();
    if wanted == format!("{}:{place:?}", crate::process::last_error::function()) {
        panic!("injected at {place:?}");
    }
}
