//! Files of references in memory: those that were used last, up to a number of bytes.
use super::part::RecordPart;
use hashlink::LruCache;
use ncirrus_layout::{LockExt, Result};
use std::sync::{Arc, Mutex};
use tokio::sync::OnceCell;

/// A file that is loaded once, also if several readers want it at the same time; `None` if it does not exist.
type PartCell = Arc<OnceCell<Option<Arc<RecordPart>>>>;

/// Files in memory.
#[derive(Debug)]
pub(super) struct PartCache {
    max_bytes: usize,
    held: Mutex<HeldParts>,
}

#[derive(Debug)]
struct HeldParts {
    /// By the path of the array and the number of the file.
    cells: LruCache<(String, u64), PartCell>,
    /// Bytes of all that are loaded.
    bytes: usize,
}

impl PartCache {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self { max_bytes, held: Mutex::new(HeldParts { cells: LruCache::new_unbounded(), bytes: 0 }) }
    }

    /// A file, which is loaded unless it is in memory.
    ///
    /// # Errors
    /// Errors of loading it, after which the next reader tries again.
    pub(super) async fn get(
        &self,
        (array, number): (&str, u64),
        load: impl Future<Output = Result<Option<RecordPart>>>,
    ) -> Result<Option<Arc<RecordPart>>> {
        let key = (array.to_owned(), number);
        let cell = {
            let mut held = self.held.guard();
            match held.cells.get(&key) {
                Some(cell) => Arc::clone(cell),
                None => {
                    let cell = PartCell::default();
                    held.cells.insert(key.clone(), Arc::clone(&cell));
                    cell
                }
            }
        };
        if let Some(part) = cell.get() {
            return Ok(part.clone());
        }
        let mut is_loader = false;
        let loaded = cell.get_or_try_init(|| {
            is_loader = true;
            async { load.await.map(|part| part.map(Arc::new)) }
        });
        let loaded = loaded.await.cloned();
        match &loaded {
            Ok(_) if is_loader => self.note(&key, &cell),
            Ok(_) => {}
            Err(_) => self.forget(&key, &cell),
        }
        loaded
    }

    /// Drops a file that could not be loaded.
    fn forget(&self, key: &(String, u64), cell: &PartCell) {
        let mut held = self.held.guard();
        if cell.get().is_none() && held.cells.peek(key).is_some_and(|held| Arc::ptr_eq(held, cell)) {
            held.cells.remove(key);
        }
    }

    /// Counts a file that was loaded, and drops those that were not used for longest.
    fn note(&self, key: &(String, u64), cell: &PartCell) {
        let mut held = self.held.guard();
        // It may have been dropped while it was loaded.
        if held.cells.peek(key).is_some_and(|held| Arc::ptr_eq(held, cell)) {
            held.bytes = held.bytes.saturating_add(weight(cell));
        }
        while held.bytes > self.max_bytes && held.cells.len() > 1 {
            let Some((_, dropped)) = held.cells.remove_lru() else { break };
            held.bytes = held.bytes.saturating_sub(weight(&dropped));
        }
    }
}

/// Bytes of a file that is loaded. One that does not exist takes some, too.
fn weight(cell: &PartCell) -> usize {
    cell.get().map_or(0, |part| part.as_ref().map_or(0, |part| part.weight).saturating_add(OVERHEAD))
}

/// Bytes that a file takes besides its rows.
const OVERHEAD: usize = 256;
