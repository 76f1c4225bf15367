//! Which bytes of a part were written.
use std::collections::BTreeMap;

/// Ranges of bytes that neither touch nor overlap, by their start.
#[derive(Debug, Default)]
pub(super) struct ByteRanges {
    ends: BTreeMap<u64, u64>,
    /// There were too many to keep.
    lost: bool,
}

/// Maximum number of ranges of a part: if values are scattered, the ranges would take more memory than the values.
const MAX_RANGES: usize = 1 << 14;

impl ByteRanges {
    /// Adds a range that is not empty.
    pub(super) fn add(&mut self, mut start: u64, mut end: u64) {
        if self.lost {
            return;
        }
        if let Some((before, its_end)) = self.ends.range(..start).next_back()
            && *its_end >= start
        {
            (start, end) = (*before, end.max(*its_end));
        }
        while let Some((&next, &its_end)) = self.ends.range(start..=end).next() {
            self.ends.remove(&next);
            end = end.max(its_end);
        }
        self.ends.insert(start, end);
        if self.ends.len() > MAX_RANGES {
            self.lost = true;
            self.ends.clear();
        }
    }

    /// Whether every byte of a part of that length was written, as far as known.
    pub(super) fn cover(&self, len: u64) -> bool {
        self.ends.get(&0).is_some_and(|end| *end >= len)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn they_know_what_a_list_of_bytes_knows(ranges in prop::collection::vec((0_usize..64, 1_usize..24), 0..40)) {
            let (mut bytes, mut kept) = ([false; 96], ByteRanges::default());
            for (start, len) in ranges {
                kept.add(start as u64, (start + len) as u64);
                bytes[start..start + len].fill(true);
                let known = bytes.iter().take_while(|written| **written).count() as u64;
                prop_assert!(kept.cover(known) == (known > 0) && !kept.cover(known + 1));
                let runs = bytes.split(|written| !written).filter(|run| !run.is_empty()).count();
                prop_assert_eq!(kept.ends.len(), runs);
            }
        }
    }

    #[test]
    fn too_many_are_forgotten() {
        let mut kept = ByteRanges::default();
        (0..=MAX_RANGES as u64).for_each(|at| kept.add(at * 2, at * 2 + 1));
        assert!(kept.lost && kept.ends.is_empty());
        kept.add(0, 1 << 20);
        assert!(!kept.cover(1));
    }
}
