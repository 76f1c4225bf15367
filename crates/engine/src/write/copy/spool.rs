//! Copies whose blocks do not fit in memory, through a scratch file (`docs/design/008-rechunking.md`).
//!
//! The source is read once, in slabs of whole chunks. Each slab is cut along the chunks of the target, and its pieces
//! are appended to the file in the order of those chunks, with elements as the target stores them. Then one target
//! chunk after the other is assembled from its pieces and encoded once. The offset of a piece is computed: there is no
//! table.
mod drain;
mod fill;
mod slabs;

use super::array_boxes::ArrayBoxes;
use super::blocks::{CopyCut, CopyTask};
use super::{CopiedCounts, VariableCopy};
use crate::convert::RowCopier;
use ncirrus_layout::LockExt;

use crate::write::target::WriteTarget;
use ncirrus_layout::{ChunkGrid, Layout, Result, Source};
use ncirrus_model::Region;
use ncirrus_store::ScratchFile;
use slabs::{CellBox, SlabIterator};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

/// A copy through a scratch file.
pub(super) struct SpooledCopy {
    /// Boxes of what is copied that go through the file one after the other; a single one, if there is room for
    /// everything.
    pub(super) outer: CopyCut,
    /// Maximum lengths of a slab.
    pub(super) slab: Vec<u64>,
    /// Bytes that a slab takes in memory.
    pub(super) slab_bytes: u64,
    /// Maximum number of bytes of the file.
    pub(super) file_bytes: u64,
    /// The folder of the file.
    pub(super) folder: PathBuf,
    target: Arc<WriteTarget>,
    /// Lengths of the target's chunks.
    cell: Vec<u64>,
    /// Bytes of an element as the target stores it.
    element: usize,
    /// Chunks of the source, and the start of what is copied among them.
    chunks: ChunkGrid,
    offset: Vec<u64>,
    /// Bytes of an element in memory, and its copier, if no other conversion is needed.
    native: Option<(usize, RowCopier)>,
    /// Whether chunks in which nothing was ever written can be omitted.
    sparse: bool,
    /// Bytes of chunks that are assembled at once.
    window: u64,
}

/// One box on its way through the file.
struct SpoolBox<'a> {
    how: &'a SpooledCopy,
    file: &'a ScratchFile,
    /// The box.
    whole: Region,
    slabs: SlabIterator,
    /// The target's chunks in the box.
    cells: CellBox,
    /// Which parts of the source were written, if that matters.
    written: Option<Mutex<WrittenSource>>,
}

/// Which parts of the source were written.
struct WrittenSource {
    /// For each slab, whether anything was written.
    slabs: Vec<bool>,
    /// For each target chunk one bit.
    cells: Vec<u64>,
}

/// Reusable buffers.
#[derive(Default)]
struct SpoolBuffers(Mutex<Vec<Vec<u8>>>);

/// The scratch file is worthwhile only if more than one in this many chunks would be decoded again.
const REPEATED: u64 = 8;
/// Bytes that are gathered before they are written to the file.
const GATHERED: usize = 1 << 20;
/// Maximum number of bytes of a slab.
const LARGEST_SLAB: u64 = 256 << 20;

impl VariableCopy<'_> {
    /// The copy through a scratch file, if blocks would decode or fetch chunks far too often; otherwise why there is
    /// none, unless blocks do just as well.
    pub(super) async fn spooled(
        &self,
        source: &Source,
        (task, chunks): (&CopyTask, Option<ChunkGrid>),
        blocks: &CopyCut,
    ) -> Result<std::result::Result<SpooledCopy, Option<&'static str>>> {
        let Some(chunks) = chunks else { return Ok(Err(None)) };
        let repeated = blocks.touched.saturating_sub(blocks.chunks);
        if repeated.saturating_mul(REPEATED) <= blocks.chunks || !self.repeats_cost(source) {
            return Ok(Err(None));
        }
        let target = self.writer.target_of(self.to).await?;
        let (source_model, model) = (self.source.model(), self.writer.model());
        let variable = source_model.variable(self.from);
        let native = variable.and_then(|variable| source_model.packed_len(variable.ty));
        let (Some(element), Some(native)) =
            (target.element, native.and_then(|len| usize::try_from(len).ok()))
        else {
            return Ok(Err(Some("elements have no fixed size")));
        };
        let (ChunkGrid::Regular(cell), Some(region)) = (&target.encoding.grid, self.selection.as_region())
        else {
            return Ok(Err(Some("chunks have different lengths")));
        };
        if model.shape(self.to).iter().zip(&self.shape).any(|(there, len)| there > len) {
            return Ok(Err(Some("the variable is longer already")));
        }
        let shared = &self.writer.session.shared;
        let folder = shared.stores.options.scratch_folder();
        let all = CopyTask { element: element as u64, memory: u64::MAX, comfort: 0, ..task.clone() };
        let room = ScratchFile::room(&folder).map_or(u64::MAX, |room| room / 16 * 15);
        let outer = match all.whole() {
            whole if whole.block_bytes <= room => whole,
            _ => CopyTask { memory: room, ..all }.cut(),
        };
        if outer.touched >= blocks.touched || outer.block_bytes > room {
            return Ok(Err(Some("the folder of the setting scratch has no space left")));
        }
        let gathering = (GATHERED * shared.pool.current_num_threads()) as u64;
        let room = (task.memory.saturating_sub(gathering.min(task.memory / 4)) / 2).min(LARGEST_SLAB);
        // Assembled variables are held in parts, too.
        let is_mosaic = matches!(source.layout, Layout::Mosaic { .. } | Layout::Query { .. });
        let slabs = task.turned(if is_mosaic { room / 2 } else { room }).cut();
        let is_plain = self.treatment.quantize.is_none() && self.is_same_number() && !is_mosaic;
        let copier = target.copier.clone().filter(|copier| is_plain && copier.native_len() == native);
        Ok(Ok(SpooledCopy {
            file_bytes: outer.block_bytes,
            outer,
            slab_bytes: slabs.block_bytes,
            slab: slabs.block,
            folder,
            cell: cell.clone(),
            element,
            chunks,
            offset: region.start,
            native: copier.map(|copier| (native, copier)),
            sparse: self.leaves_out_fill(source, &target),
            window: (shared.memory.bytes() / 8) as u64,
            target,
        }))
    }

    /// Whether reading a chunk again takes another request, or more than a copy of its bytes.
    fn repeats_cost(&self, source: &Source) -> bool {
        let is_far = self.source.store().local().is_none();
        match &source.layout {
            Layout::Grid { codecs, .. } => is_far || !codecs.is_empty(),
            Layout::Mosaic { .. } | Layout::Query { .. } => true,
            Layout::Affine { .. } => is_far,
        }
    }

    /// Whether chunks in which nothing was ever written can be omitted.
    fn leaves_out_fill(&self, source: &Source, target: &WriteTarget) -> bool {
        let fills = (source.fill.as_bytes(), target.encoding.fill.as_bytes());
        self.cast_len() == 0
            && self.treatment.quantize.is_none()
            && matches!(source.layout, Layout::Grid { .. })
            && source.extent == self.source.model().shape(self.from)
            && fills.0.is_some()
            && fills.0 == fills.1
            && self.writer.reads_unwritten_as_fill(self.to)
    }

    /// Copies through a scratch file.
    pub(super) async fn run_spooled(
        &self,
        how: &SpooledCopy,
        progress: &(dyn Fn(u64) + Sync),
    ) -> Result<CopiedCounts> {
        let file = ScratchFile::create(&how.folder)?;
        self.writer.grow_to(self.to, &self.shape).await?;
        let mut copied = CopiedCounts::default();
        for whole in ArrayBoxes::new(&self.shape, &how.outer.block) {
            let spool = SpoolBox::new(how, &file, whole);
            let elements = spool.whole.element_count().unwrap_or(0);
            copied.out_of_range += self.fill(&spool, progress).await?;
            self.drain(&spool, progress).await?;
            copied.elements += elements;
        }
        Ok(copied)
    }
}

impl SpooledCopy {
    /// The slabs of a box, in row-major order.
    pub(super) fn slabs(&self, whole: &Region) -> impl Iterator<Item = Region> {
        SlabIterator::new(whole, &self.slab, &self.chunks, &self.offset).into_regions()
    }

    /// Number of chunks of the target.
    pub(super) fn cell_count(&self, shape: &[u64]) -> u64 {
        CellBox::new(&Region::all(shape), &self.cell).count()
    }
}

impl<'a> SpoolBox<'a> {
    fn new(how: &'a SpooledCopy, file: &'a ScratchFile, whole: Region) -> Self {
        let slabs = SlabIterator::new(&whole, &how.slab, &how.chunks, &how.offset);
        let cells = CellBox::new(&whole, &how.cell);
        let written = how.sparse.then(|| {
            let words = usize::try_from(cells.count().div_ceil(64)).unwrap_or(usize::MAX);
            Mutex::new(WrittenSource { slabs: vec![false; slabs.count()], cells: vec![0; words] })
        });
        Self { how, file, whole, slabs, cells, written }
    }
}

impl WrittenSource {
    fn mark_cell(&mut self, cell: u64) {
        let word = usize::try_from(cell / 64).ok().and_then(|word| self.cells.get_mut(word));
        if let Some(word) = word {
            *word |= 1 << (cell % 64);
        }
    }

    fn has_cell(&self, cell: u64) -> bool {
        let word = usize::try_from(cell / 64).ok().and_then(|word| self.cells.get(word));
        word.is_none_or(|word| word >> (cell % 64) & 1 == 1)
    }
}

impl SpoolBuffers {
    /// A buffer of that length; its contents are unspecified.
    fn take(&self, len: usize) -> Vec<u8> {
        let mut buffer = self.0.guard().pop().unwrap_or_default();
        if buffer.capacity() < len {
            // Fresh pages come zeroed from the system.
            buffer = vec![0; len];
        }
        buffer.resize(len, 0);
        buffer
    }

    fn give_back(&self, buffer: Vec<u8>) {
        self.0.guard().push(buffer);
    }
}
