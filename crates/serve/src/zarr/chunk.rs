//! Chunks: as they are stored, or encoded on request.
use super::strings;
use super::twin::{Twin, TwinArray};
use bytes::Bytes;
use ncirrus::internals::DatasetInternals;
use ncirrus::layout::{Location, ObjectBytes, Want};
use ncirrus::{Dataset, Error, ErrorKind, ObjectId, Region, Result, Selection};

impl Twin {
    /// Bytes that the chunk under a key may take in memory; `None` if there is no such chunk.
    pub(super) fn chunk_cost(&self, key: &str) -> Option<u64> {
        let (array, cell) = self.find(key)?;
        let count = region_of(array, &cell)?.element_count()?;
        count.checked_mul(array.element_len)
    }

    /// The chunk under a key; `None` if there is none, or it was never written.
    ///
    /// # Errors
    /// Errors of reading; `Limit` for a chunk of more than `max` bytes.
    pub(super) fn chunk(&self, dataset: &Dataset, key: &str, max: u64) -> Result<Option<Bytes>> {
        let Some((array, cell)) = self.find(key) else { return Ok(None) };
        let Some(region) = region_of(array, &cell) else { return Ok(None) };
        if array.is_same
            && let Some(stored) = stored(dataset, array, &region, max)?
        {
            return Ok(stored);
        }
        let variable = dataset.variable_by_id(array.source);
        let Some(encoder) = &array.encoder else {
            return strings::chunk(self.kind, array, &variable, &region);
        };
        let len = region.element_count().and_then(|count| count.checked_mul(array.element_len));
        let len = len.filter(|len| *len <= max).and_then(|len| usize::try_from(len).ok());
        let len = len.ok_or_else(|| Error::limit("the chunk is larger than the limit of a response"))?;
        let mut elements = vec![0; len];
        variable.read_bytes_into(&region.clone().into(), &mut elements)?;
        Ok(Some(encoder.encode(&cell, &elements)?.body))
    }
}

/// The elements of a chunk that are inside the array.
fn region_of(array: &TwinArray, cell: &[u64]) -> Option<Region> {
    let (mut start, mut count) = (Vec::new(), Vec::new());
    for ((at, len), whole) in cell.iter().zip(&array.chunk).zip(&array.shape) {
        let first = at.checked_mul(*len)?;
        let left = whole.checked_sub(first).filter(|left| *left > 0)?;
        start.push(first);
        count.push(left.min(*len));
    }
    Some(Region { start, count })
}

/// The bytes that are stored: the outer `None` if they are not those of a chunk of Zarr, the inner one if there are none.
fn stored(dataset: &Dataset, array: &TwinArray, region: &Region, max: u64) -> Result<Option<Option<Bytes>>> {
    let chunks = dataset.stored_chunks(array.source, &Selection::from(region.clone()))?;
    let [chunk] = chunks.as_slice() else {
        return Ok(chunks.is_empty().then_some(None));
    };
    if chunk.stored.mask != 0 {
        return Ok(None);
    }
    let (object, want) = match &chunk.stored.location {
        Location::Bytes(object, range) if range.end.saturating_sub(range.start) <= max => {
            (object, Want::Range(range.clone()))
        }
        Location::Object(object) => (object, Want::AtMost(max)),
        Location::Inline(bytes) => return Ok(Some(Some(bytes.clone()))),
        Location::Absent => return Ok(Some(None)),
        Location::Bytes(..) => return Err(Error::limit("the chunk is larger than the limit of a response")),
    };
    let found = fetch(dataset, object, &want)?;
    let Want::Range(range) = want else { return Ok(Some(found.map(|found| found.bytes))) };
    // An index named the bytes: the object must be there, in the state in which the index was read.
    let changed =
        || Error::new(ErrorKind::Changed, "the object that an index names is gone").at_object(object);
    let found = found.ok_or_else(changed)?;
    dataset.reader()?.check_state(object, &found.tag)?;
    if (found.bytes.len() as u64) < range.end.saturating_sub(range.start) {
        return Err(Error::malformed("the object ends inside a chunk").at_object(object));
    }
    Ok(Some(Some(found.bytes)))
}

/// What the dataset's store has. The wait ends with the request.
fn fetch(dataset: &Dataset, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
    let store = dataset.reader()?.store();
    let fetched = store.get(object, want);
    if store.local().is_some() {
        dataset.engine().wait(fetched)
    } else {
        dataset.engine().wait_for_store(fetched)
    }
}
