//! Whole datasets through the engine: values are read, and datasets changed.
use crate::{LOOKED_AT, limits};
use ncirrus_classic::ClassicDriver;
use ncirrus_engine::{Dataset, DatasetWriter, Session, convert};
use ncirrus_hdf5::Hdf5Driver;
use ncirrus_layout::{Driver, ObjectId, OpenOptions, Result};
use ncirrus_model::{Attribute, Model, NodeId, Selection, VarId};
use ncirrus_store::{DirectoryStore, LocalStore, MemoryStore, PutCondition, Store};
use ncirrus_zarr::ZarrDriver;
use std::path::Path;
use std::sync::{Arc, LazyLock};

static SESSION: LazyLock<Session> = LazyLock::new(|| {
    let session = Session::builder().threads(1).memory(16 << 20).chunk_cache(0).limits(limits());
    session.build().expect("a session")
});

/// Whole files: all attributes, and as many values of every variable as can be read quickly.
pub fn hdf5_read(data: &[u8]) {
    _ = open_file(data, Arc::new(Hdf5Driver)).map(|dataset| read(&dataset));
}

/// As [`hdf5_read`], for netCDF-3.
pub fn classic_read(data: &[u8]) {
    _ = open_file(data, Arc::new(ClassicDriver)).map(|dataset| read(&dataset));
}

/// As [`hdf5_read`], for Zarr: objects as `key<TAB>content`, separated by [`BETWEEN`].
pub fn zarr_read(data: &[u8]) {
    let store = MemoryStore::new("memory://fuzz");
    let root = store.root().child("x.zarr");
    let mut rest = data;
    for _ in 0..64 {
        let end = rest.windows(BETWEEN.len()).position(|part| part == BETWEEN);
        let object = &rest[..end.unwrap_or(rest.len())];
        if let Some(tab) = object.iter().position(|byte| *byte == b'\t') {
            let key = root.child(&String::from_utf8_lossy(&object[..tab]));
            _ = LocalStore::put(&store, &key, &object[tab + 1..], &PutCondition::None);
        }
        let Some(end) = end else { break };
        rest = &rest[end + BETWEEN.len()..];
    }
    _ = open(store.shared(), root, Arc::new(ZarrDriver)).map(|dataset| read(&dataset));
}

/// The separator between the objects of [`zarr_read`].
pub const BETWEEN: &[u8] = b"\n~~\n";

/// Updates HDF5 and netCDF-3 files: each variable's first elements become zeros, one variable and one attribute are
/// added, one variable is renamed, and the file is opened again. The files are in a folder, since a damaged file may
/// have offsets far after its end: there these cost nothing.
pub fn update(data: &[u8]) {
    let driver: Arc<dyn Driver> =
        if data.starts_with(b"CDF") { Arc::new(ClassicDriver) } else { Arc::new(Hdf5Driver) };
    let folder = std::env::temp_dir().join(format!("ncirrus-fuzz-{}", std::process::id()));
    let store = DirectoryStore::new(&folder).durable(false);
    let root = store.root().child("x.nc");
    if LocalStore::put(&store, &root, data, &PutCondition::None).is_ok() {
        change_file(&store.shared(), &root, driver, &folder.join("x.nc"));
    }
    _ = std::fs::remove_dir_all(&folder);
}

/// Adding a variable with the same dimensions would fill this many elements at most.
const FILLED: u64 = 1 << 20;
/// A file that grew beyond this through a write at an offset far after its end is not rewritten: that would copy all of
/// it.
const COPIED: u64 = 1 << 26;

fn change_file(store: &Arc<dyn Store>, root: &ObjectId, driver: Arc<dyn Driver>, path: &Path) {
    let Ok(dataset) = open(Arc::clone(store), root.clone(), Arc::clone(&driver)) else { return };
    let model = dataset.model();
    let count = |var: &VarId| model.shape(*var).iter().try_fold(1u64, |count, len| count.checked_mul(*len));
    if model.variables().iter().any(|var| count(var).is_none_or(|count| count > FILLED)) {
        return;
    }
    let Ok(writer) = SESSION.block_on(SESSION.update(&dataset)) else { return };
    for var in model.variables() {
        _ = overwrite(&writer, &model, var);
    }
    let is_put = SESSION.block_on(writer.sync()).is_ok();
    if !is_put || path.metadata().is_ok_and(|file| file.len() > COPIED) {
        return;
    }
    _ = SESSION.block_on(writer.edit(|model| {
        change(model);
        Ok(())
    }));
    if SESSION.block_on(writer.close()).is_ok() {
        _ = open(Arc::clone(store), root.clone(), driver).map(|dataset| read(&dataset));
    }
}

fn overwrite(writer: &DatasetWriter, model: &Model, var: VarId) -> Result<()> {
    let selection = beginning(&model.shape(var));
    let count = selection.element_count().and_then(|count| usize::try_from(count).ok()).unwrap_or(0);
    let Some(variable) = model.variable(var) else { return Ok(()) };
    let values = convert::zeros(model, variable.ty, count)?;
    SESSION.block_on(writer.write(var, &selection, &values))
}

fn change(model: &mut Model) {
    let root = model.root();
    if let Some(attributes) = model.attributes_mut(NodeId::Group(root)) {
        _ = attributes.known_mut().set(Attribute::text("new", "text"));
    }
    let variables = model.variables();
    if let Some(first) = variables.first().and_then(|var| model.variable(*var)) {
        let (ty, dims) = (first.ty, first.dims.clone());
        _ = model.add_variable(root, "new", ty, &dims);
    }
    if let [_, .., last] = variables.as_slice() {
        _ = model.rename_variable(*last, "renamed");
    }
}

fn open_file(data: &[u8], driver: Arc<dyn Driver>) -> Result<Dataset> {
    let store = MemoryStore::new("memory://fuzz");
    let root = store.root().child("x.nc");
    LocalStore::put(&store, &root, data, &PutCondition::None)?;
    open(store.shared(), root, driver)
}

fn open(store: Arc<dyn Store>, root: ObjectId, driver: Arc<dyn Driver>) -> Result<Dataset> {
    SESSION.block_on(SESSION.open(store, root, &[driver], &OpenOptions::default()))
}

fn read(dataset: &Dataset) {
    let model = dataset.model();
    _ = SESSION.block_on(dataset.attributes(&model.nodes()));
    for var in model.variables() {
        let shape = model.shape(var);
        _ = SESSION.block_on(dataset.read(var, &beginning(&shape)));
        let last: Vec<u64> = shape.iter().map(|len| len.saturating_sub(1)).collect();
        if shape.iter().all(|len| *len > 0) {
            _ = SESSION.block_on(dataset.read(var, &Selection::slab(&last, &vec![1; shape.len()])));
        }
    }
}

/// The first elements of an array, about as many as are read.
fn beginning(shape: &[u64]) -> Selection {
    let mut left = LOOKED_AT;
    let mut count: Vec<u64> = Vec::new();
    for len in shape.iter().rev() {
        count.push((*len).min(left));
        left = (left / (*len).max(1)).max(1);
    }
    count.reverse();
    Selection::slab(&vec![0; shape.len()], &count)
}
