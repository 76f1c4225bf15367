//! A cache of boxes that servers computed, for repeated small reads.
use hashlink::LinkedHashMap;
use ncirrus_layout::sequence::continued_axis;
use ncirrus_layout::{LockExt, QueryAxis, QueryBox};
use ncirrus_model::{Region, Values};
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::{Arc, Mutex};

/// Boxes of variables, up to a number of bytes. Servers report no state of a dataset: what is kept is as old as its opening
/// at most.
pub(crate) struct BoxCache {
    state: Mutex<BoxCacheState>,
    budget: usize,
}

#[derive(Default)]
struct BoxCacheState {
    /// Least recently used first, by number.
    entries: LinkedHashMap<u64, CachedBox>,
    variables: HashMap<VariableKey, VariableBoxes>,
    /// Openings whose variables were asked for together.
    batched: HashSet<u64>,
    /// Openings whose server refuses requests for several variables.
    alone: HashSet<u64>,
    /// Boxes that will be read, by opening, in order.
    expected: HashMap<u64, Vec<QueryBox>>,
    held: usize,
    next: u64,
    answers: u64,
}

/// Whether what is asked of the cache is done, or only planned: a plan changes nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Noting {
    /// A read: it is remembered.
    Read,
    /// A plan.
    Nothing,
}

/// The opening of a dataset, and the number of a variable in its source.
type VariableKey = (u64, usize);

#[derive(Default)]
struct VariableBoxes {
    numbers: Vec<u64>,
    /// The last boxes that were read, by any thread; the least recent one first.
    last: VecDeque<QueryBox>,
    /// Held while all of it is fetched.
    whole: Arc<WholeFetch>,
    /// Whether the server refuses to send all of it.
    refused: bool,
}

struct CachedBox {
    key: VariableKey,
    held: QueryBox,
    values: Arc<Values>,
    bytes: usize,
    /// The number of the answer that it came in.
    answer: u64,
}

/// Held while all of a variable is fetched.
pub(crate) type WholeFetch = tokio::sync::Mutex<()>;

/// Boxes of one variable that are searched.
const SEARCHED: usize = 64;
/// Reads of one variable that are remembered: those of about as many threads.
const REMEMBERED: usize = 32;

impl BoxCache {
    /// An empty cache of `budget` bytes.
    pub(crate) fn new(budget: usize) -> Self {
        Self { state: Mutex::default(), budget }
    }

    /// A box that holds all of this one, and its values.
    pub(crate) fn find(&self, opening: u64, wanted: &QueryBox) -> Option<(QueryBox, Arc<Values>)> {
        let mut state = self.state.guard();
        let boxes = state.variables.get(&(opening, wanted.variable))?;
        let holds =
            |number: &&u64| state.entries.get(*number).is_some_and(|entry| holds(&entry.held, wanted));
        let number = *boxes.numbers.iter().rev().take(SEARCHED).find(holds)?;
        let entry = state.entries.to_back(&number)?;
        Some((entry.held.clone(), Arc::clone(&entry.values)))
    }

    /// Whether a box is the next one after one that was read before, or all of its variable is being fetched anyway.
    pub(crate) fn is_next(&self, opening: u64, wanted: &QueryBox, noting: Noting) -> bool {
        let mut state = self.state.guard();
        let boxes = state.variables.entry((opening, wanted.variable)).or_default();
        let before = boxes.last.iter().position(|last| is_next(last, wanted));
        if noting == Noting::Read {
            let is_full = boxes.last.len() == REMEMBERED;
            if let Some(read) = before.or(is_full.then_some(0)) {
                boxes.last.remove(read);
            }
            boxes.last.push_back(wanted.clone());
        }
        (before.is_some() || boxes.whole.try_lock().is_err()) && !boxes.refused
    }

    /// What is held while all of a variable is fetched: others that need it wait for the same answer.
    pub(crate) fn whole_fetch(&self, opening: u64, variable: usize) -> Arc<WholeFetch> {
        Arc::clone(&self.state.guard().variables.entry((opening, variable)).or_default().whole)
    }

    /// Whether the whole of a variable was asked for in vain.
    pub(crate) fn is_refused(&self, opening: u64, variable: usize) -> bool {
        self.state.guard().variables.get(&(opening, variable)).is_some_and(|boxes| boxes.refused)
    }

    /// Notes that the whole of a variable was asked for in vain.
    pub(crate) fn note_refused(&self, opening: u64, variable: usize) {
        self.state.guard().variables.entry((opening, variable)).or_default().refused = true;
    }

    /// Notes that a request for several variables was made in vain.
    pub(crate) fn note_batch_refused(&self, opening: u64) {
        self.state.guard().alone.insert(opening);
    }

    /// Whether requests for several variables are made in vain.
    pub(crate) fn refuses_batches(&self, opening: u64) -> bool {
        self.state.guard().alone.contains(&opening)
    }

    /// Notes which boxes will be read.
    pub(crate) fn expect(&self, opening: u64, boxes: Vec<QueryBox>) {
        if self.budget > 0 {
            self.state.guard().expected.insert(opening, boxes);
        }
    }

    /// The expected boxes from that on which holds this one, as many of the rest as `window` says; once these are read,
    /// they are not expected any longer.
    pub(crate) fn expected(
        &self,
        opening: u64,
        requested: &QueryBox,
        window: impl Fn(&[QueryBox]) -> usize,
        noting: Noting,
    ) -> Vec<QueryBox> {
        let mut state = self.state.guard();
        let Some(boxes) = state.expected.get_mut(&opening) else { return Vec::new() };
        let Some(first) = boxes.iter().position(|expected| holds_box(expected, requested)) else {
            return Vec::new();
        };
        let rest = boxes.get(first..).unwrap_or_default();
        let end = first + window(rest).min(rest.len());
        match noting {
            Noting::Read => boxes.drain(first..end).collect(),
            Noting::Nothing => boxes.get(first..end).unwrap_or_default().to_vec(),
        }
    }

    /// The most bytes that are fetched ahead at once.
    pub(crate) fn max_at_once(&self) -> u64 {
        self.budget as u64 / 4
    }

    /// Whether a box of that many bytes is kept.
    pub(crate) fn takes(&self, requested: &QueryBox, bytes: usize) -> bool {
        bytes as u64 <= self.max_at_once() && requested.axes.iter().all(|axis| axis.stride == 1)
    }

    /// Whether the variables of an opening that belong together are asked for the first time.
    pub(crate) fn is_first_batch(&self, opening: u64, noting: Noting) -> bool {
        let batched = &mut self.state.guard().batched;
        match noting {
            Noting::Read => batched.insert(opening),
            Noting::Nothing => !batched.contains(&opening),
        }
    }

    /// Whether boxes are kept that came in one answer.
    pub(crate) fn came_together(&self, opening: u64, boxes: &[QueryBox]) -> bool {
        let state = self.state.guard();
        let answer = |wanted: &QueryBox| {
            let known = state.variables.get(&(opening, wanted.variable))?;
            let entries = known.numbers.iter().rev().filter_map(|number| state.entries.get(number));
            entries.into_iter().find(|entry| holds(&entry.held, wanted)).map(|entry| entry.answer)
        };
        let mut answers = boxes.iter().map(answer);
        let first = answers.next().flatten();
        first.is_some() && answers.all(|answer| answer == first)
    }

    /// Keeps boxes without strides that came in one answer: of each, its values and their bytes.
    pub(crate) fn keep(&self, opening: u64, boxes: impl IntoIterator<Item = (QueryBox, Arc<Values>, usize)>) {
        let mut state = self.state.guard();
        state.answers += 1;
        let answer = state.answers;
        for (held, values, bytes) in boxes {
            if self.takes(&held, bytes) {
                let key = (opening, held.variable);
                state.forget_box(key, &held);
                state.insert(CachedBox { key, held, values, bytes, answer });
            }
        }
        while state.held > self.budget
            && let Some((number, entry)) = state.entries.pop_front()
        {
            state.held -= entry.bytes;
            if let Some(boxes) = state.variables.get_mut(&entry.key) {
                boxes.numbers.retain(|other| *other != number);
            }
        }
    }

    /// Forgets the boxes of an opening.
    pub(crate) fn forget(&self, opening: u64) {
        let mut state = self.state.guard();
        state.entries.retain(|_, entry| entry.key.0 != opening);
        state.variables.retain(|key, _| key.0 != opening);
        state.batched.remove(&opening);
        state.alone.remove(&opening);
        state.expected.remove(&opening);
        state.held = state.entries.values().map(|entry| entry.bytes).sum();
    }
}

impl BoxCacheState {
    fn insert(&mut self, entry: CachedBox) {
        let number = self.next;
        self.next += 1;
        self.held += entry.bytes;
        self.variables.entry(entry.key).or_default().numbers.push(number);
        self.entries.insert(number, entry);
    }

    /// Forgets a box that comes again.
    fn forget_box(&mut self, key: VariableKey, held: &QueryBox) {
        let Some(boxes) = self.variables.get_mut(&key) else { return };
        let entries = &self.entries;
        let is_it = |number: &u64| entries.get(number).is_some_and(|entry| entry.held == *held);
        let Some(at) = boxes.numbers.iter().position(is_it) else { return };
        if let Some(entry) = self.entries.remove(&boxes.numbers.remove(at)) {
            self.held -= entry.bytes;
        }
    }
}

/// Whether a box holds another one of its variable.
pub(crate) fn holds_box(held: &QueryBox, wanted: &QueryBox) -> bool {
    let is_dense = held.axes.iter().all(|axis| axis.stride == 1);
    held == wanted || (held.variable == wanted.variable && is_dense && holds(held, wanted))
}

/// Whether a box without strides holds all elements of another one.
fn holds(held: &QueryBox, wanted: &QueryBox) -> bool {
    let inside = |(held, wanted): (&QueryAxis, &QueryAxis)| {
        let last = held.last().zip(wanted.last());
        held.start <= wanted.start && last.is_some_and(|(held, wanted)| wanted <= held)
    };
    held.axes.len() == wanted.axes.len() && held.axes.iter().zip(&wanted.axes).all(inside)
}

/// Whether a box continues another one along one axis.
fn is_next(last: &QueryBox, wanted: &QueryBox) -> bool {
    let region = |requested: &QueryBox| Region {
        start: requested.axes.iter().map(|axis| axis.start).collect(),
        count: requested.axes.iter().map(|axis| axis.count).collect(),
    };
    let strides = |requested: &QueryBox| requested.axes.iter().map(|axis| axis.stride).collect::<Vec<_>>();
    let axis = continued_axis(&region(last), &region(wanted));
    axis.and_then(|axis| wanted.axes.get(axis)).is_some_and(|axis| axis.stride == 1)
        && strides(last) == strides(wanted)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn requested(axes: &[(u64, u64)]) -> QueryBox {
        let axis = |(start, count): &(u64, u64)| QueryAxis { start: *start, count: *count, stride: 1 };
        QueryBox { variable: 3, axes: axes.iter().map(axis).collect() }
    }

    fn keep(cache: &BoxCache, opening: u64, held: QueryBox) {
        let count = usize::try_from(held.count()).unwrap();
        cache.keep(opening, [(held, Arc::new(Values::UByte(vec![0; count])), count)]);
    }

    #[test]
    fn a_box_is_found_inside_another_one_of_its_opening() {
        let cache = BoxCache::new(1000);
        keep(&cache, 1, requested(&[(2, 5), (0, 10)]));
        assert!(cache.find(1, &requested(&[(3, 4), (9, 1)])).is_some());
        for other in [requested(&[(1, 2), (0, 1)]), requested(&[(3, 5), (0, 1)]), requested(&[(2, 1)])] {
            assert!(cache.find(1, &other).is_none(), "{other:?}");
        }
        assert!(cache.find(2, &requested(&[(3, 1), (3, 1)])).is_none());
        cache.forget(1);
        assert!(cache.find(1, &requested(&[(3, 1), (3, 1)])).is_none());
    }

    #[test]
    fn boxes_came_together_until_one_of_them_comes_again() {
        let cache = BoxCache::new(1000);
        let column = |variable| QueryBox { variable, ..requested(&[(0, 10)]) };
        let kept = |variable| (column(variable), Arc::new(Values::UByte(vec![0; 10])), 10);
        cache.keep(1, [kept(0), kept(1)]);
        assert!(cache.came_together(1, &[column(0), column(1)]) && cache.came_together(1, &[column(1)]));
        assert!(!cache.came_together(1, &[column(0), column(2)]) && !cache.came_together(2, &[column(0)]));
        cache.keep(1, [kept(1)]);
        assert!(!cache.came_together(1, &[column(0), column(1)]) && cache.came_together(1, &[column(1)]));
        assert_eq!(cache.state.guard().held, 20, "what comes again is kept once");
    }

    #[test]
    fn the_least_recently_used_go_first() {
        let cache = BoxCache::new(100);
        (0..4).for_each(|at| keep(&cache, 1, requested(&[(at * 25, 25)])));
        assert!(cache.find(1, &requested(&[(0, 1)])).is_some());
        keep(&cache, 1, requested(&[(100, 25)]));
        assert!(cache.find(1, &requested(&[(0, 1)])).is_some());
        assert!(cache.find(1, &requested(&[(30, 1)])).is_none());
        // More than a quarter of it is not kept.
        keep(&cache, 1, requested(&[(200, 26)]));
        assert!(cache.find(1, &requested(&[(200, 1)])).is_none());
    }

    #[test]
    fn reads_that_go_on_along_an_axis_are_noticed() {
        let cache = BoxCache::new(100);
        let read = |axes: &[(u64, u64)]| cache.is_next(1, &requested(axes), Noting::Read);
        assert!(!read(&[(0, 1), (0, 9)]));
        // A plan does not read.
        (0..2).for_each(|_| assert!(cache.is_next(1, &requested(&[(1, 1), (0, 9)]), Noting::Nothing)));
        assert!(read(&[(1, 1), (0, 9)]));
        assert!(!read(&[(3, 1), (0, 9)]));
        assert!(!read(&[(4, 1), (0, 8)]));
        assert!(!read(&[(4, 1), (0, 8)]));
        // Another thread reads elsewhere.
        assert!(!read(&[(50, 1), (0, 9)]) && read(&[(4, 1), (0, 9)]) && read(&[(51, 1), (0, 9)]));
        (0..100).for_each(|at| assert!(!read(&[(1000 + 2 * at, 1), (0, 9)])));
        assert!(!read(&[(52, 1), (0, 9)]), "forgotten");
        let whole = cache.whole_fetch(1, 3);
        let fetching = whole.try_lock().unwrap();
        assert!(
            read(&[(70, 1), (0, 9)]) && !cache.is_next(2, &requested(&[(70, 1), (0, 9)]), Noting::Nothing)
        );
        drop(fetching);
        assert!(!read(&[(80, 1), (0, 9)]));
        let is_first = |opening, noting| cache.is_first_batch(opening, noting);
        assert!(is_first(1, Noting::Nothing) && is_first(1, Noting::Read) && !is_first(1, Noting::Read));
        assert!(!is_first(1, Noting::Nothing) && is_first(2, Noting::Read));
    }

    #[test]
    fn what_was_announced_is_taken_once_and_only_by_reads() {
        let cache = BoxCache::new(100);
        let boxes: Vec<QueryBox> = (0..4).map(|at| requested(&[(at * 10, 10)])).collect();
        cache.expect(1, boxes.clone());
        let taken = |noting| cache.expected(1, &requested(&[(12, 3)]), |rest| rest.len() - 1, noting);
        assert_eq!(taken(Noting::Nothing), boxes[1..3]);
        assert_eq!(taken(Noting::Read), boxes[1..3]);
        assert!(taken(Noting::Read).is_empty());
        assert_eq!(cache.expected(1, &boxes[3], <[_]>::len, Noting::Read), boxes[3..]);
    }
}
