//! The partitions that a region touches.
use super::forms::PartitionForm;
use super::places::PartitionPlaces;
use crate::cuts::AxisCells;
use crate::names::{NameSubstitutions, join};
use crate::subject::{AggregationSubject, fragment_error};
use crate::touched::{self, TouchedCells};
use ncirrus_layout::{Error, Fragment, Result, Step, Tile, TileIndex, TileSource, View};
use ncirrus_model::{Region, Strings};
use std::sync::Arc;

/// The partitions of a variable.
#[derive(Debug)]
pub(super) struct Cfa04Tiles {
    pub(super) subject: Arc<AggregationSubject>,
    pub(super) places: PartitionPlaces,
    pub(super) files: Strings,
    pub(super) form_of: Vec<u32>,
    pub(super) forms: Vec<Result<PartitionForm>>,
    pub(super) base: Option<Arc<str>>,
    pub(super) substitutions: NameSubstitutions,
}

impl TileIndex for Cfa04Tiles {
    fn tiles(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        self.subject.locate(self.find(view, region).map_err(Into::into))
    }

    fn halves(&self, region: &Region, max: u64) -> Option<[Region; 2]> {
        match &self.places {
            PartitionPlaces::Grid { cuts, .. } => touched::halves(cuts, region, max),
            PartitionPlaces::Boxes(boxes) => boxes.halves(region, max),
        }
    }
}

impl Cfa04Tiles {
    fn find(&self, view: &dyn View, region: &Region) -> Result<Vec<Tile>> {
        match &self.places {
            PartitionPlaces::Grid { cuts, cells } => {
                let touched = TouchedCells::new(cuts, region, view.limits())?;
                touched.tiles(|cell, _, _| match number(cuts, cells, cell) {
                    Some(number) => self.source(number, cell),
                    None => Ok(TileSource::Missing),
                })
            }
            PartitionPlaces::Boxes(boxes) => {
                let touched = boxes.touched(region);
                let choices = (view.limits(), self.subject.choices.lenient);
                boxes.tiles(&touched, region, choices, |at, _| {
                    let number = touched.get(at).map(|(number, _)| *number);
                    let number = number.ok_or_else(|| Error::internal(format!("no box {at} was touched")))?;
                    self.source(usize::try_from(number).unwrap_or(usize::MAX), &[number])
                })
            }
        }
    }

    fn source(&self, number: usize, index: &[u64]) -> Result<TileSource> {
        let form = self.form_of.get(number).and_then(|form| self.forms.get(usize::try_from(*form).ok()?));
        let form = form.ok_or_else(|| Error::internal(format!("no partition {number}")))?;
        let form = form
            .as_ref()
            .map_err(|error| error.clone().reworded(|fact| format!("fragment {index:?}: {fact}")))?;
        // A partition without a file is in the master.
        let file = self.files.get(number).unwrap_or_default();
        let file = std::str::from_utf8(file).map_err(|_| fragment_error(index, "its name is not UTF-8"))?;
        let in_master = file.is_empty();
        let name = || join(self.base.as_deref(), &self.substitutions.apply(file)).into();
        Ok(TileSource::Fragment(Arc::new(Fragment {
            index: index.to_vec(),
            names: if in_master { Vec::new() } else { vec![name()] },
            variables: if in_master { form.inside.clone() } else { form.outside.clone() },
            is_paired: false,
            shape: form.shape.clone(),
            axes: form.axes.clone(),
            units: form.units.clone(),
            rules: Arc::clone(&self.subject.rules),
        })))
    }
}

/// The partition in a cell.
fn number(cuts: &[AxisCells], cells: &[(u64, u32)], cell: &[u64]) -> Option<usize> {
    let place = cuts.iter().zip(cell).fold(0, |place: u64, (cuts, at)| place * cuts.count() + at);
    let after = cells.partition_point(|(other, _)| *other <= place);
    let (found, number) = cells.get(after.checked_sub(1)?)?;
    (*found == place).then(|| usize::try_from(*number).ok())?
}
