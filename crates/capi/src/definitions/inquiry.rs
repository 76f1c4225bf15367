//! Groups, dimensions and variables: their numbers, names and shapes.
use crate::c_types::codes::{
    Code, NC_EBADDIM, NC_EBADNAME, NC_EBADTYPE, NC_EINVAL, NC_ENOGRP, NC_ENOTVAR, Outcome,
};
use crate::c_types::memory::{CText, NameOut, Out};
use crate::definitions::define::{check_sought, known_name, new_name};
use crate::files::{FileGroup, GLOBAL, group_of, number, size};
use ncirrus::model::{Dimension, Variable, check_name};
use ncirrus::{DimId, GroupId, TypeId, TypeRef};
use std::ffi::c_int;

/// How many dimensions, variables and attributes a group has, and its first unlimited dimension.
pub(crate) fn inq(
    ncid: c_int,
    dims: Out<c_int>,
    vars: Out<c_int>,
    atts: Out<c_int>,
    unlimited: Out<c_int>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    let group = at.group()?;
    dims.set(number(group.dims.len()));
    vars.set(number(group.vars.len()));
    if !atts.is_null() {
        atts.set(number(at.attributes(GLOBAL)?.len()));
    }
    unlimited.store(number_of_unlimited(&at)?)
}

/// The unlimited dimensions of a group.
fn unlimited_of(at: &FileGroup) -> Outcome<impl Iterator<Item = DimId>> {
    let grows = |id: &DimId| at.model().dimension(*id).is_some_and(|dim| dim.len.is_unlimited());
    Ok(at.group()?.dims.iter().copied().filter(grows))
}

/// The unlimited dimension of a group, of which netCDF-3 has no more than one.
pub(crate) fn first_unlimited(at: &FileGroup) -> Outcome<Option<DimId>> {
    Ok(unlimited_of(at)?.next())
}

fn number_of_unlimited(at: &FileGroup) -> Outcome<c_int> {
    Ok(first_unlimited(at)?.map_or(-1, |dim| at.members.number_of_dim(dim)))
}

pub(crate) fn attribute_count(ncid: c_int, count: Out<c_int>) -> Outcome<()> {
    count.store(number(group_of(ncid)?.attributes(GLOBAL)?.len()))
}

pub(crate) fn unlimited_dim(ncid: c_int, dim: Out<c_int>) -> Outcome<()> {
    dim.store(number_of_unlimited(&group_of(ncid)?)?)
}

pub(crate) fn unlimited_dims(ncid: c_int, count: Out<c_int>, ids: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let list: Vec<c_int> = unlimited_of(&at)?.map(|dim| at.members.number_of_dim(dim)).collect();
    listed(&list, count, ids)
}

/// Stores how many members there are, and their numbers.
fn listed(list: &[c_int], count: Out<c_int>, ids: Out<c_int>) -> Outcome<()> {
    count.set(number(list.len()));
    ids.store_all(list)
}

/// A name to look up. In classic files a name that is not UTF-8 matches nothing.
fn sought(at: &FileGroup, name: &CText) -> Outcome<String> {
    check_sought(at.file.is_classic(), name)?;
    match known_name(name) {
        Err(Code(NC_EBADNAME)) if at.file.is_classic() => Ok(String::new()),
        other => other,
    }
}

/// The nearest enclosing dimension of a name.
pub(crate) fn dim_id(ncid: c_int, name: CText, id: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let name = sought(&at, &name)?;
    let found = match name.rsplit_once('/') {
        Some((group, name)) if !at.file.is_classic() => dimension_at(&at, group, name)?,
        _ => at.model().visible_dimension(at.id, &name).ok_or(Code(NC_EBADDIM))?,
    };
    id.store(at.members.number_of_dim(found))
}

/// The dimension with a full name. Those of the root group have none, for Debian's library.
fn dimension_at(at: &FileGroup, group: &str, name: &str) -> Outcome<DimId> {
    if !group.starts_with('/') {
        return Err(Code(NC_EINVAL));
    }
    let names = group.split('/').filter(|name| !name.is_empty());
    let path: String = names.flat_map(|name| ["/", name]).collect();
    let group = at.model().group_at(if path.is_empty() { "/" } else { &path }).ok_or(Code(NC_ENOGRP))?;
    at.model().dimension_in(group, name).ok_or(Code(NC_EBADTYPE))
}

fn dimension(at: &FileGroup, id: c_int) -> Outcome<&Dimension> {
    at.model().dimension(at.members.dim(id)?).ok_or(Code(NC_EBADDIM))
}

pub(crate) fn dim(ncid: c_int, id: c_int, name: NameOut, len: Out<usize>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let dimension = dimension(&at, id)?;
    name.set(&dimension.name);
    len.store(size(dimension.len.current())?)
}

/// The dimensions of a group, with those of the enclosing ones if asked for, in order of their numbers.
pub(crate) fn dim_ids(ncid: c_int, count: Out<c_int>, ids: Out<c_int>, parents: c_int) -> Outcome<()> {
    let at = group_of(ncid)?;
    let groups = if parents == 0 { vec![at.id] } else { at.model().scope(at.id) };
    let groups = groups.into_iter().filter_map(|id| at.model().group(id));
    let mut list: Vec<c_int> =
        groups.flat_map(|group| &group.dims).map(|id| at.members.number_of_dim(*id)).collect();
    list.sort_unstable();
    listed(&list, count, ids)
}

pub(crate) fn var_ids(ncid: c_int, count: Out<c_int>, ids: Out<c_int>) -> Outcome<()> {
    let all = number(group_of(ncid)?.group()?.vars.len());
    listed(&(0..all).collect::<Vec<_>>(), count, ids)
}

pub(crate) fn type_ids(ncid: c_int, count: Out<c_int>, ids: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let of = |id: &TypeId| at.members.number_of_type(TypeRef::User(*id));
    let list: Vec<c_int> = at.group()?.types.iter().map(of).collect();
    listed(&list, count, ids)
}

pub(crate) fn groups(ncid: c_int, count: Out<c_int>, ids: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let list: Vec<c_int> = at.group()?.groups.iter().map(|id| at.ncid_of(*id)).collect();
    listed(&list, count, ids)
}

pub(crate) fn group_name(ncid: c_int, name: NameOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    name.store(if at.id == at.model().root() { "/" } else { &at.group()?.name })
}

pub(crate) fn group_full_name(ncid: c_int, len: Out<usize>, name: NameOut) -> Outcome<()> {
    let at = group_of(ncid)?;
    let path = at.model().group_path(at.id);
    len.set(path.len());
    name.set_whole(path.as_bytes());
    Ok(())
}

/// The enclosing group; `NC_ENOGRP` for the root.
pub(crate) fn group_parent(ncid: c_int, parent: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let id = at.group()?.parent.ok_or(Code(NC_ENOGRP))?;
    parent.store(at.ncid_of(id))
}

/// A direct subgroup; the group itself for no name, and for every name in a classic file, which has no others.
pub(crate) fn subgroup(ncid: c_int, name: CText, id: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    if at.file.is_classic() || name.is_null() {
        id.set(ncid);
        return Ok(());
    }
    let name = new_name(&name)?;
    let found = at.model().subgroup(at.id, &name).ok_or(Code(NC_ENOGRP))?;
    id.store(at.ncid_of(found))
}

/// A group by its name, or by its path if there is a slash in it.
pub(crate) fn group_by_path(ncid: c_int, path: CText, id: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    if at.file.is_classic() {
        return Err(Code(NC_ENOGRP));
    }
    check_sought(false, &path)?;
    let path = known_name(&path)?;
    let start = if path.starts_with('/') { at.model().root() } else { at.id };
    let mut parts = path.split('/').filter(|part| !part.is_empty()).peekable();
    if parts.clone().any(|part| check_name(part).is_err()) {
        return Err(Code(NC_EBADNAME));
    }
    if parts.peek().is_none() && at.id != at.model().root() {
        return Err(Code(NC_ENOGRP));
    }
    let found: Option<GroupId> = parts.try_fold(start, |group, part| at.model().subgroup(group, part));
    id.store(at.ncid_of(found.ok_or(Code(NC_ENOGRP))?))
}

/// A variable of a group; `NC_GLOBAL` is rejected.
pub(crate) fn variable(at: &FileGroup, varid: c_int) -> Outcome<&Variable> {
    at.model().variable(at.variable_id(varid)?).ok_or(Code(NC_ENOTVAR))
}

/// Everything about a variable but its values; of a group of netCDF-4, the number of its attributes.
pub(crate) fn var(
    ncid: c_int,
    varid: c_int,
    name: NameOut,
    ty: Out<c_int>,
    ndims: Out<c_int>,
    dims: Out<c_int>,
    natts: Out<c_int>,
) -> Outcome<()> {
    let at = group_of(ncid)?;
    if varid == GLOBAL && !at.file.is_classic() {
        natts.set(number(at.attributes(GLOBAL)?.len()));
        return Ok(());
    }
    let variable = variable(&at, varid)?;
    name.set(&variable.name);
    ty.set(at.members.number_of_type(variable.ty));
    ndims.set(number(variable.rank()));
    dims.set_all(&dims_of(&at, varid)?);
    if !natts.is_null() {
        natts.set(number(at.attributes(varid)?.len()));
    }
    Ok(())
}

fn dims_of(at: &FileGroup, varid: c_int) -> Outcome<Vec<c_int>> {
    Ok(variable(at, varid)?.dims.iter().map(|id| at.members.number_of_dim(*id)).collect())
}

pub(crate) fn var_id(ncid: c_int, name: CText, varid: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    let name = sought(&at, &name)?;
    let vars = &at.group()?.vars;
    let found = at.model().variable_in(at.id, &name).ok_or(Code(NC_ENOTVAR))?;
    // Ids ascend: new variables come last.
    varid.store(number(vars.binary_search(&found).map_err(|_| Code(NC_ENOTVAR))?))
}

pub(crate) fn var_name(ncid: c_int, varid: c_int, name: NameOut) -> Outcome<()> {
    name.store(&variable(&group_of(ncid)?, varid)?.name)
}

pub(crate) fn var_type(ncid: c_int, varid: c_int, ty: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    ty.store(at.members.number_of_type(variable(&at, varid)?.ty))
}

pub(crate) fn var_rank(ncid: c_int, varid: c_int, rank: Out<c_int>) -> Outcome<()> {
    rank.store(number(variable(&group_of(ncid)?, varid)?.rank()))
}

pub(crate) fn var_dims(ncid: c_int, varid: c_int, dims: Out<c_int>) -> Outcome<()> {
    dims.store_all(&dims_of(&group_of(ncid)?, varid)?)
}

pub(crate) fn var_attribute_count(ncid: c_int, varid: c_int, count: Out<c_int>) -> Outcome<()> {
    let at = group_of(ncid)?;
    count.store(number(at.attributes(varid)?.len()))
}
