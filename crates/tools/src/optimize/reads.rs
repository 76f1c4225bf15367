//! What typical reads of a file cost if it is on a web server.
use crate::profile::{CountingStore, VariableGeometry};
use ncirrus::internals::SessionInternals;
use ncirrus::{Model, OpenOptions, Result, Selection, Session};
use ncirrus_engine::Dataset;
use ncirrus_model::{NodeId, Storage, VarId};
use std::sync::Arc;

/// The cost of a read: requests, with those for chunk indexes, and the bytes that they fetch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ReadCost {
    /// Requests.
    pub requests: u64,
    /// Bytes.
    pub bytes: u64,
}

/// The cost of typical reads of a file by a reader far away: of opening it, and then of reading parts of its largest variable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TypicalReads {
    /// Path of the variable; empty if the file has none with a dimension.
    pub variable: String,
    /// All definitions and attributes.
    pub opening: ReadCost,
    /// One index along the slowest axis.
    pub step: ReadCost,
    /// One index along all other axes.
    pub series: ReadCost,
    /// The whole variable.
    pub whole: ReadCost,
    /// Whether the figures are estimates: those of a file that does not exist yet.
    pub is_estimate: bool,
}

impl TypicalReads {
    /// Each read with its name.
    pub fn rows(&self) -> [(&'static str, ReadCost); 4] {
        [
            ("opening", self.opening),
            ("one step", self.step),
            ("one series", self.series),
            ("whole", self.whole),
        ]
    }

    /// The costs for a file, of reads of the variable at that path, or of the largest one. Values are not read.
    ///
    /// # Errors
    /// Errors of reading metadata.
    pub(super) fn measure(url: &str, path: Option<&str>, session: &Session) -> Result<Self> {
        let first = FarFile::open(url, session)?;
        let mut reads = Self { opening: first.opening, ..Self::default() };
        let model = first.dataset.model();
        let var = path.map_or_else(|| largest(&model), |path| model.variable_at(path));
        let Some(var) = var else { return Ok(reads) };
        reads.variable = model.variable_path(var);
        let [step, series, whole] = selections(&model.shape(var));
        reads.step = first.cost(var, &step)?;
        // What another read has fetched already does not count.
        reads.series = FarFile::open(url, session)?.cost(var, &series)?;
        reads.whole = FarFile::open(url, session)?.cost(var, &whole)?;
        Ok(reads)
    }

    /// Estimated costs after the variable has got chunks of that shape, from those before.
    pub(super) fn estimated(&self, model: &Model, chunk: Option<&[u64]>) -> Self {
        let mut after = self.clone();
        after.is_estimate = true;
        after.opening = ReadCost { requests: 1, bytes: self.opening.bytes.min(FIRST_BLOCK) };
        let var = model.variable_at(&self.variable);
        let geometry = var.and_then(|var| VariableGeometry::of(model, var, false));
        let (Some(var), Some(geometry), Some(chunk)) = (var, geometry, chunk) else { return after };
        let shape = model.shape(var);
        let new = VariableGeometry { chunk: chunk.to_vec(), ..geometry.clone() };
        // Chunks are stored in as many bytes as the whole variable now takes for their part.
        let stored = self.whole.bytes.div_ceil(new.chunk_count().max(1));
        let [step, series, whole] =
            selections(&shape).map(|selection| estimate(&selection, chunk, &shape, stored));
        (after.step, after.series, after.whole) = (step, series, whole);
        after
    }
}

/// The first bytes that a reader of a file fetches.
const FIRST_BLOCK: u64 = 256 << 10;
/// Gaps up to this size are fetched with the ranges around them, and the maximum length of a range.
const MERGE: (u64, u64) = (512 << 10, 16 << 20);

/// Requests and bytes for chunks of `stored` bytes that follow one another in row-major order.
fn estimate(selection: &Selection, chunk: &[u64], shape: &[u64], stored: u64) -> ReadCost {
    let touched: Vec<u64> =
        selection.shape().iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk)).collect();
    let all = shape.iter().zip(chunk).map(|(len, chunk)| len.div_ceil(*chunk));
    let chunks = touched.iter().fold(1, |all: u64, along| all.saturating_mul(*along));
    // Bytes from one touched run of chunks to the next: the chunks of the other axes.
    let row = all.skip(1).fold(stored, u64::saturating_mul);
    let run = touched.iter().skip(1).fold(stored, |run, along| run.saturating_mul(*along));
    let gap = row.saturating_sub(run);
    let rows = touched.first().copied().unwrap_or(1);
    if gap <= MERGE.0 {
        let bytes = run.saturating_mul(rows).saturating_add(gap.saturating_mul(rows.saturating_sub(1)));
        return ReadCost { requests: bytes.div_ceil(MERGE.1).max(1), bytes };
    }
    let requests = run.div_ceil(MERGE.1).max(1).saturating_mul(rows).min(chunks.max(1));
    ReadCost { requests, bytes: chunks.saturating_mul(stored) }
}

/// One step, one series, and all elements.
fn selections(shape: &[u64]) -> [Selection; 3] {
    let start = vec![0; shape.len()];
    let ones = |keep: &dyn Fn(usize) -> bool| -> Vec<u64> {
        shape.iter().enumerate().map(|(axis, len)| if keep(axis) { *len } else { (*len).min(1) }).collect()
    };
    let step = Selection::slab(&start, &ones(&|axis| axis > 0));
    let series = Selection::slab(&start, &ones(&|axis| axis == 0));
    [step, series, Selection::all(shape)]
}

/// The variable with dimensions that has the most bytes.
fn largest(model: &Model) -> Option<VarId> {
    let bytes = |var: &VarId| {
        let variable = model.variable(*var)?;
        let element = model.packed_len(variable.ty).unwrap_or(1);
        Some(model.shape(*var).iter().fold(element, |bytes, len| bytes.saturating_mul(*len)))
    };
    let is_read = |var: &VarId| {
        model.variable(*var).is_some_and(|variable| {
            !variable.dims.is_empty() && variable.fault.is_none() && variable.storage != Storage::Virtual
        })
    };
    // Of variables of one size the first.
    model.variables().into_iter().filter(is_read).rev().max_by_key(|var| bytes(var))
}

/// A file that is opened as one far away.
struct FarFile<'a> {
    store: Arc<CountingStore>,
    dataset: Dataset,
    opening: ReadCost,
    session: &'a Session,
}

impl<'a> FarFile<'a> {
    fn open(url: &str, session: &'a Session) -> Result<Self> {
        let mut opened = session.wait_for_store(url, ncirrus_store::open(url, session.store_context()))?;
        let store = Arc::new(CountingStore::new(Arc::clone(&opened.store)));
        opened.store = Arc::<CountingStore>::clone(&store);
        let (engine, options) = (session.engine(), OpenOptions::default());
        let dataset = engine.wait(engine.open_opened(&opened, session.drivers(), &options))?;
        let nodes: Vec<NodeId> = dataset.model().nodes();
        engine.wait(async { Ok(dataset.attributes(&nodes).await) })?;
        let (requests, bytes) = store.counts();
        Ok(Self { store, dataset, opening: ReadCost { requests, bytes }, session })
    }

    /// The cost of a selection, with that of the chunk index.
    fn cost(&self, var: VarId, selection: &Selection) -> Result<ReadCost> {
        let before = self.store.counts();
        let plan = self.session.engine().wait(self.dataset.plan(var, selection))?;
        let after = self.store.counts();
        let (requests, bytes) = (after.0 - before.0 + plan.requests, after.1 - before.1 + plan.bytes);
        Ok(ReadCost { requests, bytes })
    }
}
