//! The memory that reading and writing may hold.
use ncirrus_layout::{Error, Result};
use std::sync::Arc;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

/// Bytes that reading and writing may hold besides the caller's own buffers. Bytes in flight take shares of it.
pub(crate) struct MemoryBudget {
    bytes: usize,
    shares: Arc<Semaphore>,
    units: u32,
}

/// A share of the session's memory for bytes in flight, given back when dropped.
pub(crate) struct MemoryPermit {
    _permit: OwnedSemaphorePermit,
}

/// Bytes that one permit of the semaphore represents: it counts to 2^32 at most.
const UNIT: usize = 4096;

impl MemoryBudget {
    /// `bytes` bytes, all of them free.
    pub(crate) fn new(bytes: usize) -> Self {
        let units = u32::try_from(bytes / UNIT).unwrap_or(u32::MAX).max(1);
        Self { bytes, shares: Arc::new(Semaphore::new(units as usize)), units }
    }

    /// Its total size.
    pub(crate) fn bytes(&self) -> usize {
        self.bytes
    }

    /// A share, if that much is free now. More than the whole budget counts as all of it.
    pub(crate) fn try_share(&self, bytes: usize) -> Option<MemoryPermit> {
        let permit = Arc::clone(&self.shares).try_acquire_many_owned(self.units(bytes)).ok()?;
        Some(MemoryPermit { _permit: permit })
    }

    /// A share, as soon as that much is free.
    pub(crate) async fn share(&self, bytes: usize) -> Result<MemoryPermit> {
        let permit = Arc::clone(&self.shares).acquire_many_owned(self.units(bytes)).await;
        let permit = permit.map_err(|_| Error::internal("the memory budget is closed"))?;
        Ok(MemoryPermit { _permit: permit })
    }

    fn units(&self, bytes: usize) -> u32 {
        u32::try_from(bytes.div_ceil(UNIT)).unwrap_or(u32::MAX).clamp(1, self.units)
    }
}
