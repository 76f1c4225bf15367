//! Chunks that were placed outside the committed shape.
use std::collections::HashMap;

/// A set of chunks; neighbours along one axis share an entry.
#[derive(Debug, Clone, Default)]
pub(crate) struct CellSet {
    axis: usize,
    words: HashMap<Vec<u64>, u64>,
}

impl CellSet {
    /// An empty set; `axis` is the one along which most chunks lie.
    pub(crate) fn new(axis: usize) -> Self {
        Self { axis, words: HashMap::new() }
    }

    /// Adds a chunk.
    pub(crate) fn insert(&mut self, cell: &[u64]) {
        let (key, bit) = self.split(cell);
        *self.words.entry(key).or_default() |= bit;
    }

    /// Whether the chunk was added.
    pub(crate) fn contains(&self, cell: &[u64]) -> bool {
        let (key, bit) = self.split(cell);
        self.words.get(&key).is_some_and(|word| word & bit != 0)
    }

    /// How many chunks were added.
    pub(crate) fn len(&self) -> u64 {
        self.words.values().map(|word| u64::from(word.count_ones())).sum()
    }

    /// Forgets all chunks.
    pub(crate) fn clear(&mut self) {
        self.words.clear();
    }

    fn split(&self, cell: &[u64]) -> (Vec<u64>, u64) {
        let mut key = cell.to_vec();
        let Some(index) = key.get_mut(self.axis) else { return (key, 1) };
        let bit = 1 << (*index % 64);
        *index /= 64;
        (key, bit)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_distinguished() {
        let mut cells = CellSet::new(1);
        cells.insert(&[1, 63]);
        cells.insert(&[1, 64]);
        assert!(cells.contains(&[1, 63]) && cells.contains(&[1, 64]));
        assert!(!cells.contains(&[1, 127]) && !cells.contains(&[0, 63]));
        assert_eq!(cells.words.len(), 2);
        let mut scalar = CellSet::new(0);
        assert!(!scalar.contains(&[]));
        scalar.insert(&[]);
        assert!(scalar.contains(&[]));
    }
}
