//! How a dimension is cut.

/// Blocks along a dimension: some of given lengths, and after them more of one length.
#[derive(Debug, Clone)]
pub(super) struct BlockCuts {
    given: Vec<u64>,
    block: u64,
}

/// A block that is touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TouchedBlock {
    /// Its number.
    pub(super) at: usize,
    /// Its first element.
    pub(super) start: u64,
    /// How long it is when it is full.
    pub(super) len: u64,
}

impl BlockCuts {
    pub(super) fn new(given: Vec<u64>, block: u64) -> Self {
        Self { given, block: block.max(1) }
    }

    /// The first element of a block.
    pub(super) fn start(&self, at: usize) -> u64 {
        let given: u64 = self.given.iter().take(at).sum();
        let more = at.saturating_sub(self.given.len()) as u64;
        given.saturating_add(more.saturating_mul(self.block))
    }

    /// The blocks that hold elements from `start` to before `end`; none reaches past `limit`.
    pub(super) fn between(&self, start: u64, end: u64, limit: Option<u64>) -> Vec<TouchedBlock> {
        let all: u64 = self.given.iter().sum();
        let mut cuts = Vec::new();
        let mut next = 0u64;
        for (at, len) in self.given.iter().enumerate() {
            if next < end && next + len > start {
                cuts.push(TouchedBlock { at, start: next, len: *len });
            }
            next += len;
        }
        let mut more = start.saturating_sub(all) / self.block;
        while end > all && all + more * self.block < end {
            let (at, first) =
                (self.given.len() + usize::try_from(more).unwrap_or(usize::MAX), all + more * self.block);
            let len = limit.map_or(self.block, |limit| self.block.min(limit.saturating_sub(first)));
            cuts.push(TouchedBlock { at, start: first, len });
            more += 1;
        }
        cuts
    }

    /// Lengths of all blocks of a dimension of that length.
    pub(super) fn sizes(&self, len: u64) -> Vec<u64> {
        self.between(0, len, Some(len)).into_iter().map(|cut| cut.len).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(at: usize, start: u64, len: u64) -> TouchedBlock {
        TouchedBlock { at, start, len }
    }

    #[test]
    fn blocks_follow_each_other_without_end() {
        let cuts = BlockCuts::new(Vec::new(), 4);
        assert_eq!(cuts.between(3, 9, None), [cut(0, 0, 4), cut(1, 4, 4), cut(2, 8, 4)]);
        assert_eq!(cuts.between(8, 9, Some(10)), [cut(2, 8, 2)]);
        assert_eq!(cuts.sizes(10), [4, 4, 2]);
        assert_eq!(cuts.start(2), 8);
    }

    #[test]
    fn given_blocks_go_first() {
        let cuts = BlockCuts::new(vec![3, 5], 3);
        assert_eq!(cuts.between(2, 9, None), [cut(0, 0, 3), cut(1, 3, 5), cut(2, 8, 3)]);
        assert_eq!(cuts.between(11, 12, None), [cut(3, 11, 3)]);
        assert_eq!((cuts.start(1), cuts.start(3)), (3, 11));
    }
}
