//! Virtual datasets: which parts of which datasets make up a region (hdf5-netcdf4.md E.7).
use super::{Arrangement, Dataset};
use crate::object::ObjectRef;
use crate::word::Dataspace;
use ncirrus_layout::{Error, Layout, Step, View};

pub(super) fn extent(_: &dyn View, _: &ObjectRef, _: &Arrangement, space: Dataspace) -> Step<Dataspace> {
    Ok(space)
}

pub(super) fn layout(_: &dyn View, _: &ObjectRef, _: &Dataset) -> Step<Layout> {
    Err(Error::unsupported("virtual datasets").into())
}
