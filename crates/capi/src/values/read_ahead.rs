//! Reads of adjacent slabs: from the second one on, those that follow are read before they are asked for.
//!
//! A variable that is read slab after slab has at most two windows: parts of it that come next, read by the threads of the session while the
//! caller works. A window ends where a chunk ends, and each is twice as long as the one before, up to a bound; when the caller comes to one,
//! the next is begun. All windows of the process together hold at most a quarter of the session's memory. What cannot be read ahead is read
//! when it is asked for, which tells what is wrong with it.
//!
//! Files that are written have none, nor those near by that need no decoding: the system reads them ahead.
use crate::files::FileGroup;
use crate::rules::slabs::Slab;
use ncirrus::pace::FollowedRead;
use ncirrus::pace::Span;
use ncirrus::{Atomic, AxisSelection, Result, Values, Variable, model::Storage};

/// Reads of at most as many values are served by `small_reads`.
const SMALL: usize = 64;
/// Bytes of the longest windows: of a file that is near, decoding takes the time; of one that is far away, requests do.
const LONGEST_NEAR: usize = 8 << 20;
const LONGEST_FAR: usize = 32 << 20;

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
    let Some((read, span)) = followed_read(at, variable, slab, element) else {
        return variable.read_bytes_into(&slab.selection, out);
    };
    read.read_into(&at.file.core.ahead, &slab.selection, &span, out)
}

/// The values of a slab, as [`Variable::values`] has them; adjacent ones from what was read ahead.
///
/// # Errors
/// Those of reading.
pub(crate) fn values(at: &FileGroup, variable: &Variable, slab: &Slab, ty: Atomic) -> Result<Values> {
    let followed = ty.byte_len().and_then(|element| followed_read(at, variable, slab, element));
    let (Some((read, span)), Ok(count)) = (followed, slab.element_count()) else {
        return variable.values(&slab.selection);
    };
    let mut values = Values::zeroed(ty, count);
    match values.as_bytes_mut() {
        Some(bytes) => read.read_into(&at.file.core.ahead, &slab.selection, &span, bytes).map(|()| values),
        None => variable.values(&slab.selection),
    }
}

/// `None` if the next slab is not worth reading before it is asked for.
fn followed_read<'a>(
    at: &FileGroup,
    variable: &'a Variable,
    slab: &Slab,
    element: usize,
) -> Option<(FollowedRead<'a>, Span)> {
    let core = &at.file.core;
    if slab.element_count().ok()? <= SMALL || core.is_written() || core.format.is_computed() {
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
    let read = FollowedRead { variable, shape, chunks, element, longest, stamp: core.stamp() };
    Some((read, span_of(slab)?))
}

/// The box of a slab without strides.
fn span_of(slab: &Slab) -> Option<Span> {
    let (mut start, mut counts) = (Vec::new(), Vec::new());
    for axis in slab.selection.axes() {
        let AxisSelection::Slice { start: first, count, stride: 1 } = axis else { return None };
        start.push(*first);
        counts.push(*count);
    }
    (!start.is_empty() && !counts.contains(&0)).then_some(Span { start, counts })
}
