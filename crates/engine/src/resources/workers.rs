//! Doing many small tasks on all threads, each with reusable buffers.
use super::SharedResources;
use ncirrus_codec::CodecScratch;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// The buffers of a thread that decodes or encodes: kept from one chunk to the next, and returned for the next read.
#[derive(Default)]
pub(crate) struct WorkerBuffers {
    /// For codecs.
    pub(crate) scratch: CodecScratch,
    /// Bytes as stored.
    pub(crate) encoded: Vec<u8>,
    /// Bytes of elements.
    pub(crate) decoded: Vec<u8>,
}

/// Workers that are not in use.
#[derive(Default)]
pub(crate) struct WorkerPool {
    idle: Mutex<Vec<WorkerBuffers>>,
}

/// Buffers larger than this are not kept when a worker becomes idle.
const KEPT_BYTES: usize = 32 << 20;
/// More idle workers than this are not kept.
const KEPT_WORKERS: usize = 64;

impl WorkerPool {
    /// Runs `f` with a worker of its own.
    pub(crate) fn with<T>(&self, f: impl FnOnce(&mut WorkerBuffers) -> T) -> T {
        let idle = self.idle.guard().pop();
        let mut worker = idle.unwrap_or_default();
        let result = f(&mut worker);
        worker.encoded.clear();
        for buffer in [&mut worker.encoded, &mut worker.decoded] {
            if buffer.capacity() > KEPT_BYTES {
                *buffer = Vec::new();
            }
        }
        let mut idle = self.idle.guard();
        if idle.len() < KEPT_WORKERS {
            idle.push(worker);
        }
        result
    }
}

impl SharedResources {
    /// Does all tasks, on at most `worker_count` threads at once, and returns when all are done or one has failed; of several
    /// failures the first in order is returned. A single task, and those of a single lane, are done on the calling thread.
    pub(crate) fn for_each<J: Send>(
        &self,
        jobs: Vec<J>,
        worker_count: usize,
        work: impl Fn(J, &mut WorkerBuffers) -> Result<()> + Sync,
    ) -> Result<()> {
        self.for_each_beside(jobs, worker_count, work, || ())
    }

    /// As [`for_each`](Self::for_each). The calling thread does something else once while other threads do the tasks, or not at
    /// all if it does them itself.
    pub(crate) fn for_each_beside<J: Send>(
        &self,
        jobs: Vec<J>,
        worker_count: usize,
        work: impl Fn(J, &mut WorkerBuffers) -> Result<()> + Sync,
        beside: impl FnOnce(),
    ) -> Result<()> {
        let mut jobs = jobs;
        if jobs.len() <= 1 {
            return jobs.pop().map_or(Ok(()), |job| self.workers.with(|worker| work(job, worker)));
        }
        let worker_count = worker_count.clamp(1, self.pool.current_num_threads()).min(jobs.len());
        if worker_count == 1 {
            return self.workers.with(|worker| jobs.into_iter().try_for_each(|job| work(job, worker)));
        }
        let queue = TaskQueue::new(jobs, worker_count);
        self.pool.in_place_scope(|scope| {
            for _ in 0..worker_count {
                scope.spawn(|_| self.workers.with(|worker| queue.drain(|job| work(job, worker))));
            }
            beside();
        });
        queue
            .failure
            .into_inner()
            .unwrap_or_else(PoisonError::into_inner)
            .map_or(Ok(()), |(_, error)| Err(error))
    }
}

/// Tasks that are neighbours are mostly chunks whose rows are neighbours in the result. If one thread does them, no two threads
/// write cache lines that are next to each other at the same time. At most so many are taken at once.
const MAX_TAKEN: usize = 4;
/// How often each thread takes tasks, at least: no thread waits long for another one at the end.
const MIN_TURNS: usize = 64;

/// Tasks that several threads take a few at a time.
struct TaskQueue<J> {
    jobs: Vec<Mutex<Option<J>>>,
    next: AtomicUsize,
    /// Number of tasks that are taken at once.
    taken: usize,
    failed: AtomicBool,
    failure: Mutex<Option<(usize, Error)>>,
}

impl<J> TaskQueue<J> {
    fn new(jobs: Vec<J>, worker_count: usize) -> Self {
        let taken = jobs.len() / worker_count.saturating_mul(MIN_TURNS).max(1);
        Self {
            jobs: jobs.into_iter().map(|job| Mutex::new(Some(job))).collect(),
            next: AtomicUsize::new(0),
            taken: taken.clamp(1, MAX_TAKEN),
            failed: AtomicBool::new(false),
            failure: Mutex::default(),
        }
    }

    fn drain(&self, mut work: impl FnMut(J) -> Result<()>) {
        loop {
            let first = self.next.fetch_add(self.taken, Ordering::Relaxed);
            for at in first..first.saturating_add(self.taken) {
                if self.failed.load(Ordering::Relaxed) {
                    return;
                }
                let Some(job) = self.jobs.get(at) else { return };
                let job = job.guard().take();
                if let Some(Err(error)) = job.map(&mut work) {
                    self.fail(at, error);
                }
            }
        }
    }

    fn fail(&self, at: usize, error: Error) {
        self.failed.store(true, Ordering::Relaxed);
        let mut failure = self.failure.guard();
        if failure.as_ref().is_none_or(|(first, _)| at < *first) {
            *failure = Some((at, error));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::resources::ResourceOptions;
    use std::sync::mpsc;
    use std::time::Duration;

    fn shared() -> SharedResources {
        SharedResources::new(ResourceOptions { threads: 2, ..ResourceOptions::default() }).unwrap()
    }

    #[test]
    fn the_calling_thread_does_something_else_while_others_do_the_tasks() {
        let caller = std::thread::current().id();
        let (sender, receiver) = mpsc::channel();
        let receiver = Mutex::new(receiver);
        let work = |_, _: &mut WorkerBuffers| {
            assert_ne!(std::thread::current().id(), caller);
            // Two tasks wait for what is done beside them.
            let received = receiver.guard().recv_timeout(Duration::from_secs(60));
            received.map_err(|_| Error::internal("nothing was done beside the tasks"))
        };
        let beside = || (0..2).for_each(|_| sender.send(()).unwrap());
        shared().for_each_beside(vec![1, 2], 2, work, beside).unwrap();
    }

    #[test]
    fn tasks_of_one_thread_are_done_by_the_caller_and_nothing_else() {
        let caller = std::thread::current().id();
        for (tasks, threads) in [(vec![1], 2), (vec![1, 2, 3], 1)] {
            let done = AtomicUsize::new(0);
            let work = |task, _: &mut WorkerBuffers| {
                assert_eq!(std::thread::current().id(), caller);
                done.fetch_add(task, Ordering::Relaxed);
                Ok(())
            };
            let total: usize = tasks.iter().sum();
            let beside = || unreachable!("no other thread has tasks");
            shared().for_each_beside(tasks, threads, work, beside).unwrap();
            assert_eq!(done.into_inner(), total);
        }
    }
}
