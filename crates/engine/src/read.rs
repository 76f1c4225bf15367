//! Reading a selection: plan, fetch, decode, scatter.
mod byte_run;
mod chunk_batches;
mod chunk_task;
mod explain;
mod gathered;
mod local;
mod remote;
mod report;
mod sequences;
#[cfg(test)]
mod tests;

pub use report::{AbsentFragment, ReadReport};

pub(crate) use local::{absent_object, let_others_run};
pub(crate) use remote::part_of;
pub(crate) use sequences::{append, mark, runs};

use crate::bound_source::{BoundSource, ELEMENT_MARK, ElementDecoding, StorageLayout};
use crate::convert;
use crate::drive::DriveContext;
use crate::resources::MissingChunks;
use crate::scatter::OutputBuffer;
use chunk_batches::ChunkBatches;
use chunk_task::{ChunkTarget, ChunkTask};
use ncirrus_layout::LockExt;
use ncirrus_layout::grid::{ChunkIntersections, ElementSizes};
use ncirrus_layout::{Error, ErrorKind, Result};
use ncirrus_model::{Model, Selection, Values, VarId};
use sequences::DecodedSequences;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// One read of one variable. It knows nothing of datasets: what its steps ask of other variables goes through the
/// context, and a variable that is put together from others is read by whoever has them, with the notes kept here.
pub(crate) struct VariableRead<'a> {
    pub(crate) model: &'a Model,
    pub(crate) variable: VarId,
    pub(crate) bound: &'a BoundSource,
    pub(crate) context: DriveContext,
    /// A number that no other opening has: under it decoded chunks are kept.
    pub(crate) opening: u64,
    pub(crate) missing: MissingChunks,
    fragments_absent: Mutex<Vec<AbsentFragment>>,
    absent: Mutex<Vec<Vec<u64>>>,
    absent_count: AtomicU64,
    surplus: AtomicU64,
    sequences: DecodedSequences,
    /// Whether the chunks that are touched fit the cache together, so that it is worth asking.
    is_small: AtomicBool,
}

/// Missing chunks that a report lists at most.
const LISTED: usize = 1 << 20;
/// Absent fragments that a report lists at most.
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
            context,
            opening,
            missing,
            fragments_absent: Mutex::default(),
            absent: Mutex::default(),
            absent_count: AtomicU64::new(0),
            surplus: AtomicU64::new(0),
            sequences: DecodedSequences::default(),
            is_small: AtomicBool::new(false),
        }
    }

    /// What was found on the way.
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
    pub(crate) async fn read(&self, selection: &Selection) -> Result<Values> {
        let count = self.count(selection)?;
        match self.bound.elements {
            ElementDecoding::Copied(copier) => {
                check_memory(count, copier.native_len())?;
                let mut values = convert::zeros(self.model, self.bound.ty, count)?;
                let bytes = values.as_bytes_mut();
                let bytes = bytes.ok_or_else(|| Error::internal("values that cannot be filled in place"))?;
                self.fill_in(selection, bytes, None, true).await?;
                Ok(values)
            }
            ElementDecoding::Decoded { stored_len } | ElementDecoding::Referenced { stored_len } => {
                self.read_gathered(selection, stored_len).await
            }
            ElementDecoding::Sequences => self.read_sequences(selection, count).await,
            ElementDecoding::Assembled => Err(Error::internal("values of other variables without tiles")),
        }
    }

    /// The same, into memory of the caller.
    pub(crate) async fn read_into(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.check_output(selection, out)?;
        if let ElementDecoding::Copied(_) = self.bound.elements {
            return self.fill_in(selection, out, None, false).await;
        }
        copy_values(&self.read(selection).await?, out)
    }

    /// Checks that the values of a selection are as long as memory of the caller.
    pub(crate) fn check_output(&self, selection: &Selection, out: &[u8]) -> Result<()> {
        let count = self.count(selection)?;
        let element = self.model.packed_len(self.bound.ty).and_then(|len| usize::try_from(len).ok());
        let Some(wanted) = element.and_then(|len| len.checked_mul(count)) else {
            return Err(Error::invalid("values of no fixed size cannot be read into memory of the caller"));
        };
        if wanted != out.len() {
            return Err(Error::invalid(format!(
                "{} bytes of memory for {wanted} bytes of values",
                out.len()
            )));
        }
        Ok(())
    }

    /// Fills memory with the selected elements; `unwritten` gets a mark for every element that was never written, and
    /// `zeroed` says that the memory holds nothing but zeros now.
    async fn fill_in(
        &self,
        selection: &Selection,
        bytes: &mut [u8],
        unwritten: Option<&mut [u8]>,
        zeroed: bool,
    ) -> Result<()> {
        let shape = selection.shape();
        let sizes = self.bound.elements.sizes();
        let cuts = self.bound.cuts(selection);
        self.is_small.store(self.is_small_read(&cuts), Ordering::Relaxed);
        let output = OutputBuffer::new(bytes, cuts.clone(), &shape, sizes)?;
        let marks = match unwritten {
            None => None,
            Some(marks) => {
                let sizes = ElementSizes { native: 1, ..sizes };
                Some(OutputBuffer::new(marks, cuts, &shape, sizes)?)
            }
        };
        let fill = self.fill_bytes()?;
        let fill = if zeroed && fill.iter().all(|byte| *byte == 0) { Vec::new() } else { fill };
        let mut windows = ChunkBatches::new(output, marks);
        while let Some(jobs) = windows.next_jobs(self).await? {
            self.run(jobs, &fill).await?;
        }
        Ok(())
    }

    /// Whether all chunks of a selection fit half of the cache: of more, none would live until it is asked for again.
    fn is_small_read(&self, cuts: &ChunkIntersections) -> bool {
        let StorageLayout::Chunks(chunks) = &self.bound.ground else { return false };
        let bytes = cuts.cell_count().and_then(|cells| cells.checked_mul(chunks.usual_byte_len()));
        bytes.is_some_and(|bytes| bytes <= self.context.shared.chunks.budget() as u64 / 2)
    }

    async fn run(&self, jobs: Vec<ChunkTask<'_>>, fill: &[u8]) -> Result<()> {
        match self.context.snapshot.store().local() {
            Some(local) => self.run_local(local, jobs, fill).await,
            None => self.run_remote(jobs, fill).await,
        }
    }

    /// One element of fill as it stands in the result; nothing where elements are marked instead.
    fn fill_bytes(&self) -> Result<Vec<u8>> {
        match self.bound.elements {
            ElementDecoding::Copied(copier) => {
                let bytes = self.bound.source.fill.as_bytes();
                let bytes = bytes.filter(|bytes| bytes.len() == copier.native_len());
                let bytes = bytes.ok_or_else(|| Error::internal("a fill value of another size"))?;
                Ok(bytes.to_vec())
            }
            ElementDecoding::Sequences => Ok(vec![0xff; ELEMENT_MARK]),
            ElementDecoding::Decoded { .. }
            | ElementDecoding::Referenced { .. }
            | ElementDecoding::Assembled => Ok(Vec::new()),
        }
    }

    pub(crate) fn count(&self, selection: &Selection) -> Result<usize> {
        let count = selection.element_count().and_then(|count| usize::try_from(count).ok());
        count.ok_or_else(|| Error::limit("the selection has more elements than fit this machine"))
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

    /// Takes over what a read found that is part of this one.
    pub(crate) fn take_report(&self, report: ReadReport) {
        self.absent_count.fetch_add(report.missing_count, Ordering::Relaxed);
        self.surplus.fetch_add(report.surplus_count, Ordering::Relaxed);
        let mut absent = self.fragments_absent.guard();
        absent.extend(report.absent);
    }

    /// Notes a fragment whose dataset is not there.
    pub(crate) fn note_absent(&self, fragment: AbsentFragment) {
        let mut absent = self.fragments_absent.guard();
        if absent.len() < LISTED_FRAGMENTS {
            absent.push(fragment);
        }
    }

    /// Notes a chunk that has more bytes than its elements.
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

/// Copies values into memory of the caller that is as long as they are.
pub(crate) fn copy_values(values: &Values, out: &mut [u8]) -> Result<()> {
    let bytes = values.as_bytes().filter(|bytes| bytes.len() == out.len());
    let bytes = bytes
        .ok_or_else(|| Error::unsupported("values of this type cannot be read into memory of the caller"))?;
    out.copy_from_slice(bytes);
    Ok(())
}

/// Checks that so much memory is to be had, so that a hopeless request is an error and not the end of the process.
pub(crate) fn check_memory(count: usize, element: usize) -> Result<()> {
    let fits = count.checked_mul(element).filter(|bytes| isize::try_from(*bytes).is_ok());
    let fits = fits.is_some_and(|bytes| bytes < PROBED || Vec::<u8>::new().try_reserve_exact(bytes).is_ok());
    if fits {
        return Ok(());
    }
    Err(Error::limit(format!("{count} elements of {element} bytes do not fit the memory")))
}

/// Smaller amounts of memory are there or nothing works.
const PROBED: usize = 16 << 20;
