//! Where the values of a variable are stored.
use super::boxes::{ChunkBoxes, selection_of};
use super::objects::StoredObjects;
use super::report::{AbsentChunks, CheckFinding, CheckReport, FindingCode, Findings, Severity};
use super::spans::SpanMap;
use ncirrus::layout::{ChunkGrid, ChunkIndex, Extent, Layout};
use ncirrus::{Dataset, Location, ObjectId, Result, Source, Variable};
use std::collections::BTreeSet;
use std::ops::Range;

/// Chunks that are located together.
const WINDOW: u64 = 1 << 15;
/// Chunks of a variable that are located.
pub(super) const MAX_CHUNKS: u64 = 1 << 24;
/// Absent chunks whose coordinates are kept.
pub(super) const LISTED: usize = 1 << 16;
/// Records of which each is checked for overlaps; of more, the first and the last.
const RECORDS: u64 = 4096;

/// A check of where chunks and runs of values are.
pub(super) struct StorageCheck<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) findings: &'a mut Findings,
    pub(super) spans: &'a mut SpanMap,
    pub(super) report: &'a mut CheckReport,
    pub(super) objects: &'a mut StoredObjects,
    /// Whether coordinates of absent chunks are kept.
    pub(super) lists_absent: bool,
}

/// A run of bytes that belongs to a variable.
struct StoredRun<'r> {
    object: &'r ObjectId,
    range: Range<u64>,
    chunk: Option<&'r [u64]>,
}

impl StorageCheck<'_> {
    pub(super) fn run(mut self, variable: &Variable) -> Result<()> {
        let source = self.dataset.source(variable)?;
        let path = variable.path();
        let owner = self.spans.owner(&path);
        match &source.layout {
            Layout::Grid { .. } => self.check_chunks(variable, &source, &path, owner),
            Layout::Affine { extents, base, strides } => {
                let extent = &source.extent;
                // The distance between records is not the size of an element.
                let memory = variable.packed_len().unwrap_or(1) as u64;
                let size = match strides.as_slice() {
                    [] => memory,
                    [step] => memory.min(*step),
                    [.., step] => *step,
                };
                for run in affine_runs(*base, strides, extent, size) {
                    self.check_extents(extents, &run, &path, owner)?;
                }
                Ok(())
            }
            Layout::Mosaic { .. } | Layout::Query { .. } => Ok(()),
        }
    }

    fn check_chunks(&mut self, variable: &Variable, source: &Source, path: &str, owner: usize) -> Result<()> {
        let Layout::Grid { grid, index, .. } = &source.layout else { return Ok(()) };
        let shape = variable.shape();
        if shape.contains(&0) {
            return Ok(());
        }
        let lens: Option<Vec<u64>> = (0..grid.rank())
            .map(|axis| grid.span(axis, 0).map(|span| (span.end - span.start).max(1)))
            .collect();
        let grain = lens.filter(|lens| lens.len() == shape.len()).unwrap_or_else(|| vec![1; shape.len()]);
        let whole = region_starts(&ncirrus::Region::all(&shape), &grain).count();
        if whole > MAX_CHUNKS {
            let message =
                format!("the variable has {whole} chunks, more than the {MAX_CHUNKS} that are checked");
            self.findings.note(FindingCode::LimitReached, Severity::Warning, path, message);
            return Ok(());
        }
        let elements = grain.iter().fold(1u64, |product, len| product.saturating_mul(*len));
        let mut absent = AbsentChunks { path: path.to_owned(), count: 0, starts: Vec::new() };
        if let Some(sharding) = index.sharding() {
            return self.check_shards(variable, grid, index.as_ref(), sharding.as_ref());
        }
        for region in ChunkBoxes::new(&shape, grain.clone(), elements.saturating_mul(WINDOW)) {
            let chunks = variable.chunks(&selection_of(&region))?;
            let mut there: BTreeSet<&[u64]> = BTreeSet::new();
            for chunk in &chunks {
                self.report.chunks += 1;
                let is_there = match &chunk.stored.location {
                    Location::Object(object) => self.objects.name(object) != Some(false),
                    Location::Bytes(object, range) => {
                        // Several chunks may lie in one object.
                        let _ = self.objects.name(object);
                        let run = StoredRun { object, range: range.clone(), chunk: Some(&chunk.start) };
                        self.check_run(&run, path, owner)?;
                        true
                    }
                    Location::Inline(_) => true,
                    Location::Absent => false,
                };
                self.name_decoded(grid, index.as_ref(), &chunk.start);
                if is_there { _ = there.insert(&chunk.start) } else { self.report.chunks -= 1 }
            }
            self.note_absent(&region_starts(&region, &grain), &there, &mut absent);
        }
        self.report_absent(absent);
        Ok(())
    }

    /// The object that is decoded before a chunk is located in it belongs to the variable, even if it does not have the chunk.
    fn name_decoded(&mut self, grid: &ChunkGrid, index: &dyn ChunkIndex, start: &[u64]) {
        let along = start.iter().enumerate();
        let cell: Option<Vec<u64>> = along.map(|(axis, start)| grid.cell_at(axis, *start)).collect();
        if let Some(object) = cell.and_then(|cell| index.decoded_object(&cell)) {
            _ = self.objects.name(&object);
        }
    }

    /// Reports the chunks that were never written.
    pub(super) fn report_absent(&mut self, absent: AbsentChunks) {
        if absent.count > 0 {
            let message = match absent.count {
                1 => "1 chunk was never written".to_owned(),
                count => format!("{count} chunks were never written"),
            };
            self.findings.note(FindingCode::ChunksAbsent, Severity::Note, absent.path.as_str(), message);
            self.report.absent.push(absent);
        }
    }

    fn note_absent(&self, starts: &ChunkStarts, there: &BTreeSet<&[u64]>, absent: &mut AbsentChunks) {
        let count = starts.count().saturating_sub(there.len() as u64);
        absent.count = absent.count.saturating_add(count);
        if self.lists_absent && count > 0 {
            let room = LISTED.saturating_sub(absent.starts.len());
            let missing = starts.iter().filter(|start| !there.contains(start.as_slice()));
            absent.starts.extend(missing.take(room));
        }
    }

    /// Checks logical bytes that lie in extents.
    fn check_extents(
        &mut self,
        extents: &[Extent],
        run: &Range<u64>,
        path: &str,
        owner: usize,
    ) -> Result<()> {
        for extent in extents {
            let (start, end) = (run.start.max(extent.logical.start), run.end.min(extent.logical.end));
            if start < end {
                let at = extent.offset.saturating_add(start - extent.logical.start);
                let range = at..at.saturating_add(end - start);
                self.check_run(&StoredRun { object: &extent.object, range, chunk: None }, path, owner)?;
            }
        }
        Ok(())
    }

    /// Checks that bytes exist and belong to nothing else.
    fn check_run(&mut self, run: &StoredRun<'_>, path: &str, owner: usize) -> Result<()> {
        let StoredRun { object, range, chunk } = run;
        let finding = |code, message: String| CheckFinding {
            object: Some(object.to_string()),
            offset: Some(range.start),
            chunk: chunk.map(<[u64]>::to_vec),
            ..CheckFinding::new(code, Severity::Error, path, message)
        };
        match self.objects.size(self.dataset, object)? {
            None if *object != self.objects.root() => {
                let message = format!("{object} does not exist");
                self.findings.add(finding(FindingCode::ReferenceBroken, message));
            }
            Some(size) if range.end > size => {
                let message =
                    format!("bytes {} to {} lie outside of the {size} bytes", range.start, range.end);
                self.findings.add(finding(FindingCode::OutsideObject, message));
            }
            _ => {}
        }
        // References of several variables to the same bytes are on purpose.
        if *object == self.objects.root()
            && let Some((other, part)) = self.spans.take(object, range, owner)
        {
            let message = format!("bytes {} to {} belong to {other}, too", part.start, part.end);
            self.findings.add(finding(FindingCode::StorageOverlap, message));
        }
        Ok(())
    }
}

/// The first elements of the chunks in a box.
struct ChunkStarts {
    firsts: Vec<u64>,
    counts: Vec<u64>,
    grain: Vec<u64>,
}

fn region_starts(region: &ncirrus::Region, grain: &[u64]) -> ChunkStarts {
    let axes = region.start.iter().zip(&region.count).zip(grain);
    let (firsts, counts) = axes
        .map(|((start, count), grain)| {
            let first = start / grain;
            (first, start.saturating_add(*count).div_ceil(*grain).saturating_sub(first))
        })
        .unzip();
    ChunkStarts { firsts, counts, grain: grain.to_vec() }
}

impl ChunkStarts {
    fn count(&self) -> u64 {
        self.counts.iter().fold(1, |product, count| product.saturating_mul(*count))
    }

    fn iter(&self) -> impl Iterator<Item = Vec<u64>> + '_ {
        (0..self.count()).map(|at| {
            let mut rest = at;
            let mut start: Vec<u64> = Vec::with_capacity(self.counts.len());
            for ((first, count), grain) in self.firsts.iter().zip(&self.counts).zip(&self.grain).rev() {
                start.push(first.saturating_add(rest % count).saturating_mul(*grain));
                rest /= count;
            }
            start.reverse();
            start
        })
    }
}

/// The logical bytes of elements at fixed strides: one run if they follow each other, else one per record.
fn affine_runs(base: u64, strides: &[u64], extent: &[u64], size: u64) -> Vec<Range<u64>> {
    if extent.contains(&0) {
        return Vec::new();
    }
    let span = |axes: Range<usize>| {
        axes.fold(size, |len, axis| {
            let (stride, count) = (strides.get(axis), extent.get(axis));
            let reach =
                stride.zip(count).map_or(0, |(stride, count)| stride.saturating_mul(count.saturating_sub(1)));
            len.saturating_add(reach)
        })
    };
    let row = span(1..extent.len());
    let (Some(step), Some(records)) = (strides.first(), extent.first()) else {
        return std::iter::once(base..base.saturating_add(size)).collect();
    };
    if *step <= row {
        return std::iter::once(base..base.saturating_add(span(0..extent.len()))).collect();
    }
    let run = |record: u64| {
        let start = base.saturating_add(step.saturating_mul(record));
        start..start.saturating_add(row)
    };
    if *records <= RECORDS { (0..*records).map(run).collect() } else { vec![run(0), run(records - 1)] }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_that_follow_each_other_are_one_run_and_records_are_apart() {
        assert_eq!(affine_runs(8, &[12, 4], &[2, 3], 4), vec![8..32]);
        assert_eq!(affine_runs(8, &[40, 4], &[2, 3], 4), vec![8..20, 48..60]);
        assert_eq!(affine_runs(8, &[], &[], 4), vec![8..12]);
        assert!(affine_runs(8, &[4], &[0], 4).is_empty());
    }
}
