//! Writing slabs of the source to the scratch file, cut along the chunks of the target.
use super::slabs::{CellBox, cell_region};
use super::{GATHERED, SpoolBox, SpoolBuffers};
use crate::read::ReadReport;
use crate::resources::MissingChunks;
use crate::write::boxes::elements_before;
use crate::write::cells::to_index;
use crate::write::copy::damage::is_damage;
use crate::write::copy::{VariableCopy, both};
use ncirrus_layout::LockExt;

use crate::write::rows::{NativeBytes, WriteData};
use ncirrus_layout::{ChunkGrid, Error, Result};
use ncirrus_model::{Region, Values};
use std::collections::HashSet;
use std::ops::Range;

/// A slab that was read.
struct SpooledSlab {
    place: Vec<usize>,
    region: Region,
    elements: SlabSource,
    report: ReadReport,
}

enum SlabSource {
    /// Numbers in the machine's byte order, in a reusable buffer.
    Native(Vec<u8>),
    Values(Values),
}

/// What one thread gathers and writes.
enum GatherTask {
    /// The pieces of the chunks with these numbers, which are consecutive in the file.
    Pieces(Range<u64>),
    /// A part of a piece that is large by itself, and the number of elements before it.
    Part(Region, u64),
}

impl VariableCopy<'_> {
    /// Reads a box and writes it to the file, which is half of the progress. Returns how many elements were outside the
    /// range of their new type.
    pub(super) async fn fill(&self, spool: &SpoolBox<'_>, progress: &(dyn Fn(u64) + Sync)) -> Result<u64> {
        let buffers = SpoolBuffers::default();
        let mut places = spool.slabs.touched(&spool.whole);
        let (mut out_of_range, mut done) = (0, 0);
        let mut next = self.read_slab(spool, &buffers, places.next()).await?;
        while let Some(slab) = next.take() {
            let elements = slab.region.element_count().unwrap_or(0);
            let spill = async { self.spill(spool, &buffers, slab) };
            // The next slab is read while this one is written: at most two slabs are in memory.
            let read = places.next().map(|place| self.read_slab(spool, &buffers, Some(place)));
            let (read, spilt) = both::both(read, spill).await?;
            out_of_range += spilt?;
            // Differences of halves, so that rounding does not accumulate: draining reports the other half.
            progress((done + elements) / 2 - done / 2);
            done += elements;
            next = read.transpose()?.flatten();
        }
        Ok(out_of_range)
    }

    async fn read_slab(
        &self,
        spool: &SpoolBox<'_>,
        buffers: &SpoolBuffers,
        place: Option<Vec<usize>>,
    ) -> Result<Option<SpooledSlab>> {
        let Some(place) = place else { return Ok(None) };
        let region = spool.slabs.region(&place);
        let read = self.try_slab(spool, buffers, &region).await;
        let (elements, report) = match (read, self.skipped) {
            (Err(error), Some(report_skipped)) if is_damage(&error) => {
                let values = self.read_whole_around_damage(&region, report_skipped).await?;
                (SlabSource::Values(values), ReadReport::default())
            }
            (read, _) => read?,
        };
        Ok(Some(SpooledSlab { place, region, elements, report }))
    }

    async fn try_slab(
        &self,
        spool: &SpoolBox<'_>,
        buffers: &SpoolBuffers,
        region: &Region,
    ) -> Result<(SlabSource, ReadReport)> {
        let selection = self.part_of_selection(region);
        let missing = match self.source.session().shared.missing {
            // Chunks that were never written come as fill either way; reporting them allows to leave them out of the
            // target.
            MissingChunks::Fill if spool.written.is_some() => MissingChunks::Report,
            choice => choice,
        };
        // Numbers go from the chunks into a reusable buffer; other elements are values that own their memory.
        let Some((native, _)) = spool.how.native else {
            let (values, report) = self.source.read_reported(self.from, &selection, missing).await?;
            return Ok((SlabSource::Values(values), report));
        };
        let len = region.element_count().and_then(|count| count.checked_mul(native as u64));
        let mut buffer = buffers.take(to_index(len.unwrap_or(u64::MAX))?);
        let report = self.source.read_into_reported(self.from, &selection, &mut buffer, missing).await?;
        Ok((SlabSource::Native(buffer), report))
    }

    /// Writes a slab to the file, unless nothing of it was ever written.
    fn spill(&self, spool: &SpoolBox<'_>, buffers: &SpoolBuffers, slab: SpooledSlab) -> Result<u64> {
        let SpooledSlab { place, region, elements, report } = slab;
        // The drain does not read what was not noted, so that the hole in the file is never seen.
        if !spool.note_written(&place, &region, &report) {
            if let SlabSource::Native(buffer) = elements {
                buffers.give_back(buffer);
            }
            return Ok(0);
        }
        match (elements, &spool.how.native) {
            (SlabSource::Native(buffer), Some((_, copier))) => {
                self.put_pieces(
                    spool,
                    &region,
                    &WriteData::Native(NativeBytes::Lent(&buffer), copier.clone()),
                )?;
                buffers.give_back(buffer);
                Ok(0)
            }
            (SlabSource::Native(_), None) => Err(Error::internal("numbers of an unknown kind")),
            (SlabSource::Values(values), _) => {
                let (values, out_of_range) = self.prepared(&region, values)?;
                let data = WriteData::new(&self.writer.model(), &spool.how.target, &values)?;
                self.put_pieces(spool, &region, &data)?;
                Ok(out_of_range)
            }
        }
    }

    fn put_pieces(&self, spool: &SpoolBox<'_>, slab: &Region, data: &WriteData<'_>) -> Result<()> {
        let shape: Vec<usize> = slab.count.iter().map(|len| to_index(*len)).collect::<Result<_>>()?;
        let element = spool.how.element;
        // Slabs follow each other in the file, and in a slab the pieces in the order of the target's chunks. Every
        // position can be computed, hence threads write without a common state.
        let base = elements_before(slab, &spool.whole);
        let cells = CellBox::new(slab, &spool.how.cell);
        let put = |part: &Region, gathered: &mut Vec<u8>| -> Result<()> {
            let inside = |(start, first): (&u64, &u64)| to_index(start - first);
            let start: Vec<usize> = part.start.iter().zip(&slab.start).map(inside).collect::<Result<_>>()?;
            let count: Vec<usize> = part.count.iter().map(|len| to_index(*len)).collect::<Result<_>>()?;
            let (from, len) = (gathered.len(), count.iter().product::<usize>() * element);
            gathered.resize(from + len, 0);
            data.cut((&shape, &start, &count), element, gathered.get_mut(from..).unwrap_or_default());
            Ok(())
        };
        let jobs = spool.jobs(slab, &cells);
        self.writer.session.shared.for_each(jobs, usize::MAX, |job, worker| {
            let gathered = &mut worker.encoded;
            gathered.clear();
            let first = match job {
                GatherTask::Part(part, before) => {
                    put(&part, gathered)?;
                    before
                }
                // Pieces with consecutive numbers are adjacent in the file: one write for all, at the position of the
                // first.
                GatherTask::Pieces(numbers) => {
                    let mut first = None;
                    for number in numbers {
                        let Some(piece) = spool.piece(&cells.cell(number), slab) else { continue };
                        first.get_or_insert_with(|| elements_before(&piece, slab));
                        put(&piece, gathered)?;
                    }
                    first.unwrap_or(0)
                }
            };
            spool.file.write_at((base + first).saturating_mul(element as u64), gathered)
        })
    }
}

impl SpoolBox<'_> {
    /// The elements that a chunk and a slab share.
    pub(super) fn piece(&self, cell: &[u64], slab: &Region) -> Option<Region> {
        let region = cell_region(cell, &self.how.cell).intersect(slab);
        region.or_else(|| cell.is_empty().then(|| Region::all(&[])))
    }

    /// The work on a slab, in parts of about equal size.
    fn jobs(&self, slab: &Region, cells: &CellBox) -> Vec<GatherTask> {
        let lens = slab.count.iter().zip(&self.how.cell).map(|(len, cell)| *len.min(cell));
        let largest = lens.fold(self.how.element as u64, u64::saturating_mul).max(1);
        let (gathered, mut jobs) = (GATHERED as u64, Vec::new());
        // Many small pieces are gathered into one write; a large one is cut into several.
        if largest <= gathered {
            let step = gathered / largest;
            let mut at = 0;
            while at < cells.count() {
                jobs.push(GatherTask::Pieces(at..(at + step).min(cells.count())));
                at += step;
            }
            return jobs;
        }
        for number in 0..cells.count() {
            let Some(piece) = self.piece(&cells.cell(number), slab) else { continue };
            // The parts are consecutive in the piece because they are cut along the outermost axis that is longer than
            // one.
            let before = elements_before(&piece, slab);
            for part in rows_of(&piece, (gathered / self.how.element as u64).max(1)) {
                let inside = elements_before(&part, &piece);
                jobs.push(GatherTask::Part(part, before + inside));
            }
        }
        jobs
    }

    /// Notes in which chunks something was written; `false` if nothing of the slab was.
    fn note_written(&self, place: &[usize], slab: &Region, report: &ReadReport) -> bool {
        let Some(written) = &self.written else { return true };
        let how = self.how;
        let missing: HashSet<&[u64]> = report.missing.iter().map(Vec::as_slice).collect();
        // A report lists a bounded number of missing chunks: if some are not listed, every chunk counts as written.
        let all_listed = missing.len() as u64 == report.missing_count;
        let chunk_is_missing = |chunk: &Vec<u64>| all_listed && missing.contains(chunk.as_slice());
        let cells = CellBox::new(slab, &how.cell);
        let mut written = written.guard();
        let mut any = false;
        for number in 0..cells.count() {
            let cell = cells.cell(number);
            let Some(piece) = self.piece(&cell, slab) else { continue };
            // A target chunk is left out only if all source chunks under this piece are missing.
            if missing.is_empty() || !chunks_of(&piece, &how.chunks, &how.offset).iter().all(chunk_is_missing)
            {
                written.mark_cell(self.cells.number(&cell));
                any = true;
            }
        }
        if let Some(slot) = written.slabs.get_mut(self.slabs.number(place)) {
            *slot = any;
        }
        any
    }
}

/// The source chunks that a box touches; what is copied starts at `offset` among them.
fn chunks_of(region: &Region, chunks: &ChunkGrid, offset: &[u64]) -> Vec<Vec<u64>> {
    let mut list = vec![Vec::new()];
    for (axis, ((start, count), offset)) in region.start.iter().zip(&region.count).zip(offset).enumerate() {
        let first = chunks.cell_at(axis, start + offset).unwrap_or(u64::MAX);
        let last = chunks.cell_at(axis, start + offset + count.saturating_sub(1)).unwrap_or(u64::MAX);
        list = list
            .iter()
            .flat_map(|chunk: &Vec<u64>| (first..=last).map(|at| [chunk.as_slice(), &[at]].concat()))
            .collect();
    }
    list
}

/// A box in parts of at most `max` elements, or one, which are consecutive in row-major order.
fn rows_of(region: &Region, max: u64) -> Vec<Region> {
    let (mut parts, mut rest) = (Vec::new(), vec![region.clone()]);
    while let Some(part) = rest.pop() {
        let axis = part.count.iter().position(|len| *len > 1);
        let Some(axis) = axis.filter(|_| part.element_count().is_none_or(|count| count > max)) else {
            parts.push(part);
            continue;
        };
        let row = part.count.iter().skip(axis + 1).fold(1, |all: u64, len| all.saturating_mul(*len));
        let rows = (max / row).clamp(1, part.count[axis] - 1);
        // `second` goes below `first` on the stack: the order of the parts is that of the elements.
        let (mut first, mut second) = (part.clone(), part);
        first.count[axis] = rows;
        second.start[axis] += rows;
        second.count[axis] -= rows;
        rest.extend([second, first]);
    }
    parts
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_of_a_piece_follow_each_other() {
        let piece = Region { start: vec![7, 0, 3], count: vec![3, 5, 4] };
        for max in [1, 3, 4, 7, 20, 33, 60, 99] {
            let mut before = 0;
            for part in rows_of(&piece, max) {
                assert_eq!(elements_before(&part, &piece), before);
                let count = part.element_count().unwrap();
                assert!(count <= max);
                before += count;
            }
            assert_eq!(before, 60);
        }
    }
}
