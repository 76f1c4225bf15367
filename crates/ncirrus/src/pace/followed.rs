//! Variables that are read slab after slab, and the windows that are read before they are asked for.
use crate::pace::ahead_window::{Span, Window, window_after};
use crate::{Result, Selection, VarId, Variable};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// Variables of a file that are followed.
const FOLLOWED: usize = 64;
/// Bytes of the first window of a variable, unless a chunk or a slab has more.
const FIRST: usize = 1 << 20;

/// The variables of a file that are read slab after slab.
#[derive(Debug, Default)]
pub struct ReadAhead(Mutex<Vec<FollowedVariable>>);

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
pub struct FollowedRead<'a> {
    /// The variable.
    pub variable: &'a Variable,
    /// Its shape.
    pub shape: Vec<u64>,
    /// The shape of its chunks, if it has any.
    pub chunks: Option<Vec<u64>>,
    /// Bytes of an element.
    pub element: usize,
    /// Bytes of the longest window.
    pub longest: usize,
    /// The state of the file: windows of another one are of no use.
    pub stamp: (u64, u64),
}

impl FollowedRead<'_> {
    /// Reads a box: out of a window, or as it is asked for.
    ///
    /// # Errors
    /// Those of reading.
    pub fn read_into(
        &self,
        ahead: &ReadAhead,
        selection: &Selection,
        span: &Span,
        out: &mut [u8],
    ) -> Result<()> {
        let window = ahead.window_of(self, span);
        let is_served = window.is_some_and(|window| window.copy(span, self.element, out));
        if !is_served {
            self.variable.read_bytes_into(selection, out)?;
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
