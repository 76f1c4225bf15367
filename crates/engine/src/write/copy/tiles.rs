//! Where a source that is assembled from others is cut: along its tiles, and along the chunks of the first of them.
use super::VariableCopy;
use crate::drive::ReadDepth;
use ncirrus_layout::{ChunkGrid, Layout, Tile, TileSource};
use ncirrus_model::Region;
use std::collections::BTreeSet;
use std::sync::Arc;

/// Maximum number of cuts along an axis: more would not help.
const CUTS: usize = 1 << 16;
/// Maximum number of boxes per tile that the cuts may produce: if there are more, the tiles form no grid.
const BOXES: usize = 4;

impl VariableCopy<'_> {
    /// The grid of tiles and their chunks, each of at most `max` elements; `None` if they form none, or it cannot be
    /// determined. Faulty tiles show when values are read.
    pub(super) async fn tile_grid(&self, max: u64) -> Option<ChunkGrid> {
        let shape = self.source.model().shape(self.from);
        let tiles = self.source.tiles(self.from, &Region::all(&shape)).await.ok()?;
        let cuts = |axis: usize| -> Option<BTreeSet<u64>> {
            let len = *shape.get(axis)?;
            let ends = tiles.iter().map(|tile| {
                let start = *tile.region.start.get(axis)?;
                Some([start, start.saturating_add(*tile.region.count.get(axis)?).min(len)])
            });
            let ends = ends.collect::<Option<Vec<_>>>()?;
            Some(ends.into_iter().flatten().chain([len]).filter(|end| *end > 0).collect())
        };
        let mut axes = (0..shape.len()).map(cuts).collect::<Option<Vec<_>>>()?;
        let boxes = axes.iter().fold(1, |all: usize, ends| all.saturating_mul(ends.len()));
        if axes.is_empty() || boxes > tiles.len().saturating_mul(BOXES) {
            return None;
        }
        if let Some(chunk) = self.chunk_of_tiles(&tiles).await {
            axes = axes.iter().zip(chunk).map(|(ends, len)| cut_further(ends, len)).collect();
        }
        let largest = axes.iter().map(longest).fold(1, u64::saturating_mul);
        let axes = axes.into_iter().map(|ends| ends.into_iter().collect::<Arc<[u64]>>());
        (largest <= max).then(|| ChunkGrid::Rectilinear(axes.collect()))
    }

    /// The chunk shape of the first tile that is read from a variable with its axes in order; the others are assumed to
    /// be like it.
    async fn chunk_of_tiles(&self, tiles: &[Tile]) -> Option<Vec<u64>> {
        let is_filled = |tile: &&Tile| !matches!(tile.source, TileSource::Constant(_) | TileSource::Missing);
        let tile = tiles.iter().find(is_filled)?;
        let read_depth = ReadDepth::default();
        let (dataset, variable, region) = match &tile.source {
            TileSource::Fragment(fragment) if fragment.axes.is_none() => {
                let places = self.source.places(fragment).ok()?;
                let (dataset, _) = self.source.fragment_at(&places, &read_depth).await.ok()??;
                let (dataset, variable) = dataset.fragment_variable(&fragment.variables)?;
                let region = Region::all(&dataset.model().shape(variable));
                (dataset, variable, region)
            }
            TileSource::Variable { variable, region } => {
                let dataset = self.source.referred(variable.dataset.as_ref(), &read_depth).await.ok()?;
                let found = dataset.model().variable_at(&variable.path)?;
                (dataset, found, region.clone())
            }
            _ => return None,
        };
        let source = dataset.source(variable).await.ok()?;
        let Layout::Grid { grid: ChunkGrid::Regular(lens), .. } = &source.layout else { return None };
        let mut starts = region.start.iter().zip(lens);
        let is_aligned = starts.all(|(start, len)| start.is_multiple_of((*len).max(1)));
        (is_aligned && region.count == tile.region.count).then(|| lens.clone())
    }
}

/// The longest distance between ends.
fn longest(ends: &BTreeSet<u64>) -> u64 {
    let starts = std::iter::once(&0).chain(ends);
    starts.zip(ends).map(|(start, end)| end - start).max().unwrap_or(0)
}

/// Adds cuts between ends, at multiples of a length from each.
fn cut_further(ends: &BTreeSet<u64>, len: u64) -> BTreeSet<u64> {
    let (mut all, mut start) = (BTreeSet::new(), 0);
    for end in ends {
        let count = (end - start) / len.max(1);
        if all.len().saturating_add(usize::try_from(count).unwrap_or(usize::MAX)) > CUTS {
            return ends.clone();
        }
        all.extend((1..=count).map(|number| start + number * len));
        all.insert(*end);
        start = *end;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tiles_are_cut_where_their_chunks_end() {
        let ends = BTreeSet::from([10, 17, 20]);
        assert_eq!(cut_further(&ends, 4), BTreeSet::from([4, 8, 10, 14, 17, 20]));
        assert_eq!(cut_further(&ends, 100), ends);
        assert_eq!(longest(&ends), 10);
    }
}
