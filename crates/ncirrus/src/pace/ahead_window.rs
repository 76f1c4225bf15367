//! Parts of a variable that are read before they are asked for.
use crate::{Selection, Session, SessionTask, Variable};
use std::fmt;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// Bytes of all windows of the process.
static HELD: AtomicUsize = AtomicUsize::new(0);

/// A box of elements.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Span {
    /// Its first element.
    pub start: Vec<u64>,
    /// Elements along each axis.
    pub counts: Vec<u64>,
}

impl Span {
    fn end(&self, axis: usize) -> u64 {
        self.start[axis].saturating_add(self.counts[axis])
    }

    /// Whether it has all elements of another one.
    pub fn has(&self, other: &Self) -> bool {
        self.start.len() == other.start.len()
            && (0..self.start.len())
                .all(|axis| other.start[axis] >= self.start[axis] && other.end(axis) <= self.end(axis))
    }

    /// Whether it has the last elements of another one.
    pub fn ends_with(&self, other: &Self) -> bool {
        (0..self.start.len()).all(|axis| self.end(axis) == other.end(axis))
    }

    /// The axis along which it follows another one: it begins where that ended, or after the end of that axis at its begin again, one step
    /// further along an axis before it.
    pub fn axis_after(&self, before: &Self, shape: &[u64]) -> Option<usize> {
        let follows = |axis: usize| self.start[axis] == before.end(axis);
        let differs: Vec<usize> =
            (0..self.start.len()).filter(|axis| self.start[*axis] != before.start[*axis]).collect();
        let axis = match *differs.as_slice() {
            [axis] if follows(axis) => axis,
            [outer, axis] if follows(outer) && self.start[axis] == 0 && before.end(axis) == shape[axis] => {
                axis
            }
            _ => return None,
        };
        let is_alike = |other: usize| other == axis || self.counts[other] == before.counts[other];
        (0..self.start.len()).all(is_alike).then_some(axis)
    }

    fn selection(&self) -> Selection {
        Selection::slab(&self.start, &self.counts)
    }
}

/// The box that comes after another one along an axis, with the counts of a slab along all others. `end_of` says from its start along
/// the axis, and from the elements of one step, where it ends. `None` after the last element.
pub(crate) fn window_after(
    after: &Span,
    axis: usize,
    counts: &[u64],
    shape: &[u64],
    end_of: impl FnOnce(u64, u64) -> u64,
) -> Option<Span> {
    let mut start = after.start.clone();
    start[axis] = after.end(axis);
    if start[axis] >= shape[axis] {
        start[axis] = 0;
        let outer = (0..axis).rev().find(|outer| counts[*outer] < shape[*outer])?;
        start[outer] = after.end(outer);
        if start[outer].checked_add(counts[outer])? > shape[outer] {
            return None;
        }
    }
    let others = (0..shape.len()).filter(|other| *other != axis).map(|other| counts[other]);
    let step = others.fold(1u64, u64::saturating_mul);
    let end = end_of(start[axis], step).min(shape[axis]);
    let mut counts = counts.to_vec();
    counts[axis] = end.checked_sub(start[axis]).filter(|count| *count > 0)?;
    Some(Span { start, counts })
}

/// A part that is being read, or was.
pub(crate) struct Window {
    pub span: Span,
    /// The state of the file that it is of.
    pub stamp: (u64, u64),
    len: usize,
    session: Session,
    content: Mutex<WindowContent>,
}

#[derive(Debug)]
enum WindowContent {
    Coming(SessionTask<Vec<u8>>),
    Here(Vec<u8>),
    /// It could not be read.
    Missing,
}

impl Window {
    /// Begins to read a box. `None` if there is no memory for it, or no thread.
    pub(crate) fn begin(
        variable: &Variable,
        span: Span,
        element: usize,
        stamp: (u64, u64),
    ) -> Option<Arc<Self>> {
        let session = variable.dataset().session();
        let count = span.counts.iter().try_fold(1u64, |product, count| product.checked_mul(*count))?;
        let len = usize::try_from(count).ok()?.checked_mul(element)?;
        let most = session.memory() / 4;
        let more = |held: usize| held.checked_add(len).filter(|held| *held <= most);
        HELD.fetch_update(Ordering::AcqRel, Ordering::Acquire, more).ok()?;
        // From here on its memory is given back when it is dropped.
        let content = Mutex::new(WindowContent::Missing);
        let window = Self { stamp, len, session: session.clone(), content, span };
        let task = session.spawn(variable.read_bytes_async(window.span.selection())).ok()?;
        *window.content.lock().unwrap_or_else(PoisonError::into_inner) = WindowContent::Coming(task);
        Some(Arc::new(window))
    }

    /// Copies a slab that the window has. `false` if the window could not be read.
    pub(crate) fn copy(&self, slab: &Span, element: usize, out: &mut [u8]) -> bool {
        let mut content = self.content.lock().unwrap_or_else(PoisonError::into_inner);
        *content = match std::mem::replace(&mut *content, WindowContent::Missing) {
            WindowContent::Coming(task) => {
                self.session.wait_for(task).map_or(WindowContent::Missing, WindowContent::Here)
            }
            known => known,
        };
        match &*content {
            WindowContent::Here(bytes) => copy_box((&self.span, bytes), slab, element, out).is_some(),
            _ => false,
        }
    }
}

/// Copies a box out of one that has all of it. `None` if it does not, or memory is of another length.
fn copy_box((span, bytes): (&Span, &[u8]), slab: &Span, element: usize, out: &mut [u8]) -> Option<()> {
    let rank = span.counts.len();
    let size = |count: u64| usize::try_from(count).ok();
    // Axes behind this one are whole: the elements lie one after the other.
    let along = (0..rank).rev().find(|axis| slab.counts[*axis] != span.counts[*axis]).unwrap_or(0);
    let behind: usize =
        span.counts[along + 1..].iter().try_fold(element, |len, count| len.checked_mul(size(*count)?))?;
    let run = behind.checked_mul(size(slab.counts[along])?)?;
    for (number, part) in out.chunks_exact_mut(run.max(1)).enumerate() {
        let first = size(slab.start[along].checked_sub(span.start[along])?)?;
        let (mut rest, mut from, mut unit) = (number, first * behind, behind * size(span.counts[along])?);
        for axis in (0..along).rev() {
            let (count, within) =
                (size(slab.counts[axis])?, size(slab.start[axis].checked_sub(span.start[axis])?)?);
            from += (within + rest % count) * unit;
            (rest, unit) = (rest / count, unit * size(span.counts[axis])?);
        }
        part.copy_from_slice(bytes.get(from..from.checked_add(run)?)?);
    }
    Some(())
}

impl fmt::Debug for Window {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Window").field("span", &self.span).field("len", &self.len).finish_non_exhaustive()
    }
}

impl Drop for Window {
    fn drop(&mut self) {
        HELD.fetch_sub(self.len, Ordering::AcqRel);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn span(start: &[u64], counts: &[u64]) -> Span {
        Span { start: start.to_vec(), counts: counts.to_vec() }
    }

    #[test]
    fn a_slab_follows_another_along_one_axis_or_begins_it_again_one_step_further() {
        let (shape, first) = ([4, 6, 10], span(&[0, 2, 0], &[1, 2, 10]));
        assert_eq!(span(&[0, 4, 0], &[1, 2, 10]).axis_after(&first, &shape), Some(1));
        assert_eq!(span(&[1, 2, 0], &[1, 2, 10]).axis_after(&first, &shape), Some(0));
        assert_eq!(
            span(&[0, 4, 0], &[1, 1, 10]).axis_after(&first, &shape),
            Some(1),
            "the last may be shorter"
        );
        let last = span(&[0, 4, 0], &[1, 2, 10]);
        assert_eq!(span(&[1, 0, 0], &[1, 2, 10]).axis_after(&last, &shape), Some(1));
        assert_eq!(span(&[1, 0, 0], &[1, 2, 10]).axis_after(&first, &shape), None, "it was not at its end");
        assert_eq!(span(&[2, 0, 0], &[1, 2, 10]).axis_after(&last, &shape), None);
        assert_eq!(span(&[0, 4, 0], &[1, 2, 5]).axis_after(&first, &shape), None);
        assert_eq!(first.axis_after(&first, &shape), None);
    }

    #[test]
    fn windows_go_on_to_the_end_of_an_axis_then_one_step_further_and_end_with_the_variable() {
        let (shape, counts) = ([2, 7, 10], [1, 1, 10]);
        let mut at = span(&[0, 1, 0], &counts);
        let mut seen = Vec::new();
        while let Some(next) = window_after(&at, 1, &counts, &shape, |start, step| {
            assert_eq!(step, 10);
            (start + 2).next_multiple_of(4)
        }) {
            seen.push((next.start[0], next.start[1], next.counts[1]));
            at = next;
        }
        assert_eq!(seen, [(0, 2, 2), (0, 4, 3), (1, 0, 4), (1, 4, 3)]);
        let whole = span(&[3, 0], &[1, 5]);
        assert_eq!(window_after(&whole, 0, &[1, 5], &[4, 5], |start, _| start + 1), None);
    }

    #[test]
    fn a_box_is_copied_out_of_one_that_has_it() {
        let window = span(&[1, 2, 0], &[2, 4, 3]);
        let bytes: Vec<u8> = (0..24).collect();
        let copied = |slab: &Span| {
            let mut out = vec![255; usize::try_from(slab.counts.iter().product::<u64>()).unwrap()];
            copy_box((&window, &bytes), slab, 1, &mut out).map(|()| out)
        };
        assert_eq!(copied(&window), Some(bytes.clone()));
        assert_eq!(copied(&span(&[2, 3, 0], &[1, 2, 3])), Some((15..21).collect()));
        assert_eq!(copied(&span(&[1, 5, 0], &[2, 1, 3])), Some(vec![9, 10, 11, 21, 22, 23]));
        assert_eq!(copied(&span(&[1, 2, 1], &[2, 2, 1])), Some(vec![1, 4, 13, 16]));
        assert_eq!(copied(&span(&[0, 2, 0], &[1, 1, 3])), None);
    }
}
