//! Reading from stores that answer over a network: requests are merged, many are in flight at once, and what has
//! arrived is decoded on all cores while the rest is in flight.
use super::VariableRead;
use super::byte_run::{ByteRun, RunPlace};
use super::chunk_task::{ChunkSource, ChunkTask, sized};
use super::local::{absent_object, at_location, cut_short};
use crate::drive::fetch_range;
use crate::merge::{MergedRequest, merge};
use crate::resources::{FirstRequest, InFlight, MemoryPermit, WorkerBuffers};
use crate::snapshot::changed;
use bytes::Bytes;
use ncirrus_layout::{Location, ObjectBytes, ObjectId, Result, Tag};
use std::collections::HashMap;
use std::ops::Range;

/// Tasks whose requests are merged with each other.
const BATCH: usize = 4096;

/// What is done with bytes when they have arrived.
enum RemoteTask<'out> {
    /// An encoded chunk.
    Chunk(ChunkTask<'out>),
    /// A run of plain bytes of a chunk.
    Run { unit: ByteRun<'out>, place: RunPlace, cell: Box<[u64]>, is_chunk: bool, first: bool },
}

/// Bytes of an object that a task needs; no range means the whole object.
type WantedBytes<'out> = (ObjectId, Option<Range<u64>>, RemoteTask<'out>);

/// An answer that has arrived, with its task and its share of the memory.
struct ArrivedAnswer<'out> {
    request: MergedRequest<RemoteTask<'out>>,
    blob: Option<ObjectBytes>,
    share: Option<MemoryPermit>,
}

impl VariableRead<'_> {
    /// Does all tasks.
    pub(super) async fn run_remote(&self, mut jobs: Vec<ChunkTask<'_>>, fill: &[u8]) -> Result<()> {
        while !jobs.is_empty() {
            let rest = jobs.split_off(BATCH.min(jobs.len()));
            self.run_batch(jobs, fill).await?;
            jobs = rest;
        }
        Ok(())
    }

    async fn run_batch(&self, jobs: Vec<ChunkTask<'_>>, fill: &[u8]) -> Result<()> {
        let facts = self.context.snapshot.store().facts();
        let requested = self.ask(jobs, fill)?;
        let requests = merge(requested, facts.merge_gap, facts.range_cap);
        let memory = &self.context.shared.memory;
        let limits = InFlight::at_most(facts.concurrency.saturating_mul(2).max(2));
        let begin = |request, share| Ok(self.fetch_request(request, share));
        let mut seen = HashMap::new();
        let finish = |arrived: Vec<Result<ArrivedAnswer<'_>>>| {
            self.finish(arrived.into_iter().collect::<Result<_>>()?, fill, &mut seen)
        };
        limits.within(memory, FirstRequest::Waits).run(requests, request_cost, begin, finish).await
    }

    /// Does what needs no fetching, and returns the bytes that the rest needs.
    fn ask<'out>(&self, jobs: Vec<ChunkTask<'out>>, fill: &[u8]) -> Result<Vec<WantedBytes<'out>>> {
        let gap = self.context.snapshot.store().facts().merge_gap;
        let gap = usize::try_from(gap).unwrap_or(usize::MAX);
        let mut requested = Vec::new();
        let mut at_hand = Vec::new();
        for mut job in jobs {
            if self.serve_from_cache(&mut job)? {
                continue;
            }
            match &job.work {
                ChunkSource::Encoded { location: Location::Object(object), .. } => {
                    requested.push((object.clone(), None, RemoteTask::Chunk(job)));
                }
                ChunkSource::Encoded { location: Location::Bytes(object, range), .. } => {
                    requested.push((object.clone(), Some(range.clone()), RemoteTask::Chunk(job)));
                }
                ChunkSource::Encoded { .. } | ChunkSource::Fill => at_hand.push(job),
                ChunkSource::Plain { .. } | ChunkSource::Rows { .. } => {
                    self.ask_runs(job, gap, fill, &mut requested)?;
                }
            }
        }
        self.finish_at_hand(at_hand, fill)?;
        Ok(requested)
    }

    /// Requests the runs of plain bytes that a task needs; those that were never written are filled.
    fn ask_runs<'out>(
        &self,
        job: ChunkTask<'out>,
        gap: usize,
        fill: &[u8],
        requested: &mut Vec<WantedBytes<'out>>,
    ) -> Result<()> {
        let (cell, is_chunk) = (job.cell.clone(), job.chunk().is_some());
        for (at, mut unit) in job.into_units(gap)?.into_iter().enumerate() {
            let Some(place) = unit.place.clone() else {
                self.fill(&mut unit.target, fill);
                continue;
            };
            let (object, range) = (place.object.clone(), place.range.clone());
            let task = RemoteTask::Run { unit, place, cell: cell.clone(), is_chunk, first: at == 0 };
            requested.push((object, Some(range), task));
        }
        Ok(())
    }

    /// Does the tasks that need no fetching: fill, and chunks in the metadata.
    fn finish_at_hand(&self, jobs: Vec<ChunkTask<'_>>, fill: &[u8]) -> Result<()> {
        self.context.shared.for_each(jobs, usize::MAX, |mut job, worker| {
            let inline = match &job.work {
                ChunkSource::Encoded { location: Location::Inline(bytes), .. } => Some(bytes.clone()),
                _ => None,
            };
            match inline {
                Some(bytes) => {
                    let decoded = self.decode(&mut job, &bytes, worker);
                    decoded.map_err(|error| error.at_chunk(&job.cell))
                }
                None => {
                    self.fill(&mut job.target, fill);
                    Ok(())
                }
            }
        })
    }

    async fn fetch_request<'out>(
        &self,
        request: MergedRequest<RemoteTask<'out>>,
        share: Option<MemoryPermit>,
    ) -> Result<ArrivedAnswer<'out>> {
        self.context.snapshot.check_store(&request.object)?;
        request.check_len(&self.context.shared.limits)?;
        let fetched = fetch_range(&self.context, &request.object, request.range.as_ref()).await;
        let blob = fetched.map_err(|error| error.at_object(&request.object))?;
        Ok(ArrivedAnswer { request, blob, share })
    }

    /// Decodes and scatters what has arrived, on all cores.
    fn finish(
        &self,
        arrived: Vec<ArrivedAnswer<'_>>,
        fill: &[u8],
        seen: &mut HashMap<ObjectId, Tag>,
    ) -> Result<()> {
        let mut tasks = Vec::new();
        let mut shares = Vec::new();
        for ArrivedAnswer { request, blob, share } in arrived {
            if let Some(blob) = blob.as_ref().filter(|_| request.range.is_some()) {
                self.check_state(&request, blob, seen)?;
            }
            shares.push(share);
            tasks.extend(request.requesters.into_iter().map(|(range, task)| (range, task, blob.clone())));
        }
        self.context.shared.for_each(tasks, usize::MAX, |(range, task, blob), worker| {
            let cell = task.cell();
            let done = self.finish_task(range.as_ref(), task, blob, fill, worker);
            done.map_err(|error| match cell {
                Some(cell) => error.at_chunk(&cell),
                None => error,
            })
        })
    }

    /// Checks that ranges of one object have the same tag: for a file that of first touch, for a chunk that of its
    /// other ranges.
    fn check_state(
        &self,
        request: &MergedRequest<RemoteTask<'_>>,
        blob: &ObjectBytes,
        seen: &mut HashMap<ObjectId, Tag>,
    ) -> Result<()> {
        if request.requesters.iter().any(|(_, task)| task.is_shared()) {
            return self.context.snapshot.check(&request.object, &blob.tag);
        }
        match seen.get(&request.object) {
            Some(tag) if *tag != blob.tag => return Err(changed(&request.object)),
            Some(_) => {}
            None => _ = seen.insert(request.object.clone(), blob.tag.clone()),
        }
        Ok(())
    }

    fn finish_task(
        &self,
        range: Option<&Range<u64>>,
        task: RemoteTask<'_>,
        blob: Option<ObjectBytes>,
        fill: &[u8],
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        let size = blob.as_ref().map(|blob| blob.size);
        let bytes = blob.map(|blob| part_of(&blob, range));
        match task {
            RemoteTask::Chunk(mut job) => {
                let ChunkSource::Encoded { location, .. } = &job.work else { return Ok(()) };
                let location = location.clone();
                let done = match (bytes, &location) {
                    (Some(bytes), _) => {
                        check_len(&bytes, range).and_then(|()| self.decode(&mut job, &bytes, worker))
                    }
                    (None, Location::Object(_)) => {
                        self.note_missing(&job.cell).map(|()| self.fill(&mut job.target, fill))
                    }
                    (None, Location::Bytes(object, _)) => Err(absent_object(object)),
                    (None, _) => Ok(()),
                };
                done.map_err(|error| at_location(error, &location))
            }
            RemoteTask::Run { mut unit, place, cell, first, .. } => {
                let done = match bytes {
                    Some(bytes) => {
                        let surplus = place.surplus(size).filter(|_| first);
                        self.check_surplus(surplus).and_then(|()| self.copy_run(&mut unit, &bytes, worker))
                    }
                    None if place.must_exist => Err(absent_object(&place.object)),
                    None => {
                        self.fill(&mut unit.target, fill);
                        // Several runs may be of one chunk, which is missing once.
                        if first { self.note_missing(&cell) } else { Ok(()) }
                    }
                };
                done.map_err(|error| error.at_object(&place.object).at_offset(place.range.start))
            }
        }
    }

    fn copy_run(&self, unit: &mut ByteRun<'_>, bytes: &Bytes, worker: &mut WorkerBuffers) -> Result<()> {
        if bytes.len() == unit.len && !self.bound.repairs() {
            return self.copy(&mut unit.target.part, bytes);
        }
        let stored = sized(&mut worker.decoded, unit.len);
        let have = bytes.len().min(unit.len);
        stored[..have].copy_from_slice(&bytes[..have]);
        self.copy_stored(&mut unit.target.part, stored, have)
    }
}

impl RemoteTask<'_> {
    fn cell(&self) -> Option<Box<[u64]>> {
        match self {
            Self::Chunk(job) => Some(job.cell.clone()),
            Self::Run { cell, is_chunk, .. } => is_chunk.then(|| cell.clone()),
        }
    }

    /// Whether the object holds more than this chunk, so that its tag must be that of first touch.
    fn is_shared(&self) -> bool {
        match self {
            Self::Chunk(job) => job.shared_objects().next().is_some(),
            Self::Run { place, .. } => place.must_exist,
        }
    }

    /// Bytes of memory for the decoded chunk.
    fn decoded_len(&self) -> usize {
        match self {
            Self::Chunk(job) => job.cost() / 2,
            Self::Run { .. } => 0,
        }
    }
}

/// Bytes of memory that a request takes until it is finished: those that it fetches, and one decoded chunk.
fn request_cost(request: &MergedRequest<RemoteTask<'_>>) -> usize {
    let decoded = request.requesters.iter().map(|(_, task)| task.decoded_len()).max().unwrap_or(0);
    let encoded = match &request.range {
        Some(range) => usize::try_from(range.end.saturating_sub(range.start)).unwrap_or(usize::MAX),
        None => decoded,
    };
    encoded.saturating_add(decoded)
}

/// The bytes of a range, as far as an answer has them.
pub(crate) fn part_of(blob: &ObjectBytes, range: Option<&Range<u64>>) -> Bytes {
    let Some(range) = range else { return blob.bytes.clone() };
    let at = |offset: u64| {
        usize::try_from(offset.saturating_sub(blob.offset))
            .map_or(blob.bytes.len(), |at| at.min(blob.bytes.len()))
    };
    blob.bytes.slice(at(range.start)..at(range.end).max(at(range.start)))
}

fn check_len(bytes: &Bytes, range: Option<&Range<u64>>) -> Result<()> {
    let len = range.map_or(0, |range| usize::try_from(range.end - range.start).unwrap_or(usize::MAX));
    if bytes.len() < len { Err(cut_short(bytes.len(), len)) } else { Ok(()) }
}
