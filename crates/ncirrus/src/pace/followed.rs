//! Variables that are read slab after slab, and the windows that are read before they are asked for.
use super::ahead_window::Window;
use crate::session::WindowBudget;
use crate::{Result, Selection, VarId, Variable};
use ncirrus_layout::LockExt;
use ncirrus_layout::sequence::{axis_after, ends_with, has_all, region_after};
use ncirrus_model::Region;
use std::sync::{Arc, Mutex};

/// Variables of a dataset that are followed.
const FOLLOWED: usize = 64;
/// What the first window of a variable costs in bytes, unless a chunk or a slab costs more.
const FIRST: u64 = 1 << 20;
/// Bytes that could be fetched in the time that one request takes.
const REQUEST_COST: u64 = 64 << 10;

/// The variables of a dataset that are read slab after slab.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead(Mutex<Vec<FollowedVariable>>);

#[derive(Debug)]
struct FollowedVariable {
    var: VarId,
    /// The slab that was read last.
    last: Region,
    /// The axis along which it followed the one before.
    axis: Option<usize>,
    /// In the order in which they come.
    windows: Vec<Arc<Window>>,
    /// What the next window costs.
    window_cost: u64,
}

/// What is known of a variable that is read.
pub(super) struct FollowedRead<'a> {
    pub(super) variable: &'a Variable,
    pub(super) dataset: &'a ncirrus_engine::Dataset,
    pub(super) budget: &'a Arc<WindowBudget>,
    pub(super) shape: Vec<u64>,
    pub(super) chunks: Option<Vec<u64>>,
    /// Whether its first axis is that of records, each at a place of its own.
    pub(super) has_records: bool,
    /// Bytes of an element.
    pub(super) element: usize,
    /// What the longest window costs.
    pub(super) longest: u64,
    /// Whether requests take the time, not decoding.
    pub(super) is_far: bool,
}

impl FollowedRead<'_> {
    /// Copies a slab out of a window. `false`: none has it.
    ///
    /// # Errors
    /// `Interrupted` if the wait for a window was ended.
    pub(super) fn copy(&self, ahead: &ReadAhead, slab: &Region, out: &mut [u8]) -> Result<bool> {
        match ahead.window_of(self, slab) {
            Some(window) => window.copy(self.variable.dataset().session(), slab, self.element, out),
            None => Ok(false),
        }
    }

    /// Reads a slab that no window has, with `plainly`, and begins to read what comes next if it follows the one before: at the same time
    /// where requests take the time and nothing would be fetched twice, for that saves a round.
    ///
    /// # Errors
    /// Those of `plainly`.
    pub(super) fn followed_by<T>(
        &self,
        ahead: &ReadAhead,
        slab: &Region,
        plainly: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        let is_at_once = self.is_far && self.ends_chunks(slab);
        if is_at_once {
            ahead.note(self, slab);
        }
        let read = plainly()?;
        if !is_at_once {
            ahead.note(self, slab);
        }
        Ok(read)
    }

    /// Whether a slab ends where chunks end.
    fn ends_chunks(&self, slab: &Region) -> bool {
        let Some(chunks) = &self.chunks else { return true };
        chunks.iter().zip(&self.shape).enumerate().all(|(axis, (chunk, len))| {
            let end = slab.start[axis].saturating_add(slab.count[axis]);
            end == *len || end < *len && end.is_multiple_of((*chunk).max(1))
        })
    }

    /// Begins to read what comes after a slab or a window.
    fn begin(&self, after: &Region, axis: usize, counts: &[u64], max: u64) -> Option<Arc<Window>> {
        let region = region_after(after, axis, counts, &self.shape, |start| {
            let cost = self.step_cost(start, counts, axis).max(1);
            let end = start[axis].saturating_add((max / cost).max(counts[axis]));
            let chunk =
                self.chunks.as_ref().and_then(|chunks| chunks.get(axis)).map_or(1, |len| (*len).max(1));
            let aligned = end.checked_next_multiple_of(chunk).unwrap_or(end);
            let fits = aligned.saturating_sub(start[axis]).saturating_mul(cost) <= self.longest * 2;
            if fits { aligned } else { end }
        })?;
        self.begin_window(region)
    }

    /// Begins to read a box. `None` if there is no memory for it, or no thread.
    fn begin_window(&self, region: Region) -> Option<Arc<Window>> {
        let session = self.variable.dataset().session();
        let len = usize::try_from(region.element_count()?).ok()?.checked_mul(self.element)?;
        let share = self.budget.take(len, session.memory() / 4)?;
        // Not the facade's dataset, which has the windows: they end when it is dropped.
        let (dataset, var) = (self.dataset.clone(), self.variable.id());
        let selection = Selection::from(region.clone());
        let task = session.spawn(async move {
            let mut bytes = vec![0; len];
            dataset.read_into(var, &selection, &mut bytes).await.map(|()| bytes)
        });
        Some(Arc::new(Window::new(region, task.ok()?, share)))
    }

    /// What one step along an axis costs: the bytes of the chunks that are decoded for it, or those that are fetched in the time of its
    /// requests.
    fn step_cost(&self, start: &[u64], counts: &[u64], axis: usize) -> u64 {
        let element = self.element as u64;
        let others = || (0..counts.len()).filter(|other| *other != axis);
        if let Some(chunks) = &self.chunks {
            let covered = |other: usize| {
                let chunk = chunks.get(other).copied().unwrap_or(1).max(1);
                let end = start[other].saturating_add(counts[other]);
                let end = end.checked_next_multiple_of(chunk).unwrap_or(end).min(self.shape[other]);
                end.saturating_sub(start[other] / chunk * chunk)
            };
            return others().map(covered).fold(element, u64::saturating_mul);
        }
        let bytes = others().map(|other| counts[other]).fold(element, u64::saturating_mul);
        let partial = others().rfind(|other| *other > axis && counts[*other] < self.shape[*other]);
        let Some(partial) = partial else {
            return if self.has_records && axis == 0 { bytes.max(REQUEST_COST) } else { bytes };
        };
        // Its elements are in runs, which are requested one by one, or with what is between them.
        let behind = self.shape[partial + 1..].iter().copied().fold(element, u64::saturating_mul);
        let runs = others().filter(|other| *other < partial).map(|other| counts[other]);
        let run = behind.saturating_mul(counts[partial]);
        let distance = behind.saturating_mul(self.shape[partial]);
        runs.fold(run.max(REQUEST_COST.min(distance)), u64::saturating_mul)
    }
}

impl ReadAhead {
    /// The window that has a slab. The one after it is begun, two if the caller has to wait for it, and those before it are given up.
    fn window_of(&self, read: &FollowedRead<'_>, slab: &Region) -> Option<Arc<Window>> {
        let mut followed = self.0.guard();
        let known = followed.iter_mut().find(|known| known.var == read.variable.id())?;
        let place = known.windows.iter().position(|window| has_all(&window.region, slab))?;
        let axis = known.axis?;
        known.windows.drain(..place);
        let window = Arc::clone(known.windows.first()?);
        let is_awaited = read.is_far && !window.is_here();
        known.keep_ahead(read, axis, is_awaited);
        if ends_with(slab, &window.region) {
            known.windows.retain(|other| !Arc::ptr_eq(other, &window));
        }
        known.last = slab.clone();
        Some(window)
    }

    /// A slab was read that no window has: if it follows the one before, what comes next is begun to be read.
    pub(super) fn note(&self, read: &FollowedRead<'_>, slab: &Region) {
        let mut followed = self.0.guard();
        let id = read.variable.id();
        let place = followed.iter().position(|known| known.var == id).unwrap_or_else(|| {
            if followed.len() >= FOLLOWED {
                followed.remove(0);
            }
            let (axis, windows, last) = (None, Vec::new(), slab.clone());
            followed.push(FollowedVariable { var: id, last, axis, windows, window_cost: FIRST });
            followed.len() - 1
        });
        let Some(known) = followed.get_mut(place) else { return };
        let before = std::mem::replace(&mut known.last, slab.clone());
        known.axis = axis_after(&before, slab, &read.shape);
        known.windows.clear();
        match known.axis {
            Some(axis) => _ = known.go_on(read, axis, slab),
            None => known.window_cost = FIRST,
        }
    }
}

impl FollowedVariable {
    /// Begins windows until one is ahead of that of the caller. If the caller has to wait for its own, requests are what it waits for:
    /// then two are, and they grow faster, for many bytes come in the time of a few.
    fn keep_ahead(&mut self, read: &FollowedRead<'_>, axis: usize, is_awaited: bool) {
        let max = if is_awaited { 3 } else { 2 };
        while self.windows.len() < max {
            let Some(last) = self.windows.last().map(|window| window.region.clone()) else { return };
            if is_awaited {
                self.window_cost = (self.window_cost * 2).min(read.longest);
            }
            if !self.go_on(read, axis, &last) {
                return;
            }
        }
    }

    /// Begins the next window; without one, the next slab is read when it is asked for.
    fn go_on(&mut self, read: &FollowedRead<'_>, axis: usize, after: &Region) -> bool {
        let counts = self.last.count.clone();
        let window = read.begin(after, axis, &counts, self.window_cost.min(read.longest));
        self.window_cost = (self.window_cost * 2).min(read.longest);
        let is_begun = window.is_some();
        self.windows.extend(window);
        is_begun
    }
}
