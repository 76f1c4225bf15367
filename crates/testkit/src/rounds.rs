//! A view that has only what was requested before, and counts the rounds and requests that this takes.
use crate::view::{resolve, strip_checksums};
use crate::{MemoryView, ObjectView};
use bytes::Bytes;
use ncirrus_layout::{
    Error, Limits, Listing, Memo, Need, ObjectBytes, ObjectId, Result, Stall, Step, VariableRef, View, Want,
};
use ncirrus_model::{CodecSpec, Selection, Values};
use std::cell::RefCell;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::ops::Range;

/// A view that stalls for everything that was not fetched, like a remote store.
#[derive(Debug)]
pub struct StallingView {
    objects: ObjectView,
    memo: Memo,
    limits: Limits,
    state: RefCell<StallState>,
}

#[derive(Debug, Default)]
struct StallState {
    /// Fetched bytes, as disjoint or overlapping ranges per key.
    held: HashMap<String, Vec<Range<u64>>>,
    known: HashSet<String>,
    listed: HashSet<String>,
    requests: Vec<(String, Option<Want>)>,
    rounds: usize,
}

/// Runs a step to its end over a [`StallingView`].
///
/// # Errors
/// Errors of the step; `Internal` if it makes no progress.
pub fn drive<T>(rounds: &StallingView, mut step: impl FnMut(&dyn View) -> Step<T>) -> Result<T> {
    for _ in 0..10_000 {
        match step(rounds) {
            Ok(value) => return Ok(value),
            Err(Stall::Fail(error)) => return Err(error),
            Err(Stall::Need(needs)) => {
                if !rounds.fetch(needs.iter()) {
                    return Err(Error::internal(format!("no progress: {needs:?}")));
                }
            }
        }
    }
    Err(Error::internal("10,000 rounds and no end"))
}

impl StallingView {
    /// A view of these objects with nothing fetched yet.
    pub fn new(objects: ObjectView) -> Self {
        Self { objects, memo: Memo::new(1 << 26), limits: Limits::default(), state: RefCell::default() }
    }

    /// The same with other limits.
    #[must_use]
    pub fn with_limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// How many times a step had to wait.
    pub fn rounds(&self) -> usize {
        self.state.borrow().rounds
    }

    /// Every request so far: the key, and which bytes (`None` for a listing).
    pub fn requests(&self) -> Vec<(String, Option<Want>)> {
        self.state.borrow().requests.clone()
    }

    /// Bytes of an object that were fetched and are not released.
    pub fn held_bytes(&self, key: &str) -> u64 {
        let state = self.state.borrow();
        state.held.get(key).into_iter().flatten().map(|range| range.end - range.start).sum()
    }

    /// Forgets everything that was fetched, except what was memoised.
    pub fn evict(&self) {
        let mut state = self.state.borrow_mut();
        state.held.clear();
        state.known.clear();
        state.listed.clear();
    }

    /// Fetches one range of an object without a request.
    pub fn hold(&self, key: &str, range: Range<u64>) {
        let mut state = self.state.borrow_mut();
        state.known.insert(key.to_owned());
        state.held.entry(key.to_owned()).or_default().push(range);
    }

    /// Fetches what is needed; false if all of it was available already.
    fn fetch<'a>(&self, needs: impl Iterator<Item = &'a Need>) -> bool {
        let mut progress = false;
        self.state.borrow_mut().rounds += 1;
        let mut requested = BTreeMap::new();
        for need in needs {
            let (object, want) = match need {
                Need::Object { object, want } => (object, Some(want.clone())),
                Need::Decoded { object, range, .. } => (object, Some(Want::Range(range.clone()))),
                Need::List { prefix, .. } => (prefix, None),
                Need::Values { .. } => continue,
            };
            if requested.insert((object.key().to_owned(), format!("{want:?}")), ()).is_none() {
                progress |= self.fetch_one(object, want);
            }
        }
        progress
    }

    fn fetch_one(&self, object: &ObjectId, want: Option<Want>) -> bool {
        let mut state = self.state.borrow_mut();
        let key = object.key().to_owned();
        state.requests.push((key.clone(), want.clone()));
        let Some(want) = want else { return state.listed.insert(key) };
        let size = self.objects.find(&key).map(|body| body.len() as u64);
        let range = resolve(&want, size.unwrap_or(0));
        let new = state.known.insert(key.clone()) || !covered(state.held.get(&key), &range);
        state.held.entry(key).or_default().push(range);
        new
    }
}

/// Whether every byte of `range` is in one of the held ranges.
fn covered(held: Option<&Vec<Range<u64>>>, range: &Range<u64>) -> bool {
    let mut sorted: Vec<&Range<u64>> = held.into_iter().flatten().collect();
    sorted.sort_by_key(|range| range.start);
    let mut at = range.start;
    for part in sorted {
        if part.start <= at {
            at = at.max(part.end);
        }
    }
    at >= range.end
}

impl View for StallingView {
    fn read(&self, object: &ObjectId, want: Want) -> Step<Option<ObjectBytes>> {
        let state = self.state.borrow();
        let need = || Stall::from(Need::Object { object: object.clone(), want: want.clone() });
        if !state.known.contains(object.key()) {
            return Err(need());
        }
        let Some(body) = self.objects.find(object.key()) else { return Ok(None) };
        if covered(state.held.get(object.key()), &resolve(&want, body.len() as u64)) {
            return Ok(self.objects.blob(object, &want));
        }
        Err(need())
    }

    fn decoded(
        &self,
        object: &ObjectId,
        range: Range<u64>,
        codecs: &[CodecSpec],
        mask: u32,
        len: u64,
    ) -> Step<Bytes> {
        let state = self.state.borrow();
        let at_hand = state.known.contains(object.key()) && covered(state.held.get(object.key()), &range);
        if !at_hand {
            let (object, codecs) = (object.clone(), codecs.to_vec());
            return Err(Need::Decoded { object, range, codecs, mask, len }.into());
        }
        let blob = self.objects.blob(object, &Want::Range(range));
        let blob = blob.ok_or_else(|| Error::not_found("no such object").at_object(object))?;
        Ok(strip_checksums(&blob.bytes, codecs, len)?)
    }

    fn values(&self, variable: &VariableRef, selection: &Selection) -> Step<Values> {
        MemoryView::new(ObjectView::new()).values(variable, selection)
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Step<Listing> {
        if self.state.borrow().listed.contains(prefix.key()) {
            return Ok(self.objects.list(prefix));
        }
        Err(Need::List { prefix: prefix.clone(), page: page.map(str::to_owned) }.into())
    }

    fn release(&self, object: &ObjectId, end: u64) {
        let mut state = self.state.borrow_mut();
        for held in state.held.get_mut(object.key()).into_iter().flatten() {
            held.start = held.start.max(end).min(held.end);
        }
    }

    fn memo(&self) -> &Memo {
        &self.memo
    }

    fn limits(&self) -> &Limits {
        &self.limits
    }
}
