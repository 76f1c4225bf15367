//! Merging ranges of one object that are cheaper to fetch together, and cutting those that are too long.
use ncirrus_layout::{Limits, ObjectId, Result};
use std::ops::Range;

/// A request for bytes of one object, with the parts that need them.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct MergedRequest<T> {
    /// The object.
    pub(crate) object: ObjectId,
    /// The bytes; `None` for the whole object.
    pub(crate) range: Option<Range<u64>>,
    /// Who needs which part of them.
    pub(crate) requesters: Vec<(Option<Range<u64>>, T)>,
}

impl<T> MergedRequest<T> {
    /// Refuses more bytes than a chunk may have: their number comes from a file.
    pub(crate) fn check_len(&self, limits: &Limits) -> Result<()> {
        let len = self.range.as_ref().map_or(0, |range| range.end.saturating_sub(range.start));
        limits.chunk_len(len, "a stored chunk").map(|_| ())
    }
}

/// Merges ranges of the same object whose gap is at most `gap`, as long as the result stays within `cap`.
pub(crate) fn merge<T>(
    mut requested: Vec<(ObjectId, Option<Range<u64>>, T)>,
    gap: u64,
    cap: u64,
) -> Vec<MergedRequest<T>> {
    requested.sort_by(|a, b| (&a.0, a.1.as_ref().map(bounds)).cmp(&(&b.0, b.1.as_ref().map(bounds))));
    let mut merged: Vec<MergedRequest<T>> = Vec::new();
    for (object, range, requester) in requested {
        if let Some(last) = merged.last_mut().filter(|last| last.object == object)
            && let Some(joined) = join(last.range.as_ref(), range.as_ref(), gap, cap)
        {
            last.range = joined;
            last.requesters.push((range, requester));
            continue;
        }
        merged.push(MergedRequest { object, range: range.clone(), requesters: vec![(range, requester)] });
    }
    merged
}

/// The range that covers both, if they are to be fetched together; the whole object covers every range of it.
fn join(
    one: Option<&Range<u64>>,
    other: Option<&Range<u64>>,
    gap: u64,
    cap: u64,
) -> Option<Option<Range<u64>>> {
    let (Some(one), Some(other)) = (one, other) else {
        return one.is_none().then_some(None);
    };
    let joined = one.start..one.end.max(other.end);
    let near = other.start <= one.end.saturating_add(gap);
    (near && joined.end - joined.start <= cap).then_some(Some(joined))
}

fn bounds(range: &Range<u64>) -> (u64, u64) {
    (range.start, range.end)
}

/// Cuts a range into requests of at most `cap` bytes.
pub(crate) fn split(range: &Range<u64>, cap: u64) -> impl Iterator<Item = Range<u64>> {
    let (cap, end) = (cap.max(1), range.end);
    let mut at = range.start;
    std::iter::from_fn(move || {
        let start = at;
        at = start.saturating_add(cap).min(end);
        (start < end).then_some(start..at)
    })
}

#[cfg(test)]
mod tests;
