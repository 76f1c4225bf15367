//! Where new bytes go: the end of the file, or places that this handle itself has left.
use crate::address::FileAddress;
use std::collections::BTreeMap;

/// Hands out places. Space that existed before the file was opened is never handed out: what seems unused may be listed
/// as free by the file itself (docs/spec/hdf5-netcdf4.md J.6).
#[derive(Debug, Clone, Default)]
pub(crate) struct SpaceAllocator {
    /// Where the space began: what lies before was not handed out here.
    start: u64,
    /// First address behind everything.
    end: u64,
    /// Every place begins at a multiple of this: 8, or more when chunks are aligned.
    free: BTreeMap<u64, Vec<u64>>,
    /// Places that become free when what was planned is durable.
    leaving: Vec<(FileAddress, u64)>,
}

impl SpaceAllocator {
    /// Space that begins at `end`.
    pub(crate) fn new(end: u64) -> Self {
        Self { start: end, end, ..Self::default() }
    }

    /// First address behind everything that was handed out.
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// A place of `len` bytes at a multiple of `align` (a power of two): one of the same length that was left before,
    /// else behind everything.
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

    /// Gives back a place: it can be had again once what is planned now is durable, because until then a reader may
    /// still look there. One that was not handed out here stays unused.
    pub(crate) fn leave(&mut self, addr: FileAddress, len: u64) {
        if addr.0 >= self.start {
            self.leaving.push((addr, len));
        }
    }

    /// Gives back a place that no reader knows of: it can be had again at once.
    pub(crate) fn free(&mut self, addr: FileAddress, len: u64) {
        self.free.entry(len).or_default().push(addr.0);
    }

    /// What was planned is durable.
    pub(crate) fn committed(&mut self) {
        for (addr, len) in std::mem::take(&mut self.leaving) {
            self.free(addr, len);
        }
    }
}
