//! Decoding stored elements (docs/spec/hdf5-netcdf4.md D.2, D.4, F.2, F.3).
use super::{Datatype, DatatypeClass, NativeType};
use crate::address::FileAddress;
use crate::file::Hdf5File;
use ncirrus_layout::{Error, Resolver, Result, Step, View};
use ncirrus_model::Values;
use std::collections::HashMap;
use std::fmt;
use std::sync::Arc;

mod decode;
mod float;
mod heaped;
mod native;
mod number;
mod reference;
mod stored;

#[cfg(test)]
mod tests;

pub(crate) use native::native;
pub(crate) use stored::stored;

/// The values of `count` stored elements, in the type given by [`native`]; variable-length data are read from their
/// heaps, requested together. `paths` names the objects of the file, for references.
pub(crate) fn values(
    view: &dyn View,
    file: &Hdf5File,
    datatype: &Datatype,
    raw: &[u8],
    count: usize,
    paths: &HashMap<FileAddress, String>,
) -> Step<Values> {
    if let NativeType::None(reason) = native(datatype) {
        return Err(Error::unsupported(reason).into());
    }
    let raw = elements(datatype, raw, count)?;
    decode::ValueDecoder::new(view, file, paths).column(datatype, raw)
}

/// The object references in stored elements of a reference type, or of a vlen of one (one list per element). Null
/// references are left out.
pub(crate) fn object_references(
    view: &dyn View,
    file: &Hdf5File,
    datatype: &Datatype,
    raw: &[u8],
    count: usize,
) -> Step<Vec<Vec<FileAddress>>> {
    let raw = elements(datatype, raw, count)?;
    match &datatype.class {
        DatatypeClass::Vlen(base) => {
            let parts = heaped::sequences(view, file, datatype, base, raw)?;
            Ok(parts.iter().map(|part| reference::addresses(file, base, part)).collect::<Result<_>>()?)
        }
        _ => {
            let each = native::len_of(datatype)?;
            let one = |element: &[u8]| reference::addresses(file, datatype, element);
            Ok(raw.chunks_exact(each).map(one).collect::<Result<_>>()?)
        }
    }
}

/// The bytes of `count` elements.
fn elements<'a>(datatype: &Datatype, raw: &'a [u8], count: usize) -> Result<&'a [u8]> {
    let len = native::len_of(datatype)?.checked_mul(count);
    len.and_then(|len| raw.get(..len)).ok_or_else(|| {
        let (have, each) = (raw.len(), datatype.byte_len);
        Error::malformed(format!("{have} bytes where {count} elements of {each} bytes were expected"))
    })
}

/// Decodes elements that the engine cannot copy itself.
pub(crate) struct ValueResolver {
    pub(crate) file: Arc<Hdf5File>,
    pub(crate) datatype: Arc<Datatype>,
    pub(crate) paths: Arc<HashMap<FileAddress, String>>,
}

impl fmt::Debug for ValueResolver {
    /// Without the paths, whose order is arbitrary.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let object = &self.file.object;
        let mut shown = f.debug_struct("ValueResolver");
        shown.field("file", object).field("datatype", &self.datatype).finish_non_exhaustive()
    }
}

impl Resolver for ValueResolver {
    fn resolve(&self, view: &dyn View, raw: &[u8], count: usize) -> Step<Values> {
        values(view, &self.file, &self.datatype, raw, count, &self.paths)
    }
}
