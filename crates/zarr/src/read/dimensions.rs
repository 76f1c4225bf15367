//! Which dimensions span a variable (docs/spec/nczarr.md 3.5, 3.6, 3.7, 3.15, 5.3).
use super::node::ArrayInfo;
use crate::json::JsonValue;
use crate::special::{ANONYMOUS_PREFIX, ANONYMOUS_PREFIX_490, SCALAR_DIMENSION};
use ncirrus_layout::{DatasetView, Result};
use ncirrus_model::{DimId, Dimension, DimensionLen, GroupId, Model};
use std::collections::{HashMap, HashSet};

#[cfg(test)]
mod tests;

/// The dimensions of a dataset by name, and its groups by path.
#[derive(Debug)]
pub(super) struct DimensionNames {
    groups: HashMap<String, GroupId>,
    named: HashMap<(GroupId, String), DimId>,
    /// Dimensions of plain Zarr that the extension says are unlimited.
    unlimited: HashSet<(GroupId, String)>,
    /// Prefix of the names of anonymous dimensions.
    anonymous: &'static str,
}

impl DimensionNames {
    /// No dimensions yet. In netCDF-C's view, anonymous ones have the names of 4.9.0 to 4.9.2 (docs/spec/nczarr.md 5.3).
    pub(super) fn new(view: DatasetView) -> Self {
        let anonymous = if view.is_netcdf_c() { ANONYMOUS_PREFIX_490 } else { ANONYMOUS_PREFIX };
        Self { groups: HashMap::new(), named: HashMap::new(), unlimited: HashSet::new(), anonymous }
    }

    /// Registers a group, so that its dimensions can be referred to.
    pub(super) fn enter(&mut self, model: &Model, group: GroupId) {
        self.groups.insert(model.group_path(group), group);
    }

    /// Notes the unlimited dimensions of a group whose arrays name their dimensions.
    pub(super) fn note_unlimited(&mut self, group: GroupId, names: Vec<String>) {
        self.unlimited.extend(names.into_iter().map(|name| (group, name)));
    }

    /// The length of a dimension that only arrays name.
    fn named_len(&self, group: GroupId, name: &str, len: u64) -> DimensionLen {
        let is_unlimited = !self.unlimited.is_empty() && self.unlimited.contains(&(group, name.to_owned()));
        if is_unlimited { DimensionLen::Unlimited(len) } else { plain_len(len) }
    }

    /// Adds a dimension to a group.
    ///
    /// # Errors
    /// If the model refuses it.
    pub(super) fn define(
        &mut self,
        model: &mut Model,
        group: GroupId,
        name: &str,
        len: DimensionLen,
    ) -> Result<DimId> {
        let id = model.insert_dimension(group, Dimension { name: name.to_owned(), len })?;
        self.named.insert((group, name.to_owned()), id);
        Ok(id)
    }

    /// The dimension of that name in a group itself.
    pub(super) fn find(&self, group: GroupId, name: &str) -> Option<DimId> {
        self.named.get(&(group, name.to_owned())).copied()
    }

    /// The dimension that a name refers to in a group: the nearest enclosing one.
    fn visible(&self, model: &Model, group: GroupId, name: &str) -> Option<DimId> {
        model.scope(group).into_iter().find_map(|id| self.find(id, name))
    }

    /// The dimension at a path.
    fn at(&self, path: &str) -> Option<DimId> {
        let (group, name) = path.rsplit_once('/')?;
        let group = self.groups.get(if group.is_empty() { "/" } else { group })?;
        self.find(*group, name)
    }
}

/// A variable whose dimensions are to be determined.
#[derive(Debug)]
pub(super) struct SpannedVariable<'a> {
    /// The group that holds it.
    pub(super) group: GroupId,
    /// Its path, for messages.
    pub(super) path: &'a str,
    /// Its stored shape.
    pub(super) shape: &'a [u64],
    /// The dimension references of NCZarr.
    pub(super) info: Option<&'a ArrayInfo>,
    /// The names from Zarr v3 or xarray, some of them missing.
    pub(super) names: Option<Vec<Option<String>>>,
    /// Whether the dataset defines its dimensions apart from its arrays.
    pub(super) in_nczarr: bool,
}

/// The dimensions, slowest first. A scalar has none, whatever its stored shape.
///
/// # Errors
/// If the model refuses a dimension.
pub(super) fn resolve(
    model: &mut Model,
    known: &mut DimensionNames,
    variable: &SpannedVariable<'_>,
    warnings: &mut Vec<String>,
) -> Result<Vec<DimId>> {
    let is_single = variable.shape.iter().all(|len| *len == 1);
    if let Some(info) = variable.info {
        // NCZarr stores a scalar as an array of one element.
        if is_single && (info.scalar || info.dimensions.is_empty()) {
            return Ok(Vec::new());
        }
        if info.dimensions.len() == variable.shape.len() {
            return by_reference(model, known, variable, &info.dimensions, warnings);
        }
        let (path, count, rank) = (variable.path, info.dimensions.len(), variable.shape.len());
        warnings.push(format!("{path}: {count} dimension references for {rank} axes are ignored"));
    }
    match variable.names.as_deref() {
        Some([Some(name)]) if name == SCALAR_DIMENSION && variable.shape == [1] => Ok(Vec::new()),
        Some(names) if names.len() == variable.shape.len() => {
            by_name(model, known, variable, names, warnings)
        }
        Some(names) if !(names.is_empty() && is_single) => {
            let (path, count, rank) = (variable.path, names.len(), variable.shape.len());
            warnings.push(format!("{path}: {count} dimension names for {rank} axes are ignored"));
            anonymous(model, known, variable.shape)
        }
        _ => anonymous(model, known, variable.shape),
    }
}

/// The names in `_ARRAY_DIMENSIONS`; `None` if it is not a list of strings.
pub(super) fn array_dimensions(json: Option<&JsonValue>) -> Option<Vec<Option<String>>> {
    let list = json?.as_array()?;
    list.iter().map(|name| Some(Some(name.as_str()?.to_owned()))).collect()
}

/// Dimensions by path; an axis whose reference is unknown or has a different length gets an anonymous one.
fn by_reference(
    model: &mut Model,
    known: &mut DimensionNames,
    variable: &SpannedVariable<'_>,
    references: &[String],
    warnings: &mut Vec<String>,
) -> Result<Vec<DimId>> {
    let mut dims = Vec::with_capacity(references.len());
    for (reference, &len) in references.iter().zip(variable.shape) {
        let found = if reference.starts_with('/') {
            known.at(reference)
        } else {
            known.visible(model, variable.group, reference)
        };
        let path = variable.path;
        match found.and_then(|id| Some((id, model.dimension(id)?.len))) {
            // An array may have fewer records than its dimension.
            Some((id, DimensionLen::Unlimited(_))) => dims.push(id),
            Some((id, DimensionLen::Fixed(size))) if size == len => dims.push(id),
            Some((_, DimensionLen::Fixed(size))) => {
                warnings.push(format!("{path}: dimension {reference} has length {size}, the axis {len}"));
                dims.push(anonymous_dimension(model, known, len)?);
            }
            None => {
                warnings.push(format!("{path}: there is no dimension {reference}"));
                dims.push(anonymous_dimension(model, known, len)?);
            }
        }
    }
    Ok(dims)
}

/// Dimensions of the array's group by simple name, created if missing (docs/spec/nczarr.md 3.15).
fn by_name(
    model: &mut Model,
    known: &mut DimensionNames,
    variable: &SpannedVariable<'_>,
    names: &[Option<String>],
    warnings: &mut Vec<String>,
) -> Result<Vec<DimId>> {
    let mut dims = Vec::with_capacity(names.len());
    for (name, &len) in names.iter().zip(variable.shape) {
        let Some(name) = name.as_ref().filter(|name| !name.is_empty()) else {
            dims.push(anonymous_dimension(model, known, len)?);
            continue;
        };
        let name = name.replace('/', "_");
        let here = known.find(variable.group, &name);
        let nearest = if variable.in_nczarr { known.visible(model, variable.group, &name) } else { here };
        let fits = |id: &DimId| match model.dimension(*id).map(|dimension| dimension.len) {
            Some(DimensionLen::Unlimited(_)) if variable.in_nczarr => true,
            Some(present) => present.current() == len,
            None => false,
        };
        let id = match (nearest.filter(fits), here) {
            (Some(id), _) => id,
            (None, None) => {
                let len = known.named_len(variable.group, &name, len);
                known.define(model, variable.group, &name, len)?
            }
            (None, Some(_)) => {
                let path = variable.path;
                warnings.push(format!(
                    "{path}: the name {name:?} belongs to a dimension of another length than {len}"
                ));
                anonymous_dimension(model, known, len)?
            }
        };
        dims.push(id);
    }
    Ok(dims)
}

/// Dimensions without names.
fn anonymous(model: &mut Model, known: &mut DimensionNames, shape: &[u64]) -> Result<Vec<DimId>> {
    shape.iter().map(|&len| anonymous_dimension(model, known, len)).collect()
}

/// The anonymous dimension of that length: one for all variables of the dataset, at the root.
fn anonymous_dimension(model: &mut Model, known: &mut DimensionNames, len: u64) -> Result<DimId> {
    let root = model.root();
    let mut name = format!("{}{len}", known.anonymous);
    while let Some(id) = known.find(root, &name) {
        if model.dimension(id).is_some_and(|dimension| dimension.len == plain_len(len)) {
            return Ok(id);
        }
        name.push('_');
    }
    known.define(model, root, &name, plain_len(len))
}

/// Plain Zarr has no unlimited dimensions but for the extension, and netCDF no fixed ones of length 0 (docs/spec/nczarr.md 3.6).
fn plain_len(len: u64) -> DimensionLen {
    if len == 0 { DimensionLen::Unlimited(0) } else { DimensionLen::Fixed(len) }
}
