//! Which files of this machine are being opened or closed.
//!
//! While a file is closed, no id refers to it any more and what was written to it becomes permanent; while one is opened, no id does yet.
//! Whoever opened it then once more would have it beside the other one, which has it locked and changes it. So a call that opens a file
//! waits for those that open or close it, and then finds the file as they leave it. A call that closes waits for none of them, and no lock
//! is held while they run.
use crate::files;
use crate::process;
use crate::process::local_place::LocalPlace;
use std::ffi::c_int;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};

/// As long as this exists, a call opens or closes the file at a place.
#[derive(Debug)]
pub(crate) struct PlaceTurn(Arc<TakenTurn>);

#[derive(Debug)]
struct TakenTurn {
    place: LocalPlace,
    is_closing: bool,
    /// How often the process had been forked: a child does not have the threads that opened and closed files of its parent.
    generation: u64,
}

/// The calls that open and close files.
#[derive(Debug)]
struct TakenTurns {
    turns: Vec<Arc<TakenTurn>>,
    /// How many threads wait for turns to end: the system is asked to wake some only then.
    waiting: usize,
}

static TURNS: Mutex<TakenTurns> = Mutex::new(TakenTurns { turns: Vec::new(), waiting: 0 });
static ENDED: Condvar = Condvar::new();

impl PlaceTurn {
    /// Opens a file as soon as no other call opens or closes it.
    pub(crate) fn to_open(place: &LocalPlace) -> Self {
        let place = place.clone();
        let mut turns = taken();
        if !turns.turns.is_empty() {
            drop(turns);
            // The system is asked where links lead while no lock is held.
            place.real();
            turns = taken();
        }
        Self::begin(without(turns, |turn| turn.is_at(&place)), place, false)
    }

    /// Closes a file; `None` for files of other machines, and for those of the parent process.
    pub(crate) fn to_close(ncid: c_int) -> Option<Self> {
        let place = files::glance(ncid, |file| file.core.place.clone())?;
        Some(Self::begin(taken(), place, true))
    }

    fn begin(mut turns: MutexGuard<'_, TakenTurns>, place: LocalPlace, is_closing: bool) -> Self {
        let turn = Arc::new(TakenTurn { place, is_closing, generation: process::generation() });
        turns.turns.push(Arc::clone(&turn));
        Self(turn)
    }

    /// Waits until no call closes the file that this one opens; whether there was any.
    pub(crate) fn wait_for_closing(&self) -> bool {
        let is_awaited = |turn: &TakenTurn| turn.is_closing && turn.is_at(&self.0.place);
        let turns = taken();
        let has_waited = turns.turns.iter().any(|turn| is_awaited(turn));
        drop(without(turns, is_awaited));
        has_waited
    }
}

impl Drop for PlaceTurn {
    fn drop(&mut self) {
        let mut turns = taken();
        turns.turns.retain(|turn| !Arc::ptr_eq(turn, &self.0));
        if turns.waiting > 0 {
            ENDED.notify_all();
        }
    }
}

impl TakenTurn {
    fn is_at(&self, place: &LocalPlace) -> bool {
        self.generation == process::generation() && self.place.may_be(place)
    }
}

fn taken() -> MutexGuard<'static, TakenTurns> {
    TURNS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Waits until no turn is of a kind.
fn without(
    mut turns: MutexGuard<'static, TakenTurns>,
    is_awaited: impl Fn(&TakenTurn) -> bool,
) -> MutexGuard<'static, TakenTurns> {
    while turns.turns.iter().any(|turn| is_awaited(turn)) {
        turns.waiting += 1;
        turns = ENDED.wait(turns).unwrap_or_else(PoisonError::into_inner);
        turns.waiting -= 1;
    }
    turns
}

/// All turns, which no other thread takes or ends meanwhile.
pub(crate) fn held() -> Box<dyn std::any::Any> {
    Box::new(taken())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    /// A turn of a call that closes the file at a path.
    fn closing(path: &str) -> PlaceTurn {
        PlaceTurn::begin(taken(), LocalPlace::of(path).unwrap(), true)
    }

    #[test]
    fn who_opens_waits_for_those_at_the_same_place_and_no_others() {
        let place = LocalPlace::of("/nowhere/turns.nc").unwrap();
        let (first, other) = (closing("/nowhere/turns.nc"), closing("/nowhere/other.nc"));
        let (tell, told) = mpsc::channel();
        let waiting = thread::spawn(move || {
            let turn = PlaceTurn::to_open(&place);
            tell.send(()).unwrap();
            turn.wait_for_closing()
        });
        assert!(told.recv_timeout(Duration::from_millis(50)).is_err());
        drop(first);
        told.recv().unwrap();
        assert!(!waiting.join().unwrap());
        drop(other);
        // No turn is left to wait for.
        drop(PlaceTurn::to_open(&LocalPlace::of("/nowhere/turns.nc").unwrap()));
    }

    #[test]
    fn who_opens_finds_out_that_another_call_closes() {
        let turn = PlaceTurn::to_open(&LocalPlace::of("/nowhere/closed.nc").unwrap());
        assert!(!turn.wait_for_closing());
        let closing = closing("/nowhere/closed.nc");
        let (tell, told) = mpsc::channel();
        thread::scope(|scope| {
            scope.spawn(|| tell.send(turn.wait_for_closing()).unwrap());
            assert!(told.recv_timeout(Duration::from_millis(50)).is_err());
            drop(closing);
            assert!(told.recv().unwrap());
        });
    }
}
