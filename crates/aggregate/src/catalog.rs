//! A dataset with its aggregated variables.
use crate::describe::FragmentDescription;
use crate::detect::hide_own;
use crate::index::FragmentIndex;
use crate::subject::{AggregationSubject, MasterDataset};
use ncirrus_layout::{
    Aggregation, ByteOrder, Catalog, Error, Layout, ObjectId, Result, Source, Step, StoredType, Tile,
    TileIndex, TileSource, View, Writing, both,
};
use ncirrus_model::{
    Atomic, Attributes, DatasetKind, Model, NodeId, Region, StorageFacts, TypeRef, Values, VarId,
};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};

/// A dataset with its aggregated variables.
#[derive(Debug)]
pub(crate) struct AggregateCatalog {
    pub(crate) inner: MasterDataset,
    /// The model that the reader sees.
    pub(crate) model: Arc<Model>,
    pub(crate) variables: HashMap<VarId, AggregatedVariable>,
    /// Variables that should be scalars, and the value of their missing elements.
    pub(crate) misshapen: HashMap<VarId, Values>,
    pub(crate) warnings: Vec<String>,
    pub(crate) summary: String,
}

/// An aggregated variable.
#[derive(Debug)]
pub(crate) struct AggregatedVariable {
    pub(crate) subject: Arc<AggregationSubject>,
    pub(crate) description: FragmentDescription,
    /// Created on the first read.
    pub(crate) index: OnceLock<FragmentIndex>,
}

impl AggregateCatalog {
    fn index(&self, view: &dyn View, found: &AggregatedVariable) -> Step<FragmentIndex> {
        if let Some(index) = found.index.get() {
            return Ok(index.clone());
        }
        let subject = &found.subject;
        let lengths: Vec<Option<u64>> = self.model.shape(subject.variable).into_iter().map(Some).collect();
        let index = found.description.index(view, &self.inner, subject, &lengths);
        let index = subject.locate(index)?;
        Ok(found.index.get_or_init(|| index).clone())
    }

    fn aggregated(&self, view: &dyn View, found: &AggregatedVariable) -> Step<Source> {
        let subject = &found.subject;
        let stored = self.stored(view, subject.variable);
        let (index, (stored, resolver)) = both(self.index(view, found), stored)?;
        Ok(Source {
            layout: Layout::Mosaic { tiles: index.tiles },
            stored,
            extent: self.model.shape(subject.variable),
            fill: subject.fill.clone(),
            resolver,
            swapped_fill: false,
        })
    }

    /// The element type: as in the scalar that represents the variable.
    fn stored(
        &self,
        view: &dyn View,
        id: VarId,
    ) -> Step<(StoredType, Option<Arc<dyn ncirrus_layout::Resolver>>)> {
        match self.model.variable(id).map(|variable| variable.ty) {
            Some(TypeRef::Atomic(atomic)) if atomic != Atomic::String => Ok((native(atomic), None)),
            _ => {
                let source = self.inner.catalog.source(view, id)?;
                Ok((source.stored, source.resolver))
            }
        }
    }

    fn fault(&self, id: VarId) -> Result<()> {
        let fault = self.model.variable(id).and_then(|variable| variable.fault.clone());
        fault.map_or(Ok(()), |fault| Err(Error::from(fault)))
    }
}

impl Catalog for AggregateCatalog {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.model))
    }

    fn attributes(&self, view: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        let mut all = self.inner.catalog.attributes(view, of)?;
        for (node, attributes) in of.iter().zip(&mut all) {
            if let (NodeId::Variable(id), Ok(attributes)) = (node, attributes)
                && self.variables.contains_key(id)
            {
                hide_own(attributes);
            }
        }
        Ok(all)
    }

    fn source(&self, view: &dyn View, variable: VarId) -> Step<Source> {
        self.fault(variable)?;
        if let Some(fill) = self.misshapen.get(&variable) {
            let (stored, resolver) = self.stored(view, variable)?;
            return Ok(Source {
                layout: Layout::Mosaic { tiles: Arc::new(NowhereSource) },
                stored,
                extent: self.model.shape(variable),
                fill: fill.clone(),
                resolver,
                swapped_fill: false,
            });
        }
        match self.variables.get(&variable) {
            Some(found) => self.aggregated(view, found),
            None => self.inner.catalog.source(view, variable),
        }
    }

    fn aggregation(&self, view: &dyn View, variable: VarId) -> Step<Option<Aggregation>> {
        self.fault(variable)?;
        let found = self.variables.get(&variable);
        found.map(|found| Ok(self.index(view, found)?.facts)).transpose()
    }

    fn description_place(&self, variable: VarId) -> Option<(ObjectId, u64)> {
        self.inner.catalog.description_place(variable)
    }

    fn kind(&self) -> DatasetKind {
        self.inner.catalog.kind()
    }

    fn facts(&self) -> StorageFacts {
        StorageFacts { aggregation: Some(self.summary.clone()), ..self.inner.catalog.facts() }
    }

    fn warnings(&self) -> Vec<String> {
        let mut warnings = self.inner.catalog.warnings();
        warnings.extend(self.warnings.iter().cloned());
        warnings
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        None
    }
}

/// A variable without any fragments.
#[derive(Debug)]
struct NowhereSource;

impl TileIndex for NowhereSource {
    fn tiles(&self, _: &dyn View, region: &Region) -> Step<Vec<Tile>> {
        Ok(vec![Tile { region: region.clone(), source: TileSource::Missing }])
    }
}

/// Elements in their in-memory form.
fn native(atomic: Atomic) -> StoredType {
    let order = ByteOrder::NATIVE;
    let size = u8::try_from(atomic.byte_len().unwrap_or(1)).unwrap_or(1);
    match atomic {
        Atomic::Char => StoredType::Char,
        Atomic::Float | Atomic::Double => StoredType::Float { size, order },
        Atomic::UByte | Atomic::UShort | Atomic::UInt | Atomic::UInt64 => {
            StoredType::Integer { size, signed: false, order }
        }
        _ => StoredType::Integer { size, signed: true, order },
    }
}
