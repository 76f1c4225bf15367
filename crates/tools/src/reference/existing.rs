//! Which chunks that are separate objects exist: Zarr's index only knows their names.
use super::ReferenceInput;
use futures_util::stream::{self, StreamExt, TryStreamExt};
use ncirrus::internals::DatasetInternals;
use ncirrus::{Result, Session};
use ncirrus_engine::StoredChunk;
use ncirrus_layout::{ErrorKind, Location, ObjectId, Want};
use ncirrus_store::{Store, StoreExt};
use std::collections::HashSet;

/// Removes chunks that do not exist. On object stores they are listed, on others checked one by one.
///
/// # Errors
/// Errors of the store.
pub(super) fn existing(
    input: &ReferenceInput,
    mut chunks: Vec<StoredChunk>,
    session: &Session,
) -> Result<Vec<StoredChunk>> {
    let objects: Vec<ObjectId> = chunks.iter().filter_map(object_of).cloned().collect();
    if objects.is_empty() {
        return Ok(chunks);
    }
    let store = input.dataset.reader()?.store();
    let found = session.wait_for_store(input.dataset.url(), async {
        match store.local() {
            Some(local) => {
                let is_there = |object: &ObjectId| Ok(local.stat(object)?.map(|_| object.clone()));
                objects.iter().filter_map(|object| is_there(object).transpose()).collect()
            }
            None => far(store.as_ref(), &objects).await,
        }
    });
    let found: HashSet<ObjectId> = found?;
    chunks.retain(|chunk| object_of(chunk).is_none_or(|object| found.contains(object)));
    Ok(chunks)
}

fn object_of(chunk: &StoredChunk) -> Option<&ObjectId> {
    match &chunk.stored.location {
        Location::Object(object) => Some(object),
        Location::Bytes(..) | Location::Inline(_) | Location::Absent => None,
    }
}

async fn far(store: &dyn Store, objects: &[ObjectId]) -> Result<HashSet<ObjectId>> {
    match listed(store, objects).await {
        Ok(Some(found)) => return Ok(found),
        Err(error) if !matches!(error.kind(), ErrorKind::Denied | ErrorKind::Unsupported) => {
            return Err(error);
        }
        _ => {}
    }
    let ask = |object: ObjectId| async move {
        let found = store.get(&object, &Want::Range(0..1)).await.map_err(|error| error.at_object(&object))?;
        Ok(found.map(|_| object))
    };
    let requested =
        stream::iter(objects.iter().cloned()).map(ask).buffer_unordered(store.facts().concurrency.max(1));
    requested.try_filter_map(|found| async move { Ok(found) }).try_collect().await
}

/// The objects below the common prefix of all; `None` if only names are listed, level by level.
async fn listed(store: &dyn Store, objects: &[ObjectId]) -> Result<Option<HashSet<ObjectId>>> {
    let Some(first) = objects.first() else { return Ok(Some(HashSet::new())) };
    let common = objects.iter().fold(first.key(), |common, object| shared(common, object.key()));
    let folder = common.rsplit_once('/').map_or("", |(folder, _)| folder);
    let prefix = ObjectId::new(first.store.clone(), folder);
    let (mut found, mut page) = (HashSet::new(), None::<String>);
    loop {
        let Some(answer) = store.objects(&prefix, page.as_deref()) else { return Ok(None) };
        let answer = answer.await?;
        found.extend(answer.objects.into_iter().map(|(object, _)| object));
        page = answer.next;
        if page.is_none() {
            return Ok(Some(found));
        }
    }
}

/// The common prefix of two keys.
fn shared<'a>(one: &'a str, other: &str) -> &'a str {
    let same = one.char_indices().zip(other.chars()).find(|((_, one), other)| one != other);
    let end = same.map_or(one.len().min(other.len()), |((at, _), _)| at);
    one.get(..end).unwrap_or_default()
}
