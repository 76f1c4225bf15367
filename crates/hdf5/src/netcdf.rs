//! Groups, dimensions, types, variables and attributes as defined by netCDF-4 (docs/spec/hdf5-netcdf4.md H).
mod assemble;
mod attribute;
mod catalog;
mod describe;
mod dimensions;
mod hidden;
mod members;
mod open;
mod types;
mod unshown;
mod variable;
mod walk;

#[cfg(test)]
mod tests;

pub(crate) use catalog::{default_of, fill_of};
pub(crate) use describe::{DatasetFacts, MemberFacts};
pub(crate) use members::members;
pub(crate) use open::{FileObjects, open};

use crate::address::FileAddress;
use crate::object::ObjectRef;
use ncirrus_layout::ObjectId;

/// Identifies the object, as a key of tables.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct ObjectKey {
    file: ObjectId,
    addr: FileAddress,
}

impl From<&ObjectRef> for ObjectKey {
    fn from(object: &ObjectRef) -> Self {
        Self { file: object.file.object.clone(), addr: object.addr }
    }
}
