//! Helpers shared by the tests of this crate: files in memory, and files of the corpus.
pub(crate) mod build;

use crate::file::Hdf5File;
use crate::object::ObjectRef;
use crate::superblock::load;
use bytes::Bytes;
use ncirrus_layout::{Error, Stall, Step};
use ncirrus_testkit::{MemoryView, ObjectView};
use std::path::Path;
use std::sync::Arc;

/// Key of the file in views of one file.
pub(crate) const KEY: &str = "folder/file.h5";

/// A view of one file.
pub(crate) fn view(bytes: impl Into<Bytes>) -> MemoryView {
    MemoryView::new(ObjectView::one(KEY, bytes))
}

/// The result of a step that lacks nothing.
pub(crate) fn done<T>(step: Step<T>) -> Result<T, Error> {
    step.map_err(|stall| match stall {
        Stall::Fail(error) => error,
        Stall::Need(needs) => Error::internal(format!("stalled with everything at hand: {needs:?}")),
    })
}

/// The root group of the file of a view.
pub(crate) fn root(view: &MemoryView) -> Result<ObjectRef, Error> {
    let file = done(load(view, &ObjectView::id(KEY)))?;
    Ok(ObjectRef { addr: file.root, file: Arc::clone(&file) })
}

/// The same object of that file.
pub(crate) fn object(file: &Arc<Hdf5File>, addr: u64) -> ObjectRef {
    ObjectRef { file: Arc::clone(file), addr: crate::address::FileAddress(addr) }
}

/// The HDF5 files of the corpus below a folder: their paths relative to it, and their bytes.
pub(crate) fn files(folder: &Path) -> Vec<(String, Bytes)> {
    let objects = ObjectView::from_dir(folder).expect("a readable folder");
    let keys = objects.keys().filter(|key| !key.starts_with("truth") && !key.ends_with(".json"));
    keys.filter_map(|key| Some((key.to_owned(), objects.find(key)?.clone()))).collect()
}
