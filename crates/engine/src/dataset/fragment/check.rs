//! Checks that fragments are what the aggregation says.
use super::{FragmentPart, of_fragment};
use crate::convert;
use crate::dataset::mosaic::{MosaicPieces, MosaicRead};
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, Fragment, Result, Tile};
use ncirrus_model::{Region, Selection};
use std::sync::{Mutex, PoisonError};

/// The tiles that a selection touches.
pub(crate) struct TouchedTiles<'t> {
    mosaic: &'t MosaicRead<'t>,
    pieces: MosaicPieces<'t>,
    last: Option<Tile>,
}

impl TouchedTiles<'_> {
    /// The next tiles; `None` after the last.
    pub(crate) async fn next(&mut self) -> Result<Option<Vec<Tile>>> {
        let Some(piece) = self.pieces.next() else { return Ok(None) };
        let mut found = self.mosaic.tiles(&piece).await?;
        // A tile that two pieces touch is found twice.
        found.retain(|tile| piece.within(&tile.region).is_some() && self.last.as_ref() != Some(tile));
        self.last = found.last().cloned().or_else(|| self.last.take());
        Ok(Some(found))
    }
}

impl MosaicRead<'_> {
    /// The tiles that a selection touches, to be taken in batches.
    pub(crate) fn touched(&self, selection: &Selection) -> TouchedTiles<'_> {
        TouchedTiles { mosaic: self, pieces: self.pieces(selection), last: None }
    }

    /// What is wrong with parts: the number of each faulty part and its error.
    pub(crate) async fn check_fragments(
        &self,
        parts: Vec<(usize, FragmentPart)>,
    ) -> Result<Vec<(usize, Error)>> {
        let faults = Mutex::new(Vec::new());
        let (near, far) = parts.into_iter().partition(|(_, part)| self.is_near(&part.fragment));
        let batches: [(Vec<(usize, FragmentPart)>, bool); 2] = [(near, false), (far, true)];
        for (parts, is_far) in batches {
            let check =
                |(number, part): (usize, FragmentPart)| -> BoxFuture<'_, Result<(usize, Result<()>)>> {
                    Box::pin(async move { Ok((number, self.check_part(&part).await)) })
                };
            self.for_all(parts, is_far, check, |(number, outcome)| {
                if let Err(error) = outcome {
                    faults.guard().push((number, error));
                }
                Ok(())
            })
            .await?;
        }
        Ok(faults.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    async fn check_part(&self, part: &FragmentPart) -> Result<()> {
        let fragment = &part.fragment;
        let checked = self.check_fragment(fragment, &part.tile).await;
        checked.map_err(|error| of_fragment(error, fragment, None))
    }

    async fn check_fragment(&self, fragment: &Fragment, tile: &Region) -> Result<()> {
        let places = self.dataset.places(fragment)?;
        let source = self.fragment_source(&places, fragment).await?;
        let source = source.ok_or_else(|| Error::not_found("it is not there"))?;
        let model = source.dataset.definitions();
        source.fit(tile.clone(), fragment)?;
        let ty = model.variable(source.variable).map(|variable| variable.ty);
        let is_same = |ty| {
            let empty = convert::empty(model, ty);
            empty.is_ok_and(|values| convert::matches(self.reading.model, self.reading.bound.ty, &values))
        };
        if source.recipe.is_some() || source.texts.is_some() || ty.is_some_and(is_same) {
            source.dataset.bound(source.variable, &self.reading.context.read_depth).await.map(|_| ())
        } else {
            Err(Error::malformed("values of another type"))
        }
    }
}
