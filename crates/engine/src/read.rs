//! Reading a selection: plan, fetch, decode, scatter.
mod byte_run;
mod chunk_batches;
mod chunk_task;
mod explain;
mod gathered;
mod local;
mod ranges;
mod remote;
mod report;
mod sequences;
#[cfg(test)]
mod tests;

pub use report::{AbsentFragment, ReadReport};

pub(crate) use local::{absent_object, let_others_run};
pub(crate) use ranges::as_ranges;
pub(crate) use remote::part_of;
pub(crate) use sequences::{append, mark, runs};

use crate::bound_source::{BoundSource, ELEMENT_MARK, ElementDecoding, StorageLayout};
use crate::convert;
use crate::drive::DriveContext;
use crate::picked::Picked;
use crate::resources::{ChunkCache, MissingChunks};
use crate::scatter::{OutputBuffer, OutputCuts};
use chunk_batches::ChunkBatches;
use chunk_task::{ChunkTarget, ChunkTask};
use local::DoneTasks;
use ncirrus_layout::LockExt;
use ncirrus_layout::grid::ElementSizes;
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_model::{Model, Selection, TypeRef, Values, VarId};
use sequences::DecodedSequences;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// One read of one variable. It is independent of datasets: values of other variables that its steps request are read
/// through the context, and a variable that is assembled from others is read by the dataset, with the report collected
/// here.
pub(crate) struct VariableRead<'a> {
    pub(crate) model: &'a Model,
    pub(crate) variable: VarId,
    pub(crate) bound: &'a BoundSource,
    /// How stored elements become those of the result.
    elements: &'a ElementDecoding,
    pub(crate) context: DriveContext,
    /// A number unique to this opening: the key under which decoded chunks are cached.
    pub(crate) opening: u64,
    /// Where decoded chunks of the variable are kept instead of with those of all others.
    own_cache: Option<Arc<ChunkCache>>,
    pub(crate) missing: MissingChunks,
    fragments_absent: Mutex<Vec<AbsentFragment>>,
    absent: Mutex<Vec<Vec<u64>>>,
    absent_count: AtomicU64,
    surplus: AtomicU64,
    sequences: DecodedSequences,
    /// Whether all touched chunks fit in the cache, so that looking them up is worthwhile.
    is_small: AtomicBool,
}

/// Maximum number of missing chunks in a report.
const LISTED: usize = 1 << 20;
/// Maximum number of absent fragments in a report.
const LISTED_FRAGMENTS: usize = 1 << 16;

impl<'a> VariableRead<'a> {
    /// A read that has not begun.
    pub(crate) fn new(
        (model, variable): (&'a Model, VarId),
        bound: &'a BoundSource,
        context: DriveContext,
        opening: u64,
        missing: MissingChunks,
    ) -> Self {
        Self {
            model,
            variable,
            bound,
            elements: &bound.elements,
            context,
            opening,
            own_cache: None,
            missing,
            fragments_absent: Mutex::default(),
            absent: Mutex::default(),
            absent_count: AtomicU64::new(0),
            surplus: AtomicU64::new(0),
            sequences: DecodedSequences::default(),
            is_small: AtomicBool::new(false),
        }
    }

    /// The same read, with a cache of the variable's own.
    pub(crate) fn with_cache(self, own_cache: Option<Arc<ChunkCache>>) -> Self {
        Self { own_cache, ..self }
    }

    /// The same read, into the caller's memory.
    pub(crate) fn packed(self) -> Self {
        Self { elements: &self.bound.packed, ..self }
    }

    /// The report of the read.
    pub(crate) fn into_report(self) -> ReadReport {
        let mut missing = self.absent.into_inner().unwrap_or_else(PoisonError::into_inner);
        missing.sort_unstable();
        let mut absent = self.fragments_absent.into_inner().unwrap_or_else(PoisonError::into_inner);
        absent.sort_unstable();
        absent.dedup();
        ReadReport {
            missing,
            missing_count: self.absent_count.into_inner(),
            surplus_count: self.surplus.into_inner(),
            absent,
        }
    }

    /// The selected values of a variable whose elements are stored.
    pub(crate) async fn read(&self, picked: Picked<'_>) -> Result<Values> {
        let count = picked.count()?;
        match &self.bound.elements {
            ElementDecoding::Copied(copier) => {
                check_memory(count, copier.native_len())?;
                let mut values = convert::zeros(self.model, self.bound.ty, count)?;
                let bytes = values.as_bytes_mut();
                let bytes = bytes.ok_or_else(|| Error::internal("values that cannot be filled in place"))?;
                self.fill_in(picked, bytes, None, true).await?;
                Ok(values)
            }
            ElementDecoding::Decoded { stored_len } | ElementDecoding::Referenced { stored_len } => {
                self.read_gathered(picked, *stored_len).await
            }
            ElementDecoding::Sequences => self.read_sequences(picked, count).await,
            ElementDecoding::Assembled => Err(Error::internal("values of other variables without tiles")),
        }
    }

    /// The same, into the caller's memory: directly if elements are copied one by one. Others are converted one part of
    /// the result at a time.
    pub(crate) async fn read_into(&self, picked: Picked<'_>, out: &mut [u8]) -> Result<()> {
        self.check_output(picked.count()?, out)?;
        if let ElementDecoding::Copied(_) = self.elements {
            return self.fill_in(picked, out, None, false).await;
        }
        let Picked::Selection(selection) = picked else {
            return convert::pack(self.model, self.bound.ty, &self.read(picked).await?, out);
        };
        let mut rest = out;
        for part in self.parts(selection)? {
            let values = self.read(Picked::Selection(&part)).await?;
            rest = pack_next(self.model, self.bound.ty, &values, rest)?;
        }
        Ok(())
    }

    /// The selection in parts of modest size, whose results are consecutive in its result.
    pub(crate) fn parts(&self, selection: &Selection) -> Result<Vec<Selection>> {
        let element = convert::packed_len(self.model, self.bound.ty)?.max(1);
        let max = (self.context.shared.memory.bytes() / 8).clamp(64 << 10, 64 << 20) / element;
        let grain = match &self.bound.layout {
            StorageLayout::Chunks(chunks) => chunks.grid.cell_shape(&vec![0; chunks.grid.rank()]),
            StorageLayout::Rows(_) | StorageLayout::Mosaic(_) | StorageLayout::Query(..) => None,
        };
        Ok(gathered::cut(selection, max.max(1) as u64, &grain.unwrap_or_default()))
    }

    /// Checks that the caller's memory has the length of `count` values.
    pub(crate) fn check_output(&self, count: usize, out: &[u8]) -> Result<()> {
        let wanted = convert::packed_len(self.model, self.bound.ty)?.checked_mul(count);
        if wanted == Some(out.len()) {
            return Ok(());
        }
        let wanted = wanted.map_or_else(|| "too many".to_owned(), |wanted| wanted.to_string());
        Err(Error::invalid(format!("{} bytes of memory for {wanted} bytes of values", out.len())))
    }

    /// Fills memory with the selected elements; `unwritten` receives a mark for every element that was never written,
    /// and `zeroed` says that the memory is all zeros now.
    async fn fill_in(
        &self,
        picked: Picked<'_>,
        bytes: &mut [u8],
        unwritten: Option<&mut [u8]>,
        zeroed: bool,
    ) -> Result<()> {
        let sizes = self.elements.sizes();
        let cuts = self.bound.cuts(picked)?;
        self.is_small.store(self.is_small_read(&cuts), Ordering::Relaxed);
        let output = OutputBuffer::new(bytes, cuts.clone(), sizes)?;
        let marks = match unwritten {
            None => None,
            Some(marks) => {
                let sizes = ElementSizes { native: 1, ..sizes };
                Some(OutputBuffer::new(marks, cuts, sizes)?)
            }
        };
        let fill = self.fill_bytes()?;
        let fill = if zeroed && fill.iter().all(|byte| *byte == 0) { Vec::new() } else { fill };
        let mut windows = ChunkBatches::new(output, marks);
        let mut jobs = windows.next_jobs(self).await?;
        let mut done = DoneTasks::default();
        while let Some(now) = jobs {
            let next = async {
                drop(done);
                windows.next_jobs(self).await
            };
            (jobs, done) = self.run(now, &fill, next).await?;
        }
        Ok(())
    }

    /// The cache of decoded chunks: the variable's own, if it has one.
    fn chunk_cache(&self) -> &ChunkCache {
        self.own_cache.as_deref().unwrap_or(&self.context.shared.chunks)
    }

    /// Whether all chunks of a selection fit in the cache.
    fn is_small_read(&self, cuts: &OutputCuts<'_>) -> bool {
        let StorageLayout::Chunks(chunks) = &self.bound.layout else { return false };
        let bytes = cuts.cell_count().and_then(|cells| cells.checked_mul(chunks.usual_byte_len()));
        bytes.is_some_and(|bytes| self.chunk_cache().takes(bytes))
    }

    /// Does all tasks, and `next`, which prepares those after them.
    async fn run<'out, T>(
        &self,
        jobs: Vec<ChunkTask<'out>>,
        fill: &[u8],
        next: impl Future<Output = Result<T>>,
    ) -> Result<(T, DoneTasks<'out>)> {
        match self.context.snapshot.store().local() {
            Some(local) => self.run_local(local, jobs, fill, next).await,
            None => {
                self.run_remote(jobs, fill).await?;
                Ok((next.await?, DoneTasks::default()))
            }
        }
    }

    /// The bytes of one fill element in the result; none if elements are marked instead.
    fn fill_bytes(&self) -> Result<Vec<u8>> {
        match self.elements {
            ElementDecoding::Copied(copier) => {
                let mut bytes = vec![0; copier.native_len()];
                convert::pack(self.model, self.bound.ty, &self.bound.source.fill, &mut bytes)?;
                Ok(bytes)
            }
            ElementDecoding::Sequences => Ok(vec![0xff; ELEMENT_MARK]),
            ElementDecoding::Decoded { .. }
            | ElementDecoding::Referenced { .. }
            | ElementDecoding::Assembled => Ok(Vec::new()),
        }
    }

    /// Notes a chunk that was never written.
    pub(crate) fn note_missing(&self, cell: &[u64]) -> Result<()> {
        self.context.shared.counters.missing();
        self.absent_count.fetch_add(1, Ordering::Relaxed);
        match self.missing {
            MissingChunks::Fill => {}
            MissingChunks::Error => {
                return Err(Error::new(ErrorKind::Missing, "the chunk was never written").at_chunk(cell));
            }
            MissingChunks::Report => {
                let mut absent = self.absent.guard();
                if absent.len() < LISTED {
                    absent.push(cell.to_vec());
                }
            }
        }
        Ok(())
    }

    /// Adds the report of a read that is nested in this one.
    pub(crate) fn take_report(&self, report: ReadReport) {
        self.absent_count.fetch_add(report.missing_count, Ordering::Relaxed);
        self.surplus.fetch_add(report.surplus_count, Ordering::Relaxed);
        let mut absent = self.fragments_absent.guard();
        absent.extend(report.absent);
    }

    /// Notes a fragment whose dataset is absent.
    pub(crate) fn note_absent(&self, fragment: AbsentFragment) {
        let mut absent = self.fragments_absent.guard();
        if absent.len() < LISTED_FRAGMENTS {
            absent.push(fragment);
        }
    }

    /// Notes a chunk that has more bytes than its elements need.
    fn note_surplus(&self) {
        self.context.shared.counters.surplus();
        self.surplus.fetch_add(1, Ordering::Relaxed);
    }

    /// Fills a target: with the fill value, or with marks.
    fn fill(&self, target: &mut ChunkTarget<'_>, fill: &[u8]) {
        if !fill.is_empty() {
            target.part.fill(fill);
        }
        if let Some(marks) = &mut target.marks {
            marks.fill(&[1]);
        }
    }
}

/// Puts values at the start of the caller's memory, and returns the rest of it.
pub(crate) fn pack_next<'o>(
    model: &Model,
    ty: TypeRef,
    values: &Values,
    out: &'o mut [u8],
) -> Result<&'o mut [u8]> {
    let len = convert::packed_len(model, ty)?.saturating_mul(values.len());
    let (first, rest) = out
        .split_at_mut_checked(len)
        .ok_or_else(|| Error::internal(format!("{len} bytes of values go beyond the caller's memory")))?;
    convert::pack(model, ty, values, first)?;
    Ok(rest)
}

/// Checks that this much memory is available, so that a hopeless request is an error and does not end the process.
pub(crate) fn check_memory(count: usize, element: usize) -> Result<()> {
    let fits = count.checked_mul(element).filter(|bytes| isize::try_from(*bytes).is_ok());
    let fits = fits.is_some_and(|bytes| bytes < PROBED || Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits {
        return Ok(());
    }
    Err(Error::limit(format!("{count} elements of {element} bytes do not fit the memory")))
}

/// Smaller allocations are not checked.
const PROBED: usize = 16 << 20;
