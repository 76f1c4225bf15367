//! Assembling chunks of the target from their pieces in the scratch file.
use super::slabs::cell_region;
use super::{SpoolBox, SpoolBuffers};
use crate::write::boxes::{elements_before, for_each_run};
use crate::write::cells::to_index;
use crate::write::copy::{VariableCopy, both};
use ncirrus_layout::LockExt;

use ncirrus_layout::{CellList, Error, Result};
use ncirrus_model::Region;

/// Chunks that are assembled at once, and the bytes that were read for them.
struct DrainWindow {
    cells: CellList,
    /// The pieces of each chunk.
    pieces: Vec<Vec<ChunkPiece>>,
    bytes: Vec<u8>,
    /// Elements of the chunks, including those that are omitted.
    elements: u64,
}

/// Elements of a chunk that are contiguous in the file.
struct ChunkPiece {
    /// Offset in the file.
    offset: u64,
    len: usize,
    /// Offset in the bytes that were read.
    at: usize,
    /// Start in the chunk.
    start: Vec<usize>,
    count: Vec<usize>,
}

/// A run of bytes of the file that is read at once.
struct FileRun<'a> {
    offset: u64,
    bytes: &'a mut [u8],
}

/// Maximum number of chunks that are assembled at once, however small they are.
const WINDOW_CELLS: u64 = 1024;
/// Maximum number of bytes that one thread reads at once.
const RUN: usize = 4 << 20;

impl VariableCopy<'_> {
    /// Assembles, encodes and stores the chunks of a box: the second half of the progress.
    pub(super) async fn drain(&self, spool: &SpoolBox<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<()> {
        let buffers = SpoolBuffers::default();
        let bytes = spool.how.cell.iter().fold(spool.how.element as u64, |all, len| all.saturating_mul(*len));
        let step = (spool.how.window / bytes.max(1)).clamp(1, WINDOW_CELLS);
        let count = spool.cells.count();
        let mut windows =
            (0..count.div_ceil(step)).map(|window| window * step..((window + 1) * step).min(count));
        let read = |numbers: std::ops::Range<u64>| {
            let buffers = &buffers;
            async move { self.read_window(spool, buffers, numbers) }
        };
        let first = windows.next().map(|numbers| self.read_window(spool, &buffers, numbers));
        let (mut next, mut done) = (first.transpose()?, 0u64);
        while let Some(window) = next.take() {
            let elements = window.elements;
            let write = self.write_window(spool, &buffers, window);
            let (read, written) = both::both(windows.next().map(read), write).await?;
            written?;
            progress((done + elements).div_ceil(2) - done.div_ceil(2));
            done += elements;
            next = read.transpose()?;
        }
        Ok(())
    }

    /// Reads the pieces of a window of chunks from the file.
    fn read_window(
        &self,
        spool: &SpoolBox<'_>,
        buffers: &SpoolBuffers,
        numbers: std::ops::Range<u64>,
    ) -> Result<DrainWindow> {
        let mut cells = CellList::new(spool.whole.count.len());
        let (mut pieces, mut elements) = (Vec::new(), 0);
        for number in numbers {
            let cell = spool.cells.cell(number);
            let Some(inside) = spool.piece(&cell, &spool.whole) else { continue };
            elements += inside.element_count().unwrap_or(0);
            if spool.written.as_ref().is_none_or(|written| written.guard().has_cell(number)) {
                cells.push(&cell);
                pieces.push(spool.pieces(&cell, &inside)?);
            }
        }
        let mut order: Vec<&mut ChunkPiece> = pieces.iter_mut().flatten().collect();
        // In the order of the file, so that pieces that follow one another there become one read.
        order.sort_unstable_by_key(|piece| piece.offset);
        let mut len = 0;
        for piece in &mut order {
            piece.at = len;
            len += piece.len;
        }
        let mut bytes = buffers.take(len);
        let runs = runs(&order, &mut bytes)?;
        let shared = &self.writer.session.shared;
        shared.for_each(runs, usize::MAX, |run, _| spool.file.read_at(run.offset, run.bytes))?;
        Ok(DrainWindow { cells, pieces, bytes, elements })
    }

    async fn write_window(
        &self,
        spool: &SpoolBox<'_>,
        buffers: &SpoolBuffers,
        window: DrainWindow,
    ) -> Result<()> {
        let DrainWindow { cells, pieces, bytes, .. } = window;
        if !cells.is_empty() {
            let put_together = |at: usize, cell: &mut [u8]| spool.put_together(pieces.get(at), &bytes, cell);
            self.writer.write_cells(self.to, cells, &put_together).await?;
        }
        buffers.give_back(bytes);
        Ok(())
    }
}

impl SpoolBox<'_> {
    /// The locations of the pieces of a chunk in which anything was written.
    fn pieces(&self, cell: &[u64], inside: &Region) -> Result<Vec<ChunkPiece>> {
        let whole_cell = cell_region(cell, &self.how.cell);
        let mut pieces = Vec::new();
        for place in self.slabs.touched(inside) {
            if let Some(written) = &self.written
                && written.guard().slabs.get(self.slabs.number(&place)) == Some(&false)
            {
                continue;
            }
            let slab = self.slabs.region(&place);
            let Some(region) = self.piece(cell, &slab) else { continue };
            let before = elements_before(&slab, &self.whole) + elements_before(&region, &slab);
            let inside = |(start, first): (&u64, &u64)| to_index(start - first);
            let count: Vec<usize> = region.count.iter().map(|len| to_index(*len)).collect::<Result<_>>()?;
            pieces.push(ChunkPiece {
                offset: before.saturating_mul(self.how.element as u64),
                len: count.iter().product::<usize>() * self.how.element,
                at: 0,
                start: region.start.iter().zip(&whole_cell.start).map(inside).collect::<Result<_>>()?,
                count,
            });
        }
        Ok(pieces)
    }

    /// Copies the pieces of a chunk to their places; the rest is fill.
    fn put_together(&self, pieces: Option<&Vec<ChunkPiece>>, bytes: &[u8], cell: &mut [u8]) -> Result<()> {
        let pieces = pieces.ok_or_else(|| Error::internal("a cell that was not read"))?;
        let shape: Vec<usize> = self.how.cell.iter().map(|len| to_index(*len)).collect::<Result<_>>()?;
        if self.written.is_some() {
            cell.fill(0);
            self.how.target.fill_bytes(cell);
        }
        let element = self.how.element;
        for piece in pieces {
            let from = bytes.get(piece.at..piece.at + piece.len).unwrap_or_default();
            for_each_run(&shape, &piece.start, &piece.count, |run| {
                let from = &from[run.inner * element..(run.inner + run.len) * element];
                match run.step {
                    1 => cell[run.outer * element..(run.outer + run.len) * element].copy_from_slice(from),
                    step => {
                        for (k, from) in from.chunks_exact(element).enumerate() {
                            let at = (run.outer + k * step) * element;
                            cell[at..at + element].copy_from_slice(from);
                        }
                    }
                }
            });
        }
        Ok(())
    }
}

/// The runs to read: consecutive pieces are read together.
fn runs<'a>(pieces: &[&mut ChunkPiece], mut bytes: &'a mut [u8]) -> Result<Vec<FileRun<'a>>> {
    let mut joined: Vec<(u64, usize)> = Vec::new();
    for piece in pieces {
        match joined.last_mut() {
            Some((offset, len)) if *offset + *len as u64 == piece.offset && *len + piece.len <= RUN => {
                *len += piece.len;
            }
            _ => joined.push((piece.offset, piece.len)),
        }
    }
    let short = || Error::internal("a window has less room than its pieces need");
    let run = |(offset, len): (u64, usize)| -> Result<FileRun<'a>> {
        let bytes = bytes.split_off_mut(..len).ok_or_else(short)?;
        Ok(FileRun { offset, bytes })
    };
    joined.into_iter().map(run).collect()
}
