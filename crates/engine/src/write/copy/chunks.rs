//! Chunks that are copied without decoding them.
use super::{PassedChunkCheck, VariableCopy};
use crate::drive::ReadDepth;
use crate::drive::{DriveContext, fetch_range};
use crate::merge::{MergedRequest, merge};
use crate::read::{absent_object, as_ranges, part_of};
use crate::request_log;
use crate::resources::{FirstRequest, InFlight, MemoryPermit, WorkerBuffers};
use crate::write::encoded::EncodedChunk;
use ncirrus_layout::LockExt;

use crate::write::target::WriteTarget;
use bytes::Bytes;
use ncirrus_layout::{CellList, ChunkIndex, ChunkRef, Error, Location, ObjectBytes, ObjectId, Result};
use ncirrus_model::Region;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A copy whose chunks can be copied unchanged.
pub(super) struct PassThroughCopy {
    /// The chunk index of the source.
    pub(super) index: Arc<dyn ChunkIndex>,
    /// The shape of a chunk, in both datasets.
    pub(super) chunk: Vec<u64>,
    /// The shape of a shard of the destination.
    pub(super) shard: Option<Vec<u64>>,
    /// Which axes of the destination may grow.
    pub(super) growing: Vec<bool>,
    /// Whether the codecs correspond one by one, so that masks of skipped codecs remain valid.
    pub(super) same_length: bool,
    /// Whether chunks that were never written can be omitted.
    pub(super) sparse: bool,
    /// Chunks that are copied at once.
    pub(super) window: usize,
    /// The destination.
    pub(super) target: Arc<WriteTarget>,
}

/// What was found of a batch of chunks.
#[derive(Default)]
pub(super) struct FoundChunks {
    /// Chunks that are copied unchanged.
    pub(super) encoded: Vec<EncodedChunk>,
    /// The elements of those that have to be decoded.
    pub(super) others: Vec<Region>,
    /// Number of elements of chunks that are copied unchanged or need not be written.
    pub(super) elements: u64,
}

/// What happens to a chunk.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ChunkFate {
    /// It is copied unchanged.
    Passes,
    /// It is decoded and encoded.
    Recoded,
    /// It was never written and need not be.
    LeftOut,
}

impl PassThroughCopy {
    /// The chunk that begins where a box does.
    pub(super) fn cell_of(&self, region: &Region) -> Vec<u64> {
        region.start.iter().zip(&self.chunk).map(|(start, len)| start / len).collect()
    }

    /// The elements of a chunk.
    pub(super) fn region(&self, cell: &[u64], shape: &[u64]) -> Region {
        let start: Vec<u64> = cell.iter().zip(&self.chunk).map(|(at, len)| at * len).collect();
        let count = start.iter().zip(&self.chunk).zip(shape);
        let count = count.map(|((start, chunk), len)| len.saturating_sub(*start).min(*chunk)).collect();
        Region { start, count }
    }

    /// Where chunks of the source are stored.
    ///
    /// # Errors
    /// A damaged index.
    pub(super) async fn locate(&self, copy: &VariableCopy<'_>, cells: &CellList) -> Result<Vec<ChunkRef>> {
        let context = copy.source.context(ReadDepth::default());
        let places = context.drive(|view| self.index.locate(view, cells)).await;
        let places = places.map_err(|error| copy.located(error))?;
        as_ranges(&context, places).await.map_err(|error| copy.located(error))
    }

    /// What happens to a chunk at that location.
    pub(super) fn fate(&self, copy: &VariableCopy<'_>, region: &Region, place: &ChunkRef) -> ChunkFate {
        let mut axes = region.count.iter().zip(&self.chunk).zip(&self.growing);
        // Elements of a chunk outside the array must not become visible when the array grows.
        let may_grow = axes.any(|((count, chunk), grows)| *grows && count < chunk);
        match &place.location {
            Location::Absent if self.sparse => ChunkFate::LeftOut,
            Location::Absent => ChunkFate::Recoded,
            _ if may_grow || !copy.writer.encoder.takes_mask(&self.target, place.mask) => ChunkFate::Recoded,
            _ if place.mask != 0 && !self.same_length => ChunkFate::Recoded,
            _ => ChunkFate::Passes,
        }
    }

    /// Finds and fetches chunks.
    ///
    /// # Errors
    /// A damaged index, otherwise errors of fetching.
    pub(super) async fn find(&self, copy: &VariableCopy<'_>, cells: &CellList) -> Result<FoundChunks> {
        let places = self.locate(copy, cells).await?;
        let (mut found, mut wanted) = (FoundChunks::default(), Vec::new());
        for (cell, place) in cells.iter().zip(places) {
            let region = self.region(cell, &copy.shape);
            match self.fate(copy, &region, &place) {
                ChunkFate::Passes => wanted.push((region, cell.to_vec(), place)),
                ChunkFate::Recoded => found.others.push(region),
                ChunkFate::LeftOut => found.elements += region.element_count().unwrap_or(0),
            }
        }
        let bodies = fetch(copy, wanted.iter().map(|(.., place)| &place.location)).await?;
        let masks = wanted.iter().map(|(.., place)| place.mask);
        let fit = self.fit(copy, bodies.iter().map(Option::as_ref).zip(masks))?;
        for (((region, cell, place), body), is_fit) in wanted.into_iter().zip(bodies).zip(fit) {
            let elements = region.element_count().unwrap_or(0);
            match body {
                Some(body) if is_fit => {
                    found.elements += elements;
                    found.encoded.push(EncodedChunk { cell, body, mask: place.mask });
                }
                None if self.sparse => found.elements += elements,
                _ => found.others.push(region),
            }
        }
        Ok(found)
    }

    /// Selects the bytes that are whole chunks. Others are decoded as if they were to be encoded anew, which reports
    /// what is wrong with them.
    fn fit<'a>(
        &self,
        copy: &VariableCopy<'_>,
        bodies: impl Iterator<Item = (Option<&'a Bytes>, u32)>,
    ) -> Result<Vec<bool>> {
        let len = self.target.cell_cost(&vec![0; self.chunk.len()]);
        let shape = self.target.cell_shape(&vec![0; self.chunk.len()])?;
        let chain = self.target.chain(&shape)?;
        let bodies: Vec<_> = bodies.collect();
        let fit: Vec<AtomicBool> = bodies.iter().map(|_| AtomicBool::new(false)).collect();
        let jobs = bodies.iter().zip(&fit).filter_map(|((body, mask), fit)| Some(((*body)?, *mask, fit)));
        let shared = &copy.source.session().shared;
        shared.for_each(jobs.collect(), usize::MAX, |(body, mask, fit), worker: &mut WorkerBuffers| {
            let WorkerBuffers { scratch, decoded, .. } = worker;
            let checked = if chain.is_identity() {
                (body.len() == len).then_some(())
            } else {
                match copy.treatment.check {
                    PassedChunkCheck::Framing => chain.check(body, mask, len, scratch).ok(),
                    PassedChunkCheck::Decoding => {
                        decoded.resize(len, 0);
                        chain.decode_into(body, mask, decoded, scratch).ok().map(|_| ())
                    }
                    PassedChunkCheck::Nothing => Some(()),
                }
            };
            fit.store(checked.is_some(), Ordering::Relaxed);
            Ok(())
        })?;
        Ok(fit.into_iter().map(AtomicBool::into_inner).collect())
    }
}

/// The bytes at several locations, in that order; `None` where there are none.
async fn fetch<'a>(
    copy: &VariableCopy<'_>,
    places: impl Iterator<Item = &'a Location>,
) -> Result<Vec<Option<Bytes>>> {
    let places: Vec<&Location> = places.collect();
    match copy.source.store().local() {
        Some(_) => fetch_locally(copy, &places),
        None => fetch_remotely(copy, &places).await,
    }
}

fn fetch_locally(copy: &VariableCopy<'_>, places: &[&Location]) -> Result<Vec<Option<Bytes>>> {
    let shared = &copy.source.session().shared;
    let bodies: Vec<Mutex<Option<Bytes>>> = places.iter().map(|_| Mutex::default()).collect();
    let jobs: Vec<_> = places.iter().zip(&bodies).collect();
    shared.for_each(jobs, usize::MAX, |(place, slot), _: &mut WorkerBuffers| {
        *slot.guard() = read_locally(copy, place)?;
        Ok(())
    })?;
    Ok(bodies.into_iter().map(|slot| slot.into_inner().unwrap_or_else(PoisonError::into_inner)).collect())
}

fn read_locally(copy: &VariableCopy<'_>, place: &Location) -> Result<Option<Bytes>> {
    let Some(local) = copy.source.store().local() else { return Ok(None) };
    let shared = &copy.source.session().shared;
    let mut body = Vec::new();
    let have = match place {
        Location::Object(object) => local.read_whole(object, shared.limits.chunk_bytes, &mut body)?,
        Location::Bytes(object, range) => {
            let len = range.end.saturating_sub(range.start);
            body.resize(shared.limits.chunk_len(len, "a chunk")?, 0);
            let have = local.read_into(object, range.start, &mut body)?;
            if have.is_some_and(|have| have < body.len()) {
                let error = Error::malformed("the file ends inside a chunk");
                return Err(error.at_object(object).at_offset(range.start));
            }
            have
        }
        Location::Inline(bytes) => return Ok(Some(bytes.clone())),
        Location::Absent => return Ok(None),
    };
    shared.counters.fetched(have.unwrap_or(0));
    if let Location::Object(object) | Location::Bytes(object, _) = place {
        let range = if let Location::Bytes(_, range) = place { Some(range) } else { None };
        request_log::read_locally(object, range, have);
    }
    match (have, place) {
        // An object that an index names must exist.
        (None, Location::Bytes(object, _)) => Err(absent_object(object)),
        (have, _) => Ok(have.map(|_| body.into())),
    }
}

/// Ranges of one object that are close together are fetched with one request, as in reads.
async fn fetch_remotely(copy: &VariableCopy<'_>, places: &[&Location]) -> Result<Vec<Option<Bytes>>> {
    let context = copy.source.context(ReadDepth::default());
    let (facts, limits) = (copy.source.store().facts(), &context.shared.limits);
    let mut bodies: Vec<Option<Bytes>> = places.iter().map(|place| inline(place)).collect();
    let limits_in_flight =
        InFlight::at_most(facts.concurrency).within(&context.shared.memory, FirstRequest::Goes);
    let begin = |request, share| Ok(arrive(&context, request, share));
    let mut take = |arrived: Result<ArrivedChunks>| {
        let (request, blob, _share) = arrived?;
        for (range, at) in &request.requesters {
            let body = body_of(&request.object, blob.as_ref(), range.as_ref())?;
            limits.chunk_len(body.as_ref().map_or(0, Bytes::len) as u64, "a chunk")?;
            let slot = bodies.get_mut(*at);
            *slot.ok_or_else(|| Error::internal(format!("no chunk {at} was asked for")))? = body;
        }
        Ok(())
    };
    let done = |arrived: Vec<Result<ArrivedChunks>>| arrived.into_iter().try_for_each(&mut take);
    limits_in_flight.run(requests(copy, places), cost, begin, done).await?;
    Ok(bodies)
}

/// An answer with the chunks that it is for, and its share of the memory.
type ArrivedChunks = (MergedRequest<usize>, Option<ObjectBytes>, Option<MemoryPermit>);

/// Bytes that a request takes until its chunks are cut out; the bytes of a whole object are kept without a copy.
fn cost(request: &MergedRequest<usize>) -> usize {
    let len = request.range.as_ref().map_or(0, |range| range.end.saturating_sub(range.start));
    usize::try_from(len).unwrap_or(usize::MAX)
}

/// Fetches bytes; ranges of one object must have the same tag.
async fn arrive(
    context: &DriveContext,
    request: MergedRequest<usize>,
    share: Option<MemoryPermit>,
) -> Result<ArrivedChunks> {
    context.snapshot.check_store(&request.object)?;
    request.check_len(&context.shared.limits)?;
    let blob = fetch_range(context, &request.object, request.range.as_ref()).await;
    let blob = blob.map_err(|error| error.at_object(&request.object))?;
    if let Some(blob) = blob.as_ref().filter(|_| request.range.is_some()) {
        context.snapshot.check(&request.object, &blob.tag)?;
    }
    Ok((request, blob, share))
}

/// A chunk's bytes in an answer. An object that an index names must exist.
fn body_of(
    object: &ObjectId,
    blob: Option<&ObjectBytes>,
    range: Option<&Range<u64>>,
) -> Result<Option<Bytes>> {
    let (blob, range) = match (blob, range) {
        (Some(blob), Some(range)) => (blob, range),
        (None, Some(_)) => return Err(absent_object(object)),
        (blob, None) => return Ok(blob.map(|blob| blob.bytes.clone())),
    };
    let (body, len) = (part_of(blob, Some(range)), range.end.saturating_sub(range.start));
    if (body.len() as u64) < len {
        return Err(Error::malformed("the object ends inside a chunk")
            .at_object(object)
            .at_offset(range.start));
    }
    // Bytes between chunks are not kept with them.
    Ok(Some(if body.len() == blob.bytes.len() { body } else { Bytes::copy_from_slice(&body) }))
}

fn inline(place: &Location) -> Option<Bytes> {
    match place {
        Location::Inline(bytes) => Some(bytes.clone()),
        _ => None,
    }
}

/// The requests for several locations, each with the indices of those that it serves: on local stores one per location.
pub(super) fn requests(copy: &VariableCopy<'_>, places: &[&Location]) -> Vec<MergedRequest<usize>> {
    let store = copy.source.store();
    let (gap, cap) = match (store.local(), store.facts()) {
        (Some(_), _) => (0, 0),
        (None, facts) => (facts.merge_gap, facts.range_cap),
    };
    let requested = places.iter().enumerate().filter_map(|(at, place)| request(at, place));
    merge(requested.collect(), gap, cap)
}

/// The request for a location, with its index.
fn request(at: usize, place: &Location) -> Option<(ObjectId, Option<Range<u64>>, usize)> {
    match place {
        Location::Object(object) => Some((object.clone(), None, at)),
        Location::Bytes(object, range) => Some((object.clone(), Some(range.clone()), at)),
        Location::Inline(_) | Location::Absent => None,
    }
}
