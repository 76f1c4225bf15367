//! Which bytes of objects are taken, to find those that are taken twice.
use ncirrus::ObjectId;
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;

/// Runs of bytes per object. Adjacent runs of one owner are kept as one, so that a variable whose chunks follow each
/// other takes a few dozen bytes, whatever their number.
#[derive(Debug, Default)]
pub(super) struct SpanMap {
    objects: HashMap<ObjectId, BTreeMap<u64, Span>>,
    owners: Vec<String>,
    is_full: bool,
}

#[derive(Debug, Clone, Copy)]
struct Span {
    end: u64,
    owner: usize,
}

/// Runs that are kept of an object; the rest is not checked for overlaps, which is reported.
const MAX_RUNS: usize = 1 << 20;

impl SpanMap {
    /// The number of an owner for [`take`](Self::take).
    pub(super) fn owner(&mut self, path: &str) -> usize {
        self.owners.push(path.to_owned());
        self.owners.len() - 1
    }

    /// Takes a run; the owner that has a part of it already, and that part, if there is one.
    pub(super) fn take(
        &mut self,
        object: &ObjectId,
        range: &Range<u64>,
        owner: usize,
    ) -> Option<(&str, Range<u64>)> {
        if range.is_empty() {
            return None;
        }
        let spans = self.objects.entry(object.clone()).or_default();
        let before = spans.range(..range.end).next_back().map(|(start, span)| (*start, *span));
        if let Some((start, span)) = before.filter(|(_, span)| span.end > range.start) {
            let name = self.owners.get(span.owner).map_or("", String::as_str);
            return Some((name, start.max(range.start)..span.end.min(range.end)));
        }
        // Runs of one owner that follow one another become one: files have far fewer of those than chunks.
        let mut run = Span { end: range.end, owner };
        let mut start = range.start;
        if let Some((before, _)) = before.filter(|(_, span)| span.end == range.start && span.owner == owner) {
            start = before;
            spans.remove(&before);
        }
        if let Some(after) = spans.get(&range.end).copied().filter(|after| after.owner == owner) {
            run.end = after.end;
            spans.remove(&range.end);
        }
        if spans.len() < MAX_RUNS {
            _ = spans.insert(start, run);
        } else {
            self.is_full = true;
        }
        None
    }

    /// Whether there were more runs than are kept, so that an overlap may have been missed.
    pub(super) fn is_full(&self) -> bool {
        self.is_full
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ncirrus_layout::StoreId;

    #[test]
    fn a_run_that_is_taken_twice_is_reported_with_its_first_owner() {
        let object = ObjectId::new(StoreId::new("s"), "a");
        let mut spans = SpanMap::default();
        let (one, other) = (spans.owner("/a"), spans.owner("/b"));
        for at in [0, 20, 10] {
            assert_eq!(spans.take(&object, &(at..at + 10), one), None);
        }
        assert_eq!(spans.objects[&object].len(), 1, "adjacent runs are one");
        assert_eq!(spans.take(&object, &(25..40), other), Some(("/a", 25..30)));
        assert_eq!(spans.take(&object, &(30..40), other), None);
        assert_eq!(spans.take(&object, &(35..36), one), Some(("/b", 35..36)));
        assert_eq!(spans.take(&object, &(40..40), one), None);
    }
}
