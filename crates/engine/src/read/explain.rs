//! Planning a read without reading.
use super::VariableRead;
use super::byte_run::{RunLocation, UNITS_PER_CELL};
use super::chunk_batches::WINDOW;
use super::chunk_task::ChunkSource;
use super::local::run_gap;
use crate::bound_source::{ElementDecoding, StorageLayout};
use crate::merge::{merge, split};
use crate::plan::{PlannedRequest, ReadPlan};
use ncirrus_layout::grid::{AxisSlab, ElementWalk, row_major};
use ncirrus_layout::{CellList, Error, Location, ObjectId, Result};
use ncirrus_model::Selection;
use std::ops::Range;

/// Chunks that are examined; further ones are only counted.
const COUNTED: usize = 1 << 20;
/// Maximum number of requests that are listed.
const EXAMPLES: usize = 8;

/// A request for bytes of an object, without a recipient.
type RequestedBytes = (ObjectId, Option<Range<u64>>, ());

impl VariableRead<'_> {
    /// What reading a selection of stored elements will do.
    pub(crate) async fn plan(&self, selection: &Selection) -> Result<ReadPlan> {
        let mut plan = self.describe(selection);
        let mut cuts = self.bound.intersections(selection);
        plan.chunks = cuts.cell_count();
        let strides = row_major(&selection.shape(), self.bound.elements.sizes().native as u64)?;
        let mut counted = 0;
        while counted < COUNTED {
            let mut pieces = Vec::new();
            while pieces.len() < WINDOW
                && let Some(piece) = cuts.next_piece()
            {
                pieces.push(piece);
            }
            if pieces.is_empty() {
                break;
            }
            counted += self.plan_window(&pieces, &strides, &mut plan).await?;
        }
        plan.counted = counted as u64;
        Ok(plan)
    }

    /// What is known of a read without looking up where its chunks are.
    pub(crate) fn describe(&self, selection: &Selection) -> ReadPlan {
        let native = match &self.bound.elements {
            ElementDecoding::Sequences | ElementDecoding::Referenced { .. } => None,
            _ => self.model.packed_len(self.bound.ty),
        };
        let bytes = native.zip(selection.element_count()).and_then(|(one, count)| one.checked_mul(count));
        let (layout, codecs) = match &self.bound.layout {
            StorageLayout::Chunks(chunks) => {
                let shape = chunks.grid.cell_shape(&vec![0; chunks.grid.rank()]).unwrap_or_default();
                let shards = chunks.index.sharding().map_or_else(String::new, |sharding| {
                    let Some(counts) = sharding.per_shard() else {
                        return " in shards of different sizes".to_owned();
                    };
                    let lens = shape.iter().zip(counts);
                    let shard: Vec<u64> = lens.map(|(len, count)| len.saturating_mul(*count)).collect();
                    format!(" in shards of {shard:?}")
                });
                (format!("chunks of {shape:?}{shards}"), chunks.codec_names())
            }
            StorageLayout::Rows(_) => ("rows at fixed strides".to_owned(), Vec::new()),
            StorageLayout::Mosaic(_) => ("aggregated from other variables".to_owned(), Vec::new()),
            StorageLayout::Query(..) => ("boxes that a server computes".to_owned(), Vec::new()),
        };
        let references = matches!(self.bound.elements, ElementDecoding::Referenced { .. });
        ReadPlan {
            shape: selection.shape(),
            result_bytes: bytes,
            layout,
            codecs,
            references,
            ..ReadPlan::default()
        }
    }

    async fn plan_window(
        &self,
        pieces: &[Vec<AxisSlab>],
        strides: &[u64],
        plan: &mut ReadPlan,
    ) -> Result<usize> {
        let mut cells = None;
        let mut stored = Vec::new();
        for piece in pieces {
            let cell: Option<Vec<u64>> = piece.iter().map(|segment| segment.cell).collect();
            let Some(cell) = cell else { continue };
            cells.get_or_insert_with(|| CellList::new(cell.len())).push(&cell);
            stored.push(piece);
        }
        let Some(cells) = cells else { return Ok(0) };
        let mut requested = Vec::new();
        let mut located = self.locate(&cells).await?;
        for (piece, cell) in stored.into_iter().zip(cells.iter()) {
            let work = located.next_source(self, cell)?;
            let sizes = self.bound.elements.sizes();
            let none = vec![0; piece.len()];
            let source_strides = match work {
                ChunkSource::Fill => &none,
                _ => located.strides(),
            };
            let walk = ElementWalk::new(piece, source_strides, strides, sizes)
                .ok_or_else(|| Error::limit("the selection exceeds this machine's addresses"))?;
            self.plan_cell(&work, walk, plan, &mut requested)?;
        }
        self.plan_requests(requested, plan);
        Ok(cells.len())
    }

    fn plan_cell(
        &self,
        work: &ChunkSource,
        walk: ElementWalk,
        plan: &mut ReadPlan,
        requested: &mut Vec<RequestedBytes>,
    ) -> Result<()> {
        let needed = walk.count().saturating_mul(walk.sizes().stored) as u64;
        match work {
            ChunkSource::Fill => {
                plan.missing += 1;
                return Ok(());
            }
            // Chunks with codecs are fetched whole, others by the runs that are needed.
            ChunkSource::Encoded { location, len, .. } => {
                plan.decoded_bytes += *len as u64;
                match location {
                    Location::Object(object) => requested.push((object.clone(), None, ())),
                    Location::Bytes(object, range) => {
                        requested.push((object.clone(), Some(range.clone()), ()));
                    }
                    Location::Inline(_) | Location::Absent => plan.inline += 1,
                }
            }
            ChunkSource::Plain { .. } | ChunkSource::Rows { .. } => {
                plan.decoded_bytes += needed;
                self.plan_runs(work, walk, requested)?;
            }
        }
        plan.needed_bytes += needed;
        Ok(())
    }

    fn plan_runs(
        &self,
        work: &ChunkSource,
        walk: ElementWalk,
        requested: &mut Vec<RequestedBytes>,
    ) -> Result<()> {
        let store = self.context.snapshot.store();
        let gap = store.facts().merge_gap;
        let gap =
            if store.local().is_some() { run_gap(gap) } else { usize::try_from(gap).unwrap_or(usize::MAX) };
        let mut walks = walk.split(gap, UNITS_PER_CELL);
        while let Some(walk) = walks.pop() {
            match work.lies(walk.source_span())? {
                RunLocation::At(place) => requested.push((place.object, Some(place.range), ())),
                RunLocation::Nowhere => {}
                RunLocation::Across => {
                    let halves = walk.halves();
                    let (first, second) =
                        halves.ok_or_else(|| Error::malformed("an element lies in two places"))?;
                    walks.extend([first, second]);
                }
            }
        }
        Ok(())
    }

    fn plan_requests(&self, requested: Vec<RequestedBytes>, plan: &mut ReadPlan) {
        let store = self.context.snapshot.store();
        let facts = store.facts();
        // Local stores are read run by run: merging runs of different chunks has no benefit.
        let (gap, cap) = if store.local().is_some() { (0, 0) } else { (facts.merge_gap, facts.range_cap) };
        for request in merge(requested, gap, cap) {
            match &request.range {
                None => {
                    plan.requests += 1;
                    plan.whole_objects += 1;
                }
                Some(range) => {
                    plan.requests += if cap == 0 { 1 } else { split(range, cap).count() as u64 };
                    plan.bytes += range.end - range.start;
                }
            }
            if plan.examples.len() < EXAMPLES {
                plan.examples.push(PlannedRequest { object: request.object, range: request.range });
            }
        }
    }
}
