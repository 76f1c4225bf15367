//! Which requests a round of needs becomes.
use crate::cache::{Entry, Held, Snapshot};
use crate::merge::{merge, split};
use ncirrus_layout::{Need, Needs, ObjectId, VariableRef, Want};
use ncirrus_model::Selection;
use ncirrus_store::Facts;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Needs by kind, without repetitions and without what is there already.
#[derive(Default)]
pub(super) struct Sorted {
    objects: BTreeMap<ObjectId, Ranges>,
    pub(super) listings: Vec<(ObjectId, Option<String>)>,
    pub(super) values: Vec<(VariableRef, Selection)>,
}

/// What is needed of one object.
#[derive(Debug, Clone, Default)]
struct Ranges {
    whole: bool,
    suffixes: Vec<u64>,
    exact: Vec<Range<u64>>,
    parse: Vec<Range<u64>>,
}

/// What is known of an object before a round.
#[derive(Debug, Clone)]
struct State {
    size: Option<u64>,
    /// What is there already, ascending: nothing of it need come along.
    there: Vec<Range<u64>>,
    /// Bytes that reads of unknown extent may be widened by in this round, together.
    allowance: u64,
}

impl Sorted {
    pub(super) fn new(needs: &Needs, snapshot: &Snapshot, held: &mut Held) -> Self {
        let mut sorted = Self::default();
        for need in needs.iter() {
            match need {
                Need::Object { object, want } => sorted.add(object, want, snapshot, held),
                Need::Decoded { object, range, .. } => {
                    sorted.add(object, &Want::Range(range.clone()), snapshot, held);
                }
                Need::Values { variable, selection } => {
                    sorted.values.push((variable.clone(), selection.clone()));
                }
                Need::List { prefix, page } => {
                    let key = (prefix.clone(), page.clone());
                    if !held.listings.contains_key(&key) && !sorted.listings.contains(&key) {
                        sorted.listings.push(key);
                    }
                }
            }
        }
        sorted
    }

    pub(super) fn is_empty(&self) -> bool {
        self.objects.is_empty() && self.listings.is_empty() && self.values.is_empty()
    }

    fn add(&mut self, object: &ObjectId, want: &Want, snapshot: &Snapshot, held: &mut Held) {
        if held.find(snapshot, object, want).is_some() {
            return;
        }
        let ranges = self.objects.entry(object.clone()).or_default();
        match want {
            Want::All => ranges.whole = true,
            Want::Suffix(len) => ranges.suffixes.push(*len),
            Want::Range(range) => ranges.exact.push(non_empty(range)),
            Want::Parse(range) => ranges.parse.push(non_empty(range)),
        }
    }

    /// The requests to make. Of what the index cache has, only the state is asked for.
    pub(super) fn requests(
        &self,
        snapshot: &Snapshot,
        held: &Held,
        recalled: &mut HashMap<ObjectId, Entry>,
    ) -> Vec<(ObjectId, Want)> {
        let facts = snapshot.store().facts();
        let mut requests = Vec::new();
        for (object, ranges) in &self.objects {
            if let Some(entry) = snapshot.recall(object) {
                recalled.insert(object.clone(), entry);
                requests.push((object.clone(), Want::Range(0..1)));
                continue;
            }
            let allowance = if ranges.parse.is_empty() { 0 } else { snapshot.next_block(object) };
            let there = if ranges.parse.is_empty() { Vec::new() } else { held.blocks(snapshot, object) };
            let state = State { size: held.size(snapshot, object), there, allowance };
            requests.extend(ranges.requests(object, &state, &facts));
        }
        requests
    }
}

impl Ranges {
    /// Reads of unknown extent widened, near ranges joined, long ones cut; what is known to be small is taken whole.
    fn requests(&self, object: &ObjectId, state: &State, facts: &Facts) -> Vec<(ObjectId, Want)> {
        let request = |want| (object.clone(), want);
        let is_small = state.size.is_some_and(|size| size <= SMALL_OBJECT);
        let has_ranges = !self.exact.is_empty() || !self.parse.is_empty();
        if self.whole || (is_small && has_ranges) {
            return vec![request(Want::All)];
        }
        let mut suffixes = self.suffixes.clone();
        suffixes.sort_unstable();
        suffixes.dedup();
        let mut requests: Vec<_> = suffixes.into_iter().map(|len| request(Want::Suffix(len))).collect();
        let mut ranges = widen(self.parse.clone(), state);
        ranges.extend(self.exact.iter().cloned());
        // All gaps together stay bounded: a request more is cheaper than the megabytes between many.
        let gap = facts.merge_gap.min((ROUND_GAPS / (ranges.len() as u64).max(1)).max(LEAST_BLOCK));
        let ranges = ranges.into_iter().map(|range| (object.clone(), Some(range), ())).collect();
        for merged in merge(ranges, gap, facts.range_cap) {
            let Some(range) = merged.range else { continue };
            requests.extend(split(&range, facts.range_cap).map(|part| request(Want::Range(part))));
        }
        requests
    }
}

/// Joins reads of unknown extent that lie within one block, and widens each group by its share of the allowance. The
/// block is the longest of which all groups together may have one: the allowance for one group alone, less for many,
/// but never less than [`LEAST_BLOCK`].
fn widen(mut parse: Vec<Range<u64>>, state: &State) -> Vec<Range<u64>> {
    let allowance = state.allowance;
    parse.sort_unstable_by_key(|range| (range.start, range.end));
    let mut block = allowance.max(LEAST_BLOCK);
    let mut groups = group(&parse, block);
    while block > LEAST_BLOCK && (groups.len() as u64).saturating_mul(block) > allowance {
        block = (block / 2).max(LEAST_BLOCK);
        groups = group(&parse, block);
    }
    let share = allowance.checked_div(groups.len() as u64).unwrap_or(0).max(LEAST_BLOCK);
    for group in &mut groups {
        let next = state.there.get(state.there.partition_point(|block| block.start < group.end));
        let room = next.map_or(u64::MAX, |block| block.start).min(state.size.unwrap_or(u64::MAX));
        group.end = group.end.max(group.start.saturating_add(share).min(room));
    }
    groups
}

/// Joins those of the sorted ranges that start within `block` bytes of the first of their group.
fn group(ranges: &[Range<u64>], block: u64) -> Vec<Range<u64>> {
    let mut groups: Vec<Range<u64>> = Vec::new();
    for range in ranges {
        match groups.last_mut() {
            Some(last) if range.start - last.start < block || range.start <= last.end => {
                last.end = last.end.max(range.end);
            }
            _ => groups.push(range.clone()),
        }
    }
    groups
}

/// Asking for no bytes asks whether the object exists.
fn non_empty(range: &Range<u64>) -> Range<u64> {
    range.start..range.end.max(range.start.saturating_add(1))
}

/// The least that a read of unknown extent is widened to.
const LEAST_BLOCK: u64 = 4 << 10;
/// Objects of at most so many bytes are taken whole when they are touched again.
const SMALL_OBJECT: u64 = 1 << 20;
/// Bytes between what is needed that come along in one round.
const ROUND_GAPS: u64 = 4 << 20;

#[cfg(test)]
mod tests;
