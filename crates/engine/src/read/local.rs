//! Reading from local stores: the thread that decodes a chunk also fetches it, without an async runtime.
mod groups;

use super::VariableRead;
use super::byte_run::{ByteRun, RunPlace};
use super::chunk_task::{ChunkSource, ChunkTask, sized};
use crate::request_log;
use crate::resources::{WorkerBuffers, may_block};
use bytes::Bytes;
use groups::TaskGroup;
use ncirrus_layout::{Error, Location, ObjectId, Result};
use ncirrus_store::{LocalStore, ReadAt};
use std::collections::HashSet;
use std::future::poll_fn;
use std::pin::pin;
use std::task::Poll;

/// Bytes that are read without a break if the calling thread also has other tasks to serve.
const TURN_BYTES: usize = 32 << 20;

/// So many bytes may be read in vain: only afterwards is it asked whether their object has changed.
const SHORT_READ: usize = 1 << 20;

/// Memory that a buffer has at least before an object is read whole.
const SMALL_OBJECT: usize = 16 << 10;

/// So many bytes that are only copied are read sooner than another thread begins.
const QUICK_READ: usize = 128 << 10;

/// Tasks that are done. To drop them takes as long as to plan others.
#[derive(Default)]
pub(super) struct DoneTasks<'out> {
    _groups: Vec<TaskGroup<'out>>,
}

/// Whether tasks read at most so many bytes together.
fn is_short(jobs: &[ChunkTask<'_>], max: usize) -> bool {
    jobs.iter().map(ChunkTask::cost).fold(0, usize::saturating_add) <= max
}

impl VariableRead<'_> {
    /// Does all tasks. `next` prepares the tasks after these; what it can do without waiting is done by this thread while
    /// others do the last of these. Returns what `next` does, and the tasks that are done, which this thread should drop while
    /// others work.
    pub(super) async fn run_local<'out, T>(
        &self,
        store: &dyn LocalStore,
        mut jobs: Vec<ChunkTask<'out>>,
        fill: &[u8],
        next: impl Future<Output = Result<T>>,
    ) -> Result<(T, DoneTasks<'out>)> {
        let shared: HashSet<ObjectId> = jobs.iter().flat_map(ChunkTask::shared_objects).cloned().collect();
        // Cached bytes have the state in which they were read; that this is still the object's state, and the one at first touch,
        // is checked at the end. To check it first, too, spares long reads in vain.
        let is_short = is_short(&jobs, SHORT_READ);
        let is_open = |object: &ObjectId| {
            self.at_hand(object).is_none() && !(is_short && self.context.snapshot.has_tag(object))
        };
        self.check_unchanged(store, shared.iter().filter(|object| is_open(object)))?;
        let mut done = Ok(DoneTasks::default());
        let (mut next, mut prepared) = (pin!(next), None);
        while done.is_ok() && !jobs.is_empty() {
            let rest = if may_block() { Vec::new() } else { jobs.split_off(first_turn(&jobs)) };
            if !rest.is_empty() {
                done = self.run_turn(store, jobs, fill, || ());
                let_others_run().await;
            } else {
                done = poll_fn(|context| {
                    let prepare = || prepared = Some(next.as_mut().poll(context));
                    Poll::Ready(self.run_turn(store, std::mem::take(&mut jobs), fill, prepare))
                })
                .await;
            }
            jobs = rest;
        }
        // A read that fails because the object was changed reports the change.
        let done = self.check_unchanged(store, &shared).and(done)?;
        match prepared {
            Some(Poll::Ready(prepared)) => Ok((prepared?, done)),
            Some(Poll::Pending) | None => Ok((next.await?, done)),
        }
    }

    /// A small object that was read whole when it was opened.
    fn at_hand(&self, object: &ObjectId) -> Option<Bytes> {
        self.context.snapshot.fronts.whole(object)
    }

    /// Compares the tags of objects that are read in several ranges with those at first touch.
    fn check_unchanged<'a>(
        &self,
        store: &dyn LocalStore,
        objects: impl IntoIterator<Item = &'a ObjectId>,
    ) -> Result<()> {
        for object in objects {
            self.context.snapshot.check_store(object)?;
            if let Some((_, tag)) = store.stat(object)? {
                self.context.snapshot.check(object, &tag)?;
            }
        }
        Ok(())
    }

    /// Does tasks; this thread does something else `beside` if others do them. Returns the tasks that are done.
    fn run_turn<'out>(
        &self,
        store: &dyn LocalStore,
        jobs: Vec<ChunkTask<'out>>,
        fill: &[u8],
        beside: impl FnOnce(),
    ) -> Result<DoneTasks<'out>> {
        let shared = &self.context.shared;
        let dearest = jobs.iter().map(ChunkTask::cost).max().unwrap_or(0).max(1);
        let is_quick = is_short(&jobs, QUICK_READ) && jobs.iter().all(ChunkTask::is_copied);
        let worker_count = if is_quick { 1 } else { shared.memory.bytes() / dearest };
        let mut groups = groups::grouped(jobs, shared.pool.current_num_threads(), shared.limits.chunk_bytes);
        let work = |group: &mut TaskGroup<'out>, worker: &mut WorkerBuffers| match group {
            TaskGroup::One(task) => self.run_alone(store, task, fill, worker),
            // Objects that were read whole are in memory.
            TaskGroup::Several(tasks) if !self.are_at_hand(tasks) => self.run_group(store, tasks, worker),
            TaskGroup::Several(tasks) => std::mem::take(tasks)
                .into_iter()
                .try_for_each(|task| self.run_alone(store, &mut Some(task), fill, worker)),
        };
        shared.for_each_beside(groups.iter_mut().collect(), worker_count, work, beside)?;
        Ok(DoneTasks { _groups: groups })
    }

    /// Whether the object of a group was read whole when it was opened.
    fn are_at_hand(&self, group: &[ChunkTask<'_>]) -> bool {
        let mut objects = group.iter().take(1).flat_map(ChunkTask::shared_objects);
        objects.any(|object| self.at_hand(object).is_some())
    }

    /// Does a task. It is taken out only if its elements are copied: see [`TaskGroup`].
    fn run_alone(
        &self,
        store: &dyn LocalStore,
        task: &mut Option<ChunkTask<'_>>,
        fill: &[u8],
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        if let Some(encoded) = task.as_mut().filter(|task| !task.is_copied()) {
            let done = self.run_encoded(store, encoded, fill, worker);
            return done.map_err(|error| error.at_chunk(&encoded.cell));
        }
        let Some(mut task) = task.take() else { return Ok(()) };
        if matches!(task.work, ChunkSource::Fill) {
            self.fill(&mut task.target, fill);
            return Ok(());
        }
        let cell = task.chunk();
        let done = self.read_plain(store, task, fill, worker);
        done.map_err(|error| match &cell {
            Some(cell) => error.at_chunk(cell),
            None => error,
        })
    }

    fn run_encoded(
        &self,
        store: &dyn LocalStore,
        task: &mut ChunkTask<'_>,
        fill: &[u8],
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        if self.serve_from_cache(task)? {
            return Ok(());
        }
        let ChunkSource::Encoded { location, .. } = &mut task.work else { return Ok(()) };
        let location = std::mem::replace(location, Location::Absent);
        let mut encoded = std::mem::take(&mut worker.encoded);
        let done = match self.fetch_local(store, &location, &mut encoded) {
            Ok(Some(len)) => {
                let bytes = match &location {
                    Location::Inline(bytes) => Some(&bytes[..]),
                    _ => encoded.get(..len),
                };
                let outside = || Error::internal(format!("{len} bytes were read into {}", encoded.len()));
                bytes.ok_or_else(outside).and_then(|bytes| self.decode(task, bytes, worker))
            }
            Ok(None) => self.note_missing(&task.cell).map(|()| self.fill(&mut task.target, fill)),
            Err(error) => Err(error),
        };
        worker.encoded = encoded;
        let done = done.map_err(|error| at_location(error, &location));
        // It is dropped with the task.
        if let ChunkSource::Encoded { location: place, .. } = &mut task.work {
            *place = location;
        }
        done
    }

    /// Reads the bytes of a chunk and returns their number; `None` if it is an object that does not exist.
    fn fetch_local(
        &self,
        store: &dyn LocalStore,
        location: &Location,
        buffer: &mut Vec<u8>,
    ) -> Result<Option<usize>> {
        let shared = &self.context.shared;
        match location {
            Location::Object(object) => {
                self.context.snapshot.check_store(object)?;
                buffer.clear();
                // Of an object that fits, its length need not be known before it is read.
                buffer.reserve(SMALL_OBJECT);
                let read = store.read_whole(object, shared.limits.chunk_bytes, buffer)?;
                request_log::read_locally(object, None, read);
                Ok(self.count_read(read))
            }
            Location::Bytes(object, range) => {
                self.context.snapshot.check_store(object)?;
                let len = range.end.saturating_sub(range.start);
                // The range comes from the file: it is checked before memory is allocated.
                let len = shared.limits.chunk_len(len, "a stored chunk")?;
                let buffer = sized(buffer, len);
                let read = match self.at_hand(object) {
                    Some(bytes) => Some(copy_at(&bytes, range.start, buffer)),
                    None => {
                        let read = store.read_into(object, range.start, buffer)?;
                        request_log::read_locally(object, Some(range), read);
                        self.count_read(read)
                    }
                };
                match read.ok_or_else(|| absent_object(object))? {
                    read if read < len => Err(cut_short(read, len)),
                    read => Ok(Some(read)),
                }
            }
            Location::Inline(bytes) => Ok(Some(bytes.len())),
            Location::Absent => Ok(None),
        }
    }

    /// Reads the needed bytes of a chunk without codecs.
    fn read_plain(
        &self,
        store: &dyn LocalStore,
        job: ChunkTask<'_>,
        fill: &[u8],
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        let cell = job.cell.clone();
        let mut is_absent = false;
        let units = job.into_units(run_gap(store.facts().merge_gap))?;
        let places: Vec<Option<RunPlace>> = units.iter().map(|unit| unit.place.clone()).collect();
        let mut opened: Option<(&ObjectId, LocalSource<'_>)> = None;
        for (mut unit, place) in units.into_iter().zip(&places) {
            if let Some(place) = place.as_ref().filter(|_| !is_absent) {
                self.context.snapshot.check_store(&place.object)?;
                // Consecutive runs are mostly of one object, which is opened once.
                let source = match opened.take().filter(|(object, _)| **object == place.object) {
                    Some((_, source)) => source,
                    None => self.open_source(store, place)?,
                };
                let read = self.read_unit(&source, place, &mut unit, worker);
                opened = Some((&place.object, source));
                match read.map_err(|error| error.at_object(&place.object).at_offset(place.range.start))? {
                    Some(()) => {
                        let len = usize::try_from(place.range.end - place.range.start).ok();
                        request_log::read_locally(&place.object, Some(&place.range), len);
                        continue;
                    }
                    None if place.must_exist => return Err(absent_object(&place.object)),
                    None => self.note_missing(&cell)?,
                }
                is_absent = true;
            }
            self.fill(&mut unit.target, fill);
        }
        Ok(())
    }

    /// Opens what a run is read from, and checks that the chunk has no bytes beyond its elements.
    fn open_source<'a>(&self, store: &'a dyn LocalStore, place: &'a RunPlace) -> Result<LocalSource<'a>> {
        let (source, size) = match self.at_hand(&place.object) {
            Some(bytes) => {
                let size = bytes.len() as u64;
                (LocalSource::AtHand(bytes), Some(size))
            }
            None => {
                let reader = store.opened(&place.object)?;
                let size = if place.max.is_some() { reader.size()? } else { None };
                (LocalSource::Opened(reader), size)
            }
        };
        self.check_surplus(place.surplus(size)).map_err(|error| error.at_object(&place.object))?;
        Ok(source)
    }

    /// Reads the bytes of a run, directly into the result if possible; `None` if there is no such object.
    fn read_unit(
        &self,
        source: &LocalSource<'_>,
        place: &RunPlace,
        unit: &mut ByteRun<'_>,
        worker: &mut WorkerBuffers,
    ) -> Result<Option<()>> {
        let readable = usize::try_from(place.range.end - place.range.start).unwrap_or(usize::MAX);
        let outside = || Error::internal(format!("{readable} bytes are read into a run that is shorter"));
        let is_direct = self.copier().is_plain() && !self.bound.repairs();
        if let Some(run) = unit.target.part.run_mut().filter(|_| is_direct) {
            let wanted = run.get_mut(..readable).ok_or_else(outside)?;
            let read = self.read_at(source, place.range.start, wanted)?;
            return read.map(|read| self.pad(run, read)).transpose();
        }
        let stored = sized(&mut worker.decoded, unit.len);
        let wanted = stored.get_mut(..readable).ok_or_else(outside)?;
        let read = self.read_at(source, place.range.start, wanted)?;
        read.map(|read| self.copy_stored(&mut unit.target.part, stored, read)).transpose()
    }

    fn read_at(&self, source: &LocalSource<'_>, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        match source {
            LocalSource::AtHand(bytes) => Ok(Some(copy_at(bytes, offset, buffer))),
            LocalSource::Opened(reader) => Ok(self.count_read(reader.read_at(offset, buffer)?)),
        }
    }

    fn count_read(&self, read: Option<usize>) -> Option<usize> {
        self.context.shared.counters.fetched(read.unwrap_or(0));
        read
    }
}

/// What runs of an object are read from.
enum LocalSource<'a> {
    /// All of its bytes.
    AtHand(Bytes),
    Opened(Box<dyn ReadAt + 'a>),
}

/// Copies the bytes from an offset on, as many as there are.
fn copy_at(bytes: &[u8], offset: u64, buffer: &mut [u8]) -> usize {
    let rest = usize::try_from(offset).ok().and_then(|offset| bytes.get(offset..)).unwrap_or_default();
    let len = rest.len().min(buffer.len());
    if let (Some(to), Some(from)) = (buffer.get_mut(..len), rest.get(..len)) {
        to.copy_from_slice(from);
    }
    len
}

/// Runs of one object that are closer than this are read as one. The gap that a store states is for reads that each
/// open the object; these share one opening.
pub(super) fn run_gap(merge_gap: u64) -> usize {
    usize::try_from(merge_gap / 4).unwrap_or(usize::MAX)
}

/// Number of tasks that are done before the first break.
fn first_turn(jobs: &[ChunkTask<'_>]) -> usize {
    let mut bytes = 0usize;
    let fits = |job: &&ChunkTask<'_>| {
        let fits = bytes < TURN_BYTES;
        bytes = bytes.saturating_add(job.cost());
        fits
    };
    jobs.iter().take_while(fits).count().max(1)
}

/// Lets the caller's executor run its other tasks.
pub(crate) async fn let_others_run() {
    let mut waited = false;
    poll_fn(|context| {
        if waited {
            return Poll::Ready(());
        }
        waited = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await;
}

pub(crate) fn absent_object(object: &ObjectId) -> Error {
    Error::not_found("the object that an index names does not exist").at_object(object)
}

pub(super) fn cut_short(read: usize, len: usize) -> Error {
    Error::malformed(format!("the object ends {} bytes before the stored chunk does", len - read))
}

/// Adds the location of a chunk.
pub(super) fn at_location(error: Error, location: &Location) -> Error {
    match location {
        Location::Object(object) => error.at_object(object),
        Location::Bytes(object, range) => error.at_object(object).at_offset(range.start),
        Location::Inline(_) | Location::Absent => error,
    }
}
