//! Chunks placed behind the file's data while their final positions are still occupied.
use ncirrus_model::VarId;
use std::collections::BTreeMap;

/// The chunks in the scratch area.
#[derive(Debug, Default)]
pub(crate) struct ScratchArea {
    pieces: BTreeMap<(VarId, u64), ScratchPiece>,
}

/// One chunk, or several records of one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct ScratchPiece {
    /// Its offset.
    pub(crate) offset: u64,
    /// Number of chunks.
    pub(crate) count: u64,
    /// Size of one chunk.
    pub(crate) unit: u64,
}

impl ScratchArea {
    /// Reserves space for chunks that begin at `index`: where they are already, or else at `end`. Returns the offset.
    pub(crate) fn place(&mut self, var: VarId, index: u64, new: ScratchPiece) -> u64 {
        let held = self.find(var, index).filter(|held| held.unit == new.unit && held.count >= new.count);
        if let Some(held) = held {
            return held.offset;
        }
        let last = index.saturating_add(new.count);
        let covered: Vec<_> = self.pieces.range((var, index)..(var, last)).map(|(key, _)| *key).collect();
        for key in covered {
            self.pieces.remove(&key);
        }
        self.pieces.insert((var, index), new);
        new.offset
    }

    /// The chunks from `index` to the end of the piece that holds it.
    pub(crate) fn find(&self, var: VarId, index: u64) -> Option<ScratchPiece> {
        let (&(_, start), piece) = self.pieces.range((var, 0)..=(var, index)).next_back()?;
        let skipped = index - start;
        let count = piece.count.checked_sub(skipped).filter(|count| *count > 0)?;
        Some(ScratchPiece {
            offset: piece.offset.checked_add(skipped.checked_mul(piece.unit)?)?,
            count,
            ..*piece
        })
    }

    /// The pieces of a variable, with the number of their first chunk.
    pub(crate) fn of(&self, var: VarId) -> impl Iterator<Item = (u64, ScratchPiece)> + '_ {
        self.pieces.range((var, 0)..=(var, u64::MAX)).map(|((_, index), piece)| (*index, *piece))
    }

    /// Whether a variable has chunks here.
    pub(crate) fn holds(&self, var: VarId) -> bool {
        self.of(var).next().is_some()
    }

    /// Whether there is none.
    pub(crate) fn is_empty(&self) -> bool {
        self.pieces.is_empty()
    }

    /// Keeps only the chunks of variables that pass the test.
    pub(crate) fn retain(&mut self, keep: impl Fn(VarId) -> bool) {
        self.pieces.retain(|(var, _), _| keep(*var));
    }

    /// Forgets all chunks.
    pub(crate) fn clear(&mut self) {
        self.pieces.clear();
    }
}
