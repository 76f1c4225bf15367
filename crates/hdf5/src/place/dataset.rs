//! A dataset as its object header describes it, and its layout as the engine reads it.
use super::Dataset;
use crate::object::ObjectRef;
use ncirrus_layout::{Error, Layout, Step, View};
use std::sync::Arc;

/// The description of a dataset, read once.
pub(crate) fn dataset(_view: &dyn View, _object: &ObjectRef) -> Step<Arc<Dataset>> {
    Err(Error::unsupported("datasets").into())
}

/// How the elements of [`Dataset::shape`] can be had.
pub(crate) fn layout(_view: &dyn View, _object: &ObjectRef, _dataset: &Dataset) -> Step<Layout> {
    Err(Error::unsupported("layouts").into())
}
