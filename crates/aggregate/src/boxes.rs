//! Partitions that lie on no grid.
use crate::touched::split;
use ncirrus_layout::{Error, Limits, Result, Tile, TileSource, uncovered};
use ncirrus_model::Region;
use std::ops::Range;

#[cfg(test)]
mod tests;

/// Partitions anywhere in an array, sorted by where they start along one axis.
#[derive(Debug, Default)]
pub(crate) struct Boxes {
    rank: usize,
    /// The axis that they are sorted along: that with the most places where partitions start.
    axis: usize,
    /// Start and end along each axis, one partition after the other.
    spans: Vec<Range<u64>>,
    /// Where the partitions up to each one end along the axis, at most.
    reach: Vec<u64>,
    /// The numbers of the partitions.
    numbers: Vec<u64>,
}

impl Boxes {
    /// Partitions by number and place; those without elements are left out.
    pub(crate) fn new(rank: usize, numbers: Vec<u64>, spans: Vec<Range<u64>>) -> Self {
        let mut boxes = Self { rank, axis: 0, spans, reach: Vec::new(), numbers };
        boxes.axis = (0..rank).max_by_key(|axis| (boxes.starts(*axis), usize::MAX - axis)).unwrap_or(0);
        boxes.sort();
        boxes
    }

    /// Number of partitions.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len()
    }

    /// One more than the last element along each axis.
    pub(crate) fn ends(&self) -> Vec<u64> {
        let end = |axis: usize| (0..self.len()).map(|at| self.span(at, axis).end).max().unwrap_or(0);
        (0..self.rank).map(end).collect()
    }

    /// The partitions that touch a region, with their numbers, in the order of these.
    pub(crate) fn touched(&self, region: &Region) -> Vec<(u64, Region)> {
        let order = self.order(&self.range(region).unwrap_or(0..1));
        let found = order.map(|at| (self.numbers.get(at).copied().unwrap_or_default(), self.region(at)));
        let mut found: Vec<_> =
            found.filter(|(_, found)| self.rank == 0 || found.intersect(region).is_some()).collect();
        found.sort_unstable_by_key(|(number, _)| *number);
        found
    }

    /// The halves of a region that may touch more than so many partitions, where cutting leaves each half with
    /// distinctly fewer.
    pub(crate) fn halves(&self, region: &Region, most: u64) -> Option<[Region; 2]> {
        let range = self.range(region)?;
        let order = self.order(&range);
        let few = order.len() - order.len() / 4;
        if order.len() as u64 <= most {
            return None;
        }
        let at = self.span(order.start + order.len() / 2, self.axis).start;
        let fits = |range: Range<u64>| !range.is_empty() && self.order(&range).len() <= few;
        (fits(range.start..at) && fits(at..range.end)).then(|| split(region, self.axis, at))?
    }

    /// A region along the axis.
    fn range(&self, region: &Region) -> Option<Range<u64>> {
        let start = *region.start.get(self.axis)?;
        Some(start..start.saturating_add(*region.count.get(self.axis)?))
    }

    /// The places in order of those that may meet a range along the axis.
    fn order(&self, range: &Range<u64>) -> Range<usize> {
        if self.rank == 0 {
            return 0..self.len();
        }
        let first = self.reach.partition_point(|reach| *reach <= range.start);
        let starts = |at: usize| self.span(at, self.axis).start;
        let (mut low, mut high) = (first, self.len());
        while low < high {
            let middle = low + (high - low) / 2;
            if starts(middle) < range.end {
                low = middle + 1;
            } else {
                high = middle;
            }
        }
        first..low
    }

    fn region(&self, at: usize) -> Region {
        let spans = (0..self.rank).map(|axis| self.span(at, axis));
        let (start, count) = spans.map(|span| (span.start, span.end - span.start)).unzip();
        Region { start, count }
    }

    fn span(&self, at: usize, axis: usize) -> Range<u64> {
        self.spans.get(at * self.rank + axis).cloned().unwrap_or_default()
    }

    /// In how many places partitions start along an axis.
    fn starts(&self, axis: usize) -> usize {
        let mut starts: Vec<u64> = (0..self.len()).map(|at| self.span(at, axis).start).collect();
        starts.sort_unstable();
        starts.dedup();
        starts.len()
    }

    fn sort(&mut self) {
        let holds = |at: &usize| (0..self.rank).all(|axis| !self.span(*at, axis).is_empty());
        let mut order: Vec<usize> = (0..self.len()).filter(holds).collect();
        order.sort_by_key(|at| self.span(*at, self.axis).start);
        let spans = order.iter().flat_map(|at| (0..self.rank).map(|axis| self.span(*at, axis)));
        let spans: Vec<Range<u64>> = spans.collect();
        self.numbers = order.iter().filter_map(|at| self.numbers.get(*at).copied()).collect();
        self.spans = spans;
        let mut reach = 0;
        let ends: Vec<u64> = (0..self.len()).map(|at| self.span(at, self.axis).end).collect();
        self.reach = ends
            .into_iter()
            .map(|end| {
                reach = end.max(reach);
                reach
            })
            .collect();
    }
}

/// The tiles that partitions make of a region: what lies in none of them is missing.
///
/// # Errors
/// `Malformed` when partitions overlap, `Limit` when they are too many, and what `source` fails with.
pub(crate) fn tiles(
    touched: &[(u64, Region)],
    region: &Region,
    (limits, lenient): (&Limits, bool),
    mut source: impl FnMut(usize, &Region) -> Result<TileSource>,
) -> Result<Vec<Tile>> {
    limits.count(touched.len() as u64, "the partitions that a selection touches")?;
    if region.is_empty() {
        return Ok(Vec::new());
    }
    let regions: Vec<&Region> = touched.iter().map(|(_, region)| region).collect();
    let holes = uncovered(region, &regions);
    if !lenient {
        check_overlap(touched, region, &holes)?;
    }
    let mut tiles = Vec::with_capacity(touched.len() + holes.len());
    for (at, (_, region)) in touched.iter().enumerate() {
        tiles.push(Tile { region: region.clone(), source: source(at, region)? });
    }
    tiles.extend(holes.into_iter().map(|region| Tile { region, source: TileSource::Missing }));
    Ok(tiles)
}

/// Refuses partitions that overlap. Neighbours that share one element are let pass: S3netCDF4 rounds so, and wrote the
/// same value to both.
fn check_overlap(touched: &[(u64, Region)], region: &Region, holes: &[Region]) -> Result<()> {
    let count = |region: &Region| u128::from(region.element_count().unwrap_or(u64::MAX));
    let inside = touched.iter().filter_map(|(_, found)| found.intersect(region));
    let sum: u128 = inside.map(|found| count(&found)).chain(holes.iter().map(count)).sum();
    if region.rank() > 0 && sum <= count(region) {
        return Ok(());
    }
    for (at, (number, one)) in touched.iter().enumerate() {
        let others = touched.get(at + 1..).unwrap_or_default();
        let others = others.get(..MOST_COMPARED.min(others.len())).unwrap_or_default();
        for (other_number, other) in others {
            if one.rank() == 0 || one.intersect(other).is_some_and(|both| !is_seam(one, other, &both)) {
                return Err(Error::malformed(format!("the partitions {number} and {other_number} overlap")));
            }
        }
    }
    Ok(())
}

/// So many followers of a partition are compared with it.
const MOST_COMPARED: usize = 1 << 10;

/// Whether what two partitions share is one element thick where both are thicker.
fn is_seam(one: &Region, other: &Region, both: &Region) -> bool {
    let axes = one.count.iter().zip(&other.count).zip(&both.count);
    axes.into_iter().any(|((one, other), both)| *both == 1 && *one > 1 && *other > 1)
}
