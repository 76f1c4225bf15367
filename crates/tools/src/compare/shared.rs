//! Chunks that two states of one repository have in common: they are the same bytes, and need not be read.
use super::blocks::chunk_grain;
use ncirrus::internals::DatasetInternals;
use ncirrus::{Dataset, Result, Selection, Variable};
use ncirrus_layout::{ChunkGrid, Layout, Source};
use std::collections::HashMap;

/// A variable in two states of one repository, stored in the same way.
pub(super) struct SharedChunks<'a> {
    sides: [&'a Variable; 2],
    grain: Vec<u64>,
}

/// How much of a block two states have in common.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Overlap {
    All,
    Some,
    None,
}

impl<'a> SharedChunks<'a> {
    /// The chunks of two variables, if equal references mean equal values: chunks of a repository never change.
    ///
    /// # Errors
    /// If the description of a variable cannot be read.
    pub(super) fn between(sides: [&'a Variable; 2]) -> Result<Option<Self>> {
        let [first, second] = sides;
        if !are_of_one_repository(first.dataset(), second.dataset()) {
            return Ok(None);
        }
        let source = |variable: &Variable| {
            let dataset = variable.dataset();
            dataset.engine().wait(dataset.reader()?.source(variable.id()))
        };
        let are_alike = are_stored_alike(&*source(first)?, &*source(second)?);
        Ok(are_alike.then(|| Self { sides, grain: chunk_grain(first) }))
    }

    /// The parts of a block that have to be read, and the number of elements that need not be.
    ///
    /// # Errors
    /// If the references cannot be read.
    pub(super) fn split(&self, block: Selection) -> Result<(Vec<Selection>, u64)> {
        let (mut wanted, mut common) = (Vec::new(), 0);
        let mut rest = vec![block];
        while let Some(block) = rest.pop() {
            let halves = match self.overlap(&block)? {
                Overlap::All => {
                    common += block.element_count().unwrap_or_default();
                    continue;
                }
                Overlap::Some => between_chunks(&block, &self.grain),
                Overlap::None => None,
            };
            match halves {
                Some((one, other)) => rest.extend([other, one]),
                None => wanted.push(block),
            }
        }
        Ok((wanted, common))
    }

    fn overlap(&self, block: &Selection) -> Result<Overlap> {
        let [ours, theirs] = self.sides.map(|variable| variable.chunks(block));
        let mut ours: HashMap<Vec<u64>, _> =
            ours?.into_iter().map(|chunk| (chunk.start, chunk.stored)).collect();
        let (mut common, mut differing) = (0, 0);
        for chunk in theirs? {
            if ours.remove(&chunk.start).as_ref() == Some(&chunk.stored) {
                common += 1;
            } else {
                differing += 1;
            }
        }
        Ok(match (common, differing + ours.len()) {
            (_, 0) => Overlap::All,
            (0, _) => Overlap::None,
            _ => Overlap::Some,
        })
    }
}

/// Whether both datasets are states of one repository.
fn are_of_one_repository(first: &Dataset, second: &Dataset) -> bool {
    let (Ok(ours), Ok(theirs)) = (first.reader(), second.reader()) else { return false };
    [ours, theirs].iter().all(|reader| reader.driver().name() == "icechunk") && ours.root() == theirs.root()
}

/// Whether equal bytes of chunks mean equal elements.
fn are_stored_alike(ours: &Source, theirs: &Source) -> bool {
    let alike = match (&ours.layout, &theirs.layout) {
        (
            Layout::Grid { grid: ChunkGrid::Regular(grid), edge, codecs, .. },
            Layout::Grid { grid: ChunkGrid::Regular(other), edge: other_edge, codecs: other_codecs, .. },
        ) => grid == other && edge == other_edge && codecs == other_codecs,
        _ => false,
    };
    alike
        && ours.stored == theirs.stored
        && ours.extent == theirs.extent
        && ours.fill.is_identical(&theirs.fill)
}

/// A block cut in two along the first axis along which it touches several chunks, at the end of a chunk.
fn between_chunks(block: &Selection, grain: &[u64]) -> Option<(Selection, Selection)> {
    let cells = |axis: usize| {
        let (one, len) = (block.axes().get(axis)?, *grain.get(axis)?);
        let last = one.index(one.count().checked_sub(1)?)?;
        Some((one.index(0)?.checked_div(len)?, last.checked_div(len)?))
    };
    let axis = (0..block.rank()).find(|axis| cells(*axis).is_some_and(|(first, last)| first != last))?;
    let along = Selection::new(vec![block.axes().get(axis)?.clone()]);
    let (one, other) = along.halves(grain.get(axis..=axis)?)?;
    let with = |part: Selection| {
        let mut axes = block.axes().to_vec();
        *axes.get_mut(axis)? = part.axes().first()?.clone();
        Some(Selection::new(axes))
    };
    Some((with(one)?, with(other)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn blocks_are_cut_at_the_ends_of_chunks_only() {
        let cut = |start: &[u64], count: &[u64]| {
            let halves = between_chunks(&Selection::slab(start, count), &[4, 10]);
            halves.map(|(one, other)| (one.shape(), other.shape()))
        };
        assert_eq!(cut(&[0, 0], &[4, 10]), None);
        assert_eq!(cut(&[5, 12], &[2, 3]), None);
        assert_eq!(cut(&[0, 0], &[8, 10]), Some((vec![4, 10], vec![4, 10])));
        assert_eq!(cut(&[0, 5], &[4, 20]), Some((vec![4, 5], vec![4, 15])));
    }
}
