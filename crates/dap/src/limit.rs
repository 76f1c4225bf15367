//! Limits that the protocol's documents have beyond those of the session.
use ncirrus_layout::{Limits, Result};

/// Most bytes of a DDS, DAS or DMR: the largest known are a hundred times smaller.
const DOCUMENT_BYTES: u64 = 64 << 20;

/// Checks the length of a document.
pub(crate) fn document(len: usize, what: &str, limits: &Limits) -> Result<()> {
    let document = Limits { metadata_bytes: limits.metadata_bytes.min(DOCUMENT_BYTES), ..limits.clone() };
    document.metadata_len(len as u64, what).map(|_| ())
}
