//! How many sequential rounds of requests creating a dataset takes.
use crate::far::Far;
use ncirrus::store::{Store, Url};
use ncirrus::{
    Atomic, CreateOptions, Dataset, DimensionLen, Kind, ObjectId, Result, Selection, Session, Storage, Values,
};
use ncirrus_store::MemoryStore;
use std::sync::Arc;

/// A session in which addresses `far://` are in a remote store.
fn session(far: &Arc<Far>) -> Session {
    let store = Arc::clone(far) as Arc<dyn Store>;
    let connect = move |url: &Url| -> Result<(Arc<dyn Store>, ObjectId)> {
        Ok((Arc::clone(&store), ObjectId::new(store.id().clone(), url.path().trim_matches('/'))))
    };
    Session::builder().store("far", connect).build().unwrap()
}

/// A chunked variable in each of three nested groups; returns how many rounds it took to create them.
fn rounds(far: &Arc<Far>, session: &Session, (kind, consolidated): (Kind, bool)) -> usize {
    let before = far.rounds();
    let options = CreateOptions::new().kind(kind).consolidated(consolidated).overwrite(true);
    let dataset = Dataset::create_with("far://host/x.zarr", &options, session).unwrap();
    let defined = dataset.edit(|model| {
        let mut group = model.root();
        let x = model.add_dimension(group, "x", DimensionLen::Fixed(40))?;
        for name in ["a", "b", "c"] {
            group = model.add_group(group, name)?;
            let var = model.add_variable(group, "v", Atomic::Int.into(), &[x])?;
            model.variable_mut(var).unwrap().storage = Storage::Chunked(vec![4]);
        }
        Ok(())
    });
    defined.unwrap();
    for path in ["/a/v", "/a/b/v", "/a/b/c/v"] {
        let values = Values::Int((0..40).collect());
        dataset.variable(path).unwrap().write_values(&Selection::all(&[40]), &values).unwrap();
    }
    dataset.close().unwrap();
    far.rounds() - before
}

#[test]
fn a_new_tree_waits_for_few_answers_however_many_variables_and_groups_it_has() {
    // The probe of the location, the creation marker, a listing of what was made meanwhile, the chunks; then the documents that are not visible without the
    // root, those that make up the root, and the removal of the marker.
    let kinds = [((Kind::Zarr3, false), 7), ((Kind::Zarr2, true), 9), ((Kind::NcZarr, true), 9)];
    for (kind, max) in kinds {
        let far = Arc::new(Far::new(MemoryStore::new("far://host")));
        let session = session(&far);
        let new = rounds(&far, &session, kind);
        assert!(new <= max, "{kind:?}: {new} rounds");
        // The existing dataset stays until the new tree is complete: the marker is put, beside a listing; the old root
        // is removed, the new objects are copied, listed, and the documents of the root put; then their temporary
        // folder is removed.
        let over = rounds(&far, &session, kind);
        assert!(over <= max + 8, "{kind:?}: {over} rounds");
        let read =
            Dataset::open_with("far://host/x.zarr", &ncirrus::OpenOptions::default(), &session).unwrap();
        let values = read.variable("/a/b/c/v").unwrap().read::<i32>().unwrap();
        assert_eq!(values, (0..40).collect::<Vec<i32>>());
    }
}
