//! Rows at equal distances that are held before they are written: the records of a variable, which shares them with others. Those of
//! variables that are next to each other become longer rows, and a run of bytes once nothing is between them.
use ncirrus_layout::PatchRows;

/// Rows at equal distances.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct HeldRows {
    offset: u64,
    /// Bytes from the beginning of a row to that of the next.
    stride: u64,
    /// Bytes of a row; at most the stride, and not 0.
    row: usize,
    count: usize,
    /// All rows, one after the other.
    bytes: Vec<u8>,
}

/// How rows continue others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct SharedRows {
    /// Rows of the first and of the second before those that are shared.
    skipped: (usize, usize),
    count: usize,
}

impl HeldRows {
    /// The rows of a put.
    pub(super) fn of(rows: PatchRows) -> Self {
        let PatchRows { object: _, offset, stride, row, bytes } = rows;
        let row = row.max(1);
        Self { offset, stride: stride.max(row as u64), row, count: bytes.len() / row, bytes }
    }

    /// Where the first row begins.
    pub(super) fn offset(&self) -> u64 {
        self.offset
    }

    /// Where the last row ends.
    pub(super) fn end(&self) -> u64 {
        match self.count.checked_sub(1) {
            Some(last) => self.row_at(last).saturating_add(self.row as u64),
            None => self.offset,
        }
    }

    /// How many rows there are.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// Bytes of all rows.
    pub(super) fn byte_len(&self) -> usize {
        self.bytes.len()
    }

    fn row_at(&self, number: usize) -> u64 {
        self.offset.saturating_add(self.stride.saturating_mul(number as u64))
    }

    /// The rows, each with its offset.
    pub(super) fn each(&self) -> impl Iterator<Item = (u64, &[u8])> {
        self.bytes.chunks_exact(self.row).enumerate().map(|(number, row)| (self.row_at(number), row))
    }

    /// Whether a range of bytes meets a row.
    pub(super) fn meets(&self, start: u64, end: u64) -> bool {
        if end <= self.offset || start >= self.end() || start >= end {
            return false;
        }
        let last_begun = usize::try_from((end - 1 - self.offset) / self.stride).unwrap_or(usize::MAX);
        let last = last_begun.min(self.count.saturating_sub(1));
        self.row_at(last).saturating_add(self.row as u64) > start
    }

    /// Whether rows may meet others.
    pub(super) fn meets_rows(&self, other: &Self) -> bool {
        if self.end() <= other.offset || other.end() <= self.offset {
            return false;
        }
        if self.stride != other.stride {
            return other
                .each()
                .any(|(offset, row)| self.meets(offset, offset.saturating_add(row.len() as u64)));
        }
        let (own, others) = (self.offset % self.stride, other.offset % self.stride);
        let behind = if others >= own { others - own } else { others + self.stride - own };
        behind < self.row as u64 || behind.saturating_add(other.row as u64) > self.stride
    }

    /// Whether most rows of the one have rows of the other directly before or behind them.
    pub(super) fn adjoins(&self, other: &Self) -> bool {
        self.followed_by(other).or_else(|| other.followed_by(self)).is_some()
    }

    /// Which rows of another one are directly behind rows of this one, if most of both are.
    fn followed_by(&self, other: &Self) -> Option<SharedRows> {
        let first_end = self.offset.checked_add(self.row as u64)?;
        let distance = other.offset.abs_diff(first_end);
        let fits = self.row.checked_add(other.row).is_some_and(|row| row as u64 <= self.stride);
        if self.stride != other.stride || !distance.is_multiple_of(self.stride) || !fits {
            return None;
        }
        let rows = usize::try_from(distance / self.stride).ok()?;
        let skipped = if other.offset >= first_end { (rows, 0) } else { (0, rows) };
        let count = self.count.checked_sub(skipped.0)?.min(other.count.checked_sub(skipped.1)?);
        let apart = self.count + other.count - 2 * count;
        (apart <= count).then_some(SharedRows { skipped, count })
    }

    /// Both, where they adjoin, as longer rows in a buffer that is empty, and the rows of one of them that do not. The memory of both is
    /// passed to `freed`.
    pub(super) fn joined(
        self,
        other: Self,
        mut bytes: Vec<u8>,
        mut freed: impl FnMut(Vec<u8>),
    ) -> (Self, Vec<(u64, Vec<u8>)>) {
        let (first, second, shared) = match (self.followed_by(&other), other.followed_by(&self)) {
            (Some(shared), _) => (self, other, shared),
            (None, Some(shared)) => (other, self, shared),
            (None, None) => {
                let apart = other.each().map(|(offset, row)| (offset, row.to_vec())).collect();
                return (self, apart);
            }
        };
        let SharedRows { skipped, count } = shared;
        let mut apart = Vec::new();
        for (rows, skipped) in [(&first, skipped.0), (&second, skipped.1)] {
            let is_apart = |number: usize| number < skipped || number >= skipped + count;
            let each = rows.each().enumerate().filter(|(number, _)| is_apart(*number));
            apart.extend(each.map(|(_, (offset, row))| (offset, row.to_vec())));
        }
        bytes.reserve(count * (first.row + second.row));
        let seconds = second.bytes.chunks_exact(second.row).skip(skipped.1);
        for (one, other) in first.bytes.chunks_exact(first.row).skip(skipped.0).zip(seconds).take(count) {
            bytes.extend_from_slice(one);
            bytes.extend_from_slice(other);
        }
        let (offset, stride, row) = (first.row_at(skipped.0), first.stride, first.row + second.row);
        [first.bytes, second.bytes].into_iter().for_each(&mut freed);
        (Self { offset, stride, row, count, bytes }, apart)
    }

    /// Where they begin and their bytes, if nothing is between them.
    ///
    /// # Errors
    /// The rows as they are, if something is.
    pub(super) fn into_run(self) -> Result<(u64, Vec<u8>), Self> {
        if self.row as u64 == self.stride || self.count == 1 {
            Ok((self.offset, self.bytes))
        } else {
            Err(self)
        }
    }
}
