//! Small chunks that are close to each other in one object, as in a shard: they are read together and decoded one by one. Opening
//! an object for each of them would take longer than decoding it.
use super::{absent_object, cut_short};
use crate::read::VariableRead;
use crate::read::chunk_task::{ChunkSource, ChunkTask, sized};
use crate::request_log;
use crate::resources::WorkerBuffers;
use ncirrus_layout::{Error, Location, ObjectId, Result};
use ncirrus_store::LocalStore;
use std::ops::Range;

/// Stored bytes up to which a chunk is read with others.
const SMALL: u64 = 32 << 10;
/// Bytes that are read together.
const SPAN: u64 = 256 << 10;
/// Bytes that may be read in vain, besides as many as are needed.
const GAP: u64 = 4 << 10;
/// Decoded bytes of a group: more are divided between threads.
const COST: usize = 4 << 20;

/// Tasks that one thread does one after the other. They stay in the group when they are done, unless they are taken out: the
/// thread that made them drops them. If the others did, they would wait for each other to give memory back to the heap of that
/// thread, some times for each chunk.
#[expect(
    clippy::large_enum_variant,
    reason = "most groups are one task: a box would be one more allocation for each"
)]
pub(super) enum TaskGroup<'out> {
    /// One task, until it is taken out.
    One(Option<ChunkTask<'out>>),
    /// Small chunks that are close to each other in one object.
    Several(Vec<ChunkTask<'out>>),
}

impl<'out> TaskGroup<'out> {
    fn one(task: ChunkTask<'out>) -> Self {
        Self::One(Some(task))
    }

    fn of(mut tasks: Vec<ChunkTask<'out>>) -> Self {
        if tasks.len() > 1 { Self::Several(tasks) } else { Self::One(tasks.pop()) }
    }
}

/// Divides tasks into groups: small chunks that are close to each other, and every other task alone. There are several groups
/// for each of the threads. No group spans more than `most` bytes, the limit of one chunk.
pub(super) fn grouped(tasks: Vec<ChunkTask<'_>>, threads: usize, most: u64) -> Vec<TaskGroup<'_>> {
    let longest = tasks.len() / threads.max(1).saturating_mul(4);
    if longest < 2 || !tasks.iter().any(|task| place(task).is_some()) {
        return tasks.into_iter().map(TaskGroup::one).collect();
    }
    let (mut small, others): (Vec<_>, Vec<_>) = tasks.into_iter().partition(|task| place(task).is_some());
    small.sort_by(|one, other| order(one).cmp(&order(other)));
    let mut groups: Vec<Vec<ChunkTask<'_>>> = Vec::new();
    let mut open = GroupBounds::default();
    for task in small {
        match groups.last_mut() {
            Some(group) if group.len() < longest && open.takes(group.first(), &task, most) => {
                group.push(task);
            }
            _ => {
                open = GroupBounds::of(&task);
                groups.push(vec![task]);
            }
        }
    }
    groups.into_iter().map(TaskGroup::of).chain(others.into_iter().map(TaskGroup::one)).collect()
}

/// What a group has.
#[derive(Debug, Default)]
struct GroupBounds {
    start: u64,
    end: u64,
    wanted: u64,
    cost: usize,
}

impl GroupBounds {
    fn of(task: &ChunkTask<'_>) -> Self {
        let range = place(task).map_or(0..0, |(_, range)| range.clone());
        Self { start: range.start, end: range.end, wanted: range.end - range.start, cost: task.cost() }
    }

    /// Adds a task if it fits. Tasks come in the order of their bytes.
    fn takes(&mut self, first: Option<&ChunkTask<'_>>, task: &ChunkTask<'_>, most: u64) -> bool {
        let (Some((object, range)), Some((of_group, _))) = (place(task), first.and_then(place)) else {
            return false;
        };
        let end = self.end.max(range.end);
        let wanted = self.wanted.saturating_add(range.end.saturating_sub(range.start));
        let cost = self.cost.saturating_add(task.cost());
        let span = end.saturating_sub(self.start);
        let fits = object == of_group
            && span <= SPAN.min(most)
            && span <= wanted.saturating_mul(2).saturating_add(GAP)
            && cost <= COST;
        if fits {
            (self.end, self.wanted, self.cost) = (end, wanted, cost);
        }
        fits
    }
}

/// Where a small chunk is, if it is a part of an object.
fn place<'a>(task: &'a ChunkTask<'_>) -> Option<(&'a ObjectId, &'a Range<u64>)> {
    match &task.work {
        ChunkSource::Encoded { location: Location::Bytes(object, range), .. } => {
            let is_small = range.end.checked_sub(range.start).is_some_and(|len| len <= SMALL);
            is_small.then_some((object, range))
        }
        _ => None,
    }
}

fn order<'a>(task: &'a ChunkTask<'_>) -> Option<(&'a ObjectId, u64)> {
    place(task).map(|(object, range)| (object, range.start))
}

impl VariableRead<'_> {
    /// Does the tasks of a group of several small chunks of one object.
    pub(super) fn run_group(
        &self,
        store: &dyn LocalStore,
        tasks: &mut Vec<ChunkTask<'_>>,
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        let mut served = Ok(());
        tasks.retain_mut(|task| match self.serve_from_cache(task) {
            Ok(is_served) => !is_served,
            Err(error) => {
                served = Err(error.at_chunk(&task.cell));
                false
            }
        });
        served?;
        let mut encoded = std::mem::take(&mut worker.encoded);
        let done = self.read_group(store, tasks, &mut encoded, worker);
        worker.encoded = encoded;
        done
    }

    fn read_group(
        &self,
        store: &dyn LocalStore,
        tasks: &mut [ChunkTask<'_>],
        encoded: &mut Vec<u8>,
        worker: &mut WorkerBuffers,
    ) -> Result<()> {
        let Some((object, _)) = tasks.first().and_then(place) else { return Ok(()) };
        let object = object.clone();
        let ranges = || tasks.iter().filter_map(place).map(|(_, range)| range);
        let start = ranges().map(|range| range.start).min().unwrap_or(0);
        let end = ranges().map(|range| range.end).max().unwrap_or(start);
        self.context.snapshot.check_store(&object)?;
        let len = self.context.shared.limits.chunk_len(end.saturating_sub(start), "stored chunks")?;
        let read = store.read_into(&object, start, sized(encoded, len))?;
        request_log::read_locally(&object, Some(&(start..end)), read);
        let read = self.count_read(read).ok_or_else(|| absent_object(&object))?;
        for task in tasks {
            let Some((_, range)) = place(task) else { continue };
            let (range, bytes) = (range.clone(), part(encoded.get(..read), range, start));
            let done = bytes.and_then(|bytes| self.decode(task, bytes, worker));
            done.map_err(|error| error.at_object(&object).at_offset(range.start).at_chunk(&task.cell))?;
        }
        Ok(())
    }
}

/// The bytes of a chunk in those that were read from `start` on.
fn part<'a>(read: Option<&'a [u8]>, range: &Range<u64>, start: u64) -> Result<&'a [u8]> {
    let Some(read) = read else {
        return Err(Error::internal("more bytes were read than there is room for"));
    };
    let at = |offset: u64| usize::try_from(offset.saturating_sub(start)).unwrap_or(usize::MAX);
    let (from, to) = (at(range.start), at(range.end));
    read.get(from..to).ok_or_else(|| {
        cut_short(read.len().saturating_sub(from).min(to.saturating_sub(from)), to.saturating_sub(from))
    })
}
