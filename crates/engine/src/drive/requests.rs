//! Turns the needs of a round into requests.
use crate::merge::{merge, split};
use crate::snapshot::{PinnedBytes, ReadRound, StoreSnapshot};
use ncirrus_layout::{Need, Needs, ObjectId, VariableRef, Want};
use ncirrus_model::Selection;
use ncirrus_store::StoreFacts;
use ncirrus_store::cache::CacheEntry;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Needs by kind, without duplicates and without what is already cached.
#[derive(Default)]
pub(super) struct SortedNeeds {
    objects: BTreeMap<ObjectId, ObjectRanges>,
    pub(super) listings: Vec<(ObjectId, Option<String>)>,
    pub(super) values: Vec<(VariableRef, Selection)>,
}

/// What is needed of one object.
#[derive(Debug, Clone, Default)]
struct ObjectRanges {
    whole: bool,
    suffixes: Vec<u64>,
    exact: Vec<Range<u64>>,
    parse: Vec<Range<u64>>,
}

/// What is known of an object before a round.
#[derive(Debug, Clone)]
struct ObjectState {
    size: Option<u64>,
    /// The ranges that are already cached, ascending: they need not be fetched again.
    there: Vec<Range<u64>>,
    /// Bytes by which reads of unknown extent may be widened in this round, in total.
    allowance: u64,
}

impl SortedNeeds {
    pub(super) fn new(needs: &Needs, snapshot: &StoreSnapshot, held: &mut PinnedBytes) -> Self {
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

    fn add(&mut self, object: &ObjectId, want: &Want, snapshot: &StoreSnapshot, held: &mut PinnedBytes) {
        if held.find(snapshot, object, want).is_some() {
            return;
        }
        let ranges = self.objects.entry(object.clone()).or_default();
        match want {
            Want::All | Want::AtMost(_) => ranges.whole = true,
            Want::Suffix(len) => ranges.suffixes.push(*len),
            Want::Range(range) => ranges.exact.push(non_empty(range)),
            Want::Parse(range) => ranges.parse.push(non_empty(range)),
        }
    }

    /// The requests to make. For objects in the index cache, only the tag is requested.
    pub(super) fn requests(
        &self,
        snapshot: &StoreSnapshot,
        held: &PinnedBytes,
        recalled: &mut HashMap<ObjectId, CacheEntry>,
    ) -> Vec<(ObjectId, Want)> {
        let facts = snapshot.store().facts();
        let mut requests = Vec::new();
        for (object, ranges) in &self.objects {
            if let Some(entry) = snapshot.recall(object) {
                recalled.insert(object.clone(), entry);
                requests.push((object.clone(), Want::Range(0..1)));
                continue;
            }
            let size = held.size(snapshot, object);
            let mut state = ObjectState { size, there: Vec::new(), allowance: 0 };
            if !ranges.parse.is_empty() {
                let places = ranges.places();
                state.allowance = allowance(snapshot.next_round(object, places > FEW_PLACES), places, &facts);
                state.there = held.blocks(snapshot, object);
            }
            requests.extend(ranges.requests(object, &state, &facts));
        }
        requests
    }
}

impl ObjectRanges {
    /// Reads of unknown extent widened, near ranges merged, long ones cut; objects known to be small are fetched whole.
    fn requests(&self, object: &ObjectId, state: &ObjectState, facts: &StoreFacts) -> Vec<(ObjectId, Want)> {
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
        if let Some(rest) = self.rest(&ranges, state) {
            requests.extend(
                rest.iter()
                    .flat_map(|part| split(part, REST_BLOCK.min(facts.range_cap)))
                    .map(|part| request(Want::Range(part))),
            );
            return requests;
        }
        ranges.extend(self.exact.iter().cloned());
        // All gaps together stay bounded: another request is cheaper than megabytes between many ranges.
        let gap = facts.merge_gap.min((ROUND_GAPS / (ranges.len() as u64).max(1)).max(MIN_BLOCK));
        let ranges = ranges.into_iter().map(|range| (object.clone(), Some(range), ())).collect();
        for merged in merge(ranges, gap, facts.range_cap) {
            let Some(range) = merged.range else { continue };
            requests.extend(split(&range, facts.range_cap).map(|part| request(Want::Range(part))));
        }
        requests
    }
}

impl ObjectRanges {
    /// In how many places of the object something has to be parsed.
    fn places(&self) -> usize {
        let mut parse = self.parse.clone();
        parse.sort_unstable_by_key(|range| (range.start, range.end));
        group(&parse, PLACE).len()
    }

    /// All of an object of moderate size that is not cached, if a round requests much of it in many places: the
    /// structures that these lead to are between them, and each round saved is worth more than the bytes.
    fn rest(&self, widened: &[Range<u64>], state: &ObjectState) -> Option<Vec<Range<u64>>> {
        let size = state.size.filter(|size| *size <= REST_OBJECT)?;
        let (mut rest, mut at) = (Vec::new(), 0);
        for part in state.there.iter().chain(std::iter::once(&(size..size))) {
            if part.start > at {
                rest.push(at..part.start);
            }
            at = at.max(part.end);
        }
        let len = |ranges: &[Range<u64>]| ranges.iter().map(|range| range.end - range.start).sum::<u64>();
        let is_good_part = len(widened).saturating_mul(REST_SHARE) >= len(&rest);
        (is_good_part && self.places() > FEW_PLACES).then_some(rest)
    }
}

/// Bytes by which the reads of a round may be widened, in total. Structures read in many places are probably scattered
/// over the object: from the second such round on, more of their surroundings is fetched. A round that uses all
/// connections several times takes longer anyway, so that more bytes cost little.
fn allowance(round: ReadRound, places: usize, facts: &StoreFacts) -> u64 {
    let block = FIRST_BLOCK << round.before.min(BLOCK_DOUBLINGS);
    if places <= FEW_PLACES {
        return block;
    }
    let block = if round.scattered_before > 0 { FIRST_BLOCK << BLOCK_DOUBLINGS } else { block };
    let turns = places.div_ceil(facts.concurrency.max(1)) as u64;
    block.saturating_mul(turns).min(MAX_WIDENED)
}

/// Joins reads of unknown extent that are within one block, and widens each group by its share of the allowance. The
/// block is the longest that the allowance can afford for all groups: the whole allowance for one group alone, less for
/// many, but never less than [`MIN_BLOCK`].
fn widen(mut parse: Vec<Range<u64>>, state: &ObjectState) -> Vec<Range<u64>> {
    let allowance = state.allowance;
    parse.sort_unstable_by_key(|range| (range.start, range.end));
    let mut block = allowance.max(MIN_BLOCK);
    let mut groups = group(&parse, block);
    while block > MIN_BLOCK && (groups.len() as u64).saturating_mul(block) > allowance {
        block = (block / 2).max(MIN_BLOCK);
        groups = group(&parse, block);
    }
    let share = allowance.checked_div(groups.len() as u64).unwrap_or(0).max(MIN_BLOCK);
    groups.iter_mut().for_each(|group| surround(group, share, state));
    groups
}

/// Widens a group to `share` bytes: most of them follow it, some precede it, since structures that it refers to were
/// written after it, or just before. Cached bytes and those beyond them are not fetched.
fn surround(group: &mut Range<u64>, share: u64, state: &ObjectState) {
    let next = state.there.partition_point(|block| block.start < group.end);
    let room =
        state.there.get(next).map_or(u64::MAX, |block| block.start).min(state.size.unwrap_or(u64::MAX));
    let before = state.there.get(..next).unwrap_or_default().last().map_or(0, |block| block.end);
    let start = group.start.saturating_sub(share / 4).max(before).min(group.start);
    group.end = group.end.max(start.saturating_add(share).min(room));
    group.start = start;
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

/// A request for no bytes asks whether the object exists.
fn non_empty(range: &Range<u64>) -> Range<u64> {
    range.start..range.end.max(range.start.saturating_add(1))
}

/// The width to which reads of unknown extent of a round are widened: 256 KiB at first, doubling up to 4 MiB.
const FIRST_BLOCK: u64 = 256 << 10;
const BLOCK_DOUBLINGS: u32 = 4;
/// The maximum by which they are widened in total if there are many.
const MAX_WIDENED: u64 = 16 << 20;
/// Needs that are closer together count as one place.
const PLACE: u64 = 64 << 10;
/// Up to this many places count as few.
const FEW_PLACES: usize = 4;
/// An object of at most this many bytes is fetched whole if a round requests at least one in this many of its uncached
/// bytes.
const REST_OBJECT: u64 = 32 << 20;
const REST_SHARE: u64 = 4;
/// Bytes of it that are fetched in one request.
const REST_BLOCK: u64 = 1 << 20;
/// The minimum length to which a read of unknown extent is widened.
const MIN_BLOCK: u64 = 4 << 10;
/// Objects of at most this many bytes are fetched whole when they are touched again.
const SMALL_OBJECT: u64 = 1 << 20;
/// Maximum number of bytes between needed ranges that are fetched in one round.
const ROUND_GAPS: u64 = 4 << 20;

#[cfg(test)]
mod tests;
