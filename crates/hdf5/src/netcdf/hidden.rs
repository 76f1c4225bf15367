//! netCDF-4's own attributes, and attributes that are hidden (docs/spec/hdf5-netcdf4.md H.2, H.3, H.7).
use super::ObjectKey;
use crate::datatypes::{Dataspace, DatatypeClass, RawAttribute, StringPadding, object_references, values};
use crate::object::ObjectRef;
use ncirrus_layout::{Error, ErrorKind, Step, View};
use ncirrus_netcdf_view::AttributeSpace;
use std::collections::HashMap;

/// Prefix of the `NAME` of a scale that is not a variable.
const NO_VARIABLE: &[u8] = b"This is a netCDF dimension but not a netCDF variable.";

/// Attributes as stored in the file.
pub(super) type AttributeResults = [Result<RawAttribute, (String, Error)>];

/// Whether an attribute is hidden, whatever its values.
pub(crate) fn is_hidden(name: &str) -> bool {
    AttributeSpace::Hdf5.is_hidden(name)
}

/// The hidden attributes that cannot be read, except the back pointers of scales, which are not used.
pub(super) fn damaged(raw: &AttributeResults) -> Vec<Error> {
    let is_lost = |(name, error): &&(String, Error)| {
        is_hidden(name) && name != "REFERENCE_LIST" && error.kind() == ErrorKind::Malformed
    };
    let damaged = raw.iter().filter_map(|attribute| attribute.as_ref().err()).filter(is_lost);
    damaged.map(|(name, error)| lost(name, error)).collect()
}

/// Why a hidden attribute cannot be read.
pub(super) fn lost(name: &str, error: &Error) -> Error {
    Error::malformed(format!("attribute {name}: {error}"))
}

/// Number of attributes of a dataset that only netCDF and similar software write.
pub(super) fn count_marks(raw: &AttributeResults) -> usize {
    raw.iter().flatten().filter(|attribute| is_hidden(&attribute.name)).count()
}

/// The readable attribute of that name.
pub(super) fn find<'a>(raw: &'a AttributeResults, name: &str) -> Option<&'a RawAttribute> {
    raw.iter().filter_map(|attribute| attribute.as_ref().ok()).find(|attribute| attribute.name == name)
}

/// Whether a dataset is a dimension scale: the type of `CLASS` must be exactly the one that the reference expects.
pub(super) fn is_scale(raw: &AttributeResults) -> bool {
    find(raw, "CLASS").is_some_and(|class| {
        class.datatype.class == DatatypeClass::Text(StringPadding::NulTerminated)
            && class.datatype.byte_len == 16
            && class.data.get(..16) == Some(b"DIMENSION_SCALE\0")
    })
}

/// Whether a scale is only a dimension, not a variable.
pub(super) fn is_only_dimension(raw: &AttributeResults) -> bool {
    find(raw, "NAME").is_some_and(|name| {
        matches!(name.datatype.class, DatatypeClass::Text(_)) && name.data.starts_with(NO_VARIABLE)
    })
}

/// The id of a scale.
pub(super) fn dimension_id(view: &dyn View, object: &ObjectRef, raw: &AttributeResults) -> Option<i64> {
    let ids = integers(view, object, find(raw, "_Netcdf4Dimid")?)?;
    ids.first().copied()
}

/// The ids of the dimensions of all axes.
pub(super) fn coordinates(view: &dyn View, object: &ObjectRef, raw: &AttributeResults) -> Option<Vec<i64>> {
    integers(view, object, find(raw, "_Netcdf4Coordinates")?)
}

/// The scale attached to each axis, the last one if there are several; none if the list does not have the rank.
///
/// # Errors
/// A need, or damage of the list.
pub(super) fn attached(
    view: &dyn View,
    object: &ObjectRef,
    raw: &AttributeResults,
    rank: usize,
) -> Step<Vec<Option<ObjectKey>>> {
    let Some(list) = find(raw, "DIMENSION_LIST").filter(|list| list.space.count() == rank as u64) else {
        return Ok(Vec::new());
    };
    let file = &object.file;
    let references = object_references(view, file, &list.datatype, &list.data, rank)?;
    let key = |addr: &crate::address::FileAddress| ObjectKey { file: file.object.clone(), addr: *addr };
    Ok(references.iter().map(|axis| axis.last().map(key)).collect())
}

/// Integers; `None` for an attribute of another kind. They are stored in the attribute itself, so reading them never
/// stalls.
fn integers(view: &dyn View, object: &ObjectRef, raw: &RawAttribute) -> Option<Vec<i64>> {
    if !matches!(raw.datatype.class, DatatypeClass::Integer(_)) || matches!(raw.space, Dataspace::Null) {
        return None;
    }
    let count = usize::try_from(raw.space.count()).ok()?;
    let numbers = values(view, &object.file, &raw.datatype, &raw.data, count, &HashMap::new()).ok()?;
    (0..numbers.len()).map(|at| numbers.integer(at).and_then(|id| i64::try_from(id).ok())).collect()
}
