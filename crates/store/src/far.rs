//! A store in memory that behaves like object stores, for tests.
use crate::implement::{check_key, page};
use crate::store::{LocalStore, PutCondition, Store, StoreFacts};
use crate::{fault, key, want};
use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::BoxFuture;
use ncirrus_layout::{ListEntry, Listing, LockExt, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::Duration;

/// Objects by key; one key may be a prefix of others, as in a bucket.
#[derive(Debug, Clone)]
pub(crate) struct FarStore {
    id: StoreId,
    objects: Arc<Mutex<FarObjects>>,
}

#[derive(Debug, Default)]
struct FarObjects {
    bodies: BTreeMap<String, (Bytes, Tag)>,
    puts: u64,
}

impl FarStore {
    pub(crate) fn new(id: &str) -> Self {
        Self { id: StoreId::new(id), objects: Arc::default() }
    }

    pub(crate) fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), "")
    }

    fn find(&self, object: &ObjectId) -> Result<Option<(Bytes, Tag)>> {
        Ok(self.objects.guard().bodies.get(check_key(object)?).cloned())
    }

    fn replace(&self, object: &ObjectId, body: Bytes, when: &PutCondition) -> Result<Tag> {
        let before = self.find(object)?.map(|(_, tag)| tag);
        match (when, before) {
            (PutCondition::Absent, Some(_)) => return Err(fault::exists(object)),
            (PutCondition::Matches(tag), before) if before.as_ref() != Some(tag) => {
                return Err(fault::conflict("changed meanwhile", object));
            }
            _ => {}
        }
        let mut objects = self.objects.guard();
        objects.puts += 1;
        let tag = Tag::new(objects.puts.to_string());
        objects.bodies.insert(object.key().to_owned(), (body, tag.clone()));
        Ok(tag)
    }

    fn names(&self, prefix: &ObjectId, after: Option<&str>) -> Result<Listing> {
        let folder = key::folder(check_key(prefix)?);
        let mut names: BTreeMap<String, bool> = BTreeMap::new();
        for rest in self.objects.guard().bodies.keys().filter_map(|key| key.strip_prefix(&folder)) {
            let (name, is_prefix) = rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
            *names.entry(name.to_owned()).or_default() |= is_prefix;
        }
        Ok(page(names.into_iter().map(|(name, is_prefix)| ListEntry { name, is_prefix }), after))
    }
}

impl Store for FarStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_millis(30),
            concurrency: 64,
            merge_gap: 1 << 20,
            range_cap: 16 << 20,
            lists: true,
            writable: true,
            isolated: false,
        }
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        async move { Ok(self.find(object)?.map(|(body, tag)| want::blob(&body, want, tag))) }.boxed()
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        async move { self.replace(object, body, &when) }.boxed()
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        self.objects.guard().bodies.remove(object.key());
        async { Ok(()) }.boxed()
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        let folder = key::folder(prefix.key());
        let is_kept = |key: &str| key != prefix.key() && !key.starts_with(&folder);
        self.objects.guard().bodies.retain(|key, _| is_kept(key));
        async { Ok(()) }.boxed()
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        async move { self.names(prefix, page) }.boxed()
    }

    fn abilities(&self) -> Option<&dyn crate::StoreAbilities> {
        None
    }
}
