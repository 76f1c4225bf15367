//! What stored elements mean (hdf5-netcdf4.md D.2, D.4, F.2, F.3).
use super::{Datatype, Native};
use crate::file::{Addr, File};
use ncirrus_layout::{Error, Resolver, Step, StoredType, View};
use ncirrus_model::Values;
use std::collections::HashMap;
use std::sync::Arc;

/// What values of a datatype are in the data model.
pub(crate) fn native(_datatype: &Datatype) -> Native {
    Native::None("datatypes are not read yet".to_owned())
}

/// The form that the engine copies without our help; `None` when [`values`] must decode the elements.
pub(crate) fn stored(_datatype: &Datatype) -> Option<StoredType> {
    None
}

/// The values of `count` stored elements, as [`native`] says; variable-length data are read from the heaps that they
/// lie in, all that lack together. `paths` names the objects of the file, for references.
pub(crate) fn values(
    _view: &dyn View,
    _file: &File,
    _datatype: &Datatype,
    _raw: &[u8],
    _count: usize,
    _paths: &HashMap<Addr, String>,
) -> Step<Values> {
    Err(Error::unsupported("values").into())
}

/// The object references in stored elements of a reference type, or of a vlen of one (one list per element). Null
/// references are left out.
pub(crate) fn object_references(
    _view: &dyn View,
    _file: &File,
    _datatype: &Datatype,
    _raw: &[u8],
    _count: usize,
) -> Step<Vec<Vec<Addr>>> {
    Err(Error::unsupported("references").into())
}

/// Decodes elements that the engine cannot copy by itself.
#[derive(Debug)]
pub(crate) struct ValueResolver {
    pub(crate) file: Arc<File>,
    pub(crate) datatype: Arc<Datatype>,
    pub(crate) paths: Arc<HashMap<Addr, String>>,
}

impl Resolver for ValueResolver {
    fn resolve(&self, view: &dyn View, raw: &[u8], count: usize) -> Step<Values> {
        values(view, &self.file, &self.datatype, raw, count, &self.paths)
    }
}
