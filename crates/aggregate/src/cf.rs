//! CFA-0.6, the drafts after it, and CF-1.13 section 2.8: sizes along each dimension, and variables shaped as the array
//! of fragments (docs/spec/cfa.md 4 and 5).
mod constants;
mod map;
mod tiles;

#[cfg(test)]
mod tests;

use crate::entries::FragmentEntries;
use crate::index::FragmentIndex;
use crate::keywords::{KeywordGeneration, KeywordTerms, TermsContent, terms};
use crate::names::NameSubstitutions;
use crate::subject::{AggregationSubject, MasterDataset};
use constants::FragmentConstants;
use ncirrus_layout::{Aggregation, Error, Result, Step, View};
use ncirrus_model::VarId;
use std::sync::Arc;
use tiles::{CfTiles, DatasetNames, FragmentContent};

/// How the fragments of a variable are described.
#[derive(Debug)]
pub(crate) struct CfDescription {
    generation: KeywordGeneration,
    map: VarId,
    content: DescribingVariables,
    others: Vec<(String, Option<VarId>)>,
}

/// The variables that describe the fragments.
#[derive(Debug, Clone, Copy)]
enum DescribingVariables {
    Datasets { names: VarId, variables: VarId, formats: Option<VarId>, values: Option<VarId> },
    Values(VarId),
}

impl CfDescription {
    /// The description in an `aggregated_data`.
    ///
    /// # Errors
    /// `Malformed` or `NotFound` if it violates its convention, as far as shapes and types show.
    pub(crate) fn new(
        inner: &MasterDataset,
        subject: &AggregationSubject,
        text: Option<&str>,
    ) -> Result<Self> {
        let text = text.ok_or_else(|| Error::malformed("aggregated_dimensions without aggregated_data"))?;
        let KeywordTerms { generation, map, content, others } = terms(text, subject.choices.lenient)?;
        let named = |name: &str| inner.named(subject, name);
        let content = match content {
            TermsContent::Datasets { names, variables, formats, values } => DescribingVariables::Datasets {
                names: named(&names)?,
                variables: named(&variables)?,
                formats: formats.map(|name| named(&name)).transpose()?,
                values: values.map(|name| named(&name)).transpose()?,
            },
            TermsContent::Values(values) => DescribingVariables::Values(named(&values)?),
        };
        let others = others.into_iter().map(|(keyword, name)| (keyword, named(&name).ok())).collect();
        let description = Self { generation, map: named(&map)?, content, others };
        description.entries(inner, subject)?;
        Ok(description)
    }

    pub(crate) fn convention(&self) -> &'static str {
        self.generation.name()
    }

    /// The variables to hide from the reader.
    pub(crate) fn plumbing(&self) -> Vec<VarId> {
        let mut all = vec![self.map];
        match self.content {
            DescribingVariables::Datasets { names, variables, formats, values } => {
                all.extend([names, variables]);
                all.extend(formats.into_iter().chain(values));
            }
            DescribingVariables::Values(values) => all.push(values),
        }
        all.extend(self.others.iter().filter_map(|(_, id)| *id));
        all
    }

    /// What is ignored.
    pub(crate) fn warnings(&self, subject: &AggregationSubject) -> Vec<String> {
        let note = |(keyword, _): &(String, Option<VarId>)| {
            format!("{}: the term {keyword} of aggregated_data is ignored", subject.path)
        };
        self.others.iter().map(note).collect()
    }

    /// Shape of the array of fragments, from its variable.
    pub(crate) fn shape(&self, inner: &MasterDataset, subject: &AggregationSubject) -> Option<Vec<u64>> {
        let id = match self.content {
            DescribingVariables::Datasets { names, .. } => names,
            DescribingVariables::Values(values) => values,
        };
        let mut shape = inner.model.shape(id);
        shape.truncate(subject.rank());
        (shape.len() == subject.rank()).then_some(shape)
    }

    /// The locations of the fragments. Lengths of dimensions without written data are taken from the description.
    ///
    /// # Errors
    /// A need, or errors in the description.
    pub(crate) fn index(
        &self,
        view: &dyn View,
        inner: &MasterDataset,
        subject: &Arc<AggregationSubject>,
        lengths: &[Option<u64>],
    ) -> Step<FragmentIndex> {
        let content = self.content(view, inner, subject)?;
        let map = FragmentEntries::integers(&inner.model, self.map)?;
        let attributes = inner.attributes(view, &[self.map])?;
        let rows = map::MapRows { entries: &map, attributes: attributes.first(), subject, lengths };
        let cuts = rows.cuts(view, content.grid(subject.rank()))?;
        let shape: Vec<u64> = cuts.iter().map(crate::cuts::AxisCells::count).collect();
        content.check_rest(view, &shape)?;
        let fragments = shape.iter().fold(1, |all: u64, count| all.saturating_mul(*count));
        let facts = Aggregation { convention: self.convention(), shape: Some(shape), fragments };
        let lengths = cuts.iter().map(crate::cuts::AxisCells::end).collect();
        let tiles = CfTiles { subject: Arc::clone(subject), generation: self.generation, cuts, content };
        Ok(FragmentIndex { tiles: Arc::new(tiles), lengths, facts })
    }

    /// The content with what attributes say about it.
    fn content(
        &self,
        view: &dyn View,
        inner: &MasterDataset,
        subject: &AggregationSubject,
    ) -> Step<FragmentContent> {
        let mut content = self.entries(inner, subject)?;
        match (&mut content, self.content) {
            (
                FragmentContent::Datasets(datasets),
                DescribingVariables::Datasets { names, variables, formats, values },
            ) => {
                if let (Some(constants), Some(id)) = (&mut datasets.values, values) {
                    inner.attributes(view, &[id])?.iter().for_each(|attributes| constants.note(attributes));
                }
                let described = [Some(names), Some(variables), formats];
                let described: Vec<VarId> = described.into_iter().flatten().collect();
                let attributes = inner.attributes(view, &described)?;
                if let [of_names, of_variables, of_formats @ ..] = attributes.as_slice() {
                    datasets.substitutions = NameSubstitutions::new(&subject.choices, of_names)?;
                    datasets.names = datasets.names.clone().with_attributes(of_names);
                    datasets.variables = datasets.variables.clone().with_attributes(of_variables);
                    let formats = datasets.formats.take().zip(of_formats.first());
                    datasets.formats =
                        formats.map(|(entries, attributes)| entries.with_attributes(attributes));
                }
            }
            (FragmentContent::Constants(constants), DescribingVariables::Values(id)) => {
                let attributes = inner.attributes(view, &[id])?;
                attributes.iter().for_each(|attributes| constants.note(attributes));
            }
            _ => {}
        }
        Ok(content)
    }

    /// The variables of entries, whose shapes match.
    fn entries(&self, inner: &MasterDataset, subject: &AggregationSubject) -> Result<FragmentContent> {
        let (model, rank) = (&inner.model, subject.rank());
        FragmentEntries::integers(model, self.map)?;
        let DescribingVariables::Datasets { names, variables, formats, values } = self.content else {
            let DescribingVariables::Values(id) = self.content else {
                return Err(Error::internal("no content"));
            };
            return FragmentConstants::new(model, id, subject).map(FragmentContent::Constants);
        };
        let names = FragmentEntries::texts(model, names)?;
        let versions = match names.rank().checked_sub(rank) {
            Some(0) => None,
            Some(1) if self.generation == KeywordGeneration::Cfa06 => names.shape.last().copied(),
            // The single fragment of scalar data may be in an array of one element.
            Some(1) if rank == 0 && names.shape == [1] => None,
            _ => {
                let (path, found) = (&names.path, names.rank());
                let message = format!("{path} has {found} dimensions, the aggregated variable {rank}");
                return Err(Error::malformed(message));
            }
        };
        let shaped = |id: VarId| {
            let entries = FragmentEntries::texts(model, id)?;
            let grid = names.shape.get(..rank).unwrap_or_default();
            if entries.is_scalar() || entries.shape == names.shape || entries.shape == grid {
                return Ok(entries);
            }
            let (path, shape, wanted) = (&entries.path, &entries.shape, &names.shape);
            Err(Error::malformed(format!("{path} has the shape {shape:?}, {} {wanted:?}", names.path)))
        };
        let (variables, formats) = (shaped(variables)?, formats.map(shaped).transpose()?);
        let values = values.map(|id| FragmentConstants::new(model, id, subject)).transpose()?;
        let substitutions = NameSubstitutions::of_caller(&subject.choices);
        let datasets = DatasetNames { names, versions, variables, formats, values, substitutions };
        Ok(FragmentContent::Datasets(Box::new(datasets)))
    }
}
