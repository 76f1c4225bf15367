//! An open file: its description as a model, and where each variable's elements are.
use crate::description::{ModelDescription, VariablePlace};
use crate::file::ClassicFile;
use crate::order::element_of;
use crate::{ClassicWriter, FormatVersion};
use ncirrus_layout::{Catalog, Error, Extent, Layout, ObjectId, Result, Source, Step, View, Writing};
use ncirrus_model::{AttributeState, Attributes, DatasetKind, Model, NodeId, StorageFacts, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// An open file.
#[derive(Debug)]
pub(crate) struct ClassicCatalog {
    root: ObjectId,
    version: FormatVersion,
    header_len: u64,
    model: Arc<Model>,
    places: HashMap<VarId, VariablePlace>,
    warnings: Vec<String>,
}

impl ClassicCatalog {
    /// Describes a file with a known header.
    pub(crate) fn new(root: &ObjectId, file: &ClassicFile) -> Self {
        let description = ModelDescription::new(&file.header, file.size);
        let mut catalog = Self {
            root: root.clone(),
            version: file.header.version,
            header_len: file.header.byte_len,
            model: Arc::new(Model::new()),
            places: HashMap::new(),
            warnings: description.warnings(),
        };
        let cut = description.cut(file.size);
        let (mut model, places) = description.into_model();
        if let Some(root) = model.group_mut(model.root()) {
            *root.fault = cut;
        }
        (catalog.model, catalog.places) = (Arc::new(model), places);
        catalog
    }

    fn source_of(&self, id: VarId) -> Result<Source> {
        let missing = || Error::not_found("no such variable").at_object(&self.root);
        let variable = self.model.variable(id).ok_or_else(missing)?;
        let path = self.model.variable_path(id);
        if let Some(fault) = &variable.fault {
            return Err(Error::from(fault.clone()).at_object(&self.root).at_path(path));
        }
        let place = self.places.get(&id).ok_or_else(missing)?;
        let (stored, fill) = element_of(variable).ok_or_else(missing)?;
        let logical = place.begin..place.end;
        let extent = Extent { logical, object: self.root.clone(), offset: place.begin };
        let extents = if place.end > place.begin { vec![extent] } else { Vec::new() };
        Ok(Source {
            layout: Layout::Affine {
                extents: extents.into(),
                base: place.begin,
                strides: place.strides.clone(),
            },
            stored,
            extent: self.model.shape(id),
            fill,
            resolver: None,
            swapped_fill: false,
        })
    }
}

impl Catalog for ClassicCatalog {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.model))
    }

    fn attributes(&self, _: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        let known = |node: &NodeId| match self.model.attributes(*node).and_then(AttributeState::known) {
            Some(attributes) => Ok(attributes.clone()),
            None => Err(Error::not_found("no such group or variable").at_object(&self.root)),
        };
        Ok(of.iter().map(known).collect())
    }

    fn source(&self, _: &dyn View, variable: VarId) -> Step<Source> {
        Ok(self.source_of(variable)?)
    }

    fn kind(&self) -> DatasetKind {
        DatasetKind::classic(self.version.format())
    }

    fn facts(&self) -> StorageFacts {
        let (version, len) = (self.version.name().to_owned(), self.header_len.to_string());
        StorageFacts { others: vec![("version", version), ("header_bytes", len)], ..StorageFacts::default() }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        Some(Arc::new(ClassicWriter::new(self.version)))
    }
}
