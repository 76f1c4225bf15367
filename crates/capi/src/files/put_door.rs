//! What a put needs that continues others: a thread finds it by the id, without the file, whose slot others share.
use crate::files::broken::FileHealth;
use crate::process;
use ncirrus::pace::CollectedRuns;
use std::cell::RefCell;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The group by which a program refers to the variable of a run of puts, and the number by which it does.
pub(crate) type RunKey = (usize, c_int);

/// How often a file was changed, and whether anybody wants to know.
#[derive(Debug, Default)]
pub(crate) struct ChangeCount {
    count: AtomicU64,
    is_read: AtomicBool,
}

impl ChangeCount {
    /// Something was changed.
    pub(crate) fn note(&self) {
        self.count.fetch_add(1, Ordering::AcqRel);
    }

    /// Values were collected. A reader requests the count, then takes the lock of the runs. If the count was not requested before the
    /// values were there, the reader therefore sees them.
    #[inline]
    pub(crate) fn note_collected(&self) {
        if self.is_read.load(Ordering::SeqCst) {
            self.note();
        }
    }

    /// The count, before values are read.
    pub(crate) fn read(&self) -> u64 {
        if !self.is_read.load(Ordering::SeqCst) {
            self.is_read.store(true, Ordering::SeqCst);
        }
        self.count.load(Ordering::Acquire)
    }
}

/// What a handle has for puts that continue others. It holds nothing that a file that was closed must not leave open.
#[derive(Debug)]
pub(crate) struct PutDoor {
    pub(crate) health: Arc<FileHealth>,
    pub(crate) changes: Arc<ChangeCount>,
    pub(crate) runs: Arc<CollectedRuns<RunKey>>,
    /// Whether what is put may be collected.
    collects: bool,
    /// How often the process had been forked when the handle was opened.
    generation: u64,
    is_closed: AtomicBool,
}

impl PutDoor {
    /// The door of a new handle.
    pub(crate) fn new(
        health: &Arc<FileHealth>,
        changes: &Arc<ChangeCount>,
        runs: &Arc<CollectedRuns<RunKey>>,
        collects: bool,
    ) -> Self {
        let (health, changes, runs) = (Arc::clone(health), Arc::clone(changes), Arc::clone(runs));
        let (generation, is_closed) = (process::generation(), AtomicBool::new(false));
        Self { health, changes, runs, collects, generation, is_closed }
    }

    /// The id of the handle refers to no file, or to another one, from here on.
    pub(crate) fn close(&self) {
        self.is_closed.store(true, Ordering::Release);
    }

    /// Whether there are runs that a put by this handle may continue.
    #[inline]
    pub(crate) fn is_open(&self) -> bool {
        self.collects
            && !self.is_closed.load(Ordering::Acquire)
            && self.runs.exist()
            && self.generation == process::generation()
            && !self.health.is_broken()
    }
}

/// Doors that a thread remembers, each at the place that its slot has.
const REMEMBERED: usize = 4;

/// A slot and the door of its handle.
type RememberedDoor = Option<(c_int, Arc<PutDoor>)>;

thread_local! {
    static OF_THREAD: RefCell<[RememberedDoor; REMEMBERED]> =
        const { RefCell::new([const { None }; REMEMBERED]) };
}

fn place_of(slot: c_int) -> usize {
    usize::try_from(slot).unwrap_or_default() % REMEMBERED
}

/// Passes the door that this thread remembers of a slot. `None` if it remembers none.
#[inline]
pub(crate) fn with_remembered<T>(slot: c_int, look: impl FnOnce(&PutDoor) -> Option<T>) -> Option<T> {
    let found = OF_THREAD.try_with(|doors| {
        let doors = doors.try_borrow().ok()?;
        match doors.get(place_of(slot))? {
            Some((known, door)) if *known == slot => look(door),
            _ => None,
        }
    });
    found.ok().flatten()
}

/// Remembers the door of the handle in a slot.
pub(crate) fn remember(slot: c_int, door: &Arc<PutDoor>) {
    // A thread that ends finds it without.
    let _ = OF_THREAD.try_with(|doors| {
        if let Ok(mut doors) = doors.try_borrow_mut()
            && let Some(place) = doors.get_mut(place_of(slot))
        {
            *place = Some((slot, Arc::clone(door)));
        }
    });
}
