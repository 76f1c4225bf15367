//! The parts that an aggregated variable consists of, for users and programs.
use super::Dataset;
use super::fragment::{FragmentPart, FragmentPlaces, variable_name};
use super::mosaic::MosaicRead;
use crate::bound_source::StorageLayout;
use crate::drive::ReadDepth;
use crate::picked::Picked;
use crate::resources::MissingChunks;
use ncirrus_layout::{Aggregation, Error, Fragment, Result, Tile, TileSource};
use ncirrus_model::{Region, Selection, VarId};
use std::ops::ControlFlow;

/// A part of an aggregated variable: the source of one box of it.
#[derive(Debug, Clone)]
pub struct FragmentInfo {
    /// Its indices in the array of fragments; empty if there is none, as in HDF5 virtual datasets.
    pub index: Vec<u64>,
    /// The box, in elements of the aggregated variable.
    pub region: Region,
    /// What fills the box.
    pub kind: FragmentKind,
    /// The names of its dataset, as the aggregation has them.
    pub names: Vec<String>,
    /// The addresses that are tried, in this order.
    pub places: Vec<String>,
    /// The names that the variable may have there.
    pub variables: Vec<String>,
    /// Why its names are not valid, if they are not.
    pub fault: Option<Error>,
}

/// What fills a part of an aggregated variable.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum FragmentKind {
    /// A variable of another dataset.
    Dataset,
    /// A variable of the master dataset itself.
    Here,
    /// One value.
    Constant,
    /// Nothing: missing values.
    Missing,
}

impl FragmentKind {
    /// The kind as one word.
    pub fn name(self) -> &'static str {
        match self {
            Self::Dataset => "dataset",
            Self::Here => "here",
            Self::Constant => "constant",
            Self::Missing => "missing",
        }
    }
}

/// A part of an aggregated variable, and whether it matches its description.
#[derive(Debug, Clone)]
pub struct FragmentCheck {
    /// The part.
    pub fragment: FragmentInfo,
    /// What is wrong: the dataset is absent or cannot be opened, the shape or type differs, or the units do not
    /// convert.
    pub fault: Option<Error>,
}

impl Dataset {
    /// What an aggregated variable is made of, as far as its description says; `None` for other variables.
    ///
    /// # Errors
    /// A damaged description.
    pub async fn aggregation(&self, variable: VarId) -> Result<Option<Aggregation>> {
        let context = self.context(ReadDepth::default());
        let found = context.drive(|view| self.inner.catalog.aggregation(view, variable)).await;
        found.map_err(|error| self.located(error, variable))
    }

    /// The parts of an aggregated variable that a selection touches. Nothing is opened. If there are very many,
    /// [`each_fragment`](Self::each_fragment) delivers them in batches.
    ///
    /// # Errors
    /// `Invalid` for a variable that is not an aggregation, or a selection that does not fit; `Limit` if there are too
    /// many; a damaged description.
    pub async fn fragments(&self, variable: VarId, selection: &Selection) -> Result<Vec<FragmentInfo>> {
        let checks = self.listed(variable, selection, false).await?;
        Ok(checks.into_iter().map(|check| check.fragment).collect())
    }

    /// The same, each with its fault, if it has one: its dataset is opened, its shape, type and units are compared.
    ///
    /// # Errors
    /// As [`fragments`](Self::fragments).
    pub async fn check_fragments(
        &self,
        variable: VarId,
        selection: &Selection,
    ) -> Result<Vec<FragmentCheck>> {
        self.listed(variable, selection, true).await
    }

    async fn listed(
        &self,
        variable: VarId,
        selection: &Selection,
        check: bool,
    ) -> Result<Vec<FragmentCheck>> {
        let mut list = Vec::new();
        let mut add = |found: Vec<FragmentCheck>| {
            let count = list.len().saturating_add(found.len());
            self.session().limits().count(count as u64, "a list of fragments")?;
            list.extend(found);
            Ok(ControlFlow::Continue(()))
        };
        self.each_fragment(variable, selection, check, &mut add).await?;
        Ok(list)
    }

    /// Passes the parts that a selection touches to `show` in batches, always in the same order, until `show` asks to
    /// stop. With `check` they are opened and compared, many at once.
    ///
    /// # Errors
    /// As [`fragments`](Self::fragments), except for the limit; errors of `show`.
    pub async fn each_fragment(
        &self,
        variable: VarId,
        selection: &Selection,
        check: bool,
        show: &mut (dyn FnMut(Vec<FragmentCheck>) -> Result<ControlFlow<()>> + Send),
    ) -> Result<()> {
        let bound = self.bound(variable, &ReadDepth::default()).await?;
        let reading = self.reading(
            variable,
            &bound,
            Picked::Selection(selection),
            ReadDepth::default(),
            MissingChunks::Fill,
        )?;
        let StorageLayout::Mosaic(index) = &bound.layout else {
            let message = "the variable is not an aggregation of other variables";
            return Err(self.located(Error::invalid(message), variable));
        };
        let mosaic = MosaicRead::new(self, &reading, index);
        let mut touched = mosaic.touched(selection);
        while let Some(tiles) = touched.next().await.map_err(|error| self.located(error, variable))? {
            let mut checks: Vec<FragmentCheck> = Vec::new();
            let mut parts = Vec::new();
            // Checked together after the loop: each check opens a dataset, and their requests overlap.
            for tile in tiles {
                let fragment = self.fragment_info(&tile);
                let fault = fragment.fault.clone();
                if let (true, TileSource::Fragment(fragment), None) = (check, tile.source, &fault) {
                    parts.push((checks.len(), FragmentPart::whole(tile.region, fragment)));
                }
                checks.push(FragmentCheck { fragment, fault });
            }
            for (number, fault) in mosaic.check_fragments(parts).await? {
                let check = checks.get_mut(number);
                check.ok_or_else(|| Error::internal(format!("no fragment {number} was checked")))?.fault =
                    Some(fault);
            }
            if show(checks)?.is_break() {
                break;
            }
        }
        Ok(())
    }

    fn fragment_info(&self, tile: &Tile) -> FragmentInfo {
        let region = tile.region.clone();
        let plain = |kind| FragmentInfo {
            index: Vec::new(),
            region: region.clone(),
            kind,
            names: Vec::new(),
            places: Vec::new(),
            variables: Vec::new(),
            fault: None,
        };
        match &tile.source {
            TileSource::Missing => plain(FragmentKind::Missing),
            TileSource::Constant(_) => plain(FragmentKind::Constant),
            TileSource::Variable { variable, .. } => {
                let place = variable.dataset.as_ref().map(ToString::to_string);
                let kind = if place.is_some() { FragmentKind::Dataset } else { FragmentKind::Here };
                let places: Vec<String> = place.into_iter().collect();
                let variables = vec![variable.path.to_string()];
                FragmentInfo { names: places.clone(), places, variables, ..plain(kind) }
            }
            TileSource::Fragment(fragment) => self.with_names(fragment, plain(FragmentKind::Here)),
        }
    }

    fn with_names(&self, fragment: &Fragment, info: FragmentInfo) -> FragmentInfo {
        let places = self.places(fragment);
        let kind = if fragment.names.is_empty() { FragmentKind::Here } else { FragmentKind::Dataset };
        FragmentInfo {
            index: fragment.index.clone(),
            kind,
            names: fragment.names.iter().map(ToString::to_string).collect(),
            places: places.as_ref().map(FragmentPlaces::shown).unwrap_or_default(),
            variables: fragment.variables.iter().map(variable_name).collect(),
            fault: places.err(),
            ..info
        }
    }
}
