//! The variables from which parts of a mosaic are read.
use super::MosaicRead;
use super::place::TileRegion;
use crate::convert::{self, ByteRule, CastRules, RangeExcess};
use crate::dataset::Dataset;
use crate::picked::Picked;
use ncirrus_layout::grid::SelectionPiece;
use ncirrus_layout::{Error, ErrorKind, Result, VariableRef};
use ncirrus_model::{Atomic, Region, Selection, Values, VarId};
use std::sync::Arc;

/// A variable from which parts of a mosaic are read, opened for reading.
#[derive(Clone)]
pub(super) struct MosaicLeaf {
    pub(super) dataset: Dataset,
    pub(super) variable: VarId,
}

/// A piece of a tile that is read at once.
pub(super) struct MosaicPart {
    pub(super) piece: SelectionPiece,
    pub(super) place: Arc<TileRegion>,
    pub(super) leaf: MosaicLeaf,
}

/// Values of a piece, and the shape in which they are held.
pub(super) struct FilledPiece {
    pub(super) piece: SelectionPiece,
    pub(super) held: Vec<u64>,
    pub(super) values: Values,
}

impl MosaicLeaf {
    pub(super) fn shape(&self) -> Vec<u64> {
        self.dataset.model().shape(self.variable)
    }

    /// Adds to an error the variable that it concerns.
    pub(super) fn located(&self, error: Error) -> Error {
        let path = self.dataset.model().variable_path(self.variable);
        error.at_path(path).at_object(self.dataset.root())
    }
}

impl MosaicRead<'_> {
    /// The variable that a mosaic refers to; `None` if there is no such dataset or variable.
    pub(super) async fn leaf(&self, reference: &VariableRef) -> Result<Option<MosaicLeaf>> {
        // Names refer to the dataset as it is stored, without what an overlay adds.
        let dataset = self.dataset.beneath().unwrap_or(self.dataset);
        let opened = match dataset
            .referred(reference.dataset.as_ref(), &self.reading.context.read_depth)
            .await
        {
            Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error.at_object(reference.dataset.as_ref().unwrap_or(dataset.root()))),
            Ok(opened) => opened,
        };
        let Some(variable) = opened.model().variable_at(&reference.path) else { return Ok(None) };
        let leaf = MosaicLeaf { dataset: opened, variable };
        let bound = leaf.dataset.bound(variable, &self.reading.context.read_depth).await;
        bound.map_err(|error| leaf.located(error))?;
        Ok(Some(leaf))
    }

    /// The values of a part.
    pub(super) async fn read_part(&self, part: MosaicPart) -> Result<FilledPiece> {
        let MosaicPart { piece, place, leaf } = part;
        let read = match place.selection(&piece) {
            Some(selection) => {
                let held = place.selected_shape(&piece);
                self.read_leaf(&leaf, &selection).await.map(|values| (held, values))
            }
            None => self.read_numbers(&leaf, &place, &piece).await.map(|values| (piece.shape(), values)),
        };
        let conformed = read.and_then(|(held, values)| Ok((held, self.conform(values)?)));
        let (held, values) = conformed.map_err(|error| leaf.located(error))?;
        Ok(FilledPiece { piece, held, values })
    }

    /// The values of a piece of which only the order of the elements is known: the boxes from the first to the last
    /// element are read.
    async fn read_numbers(
        &self,
        leaf: &MosaicLeaf,
        place: &TileRegion,
        piece: &SelectionPiece,
    ) -> Result<Values> {
        let numbers = place.numbers(piece);
        let (first, end) = place.span(piece);
        let mut read: Option<Values> = None;
        for region in place.boxes(first, end) {
            let values = self.read_leaf(leaf, &region.into()).await?;
            match &mut read {
                None => read = Some(values),
                Some(read) => _ = read.extend_from(&values, 0..values.len()),
            }
        }
        let at = numbers.iter().map(|at| usize::try_from(at - first).unwrap_or(usize::MAX));
        let read = read.ok_or_else(|| Error::internal("a part without elements"))?;
        convert::take(&read, &at.collect::<Vec<_>>())
    }

    async fn read_leaf(&self, leaf: &MosaicLeaf, selection: &Selection) -> Result<Values> {
        let (read_depth, picked) = (self.reading.context.read_depth.clone(), Picked::Selection(selection));
        let (values, report) =
            leaf.dataset.read_deep(leaf.variable, picked, self.reading.missing, read_depth).await?;
        self.reading.take_report(report);
        Ok(values)
    }

    /// The values in the mosaic's type; numbers outside its range become the nearest value, as in HDF5.
    pub(super) fn conform(&self, values: Values) -> Result<Values> {
        let (model, ty) = (self.reading.model, self.reading.bound.ty);
        if convert::matches(model, ty, &values) {
            return Ok(values);
        }
        let to = model.base_atomic(ty).filter(|_| values.atomic().is_some());
        let to = to.ok_or_else(|| Error::malformed("a source of another type"))?;
        let rules = CastRules { excess: RangeExcess::Nearest, bytes: ByteRule::Typed };
        let cast = convert::cast_with(&values, to, rules);
        let (values, _) =
            cast.map_err(|error| Error::malformed(format!("a source of another type: {}", error.message())))?;
        Ok(values)
    }

    /// The single value of a tile in the mosaic's type: the nearest number, if the type can represent it; otherwise an
    /// error, or a missing value if the read is not strict (docs/spec/cfa.md 6.5).
    pub(super) fn constant(&self, value: Values, tile: &Region) -> Result<Values> {
        let (model, ty) = (self.reading.model, self.reading.bound.ty);
        if convert::matches(model, ty, &value) {
            return Ok(value);
        }
        let to = model.base_atomic(ty).filter(|to| to.is_numeric());
        let to = to.filter(|_| value.atomic().is_some_and(Atomic::is_numeric));
        let to = to.ok_or_else(|| Error::malformed("a value of another type"))?;
        let (cast, outside) = convert::cast_to_nearest(&value, to)?;
        if outside.is_empty() {
            Ok(cast)
        } else if self.dataset.options().lenient {
            Ok(self.reading.bound.source.fill.clone())
        } else {
            Err(Error::malformed(format!(
                "the value {} from element {:?} on cannot be represented in type {}",
                value.number(0).unwrap_or(f64::NAN),
                tile.start,
                to.name()
            )))
        }
    }
}
