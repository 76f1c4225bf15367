//! The writes of a file that go on behind the caller.
use crate::{Region, Selection, SessionTask, VarId};
use bytes::Bytes;
use futures_util::future::Shared;
use std::collections::VecDeque;
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The writes of a file that are not done yet.
#[derive(Debug, Default)]
pub(super) struct PutsBehind {
    /// Those for which no other one waits, in their order.
    waiting: Mutex<VecDeque<WaitingPut>>,
    /// Whether there are any.
    pub(super) is_there: AtomicBool,
    /// Whether they may add records.
    pub(super) is_growing: AtomicBool,
    /// Bytes of values that they hold.
    pub(super) held: Arc<AtomicUsize>,
    spare: Arc<SpareBuffers>,
}

/// A write that goes on.
#[derive(Debug)]
pub(super) struct WaitingPut {
    /// What it changes.
    pub(super) reach: PutReach,
    /// Its end.
    pub(super) done: PutTask,
}

/// The end of a write, and of those that it waited for.
pub(super) type PutTask = Shared<SessionTask<()>>;

/// What a write changes.
#[derive(Debug)]
pub(super) struct PutReach {
    var: VarId,
    /// `None` if it is not a box.
    region: Option<Region>,
}

impl PutReach {
    /// What a write of a selection changes.
    pub(super) fn new(var: VarId, selection: &Selection) -> Self {
        Self { var, region: selection.as_region() }
    }

    /// Whether both may change an element.
    fn meets(&self, other: &Self) -> bool {
        let is_apart = |(one, other): (&Region, &Region)| one.intersect(other).is_none();
        self.var == other.var && !self.region.as_ref().zip(other.region.as_ref()).is_some_and(is_apart)
    }
}

/// Those that a write has to wait for: all if it changes what one of them does, and one if they are as many as go on at once. No other
/// waits for these.
pub(super) fn take_before(waiting: &mut VecDeque<WaitingPut>, reach: &PutReach, max: usize) -> Vec<PutTask> {
    let has_overlap = waiting.iter().any(|put| put.reach.meets(reach));
    let taken = if has_overlap { waiting.len() } else { (waiting.len() + 1).saturating_sub(max) };
    waiting.drain(..taken).map(|put| put.done).collect()
}

/// Memory of writes that are done, for those that come.
#[derive(Debug, Default)]
struct SpareBuffers(Mutex<SpareList>);

#[derive(Debug, Default)]
struct SpareList {
    buffers: Vec<Vec<u8>>,
    /// What they take together.
    len: usize,
}

/// Values that wait to be written.
struct WaitingValues {
    bytes: Vec<u8>,
    home: Arc<SpareBuffers>,
}

/// Bytes of memory that is kept for others.
const MAX_SPARE: usize = 16 << 20;

impl SpareBuffers {
    fn take(&self) -> Vec<u8> {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let buffer = spare.buffers.pop().unwrap_or_default();
        spare.len -= buffer.capacity();
        buffer
    }

    fn keep(&self, mut buffer: Vec<u8>) {
        let mut spare = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if spare.len + buffer.capacity() <= MAX_SPARE {
            buffer.clear();
            spare.len += buffer.capacity();
            spare.buffers.push(buffer);
        }
    }
}

impl AsRef<[u8]> for WaitingValues {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl Drop for WaitingValues {
    fn drop(&mut self) {
        self.home.keep(std::mem::take(&mut self.bytes));
    }
}

impl PutsBehind {
    /// Those that are not done yet, for one call alone.
    pub(super) fn waiting(&self) -> MutexGuard<'_, VecDeque<WaitingPut>> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A copy of values, in memory that is used again.
    pub(super) fn copy_of(&self, values: &[u8]) -> Bytes {
        let mut bytes = self.spare.take();
        bytes.extend_from_slice(values);
        Bytes::from_owner(WaitingValues { bytes, home: Arc::clone(&self.spare) })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::FutureExt;

    fn put(var: VarId, start: [u64; 2], count: [u64; 2]) -> WaitingPut {
        let session = crate::Session::new().unwrap();
        let reach = PutReach::new(var, &Selection::slab(&start, &count));
        WaitingPut { reach, done: session.spawn(async { Ok(()) }).unwrap().shared() }
    }

    #[test]
    fn memory_of_values_that_were_written_is_used_again_and_bounded() {
        let puts = PutsBehind::default();
        let first = puts.copy_of(&[7; 1000]);
        assert_eq!(&first[..], [7; 1000]);
        let place = first.as_ptr();
        drop(first);
        let second = puts.copy_of(&[8; 500]);
        assert_eq!((second.as_ptr(), &second[..]), (place, &[8; 500][..]));
        let large = vec![9; MAX_SPARE / 2];
        drop([0; 3].map(|_| puts.copy_of(&large)));
        drop(second);
        let spare = puts.spare.0.lock().unwrap();
        assert_eq!(spare.len, spare.buffers.iter().map(Vec::capacity).sum::<usize>());
        assert!(spare.len <= MAX_SPARE && spare.buffers.len() >= 2, "{}", spare.buffers.len());
    }

    #[test]
    fn writes_of_the_same_elements_wait_for_all_others_for_one_if_many_go_on() {
        let mut model = crate::model::Model::new();
        let [a, b] = ["a", "b"]
            .map(|name| model.add_variable(model.root(), name, crate::Atomic::Int.into(), &[]).unwrap());
        let mut waiting = VecDeque::new();
        let mut waited_of = |var, start, count| {
            let next = put(var, start, count);
            let before = take_before(&mut waiting, &next.reach, 3).len();
            waiting.push_back(next);
            before
        };
        let mut waited = |start, count| waited_of(a, start, count);
        let boxes = [[0, 0], [0, 10], [10, 0], [10, 10], [20, 0]];
        assert_eq!(boxes.map(|start| waited(start, [10, 10])), [0, 0, 0, 1, 1]);
        assert_eq!(waited([15, 15], [10, 10]), 3, "it meets one of them");
        assert_eq!(waited([15, 25], [10, 1]), 0);
        assert_eq!(waited([0, 26], [30, 1]), 0);
        assert_eq!(waited([24, 20], [1, 6]), 3);
        assert_eq!(waited_of(b, [24, 20], [1, 6]), 0, "it is of another variable");
    }
}
