//! Following links: soft ones by path, external ones into other files of the same store.
use super::LinkTarget;
use crate::file::File;
use crate::object::ObjectRef;
use ncirrus_layout::{Error, ObjectId, Step, View};

/// The object that a link of `group` leads to; at most 16 links are passed through.
pub(crate) fn follow(_view: &dyn View, _group: &ObjectRef, _target: &LinkTarget) -> Step<ObjectRef> {
    Err(Error::unsupported("following links").into())
}

/// The object at a path, from the root when it begins with `/`, else from `start`.
pub(crate) fn lookup(_view: &dyn View, _start: &ObjectRef, _path: &str) -> Step<ObjectRef> {
    Err(Error::unsupported("following links").into())
}

/// The objects that a file name in `file` may mean, first choice first: the name relative to the folder of `file`, then
/// its last segment there. A name that leads out of the store is none.
pub(crate) fn external_candidates(_file: &File, _name: &str) -> Vec<ObjectId> {
    Vec::new()
}
