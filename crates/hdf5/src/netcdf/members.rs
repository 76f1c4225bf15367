//! The locations of a file's members, for changing it.
use super::ObjectKey;
use super::open;
use crate::address::FileAddress;
use ncirrus_layout::{ObjectId, Step, View};
use ncirrus_model::{DimId, GroupId, Model, TypeId, VarId};
use std::collections::HashMap;
use std::sync::Arc;

/// The members of a file that are its own objects, without targets of links to other files.
#[derive(Debug)]
pub(crate) struct LocalMembers {
    pub(crate) model: Arc<Model>,
    pub(crate) groups: Vec<(GroupId, FileAddress)>,
    pub(crate) variables: Vec<(VarId, FileAddress)>,
    pub(crate) types: Vec<(TypeId, FileAddress)>,
    /// Dimensions, and their ids in the file.
    pub(crate) scales: Vec<(DimId, FileAddress, Option<i64>)>,
    /// Names of all objects, for references.
    pub(crate) paths: Arc<HashMap<FileAddress, String>>,
    /// A group that does not track in which order its members were created.
    pub(crate) untracked_group: Option<String>,
}

/// Finds all members of a file; `hides_references`: those that are not references.
///
/// # Errors
/// A need, or why the file cannot be read.
pub(crate) fn members(view: &dyn View, root: &ObjectId, hides_references: bool) -> Step<LocalMembers> {
    let (catalog, objects) = open(view, root, hides_references)?;
    let here = |key: &ObjectKey| (key.file == *root).then_some(key.addr);
    let groups =
        catalog.groups.iter().filter_map(|(id, object)| Some((*id, here(&ObjectKey::from(object))?)));
    let variables = catalog.model.variables().into_iter().filter_map(|id| {
        let object = catalog.variables.get(id.index())?;
        Some((id, here(&ObjectKey::from(object))?))
    });
    let types = catalog.types.committed_types().filter_map(|(id, key)| Some((id, here(key)?)));
    let scales = catalog.scales.iter().filter_map(|(dim, key, id)| Some((*dim, here(key)?, *id)));
    Ok(LocalMembers {
        groups: groups.collect(),
        variables: variables.collect(),
        types: types.collect(),
        scales: scales.collect(),
        paths: catalog.paths.get(root).cloned().unwrap_or_default(),
        model: catalog.model,
        untracked_group: objects.untracked_group().map(str::to_owned),
    })
}
