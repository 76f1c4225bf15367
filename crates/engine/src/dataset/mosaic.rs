//! Reading variables that are assembled from others.
//!
//! The selection is cut along the tiles, and every part becomes a read of its source, into memory of its own. While
//! such a read waits, only the result and a bounded number of parts are held; this also applies to sources that are
//! themselves assembled.
pub(crate) mod assembly;
mod explain;
mod place;
pub(super) mod points;
mod source;

use super::referenced_datasets::KEPT;
use super::{Dataset, fragment};
use crate::bound_source::ELEMENT_MARK;
use crate::picked::Picked;
use crate::read::{VariableRead, let_others_run, pack_next};
use crate::resources::{InFlight, block_on, may_block};
use assembly::{PartCoverage, ValueAssembly};
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::grid::SelectionPiece;
use ncirrus_layout::{Error, Result, Tile, TileIndex, TileSource, VariableRef};
use ncirrus_model::{Region, Selection, Values};
use place::TileRegion;
use source::{FilledPiece, MosaicLeaf, MosaicPart};
use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

/// Maximum number of elements whose tiles are listed together.
const PIECE: u64 = 1 << 26;
/// Maximum number of tiles that are listed together, if their number is known.
const LISTED: u64 = 4096;
/// Parts whose sources are looked up together.
const BATCH: usize = 4096;
/// Sources that are open for them together: half of those that are kept open.
const BATCH_SOURCES: usize = KEPT / 2;
/// Concurrent reads of sources, if they wait for a network.
const UNDER_WAY: usize = 16;
/// Maximum number of elements of a part, if only their order in the source is known.
const NUMBERED: u64 = 1 << 20;
/// Such a part spans at most this many elements of its source for each of its own.
const NUMBERED_REACH: u64 = 8;

/// A read of a variable that is assembled from others, which are read through their datasets.
pub(super) struct MosaicRead<'a> {
    pub(super) dataset: &'a Dataset,
    pub(super) reading: &'a VariableRead<'a>,
    index: &'a Arc<dyn TileIndex>,
}

/// Pieces of a selection, in order: each has few enough tiles for their list to take little memory.
pub(super) struct MosaicPieces<'t> {
    tiles: &'t dyn TileIndex,
    rest: Vec<SelectionPiece>,
}

impl MosaicPieces<'_> {
    fn halves(&self, piece: &SelectionPiece) -> Option<(SelectionPiece, SelectionPiece)> {
        let by_tiles = || {
            let [first, second] = self.tiles.halves(&piece.bounds(), LISTED)?;
            let (first, second) = (piece.within(&first)?, piece.within(&second)?);
            (first.count() + second.count() == piece.count()).then_some((first, second))
        };
        by_tiles().or_else(|| piece.halves().filter(|_| piece.count() > PIECE))
    }
}

impl Iterator for MosaicPieces<'_> {
    type Item = SelectionPiece;

    fn next(&mut self) -> Option<SelectionPiece> {
        loop {
            let piece = self.rest.pop()?;
            let Some((first, second)) = self.halves(&piece) else { return Some(piece) };
            self.rest.extend([second, first]);
        }
    }
}

/// Pieces of tiles that come from variables.
#[derive(Default)]
struct MosaicBatch {
    pieces: Vec<(SelectionPiece, Arc<TileRegion>, VariableRef)>,
    sources: HashSet<VariableRef>,
    fragments: Vec<fragment::FragmentPart>,
}

impl MosaicBatch {
    fn add(
        &mut self,
        piece: SelectionPiece,
        tile: Region,
        source: Region,
        variable: VariableRef,
    ) -> Result<()> {
        self.sources.insert(variable.clone());
        self.pieces.push((piece, Arc::new(TileRegion::new(tile, source)?), variable));
        Ok(())
    }

    fn is_full(&self) -> bool {
        self.pieces.len() + self.fragments.len() >= BATCH || self.sources.len() >= BATCH_SOURCES
    }
}

impl<'a> MosaicRead<'a> {
    /// The read of a variable of `dataset` whose tiles are in `index`.
    pub(super) fn new(
        dataset: &'a Dataset,
        reading: &'a VariableRead<'a>,
        index: &'a Arc<dyn TileIndex>,
    ) -> Self {
        Self { dataset, reading, index }
    }

    /// The selected values.
    pub(super) async fn read(&self, selection: &Selection) -> Result<Values> {
        let count = Picked::Selection(selection).count()?;
        let (model, ty) = (self.reading.model, self.reading.bound.ty);
        let fill = &self.reading.bound.source.fill;
        let mut assembly =
            ValueAssembly::new(model, ty, fill, (&selection.shape(), count), PartCoverage::Partial)?;
        self.assemble(selection, &mut assembly).await?;
        assembly.finish()
    }

    /// The selected values, in the caller's memory: assembled there if elements are single numbers, otherwise converted
    /// part by part.
    pub(super) async fn read_into(&self, selection: &Selection, out: &mut [u8]) -> Result<()> {
        self.reading.check_output(Picked::Selection(selection).count()?, out)?;
        let fill = &self.reading.bound.source.fill;
        if fill.as_bytes().is_some_and(|fill| !fill.is_empty()) {
            let mut assembly = ValueAssembly::over(fill, &selection.shape(), PartCoverage::Partial, out);
            return self.assemble(selection, &mut assembly).await;
        }
        let mut rest = out;
        for part in self.reading.parts(selection)? {
            let values = self.read(&part).await?;
            rest = pack_next(self.reading.model, self.reading.bound.ty, &values, rest)?;
        }
        Ok(())
    }

    async fn assemble(&self, selection: &Selection, assembly: &mut ValueAssembly<'_>) -> Result<()> {
        for piece in self.pieces(selection) {
            let mut batch = MosaicBatch::default();
            for tile in self.tiles(&piece).await? {
                let Some(inside) = piece.within(&tile.region) else { continue };
                match tile.source {
                    TileSource::Missing => self.reading.note_missing(&tile.region.start)?,
                    TileSource::Constant(value) => {
                        let one = vec![1; inside.axes.len()];
                        assembly.put(&inside, &one, self.constant(value, &tile.region)?)?;
                    }
                    TileSource::Fragment(fragment) => {
                        batch.fragments.push(fragment::FragmentPart {
                            piece: inside,
                            tile: tile.region,
                            fragment,
                        });
                    }
                    TileSource::Variable { variable, region } => {
                        batch.add(inside, tile.region, region, variable)?;
                    }
                }
                // Parts of one batch are read at the same time, which bounds the memory and the requests in flight.
                if batch.is_full() {
                    self.read_batch(std::mem::take(&mut batch), assembly).await?;
                }
            }
            self.read_batch(batch, assembly).await?;
        }
        Ok(())
    }

    /// The selection, as far as tiles may exist there, in pieces whose tiles are listed together.
    pub(super) fn pieces(&self, selection: &Selection) -> MosaicPieces<'a> {
        let inside = SelectionPiece::of(selection).within(&Region::all(&self.reading.bound.source.extent));
        MosaicPieces { tiles: self.index.as_ref(), rest: inside.into_iter().collect() }
    }

    pub(super) async fn tiles(&self, piece: &SelectionPiece) -> Result<Vec<Tile>> {
        self.tiles_of(&piece.bounds()).await
    }

    async fn tiles_of(&self, bounds: &Region) -> Result<Vec<Tile>> {
        let tiles = self.reading.context.drive(|view| self.index.tiles(view, bounds)).await?;
        self.reading.context.shared.limits.count(tiles.len() as u64, "a list of tiles")?;
        match tiles.iter().find(|tile| tile.region.rank() != bounds.rank()) {
            Some(tile) => Err(Error::internal(format!("a tile {:?} of another rank", tile.region))),
            None => Ok(tiles),
        }
    }

    async fn read_batch(&self, mut batch: MosaicBatch, assembly: &mut ValueAssembly<'_>) -> Result<()> {
        self.read_fragments(std::mem::take(&mut batch.fragments), assembly).await?;
        let is_far = self.is_far();
        let leaves = self.leaves(&batch).await?;
        let assembly = Mutex::new(assembly);
        for wave in self.waves(batch, &leaves)? {
            self.for_all(
                wave,
                is_far,
                |part| Box::pin(self.read_part(part)),
                |filled: FilledPiece| {
                    let mut assembly = assembly.guard();
                    assembly.put(&filled.piece, &filled.held, filled.values)
                },
            )
            .await?;
        }
        Ok(())
    }

    /// The sources of a batch, opened concurrently.
    async fn leaves(&self, batch: &MosaicBatch) -> Result<HashMap<VariableRef, Option<MosaicLeaf>>> {
        let found = Mutex::new(HashMap::new());
        let sources: Vec<VariableRef> = batch.sources.iter().cloned().collect();
        let find = |reference: VariableRef| -> BoxFuture<'_, Result<_>> {
            Box::pin(async move { Ok((self.leaf(&reference).await?, reference)) })
        };
        self.for_all(sources, self.is_far(), find, |(leaf, reference)| {
            found.guard().insert(reference, leaf);
            Ok(())
        })
        .await?;
        Ok(found.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    /// The reads of a batch: first one of each source, so that the others find its index nodes cached.
    fn waves(
        &self,
        batch: MosaicBatch,
        leaves: &HashMap<VariableRef, Option<MosaicLeaf>>,
    ) -> Result<[Vec<MosaicPart>; 2]> {
        let (mut first, mut rest) = (Vec::new(), Vec::new());
        let mut begun = HashSet::new();
        for (piece, place, variable) in batch.pieces {
            for part in self.parts(&piece, &place, leaves.get(&variable).and_then(Option::as_ref))? {
                let wave = if begun.insert(variable.clone()) { &mut first } else { &mut rest };
                wave.push(part);
            }
        }
        Ok([first, rest])
    }

    /// What is read for a piece of a tile; elements that its source does not have are missing.
    fn parts(
        &self,
        piece: &SelectionPiece,
        place: &Arc<TileRegion>,
        leaf: Option<&MosaicLeaf>,
    ) -> Result<Vec<MosaicPart>> {
        let absent = || self.reading.note_missing(&place.tile.start).map(|()| Vec::new());
        let Some(leaf) = leaf else { return absent() };
        let inside = place.inside(&leaf.shape()).map_err(|error| leaf.located(error))?;
        let count = piece.count();
        let Some(piece) = inside.and_then(|inside| piece.within(&inside)) else { return absent() };
        if piece.count() < count {
            absent()?;
        }
        let pieces = match place.selection(&piece) {
            Some(_) => piece.cut(self.part_elements()),
            None => self.cut_numbered(piece, place),
        };
        let part = |piece| MosaicPart { piece, place: Arc::clone(place), leaf: leaf.clone() };
        Ok(pieces.into_iter().map(part).collect())
    }

    /// Cuts a piece so that its elements are close together in a source of which only the order is known.
    fn cut_numbered(&self, piece: SelectionPiece, place: &TileRegion) -> Vec<SelectionPiece> {
        let mut cut = Vec::new();
        let mut rest = piece.cut(NUMBERED.min(self.part_elements()));
        rest.reverse();
        while let Some(piece) = rest.pop() {
            let reach = place.reach(&piece);
            match piece.halves().filter(|_| reach > NUMBERED_REACH.saturating_mul(piece.count())) {
                Some((first, second)) => rest.extend([second, first]),
                None => cut.push(piece),
            }
        }
        cut
    }

    /// Elements of a part, such that those in flight take a modest share of the memory.
    pub(super) fn part_elements(&self) -> u64 {
        let bytes = (self.reading.context.shared.memory.bytes() / (4 * UNDER_WAY)).clamp(64 << 10, 32 << 20);
        let element = self.reading.model.packed_len(self.reading.bound.ty).unwrap_or(4 * ELEMENT_MARK as u64);
        (bytes as u64 / element.max(1)).max(1)
    }

    /// Whether the dataset is remote.
    fn is_far(&self) -> bool {
        self.reading.context.snapshot.store().local().is_none()
    }

    /// Does `work` for all items: on all threads, or, if it waits for remote stores, a bounded number at once. Results
    /// are passed to `done`.
    pub(super) async fn for_all<'s, I: Send, T: Send>(
        &'s self,
        items: Vec<I>,
        is_far: bool,
        work: impl Fn(I) -> BoxFuture<'s, Result<T>> + Sync,
        done: impl Fn(T) -> Result<()> + Sync,
    ) -> Result<()> {
        if is_far {
            let limits = InFlight::at_most(UNDER_WAY);
            return limits.for_each(items, |item| Ok(work(item)), |one| done(one?)).await;
        }
        let shared = &self.reading.context.shared;
        let mut items = items;
        while !items.is_empty() {
            let turn =
                if may_block() { items.len() } else { shared.pool.current_num_threads().min(items.len()) };
            let rest = items.split_off(turn);
            shared.for_each(items, usize::MAX, |item, _| block_on(work(item)).and_then(&done))?;
            items = rest;
            if !items.is_empty() {
                let_others_run().await;
            }
        }
        Ok(())
    }
}
