//! The route of a copy: encoded chunks, or values in blocks.
use super::array_boxes::{ArrayBoxes, chunk_lengths, nested_boxes};
use super::blocks::{CopyCut, CopyTask};
use super::chunks::PassThroughCopy;
use super::spool::SpooledCopy;
use super::{CopyPart, VariableCopy};
use crate::decode::element_of;
use ncirrus_codec::{ChunkInfo, names};
use ncirrus_layout::{CellList, ChunkGrid, EdgeChunks, Layout, Result, Source, StoredType};
use ncirrus_model::{Region, Selection};
use std::sync::Arc;

/// The route of a copy.
pub(super) enum CopyRoute {
    /// Values, block by block; and why a scratch file is not used although it would help.
    Blocks(CopyCut, Option<&'static str>),
    /// Through a scratch file.
    Spooled(Box<SpooledCopy>),
    /// Chunk by chunk; those that can be copied unchanged are.
    Chunks(PassThroughCopy),
}

impl CopyRoute {
    /// The parts that are copied at once, in row-major order, or in that of the destination's shards.
    pub(super) fn parts<'a>(&'a self, shape: &'a [u64]) -> Box<dyn Iterator<Item = CopyPart> + Send + 'a> {
        match self {
            Self::Blocks(cut, _) => Box::new(ArrayBoxes::new(shape, &cut.block).map(CopyPart::Block)),
            Self::Spooled(_) => Box::new(std::iter::empty()),
            Self::Chunks(passing) => {
                let mut boxes: Box<dyn Iterator<Item = Region> + Send + 'a> = match &passing.shard {
                    Some(shard) => Box::new(nested_boxes(shape, shard, &passing.chunk)),
                    None => Box::new(ArrayBoxes::new(shape, &passing.chunk)),
                };
                Box::new(std::iter::from_fn(move || {
                    let mut cells = CellList::new(shape.len());
                    for region in boxes.by_ref().take(passing.window) {
                        cells.push(&passing.cell_of(&region));
                    }
                    (!cells.is_empty()).then_some(CopyPart::Chunks(cells))
                }))
            }
        }
    }

    /// Whether the next part is read while one is written.
    pub(super) fn overlaps(&self) -> bool {
        match self {
            Self::Blocks(cut, _) => cut.in_flight > 1,
            Self::Chunks(_) | Self::Spooled(_) => true,
        }
    }
}

/// Preferred maximum of bytes of a block.
const COMFORT: u64 = 64 << 20;
/// Maximum number of chunks that are copied unchanged at once.
const WINDOW: usize = 256;

impl VariableCopy<'_> {
    /// Decides how to copy.
    pub(super) async fn route(&self) -> Result<CopyRoute> {
        let source = self.source.source(self.from).await?;
        // Chunks that are copied unchanged are not decoded: damage to them would go unnoticed.
        if self.skipped.is_none()
            && let Some(passing) = self.passing(&source).await?
        {
            return Ok(CopyRoute::Chunks(passing));
        }
        let (task, chunks) = self.task(&source).await?;
        let cut = task.cut();
        Ok(match self.spooled(&source, (&task, chunks), &cut).await? {
            Ok(spooled) => CopyRoute::Spooled(Box::new(spooled)),
            Err(why_not) => CopyRoute::Blocks(cut, why_not),
        })
    }

    /// The task of cutting the copy into blocks, and the chunk grid of the source if it matters.
    async fn task(&self, source: &Source) -> Result<(CopyTask, Option<ChunkGrid>)> {
        let (model, shared) = (self.source.model(), &self.writer.session.shared);
        let element = model.variable(self.from).and_then(|variable| model.packed_len(variable.ty));
        let element = element.unwrap_or(64).max(1);
        let cast = self.cast_len();
        let target = self.writer.target_of(self.to).await?;
        let cells = target.encoding.grid.cell_shape(&vec![0; self.shape.len()]).unwrap_or_default();
        let region = self.selection.as_region();
        let grid = match &region {
            Some(_) => self.source_grid(source, element).await,
            None => None,
        };
        let chunks = grid.as_ref().map(|grid| usual_lengths(grid, &source.extent));
        let product = |lens: &[u64]| lens.iter().fold(element, |all, len| all.saturating_mul(*len));
        let largest = chunks.as_deref().map_or(0, product).max(product(&cells));
        let at_work = largest.saturating_mul(3 * shared.pool.current_num_threads() as u64);
        let is_local = self.source.store().local().is_some() && self.writer.output.store().local().is_some();
        let memory = shared.memory.bytes() as u64;
        let memory = if is_local {
            memory.saturating_sub(at_work.max(memory / 8)).max(memory / 4)
        } else {
            // Requests in flight need memory, too.
            memory / 2
        };
        // A shard is put once if a block has all of its chunks.
        let shard = target.shard_shape(&cells).filter(|shard| product(shard) <= memory / 2);
        let task = CopyTask {
            offset: region.map_or_else(|| vec![0; self.shape.len()], |region| region.start),
            source: chunks.unwrap_or_else(|| vec![1; self.shape.len()]),
            target: shard.unwrap_or(cells),
            shape: self.shape.clone(),
            element: element.saturating_add(cast),
            memory,
            comfort: (shared.memory.bytes() as u64 / 8).clamp(1 << 16, COMFORT),
        };
        Ok((task, grid))
    }

    /// How the source is cut into units of decoding; `None` if that makes no difference, or is unknown.
    async fn source_grid(&self, source: &Source, element: u64) -> Option<ChunkGrid> {
        match &source.layout {
            Layout::Grid { grid, .. } => Some(grid.clone()),
            Layout::Mosaic { .. } => {
                let memory = self.writer.session.shared.memory.bytes() as u64;
                self.tile_grid(memory / 8 / element.max(1)).await
            }
            Layout::Affine { .. } | Layout::Query { .. } => {
                chunk_lengths(source, element).map(ChunkGrid::Regular)
            }
        }
    }

    /// Whether elements are numbers of the same type in both.
    pub(super) fn is_same_number(&self) -> bool {
        let (from, to) = (self.source.model(), self.writer.model());
        let base = |model: &ncirrus_model::Model, var| model.base_atomic(model.variable(var)?.ty);
        base(&from, self.from).is_some_and(|from| base(&to, self.to) == Some(from))
    }

    /// Bytes of an element in the type of the destination, if that is another one.
    pub(super) fn cast_len(&self) -> u64 {
        let (from, to) = (self.source.model(), self.writer.model());
        let base = |model: &ncirrus_model::Model, var| model.base_atomic(model.variable(var)?.ty);
        let wanted = base(&to, self.to).filter(|wanted| base(&from, self.from) != Some(*wanted));
        wanted.and_then(ncirrus_model::Atomic::byte_len).unwrap_or(0) as u64
    }

    /// The conditions under which chunks can be copied unchanged: the same whole array, with the same chunks, stored
    /// types and codecs.
    async fn passing(&self, source: &Source) -> Result<Option<PassThroughCopy>> {
        let Layout::Grid { grid: ChunkGrid::Regular(chunk), edge: EdgeChunks::Full, index, codecs } =
            &source.layout
        else {
            return Ok(None);
        };
        let is_whole = self.shape == source.extent && *self.selection == Selection::all(&source.extent);
        if !is_whole || self.treatment.quantize.is_some() || self.cast_len() > 0 || source.swapped_fill {
            return Ok(None);
        }
        let target = self.writer.target_of(self.to).await?;
        let encoding = &target.encoding;
        if target.element.is_none() {
            return Ok(None);
        }
        let info = ChunkInfo { shape: chunk.clone(), element: element_of(&encoding.stored) };
        let fits = encoding.grid == ChunkGrid::Regular(chunk.clone())
            && encoding.edge == EdgeChunks::Full
            && same_elements(&source.stored, &encoding.stored)
            && names::make_same_bytes(codecs, &encoding.codecs, &info);
        if !fits {
            return Ok(None);
        }
        let there = self.writer.model().shape(self.to);
        if there.iter().zip(&self.shape).any(|(there, len)| there > len) {
            return Ok(None);
        }
        // Chunks that were never written read as fill, and must be written if the fill value of the destination
        // differs.
        let fill = source.fill.as_bytes();
        let same_fill = fill.is_some() && fill == encoding.fill.as_bytes();
        let window = self.writer.window_budget() / 2 / target.cell_cost(&vec![0; chunk.len()]);
        Ok(Some(PassThroughCopy {
            index: Arc::clone(index),
            chunk: chunk.clone(),
            shard: target.shard_shape(chunk),
            growing: target.growing.clone(),
            same_length: codecs.len() == encoding.codecs.len(),
            sparse: same_fill && self.writer.reads_unwritten_as_fill(self.to),
            window: window.clamp(1, WINDOW),
            target,
        }))
    }
}

/// Whether elements are stored as the same bytes.
fn same_elements(one: &StoredType, other: &StoredType) -> bool {
    match (one, other) {
        // For a single byte, byte order makes no difference.
        (
            StoredType::Integer { size: 1, signed, .. },
            StoredType::Integer { size: 1, signed: other_signed, .. },
        ) => signed == other_signed,
        _ => one == other,
    }
}

/// The lengths that most chunks of an array have.
fn usual_lengths(grid: &ChunkGrid, extent: &[u64]) -> Vec<u64> {
    match grid {
        ChunkGrid::Regular(lens) => lens.clone(),
        ChunkGrid::Rectilinear(ends) => {
            let lens = extent.iter().zip(ends).map(|(len, ends)| len.div_ceil(ends.len().max(1) as u64));
            lens.map(|len| len.max(1)).collect()
        }
    }
}
