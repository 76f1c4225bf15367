//! Recognising and opening a file.
use super::assemble::assemble;
use super::catalog::Hdf5Catalog;
use super::describe::{describe, together};
use super::walk::ObjectTree;
use crate::file::{find, load};
use ncirrus_layout::{Catalog, Confidence, Driver, ObjectId, OpenOptions, Step, View};
use std::sync::Arc;

/// Reads HDF5 files as netCDF-4.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Hdf5Driver;

impl Driver for Hdf5Driver {
    fn name(&self) -> &'static str {
        "hdf5"
    }

    fn probe(&self, view: &dyn View, root: &ObjectId) -> Step<Confidence> {
        Ok(find(view, root)?.map_or(Confidence::No, |_| Confidence::Yes))
    }

    fn open(&self, view: &dyn View, root: &ObjectId, _: &OpenOptions) -> Step<Arc<dyn Catalog>> {
        Ok(Arc::new(catalog(view, root)?))
    }
}

/// Everything that is known of a file.
pub(super) fn catalog(view: &dyn View, root: &ObjectId) -> Step<Hdf5Catalog> {
    let file = load(view, root)?;
    let mut tree = ObjectTree::new(&file);
    let walked = tree.walk(view);
    // What is known already is described while the next level is asked for.
    let described = describe(view, &tree);
    let ((), facts) = together(walked, described)?;
    assemble(view, &file, tree, &facts)
}
