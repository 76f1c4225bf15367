//! Virtual datasets: which parts of which datasets make up a region (docs/spec/hdf5-netcdf4.md E.7).
mod block;
mod cover;
mod extent;
mod pair;
mod source;

#[cfg(test)]
mod tests;

use super::dataset::DatasetChain;
use super::{ElementLayout, StoredDataset};
use crate::datatypes::Dataspace;
use crate::heap::object as heap_object;
use crate::object::ObjectRef;
use crate::selection::ElementSet;
use block::VirtualMapping;
use cover::CoverPiece;
use ncirrus_layout::{BoxTree, Error, Layout, Limits, Result, Step, Tile, TileIndex, TileSource, View, join};
use ncirrus_model::Region;
use std::ops::Range;
use std::sync::Arc;

/// The dataspace of a virtual dataset, which may grow with its sources.
pub(super) fn extent(
    view: &dyn View,
    asking: &DatasetChain<'_>,
    arrangement: &ElementLayout,
    space: Dataspace,
) -> Step<Dataspace> {
    let mappings = mappings(view, asking.object, arrangement)?;
    extent::extent(view, asking, &mappings, space)
}

/// The layout of a virtual dataset's elements.
pub(super) fn layout(view: &dyn View, object: &ObjectRef, dataset: &StoredDataset) -> Step<Layout> {
    let mappings = mappings(view, object, &dataset.arrangement)?;
    let (dims, limits) = (dataset.space.dims(), view.limits());
    let mut bounds = Vec::new();
    let mut target = |mapping: &VirtualMapping| {
        let target = target(mapping, dims, limits)?;
        bounds.extend(target.bounds(dims.len()));
        Ok(mapping.target.unlimited().is_none().then_some(target))
    };
    let targets = mappings.iter().map(&mut target).collect::<Result<_>>()?;
    let places = BoxTree::new(dims.len(), mappings.len(), bounds);
    Ok(Layout::Mosaic {
        tiles: Arc::new(VirtualTiles { object: object.clone(), rank: dims.len(), mappings, targets, places }),
    })
}

/// The mappings of a virtual dataset, read once.
fn mappings(
    view: &dyn View,
    object: &ObjectRef,
    arrangement: &ElementLayout,
) -> Step<Arc<Vec<VirtualMapping>>> {
    let ElementLayout::Virtual { collection, index } = arrangement else {
        return Err(Error::internal("mappings of a dataset that has none").into());
    };
    let Some(collection) = collection.filter(|addr| addr.0 != 0) else { return Ok(Arc::default()) };
    let file = &object.file;
    file.memo(view, object.addr, "virtual dataset mappings", || {
        let body = heap_object(view, file, collection, *index)?;
        Ok((block::parse(&body, file.sizes, view.limits())?, body.len() * 2))
    })
}

/// The elements of a virtual dataset that a mapping provides, within the extent of the dataset.
fn target(mapping: &VirtualMapping, dims: &[u64], limits: &Limits) -> Result<ElementSet> {
    let unlimited = mapping.target.unlimited();
    let len = unlimited.zip(unlimited.and_then(|(axis, _)| dims.get(axis)));
    let len = len.map_or(0, |((_, progression), len)| progression.count_below(*len));
    ElementSet::new(&mapping.target, dims, len, limits)
}

/// Resolves regions of a virtual dataset.
#[derive(Debug)]
struct VirtualTiles {
    object: ObjectRef,
    rank: usize,
    mappings: Arc<Vec<VirtualMapping>>,
    /// The elements of each mapping; `None` if their number depends on the source, or if there is one source per
    /// block.
    targets: Vec<Option<ElementSet>>,
    /// Their bounding boxes.
    places: BoxTree,
}

impl TileIndex for VirtualTiles {
    fn tiles(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        let (head, tail) = split(region, self.rank);
        let pieces = self.pieces(&head, view.limits())?;
        let asking = DatasetChain::new(&self.object);
        let sources = join(&pieces, |piece| source::find(view, &asking, piece.mapping, piece.block))?;
        let tiles = cover::tiles(&head, &pieces, &sources, view.limits())?;
        Ok(tiles.into_iter().map(|tile| extended(tile, &tail)).collect())
    }

    fn halves(&self, region: &Region, max: u64) -> Option<[Region; 2]> {
        let (head, tail) = split(region, self.rank);
        let halves = self.places.halves(&head, max, |at, region| self.weight(at, region))?;
        Some(halves.map(|head| Region {
            start: [head.start, tail.start.clone()].concat(),
            count: [head.count, tail.count.clone()].concat(),
        }))
    }
}

impl VirtualTiles {
    /// The mappings that touch a region, block by block if each block has its own source.
    fn pieces(&self, region: &Region, limits: &Limits) -> Result<Vec<CoverPiece<'_>>> {
        let mut pieces = Vec::new();
        for at in self.places.touched(region) {
            let (Some(mapping), Some(target)) = (self.mappings.get(at), self.targets.get(at)) else {
                continue;
            };
            let blocks = blocks(mapping, region);
            limits.count(
                (blocks.end - blocks.start).saturating_add(pieces.len() as u64),
                "the sources of a virtual dataset",
            )?;
            let target = target.as_ref();
            let bounds = self.places.ranges(at);
            pieces.extend(blocks.map(|block| CoverPiece { mapping, target, bounds, block }));
        }
        Ok(pieces)
    }

    /// Minimum number of tiles that a mapping makes of a region.
    fn weight(&self, at: usize, region: &Region) -> u64 {
        match (self.targets.get(at), self.mappings.get(at)) {
            (Some(Some(target)), _) => target.runs_within(region),
            (_, Some(mapping)) => {
                let blocks = blocks(mapping, region);
                blocks.end.saturating_sub(blocks.start)
            }
            _ => 0,
        }
    }
}

/// The blocks of a mapping that touch a region; one if there is one source for all.
fn blocks(mapping: &VirtualMapping, region: &Region) -> Range<u64> {
    let Some((axis, target)) = mapping.target.unlimited() else { return 0..1 };
    if mapping.source.unlimited().is_some() {
        return 0..1;
    }
    let (Some(start), Some(count)) = (region.start.get(axis), region.count.get(axis)) else {
        return 0..1;
    };
    let block = target.block.unwrap_or(1).max(1);
    let end = target.count_below(start.saturating_add(*count)).div_ceil(block);
    target.count_below(*start) / block..end
}

/// A region of the dataspace, and the rest of its axes, which are those of an array type.
fn split(region: &Region, rank: usize) -> (Region, Region) {
    let rank = rank.min(region.rank());
    let (start, more) = region.start.split_at(rank);
    let (count, more_count) = region.count.split_at(rank);
    let head = Region { start: start.to_vec(), count: count.to_vec() };
    (head, Region { start: more.to_vec(), count: more_count.to_vec() })
}

/// The tile with the axes of an array type.
fn extended(mut tile: Tile, tail: &Region) -> Tile {
    let extend = |region: &mut Region| {
        region.start.extend(&tail.start);
        region.count.extend(&tail.count);
    };
    extend(&mut tile.region);
    if let TileSource::Variable { region, .. } = &mut tile.source {
        extend(region);
    }
    tile
}
