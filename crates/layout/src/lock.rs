//! Mutexes without poisoning.
use std::sync::{Mutex, MutexGuard, PoisonError};

/// How every mutex of the project is locked.
pub trait LockExt<T: ?Sized> {
    /// Waits for the lock. A panic of a thread that held it is ignored: the data protected here are replaced as a
    /// whole or are counters, never left half changed across code that may panic.
    fn guard(&self) -> MutexGuard<'_, T>;
}

impl<T: ?Sized> LockExt<T> for Mutex<T> {
    fn guard(&self) -> MutexGuard<'_, T> {
        self.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::LockExt;
    use std::sync::{Arc, Mutex};

    #[test]
    fn a_lock_is_had_after_a_panic_of_who_held_it() {
        let count = Arc::new(Mutex::new(1));
        let held = Arc::clone(&count);
        let panicked = std::thread::spawn(move || {
            let mut guard = held.guard();
            *guard = 2;
            std::panic::resume_unwind(Box::new("while the lock is held"));
        });
        assert!(panicked.join().is_err() && count.is_poisoned());
        assert_eq!(*count.guard(), 2);
    }
}
