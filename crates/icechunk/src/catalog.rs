//! An open snapshot: the catalog of its Zarr hierarchy, with chunks where they really are.
use crate::chunk_refs::ShownSnapshot;
use crate::repository::ChosenSnapshot;
use crate::snapshot_view::{SnapshotIndex, SnapshotView};
use crate::{history, time};
use ncirrus_layout::{
    Catalog, Error, Layout, OutsideContainer, RepositoryHistory, Result, Source, Step, View, Writing,
};
use ncirrus_model::{Attributes, DatasetKind, Model, NodeId, StorageFacts, VarId};
use std::sync::Arc;

/// A snapshot of a repository.
#[derive(Debug)]
pub(crate) struct IcechunkCatalog {
    inner: Arc<dyn Catalog>,
    shown: Arc<ShownSnapshot>,
    chosen: ChosenSnapshot,
}

impl IcechunkCatalog {
    pub(crate) fn new(inner: Arc<dyn Catalog>, shown: Arc<ShownSnapshot>, chosen: ChosenSnapshot) -> Self {
        Self { inner, shown, chosen }
    }

    fn view<'a>(&'a self, view: &'a dyn View) -> SnapshotView<'a> {
        SnapshotView { view, shown: &self.shown }
    }
}

impl Catalog for IcechunkCatalog {
    fn tree(&self, view: &dyn View) -> Step<Arc<Model>> {
        self.inner.tree(&self.view(view))
    }

    fn attributes(&self, view: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        self.inner.attributes(&self.view(view), of)
    }

    fn source(&self, view: &dyn View, variable: VarId) -> Step<Source> {
        let source = self.inner.source(&self.view(view), variable)?;
        let layout = match source.layout {
            Layout::Grid { grid, edge, index, codecs } => {
                let index = Arc::new(SnapshotIndex { index, shown: Arc::clone(&self.shown) });
                Layout::Grid { grid, edge, index, codecs }
            }
            other => other,
        };
        Ok(Source { layout, ..source })
    }

    fn kind(&self) -> DatasetKind {
        self.inner.kind()
    }

    fn facts(&self) -> StorageFacts {
        let snapshot = &self.shown.snapshot;
        let mut facts = self.inner.facts();
        let version = snapshot.spec_version.to_string();
        let mut others = vec![("icechunk", version), ("snapshot", snapshot.id.to_string())];
        let (kind, name) = &self.chosen.reason;
        if *kind != "snapshot" {
            others.push((*kind, name.clone()));
        }
        others.push(("committed", time::shown(snapshot.flushed_at)));
        if !snapshot.message.is_empty() {
            others.push(("message", snapshot.message.clone()));
        }
        others.append(&mut facts.others);
        // Nothing is consolidated, and nothing needs to be.
        StorageFacts { others, consolidated: None, ..facts }
    }

    fn warnings(&self) -> Vec<String> {
        self.shown.snapshot.warnings.iter().cloned().chain(self.inner.warnings()).collect()
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        None
    }

    fn rejection(&self) -> Error {
        Error::unsupported(
            "an Icechunk repository is only read: change it in a session of the icechunk package (session.store), and \
             commit that",
        )
    }

    fn outside(&self) -> &[OutsideContainer] {
        &self.shown.containers
    }

    fn history(&self, view: &dyn View, changes: bool) -> Step<Option<RepositoryHistory>> {
        history::history(view, &self.shown, changes).map(Some)
    }
}
