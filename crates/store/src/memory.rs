//! Objects in memory.
use crate::store::{BlockingStore, LocalStore, PutCondition, Store, StoreFacts};
use crate::tree::KeyTree;
use crate::{fault, key, want};
use bytes::{Bytes, BytesMut};
use ncirrus_layout::LockExt;
use ncirrus_layout::{Error, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// Objects in memory; clones share them.
///
/// ```
/// use ncirrus_store::{LocalStore, MemoryStore, PutCondition};
/// let store = MemoryStore::new("memory://example");
/// let object = store.root().child("a/b");
/// store.put(&object, b"bytes", &PutCondition::Absent)?;
/// assert_eq!(store.stat(&object)?.map(|(size, _)| size), Some(5));
/// # Ok::<(), ncirrus_layout::Error>(())
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    id: StoreId,
    shared: Arc<Mutex<MemoryObjects>>,
}

struct MemoryObjects {
    by_key: KeyTree<MemoryObject>,
    /// Starts at random: two stores of one address never have the same tags.
    changes: u64,
}

#[derive(Clone)]
struct MemoryObject {
    bytes: Bytes,
    change: u64,
}

impl MemoryObject {
    fn tag(&self) -> Tag {
        Tag::new(format!("{:x}-{:x}", self.change, self.bytes.len()))
    }

    fn blob(&self, want: &Want) -> ObjectBytes {
        want::blob(&self.bytes, want, self.tag())
    }

    /// The bytes between two offsets; both are limited to the length.
    fn slice(&self, start: u64, end: u64) -> Bytes {
        let at =
            |offset: u64| usize::try_from(offset).map_or(self.bytes.len(), |at| at.min(self.bytes.len()));
        self.bytes.slice(at(start).min(at(end))..at(end))
    }
}

impl MemoryStore {
    /// An empty store of that address.
    pub fn new(address: &str) -> Self {
        Self {
            id: StoreId::new(address),
            shared: Arc::new(Mutex::new(MemoryObjects { by_key: KeyTree::default(), changes: random() })),
        }
    }

    /// The root of the store: what [`ObjectId::child`] starts from.
    pub fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), "")
    }

    /// The same objects as a [`Store`].
    pub fn shared(&self) -> Arc<dyn Store> {
        Arc::new(BlockingStore(self.clone()))
    }

    /// Number of objects.
    pub fn len(&self) -> usize {
        self.lock().by_key.len()
    }

    /// Whether there are no objects.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All keys, in byte order.
    pub fn keys(&self) -> Vec<String> {
        self.lock().by_key.iter().map(|(key, _)| key.to_owned()).collect()
    }

    /// Whether there is an object of that key, or anything below it.
    pub(crate) fn holds(&self, key: &str) -> bool {
        self.lock().by_key.holds(key)
    }

    /// Atomically replaces what is at a key and below it by what another store has there; `false` if something there
    /// must not be replaced.
    pub(crate) fn take_over(&self, other: &Self, key: &str, may_replace: bool) -> bool {
        let theirs = other.lock().by_key.remove_tree(key);
        let mut objects = self.lock();
        if objects.by_key.holds(key) && !may_replace {
            return false;
        }
        objects.by_key.remove_tree(key);
        let change = objects.next_change();
        for (key, object) in theirs {
            objects.by_key.insert(&key, MemoryObject { change, ..object });
        }
        true
    }

    fn lock(&self) -> MutexGuard<'_, MemoryObjects> {
        self.shared.guard()
    }
}

impl MemoryObjects {
    fn next_change(&mut self) -> u64 {
        self.changes = self.changes.wrapping_add(1);
        self.changes
    }

    fn check(&self, object: &ObjectId, when: &PutCondition) -> Result<()> {
        let present = self.by_key.get(object.key());
        match (when, present) {
            (PutCondition::Absent, Some(_)) => Err(fault::exists(object)),
            (PutCondition::Matches(tag), present) if present.map(MemoryObject::tag).as_ref() != Some(tag) => {
                Err(fault::conflict("was changed by someone else", object))
            }
            _ => Ok(()),
        }
    }

    /// Changes the bytes of an object in place if they have no other owner.
    fn edit(&mut self, object: &ObjectId, change: impl FnOnce(&mut BytesMut)) -> Result<()> {
        self.by_key.check_room(object)?;
        let stamp = self.next_change();
        let old = self.by_key.remove(object.key()).map(|old| old.bytes).unwrap_or_default();
        let mut bytes = old.try_into_mut().unwrap_or_else(|held| BytesMut::from(held.as_ref()));
        change(&mut bytes);
        self.by_key.insert(object.key(), MemoryObject { bytes: bytes.freeze(), change: stamp });
        Ok(())
    }
}

impl LocalStore for MemoryStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let key = key::check(object)?;
        let found = self.lock().by_key.get(key).cloned();
        Ok(found.map(|found| found.blob(want)))
    }

    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        let key = key::check(object)?;
        let found = self.lock().by_key.get(key).cloned();
        Ok(found.map(|found| {
            let bytes = found.slice(offset, offset.saturating_add(buffer.len() as u64));
            let len = bytes.len().min(buffer.len());
            buffer.split_at_mut(len).0.copy_from_slice(bytes.slice(..len).as_ref());
            len
        }))
    }

    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>> {
        let key = key::check(object)?;
        let Some(found) = self.lock().by_key.get(key).cloned() else { return Ok(None) };
        if found.bytes.len() as u64 > limit {
            return Err(too_large(object, found.bytes.len() as u64, limit));
        }
        buffer.extend_from_slice(&found.bytes);
        Ok(Some(found.bytes.len()))
    }

    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        let key = key::check(object)?;
        Ok(self.lock().by_key.get(key).map(|found| (found.bytes.len() as u64, found.tag())))
    }

    fn put(&self, object: &ObjectId, body: &[u8], when: &PutCondition) -> Result<Tag> {
        self.insert(object, Bytes::copy_from_slice(body), when)
    }

    fn put_bytes(&self, object: &ObjectId, body: Bytes, when: &PutCondition) -> Result<Tag> {
        self.insert(object, body, when)
    }

    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()> {
        key::check(object)?;
        let end =
            usize::try_from(offset).ok().and_then(|start| Some((start, start.checked_add(body.len())?)));
        let Some((start, end)) = end else {
            return Err(Error::limit("offset is too large").at_object(object));
        };
        self.lock().edit(object, |bytes| {
            if bytes.len() < end {
                bytes.resize(end, 0);
            }
            if let Some(part) = bytes.get_mut(start..end) {
                part.copy_from_slice(body);
            }
        })
    }

    fn resize(&self, object: &ObjectId, len: u64) -> Result<()> {
        key::check(object)?;
        let len = usize::try_from(len).map_err(|_| Error::limit("length is too large").at_object(object))?;
        self.lock().edit(object, |bytes| bytes.resize(len, 0))
    }

    fn delete(&self, object: &ObjectId) -> Result<()> {
        let key = key::check(object)?;
        self.lock().by_key.remove(key);
        Ok(())
    }

    fn delete_tree(&self, prefix: &ObjectId) -> Result<()> {
        let key = key::check(prefix)?;
        self.lock().by_key.remove_tree(key);
        Ok(())
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        let (old, new) = key::check_move(from, to)?;
        let mut objects = self.lock();
        if !objects.by_key.holds(old) {
            return Ok(());
        }
        if objects.by_key.get(new).is_some() {
            return Err(fault::exists(to));
        }
        objects.by_key.check_room(to)?;
        for (key, object) in objects.by_key.remove_tree(old) {
            let rest = key.strip_prefix(old).unwrap_or_default();
            objects.by_key.insert(&format!("{new}{rest}"), object);
        }
        Ok(())
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        let key = key::check(prefix)?;
        Ok(self.lock().by_key.list(key, page))
    }

    fn barrier(&self) -> Result<()> {
        Ok(())
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::ZERO,
            concurrency: 1024,
            merge_gap: 0,
            range_cap: u64::MAX,
            lists: true,
            writable: true,
            isolated: false,
        }
    }
}

impl MemoryStore {
    fn insert(&self, object: &ObjectId, bytes: Bytes, when: &PutCondition) -> Result<Tag> {
        key::check(object)?;
        let mut objects = self.lock();
        objects.by_key.check_room(object)?;
        objects.check(object, when)?;
        let new = MemoryObject { bytes, change: objects.next_change() };
        let tag = new.tag();
        objects.by_key.insert(object.key(), new);
        Ok(tag)
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryStore({}, {} objects)", self.id.as_str(), self.len())
    }
}

fn random() -> u64 {
    RandomState::new().build_hasher().finish()
}

/// The error for an object larger than the caller accepts.
pub(crate) fn too_large(object: &ObjectId, len: u64, limit: u64) -> Error {
    Error::limit(format!("object has {len} bytes, more than the limit of {limit}")).at_object(object)
}
