//! The laws of placers and of chunk indexes: every way in which data are stored, in files for old readers and new ones.
use ncirrus_hdf5::{FileStructures, Hdf5Driver, Hdf5Writer};
use ncirrus_model::{Atomic, CodecSpec, DimensionLen, Model, Storage, VarId};
use ncirrus_testkit::law;

/// A variable that is stored so.
fn variable(model: &mut Model, name: &str, dims: &[&str], storage: Storage, filters: &[CodecSpec]) -> VarId {
    let root = model.root();
    let dims: Vec<_> = dims.iter().map(|name| model.dimension_at(name).unwrap()).collect();
    let id = model.add_variable(root, name, Atomic::Int.into(), &dims).unwrap();
    let variable = model.variable_mut(id).unwrap();
    variable.storage = storage;
    variable.filters = filters.to_vec();
    id
}

/// One variable for each layout and each index of chunks.
fn model(unlimited: u64) -> Model {
    let mut model = Model::new();
    let root = model.root();
    for (name, len) in [("x", 5), ("y", 7)] {
        model.add_dimension(root, name, DimensionLen::Fixed(len)).unwrap();
    }
    for name in ["time", "run"] {
        model.add_dimension(root, name, DimensionLen::Unlimited(unlimited)).unwrap();
    }
    let chunked = |shape: &[u64]| Storage::Chunked(shape.to_vec());
    let deflate = [CodecSpec::hdf5(1, &[4])];
    for (suffix, filters) in [("", &[][..]), (" deflated", &deflate[..])] {
        let mut add = |name: &str, dims: &[&str], storage| {
            variable(&mut model, &format!("{name}{suffix}"), dims, storage, filters);
        };
        add("single chunk", &["x", "y"], chunked(&[5, 7]));
        add("fixed array", &["x", "y"], chunked(&[2, 2]));
        add("extensible array", &["time", "y"], chunked(&[2, 3]));
        add("tree", &["time", "run"], chunked(&[2, 2]));
    }
    variable(&mut model, "in one run", &["x", "y"], Storage::Contiguous, &[]);
    variable(&mut model, "in the header", &["x"], Storage::Compact, &[]);
    variable(&mut model, "scalar", &[], Storage::Contiguous, &[]);
    model
}

#[test]
fn placers_keep_the_law() {
    for structures in [FileStructures::V18, FileStructures::V110] {
        for unlimited in [1, 9] {
            let writer = Hdf5Writer { structures, ..Hdf5Writer::default() };
            law::placer(&Hdf5Driver, &writer, "data", &model(unlimited));
        }
    }
}
