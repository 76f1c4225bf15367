//! Chunks that are so small that they are embedded.
use futures_util::stream::{self, StreamExt, TryStreamExt};
use ncirrus::internals::SessionInternals;
use ncirrus::{Error, Result, Session};
use ncirrus_layout::{ObjectId, Want};
use ncirrus_store::Store;
use std::ops::Range;
use std::sync::Arc;

/// A chunk whose bytes are to be embedded.
pub(super) struct SmallChunk {
    pub(super) key: String,
    /// The variable and the number of the chunk.
    pub(super) path: String,
    pub(super) cell: Vec<u64>,
    pub(super) store: Arc<dyn Store>,
    pub(super) object: ObjectId,
    pub(super) range: Range<u64>,
}

/// Chunks that are read at the same time.
const AT_ONCE: usize = 64;

/// The bytes of chunks, with their keys.
///
/// # Errors
/// Errors of the stores; `NotFound` or `Malformed` for objects that do not exist or end before a chunk does.
pub(super) fn read_all(chunks: Vec<SmallChunk>, session: &Session) -> Result<Vec<(String, Vec<u8>)>> {
    let is_remote = chunks.iter().any(|chunk| chunk.store.local().is_none());
    let read = stream::iter(chunks).map(SmallChunk::read).buffer_unordered(AT_ONCE).try_collect();
    if is_remote { session.engine().wait_for_store(read) } else { session.engine().wait(read) }
}

impl SmallChunk {
    async fn read(self) -> Result<(String, Vec<u8>)> {
        let want = Want::Range(self.range.clone());
        let found = self.store.get(&self.object, &want).await;
        let whole = found.and_then(|found| {
            let found = found.ok_or_else(|| Error::not_found("no such object"))?;
            let len = self.range.end.saturating_sub(self.range.start);
            if found.bytes.len() as u64 != len {
                let message = format!("{} bytes instead of {len} of a chunk", found.bytes.len());
                return Err(Error::malformed(message).at_offset(self.range.start));
            }
            Ok(found.bytes.to_vec())
        });
        let placed =
            |error: Error| error.at_object(&self.object).at_path(self.path.clone()).at_chunk(&self.cell);
        let bytes = whole.map_err(placed)?;
        Ok((self.key, bytes))
    }
}
