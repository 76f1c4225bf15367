//! An open file.
use super::ObjectKey;
use super::attribute::AttributeReader;
use super::types::DatasetTypes;
use super::walk::ObjectPaths;
use crate::address::FileAddress;
use crate::datatypes::{FillMessage, ValueResolver, fill, stored, values};
use crate::layout::{StoredDataset, dataset, layout};
use crate::object::ObjectRef;
use bytes::Bytes;
use ncirrus_layout::{
    Catalog, Error, ObjectId, Resolver, Result, Source, Step, StoredType, View, Writing, join,
};
use ncirrus_model::{
    Attributes, DatasetKind, DimId, GroupId, Model, NodeId, StorageFacts, TypeRef, Values, VarId,
    default_fill,
};
use std::collections::HashMap;
use std::sync::Arc;

/// An open file: its model, and the locations of its members.
#[derive(Debug)]
pub(crate) struct Hdf5Catalog {
    pub(super) object: ObjectId,
    /// Version of the superblock.
    pub(super) version: u8,
    /// Bytes before the signature.
    pub(super) user_block: u64,
    /// Bytes that the file should have, and has not.
    pub(super) missing: u64,
    /// The text of `_NCProperties`.
    pub(super) provenance: Option<String>,
    /// Size of the front of the file that holds all metadata, if known.
    pub(crate) front: Option<u64>,
    /// First offset behind the headers of all objects, if known.
    pub(crate) headers_end: Option<u64>,
    /// The first thing of the file that the model does not show.
    pub(super) unshown: Option<String>,
    /// Whether it follows the classic model.
    pub(crate) strict: bool,
    /// Whether the reference takes it for netCDF-4: two marks, and none of the classic model.
    pub(super) is_netcdf4: bool,
    pub(super) paths: ObjectPaths,
    pub(super) model: Arc<Model>,
    pub(super) types: DatasetTypes,
    /// By the index of the group.
    pub(super) groups: Vec<(GroupId, ObjectRef)>,
    /// By the index of the variable.
    pub(super) variables: Vec<ObjectRef>,
    /// The dimensions that are objects of the file, and their ids in it.
    pub(super) scales: Vec<(DimId, ObjectKey, Option<i64>)>,
    pub(super) warnings: Vec<String>,
    /// Whether variables and attributes of references are left out.
    pub(super) hides_references: bool,
    /// The writer for this file: it depends on the reader, and not the other way round.
    pub(crate) writing: Option<Arc<dyn Writing>>,
}

impl Hdf5Catalog {
    /// Whether this library made the file.
    pub(crate) fn is_ours(&self) -> bool {
        self.provenance.as_ref().is_some_and(|text| text.contains(",ncirrus="))
    }

    /// The object with a node's attributes, and its group.
    fn holder(&self, node: NodeId) -> Result<(&ObjectRef, GroupId)> {
        let found = match node {
            NodeId::Group(id) => self.groups.get(id.index()).map(|(_, object)| (object, id)),
            NodeId::Variable(id) => self.variables.get(id.index()).zip(self.model.variable_group(id)),
        };
        found.ok_or_else(|| Error::not_found(format!("no {node:?}")).at_object(&self.object))
    }

    fn path(&self, node: NodeId) -> String {
        match node {
            NodeId::Group(id) => self.model.group_path(id),
            NodeId::Variable(id) => self.model.variable_path(id),
        }
    }

    fn source_of(&self, view: &dyn View, id: VarId) -> Step<Source> {
        let (object, _) = self.holder(NodeId::Variable(id))?;
        if let Some(fault) = self.model.variable(id).and_then(|variable| variable.fault.clone()) {
            return Err(Error::from(fault).into());
        }
        let dataset = dataset(view, object)?;
        let layout = layout(view, object, &dataset)?;
        let no_paths = Arc::default();
        let paths = self.paths.get(&object.file.object).unwrap_or(&no_paths);
        let fill = fill_of(view, object, &dataset, paths, (&self.model, id))?;
        let (stored, resolver) = self.element(object, &dataset);
        Ok(Source { layout, stored, extent: dataset.shape.clone(), fill, resolver, swapped_fill: false })
    }

    /// The stored element type, and the decoder if the engine cannot decode it.
    fn element(
        &self,
        object: &ObjectRef,
        dataset: &StoredDataset,
    ) -> (StoredType, Option<Arc<dyn Resolver>>) {
        if let Some(stored) = stored(&dataset.element) {
            return (stored, None);
        }
        let resolver = ValueResolver {
            file: Arc::clone(&object.file),
            datatype: Arc::clone(&dataset.element),
            paths: self.paths.get(&object.file.object).map(Arc::clone).unwrap_or_default(),
        };
        (StoredType::Reference { byte_len: dataset.element.byte_len }, Some(Arc::new(resolver)))
    }
}

/// The value of elements that were never written: the dataset's fill value, otherwise zeros. Where the writer never fills, elements
/// behind the end of a dataset that is shorter than its dimensions have netCDF's default for the type, as netCDF-C has it.
pub(crate) fn fill_of(
    view: &dyn View,
    object: &ObjectRef,
    dataset: &StoredDataset,
    paths: &HashMap<FileAddress, String>,
    (model, id): (&Model, VarId),
) -> Step<Values> {
    let byte_len = view.limits().metadata_len(dataset.element.byte_len, "an element")?;
    let FillMessage { value, never } = fill(view, object)?;
    let is_shorter = || dataset.shape.iter().zip(model.shape(id)).any(|(stored, len)| *stored < len);
    if let Some(variable) = model.variable(id).filter(|_| never && value.is_none() && is_shorter()) {
        return Ok(default_of(model, variable.ty)?);
    }
    let zeros = || Bytes::from(vec![0; byte_len]);
    let one =
        value.filter(|value| value.len() >= byte_len).map_or_else(zeros, |value| value.slice(..byte_len));
    values(view, &object.file, &dataset.element, &one, 1, paths)
}

/// netCDF's default fill value of a type. As netCDF-C has it: for enums that of the integers that they consist of, though
/// it is not a member; for other user-defined types zeros.
///
/// # Errors
/// `Invalid` for a type of which one element is too large.
pub(crate) fn default_of(model: &Model, ty: TypeRef) -> Result<Values> {
    let value = model.base_atomic(ty).map(default_fill).or_else(|| model.zeros(ty, 1, u32::MAX));
    value.ok_or_else(|| Error::invalid("one element is too large"))
}

impl Catalog for Hdf5Catalog {
    fn tree(&self, _: &dyn View) -> Step<Arc<Model>> {
        Ok(Arc::clone(&self.model))
    }

    fn attributes(&self, view: &dyn View, of: &[NodeId]) -> Step<Vec<Result<Attributes>>> {
        let reader = AttributeReader {
            view,
            model: &self.model,
            types: &self.types,
            paths: &self.paths,
            hides_references: self.hides_references,
        };
        join(of, |node| match self.holder(*node) {
            Ok((object, group)) => {
                let attributes = reader.all(object, group)?;
                Ok(attributes.map_err(|error| error.at_path(self.path(*node))))
            }
            Err(error) => Ok(Err(error)),
        })
    }

    fn source(&self, view: &dyn View, variable: VarId) -> Step<Source> {
        let source = self.source_of(view, variable);
        source.map_err(|stall| stall.map_error(|error| error.at_path(self.model.variable_path(variable))))
    }

    fn description_place(&self, variable: VarId) -> Option<(ObjectId, u64)> {
        let (object, _) = self.holder(NodeId::Variable(variable)).ok()?;
        Some((object.file.object.clone(), object.addr.0))
    }

    fn kind(&self) -> DatasetKind {
        DatasetKind::hdf5(self.strict)
    }

    fn facts(&self) -> StorageFacts {
        let unless_none = |len: u64| (len > 0).then_some(len);
        StorageFacts {
            superblock_version: Some(self.version),
            is_netcdf4: Some(self.is_netcdf4),
            provenance: self.provenance.clone(),
            metadata_end: self.front,
            headers_end: self.headers_end,
            unshown: self.unshown.clone(),
            user_block_bytes: unless_none(self.user_block),
            missing_bytes: unless_none(self.missing),
            ..StorageFacts::default()
        }
    }

    fn warnings(&self) -> Vec<String> {
        self.warnings.clone()
    }

    fn writing(&self) -> Option<Arc<dyn Writing>> {
        self.writing.clone()
    }
}
