//! Datasets of fragments: opened when their values are needed, and kept for the next read.
//!
//! Each has a snapshot of its own. A local file that was replaced since it was opened is opened anew; one that changes
//! while it is read is an error, and the next read opens it anew.
#[cfg(test)]
mod tests;

use super::address::{candidates, is_local};
use crate::dataset::Dataset;
use crate::drive::ReadDepth;
use ncirrus_layout::{Error, ErrorKind, Fragment, FragmentVariable, OpenOptions, Result};
use ncirrus_model::{GroupId, Model, VarId};
use ncirrus_store::{HostAccess, Url};
use std::collections::VecDeque;

/// Where a fragment may be, in the order in which it is looked for.
#[derive(Debug, Clone)]
pub(crate) enum FragmentPlaces {
    /// In the master dataset itself.
    Here,
    /// At the first of these addresses that opens, each with the number of the name that it comes from.
    At(Vec<(usize, Url)>),
}

impl FragmentPlaces {
    /// Whether no remote dataset is involved.
    pub(crate) fn are_local(&self) -> bool {
        match self {
            // The location of the master dataset is not known here.
            Self::Here => false,
            Self::At(urls) => urls.iter().all(|(_, url)| is_local(url)),
        }
    }

    /// The addresses, for display.
    pub(crate) fn shown(&self) -> Vec<String> {
        match self {
            Self::Here => Vec::new(),
            Self::At(urls) => urls.iter().map(|(_, url)| url.to_string()).collect(),
        }
    }
}

impl Dataset {
    /// Where a fragment may be: places on this machine come first.
    ///
    /// # Errors
    /// The error of the first of its names, if none is valid.
    pub(crate) fn places(&self, fragment: &Fragment) -> Result<FragmentPlaces> {
        if fragment.names.is_empty() {
            return Ok(FragmentPlaces::Here);
        }
        let (mut urls, mut failure) = (Vec::new(), None);
        let may_be_local = self.session().shared.local_fragments;
        // Names are relative to what a link leads to, as in HDF5; beside the link they are looked for after that.
        let target = self.address().and_then(Url::link_target);
        for (number, name) in fragment.names.iter().enumerate() {
            let beside_link = candidates(name, self.address(), may_be_local);
            let found = match &target {
                Some(target) => candidates(name, Some(target), may_be_local).and_then(|mut found| {
                    let more =
                        beside_link?.into_iter().filter(|url| !found.contains(url)).collect::<Vec<_>>();
                    found.extend(more);
                    Ok(found)
                }),
                None => beside_link,
            };
            match found {
                Ok(found) => urls.extend(found.into_iter().map(|url| (number, url))),
                Err(error) => _ = failure.get_or_insert(error),
            }
        }
        urls.sort_by_key(|(_, url)| !is_local(url));
        match failure.filter(|_| urls.is_empty()) {
            Some(error) => Err(error),
            None => Ok(FragmentPlaces::At(urls)),
        }
    }

    /// The dataset of a fragment, and the number of the name by which it was found; `None` if there is none.
    ///
    /// # Errors
    /// Why a dataset that exists or cannot be reached does not open, if no other does.
    pub(crate) async fn fragment_at(
        &self,
        places: &FragmentPlaces,
        read_depth: &ReadDepth,
    ) -> Result<Option<(Self, usize)>> {
        let FragmentPlaces::At(urls) = places else { return Ok(Some((self.clone(), 0))) };
        let mut failure = None;
        for (number, url) in urls {
            match self.beside(url, read_depth).await {
                Ok(dataset) => return Ok(Some((dataset, *number))),
                Err(error) if error.kind() == ErrorKind::NotFound => {}
                Err(error) => _ = failure.get_or_insert_with(|| error.at_object(url)),
            }
        }
        failure.map_or(Ok(None), Err)
    }

    /// The dataset at an address, opened as this one was.
    async fn beside(&self, url: &Url, read_depth: &ReadDepth) -> Result<Self> {
        let kept = self.session().open_datasets();
        let kept =
            kept.ok_or_else(|| Error::internal("a fragment outlives the dataset that it is part of"))?;
        let options = &self.options().clone().name(None::<String>);
        let hosts = &self.hosts();
        if let Some(dataset) = kept.find(url, options, hosts) {
            if dataset.is_current()? {
                return Ok(dataset);
            }
            kept.forget(url, options, hosts);
        }
        let dataset = match self.open_beside(url, options, read_depth).await {
            Err(error) => {
                let open =
                    |address: Url| async move { self.open_beside(&address, options, read_depth).await };
                self.session().open_computed(url, error, open).await?
            }
            opened => opened?,
        };
        kept.keep(url, (options, hosts), &dataset);
        Ok(dataset)
    }

    async fn open_beside(&self, url: &Url, options: &OpenOptions, read_depth: &ReadDepth) -> Result<Self> {
        let shared = &self.session().shared;
        let mut stores = shared.stores.clone();
        stores.options.hosts = self.hosts();
        let opened = if is_local(url) {
            ncirrus_store::open_url(url, &stores).await?
        } else {
            let url = url.clone();
            shared.network.run(async move { ncirrus_store::open_url(&url, &stores).await })?.await?
        };
        let named = options.clone().name(opened.name.clone());
        self.session().of_others().open_fragment(opened, self.drivers(), &named, read_depth).await
    }

    /// Which hosts may be reached for what this dataset names.
    fn hosts(&self) -> HostAccess {
        let hosts = &self.session().shared.stores.options.hosts;
        self.address().map_or_else(|| hosts.clone(), |address| hosts.of_dataset_at(address))
    }

    /// Forgets the dataset of a fragment that changed: the next read opens it anew.
    pub(crate) fn forget_fragment(&self, places: &FragmentPlaces) {
        let options = self.options().clone().name(None::<String>);
        if let (FragmentPlaces::At(urls), Some(kept)) = (places, self.session().open_datasets()) {
            let hosts = self.hosts();
            urls.iter().for_each(|(_, url)| kept.forget(url, &options, &hosts));
        }
    }

    /// The variable of a fragment in its dataset, which is this one, and the dataset that has the variable. Names and
    /// numbers refer to the dataset as it is stored: an overlay hides variables, but keeps the numbers of the others.
    pub(crate) fn fragment_variable(&self, variables: &[FragmentVariable]) -> Option<(Self, VarId)> {
        let stored = self.plain().definitions();
        let id = variables.iter().find_map(|variable| find(stored, variable))?;
        let mut dataset = self;
        while dataset.definitions().variable(id).is_none() {
            dataset = dataset.beneath()?;
        }
        Some((dataset.clone(), id))
    }
}

/// The variable with that name or number.
fn find(model: &Model, variable: &FragmentVariable) -> Option<VarId> {
    match variable {
        FragmentVariable::Path(path) => model.variable_at(path),
        FragmentVariable::Number(number) => {
            model.group(model.root())?.vars.get(usize::try_from(*number).ok()?).copied()
        }
        FragmentVariable::Search { name, .. } if name.starts_with('/') => model.variable_at(name),
        FragmentVariable::Search { group, name } => {
            let group = model.group_at(group).unwrap_or_else(|| model.root());
            let around = model.scope(group).into_iter().find_map(|group| below(model, group, name));
            let is_relative = name.starts_with('.');
            around.or_else(|| if is_relative { None } else { breadth_first(model, model.root(), name) })
        }
    }
}

/// The variable at a path relative to a group.
fn below(model: &Model, group: GroupId, name: &str) -> Option<VarId> {
    let (groups, name) = name.rsplit_once('/').map_or(("", name), |(groups, name)| (groups, name));
    let mut segments = groups.split('/').filter(|segment| !segment.is_empty());
    let group = segments.try_fold(group, |group, segment| match segment {
        "." => Some(group),
        ".." => model.group(group)?.parent,
        name => model.subgroup(group, name),
    })?;
    model.variable_in(group, name)
}

/// The first variable with the name in breadth-first order below a group.
fn breadth_first(model: &Model, group: GroupId, name: &str) -> Option<VarId> {
    let mut rest = VecDeque::from([group]);
    while let Some(group) = rest.pop_front() {
        if let Some(found) = below(model, group, name) {
            return Some(found);
        }
        rest.extend(model.group(group).map(|group| group.groups.as_slice()).unwrap_or_default());
    }
    None
}
