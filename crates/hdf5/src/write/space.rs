//! Allocation of new space: at the end of the file, or in space freed by this handle.
use crate::address::FileAddress;
use std::collections::BTreeMap;

/// Allocates space. Space that existed before the file was opened is never reused: what seems unused may be listed as
/// free by the file itself (docs/spec/hdf5-netcdf4.md J.6).
#[derive(Debug, Clone, Default)]
pub(crate) struct SpaceAllocator {
    /// Where the space began: nothing before it was allocated here.
    start: u64,
    /// First address behind everything.
    end: u64,
    /// Alignment of every allocation: 8, or more if chunks are aligned.
    free: BTreeMap<u64, Vec<u64>>,
    /// Space that becomes free when the planned changes are durable.
    leaving: Vec<(FileAddress, u64)>,
}

impl SpaceAllocator {
    /// Space that begins at `end`.
    pub(crate) fn new(end: u64) -> Self {
        Self { start: end, end, ..Self::default() }
    }

    /// First address behind everything that was allocated.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Allocates `len` bytes at a multiple of `align` (a power of two): freed space of the same length if there is
    /// any, otherwise behind everything.
    pub(crate) fn take(&mut self, len: u64, align: u64) -> FileAddress {
        if let Some(places) = self.free.get_mut(&len)
            && let Some(at) = places.iter().rposition(|at| at.is_multiple_of(align.max(1)))
        {
            return FileAddress(places.swap_remove(at));
        }
        let start = self.end.next_multiple_of(align.max(1));
        self.end = start.saturating_add(len);
        FileAddress(start)
    }

    /// Frees space: it can be reused once the planned changes are durable, because until then a reader may still use
    /// it. Space that was not allocated here stays unused.
    pub(crate) fn leave(&mut self, addr: FileAddress, len: u64) {
        if addr.0 >= self.start {
            self.leaving.push((addr, len));
        }
    }

    /// Frees space that no reader knows of: it can be reused at once.
    pub(crate) fn free(&mut self, addr: FileAddress, len: u64) {
        self.free.entry(len).or_default().push(addr.0);
    }

    /// The planned changes are durable.
    pub(crate) fn committed(&mut self) {
        for (addr, len) in std::mem::take(&mut self.leaving) {
            self.free(addr, len);
        }
    }
}
