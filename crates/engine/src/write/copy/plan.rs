//! The plan of a copy in figures, for users.
use super::array_boxes::ArrayBoxes;
use super::chunks::{ChunkFate, PassThroughCopy, requests};
use super::route::CopyRoute;
use super::spool::SpooledCopy;
use super::{CopyPart, VariableCopy};
use ncirrus_layout::{Location, Result};
use ncirrus_model::Region;
use std::fmt;

/// What copying a variable will do. Made without reading data; only index nodes are read.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct CopyPlan {
    /// Path of the variable in the destination.
    pub path: String,
    /// Shape of what is copied.
    pub shape: Vec<u64>,
    /// Bytes of what is copied, as values; `None` for elements without a fixed size.
    pub bytes: Option<u64>,
    /// Blocks that are read and written one after the other; for chunks that are copied unchanged, batches of as many
    /// as fit in memory. With a scratch file, slabs that are read.
    pub passes: u64,
    /// Shape of a block.
    pub block: Vec<u64>,
    /// Blocks in memory at once: with two of them, one is read while the other is written.
    pub in_flight: u64,
    /// Bytes of all blocks in memory at once.
    pub memory: u64,
    /// How many passes the following figures cover: only the first ones if there are very many.
    pub counted: u64,
    /// Requests to the source.
    pub requests: u64,
    /// Bytes that requests of known length will fetch.
    pub request_bytes: u64,
    /// Requests for whole objects, whose length is unknown.
    pub whole_objects: u64,
    /// Chunks of the source; 0 if it is not chunked.
    pub chunks: u64,
    /// Those of them that are copied unchanged.
    pub passed: u64,
    /// Chunks that are known never to have been written, counted once for every pass that needs them.
    pub missing: u64,
    /// Chunks that are decoded, counted once for every pass that needs them.
    pub decoded: u64,
    /// Maximum number of times that a chunk is decoded.
    pub max_decoded: u64,
    /// Chunks that are encoded and stored, besides those that are copied unchanged.
    pub written: u64,
    /// Maximum size of the scratch file in bytes; 0 if none is needed.
    pub scratch: u64,
    /// The folder of the scratch file.
    pub scratch_folder: String,
    /// Why there is no scratch file, although chunks are decoded or fetched several times.
    pub no_scratch: Option<&'static str>,
}

/// Maximum number of chunks that are examined.
const COUNTED: u64 = 1 << 20;
/// Maximum number of blocks that are examined.
const BLOCKS: u64 = 1 << 14;

impl VariableCopy<'_> {
    /// What the copy will do.
    pub(super) async fn plan(&self) -> Result<CopyPlan> {
        let model = self.writer.model();
        let ty = model.variable(self.to).map(|variable| variable.ty);
        let element = ty.and_then(|ty| model.packed_len(ty));
        let elements = self.selection.element_count();
        let mut plan = CopyPlan {
            path: model.variable_path(self.to),
            shape: self.shape.clone(),
            bytes: element.zip(elements).and_then(|(element, count)| element.checked_mul(count)),
            ..CopyPlan::default()
        };
        if self.shape.contains(&0) {
            return Ok(plan);
        }
        let route = self.route().await?;
        match &route {
            CopyRoute::Spooled(how) => self.plan_spooled(how, &mut plan).await?,
            CopyRoute::Blocks(cut, why_not) => {
                plan.no_scratch = *why_not;
                let target = self.writer.target_of(self.to).await?;
                let grid = &target.encoding.grid;
                let cells = self.shape.iter().enumerate().map(|(axis, len)| grid.cells_along(axis, *len));
                plan.written = cells.fold(1, u64::saturating_mul);
                (plan.passes, plan.in_flight) = (cut.blocks, cut.in_flight);
                plan.memory = cut.block_bytes.saturating_mul(cut.in_flight);
                let lens = cut.block.iter().zip(&self.shape);
                plan.block = lens.map(|(block, len)| *block.min(len)).collect();
                plan.chunks = self.chunk_count().await?;
                plan.max_decoded = cut.max;
                for region in ArrayBoxes::new(&self.shape, &cut.block) {
                    // Locating chunks costs time, and index nodes are read for it: a plan counts the first ones.
                    if plan.counted == BLOCKS || plan.decoded + plan.missing >= COUNTED {
                        break;
                    }
                    plan.counted += 1;
                    self.plan_block(&region, &mut plan).await?;
                }
            }
            CopyRoute::Chunks(passing) => self.plan_chunks(&route, passing, &mut plan).await?,
        }
        Ok(plan)
    }

    async fn plan_spooled(&self, how: &SpooledCopy, plan: &mut CopyPlan) -> Result<()> {
        plan.written = how.cell_count(&self.shape);
        plan.in_flight = 2;
        plan.memory = how.slab_bytes.saturating_mul(2);
        plan.block = how.slab.iter().zip(&self.shape).map(|(slab, len)| *slab.min(len)).collect();
        plan.chunks = self.chunk_count().await?;
        plan.max_decoded = how.outer.max;
        (plan.scratch, plan.scratch_folder) = (how.file_bytes, how.folder.display().to_string());
        for whole in ArrayBoxes::new(&self.shape, &how.outer.block) {
            for slab in how.slabs(&whole) {
                plan.passes += 1;
                if plan.counted < BLOCKS && plan.decoded + plan.missing < COUNTED {
                    plan.counted += 1;
                    self.plan_block(&slab, plan).await?;
                }
            }
        }
        Ok(())
    }

    /// Chunks of the source that the selection touches; 0 if it is not chunked.
    async fn chunk_count(&self) -> Result<u64> {
        let whole = self.source.plan(self.from, self.selection).await?;
        Ok(if whole.codecs.is_empty() { 0 } else { whole.chunks.unwrap_or(u64::MAX) })
    }

    async fn plan_block(&self, region: &Region, plan: &mut CopyPlan) -> Result<()> {
        let read = self.source.plan(self.from, &self.part_of_selection(region)).await?;
        plan.requests += read.requests;
        plan.request_bytes = plan.request_bytes.saturating_add(read.bytes);
        plan.whole_objects += read.whole_objects;
        plan.missing += read.missing;
        if !read.codecs.is_empty() {
            plan.decoded += read.counted - read.missing;
        }
        Ok(())
    }

    async fn plan_chunks(
        &self,
        route: &CopyRoute,
        passing: &PassThroughCopy,
        plan: &mut CopyPlan,
    ) -> Result<()> {
        let lens = self.shape.iter().zip(&passing.chunk);
        plan.chunks = lens.map(|(len, chunk)| len.div_ceil(*chunk)).fold(1, u64::saturating_mul);
        plan.passes = plan.chunks.div_ceil(passing.window as u64);
        // One window is fetched while the one before it is put.
        plan.in_flight = plan.passes.min(2);
        plan.block.clone_from(&passing.chunk);
        let cost = passing.target.cell_cost(&vec![0; passing.chunk.len()]) as u64;
        plan.memory = cost.saturating_mul(plan.chunks.min(passing.window as u64 * plan.in_flight));
        for part in route.parts(&self.shape) {
            let CopyPart::Chunks(cells) = part else { continue };
            // The rest is estimated from the parts that were counted.
            if plan.passed + plan.decoded + plan.missing >= COUNTED {
                break;
            }
            plan.counted += 1;
            let places = passing.locate(self, &cells).await?;
            let mut passed = Vec::new();
            for (cell, place) in cells.iter().zip(&places) {
                let region = passing.region(cell, &self.shape);
                match passing.fate(self, &region, place) {
                    ChunkFate::Passes => passed.push(&place.location),
                    ChunkFate::LeftOut => plan.missing += 1,
                    ChunkFate::Recoded => {
                        plan.written += 1;
                        self.plan_block(&region, plan).await?;
                    }
                }
            }
            plan.pass(self, &passed);
        }
        plan.max_decoded = plan.decoded.min(1);
        Ok(())
    }
}

impl CopyPlan {
    fn pass(&mut self, copy: &VariableCopy<'_>, places: &[&Location]) {
        self.passed += places.len() as u64;
        for request in requests(copy, places) {
            self.requests += 1;
            match &request.range {
                Some(range) => {
                    let len = range.end.saturating_sub(range.start);
                    self.request_bytes = self.request_bytes.saturating_add(len);
                }
                None => self.whole_objects += 1,
            }
        }
    }

    /// Several plans as one: figures are added up, except that memory and repeated decoding are the maxima.
    pub fn total<'a>(plans: impl IntoIterator<Item = &'a Self>) -> Self {
        let mut total = Self { path: "total".to_owned(), bytes: Some(0), ..Self::default() };
        for plan in plans {
            total.bytes = total.bytes.zip(plan.bytes).and_then(|(one, other)| one.checked_add(other));
            total.in_flight = total.in_flight.max(plan.in_flight);
            total.memory = total.memory.max(plan.memory);
            total.max_decoded = total.max_decoded.max(plan.max_decoded);
            total.scratch = total.scratch.max(plan.scratch);
            if plan.scratch > 0 {
                total.scratch_folder.clone_from(&plan.scratch_folder);
            }
            for (sum, number) in [
                (&mut total.passes, plan.passes),
                (&mut total.counted, plan.counted),
                (&mut total.requests, plan.requests),
                (&mut total.request_bytes, plan.request_bytes),
                (&mut total.whole_objects, plan.whole_objects),
                (&mut total.chunks, plan.chunks),
                (&mut total.passed, plan.passed),
                (&mut total.missing, plan.missing),
                (&mut total.decoded, plan.decoded),
                (&mut total.written, plan.written),
            ] {
                *sum = sum.saturating_add(number);
            }
        }
        total
    }
}

impl fmt::Display for CopyPlan {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.path)?;
        if !self.shape.is_empty() {
            write!(f, " {:?}", self.shape)?;
        }
        match self.bytes {
            Some(bytes) => writeln!(f, ", {bytes} bytes")?,
            None => writeln!(f)?,
        }
        write!(f, "  passes      {}", self.passes)?;
        if !self.block.is_empty() {
            // A pass is a block, a slab that is written to the scratch file, or a batch of encoded chunks.
            let unit = match (self.passed, self.scratch) {
                (0, 0) => "blocks",
                (0, _) => "slabs",
                _ => "chunks",
            };
            write!(f, ", {unit} of {:?}", self.block)?;
        }
        if self.in_flight > 1 {
            write!(f, ", one read while another is written")?;
        }
        writeln!(f, "\n  memory      {} bytes at once", self.memory)?;
        if self.scratch > 0 {
            writeln!(f, "  scratch     a file of {} bytes in {}", self.scratch, self.scratch_folder)?;
        }
        if let Some(why) = self.no_scratch {
            writeln!(f, "  no scratch  {why}")?;
        }
        if self.counted < self.passes {
            writeln!(f, "  counted     the first {} passes", self.counted)?;
        }
        write!(f, "  reads       {} requests, {} bytes", self.requests, self.request_bytes)?;
        match self.whole_objects {
            0 => writeln!(f)?,
            whole => writeln!(f, " and {whole} whole objects")?,
        }
        if self.passed > 0 {
            writeln!(f, "  passed      {} chunks pass through as they are", self.passed)?;
        }
        if self.missing > 0 {
            writeln!(f, "  missing     {} chunks were never written", self.missing)?;
        }
        if self.decoded > 0 {
            let (decoded, chunks, max) =
                (self.decoded, self.chunks - self.passed.min(self.chunks), self.max_decoded);
            writeln!(f, "  decodes     {decoded} for {chunks} chunks, each at most {max} times")?;
        }
        writeln!(f, "  writes      {} chunks encoded", self.written)
    }
}
