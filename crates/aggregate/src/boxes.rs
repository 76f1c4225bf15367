//! Partitions that do not lie on a grid.
use ncirrus_layout::{BoxTree, Error, Limits, Result, Tile, TileSource, uncovered};
use ncirrus_model::Region;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Partitions anywhere in an array.
#[derive(Debug, Default)]
pub(crate) struct PartitionBoxes {
    rank: usize,
    tree: BoxTree,
    /// The numbers of the partitions.
    numbers: Vec<u64>,
}

impl PartitionBoxes {
    /// Partitions by number and position; empty ones touch nothing.
    pub(crate) fn new(rank: usize, numbers: Vec<u64>, spans: Vec<Range<u64>>) -> Self {
        Self { rank, tree: BoxTree::new(rank, numbers.len(), spans), numbers }
    }

    /// One more than the last element along each axis.
    pub(crate) fn ends(&self) -> Vec<u64> {
        let ends = |at: usize| self.tree.ranges(at).iter().map(|range| range.end);
        let mut all = vec![0; self.rank];
        for at in 0..self.tree.count() {
            all.iter_mut().zip(ends(at)).for_each(|(all, end)| *all = end.max(*all));
        }
        all
    }

    /// The partitions that touch a region, with their numbers, in this order.
    pub(crate) fn touched(&self, region: &Region) -> Vec<(u64, Region)> {
        let touched = self.tree.touched(region).into_iter();
        let mut found: Vec<_> = touched.map(|at| (self.number(at), self.region(at))).collect();
        found.sort_unstable_by_key(|(number, _)| *number);
        found
    }

    /// The halves of a region that may touch more than this many partitions, if cutting leaves each half with
    /// significantly fewer.
    pub(crate) fn halves(&self, region: &Region, max: u64) -> Option<[Region; 2]> {
        self.tree.halves(region, max, |_, _| 1)
    }

    /// The tiles that partitions make of a region: elements in none of them are missing.
    ///
    /// # Errors
    /// `Malformed` if partitions overlap, `Limit` if there are too many, and errors of `source`.
    pub(crate) fn tiles(
        &self,
        touched: &[(u64, Region)],
        region: &Region,
        (limits, lenient): (&Limits, bool),
        mut source: impl FnMut(usize, &Region) -> Result<TileSource>,
    ) -> Result<Vec<Tile>> {
        limits.count(touched.len() as u64, "the partitions that a selection touches")?;
        if region.is_empty() {
            return Ok(Vec::new());
        }
        if !lenient {
            self.check_overlap(touched, region)?;
        }
        let regions: Vec<&Region> = touched.iter().map(|(_, region)| region).collect();
        let holes = uncovered(region, &regions, limits)?;
        let mut tiles = Vec::with_capacity(touched.len() + holes.len());
        for (at, (_, region)) in touched.iter().enumerate() {
            tiles.push(Tile { region: region.clone(), source: source(at, region)? });
        }
        tiles.extend(holes.into_iter().map(|region| Tile { region, source: TileSource::Missing }));
        Ok(tiles)
    }

    /// Refuses partitions that overlap in a region. Neighbours that share one element are accepted: S3netCDF4 rounds
    /// this way, and wrote the same value to both.
    fn check_overlap(&self, touched: &[(u64, Region)], region: &Region) -> Result<()> {
        let overlap = |one: u64, other: u64| {
            let (one, other) = (one.min(other), one.max(other));
            Err(Error::malformed(format!("the partitions {one} and {other} overlap")))
        };
        if let (0, [(one, _), (other, _), ..]) = (self.rank, touched) {
            return overlap(*one, *other);
        }
        for (number, one) in touched {
            let Some(inside) = one.intersect(region) else { continue };
            for at in self.tree.touched(&inside) {
                let (other_number, other) = (self.number(at), self.region(at));
                let both = one.intersect(&other).filter(|_| other_number != *number);
                if both.is_some_and(|both| !is_seam(one, &other, &both)) {
                    return overlap(*number, other_number);
                }
            }
        }
        Ok(())
    }

    /// The number of a partition; if the tree has more, an invalid one, which is an error when it is used.
    fn number(&self, at: usize) -> u64 {
        self.numbers.get(at).copied().unwrap_or(u64::MAX)
    }

    fn region(&self, at: usize) -> Region {
        let ranges = self.tree.ranges(at).iter().map(|range| (range.start, range.end - range.start));
        let (start, count) = ranges.unzip();
        Region { start, count }
    }
}

/// Whether the overlap of two partitions is one element thick where both are thicker.
fn is_seam(one: &Region, other: &Region, both: &Region) -> bool {
    let axes = one.count.iter().zip(&other.count).zip(&both.count);
    axes.into_iter().any(|((one, other), both)| *both == 1 && *one > 1 && *other > 1)
}
