//! How many bytes a variable takes in storage.
use crate::dataset::Dataset;
use crate::drive::ReadDepth;
use futures_util::future::BoxFuture;
use ncirrus_layout::{
    CellList, ChunkGrid, ChunkRef, ErrorKind, Layout, Location, Result, Source, TileIndex, TileSource,
    VariableRef,
};
use ncirrus_model::{Region, VarId};
use ncirrus_store::LocalStore;
use std::collections::HashSet;
use std::sync::Arc;

/// Chunks that are examined; the size of a variable with more is not computed.
const COUNTED: u64 = 1 << 18;
/// Variables that are examined for one that is assembled from them.
const SOURCES: usize = 1 << 10;
/// Chunks that are located together.
const BATCH: usize = 1 << 12;

impl Dataset {
    /// Bytes that the variable's values take in storage; `None` if finding out would cost a request per chunk (chunks
    /// that are objects of their own in a remote store), or there are very many chunks. For a variable that is
    /// assembled from others it is the size of those, each counted once; `None` if they are remote.
    ///
    /// # Errors
    /// The reason why the variable is inaccessible, or a damaged index.
    pub async fn stored_bytes(&self, variable: VarId) -> Result<Option<u64>> {
        self.stored_deep(variable, ReadDepth::default()).await
    }

    fn stored_deep(&self, variable: VarId, read_depth: ReadDepth) -> BoxFuture<'_, Result<Option<u64>>> {
        Box::pin(async move {
            let source = Arc::clone(&self.bound(variable, &read_depth).await?.source);
            match &source.layout {
                Layout::Mosaic { tiles } => {
                    let path = self.model().variable_path(variable);
                    let read_depth = read_depth.of_mosaic(self.root(), &path, self.session().limits())?;
                    self.stored_in_sources(tiles.as_ref(), &source.extent, read_depth).await
                }
                // A server computes what it sends.
                Layout::Query { .. } => Ok(None),
                _ => self.stored_itself(&source).await,
            }
        })
    }

    async fn stored_in_sources(
        &self,
        tiles: &dyn TileIndex,
        extent: &[u64],
        read_depth: ReadDepth,
    ) -> Result<Option<u64>> {
        if self.store().local().is_none() {
            return Ok(None);
        }
        // Finding the size of fragments would open them all.
        let first =
            Region { start: vec![0; extent.len()], count: extent.iter().map(|len| 1.min(*len)).collect() };
        let tile = self.context(read_depth.clone()).drive(|view| tiles.tiles(view, &first)).await?.pop();
        if tile.is_some_and(|tile| matches!(tile.source, TileSource::Fragment(_))) {
            return Ok(None);
        }
        let whole = Region::all(extent);
        if tiles.halves(&whole, SOURCES as u64).is_some() {
            return Ok(None);
        }
        let tiles = self.context(read_depth.clone()).drive(|view| tiles.tiles(view, &whole)).await?;
        let references = tiles.into_iter().filter_map(|tile| match tile.source {
            TileSource::Variable { variable, .. } => Some(variable),
            TileSource::Fragment(_) | TileSource::Constant(_) | TileSource::Missing => None,
        });
        let references: HashSet<VariableRef> = references.collect();
        if references.len() > SOURCES {
            return Ok(None);
        }
        let mut sum = 0u64;
        for reference in references {
            let opened = match self.referred(reference.dataset.as_ref(), &read_depth).await {
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                opened => opened?,
            };
            let Some(variable) = opened.model().variable_at(&reference.path) else { continue };
            match opened.stored_deep(variable, read_depth.clone()).await? {
                Some(bytes) => sum = sum.saturating_add(bytes),
                None => return Ok(None),
            }
        }
        Ok(Some(sum))
    }

    async fn stored_itself(&self, source: &Source) -> Result<Option<u64>> {
        let Layout::Grid { grid, index, .. } = &source.layout else {
            let elements = source.extent.iter().try_fold(1u64, |product, len| product.checked_mul(*len));
            return Ok(elements
                .zip(source.stored.byte_len())
                .and_then(|(count, one)| count.checked_mul(one)));
        };
        let counts: Vec<u64> =
            source.extent.iter().enumerate().map(|(axis, len)| grid.cells_along(axis, *len)).collect();
        let total = counts.iter().try_fold(1u64, |product, count| product.checked_mul(*count));
        let Some(total) = total.filter(|total| *total <= COUNTED) else { return Ok(None) };
        let store = self.store();
        let mut sum = 0u64;
        let mut next = 0;
        while next < total {
            let cells = batch(grid, &counts, next, total);
            next += cells.len() as u64;
            for chunk in self.context(ReadDepth::default()).drive(|view| index.locate(view, &cells)).await? {
                match byte_len(&chunk, store.local())? {
                    Some(len) => sum = sum.saturating_add(len),
                    None => return Ok(None),
                }
            }
        }
        Ok(Some(sum))
    }
}

/// A number of consecutive chunks in row-major order, starting with number `first`.
fn batch(grid: &ChunkGrid, counts: &[u64], first: u64, total: u64) -> CellList {
    let mut cells = CellList::new(grid.rank());
    let mut cell = vec![0; counts.len()];
    for number in (first..total).take(BATCH) {
        let mut rest = number;
        for (at, count) in cell.iter_mut().zip(counts).rev() {
            *at = rest % (*count).max(1);
            rest /= (*count).max(1);
        }
        cells.push(&cell);
    }
    cells
}

fn byte_len(chunk: &ChunkRef, local: Option<&dyn LocalStore>) -> Result<Option<u64>> {
    Ok(match &chunk.location {
        Location::Bytes(_, range) => Some(range.end.saturating_sub(range.start)),
        Location::Inline(bytes) => Some(bytes.len() as u64),
        Location::Absent => Some(0),
        Location::Object(object) => match local {
            Some(local) => Some(local.stat(object)?.map_or(0, |(len, _)| len)),
            None => None,
        },
    })
}
