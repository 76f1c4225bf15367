//! Trees that are created in place on an object store.
use super::*;
use crate::StoreExt;
use crate::marker;

/// A bucket in memory, a place for a tree in it, and a runtime.
fn bucket() -> (Arc<dyn Store>, ObjectId, tokio::runtime::Runtime) {
    let store: Arc<dyn Store> = Arc::new(crate::far::FarStore::new("s3://bucket"));
    let root = ObjectId::new(store.id().clone(), "data/x.zarr");
    (store, root, tokio::runtime::Builder::new_current_thread().enable_time().build().unwrap())
}

async fn start(store: &Arc<dyn Store>, root: &ObjectId, clobber: OverwritePolicy) -> Result<StagedDataset> {
    let url = Url::parse("s3://bucket/data/x.zarr").unwrap();
    remote::start_tree(Arc::clone(store), root.clone(), &url, clobber).await
}

async fn send(staged: &StagedDataset, names: &[&str]) -> Result<()> {
    for name in names {
        staged.store.put(&staged.root.child(name), "1".into(), PutCondition::None).await?;
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
        let staged = start(&store, &root, OverwritePolicy::Never).await.unwrap();
        send(&staged, &["v/0", ".zgroup"]).await.unwrap();
        staged.commit().await.unwrap();
        assert_eq!(
            start(&store, &root, OverwritePolicy::Never).await.unwrap_err().message(),
            "exists already"
        );
        let replaced = start(&store, &root, OverwritePolicy::Replace).await.unwrap();
        send(&replaced, &["v/1"]).await.unwrap();
        replaced.abort().await.unwrap();
        assert_eq!(keys(&store, &root).await, [".zgroup", "v/0"]);
        for name in [".zgroup", "v/0"] {
            store.delete(&root.child(name)).await.unwrap();
        }
        store.put(&root.child("letter.txt"), "dear".into(), PutCondition::None).await.unwrap();
        let refused = start(&store, &root, OverwritePolicy::Replace).await.unwrap_err();
        assert!(refused.message().contains("no Zarr metadata"), "{refused}");
    });
}

/// The keys below the place, in order.
async fn keys(store: &Arc<dyn Store>, root: &ObjectId) -> Vec<String> {
    let mut found = creation_marker::sized_below(store.as_ref(), root).await.unwrap();
    found.sort_by(|one, other| one.object.key().cmp(other.object.key()));
    let name = |found: &creation_marker::ListedObject| found.object.key()[root.key().len() + 1..].to_owned();
    found.iter().map(name).collect()
}

#[test]
fn a_dataset_that_was_made_since_the_look_is_not_written_over() {
    for clobber in [OverwritePolicy::Never, OverwritePolicy::Replace] {
        let (store, root, runtime) = bucket();
        runtime.block_on(async {
            // It has looked, and has not taken the place yet.
            let late = start(&store, &root, clobber).await.unwrap();
            for name in [".zgroup", "v/0"] {
                store.put(&root.child(name), "first".into(), PutCondition::None).await.unwrap();
            }
            let refused = send(&late, &["v/0", "v/1"]).await.unwrap_err();
            assert_eq!((refused.kind(), refused.message()), (ErrorKind::Conflict, "exists already"));
            assert!(late.abort().await.is_err());
            assert_eq!(keys(&store, &root).await, [".zgroup", "v/0"]);
            let kept = store.get(&root.child("v/0"), &Want::All).await.unwrap().unwrap();
            assert_eq!(kept.bytes.as_ref(), b"first");
        });
    }
}

#[test]
fn what_is_replaced_in_an_object_store_stays_until_the_new_tree_is_whole() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let staged = start(&store, &root, OverwritePolicy::Never).await.unwrap();
        send(&staged, &["v/0", "w/0", ".zattrs", ".zgroup"]).await.unwrap();
        staged.commit().await.unwrap();
        start(&store, &root, OverwritePolicy::Replace).await.unwrap().abort().await.unwrap();
        assert_eq!(keys(&store, &root).await, [".zattrs", ".zgroup", "v/0", "w/0"]);
        let replaced = start(&store, &root, OverwritePolicy::Replace).await.unwrap();
        let none = replaced.store.get(&root.child("v/0"), &Want::All).await.unwrap();
        assert_eq!(none, None, "nothing of the old tree is part of the new one");
        for name in ["v/0", "v/1", ".zgroup"] {
            replaced.store.put(&root.child(name), "22".into(), PutCondition::None).await.unwrap();
        }
        let listed = replaced.store.list(&root, None).await.unwrap().entries;
        let names: Vec<&str> = listed.iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, [".zgroup", "v"], "the new tree alone");
        for name in [".zattrs", ".zgroup", "v/0", "w/0"] {
            let old = store.get(&root.child(name), &Want::All).await.unwrap().unwrap();
            assert_eq!(old.bytes, "1", "{name}");
        }
        replaced.commit().await.unwrap();
        assert_eq!(keys(&store, &root).await, [".zgroup", "v/0", "v/1"]);
        let new = store.get(&root.child("v/0"), &Want::All).await.unwrap().unwrap();
        assert_eq!(new.bytes, "22");
    });
}

/// A store that carries out this many changes, and then none.
#[derive(Debug)]
struct DyingStore(Arc<dyn Store>, std::sync::atomic::AtomicUsize);

impl DyingStore {
    fn change(&self, object: &ObjectId) -> Result<()> {
        use std::sync::atomic::Ordering::Relaxed;
        let left = self.1.fetch_update(Relaxed, Relaxed, |left| left.checked_sub(1));
        let dead = || Error::new(ErrorKind::Io { retryable: false }, "dead").at_object(object);
        left.map(|_| ()).map_err(|_| dead())
    }
}

impl Store for DyingStore {
    fn id(&self) -> &ncirrus_layout::StoreId {
        self.0.id()
    }

    fn facts(&self) -> crate::StoreFacts {
        self.0.facts()
    }

    fn local(&self) -> Option<&dyn crate::LocalStore> {
        None
    }

    fn get<'a>(
        &'a self,
        object: &'a ObjectId,
        want: &'a Want,
    ) -> BoxFuture<'a, Result<Option<ncirrus_layout::ObjectBytes>>> {
        self.0.get(object, want)
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: bytes::Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<ncirrus_layout::Tag>> {
        Box::pin(async move {
            self.change(object)?;
            self.0.put(object, body, when).await
        })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            self.change(object)?;
            self.0.delete(object).await
        })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move {
            for found in creation_marker::sized_below(self.0.as_ref(), prefix).await? {
                self.delete(&found.object).await?;
            }
            Ok(())
        })
    }

    fn list<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> BoxFuture<'a, Result<ncirrus_layout::Listing>> {
        self.0.list(prefix, page)
    }

    fn abilities(&self) -> Option<&dyn crate::StoreAbilities> {
        Some(self)
    }
}

impl crate::StoreAbilities for DyingStore {
    fn within(&self, _: &ObjectId) -> Option<(ObjectId, std::ops::Range<u64>)> {
        None
    }

    fn within_many<'a>(
        &'a self,
        _: &'a [ObjectId],
    ) -> Option<BoxFuture<'a, Result<Vec<Option<crate::ObjectRange>>>>> {
        None
    }

    fn upload<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a Path,
        _: PutCondition,
    ) -> Option<BoxFuture<'a, Result<ncirrus_layout::Tag>>> {
        None
    }

    fn multipart(&self, _: &ObjectId) -> Option<Arc<dyn crate::MultipartUpload>> {
        None
    }

    fn server(&self) -> Option<&str> {
        None
    }

    fn longest_key(&self) -> usize {
        usize::MAX
    }

    fn warnings(&self) -> Vec<String> {
        Vec::new()
    }

    fn holds<'a>(&'a self, _: &'a ObjectId) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }

    fn copy<'a>(&'a self, _: &'a ObjectId, _: &'a ObjectId) -> Option<BoxFuture<'a, Result<()>>> {
        None
    }

    fn delete_many<'a>(&'a self, _: &'a [ObjectId]) -> Option<BoxFuture<'a, Result<()>>> {
        None
    }

    fn objects<'a>(
        &'a self,
        prefix: &'a ObjectId,
        page: Option<&'a str>,
    ) -> Option<BoxFuture<'a, Result<crate::ObjectPage>>> {
        self.0.objects(prefix, page)
    }

    fn answer<'a>(
        &'a self,
        _: &'a ObjectId,
        _: &'a mut dyn crate::AnswerReceiver,
    ) -> Option<BoxFuture<'a, Result<bool>>> {
        None
    }
}

/// Puts a tree in the place of another one, while the store works.
async fn replace(store: &Arc<dyn Store>, root: &ObjectId) -> Result<()> {
    let staged = start(store, root, OverwritePolicy::Replace).await?;
    for name in ["v/0", "x/0", "x/.zarray", ".zattrs", ".zgroup", ".zmetadata"] {
        staged.store.put(&root.child(name), "new".into(), PutCondition::None).await?;
    }
    staged.commit().await
}

#[test]
fn a_replacement_that_is_killed_anywhere_leaves_the_old_tree_or_the_new_one_or_is_ended_later() {
    const OLD: [&str; 4] = [".zattrs", ".zgroup", "v/0", "w/0"];
    const NEW: [&str; 6] = [".zattrs", ".zgroup", ".zmetadata", "v/0", "x/.zarray", "x/0"];
    let (mut old, mut new, mut ended) = (0, 0, 0);
    for changes in 0.. {
        let (store, root, runtime) = bucket();
        let outcome = runtime.block_on(async {
            let staged = start(&store, &root, OverwritePolicy::Never).await.unwrap();
            send(&staged, &OLD).await.unwrap();
            staged.commit().await.unwrap();
            let dying: Arc<dyn Store> = Arc::new(DyingStore(Arc::clone(&store), changes.into()));
            let outcome = replace(&dying, &root).await;
            let has = |all: Vec<String>, name: &str| all.iter().any(|key| key == name);
            let at = format!("after {changes} changes: {:?}", keys(&store, &root).await);
            // Without a root it is not read; with one it is not a mix of the two.
            if has(keys(&store, &root).await, ".zgroup") {
                let mut values = Vec::new();
                for name in keys(&store, &root).await.iter().filter(|key| !key.starts_with(".ncirrus-")) {
                    let blob = store.get(&root.child(name), &Want::All).await.unwrap().unwrap();
                    values.push((name.clone(), blob.bytes == "new"));
                }
                let is_new = values.iter().all(|(_, is_new)| *is_new);
                assert!(is_new || values.iter().all(|(_, is_new)| !is_new), "{at}: {values:?}");
                // The commit object comes last.
                if is_new {
                    new += 1;
                } else {
                    assert!(OLD.iter().all(|name| values.iter().any(|(key, _)| key == name)), "{at}");
                    old += 1;
                }
            } else {
                ended += 1;
            }
            let before = keys(&store, &root).await;
            if store
                .get(&root.child(marker::CREATION), &Want::All)
                .await
                .unwrap()
                .is_some_and(|sign| owner::stage_of(&sign.bytes) != lease::LeaseStage::Making)
            {
                remote::end_switch(Arc::clone(&store), &root).await.unwrap();
                assert_eq!(keys(&store, &root).await, NEW, "{at}");
            }
            replace(&store, &root).await.unwrap_or_else(|error| panic!("{at}: {error:?}"));
            assert_eq!(keys(&store, &root).await, NEW, "{at}, {before:?}");
            outcome
        });
        if outcome.is_ok() {
            assert!((15..60).contains(&changes), "{changes} changes");
            break;
        }
    }
    assert!(old > 6 && new > 1 && ended > 3, "{old} old, {new} new, {ended} without a root");
}

#[test]
fn of_two_programs_that_make_a_tree_at_once_the_later_changes_nothing() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let both = || {
            futures_util::future::join(
                start(&store, &root, OverwritePolicy::Never),
                start(&store, &root, OverwritePolicy::Never),
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
fn a_tree_is_taken_over_only_when_its_writer_is_gone() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let first = start(&store, &root, OverwritePolicy::Never).await.unwrap();
        send(&first, &["v/0"]).await.unwrap();
        let refused = start(&store, &root, OverwritePolicy::Replace).await.unwrap_err();
        assert_eq!(refused.kind(), ErrorKind::Conflict);
        assert!(is_there(&store, &root, "v/0").await);
        drop(first);
        let second = start(&store, &root, OverwritePolicy::Replace).await.unwrap();
        send(&second, &["v/1", ".zgroup"]).await.unwrap();
        second.commit().await.unwrap();
        assert_eq!(keys(&store, &root).await, [".zgroup", "v/1"]);
    });
}

#[test]
fn of_a_writer_elsewhere_it_is_waited_for_whether_it_renews_its_sign() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let sign = root.child(marker::CREATION);
        let put = |text: &'static str| store.put(&sign, text.into(), PutCondition::None);
        put("7-00000000000000aa\n\n0\n").await.unwrap();
        let renewing = async {
            tokio::time::sleep(std::time::Duration::from_millis(70)).await;
            put("7-00000000000000aa\n\n1\n").await
        };
        let (refused, renewed) =
            futures_util::future::join(start(&store, &root, OverwritePolicy::Replace), renewing).await;
        renewed.unwrap();
        assert_eq!(refused.unwrap_err().kind(), ErrorKind::Conflict);
        let staged = start(&store, &root, OverwritePolicy::Replace).await.unwrap();
        send(&staged, &[".zgroup"]).await.unwrap();
        staged.commit().await.unwrap();
        assert_eq!(keys(&store, &root).await, [".zgroup"]);
    });
}

#[test]
fn a_tree_that_another_program_took_over_is_not_committed() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let first = start(&store, &root, OverwritePolicy::Never).await.unwrap();
        send(&first, &["v/0"]).await.unwrap();
        store.put(&root.child(marker::CREATION), "another".into(), PutCondition::None).await.unwrap();
        let error = first.check().await.unwrap_err();
        assert_eq!(error.message(), "another program has taken over this dataset in the meantime");
        assert!(send(&first, &["v/1"]).await.is_err(), "nothing is put any more");
        assert!(first.commit().await.is_err());
        assert_eq!(keys(&store, &root).await, [marker::CREATION, "v/0"], "the sign of the other stays");
    });
}

#[test]
fn a_renewal_whose_answer_was_lost_is_ones_own() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let staged = start(&store, &root, OverwritePolicy::Never).await.unwrap();
        send(&staged, &["v/0", ".zgroup"]).await.unwrap();
        let sign = root.child(marker::CREATION);
        let text = store.get(&sign, &Want::All).await.unwrap().unwrap().bytes;
        let renewed = [text.as_ref(), b"renewed\n"].concat();
        store.put(&sign, renewed.into(), PutCondition::None).await.unwrap();
        staged.commit().await.unwrap();
        assert_eq!(keys(&store, &root).await, [".zgroup", "v/0"]);
    });
}

#[test]
fn an_object_of_the_name_of_a_tree_goes_when_the_tree_is_there() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        store.put(&root, "CDF".into(), PutCondition::None).await.unwrap();
        assert_eq!(
            start(&store, &root, OverwritePolicy::Never).await.unwrap_err().message(),
            "exists already"
        );
        let staged = start(&store, &root, OverwritePolicy::Replace).await.unwrap();
        send(&staged, &["v/0", ".zgroup"]).await.unwrap();
        assert!(store.holds(&root).await.unwrap(), "it stays until then");
        staged.commit().await.unwrap();
        assert!(!store.holds(&root).await.unwrap());
        assert_eq!(keys(&store, &root).await, [".zgroup", "v/0"]);
    });
}

#[test]
fn what_others_put_beside_what_a_killed_program_left_is_not_removed() {
    let (store, root, runtime) = bucket();
    runtime.block_on(async {
        let killed = start(&store, &root, OverwritePolicy::Never).await.unwrap();
        send(&killed, &["v/0", "v/.zarray"]).await.unwrap();
        drop(killed);
        for theirs in ["other.zarr/.zmetadata", "letter.txt"] {
            let object = root.child(theirs);
            store.put(&object, "theirs".into(), PutCondition::None).await.unwrap();
            let refused = start(&store, &root, OverwritePolicy::Replace).await.unwrap_err();
            assert_eq!(refused.kind(), ErrorKind::Conflict);
            assert!(refused.message().contains("clean"), "{refused}");
            assert!(is_there(&store, &root, theirs).await && is_there(&store, &root, "v/0").await);
            store.delete(&object).await.unwrap();
        }
        let replaced = start(&store, &root, OverwritePolicy::Replace).await.unwrap();
        send(&replaced, &[".zgroup"]).await.unwrap();
        replaced.commit().await.unwrap();
        assert!(!is_there(&store, &root, "v/0").await);
    });
}
