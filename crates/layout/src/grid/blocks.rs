//! Blocks along one axis: some of given lengths, followed by an unlimited number of one length.

/// Blocks along an axis: some of given lengths, followed by more of one length.
#[derive(Debug, Clone)]
pub struct AxisBlocks {
    given: Vec<u64>,
    block: u64,
}

/// A block that is touched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AxisBlock {
    /// Its number.
    pub at: usize,
    /// Its first element.
    pub start: u64,
    /// Its full length.
    pub len: u64,
}

impl AxisBlocks {
    /// Blocks of the given lengths, then more of `block` elements, at least one.
    pub fn new(given: Vec<u64>, block: u64) -> Self {
        Self { given, block: block.max(1) }
    }

    /// The first element of a block.
    pub fn start(&self, at: usize) -> u64 {
        let given: u64 = self.given.iter().take(at).sum();
        let more = at.saturating_sub(self.given.len()) as u64;
        given.saturating_add(more.saturating_mul(self.block))
    }

    /// The blocks that hold elements from `start` to before `end`, cut at `limit`.
    pub fn between(&self, start: u64, end: u64, limit: Option<u64>) -> Vec<AxisBlock> {
        let all: u64 = self.given.iter().sum();
        let mut blocks = Vec::new();
        let mut next = 0u64;
        for (at, len) in self.given.iter().enumerate() {
            if next < end && next + len > start {
                blocks.push(AxisBlock { at, start: next, len: *len });
            }
            next += len;
        }
        let mut more = start.saturating_sub(all) / self.block;
        while end > all && all + more * self.block < end {
            let (at, first) =
                (self.given.len() + usize::try_from(more).unwrap_or(usize::MAX), all + more * self.block);
            let len = limit.map_or(self.block, |limit| self.block.min(limit.saturating_sub(first)));
            blocks.push(AxisBlock { at, start: first, len });
            more += 1;
        }
        blocks
    }

    /// Number of blocks of an axis of that length.
    pub fn count(&self, len: u64) -> u64 {
        let mut all = 0u64;
        for (at, given) in self.given.iter().enumerate() {
            if all >= len {
                return at as u64;
            }
            all = all.saturating_add(*given);
        }
        (self.given.len() as u64).saturating_add(len.saturating_sub(all).div_ceil(self.block))
    }

    /// Lengths of all blocks of an axis of that length.
    pub fn sizes(&self, len: u64) -> Vec<u64> {
        self.between(0, len, Some(len)).into_iter().map(|block| block.len).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn block(at: usize, start: u64, len: u64) -> AxisBlock {
        AxisBlock { at, start, len }
    }

    #[test]
    fn blocks_follow_each_other_without_end() {
        let blocks = AxisBlocks::new(Vec::new(), 4);
        assert_eq!(blocks.between(3, 9, None), [block(0, 0, 4), block(1, 4, 4), block(2, 8, 4)]);
        assert_eq!(blocks.between(8, 9, Some(10)), [block(2, 8, 2)]);
        assert_eq!(blocks.sizes(10), [4, 4, 2]);
        assert_eq!((blocks.count(0), blocks.count(8), blocks.count(10)), (0, 2, 3));
        assert_eq!(blocks.start(2), 8);
    }

    #[test]
    fn given_blocks_go_first() {
        let blocks = AxisBlocks::new(vec![3, 5], 3);
        assert_eq!(blocks.between(2, 9, None), [block(0, 0, 3), block(1, 3, 5), block(2, 8, 3)]);
        assert_eq!(blocks.between(11, 12, None), [block(3, 11, 3)]);
        assert_eq!((blocks.start(1), blocks.start(3)), (3, 11));
        assert_eq!((blocks.count(3), blocks.count(8), blocks.count(9)), (1, 2, 3));
    }
}
