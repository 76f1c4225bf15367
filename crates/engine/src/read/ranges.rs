//! Chunks that the store has as ranges of other objects.
use ncirrus_layout::{ChunkRef, Location, Result};
use ncirrus_store::{Store, StoreExt};

/// Replaces the locations of whole objects by those of ranges, where possible. A local store has no such objects.
///
/// # Errors
/// Errors of a store that has to read where its objects are.
pub(crate) async fn as_ranges(store: &dyn Store, mut located: Vec<ChunkRef>) -> Result<Vec<ChunkRef>> {
    if store.local().is_some() {
        return Ok(located);
    }
    let (mut objects, mut places) = (Vec::new(), Vec::new());
    for chunk in &mut located {
        if let Location::Object(object) = &chunk.location {
            objects.push(object.clone());
            places.push(&mut chunk.location);
        }
    }
    for (place, range) in places.into_iter().zip(store.within_many(&objects).await?) {
        if let Some((object, range)) = range {
            *place = Location::Bytes(object, range);
        }
    }
    Ok(located)
}
