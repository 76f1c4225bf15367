//! The set of chunks with data, as runs of numbers.
use std::collections::BTreeMap;
use std::ops::Range;

/// A set of numbers, kept as disjoint runs that do not touch.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct NumberRuns {
    /// Start and end of each run.
    runs: BTreeMap<u64, u64>,
}

impl NumberRuns {
    /// The numbers below `end`.
    pub(crate) fn below(end: u64) -> Self {
        let mut runs = Self::default();
        runs.insert(0..end);
        runs
    }

    /// Adds the numbers of a range.
    pub(crate) fn insert(&mut self, range: Range<u64>) {
        if range.is_empty() {
            return;
        }
        let (mut start, mut end) = (range.start, range.end);
        while let Some((&at, &until)) = self.runs.range(..=end).next_back() {
            if until < start {
                break;
            }
            self.runs.remove(&at);
            (start, end) = (start.min(at), end.max(until));
        }
        self.runs.insert(start, end);
    }

    /// The end of the run that holds `number`; `None` if it is not in the set.
    pub(crate) fn run_end(&self, number: u64) -> Option<u64> {
        self.runs.range(..=number).next_back().map(|(_, end)| *end).filter(|end| *end > number)
    }

    /// Whether nothing is in the set.
    pub(crate) fn is_empty(&self) -> bool {
        self.runs.is_empty()
    }

    /// Where the runs end, in ascending order.
    pub(crate) fn ends(&self) -> impl Iterator<Item = u64> + '_ {
        self.runs.values().copied()
    }

    /// One more than the largest number; 0 when there is none.
    pub(crate) fn end(&self) -> u64 {
        self.runs.last_key_value().map_or(0, |(_, end)| *end)
    }
}

#[cfg(test)]
mod tests {
    use super::NumberRuns;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        #[test]
        fn runs_are_a_set_of_numbers(ranges in prop::collection::vec((0..60u64, 0..12u64), 0..20)) {
            let (mut runs, mut set) = (NumberRuns::default(), BTreeSet::new());
            for (start, len) in ranges {
                runs.insert(start..start + len);
                set.extend(start..start + len);
            }
            for number in 0..80 {
                let end = (number..).find(|next| !set.contains(next)).filter(|end| *end > number);
                prop_assert_eq!(runs.run_end(number), end);
            }
            prop_assert_eq!(runs.end(), set.last().map_or(0, |last| last + 1));
        }
    }
}
