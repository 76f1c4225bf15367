//! Reads of adjacent slabs: from the second one on, those that follow are read before they are asked for.
//!
//! A variable that is read slab after slab has at most two windows: parts of it that come next, read by the threads of the session while the
//! caller works. A window ends where a chunk ends, and each is twice as long as the one before, up to a bound; when the caller comes to one,
//! the next is begun. All windows of the process together hold at most a quarter of the session's memory. What cannot be read ahead is read
//! when it is asked for, which tells what is wrong with it.
//!
//! Files that are written have none, nor those near by that need no decoding: the system reads them ahead.
use crate::ahead_window::{Span, Window, window_after};
use crate::files::FileGroup;
use crate::slabs::Slab;
use ncirrus::{Atomic, AxisSelection, Result, Values, VarId, Variable, model::Storage};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Variables of a file that are followed.
const FOLLOWED: usize = 64;
/// Reads of at most as many values are served by `small_reads`.
const SMALL: usize = 64;
/// Bytes of the first window of a variable, unless a chunk or a slab has more.
const FIRST: usize = 1 << 20;
/// Bytes of the longest windows: of a file that is near, decoding takes the time; of one that is far away, requests do.
const LONGEST_NEAR: usize = 8 << 20;
const LONGEST_FAR: usize = 32 << 20;

/// The variables of a file that are read slab after slab.
#[derive(Debug, Default)]
pub(crate) struct ReadAhead(Mutex<Vec<FollowedVariable>>);

#[derive(Debug)]
struct FollowedVariable {
    var: VarId,
    /// The slab that was read last.
    last: Span,
    /// The axis along which it followed the one before.
    axis: Option<usize>,
    /// In the order in which they come.
    windows: Vec<Arc<Window>>,
    /// Bytes of the next window.
    window_len: usize,
}

/// What is known of a variable that is read.
struct FollowedRead<'a> {
    variable: &'a Variable,
    shape: Vec<u64>,
    chunks: Option<Vec<u64>>,
    element: usize,
    longest: usize,
    /// The state of the file: windows of another one are of no use.
    stamp: (u64, u64),
}

/// Reads a slab, as [`Variable::read_bytes_into`] does; adjacent ones from what was read ahead.
///
/// # Errors
/// Those of reading.
pub(crate) fn read_into(
    at: &FileGroup,
    variable: &Variable,
    slab: &Slab,
    element: usize,
    out: &mut [u8],
) -> Result<()> {
    let Some((read, span)) = FollowedRead::of(at, variable, slab, element) else {
        return variable.read_bytes_into(&slab.selection, out);
    };
    read.read_into(&at.file.core.ahead, slab, &span, out)
}

/// The values of a slab, as [`Variable::values`] has them; adjacent ones from what was read ahead.
///
/// # Errors
/// Those of reading.
pub(crate) fn values(at: &FileGroup, variable: &Variable, slab: &Slab, ty: Atomic) -> Result<Values> {
    let followed = ty.byte_len().and_then(|element| FollowedRead::of(at, variable, slab, element));
    let (Some((read, span)), Ok(count)) = (followed, slab.element_count()) else {
        return variable.values(&slab.selection);
    };
    let mut values = Values::zeroed(ty, count);
    match values.as_bytes_mut() {
        Some(bytes) => read.read_into(&at.file.core.ahead, slab, &span, bytes).map(|()| values),
        None => variable.values(&slab.selection),
    }
}

impl<'a> FollowedRead<'a> {
    /// `None` if the next slab is not worth reading before it is asked for.
    fn of(at: &FileGroup, variable: &'a Variable, slab: &Slab, element: usize) -> Option<(Self, Span)> {
        let core = &at.file.core;
        if slab.element_count().ok()? <= SMALL || core.is_written() || core.format.protocol.is_some() {
            // A server that computes values has its own way of reading ahead.
            return None;
        }
        let described = at.model().variable(variable.id())?;
        let chunks = match &described.storage {
            Storage::Chunked(chunks) => Some(chunks.clone()),
            _ => None,
        };
        let is_near = core.place.is_some();
        let is_decoded = chunks.is_some() && (!described.filters.is_empty() || !at.file.is_hdf5());
        if is_near && !is_decoded {
            return None;
        }
        let longest = if is_near { LONGEST_NEAR } else { LONGEST_FAR };
        slab.element_count().ok()?.checked_mul(element).filter(|len| *len <= longest)?;
        let shape = at.model().shape(variable.id());
        let read = Self { variable, shape, chunks, element, longest, stamp: core.stamp() };
        Some((read, Span::of(slab)?))
    }

    fn read_into(&self, ahead: &ReadAhead, slab: &Slab, span: &Span, out: &mut [u8]) -> Result<()> {
        let window = ahead.window_of(self, span);
        let is_served = window.is_some_and(|window| window.copy(span, self.element, out));
        if !is_served {
            self.variable.read_bytes_into(&slab.selection, out)?;
            ahead.note(self, span);
        }
        Ok(())
    }

    /// Begins to read what comes after a slab or a window.
    fn begin(&self, after: &Span, axis: usize, counts: &[u64], len: usize) -> Option<Arc<Window>> {
        let span = window_after(after, axis, counts, &self.shape, |start, row| {
            let rows = (len as u64 / row.saturating_mul(self.element as u64).max(1)).max(counts[axis]);
            let chunk =
                self.chunks.as_ref().and_then(|chunks| chunks.get(axis)).map_or(1, |len| (*len).max(1));
            let end = start.saturating_add(rows);
            let aligned = end.checked_next_multiple_of(chunk).unwrap_or(end);
            let fits = |end: u64| {
                let bytes = (end - start).saturating_mul(row).saturating_mul(self.element as u64);
                bytes <= self.longest as u64 * 2
            };
            if fits(aligned) { aligned } else { end }
        })?;
        Window::begin(self.variable, span, self.element, self.stamp)
    }
}

impl ReadAhead {
    fn lock(&self) -> MutexGuard<'_, Vec<FollowedVariable>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The window that has a slab. The one after it is begun, and those before it are given up.
    fn window_of(&self, read: &FollowedRead<'_>, span: &Span) -> Option<Arc<Window>> {
        let mut followed = self.lock();
        let known = followed.iter_mut().find(|known| known.var == read.variable.id())?;
        known.windows.retain(|window| window.stamp == read.stamp);
        let (axis, place) = (known.axis?, known.windows.iter().position(|window| window.span.has(span))?);
        known.windows.drain(..place);
        let window = Arc::clone(known.windows.first()?);
        if known.windows.len() == 1 {
            known.go_on(read, axis, &window.span);
        }
        if span.ends_with(&window.span) {
            known.windows.retain(|other| !Arc::ptr_eq(other, &window));
        }
        known.last = span.clone();
        Some(window)
    }

    /// A slab was read that no window has: if it follows the one before, what comes next is begun to be read.
    fn note(&self, read: &FollowedRead<'_>, span: &Span) {
        let mut followed = self.lock();
        let id = read.variable.id();
        let place = followed.iter().position(|known| known.var == id).unwrap_or_else(|| {
            if followed.len() >= FOLLOWED {
                followed.remove(0);
            }
            let (axis, windows, window_len) = (None, Vec::new(), FIRST);
            followed.push(FollowedVariable { var: id, last: span.clone(), axis, windows, window_len });
            followed.len() - 1
        });
        let Some(known) = followed.get_mut(place) else { return };
        let before = std::mem::replace(&mut known.last, span.clone());
        known.axis = span.axis_after(&before, &read.shape);
        known.windows.clear();
        match known.axis {
            Some(axis) => known.go_on(read, axis, span),
            None => known.window_len = FIRST,
        }
    }
}

impl FollowedVariable {
    /// Begins the next window; without one, the next slab is read when it is asked for.
    fn go_on(&mut self, read: &FollowedRead<'_>, axis: usize, after: &Span) {
        let counts = self.last.counts.clone();
        let window = read.begin(after, axis, &counts, self.window_len.min(read.longest));
        self.window_len = (self.window_len * 2).min(read.longest);
        self.windows.extend(window);
    }
}

impl Span {
    /// The box of a slab without strides.
    fn of(slab: &Slab) -> Option<Self> {
        let (mut start, mut counts) = (Vec::new(), Vec::new());
        for axis in slab.selection.axes() {
            let AxisSelection::Slice { start: first, count, stride: 1 } = axis else { return None };
            start.push(*first);
            counts.push(*count);
        }
        (!start.is_empty() && !counts.contains(&0)).then_some(Self { start, counts })
    }
}
