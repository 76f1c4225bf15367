//! Blocks of memory that files were opened from.
use crate::c_types::memory::Lending;
use std::collections::BTreeMap;
use std::ffi::c_int;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The bytes that files were opened from, by the ids of their root groups.
static BLOCKS: Mutex<BTreeMap<c_int, OpenedBlock>> = Mutex::new(BTreeMap::new());

#[derive(Debug, Clone)]
pub(crate) struct OpenedBlock {
    pub(crate) address: usize,
    pub(crate) len: usize,
    /// Whether the library frees it.
    pub(crate) is_ours: bool,
    /// To know when nothing reads it any more.
    pub(crate) lending: Lending,
}

fn blocks() -> MutexGuard<'static, BTreeMap<c_int, OpenedBlock>> {
    BLOCKS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Remembers the block of a file.
pub(crate) fn insert(root: c_int, block: OpenedBlock) {
    blocks().insert(root, block);
}

/// The block of a file.
pub(crate) fn find(root: c_int) -> Option<OpenedBlock> {
    blocks().get(&root).cloned()
}

/// The block of a file, which is forgotten.
pub(crate) fn remove(root: c_int) -> Option<OpenedBlock> {
    blocks().remove(&root)
}

/// All blocks, which no other thread changes meanwhile.
pub(crate) fn held() -> Box<dyn std::any::Any> {
    Box::new(blocks())
}
