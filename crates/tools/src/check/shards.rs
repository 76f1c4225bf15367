//! The shards of a variable: the checksum of each index, where it says that the chunks are, and bytes that belong to none.
use super::report::{AbsentChunks, CheckFinding, FindingCode, Severity, code_of};
use super::storage::{LISTED, StorageCheck};
use ncirrus::layout::grid::row_major_cell;
use ncirrus::layout::{ChunkGrid, ChunkIndex, Sharding};
use ncirrus::{ObjectId, Result, Variable};
use std::ops::Range;

/// Bytes of an index that is checked.
const MAX_INDEX: u64 = 256 << 20;

/// A chunk of a shard: the index of its first element, and its bytes according to the index of the shard.
struct ShardChunk {
    start: Vec<u64>,
    range: Range<u64>,
}

/// A shard that is checked.
struct StoredShard<'a> {
    path: &'a str,
    object: &'a ObjectId,
    /// Where the index is.
    index: Range<u64>,
}

impl StorageCheck<'_> {
    /// Checks the shards of a variable.
    pub(super) fn check_shards(
        &mut self,
        variable: &Variable,
        grid: &ChunkGrid,
        index: &dyn ChunkIndex,
        sharding: &dyn Sharding,
    ) -> Result<()> {
        let (path, shape) = (variable.path(), variable.shape());
        let mut absent = AbsentChunks { path: path.clone(), count: 0, starts: Vec::new() };
        let along =
            |(axis, len): (usize, &u64)| sharding.shards().cells_along(axis, grid.cells_along(axis, *len));
        let counts: Vec<u64> = shape.iter().enumerate().map(along).collect();
        let total = counts.iter().fold(1u64, |product, count| product.saturating_mul(*count));
        for shard in (0..total).map(|number| row_major_cell(number, &counts)) {
            let Some(object) = index.shard_object(&shard) else { continue };
            let chunks = match self.objects.name(&object) {
                Some(false) => Vec::new(),
                _ => match self.stated_chunks((sharding, &shard), &path, &object)? {
                    Some(chunks) => chunks,
                    // The index is damaged, which was reported.
                    None => continue,
                },
            };
            let mut stated = Vec::new();
            for cell in sharding.cells_of(&shard) {
                let range = chunks.get(sharding.slot(&cell)).cloned().flatten();
                let start: Option<Vec<u64>> =
                    (0..cell.len()).map(|axis| Some(grid.span(axis, *cell.get(axis)?)?.start)).collect();
                let start = start.unwrap_or_else(|| cell.clone());
                // Chunks beyond the end of the array may be left from a writer that was killed.
                let is_inside = grid.clipped_region(&cell, &shape).is_some();
                match range {
                    Some(range) => {
                        self.report.chunks += u64::from(is_inside);
                        stated.push(ShardChunk { start, range });
                    }
                    None if is_inside => {
                        absent.count += 1;
                        if self.lists_absent && absent.starts.len() < LISTED {
                            absent.starts.push(start);
                        }
                    }
                    None => {}
                }
            }
            if !chunks.is_empty() {
                self.check_places((sharding, &shard), (&path, &object), stated)?;
            }
        }
        self.report_absent(absent);
        Ok(())
    }

    /// Where the chunks of a shard are according to its index, by number; none of a shard that does not exist, `None` if
    /// the index is damaged.
    fn stated_chunks(
        &mut self,
        (sharding, shard): (&dyn Sharding, &[u64]),
        path: &str,
        object: &ObjectId,
    ) -> Result<Option<Vec<Option<Range<u64>>>>> {
        let len = sharding.index_len(shard)?;
        if len > MAX_INDEX {
            let message =
                format!("the index of a shard has {len} bytes, more than the {MAX_INDEX} that are checked");
            self.findings.note(FindingCode::LimitReached, Severity::Warning, path, message);
            return Ok(None);
        }
        let Some(end) = self.objects.end_of(self.dataset, object, len, sharding.is_index_first())? else {
            return Ok(Some(Vec::new()));
        };
        match sharding.stated_ranges(shard, &end.bytes) {
            Ok(chunks) => Ok(Some(chunks)),
            Err(error) => {
                let error = error.at_object(object).at_offset(end.offset);
                self.findings.add_error(code_of(&error), path, &error);
                Ok(None)
            }
        }
    }

    /// Checks that the chunks of a shard are inside of the object and apart from each other, and counts the other bytes.
    fn check_places(
        &mut self,
        (sharding, index): (&dyn Sharding, &[u64]),
        (path, object): (&str, &ObjectId),
        mut chunks: Vec<ShardChunk>,
    ) -> Result<()> {
        let (Some(size), len) = (self.objects.size(self.dataset, object)?, sharding.index_len(index)?) else {
            return Ok(());
        };
        let index = if sharding.is_index_first() { 0..len } else { size.saturating_sub(len)..size };
        let shard = StoredShard { path, object, index };
        chunks.retain(|chunk| {
            let is_outside = chunk.range.end > size;
            if is_outside {
                let Range { start, end } = chunk.range;
                let message = format!("bytes {start} to {end} lie outside of the {size} bytes of the shard");
                self.findings.add(shard.finding(FindingCode::OutsideObject, chunk, message));
            }
            !is_outside
        });
        chunks.sort_by_key(|chunk| (chunk.range.start, chunk.range.end));
        let (mut end, mut used) = (0u64, len);
        for chunk in &chunks {
            let Range { start, end: chunk_end } = chunk.range;
            let with_index = start.max(shard.index.start)..chunk_end.min(shard.index.end);
            let with_other = start..chunk_end.min(end);
            if !with_index.is_empty() {
                let message = format!(
                    "bytes {} to {} belong to the index of the shard, too",
                    with_index.start, with_index.end
                );
                self.findings.add(shard.finding(FindingCode::StorageOverlap, chunk, message));
            } else if !with_other.is_empty() {
                let message =
                    format!("bytes {} to {} belong to another chunk, too", with_other.start, with_other.end);
                self.findings.add(shard.finding(FindingCode::StorageOverlap, chunk, message));
            }
            let own = start.max(end)..chunk_end;
            let in_index = own.start.max(shard.index.start)..own.end.min(shard.index.end);
            used = used.saturating_add(length(&own)).saturating_sub(length(&in_index));
            end = end.max(chunk_end);
        }
        let unused = size.saturating_sub(used);
        if unused > 0 {
            let message = format!("{unused} of the {size} bytes of the shard belong to no chunk");
            self.findings.add(CheckFinding {
                object: Some(object.to_string()),
                ..CheckFinding::new(FindingCode::BytesUnused, Severity::Note, path, message)
            });
        }
        Ok(())
    }
}

impl StoredShard<'_> {
    fn finding(&self, code: FindingCode, chunk: &ShardChunk, message: String) -> CheckFinding {
        CheckFinding {
            object: Some(self.object.to_string()),
            offset: Some(chunk.range.start),
            chunk: Some(chunk.start.clone()),
            ..CheckFinding::new(code, Severity::Error, self.path, message)
        }
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}
