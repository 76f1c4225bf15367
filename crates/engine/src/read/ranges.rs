//! Chunks that the store has as ranges of other objects.
use crate::drive::DriveContext;
use ncirrus_layout::{ChunkRef, Location, ObjectId, Result};
use ncirrus_store::{ObjectRange, Store, StoreExt};
use std::sync::Arc;

/// Replaces the locations of whole objects by those of ranges, where possible. A local store has no such objects.
///
/// # Errors
/// Errors of a store that has to read where its objects are.
pub(crate) async fn as_ranges(context: &DriveContext, mut located: Vec<ChunkRef>) -> Result<Vec<ChunkRef>> {
    let store = context.snapshot.store();
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
    let ranges = ranges(context, store, objects).await?;
    for (place, range) in places.into_iter().zip(ranges) {
        if let Some((object, range)) = range {
            *place = Location::Bytes(object, range);
        }
    }
    Ok(located)
}

async fn ranges(
    context: &DriveContext,
    store: &Arc<dyn Store>,
    objects: Vec<ObjectId>,
) -> Result<Vec<Option<ObjectRange>>> {
    if objects.is_empty() || !store.reads_where_objects_are() {
        return store.within_many(&objects).await;
    }
    let store = Arc::clone(store);
    // Requests to a network need the runtime.
    context.shared.network.run(async move { store.within_many(&objects).await })?.await
}
