//! Which dimensions have grown, in the order in which they did.
use ncirrus_model::DimId;
use std::collections::{BTreeMap, HashMap};

/// Dimensions that have grown, each at the time when it did last.
#[derive(Debug, Default)]
pub(super) struct GrowthLog {
    times: HashMap<DimId, u64>,
    dims: BTreeMap<u64, DimId>,
    end: u64,
}

impl GrowthLog {
    /// Notes that a dimension has grown.
    pub(super) fn note(&mut self, dim: DimId) {
        self.end += 1;
        if let Some(former) = self.times.insert(dim, self.end) {
            self.dims.remove(&former);
        }
        self.dims.insert(self.end, dim);
    }

    /// The time of the last entry.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Dimensions that have grown after some time.
    pub(super) fn since(&self, time: u64) -> impl Iterator<Item = DimId> {
        self.dims.range(time.saturating_add(1)..).map(|(_, dim)| *dim)
    }
}
