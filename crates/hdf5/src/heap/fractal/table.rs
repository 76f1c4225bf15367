//! The doubling table: which blocks an indirect block has, and what part of the heap each covers
//! (docs/spec/hdf5-netcdf4.md C.3).
use ncirrus_layout::Error;

/// The parameters of a heap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct DoublingTable {
    /// Blocks of one row.
    pub(super) width: u64,
    /// Bytes of a block of the first row; a power of two.
    pub(super) first: u64,
    /// Bytes of the largest direct block; a power of two.
    pub(super) largest: u64,
    /// Bits of an offset in the heap.
    pub(super) bits: u16,
}

/// A place in an indirect block.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TableSlot {
    pub(super) row: u16,
    /// Number of the entry among all of the block.
    pub(super) index: u64,
    /// Offset in the heap at which the entry's block begins.
    pub(super) offset: u64,
    /// Size of the part of the heap that it covers.
    pub(super) len: u64,
}

impl DoublingTable {
    pub(super) fn check(self) -> Result<Self, Error> {
        let powers = [self.width, self.first, self.largest].iter().all(|number| number.is_power_of_two());
        let bits = u64::from(self.bits);
        let fits =
            self.row_bits() < 64 && self.row_bits() <= bits && bits <= 64 && self.first <= self.largest;
        if powers && fits {
            return Ok(self);
        }
        Err(Error::malformed(format!(
            "a fractal heap of width {}, blocks of {} to {} bytes and {} bits",
            self.width, self.first, self.largest, self.bits
        )))
    }

    /// Bits of the length of the first row.
    fn row_bits(self) -> u64 {
        u64::from(self.width.checked_ilog2().unwrap_or(64))
            + u64::from(self.first.checked_ilog2().unwrap_or(64))
    }

    /// Bytes of an offset in the heap.
    pub(super) fn offset_width(self) -> usize {
        usize::from(self.bits.div_ceil(8))
    }

    /// Maximum number of rows of an indirect block.
    pub(super) fn max_rows(self) -> u16 {
        u16::try_from(u64::from(self.bits).saturating_sub(self.row_bits()) + 1).unwrap_or(u16::MAX)
    }

    /// Number of rows whose blocks are direct.
    pub(super) fn direct_rows(self) -> u16 {
        u16::try_from(self.largest.ilog2() - self.first.ilog2() + 2).unwrap_or(u16::MAX)
    }

    /// Size of a block of that row; `None` beyond 64 bits.
    pub(super) fn block_len(self, row: u16) -> Option<u64> {
        let doubled = u32::from(row.saturating_sub(1));
        1_u64.checked_shl(doubled).and_then(|times| times.checked_mul(self.first))
    }

    /// Rows of the indirect block that is an entry of that row.
    pub(super) fn rows_below(self, row: u16) -> u16 {
        let bits = self.block_len(row).map_or(64, |len| u64::from(len.ilog2()));
        u16::try_from((bits + 1).saturating_sub(self.row_bits())).unwrap_or(u16::MAX)
    }

    /// The entry that covers `offset` in an indirect block that begins at `start` and has that many rows.
    pub(super) fn slot(self, start: u64, rows: u16, offset: u64) -> Result<TableSlot, Error> {
        let beyond = || Error::malformed(format!("offset {offset} lies beyond the heap's blocks"));
        let within = offset.checked_sub(start).ok_or_else(beyond)?;
        let first_row = self.width * self.first;
        let doublings = (within / first_row).checked_ilog2().map_or(0, |log| log + 1);
        let row = u16::try_from(doublings).ok().filter(|row| *row < rows).ok_or_else(beyond)?;
        let len = self.block_len(row).ok_or_else(beyond)?;
        let row_start = if row == 0 { 0 } else { first_row << (doublings - 1) };
        let column = (within - row_start) / len;
        let offset = start + row_start + column * len;
        Ok(TableSlot { row, index: u64::from(row) * self.width + column, offset, len })
    }
}

#[cfg(test)]
mod tests;
