//! The sources of a virtual dataset.
use super::super::dataset::{DatasetChain, dataset_below};
use super::block::VirtualMapping;
use crate::group::{external_candidates, lookup, variable_name};
use crate::object::ObjectRef;
use crate::superblock::load;
use ncirrus_layout::{ErrorKind, ObjectId, Stall, Step, VariableRef, View, Want, settle};

#[cfg(test)]
mod tests;

/// An existing dataset.
#[derive(Debug)]
pub(super) struct FoundSource {
    pub(super) variable: VariableRef,
    /// Lengths of its dataspace.
    pub(super) dims: Vec<u64>,
}

/// The source of a mapping (of one block of it); `None` if there is no such file or no such dataset in it.
pub(super) fn find(
    view: &dyn View,
    asking: &DatasetChain<'_>,
    mapping: &VirtualMapping,
    block: u64,
) -> Step<Option<FoundSource>> {
    let file = &asking.object.file;
    let file = match &mapping.file {
        None => file.clone(),
        Some(name) => match existing(view, &external_candidates(file, &name.of_block(block)))? {
            Some(object) => load(view, &object)?,
            None => return Ok(None),
        },
    };
    let root = ObjectRef { addr: file.root, file };
    let path = mapping.dataset.of_block(block);
    let found = settle(lookup(view, &root, &path)).map_err(Stall::Need)?;
    let object = match found {
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        found => found?,
    };
    let dims = dataset_below(view, &object, asking)?.space.dims().to_vec();
    let variable = VariableRef { dataset: Some(root.file.object.clone()), path: variable_path(&path) };
    Ok(Some(FoundSource { variable, dims }))
}

/// The path of the variable for the dataset at a path: normalised, and without the prefix of a variable that is named
/// like a dimension (docs/spec/hdf5-netcdf4.md H.4).
fn variable_path(path: &str) -> String {
    let mut names: Vec<&str> = path.split('/').filter(|name| !matches!(*name, "" | ".")).collect();
    if let Some(last) = names.last_mut() {
        *last = variable_name(last);
    }
    format!("/{}", names.join("/"))
}

/// The first of these objects that exists.
fn existing(view: &dyn View, candidates: &[ObjectId]) -> Step<Option<ObjectId>> {
    for object in candidates {
        // The caller parses what it finds there.
        if view.read(object, Want::Parse(0..1))?.is_some() {
            return Ok(Some(object.clone()));
        }
    }
    Ok(None)
}
