//! Handles of programs on files, and the calls that run with them.
use crate::c_types::codes::{Code, NC_ENOTNC4, Outcome};
use crate::c_types::modes::SHARE;
use crate::files::file_state::FileCore;
use crate::files::put_door::PutDoor;
use crate::process;
use std::ffi::c_int;
use std::ops::Deref;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// A handle of a program on a file; several may refer to one file.
#[derive(Debug)]
pub(crate) struct OpenFile {
    pub(crate) core: Arc<FileCore>,
    /// The mode with which it was opened or created.
    pub(crate) mode: c_int,
    /// The path as it was passed.
    pub(crate) path: Vec<u8>,
    /// Whether this handle may change the file.
    pub(crate) writes: bool,
    /// For puts that continue others.
    pub(crate) door: Arc<PutDoor>,
    calls: RunningCalls,
    /// How often the process had been forked when it was opened.
    generation: u64,
}

/// How many calls run with a handle.
#[derive(Debug, Default)]
struct RunningCalls {
    count: AtomicUsize,
    is_awaited: AtomicBool,
    lock: Mutex<()>,
    ended: Condvar,
}

/// A call that runs with a handle, which is not closed before the call has ended.
#[derive(Debug)]
pub(crate) struct RunningCall(Arc<OpenFile>);

impl OpenFile {
    pub(crate) fn new(core: Arc<FileCore>, mode: c_int, path: Vec<u8>, writes: bool) -> Self {
        core.health.set_name(&path);
        let (door, generation) = (Arc::new(core.door(writes && mode & SHARE == 0)), process::generation());
        Self { core, mode, path, writes, door, calls: RunningCalls::default(), generation }
    }

    /// Whether it is netCDF-3.
    pub(crate) fn is_classic(&self) -> bool {
        self.core.format.is_classic()
    }

    /// Whether it is netCDF-4 as HDF5; what is neither this nor netCDF-3 is Zarr.
    pub(crate) fn is_hdf5(&self) -> bool {
        self.core.format.is_hdf5()
    }

    /// Whether it has what only netCDF-4 has.
    ///
    /// # Errors
    /// `NC_ENOTNC4`.
    pub(crate) fn check_netcdf4(&self) -> Outcome<()> {
        if self.is_classic() { Err(Code(NC_ENOTNC4)) } else { Ok(()) }
    }

    /// Whether it is Zarr, by either convention.
    pub(crate) fn is_zarr(&self) -> bool {
        !self.is_classic() && !self.is_hdf5() && !self.core.format.kind.stored.is_computed()
    }

    /// Whether it was opened before the process was forked: the threads that it needs are the parent's.
    pub(crate) fn is_inherited(&self) -> bool {
        self.generation != process::generation()
    }

    /// Waits until no call runs; there is no slot any more by which another one could begin. Calls that ran when the process was forked
    /// are those of threads that a child does not have.
    pub(crate) fn wait_for_calls(&self) {
        if self.is_inherited() {
            return;
        }
        let calls = &self.calls;
        calls.is_awaited.store(true, Ordering::SeqCst);
        let mut guard = calls.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while calls.count.load(Ordering::SeqCst) > 0 {
            guard = calls.ended.wait(guard).unwrap_or_else(PoisonError::into_inner);
        }
    }
}

impl RunningCall {
    /// A call begins; `None` with a file that is being closed.
    ///
    /// Whoever closes it says so before looking at the number of calls, and a call is counted before it looks whether the file is being closed: one of
    /// them sees the other.
    pub(crate) fn begin(file: &Arc<OpenFile>) -> Option<Self> {
        let call = Self::counted(file);
        (!file.calls.is_awaited.load(Ordering::SeqCst)).then_some(call)
    }

    fn counted(file: &Arc<OpenFile>) -> Self {
        file.calls.count.fetch_add(1, Ordering::SeqCst);
        Self(Arc::clone(file))
    }
}

impl Clone for RunningCall {
    fn clone(&self) -> Self {
        Self::counted(&self.0)
    }
}

impl Deref for RunningCall {
    type Target = OpenFile;
    fn deref(&self) -> &OpenFile {
        &self.0
    }
}

impl Drop for RunningCall {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.core.health.give_up();
        }
        let calls = &self.0.calls;
        let was_last = calls.count.fetch_sub(1, Ordering::SeqCst) == 1;
        if was_last && calls.is_awaited.load(Ordering::SeqCst) {
            // Whoever waits has the lock while it looks at the number.
            drop(calls.lock.lock().unwrap_or_else(PoisonError::into_inner));
            calls.ended.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::c_types::codes::NC_EBADID;
    use crate::c_types::memory::{CText, Out};
    use crate::files;
    use crate::opening::create::create_in_memory;
    use crate::opening::open::close;
    use std::ffi::{CString, c_int};
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Mutex, PoisonError};
    use std::thread;

    /// Slots are those of the process: a file of one test would come into the slot of one that another test closed.
    static ALONE: Mutex<()> = Mutex::new(());

    /// A file in memory.
    fn created(name: &str) -> c_int {
        let (name, mut id) = (CString::new(name).unwrap(), 0);
        create_in_memory(CText::of(&name), 0, 0, Out::of(&mut id)).unwrap();
        id
    }

    #[test]
    fn closing_waits_for_the_calls_that_run() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        for round in 0..50 {
            let id = created("waits.nc");
            let (running, calls, is_closed) =
                (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
            thread::scope(|scope| {
                for _ in 0..4 {
                    scope.spawn(|| {
                        while let Ok(handle) = files::handle_of(id) {
                            running.fetch_add(1, Ordering::SeqCst);
                            assert!(!is_closed.load(Ordering::SeqCst));
                            assert!(handle.file.is_classic());
                            calls.fetch_add(1, Ordering::SeqCst);
                            running.fetch_sub(1, Ordering::SeqCst);
                        }
                    });
                }
                while calls.load(Ordering::SeqCst) < 10 * (round % 5) {
                    thread::yield_now();
                }
                let file = files::remove(id).unwrap();
                is_closed.store(true, Ordering::SeqCst);
                assert_eq!(running.load(Ordering::SeqCst), 0);
                file.core.release();
                file.core.alone().abandon().unwrap();
            });
            assert_eq!(files::handle_of(id).map(|_| ()).unwrap_err().0, NC_EBADID);
        }
    }

    #[test]
    fn files_that_come_and_go_are_found_by_their_own_ids() {
        let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        thread::scope(|scope| {
            for number in 0..4 {
                scope.spawn(move || {
                    let name = format!("{number}.nc");
                    for _ in 0..100 {
                        let id = created(&name);
                        assert_eq!(files::handle_of(id).unwrap().file.path, name.as_bytes());
                        let seen = files::glance(id, |file| Some(file.path.clone()));
                        assert_eq!(seen, Some(name.as_bytes().to_vec()));
                        assert!(files::at_door(id, |_, _| Some(())).is_none(), "nothing was put");
                        close(id).unwrap();
                    }
                });
            }
        });
    }
}
