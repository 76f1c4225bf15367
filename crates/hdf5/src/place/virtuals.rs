//! Virtual datasets: which parts of which datasets make up a region (hdf5-netcdf4.md E.7).
mod block;
mod extent;
mod pair;
mod source;

#[cfg(test)]
mod tests;

use super::dataset::Chain;
use super::{Arrangement, Dataset};
use crate::heap::object as heap_object;
use crate::object::ObjectRef;
use crate::selection::{Axis, Set};
use crate::word::Dataspace;
use block::Mapping;
use ncirrus_layout::{
    Error, Layout, Limits, Result, Step, Tile, TileIndex, TileSource, View, join, uncovered,
};
use ncirrus_model::Region;
use source::Found;
use std::ops::Range;
use std::sync::Arc;

/// The dataspace of a virtual dataset, which may grow with its sources.
pub(super) fn extent(
    view: &dyn View,
    asking: &Chain<'_>,
    arrangement: &Arrangement,
    space: Dataspace,
) -> Step<Dataspace> {
    let mappings = mappings(view, asking.object, arrangement)?;
    extent::extent(view, asking, &mappings, space)
}

/// How the elements of a virtual dataset can be had.
pub(super) fn layout(view: &dyn View, object: &ObjectRef, dataset: &Dataset) -> Step<Layout> {
    let mappings = mappings(view, object, &dataset.arrangement)?;
    let (dims, limits) = (dataset.space.dims(), view.limits());
    let part = |mapping: &Mapping| Part::new(mapping.clone(), dims, limits);
    let parts = mappings.iter().map(part).collect::<Result<_>>()?;
    let tiles = Arc::new(Tiles { object: object.clone(), rank: dims.len(), parts });
    Ok(Layout::Mosaic { tiles })
}

/// The mappings of a virtual dataset, read once.
fn mappings(view: &dyn View, object: &ObjectRef, arrangement: &Arrangement) -> Step<Arc<Vec<Mapping>>> {
    let Arrangement::Virtual { collection, index } = arrangement else {
        return Err(Error::internal("mappings of a dataset that has none").into());
    };
    let Some(collection) = collection.filter(|addr| addr.0 != 0) else { return Ok(Arc::default()) };
    let file = &object.file;
    file.memo(view, object.addr, "virtual dataset mappings", || {
        let body = heap_object(view, file, collection, *index)?;
        Ok((block::parse(&body, file.sizes, view.limits())?, body.len() * 2))
    })
}

/// Puts regions of a virtual dataset together.
#[derive(Debug)]
struct Tiles {
    object: ObjectRef,
    rank: usize,
    parts: Vec<Part>,
}

/// A mapping and the elements that it gives.
#[derive(Debug)]
struct Part {
    mapping: Mapping,
    /// Its elements; `None` when how many they are depends on the source, or when there is one source per block.
    target: Option<Set>,
    /// A box around all of them.
    bounds: Vec<Range<u64>>,
}

/// A part, or one block of it, that meets a region.
struct Piece<'a> {
    part: &'a Part,
    block: u64,
}

impl TileIndex for Tiles {
    fn tiles(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        let (head, tail) = split(region, self.rank);
        let pieces = self.pieces(&head, view.limits())?;
        let asking = Chain::new(&self.object);
        let sources = join(&pieces, |piece| source::find(view, &asking, &piece.part.mapping, piece.block))?;
        let mut left = vec![head];
        let mut tiles = Vec::new();
        // What was mapped last counts where mappings overlap.
        for (piece, source) in pieces.iter().zip(&sources).rev() {
            if let Some(source) = source {
                piece.cover(source, (&mut left, &mut tiles), view.limits())?;
            }
        }
        tiles.extend(left.into_iter().map(|region| Tile { region, source: TileSource::Missing }));
        Ok(tiles.into_iter().map(|tile| extended(tile, &tail)).collect())
    }
}

impl Tiles {
    /// The parts that meet a region, block by block where each block has its own source.
    fn pieces(&self, region: &Region, limits: &Limits) -> Result<Vec<Piece<'_>>> {
        let mut pieces = Vec::new();
        for part in self.parts.iter().filter(|part| meets(&part.bounds, region)) {
            let blocks = part.blocks(region);
            limits.count(blocks.end - blocks.start, "the sources of a virtual dataset")?;
            pieces.extend(blocks.map(|block| Piece { part, block }));
        }
        Ok(pieces)
    }
}

impl Part {
    fn new(mapping: Mapping, dims: &[u64], limits: &Limits) -> Result<Self> {
        let unlimited = mapping.target.unlimited();
        let len = unlimited.zip(unlimited.and_then(|(axis, _)| dims.get(axis)));
        let len = len.map_or(0, |((_, progression), len)| progression.count_below(*len));
        let target = Set::new(&mapping.target, dims, len, limits)?;
        let bounds = target.bounds(dims.len());
        Ok(Self { target: unlimited.is_none().then_some(target), mapping, bounds })
    }

    /// The blocks that meet a region; one when there is one source for all.
    fn blocks(&self, region: &Region) -> Range<u64> {
        let Some((axis, target)) = self.mapping.target.unlimited() else { return 0..1 };
        if self.mapping.source.unlimited().is_some() {
            return 0..1;
        }
        let (Some(start), Some(count)) = (region.start.get(axis), region.count.get(axis)) else {
            return 0..1;
        };
        let before = target.count_below(*start) / target.block.unwrap_or(1).max(1);
        let end = target.count_below(start.saturating_add(*count)).div_ceil(target.block.unwrap_or(1).max(1));
        before..end
    }
}

impl Piece<'_> {
    /// Adds the tiles that it gives of what is left, and takes them from there.
    fn cover(
        &self,
        source: &Found,
        (left, tiles): (&mut Vec<Region>, &mut Vec<Tile>),
        limits: &Limits,
    ) -> Result<()> {
        let (target, elements) = self.sets(source, limits)?;
        let mut rest = Vec::new();
        for region in std::mem::take(left) {
            if !meets(&self.part.bounds, &region) {
                rest.push(region);
                continue;
            }
            let pairs = pair::pairs(&target, &elements, &region, limits)?;
            rest.extend(uncovered(
                &region,
                &pairs.iter().map(|(region, _)| region).collect::<Vec<_>>(),
                limits,
            )?);
            tiles.extend(pairs.into_iter().map(|(region, from)| {
                let source = TileSource::Variable { variable: source.variable.clone(), region: from };
                Tile { region, source }
            }));
            limits.count((tiles.len() + rest.len()) as u64, "a virtual dataset")?;
        }
        *left = rest;
        Ok(())
    }

    /// The elements that it gives, and those of the source that they are.
    fn sets(&self, source: &Found, limits: &Limits) -> Result<(Set, Set)> {
        let mapping = &self.part.mapping;
        let along = mapping.source.unlimited();
        let len =
            along.and_then(|(axis, progression)| Some(progression.count_below(*source.dims.get(axis)?)));
        let elements = Set::new(&mapping.source, &source.dims, len.unwrap_or(0), limits)?;
        if let Some(target) = &self.part.target {
            return Ok((target.clone(), elements));
        }
        let rank = self.part.bounds.len();
        let mut target = Set::new(&mapping.target, &vec![0; rank], len.unwrap_or(0), limits)?;
        if let (None, Some((axis, progression)), Set::Product(axes)) =
            (len, mapping.target.unlimited(), &mut target)
            && let Some(slot) = axes.get_mut(axis)
        {
            let start =
                self.block.checked_mul(progression.stride).and_then(|at| at.checked_add(progression.start));
            let start = start.ok_or_else(|| Error::malformed("a block beyond 2^64"))?;
            *slot = Axis::runs([(start, progression.block.unwrap_or(1))]);
        }
        Ok((target, elements))
    }
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

fn meets(bounds: &[Range<u64>], region: &Region) -> bool {
    let ranges = region.start.iter().zip(&region.count);
    bounds
        .iter()
        .zip(ranges)
        .all(|(bounds, (start, count))| bounds.start < start.saturating_add(*count) && *start < bounds.end)
}
