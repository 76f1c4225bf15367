//! Reading fragments: variables of other datasets that make up an aggregated variable.
//!
//! All pieces of one fragment are read together, so that its dataset is looked up once; several fragments are read at a
//! time.
mod address;
mod check;
mod explain;
mod fit;
mod opened;
mod points;
mod recipe;
mod texts;

pub(crate) use opened::FragmentPlaces;

use super::Dataset;
use super::mosaic::MosaicRead;
use super::mosaic::assembly::ValueAssembly;
use crate::convert;
use crate::picked::Picked;
use crate::read::AbsentFragment;
use crate::resources::MissingChunks;
use fit::TileFit;
use futures_util::future::BoxFuture;
use ncirrus_layout::LockExt;
use ncirrus_layout::grid::SelectionPiece;
use ncirrus_layout::{Error, ErrorKind, Fragment, FragmentAbsence, FragmentVariable, Result};
use ncirrus_model::{Atomic, NodeId, Region, Selection, Values, VarId};
use recipe::ValueRecipe;
use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use texts::FragmentTexts;

/// A piece of a tile that a fragment fills, or numbers of points in it.
pub(crate) struct FragmentPart<P = SelectionPiece> {
    pub(super) piece: P,
    pub(super) tile: Region,
    pub(super) fragment: Arc<Fragment>,
}

impl FragmentPart {
    /// A whole tile.
    pub(crate) fn whole(tile: Region, fragment: Arc<Fragment>) -> Self {
        Self { piece: SelectionPiece::of(&Selection::from(tile.clone())), tile, fragment }
    }
}

/// Puts the values of a piece, whose elements are at the given strides along its axes, into a result.
type ValuePut<'a> = dyn Fn(&SelectionPiece, &[u64], Values) -> Result<()> + Sync + 'a;

/// Parts that come from one variable of one dataset.
pub(super) struct FragmentGroup<P = SelectionPiece> {
    places: FragmentPlaces,
    parts: Vec<FragmentPart<P>>,
}

/// A variable that fills tiles, opened for reading.
pub(crate) struct FragmentSource {
    pub(crate) dataset: Dataset,
    pub(crate) variable: VarId,
    /// The name or number by which it was found, for messages.
    name: String,
    /// How its values are processed; `None` if they are taken as they are.
    recipe: Option<ValueRecipe>,
    /// How its texts are converted to those of the aggregated variable, if they are stored differently.
    texts: Option<FragmentTexts>,
}

impl FragmentSource {
    /// How the variable's elements form the tile of a fragment.
    fn fit(&self, tile: Region, fragment: &Fragment) -> Result<TileFit> {
        TileFit::of_fragment(tile, &self.dataset.definitions().shape(self.variable), fragment, self.texts)
    }
}

impl MosaicRead<'_> {
    /// Reads parts into a result; those whose datasets are absent are left as they are.
    pub(super) async fn read_fragments(
        &self,
        parts: Vec<FragmentPart>,
        assembly: &mut ValueAssembly<'_>,
    ) -> Result<()> {
        let assembly = Mutex::new(assembly);
        let put = |piece: &SelectionPiece, strides: &[u64], values| {
            let mut assembly = assembly.guard();
            assembly.put_strided(piece, strides, values)
        };
        for (groups, is_far) in self.groups(parts)? {
            let read = |group: FragmentGroup| -> BoxFuture<'_, Result<()>> {
                Box::pin(async { self.read_group(group, &put).await })
            };
            self.for_all(groups, is_far, read, |()| Ok(())).await?;
        }
        Ok(())
    }

    /// The parts grouped by dataset and variable: first those on this machine, then those that may be remote.
    pub(super) fn groups<P>(
        &self,
        parts: Vec<FragmentPart<P>>,
    ) -> Result<[(Vec<FragmentGroup<P>>, bool); 2]> {
        type Key = (Vec<Arc<str>>, Vec<FragmentVariable>);
        let mut numbers: HashMap<Key, usize> = HashMap::new();
        let mut groups: Vec<FragmentGroup<P>> = Vec::new();
        for part in parts {
            let key = (part.fragment.names.clone(), part.fragment.variables.clone());
            if let Some(group) = numbers.get(&key).and_then(|number| groups.get_mut(*number)) {
                group.parts.push(part);
                continue;
            }
            let places = self.dataset.places(&part.fragment);
            let places = places.map_err(|error| of_fragment(error, &part.fragment, None))?;
            numbers.insert(key, groups.len());
            groups.push(FragmentGroup { places, parts: vec![part] });
        }
        let (near, far) = groups.into_iter().partition(|group| self.are_near(&group.places));
        Ok([(near, false), (far, true)])
    }

    /// Whether no remote dataset is involved.
    fn are_near(&self, places: &FragmentPlaces) -> bool {
        match places {
            FragmentPlaces::Here => self.reading.context.snapshot.store().local().is_some(),
            FragmentPlaces::At(_) => places.are_local(),
        }
    }

    /// The same for a single fragment.
    fn is_near(&self, fragment: &Fragment) -> bool {
        self.dataset.places(fragment).is_ok_and(|places| self.are_near(&places))
    }

    async fn read_group(&self, group: FragmentGroup, put: &ValuePut<'_>) -> Result<()> {
        let FragmentGroup { places, parts } = group;
        let Some(first) = parts.first().map(|part| Arc::clone(&part.fragment)) else { return Ok(()) };
        let source = self.fragment_source(&places, &first).await;
        let Some(source) = source.map_err(|error| of_fragment(error, &first, None))? else {
            return parts.iter().try_for_each(|part| self.note_absent_fragment(&part.fragment));
        };
        for FragmentPart { piece, tile, fragment } in parts {
            let read = self.read_source(&source, tile, &piece, &fragment, put).await;
            read.map_err(|error| {
                if error.kind() == ErrorKind::Changed {
                    self.dataset.forget_fragment(&places);
                }
                of_fragment(error, &fragment, Some(&source))
            })?;
        }
        Ok(())
    }

    /// The variable of a fragment; `None` if its dataset is absent.
    ///
    /// # Errors
    /// `NotFound` if the dataset has no such variable.
    pub(super) async fn fragment_source(
        &self,
        places: &FragmentPlaces,
        fragment: &Fragment,
    ) -> Result<Option<FragmentSource>> {
        let read_depth = &self.reading.context.read_depth;
        let Some((dataset, number)) = self.dataset.fragment_at(places, read_depth).await? else {
            return Ok(None);
        };
        let name = fragment.names.get(number).map_or("the dataset itself".to_owned(), ToString::to_string);
        let variables = match fragment.variables.get(number..=number) {
            Some(own) if fragment.is_paired => own,
            _ => &fragment.variables,
        };
        let Some((dataset, variable)) = dataset.fragment_variable(variables) else {
            let wanted = variables.iter().map(variable_name).collect::<Vec<_>>().join(" or ");
            return Err(Error::malformed(format!("no variable {wanted} in {name}")).at_object(dataset.root()));
        };
        read_depth.check_new(dataset.root(), &dataset.definitions().variable_path(variable))?;
        let texts = self.types(&dataset, variable).and_then(|(from, to)| FragmentTexts::new(from, to));
        let recipe = match texts {
            Some(_) => None,
            None => self.recipe(&dataset, variable, fragment).await?,
        };
        Ok(Some(FragmentSource { dataset, variable, name, recipe, texts }))
    }

    /// The type of a variable of another dataset, and that of the aggregated variable.
    fn types(&self, dataset: &Dataset, variable: VarId) -> Option<(Atomic, Atomic)> {
        let model = dataset.definitions();
        let from = model.base_atomic(model.variable(variable)?.ty)?;
        Some((from, self.reading.model.base_atomic(self.reading.bound.ty)?))
    }

    /// How the values of a variable are processed; values that are not numbers are left as they are.
    async fn recipe(
        &self,
        dataset: &Dataset,
        variable: VarId,
        fragment: &Fragment,
    ) -> Result<Option<ValueRecipe>> {
        let Some((from, to)) = self.types(dataset, variable) else { return Ok(None) };
        if !(from.is_numeric() && to.is_numeric()) {
            return if from == to {
                Ok(None)
            } else {
                Err(Error::malformed(format!("type {} instead of {}", from.name(), to.name())))
            };
        }
        let mut attributes = dataset.attributes(&[NodeId::Variable(variable)]).await;
        let attributes = attributes.pop().ok_or_else(|| Error::internal("attributes were not given"))??;
        ValueRecipe::new((from, &attributes), fragment, (to, &self.reading.bound.source.fill)).map(Some)
    }

    async fn read_source(
        &self,
        source: &FragmentSource,
        tile: Region,
        piece: &SelectionPiece,
        fragment: &Fragment,
        put: &ValuePut<'_>,
    ) -> Result<()> {
        let fit = source.fit(tile, fragment)?;
        let read_depth = self.reading.context.read_depth.of_fragment()?;
        for piece in piece.clone().cut(self.part_elements()) {
            let (selection, strides) = fit.selection(&piece)?;
            let (read_depth, picked) = (read_depth.clone(), Picked::Selection(&selection));
            let read =
                source.dataset.read_deep(source.variable, picked, self.reading.missing, read_depth).await;
            let (values, report) = read?;
            self.reading.take_report(report);
            put(&piece, &strides, self.finished(fit.converted(values, &piece)?, source)?)?;
        }
        Ok(())
    }

    /// The values converted for the aggregated variable.
    fn finished(&self, values: Values, source: &FragmentSource) -> Result<Values> {
        let atomic = |ty| self.reading.model.base_atomic(ty);
        match (&source.recipe, atomic(self.reading.bound.ty)) {
            (Some(recipe), Some(ty)) => recipe.apply(values, ty),
            _ if convert::matches(self.reading.model, self.reading.bound.ty, &values) => Ok(values),
            _ => Err(Error::malformed("values of another type")),
        }
    }

    /// Notes a fragment whose dataset is absent.
    ///
    /// # Errors
    /// `NotFound` if the policy makes that an error.
    fn note_absent_fragment(&self, fragment: &Fragment) -> Result<()> {
        let chosen = self.reading.context.shared.fragments_absent;
        let is_error = match chosen {
            Some(chosen) => chosen == MissingChunks::Error,
            None => fragment.rules.absent == FragmentAbsence::Error,
        };
        let name = fragment.names.iter().map(AsRef::as_ref).collect::<Vec<&str>>().join(" or ");
        if is_error {
            let message = format!("fragment {:?} is not there: {name}", fragment.index);
            return Err(Error::not_found(message));
        }
        let variable = self.reading.model.variable_path(self.reading.variable);
        self.reading.note_absent(AbsentFragment { variable, index: fragment.index.clone(), name });
        Ok(())
    }
}

/// The name or number by which a variable is looked up, for messages.
pub(crate) fn variable_name(variable: &FragmentVariable) -> String {
    match variable {
        FragmentVariable::Path(path) => path.to_string(),
        FragmentVariable::Search { name, .. } => name.to_string(),
        FragmentVariable::Number(number) => format!("number {number}"),
    }
}

/// Adds to an error which fragment it concerns; the rest of the place is added for the aggregated variable.
fn of_fragment(error: Error, fragment: &Fragment, source: Option<&FragmentSource>) -> Error {
    let what = match source {
        Some(source) => {
            format!("{} of {}", source.dataset.definitions().variable_path(source.variable), source.name)
        }
        None => fragment.names.first().map_or("in the dataset itself".to_owned(), ToString::to_string),
    };
    let message = format!("fragment {:?} ({what}): {}", fragment.index, error.message());
    let place = error.place().clone();
    let mut located = Error::new(error.kind(), message);
    if let Some(detail) = error.detail() {
        located = located.with_detail(detail.clone());
    }
    if let Some(object) = place.object {
        located = located.at_object(object);
    } else if let Some(source) = source {
        located = located.at_object(source.dataset.root());
    }
    if let Some(offset) = place.offset {
        located = located.at_offset(offset);
    }
    if let Some(chunk) = place.chunk {
        located = located.at_chunk(&chunk);
    }
    located.because(error)
}
