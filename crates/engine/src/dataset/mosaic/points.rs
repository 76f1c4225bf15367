//! Single elements of variables that are put together from others: what is read of each source are points of it, so that
//! each of its chunks is fetched and decoded once.
mod lists;

use super::{BATCH, BATCH_SOURCES, MosaicBatch, MosaicLeaf, MosaicRead, TileRegion};
use crate::convert;
use crate::dataset::fragment::FragmentPart;
use crate::picked::Picked;
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, Result, Tile, TileSource, VariableRef};
use ncirrus_model::{PointSelection, Region, Values};
use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

/// Tiles that are listed together, at most, where it is known how many there are: of those between the points most are
/// not wanted.
const LISTED: u64 = 64;
/// Tiles among which each is compared with each point, at most.
const COMPARED: usize = 8;

/// Values that come source by source.
pub(in crate::dataset) struct PointValues {
    /// The fill value, and behind it what was read.
    read: Values,
    /// For each point the position of its value among those.
    places: Vec<usize>,
}

impl PointValues {
    /// So many points, all of which are fill.
    pub(in crate::dataset) fn new(fill: &Values, count: usize) -> Self {
        Self { read: fill.clone(), places: vec![0; count] }
    }

    /// The values of all points, in their order.
    pub(in crate::dataset) fn finish(self) -> Result<Values> {
        convert::take(&self.read, &self.places)
    }

    /// Takes the values of some points; of one value, that it is the value of all of them.
    pub(in crate::dataset) fn put(&mut self, points: &[usize], values: &Values) -> Result<()> {
        let (start, is_one) = (self.read.len(), values.len() == 1);
        if !is_one && values.len() != points.len() {
            return Err(Error::internal(format!("{} values for {} points", values.len(), points.len())));
        }
        if !self.read.extend_from(values, 0..values.len()) {
            return Err(Error::internal("values of different types in one variable"));
        }
        for (at, point) in points.iter().enumerate() {
            if let Some(place) = self.places.get_mut(*point) {
                *place = if is_one { start } else { start + at };
            }
        }
        Ok(())
    }
}

/// Points of one variable: their indices in it, and their numbers among those that are wanted.
#[derive(Default)]
pub(in crate::dataset) struct SourcePoints {
    lists: Vec<Vec<u64>>,
    pub(in crate::dataset) points: Vec<usize>,
}

impl SourcePoints {
    /// Adds points with these indices.
    pub(in crate::dataset) fn add(&mut self, lists: Vec<Vec<u64>>, points: &[usize]) {
        if self.lists.is_empty() {
            self.lists = lists;
        } else {
            self.lists.iter_mut().zip(lists).for_each(|(all, more)| all.extend(more));
        }
        self.points.extend_from_slice(points);
    }

    /// What is read.
    pub(in crate::dataset) fn selection(&mut self) -> Result<PointSelection> {
        let lists = std::mem::take(&mut self.lists);
        if lists.is_empty() {
            return Ok(PointSelection::scalar(self.points.len()));
        }
        PointSelection::new(lists).map_err(|error| Error::internal(error.0))
    }
}

/// Points of tiles that are read together.
#[derive(Default)]
struct PointBatch {
    fragments: Vec<FragmentPart<Vec<usize>>>,
    variables: HashMap<VariableRef, Vec<(TileRegion, Vec<usize>)>>,
    tiles: usize,
}

impl PointBatch {
    fn is_full(&self) -> bool {
        self.tiles >= BATCH || self.variables.len() >= BATCH_SOURCES
    }
}

impl MosaicRead<'_> {
    /// The values of single elements. Each tile that holds some is asked for these only.
    pub(in crate::dataset) async fn read_points(&self, points: &PointSelection) -> Result<Values> {
        let extent = Region::all(&self.reading.bound.source.extent);
        let all = (0..points.count()).filter(|point| holds(&extent, points, *point));
        let mut rest = vec![all.collect::<Vec<usize>>()];
        let values = Mutex::new(PointValues::new(&self.reading.bound.source.fill, points.count()));
        let mut batch = PointBatch::default();
        while let Some(part) = rest.pop() {
            let Some(bounds) = bounds(points, &part) else { continue };
            if let Some([first, _]) = self.index.halves(&bounds, LISTED) {
                let (first, second): (Vec<_>, Vec<_>) =
                    part.iter().partition(|point| holds(&first, points, **point));
                // Otherwise the points would be cut for ever.
                if !first.is_empty() && !second.is_empty() {
                    rest.extend([second, first]);
                    continue;
                }
            }
            let tiles = self.tiles_of(&bounds).await?;
            for (tile, inside) in divided(tiles, points, part) {
                self.add_points(&mut batch, tile, inside, &values)?;
                if batch.is_full() {
                    self.read_point_batch(std::mem::take(&mut batch), points, &values).await?;
                }
            }
        }
        self.read_point_batch(batch, points, &values).await?;
        values.into_inner().unwrap_or_else(PoisonError::into_inner).finish()
    }

    fn add_points(
        &self,
        batch: &mut PointBatch,
        tile: Tile,
        points: Vec<usize>,
        values: &Mutex<PointValues>,
    ) -> Result<()> {
        match tile.source {
            TileSource::Missing => return self.reading.note_missing(&tile.region.start),
            TileSource::Constant(value) => {
                let value = self.constant(value, &tile.region)?;
                return values.guard().put(&points, &value);
            }
            TileSource::Fragment(fragment) => {
                batch.fragments.push(FragmentPart { piece: points, tile: tile.region, fragment });
            }
            TileSource::Variable { variable, region } => {
                let place = TileRegion::new(tile.region, region)?;
                batch.variables.entry(variable).or_default().push((place, points));
            }
        }
        batch.tiles += 1;
        Ok(())
    }

    async fn read_point_batch(
        &self,
        batch: PointBatch,
        points: &PointSelection,
        values: &Mutex<PointValues>,
    ) -> Result<()> {
        let unread = self.read_fragment_points(batch.fragments, points, values).await?;
        // Texts that are made of several stored elements cannot be read point by point.
        if !unread.is_empty() {
            let read = self.read_by_lists(&points.pick(&unread)).await?;
            values.guard().put(&unread, &read)?;
        }
        let is_far = self.is_far();
        let wanted =
            MosaicBatch { sources: batch.variables.keys().cloned().collect(), ..MosaicBatch::default() };
        let mut leaves = self.leaves(&wanted).await?;
        let mut reads = Vec::with_capacity(batch.variables.len());
        for (variable, tiles) in batch.variables {
            reads.extend(self.leaf_points(leaves.remove(&variable).flatten(), tiles, points)?);
        }
        let read = |(leaf, wanted): (MosaicLeaf, SourcePoints)| -> BoxFuture<'_, Result<_>> {
            Box::pin(async move {
                let read = self.read_leaf_points(&leaf, wanted).await;
                read.map_err(|error| leaf.located(error))
            })
        };
        self.for_all(reads, is_far, read, |(points, read): (Vec<usize>, Values)| {
            values.guard().put(&points, &read)
        })
        .await
    }

    /// The points of a source's tiles in the source; those that it does not have are missing.
    fn leaf_points(
        &self,
        leaf: Option<MosaicLeaf>,
        tiles: Vec<(TileRegion, Vec<usize>)>,
        points: &PointSelection,
    ) -> Result<Option<(MosaicLeaf, SourcePoints)>> {
        let mut wanted = SourcePoints::default();
        for (place, mut inside) in tiles {
            let count = inside.len();
            let region = match &leaf {
                Some(leaf) => place.inside(&leaf.shape()).map_err(|error| leaf.located(error))?,
                None => None,
            };
            match region {
                Some(region) => inside.retain(|point| holds(&region, points, *point)),
                None => inside.clear(),
            }
            if inside.len() < count {
                self.reading.note_missing(&place.tile.start)?;
            }
            if !inside.is_empty() {
                wanted.add(place.points(points, &inside), &inside);
            }
        }
        Ok(leaf.filter(|_| !wanted.points.is_empty()).map(|leaf| (leaf, wanted)))
    }

    async fn read_leaf_points(
        &self,
        leaf: &MosaicLeaf,
        mut wanted: SourcePoints,
    ) -> Result<(Vec<usize>, Values)> {
        let selection = wanted.selection()?;
        let read_depth = self.reading.context.read_depth.clone();
        let picked = Picked::Points(&selection);
        let (values, report) =
            leaf.dataset.read_deep(leaf.variable, picked, self.reading.missing, read_depth).await?;
        self.reading.take_report(report);
        Ok((wanted.points, self.conform(values)?))
    }
}

/// Whether a point is in a box.
fn holds(region: &Region, points: &PointSelection, point: usize) -> bool {
    region.start.iter().zip(&region.count).enumerate().all(|(axis, (start, count))| {
        points.index(axis, point).checked_sub(*start).is_some_and(|at| at < *count)
    })
}

/// The smallest box around some points; `None` around none.
pub(in crate::dataset) fn bounds(points: &PointSelection, part: &[usize]) -> Option<Region> {
    if part.is_empty() {
        return None;
    }
    let mut region = Region { start: Vec::new(), count: Vec::new() };
    for axis in 0..points.rank() {
        let indices = || part.iter().map(|point| points.index(axis, *point));
        let (first, last) = (indices().min()?, indices().max()?);
        region.start.push(first);
        region.count.push(last - first + 1);
    }
    Some(region)
}

/// The tiles that hold points, each with these.
fn divided(tiles: Vec<Tile>, points: &PointSelection, part: Vec<usize>) -> Vec<(Tile, Vec<usize>)> {
    let mut found = vec![Vec::new(); tiles.len()];
    let mut rest = vec![((0..tiles.len()).collect::<Vec<usize>>(), part)];
    while let Some((among, part)) = rest.pop() {
        if part.is_empty() {
            continue;
        }
        if among.len() > COMPARED
            && let Some((axis, middle)) = border(&tiles, &among)
        {
            let region = |at: &usize| tiles.get(*at).map(|tile| &tile.region);
            let start =
                |at: &usize| region(at).and_then(|region| region.start.get(axis)).copied().unwrap_or(0);
            let count =
                |at: &usize| region(at).and_then(|region| region.count.get(axis)).copied().unwrap_or(0);
            // A tile on both sides of the border is looked for on both.
            let before = among.iter().copied().filter(|at| start(at) < middle).collect();
            let behind =
                among.iter().copied().filter(|at| start(at).saturating_add(count(at)) > middle).collect();
            let (first, second) = part.into_iter().partition(|point| points.index(axis, *point) < middle);
            rest.extend([(before, first), (behind, second)]);
            continue;
        }
        for at in among {
            let (Some(tile), Some(found)) = (tiles.get(at), found.get_mut(at)) else { continue };
            found.extend(part.iter().copied().filter(|point| holds(&tile.region, points, *point)));
        }
    }
    tiles.into_iter().zip(found).filter(|(_, points)| !points.is_empty()).collect()
}

/// Where some tiles can be cut into two parts of fewer tiles: the axis along which most of them begin at different places,
/// and the place in the middle.
fn border(tiles: &[Tile], among: &[usize]) -> Option<(usize, u64)> {
    let rank = among.first().and_then(|at| tiles.get(*at))?.region.rank();
    let starts = |axis: usize| {
        let start = |at: &usize| tiles.get(*at)?.region.start.get(axis).copied();
        let mut starts: Vec<u64> = among.iter().filter_map(start).collect();
        starts.sort_unstable();
        starts.dedup();
        starts
    };
    let (axis, starts) = (0..rank).map(|axis| (axis, starts(axis))).max_by_key(|(_, starts)| starts.len())?;
    starts.get(starts.len() / 2).filter(|_| starts.len() > 1).map(|middle| (axis, *middle))
}
