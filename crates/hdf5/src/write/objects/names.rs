//! The objects of a model, and their names in the file (docs/spec/hdf5-netcdf4.md H.1, H.2, H.4).
use crate::group::NO_COORDINATE;
use ncirrus_layout::{Error, Result};
use ncirrus_model::{DimId, GroupId, Model, TypeId, VarId, Variable};
use std::borrow::Cow;
use std::collections::HashSet;

/// An object of the file.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum FileObject {
    Group(GroupId),
    Type(TypeId),
    /// A dimension without a coordinate variable.
    Dimension(DimId),
    Variable(VarId),
}

/// The links of a group, in creation order: types, dimensions without variable, variables, groups.
///
/// # Errors
/// `Unsupported` if two members would have one name.
pub(crate) fn members(model: &Model, id: GroupId) -> Result<Vec<(String, FileObject)>> {
    let list = listed(model, id);
    let mut names = HashSet::new();
    if let Some((name, _)) = list.iter().find(|(name, _)| !names.insert(name.as_str())) {
        let message = format!("two members named {name:?}: names in an HDF5 group are unique");
        return Err(Error::unsupported(message).at_path(model.group_path(id)));
    }
    Ok(list)
}

/// As [`members`]; several may have one name.
pub(crate) fn listed(model: &Model, id: GroupId) -> Vec<(String, FileObject)> {
    let Some(group) = model.group(id) else { return Vec::new() };
    let mut list: Vec<(String, FileObject)> = Vec::new();
    let types =
        group.types.iter().filter_map(|id| Some((model.user_type(*id)?.name.clone(), FileObject::Type(*id))));
    list.extend(types);
    for &dim in &group.dims {
        if let (Some(dimension), None) = (model.dimension(dim), coordinate(model, dim)) {
            list.push((dimension.name.clone(), FileObject::Dimension(dim)));
        }
    }
    list.extend(
        group.vars.iter().map(|id| (dataset_name(model, *id).into_owned(), FileObject::Variable(*id))),
    );
    let groups =
        group.groups.iter().filter_map(|id| Some((model.group(*id)?.name.clone(), FileObject::Group(*id))));
    list.extend(groups);
    list
}

/// A variable that is written.
///
/// # Errors
/// If the model has none with that number.
pub(crate) fn known(model: &Model, id: VarId) -> Result<&Variable> {
    model.variable(id).ok_or_else(|| Error::internal(format!("no variable {id:?} in the model")))
}

/// The dataset of a dimension.
pub(crate) fn scale_of(model: &Model, dim: DimId) -> FileObject {
    coordinate(model, dim).map_or(FileObject::Dimension(dim), FileObject::Variable)
}

/// The variable that is a dimension's scale: with its name, in its group, and with it as the first axis.
fn coordinate(model: &Model, dim: DimId) -> Option<VarId> {
    let id = model.variable_in(model.dimension_group(dim)?, &model.dimension(dim)?.name)?;
    (model.variable(id)?.dims.first() == Some(&dim)).then_some(id)
}

/// The dimension whose scale a variable is.
pub(crate) fn dimension_of(model: &Model, var: VarId) -> Option<DimId> {
    let first = *model.variable(var)?.dims.first()?;
    (coordinate(model, first) == Some(var)).then_some(first)
}

/// How many records a chunked variable has, where that is not its dimension's length: those up to its last chunk, as netCDF-C
/// does, if readers cannot fill in a chunk that is not there:
/// - text and other elements in the heap: HDF5 up to 2.0 cannot read it with a fill value in the heap of a file that is only read
///   (`H5D__fill_refill_vl` writes to it);
/// - without fill value (`NC_NOFILL`): HDF5 leaves the reader's memory as it is. Elements after the end have netCDF's default.
///
/// Another variable keeps the length of the dimension then: netCDF-C takes that of the longest one. Of those that may be shorter,
/// it is one whose chunks reach the end (`reaches_end`).
pub(crate) fn own_records(
    model: &Model,
    var: VarId,
    last: Option<&Vec<u64>>,
    chunk: &[u64],
    reaches_end: impl Fn(VarId) -> bool,
) -> Option<u64> {
    let first = *model.variable(var)?.dims.first()?;
    let may_be_shorter = |var: VarId| {
        let is_unfilled =
            |variable: &Variable| !variable.is_filled() || model.packed_len(variable.ty).is_none();
        model.variable(var).is_some_and(is_unfilled) && dimension_of(model, var).is_none()
    };
    let grows = model.growing(var).first() == Some(&true);
    if !grows || !may_be_shorter(var) {
        return None;
    }
    let keeps_length = |user: VarId| {
        (!may_be_shorter(user) || (user != var && reaches_end(user)))
            && model.variable(user).is_some_and(|variable| variable.dims.first() == Some(&first))
    };
    if !model.users_of(first).any(keeps_length) {
        return None;
    }
    let chunks = last.and_then(|cell| cell.first()).map_or(0, |at| at.saturating_add(1));
    let len = model.shape(var).first().copied()?;
    Some(chunks.saturating_mul(chunk.first().copied().unwrap_or(1)).min(len))
}

/// The name of a variable's dataset: prefixed if it is named like a dimension without being its scale.
pub(crate) fn dataset_name(model: &Model, var: VarId) -> Cow<'_, str> {
    let Some(variable) = model.variable(var) else { return Cow::Borrowed("") };
    let namesake = model.variable_group(var).and_then(|group| model.dimension_in(group, &variable.name));
    match namesake {
        Some(_) if dimension_of(model, var).is_none() => {
            Cow::Owned(format!("{NO_COORDINATE}{}", variable.name))
        }
        _ => Cow::Borrowed(&variable.name),
    }
}
