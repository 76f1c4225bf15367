//! An open dataset: all of its metadata are known once it is open.
use crate::dialect::Dialect;
use ncirrus_layout::{Catalog, Error, Result, Source, Step, View, Writing};
use ncirrus_model::{AttributeState, Attributes, DatasetKind, Model, NodeId, StorageFacts, VarId};
use std::sync::Arc;

/// A Zarr dataset. Its metadata were read on opening, so nothing here ever waits.
#[derive(Debug)]
pub(crate) struct ZarrCatalog {
    pub(super) model: Arc<Model>,
    pub(crate) dialect: Dialect,
    /// Whether the dataset is one array, at the root.
    pub(crate) is_array: bool,
    /// By the number of the variable.
    pub(super) sources: Vec<Result<Source>>,
    pub(super) facts: StorageFacts,
    pub(super) warnings: Vec<String>,
    /// The writer for this dataset: it depends on the reader, and not the other way round.
    pub(super) writing: Option<Arc<dyn Writing>>,
}

impl ZarrCatalog {
    fn attributes_of(&self, node: NodeId) -> Result<Attributes> {
        match self.model.attributes(node) {
            Some(AttributeState::Known(attributes)) => Ok(attributes.clone()),
            Some(AttributeState::Damaged(fault)) => Err(fault.clone().into()),
            Some(AttributeState::Pending) | None => {
                Err(Error::not_found(format!("no attributes of {node:?}")))
            }
        }
    }
}

impl Catalog for ZarrCatalog {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.model))
    }

    fn attributes(&self, _: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        Ok(of.iter().map(|node| self.attributes_of(*node)).collect())
    }

    fn source(&self, _: &dyn View, variable: VarId) -> Step<Source> {
        match self.sources.get(variable.index()) {
            Some(source) => {
                Ok(source.clone().map_err(|error| error.at_path(self.model.variable_path(variable)))?)
            }
            None => Err(Error::not_found(format!("no variable {variable:?}")).into()),
        }
    }

    fn kind(&self) -> DatasetKind {
        DatasetKind::zarr(self.dialect.form())
    }

    fn facts(&self) -> StorageFacts {
        self.facts.clone()
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        self.writing.clone()
    }
}
