//! How an object is divided into parts.

/// Sizes of parts: the same for a thousand parts, then twice as much, so that ten thousand reach more than 5 TiB and
/// none exceeds any provider's limit (Azure: 4000 MiB). An offset alone determines its part.
#[derive(Debug, Clone, Copy)]
pub(super) struct PartSizes {
    /// Size of the first parts.
    pub(super) first: u64,
    /// Number of consecutive parts of the same size.
    pub(super) run: u64,
    /// How often the size doubles.
    pub(super) doublings: u64,
}

/// Total number of runs (Amazon and Google allow 10,000 parts).
const RUNS: u64 = 10;
/// Default size of the first parts.
const USUAL: u64 = 8 << 20;
/// Smaller ones do not reach 5 TiB with ten thousand parts.
const MIN_PART_BYTES: u64 = 6 << 20;
/// Maximum part size that every provider accepts.
const MAX_PART_BYTES: u64 = 4000 << 20;

impl Default for PartSizes {
    fn default() -> Self {
        Self::of(USUAL)
    }
}

impl PartSizes {
    /// Sizes that begin with that many bytes, or the next possible number.
    pub(super) fn of(first: u64) -> Self {
        let first = first.clamp(MIN_PART_BYTES, MAX_PART_BYTES);
        let doublings = (0..RUNS).take_while(|doublings| first << doublings <= MAX_PART_BYTES).last();
        Self { first, run: 1000, doublings: doublings.unwrap_or_default() }
    }

    /// Size of a part.
    pub(super) fn size(self, index: u64) -> u64 {
        self.first << (index / self.run).min(self.doublings)
    }

    /// Where a part starts.
    pub(super) fn start(self, index: u64) -> u64 {
        let run = index / self.run;
        let doubled = run.min(self.doublings);
        let before = self.run * self.first * ((1 << doubled) - 1);
        before + (index - doubled * self.run) * self.size(index)
    }

    /// The part that holds an offset below [`max`](Self::most).
    pub(super) fn index(self, offset: u64) -> u64 {
        let run = (1..RUNS).take_while(|run| self.start(run * self.run) <= offset).count() as u64;
        let first = run * self.run;
        first + (offset - self.start(first)) / self.size(first)
    }

    /// Maximum size of an object.
    pub(super) fn max(self) -> u64 {
        self.start(RUNS * self.run)
    }

    /// Number of parts of an object; 0 for an empty one.
    pub(super) fn count(self, len: u64) -> u64 {
        len.checked_sub(1).map_or(0, |last| self.index(last) + 1)
    }

    /// The parts of a range: index, offset inside the part, and length.
    pub(super) fn pieces(self, offset: u64, len: u64) -> impl Iterator<Item = (u64, u64, u64)> {
        let end = offset + len;
        let mut at = offset;
        std::iter::from_fn(move || {
            (at < end).then(|| {
                let index = self.index(at);
                let within = at - self.start(index);
                let len = (self.size(index) - within).min(end - at);
                at += len;
                (index, within, len)
            })
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_follow_each_other_and_reach_five_tebibytes() {
        for first in [0, 5 << 20, 7_654_321, 8 << 20, 16_500_000, 50_000_000, 512 << 20, u64::MAX] {
            let sizes = PartSizes::of(first);
            let mut at = 0;
            for index in 0..RUNS * sizes.run {
                let size = sizes.size(index);
                assert_eq!(sizes.start(index), at);
                assert_eq!([at, at + size - 1].map(|offset| sizes.index(offset)), [index; 2]);
                assert!((MIN_PART_BYTES..=MAX_PART_BYTES).contains(&size), "{first}: {size}");
                at += size;
            }
            assert_eq!(sizes.max(), at);
            assert!(at > 5 << 40, "{first}: {at}");
        }
    }

    #[test]
    fn parts_of_an_object_are_counted() {
        let sizes = PartSizes::default();
        assert_eq!([0, 1, 8 << 20, (8 << 20) + 1].map(|len| sizes.count(len)), [0, 1, 1, 2]);
        assert_eq!(PartSizes::of(50_000_000).count(100_000_001), 3);
    }
}
