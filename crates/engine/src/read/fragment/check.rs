//! Whether fragments are what they should be.
use super::fit::Fit;
use super::{Part, Reading, of_fragment};
use crate::convert;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, Fragment, Result, Tile, TileIndex};
use ncirrus_model::{Region, Selection};
use std::sync::{Arc, Mutex, PoisonError};

impl Reading<'_> {
    /// The tiles that a selection touches.
    pub(crate) async fn touched(
        &self,
        tiles: &Arc<dyn TileIndex>,
        selection: &Selection,
    ) -> Result<Vec<Tile>> {
        let mut touched = Vec::new();
        for piece in self.pieces(selection) {
            let found = self.tiles(tiles, &piece).await?;
            // A tile that two pieces touch is found twice.
            let is_new = |tile: &Tile| touched.last() != Some(tile);
            let found: Vec<Tile> = found
                .into_iter()
                .filter(|tile| piece.within(&tile.region).is_some() && is_new(tile))
                .collect();
            touched.extend(found);
            self.context.shared.limits.count(touched.len() as u64, "a list of tiles")?;
        }
        Ok(touched)
    }

    /// What is wrong with parts: of each its number and why.
    pub(crate) async fn check_fragments(&self, parts: Vec<(usize, Part)>) -> Result<Vec<(usize, Error)>> {
        let faults = Mutex::new(Vec::new());
        let (near, far) = parts.into_iter().partition(|(_, part)| self.is_near(&part.fragment));
        let batches: [(Vec<(usize, Part)>, bool); 2] = [(near, false), (far, true)];
        for (parts, is_far) in batches {
            let check = |(number, part): (usize, Part)| -> BoxFuture<'_, Result<(usize, Result<()>)>> {
                Box::pin(async move { Ok((number, self.check_part(&part).await)) })
            };
            self.for_all(parts, is_far, check, |(number, outcome)| {
                if let Err(error) = outcome {
                    faults.lock().unwrap_or_else(PoisonError::into_inner).push((number, error));
                }
                Ok(())
            })
            .await?;
        }
        Ok(faults.into_inner().unwrap_or_else(PoisonError::into_inner))
    }

    async fn check_part(&self, part: &Part) -> Result<()> {
        let fragment = &part.fragment;
        let checked = self.check_fragment(fragment, &part.tile).await;
        checked.map_err(|error| of_fragment(error, fragment, None))
    }

    async fn check_fragment(&self, fragment: &Fragment, tile: &Region) -> Result<()> {
        let places = self.dataset.places(fragment)?;
        let source = self.fragment_source(&places, fragment).await?;
        let source = source.ok_or_else(|| Error::not_found("it is not there"))?;
        let model = source.dataset.definitions();
        Fit::new(tile.clone(), &model.shape(source.variable), fragment.axes.as_deref())?;
        let ty = model.variable(source.variable).map(|variable| variable.ty);
        let is_same = |ty| {
            let empty = convert::empty(model, ty);
            empty.is_ok_and(|values| convert::matches(self.model, self.bound.ty, &values))
        };
        match source.recipe.is_some() || ty.is_some_and(is_same) {
            true => source.dataset.bound(source.variable, &self.context.nesting).await.map(|_| ()),
            false => Err(Error::malformed("values of another type")),
        }
    }
}
