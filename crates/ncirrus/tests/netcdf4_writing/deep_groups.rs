//! How deep groups may be nested in files that are read.
use super::Making;
use ncirrus_engine::{Dataset, Session};
use ncirrus_hdf5::{Hdf5Driver, Hdf5Writer};
use ncirrus_layout::{Driver, Limits, OpenOptions};
use ncirrus_store::BlockingStore;
use std::sync::Arc;

/// A file with a chain of `depth` groups below the root, each named `g`.
fn chain(depth: usize) -> Making {
    let making = Making::begin(Hdf5Writer::default());
    making.edit(|model| {
        let root = model.root();
        (0..depth).fold(root, |group, _| model.add_group(group, "g").unwrap())
    });
    making.sync();
    making
}

fn opened(making: &Making, limits: Limits) -> Dataset {
    let session = Session::builder().threads(2).durable(false).limits(limits).build().unwrap();
    let drivers: [Arc<dyn Driver>; 1] = [Arc::new(Hdf5Driver)];
    let (store, root) = (Arc::new(BlockingStore(making.store.clone())), making.store.root().child("data"));
    session.block_on(session.open(store, root, &drivers, &OpenOptions::default())).unwrap()
}

/// The number of groups below the root, and whether the deepest one has a fault.
fn depth_of(dataset: &Dataset) -> (usize, bool) {
    let model = dataset.model();
    let (mut group, mut depth) = (model.root(), 0);
    while let Some(below) = model.group(group).unwrap().groups.first() {
        (group, depth) = (*below, depth + 1);
    }
    (depth, model.group(group).unwrap().fault.is_some())
}

#[test]
fn groups_below_level_64_are_read_unless_the_limit_is_lowered() {
    let making = chain(200);
    assert_eq!(depth_of(&opened(&making, Limits::default())), (200, false));
    let limits = Limits { group_depth: 5, ..Limits::default() };
    // The root is the first level.
    assert_eq!(depth_of(&opened(&making, limits)), (4, true));
    // Types, indexes and references have a limit of their own.
    let limits = Limits { depth: 5, ..Limits::default() };
    assert_eq!(depth_of(&opened(&making, limits)), (200, false));
}
