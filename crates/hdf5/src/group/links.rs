//! Reading the links of a group: symbol tables, link messages, dense storage.
use super::Links;
use crate::object::ObjectRef;
use ncirrus_layout::{Error, Step, View};
use std::sync::Arc;

/// The links of a group, read once.
pub(crate) fn links(_view: &dyn View, _group: &ObjectRef) -> Step<Arc<Links>> {
    Err(Error::unsupported("links").into())
}
