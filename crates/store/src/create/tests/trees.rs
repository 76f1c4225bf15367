//! Trees that are made in place on an object store.
use super::*;
use crate::marker;

/// A bucket in memory, a place for a tree in it, and a runtime.
fn bucket() -> (Arc<dyn Store>, ObjectId, tokio::runtime::Runtime) {
    let objects = Arc::new(object_store::memory::InMemory::new());
    let store: Arc<dyn Store> = Arc::new(crate::CloudStore::new("s3://bucket", objects));
    let root = ObjectId::new(store.id().clone(), "data/x.zarr");
    (store, root, tokio::runtime::Builder::new_current_thread().build().unwrap())
}

async fn start(store: &Arc<dyn Store>, root: &ObjectId, clobber: Clobber) -> Result<Staged> {
    let url = Url::parse("s3://bucket/data/x.zarr").unwrap();
    remote::start_tree(Arc::clone(store), root.clone(), &url, clobber).await
}

async fn send(staged: &Staged, names: &[&str]) -> Result<()> {
    for name in names {
        staged.store.put(&staged.root.child(name), "1".into(), Precondition::None).await?;
    }
    Ok(())
}

async fn is_there(store: &Arc<dyn Store>, root: &ObjectId, name: &str) -> bool {
    store.get(&root.child(name), &Want::All).await.unwrap().is_some()
}

#[test]
fn trees_in_object_stores_are_replaced_only_if_they_are_datasets() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let staged = start(&store, &root, Clobber::Never).await.unwrap();
        send(&staged, &["v/0", ".zgroup"]).await.unwrap();
        staged.commit().await.unwrap();
        assert_eq!(start(&store, &root, Clobber::Never).await.unwrap_err().message(), "exists already");
        let replaced = start(&store, &root, Clobber::Replace).await.unwrap();
        send(&replaced, &["v/1"]).await.unwrap();
        assert!(!is_there(&store, &root, "v/0").await);
        replaced.abort().await.unwrap();
        assert!(!is_there(&store, &root, "v/1").await);
        store.put(&root.child("letter.txt"), "dear".into(), Precondition::None).await.unwrap();
        let refused = start(&store, &root, Clobber::Replace).await.unwrap_err();
        assert!(refused.message().contains("no zarr marker"), "{refused}");
    });
}

#[test]
fn what_is_replaced_in_an_object_store_stays_until_the_first_change() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let staged = start(&store, &root, Clobber::Never).await.unwrap();
        send(&staged, &["v/0", ".zgroup"]).await.unwrap();
        staged.commit().await.unwrap();
        start(&store, &root, Clobber::Replace).await.unwrap().abort().await.unwrap();
        assert!(is_there(&store, &root, "v/0").await && is_there(&store, &root, ".zgroup").await);
        assert!(!is_there(&store, &root, marker::BEGUN).await);
        let replaced = start(&store, &root, Clobber::Replace).await.unwrap();
        let none = replaced.store.get(&root.child("v/0"), &Want::All).await.unwrap();
        assert_eq!(none, None, "nothing of the old tree is part of the new one");
        assert!(!is_there(&store, &root, ".zgroup").await);
        send(&replaced, &["v/1", ".zgroup"]).await.unwrap();
        replaced.commit().await.unwrap();
        let listed = store.list(&root, None).await.unwrap().entries;
        let names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, [".zgroup", "v"]);
        assert!(!is_there(&store, &root, "v/0").await && is_there(&store, &root, "v/1").await);
    });
}

#[test]
fn of_two_programs_that_make_a_tree_at_once_the_later_changes_nothing() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let both = || {
            futures_util::future::join(
                start(&store, &root, Clobber::Never),
                start(&store, &root, Clobber::Never),
            )
        };
        let (first, second) = both().await;
        let mut outcomes = Vec::new();
        for staged in [first, second] {
            let outcome = async {
                let staged = staged?;
                send(&staged, &["v/0", ".zgroup"]).await?;
                staged.check().await?;
                staged.commit_checked().await
            };
            outcomes.push(outcome.await.map_err(|error| error.kind()));
        }
        outcomes.sort_by_key(std::result::Result::is_err);
        assert_eq!(outcomes, [Ok(()), Err(ErrorKind::Conflict)]);
    });
}

#[test]
fn a_tree_that_another_program_took_over_is_not_committed() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let first = start(&store, &root, Clobber::Never).await.unwrap();
        send(&first, &["v/0"]).await.unwrap();
        let second = start(&store, &root, Clobber::Replace).await.unwrap();
        send(&second, &["v/1"]).await.unwrap();
        let error = first.commit().await.unwrap_err();
        assert_eq!(error.message(), "was taken over by another program meanwhile");
        assert!(is_there(&store, &root, marker::BEGUN).await, "the sign of the other stays");
        second.commit().await.unwrap();
        assert!(!is_there(&store, &root, marker::BEGUN).await && !is_there(&store, &root, "v/0").await);
    });
}

#[test]
fn what_others_put_beside_what_a_killed_program_left_is_not_removed() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let killed = start(&store, &root, Clobber::Never).await.unwrap();
        send(&killed, &["v/0", "v/.zarray"]).await.unwrap();
        drop(killed);
        for theirs in ["other.zarr/.zmetadata", "letter.txt"] {
            let object = root.child(theirs);
            store.put(&object, "theirs".into(), Precondition::None).await.unwrap();
            let refused = start(&store, &root, Clobber::Replace).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Conflict);
            assert!(refused.message().contains("clean"), "{refused}");
            assert!(is_there(&store, &root, theirs).await && is_there(&store, &root, "v/0").await);
            store.delete(&object).await.unwrap();
        }
        let replaced = start(&store, &root, Clobber::Replace).await.unwrap();
        send(&replaced, &[".zgroup"]).await.unwrap();
        replaced.commit().await.unwrap();
        assert!(!is_there(&store, &root, "v/0").await);
    });
}
