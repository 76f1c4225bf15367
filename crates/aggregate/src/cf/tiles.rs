//! The fragments that a region touches.
use super::constants::FragmentConstants;
use crate::cuts::AxisCells;
use crate::entries::{EntryTexts, FragmentEntries};
use crate::keywords::KeywordGeneration;
use crate::names::{NameSubstitutions, check_format, has_scheme};
use crate::subject::{AggregationSubject, fragment_error};
use crate::touched::{self, TouchedCells};
use ncirrus_layout::{
    Error, Fragment, FragmentVariable, Result, Step, Tile, TileIndex, TileSource, View, both, join,
};
use ncirrus_model::{Region, Values};
use std::sync::Arc;

/// The fragments of a variable.
#[derive(Debug)]
pub(super) struct CfTiles {
    pub(super) subject: Arc<AggregationSubject>,
    pub(super) generation: KeywordGeneration,
    pub(super) cuts: Vec<AxisCells>,
    pub(super) content: FragmentContent,
}

/// The kind of the fragments.
#[derive(Debug)]
pub(super) enum FragmentContent {
    Datasets(Box<DatasetNames>),
    /// One value each.
    Constants(FragmentConstants),
}

/// The variables that name datasets, and their entries.
#[derive(Debug)]
pub(super) struct DatasetNames {
    pub(super) names: FragmentEntries,
    /// Length of an additional dimension of alternative names (CFA-0.6).
    pub(super) versions: Option<u64>,
    pub(super) variables: FragmentEntries,
    pub(super) formats: Option<FragmentEntries>,
    /// Values that fragments have instead of datasets (draft B).
    pub(super) values: Option<FragmentConstants>,
    pub(super) substitutions: NameSubstitutions,
}

/// The entries of the touched fragments.
struct ReadEntries {
    names: EntryTexts,
    variables: EntryTexts,
    formats: Option<EntryTexts>,
    values: Option<Values>,
}

impl ReadEntries {
    /// The value of a fragment that has one instead of a dataset.
    fn value(&self, datasets: &DatasetNames, entry: usize) -> Option<Values> {
        datasets.values.as_ref()?.one(self.values.as_ref()?, entry)
    }
}

impl TileIndex for CfTiles {
    fn tiles(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        self.subject.locate(self.find(view, region))
    }

    fn halves(&self, region: &Region, max: u64) -> Option<[Region; 2]> {
        touched::halves(&self.cuts, region, max)
    }
}

impl CfTiles {
    fn find(&self, view: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        let touched = TouchedCells::new(&self.cuts, region, view.limits())?;
        if touched.is_empty() {
            return Ok(touched.tiles(|_, _, _| Ok(TileSource::Missing))?);
        }
        match &self.content {
            FragmentContent::Constants(constants) => {
                let values = constants.read(view, &touched)?;
                let one = |entry| constants.one(&values, entry).unwrap_or_else(|| self.subject.fill.clone());
                Ok(touched.tiles(|_, entry, _| Ok(TileSource::Constant(one(entry))))?)
            }
            FragmentContent::Datasets(datasets) => {
                let read = datasets.read(view, &touched)?;
                Ok(touched.tiles(|cell, entry, _| match read.value(datasets, entry) {
                    Some(value) => Ok(TileSource::Constant(value)),
                    None => self.fragment(datasets, &read, cell, entry),
                })?)
            }
        }
    }

    /// The content of one fragment.
    fn fragment(
        &self,
        datasets: &DatasetNames,
        read: &ReadEntries,
        cell: &[u64],
        entry: usize,
    ) -> Result<TileSource> {
        let (names, variables, is_paired) = datasets.named(read, cell, entry)?;
        if names.is_empty() {
            let address = datasets.address_in_master(read, entry)?;
            return match (self.generation, address) {
                (KeywordGeneration::Cfa06, Some(address)) => Ok(self.in_master(cell, &address)),
                (KeywordGeneration::Cfa06, None) => Ok(TileSource::Missing),
                _ if self.subject.choices.lenient => Ok(TileSource::Missing),
                _ => Err(fragment_error(cell, &format!("{} has no name for it", datasets.names.path))),
            };
        }
        self.check(cell, &names)?;
        if variables.is_empty() {
            let path = &datasets.variables.path;
            return Err(fragment_error(cell, &format!("{path} has no variable for it")));
        }
        let variables = variables.into_iter().map(|name| self.variable(&name)).collect();
        Ok(self.source(cell, names, variables, is_paired))
    }

    /// Refuses names that the convention does not allow.
    fn check(&self, cell: &[u64], names: &[Arc<str>]) -> Result<()> {
        let strict = self.generation == KeywordGeneration::Cf113 && !self.subject.choices.lenient;
        let wrong = |name: &&Arc<str>| !has_scheme(name) && name.starts_with(['/', '#']);
        match names.iter().find(wrong).filter(|_| strict) {
            Some(name) => {
                let fact = format!("{name:?} is neither a URI with a scheme nor a relative path");
                Err(fragment_error(cell, &fact))
            }
            None => Ok(()),
        }
    }

    fn variable(&self, name: &str) -> FragmentVariable {
        match self.generation {
            KeywordGeneration::Cfa06 => {
                FragmentVariable::Search { group: Arc::from("/"), name: Arc::from(name) }
            }
            _ => FragmentVariable::Path(Arc::from(name)),
        }
    }

    /// A fragment that is a variable of the aggregating dataset (CFA-0.6).
    fn in_master(&self, cell: &[u64], address: &str) -> TileSource {
        let group = Arc::clone(&self.subject.group_path);
        let variable = FragmentVariable::Search { group, name: Arc::from(address) };
        self.source(cell, Vec::new(), vec![variable], false)
    }

    fn source(
        &self,
        cell: &[u64],
        names: Vec<Arc<str>>,
        variables: Vec<FragmentVariable>,
        is_paired: bool,
    ) -> TileSource {
        TileSource::Fragment(Arc::new(Fragment {
            index: cell.to_vec(),
            names,
            variables,
            is_paired,
            shape: None,
            axes: None,
            units: None,
            rules: Arc::clone(&self.subject.rules),
        }))
    }
}

impl DatasetNames {
    fn read(&self, view: &dyn View, touched: &TouchedCells) -> Step<ReadEntries> {
        let read = |entries: &FragmentEntries| {
            let (start, count) = (entries.lead(&touched.start, 0), entries.lead(&touched.count, 1));
            entries.read_texts(view, &start, &count)
        };
        let names = [&self.names, &self.variables];
        let formats = || join(&self.formats, read);
        let values = || join(&self.values, |constants| constants.read(view, touched));
        let ((texts, mut formats), mut values) = both(both(join(names, read), formats()), values())?;
        let mut texts = texts.into_iter();
        let (Some(names), Some(variables)) = (texts.next(), texts.next()) else {
            return Err(Error::internal("entries that were not read").into());
        };
        Ok(ReadEntries { names, variables, formats: formats.pop(), values: values.pop() })
    }

    /// The index of a fragment's entry in what was read of a variable.
    fn place(&self, entries: &FragmentEntries, entry: usize, version: usize) -> usize {
        let versions = self.versions.and_then(|count| usize::try_from(count).ok());
        match versions {
            _ if entries.is_scalar() => 0,
            Some(count) if entries.rank() == self.names.rank() => entry * count + version,
            _ => entry,
        }
    }

    /// Refuses the format of a version of a fragment.
    fn check_format(&self, read: &ReadEntries, cell: &[u64], entry: usize, version: usize) -> Result<()> {
        let (Some(formats), Some(texts)) = (&self.formats, &read.formats) else { return Ok(()) };
        check_format(texts.get(self.place(formats, entry, version))?)
            .map_err(|error| error.reworded(|fact| format!("fragment {cell:?}: {fact}")))
    }

    /// The names of a fragment that are not missing, local ones first, and the variables that go with them. Any
    /// version may be used: one in another format is skipped if there are others.
    fn named(
        &self,
        read: &ReadEntries,
        cell: &[u64],
        entry: usize,
    ) -> Result<(Vec<Arc<str>>, Vec<String>, bool)> {
        let count = self.versions.and_then(|count| usize::try_from(count).ok()).unwrap_or(1);
        let (mut found, mut refused) = (Vec::new(), None);
        for version in 0..count {
            let name = read.names.get(self.place(&self.names, entry, version))?;
            let variable = read.variables.get(self.place(&self.variables, entry, version))?;
            let Some(name) = name else { continue };
            match self.check_format(read, cell, entry, version) {
                Ok(()) => found.push((self.substitutions.apply(name), variable.map(str::to_owned))),
                Err(error) => refused = Some(error),
            }
        }
        if let Some(error) = refused.filter(|_| found.is_empty()) {
            return Err(error);
        }
        found.sort_by_key(|(name, _)| has_scheme(name) && !name.starts_with("file:"));
        let is_paired = found.len() > 1 && found.iter().all(|(_, variable)| variable.is_some());
        let names = found.iter().map(|(name, _)| Arc::clone(name)).collect();
        let mut variables: Vec<String> = found.into_iter().filter_map(|(_, variable)| variable).collect();
        if !is_paired {
            variables.dedup();
        }
        Ok((names, variables, is_paired))
    }

    /// The variable of a fragment that has no name; a common one applies only if there is a name.
    fn address_in_master(&self, read: &ReadEntries, entry: usize) -> Result<Option<String>> {
        if self.variables.is_scalar() {
            return Ok(None);
        }
        Ok(read.variables.get(self.place(&self.variables, entry, 0))?.map(str::to_owned))
    }
}

impl FragmentContent {
    fn first(&self) -> &FragmentEntries {
        match self {
            Self::Datasets(datasets) => &datasets.names,
            Self::Constants(constants) => &constants.entries,
        }
    }

    /// Shape of the array of fragments.
    pub(super) fn grid(&self, rank: usize) -> &[u64] {
        self.first().shape.get(..rank).unwrap_or_default()
    }

    /// Checks that nothing lies outside an array of fragments that is smaller than its variable.
    ///
    /// # Errors
    /// A need; `Malformed` when there is something.
    pub(super) fn check_rest(&self, view: &dyn View, shape: &[u64]) -> Step<()> {
        let (entries, rank) = (self.first(), shape.len());
        let Self::Datasets(_) = self else { return Ok(()) };
        for (axis, (count, held)) in shape.iter().zip(&entries.shape).enumerate() {
            if count >= held {
                continue;
            }
            let (mut start, mut box_count) = (vec![0; rank], vec![1; rank]);
            let at = start.get_mut(axis).zip(box_count.get_mut(axis));
            if let Some((start, box_count)) = at {
                (*start, *box_count) = (*count, held - count);
            }
            let (start, count) = (entries.lead(&start, 0), entries.lead(&box_count, 1));
            let texts = entries.read_texts(view, &start, &count)?;
            let total = usize::try_from(count.iter().product::<u64>()).unwrap_or(usize::MAX);
            for at in 0..total {
                if texts.get(at)?.is_some() {
                    let message = format!("{} has more names than there are sizes", entries.path);
                    return Err(Error::malformed(message).into());
                }
            }
        }
        Ok(())
    }
}
