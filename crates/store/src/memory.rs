//! Objects in memory.
use crate::store::{Blocking, Facts, LocalStore, Precondition, Store};
use crate::{fault, key, page, want};
use bytes::{Bytes, BytesMut};
use ncirrus_layout::{Blob, Entry, Error, Listing, ObjectId, Result, StoreId, Tag, Want};
use std::collections::BTreeMap;
use std::ops::Bound;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Objects in memory; clones share them.
///
/// ```
/// use ncirrus_store::{LocalStore, MemoryStore, Precondition};
/// let store = MemoryStore::new("memory://example");
/// let object = store.root().child("a/b");
/// store.put(&object, b"bytes", &Precondition::Absent)?;
/// assert_eq!(store.stat(&object)?.map(|(size, _)| size), Some(5));
/// # Ok::<(), ncirrus_layout::Error>(())
/// ```
#[derive(Clone)]
pub struct MemoryStore {
    id: StoreId,
    shared: Arc<Mutex<Objects>>,
}

#[derive(Default)]
struct Objects {
    by_key: BTreeMap<String, Object>,
    changes: u64,
}

#[derive(Clone)]
struct Object {
    bytes: Bytes,
    change: u64,
}

impl Object {
    fn tag(&self) -> Tag {
        Tag::new(format!("{}-{}", self.change, self.bytes.len()))
    }

    fn blob(&self, want: &Want) -> Blob {
        let range = want::resolve(want, self.bytes.len() as u64);
        let size = self.bytes.len() as u64;
        Blob { bytes: self.slice(range.start, range.end), offset: range.start, size, tag: self.tag() }
    }

    /// The bytes between two offsets; both are cut at the end.
    fn slice(&self, start: u64, end: u64) -> Bytes {
        let at =
            |offset: u64| usize::try_from(offset).map_or(self.bytes.len(), |at| at.min(self.bytes.len()));
        self.bytes.slice(at(start).min(at(end))..at(end))
    }
}

impl MemoryStore {
    /// An empty store of that address.
    pub fn new(address: &str) -> Self {
        Self { id: StoreId::new(address), shared: Arc::default() }
    }

    /// The root of the store: what [`ObjectId::child`] starts from.
    pub fn root(&self) -> ObjectId {
        ObjectId::new(self.id.clone(), "")
    }

    /// The same objects as a [`Store`].
    pub fn shared(&self) -> Arc<dyn Store> {
        Arc::new(Blocking(self.clone()))
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
        self.lock().by_key.keys().cloned().collect()
    }

    /// Replaces all objects by those of another store, at once.
    pub(crate) fn take_over(&self, other: &Self) {
        let theirs = std::mem::take(&mut other.lock().by_key);
        let mut objects = self.lock();
        let change = objects.next_change();
        objects.by_key = theirs;
        objects.by_key.values_mut().for_each(|object| object.change = change);
    }

    fn lock(&self) -> MutexGuard<'_, Objects> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Objects {
    fn next_change(&mut self) -> u64 {
        self.changes += 1;
        self.changes
    }

    /// An object has no children, and nothing above it is an object.
    fn check_room(&self, object: &ObjectId) -> Result<()> {
        let key = object.key();
        if key.is_empty() {
            return Err(fault::in_the_way("the root", object));
        }
        if let Some(above) = key::ancestors(key).find(|above| self.by_key.contains_key(*above)) {
            return Err(fault::in_the_way(&format!("object {above:?}"), object));
        }
        match self.below(key).next() {
            Some(_) => Err(fault::in_the_way("a prefix", object)),
            None => Ok(()),
        }
    }

    fn check(&self, object: &ObjectId, when: &Precondition) -> Result<()> {
        let present = self.by_key.get(object.key());
        match (when, present) {
            (Precondition::Absent, Some(_)) => Err(fault::conflict("exists already", object)),
            (Precondition::Matches(tag), present) if present.map(Object::tag).as_ref() != Some(tag) => {
                Err(fault::conflict("was changed by someone else", object))
            }
            _ => Ok(()),
        }
    }

    /// Keys strictly below a prefix, without the prefix.
    fn below<'a>(&'a self, prefix: &str) -> impl Iterator<Item = &'a str> + use<'a> {
        let folder = key::folder(prefix);
        let from = Bound::Included(folder.clone());
        self.by_key
            .range((from, Bound::Unbounded))
            .map_while(move |(key, _)| key.strip_prefix(folder.as_str()))
    }

    fn remove_tree(&mut self, prefix: &str) -> Vec<(String, Object)> {
        let keys: Vec<String> =
            self.below(prefix).map(|rest| format!("{}{rest}", key::folder(prefix))).collect();
        let own = (!prefix.is_empty()).then(|| prefix.to_owned());
        keys.into_iter().chain(own).filter_map(|key| self.by_key.remove_entry(&key)).collect()
    }

    /// Changes the bytes of an object in place where nobody else holds them.
    fn edit(&mut self, object: &ObjectId, change: impl FnOnce(&mut BytesMut)) -> Result<()> {
        self.check_room(object)?;
        let stamp = self.next_change();
        let entry = self.by_key.entry(object.key().to_owned());
        let entry = entry.or_insert_with(|| Object { bytes: Bytes::new(), change: stamp });
        let mut bytes = match std::mem::take(&mut entry.bytes).try_into_mut() {
            Ok(own) => own,
            Err(held) => BytesMut::from(held.as_ref()),
        };
        change(&mut bytes);
        entry.bytes = bytes.freeze();
        entry.change = stamp;
        Ok(())
    }
}

impl LocalStore for MemoryStore {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<Blob>> {
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

    fn put(&self, object: &ObjectId, body: &[u8], when: &Precondition) -> Result<Tag> {
        self.insert(object, Bytes::copy_from_slice(body), when)
    }

    fn put_bytes(&self, object: &ObjectId, body: Bytes, when: &Precondition) -> Result<Tag> {
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
        self.lock().remove_tree(key);
        Ok(())
    }

    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        let (old, new) = (key::check(from)?, key::check(to)?);
        let mut objects = self.lock();
        if objects.by_key.contains_key(new) {
            return Err(fault::conflict("exists already", to));
        }
        objects.check_room(to)?;
        for (key, object) in objects.remove_tree(old) {
            let rest = key.strip_prefix(old).unwrap_or_default();
            objects.by_key.insert(format!("{new}{rest}"), object);
        }
        Ok(())
    }

    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        let key = key::check(prefix)?;
        let objects = self.lock();
        let mut names: BTreeMap<&str, bool> = BTreeMap::new();
        for rest in objects.below(key) {
            let (name, below) = rest.split_once('/').map_or((rest, false), |(name, _)| (name, true));
            *names.entry(name).or_default() |= below;
        }
        let entries = names.into_iter().map(|(name, is_prefix)| Entry { name: name.to_owned(), is_prefix });
        Ok(page::cut(entries, page))
    }

    fn barrier(&self) -> Result<()> {
        Ok(())
    }

    fn facts(&self) -> Facts {
        Facts {
            latency: Duration::ZERO,
            concurrency: 1024,
            merge_gap: 0,
            range_cap: u64::MAX,
            lists: true,
            writable: true,
        }
    }
}

impl MemoryStore {
    fn insert(&self, object: &ObjectId, bytes: Bytes, when: &Precondition) -> Result<Tag> {
        key::check(object)?;
        let mut objects = self.lock();
        objects.check_room(object)?;
        objects.check(object, when)?;
        let new = Object { bytes, change: objects.next_change() };
        let tag = new.tag();
        objects.by_key.insert(object.key().to_owned(), new);
        Ok(tag)
    }
}

impl std::fmt::Debug for MemoryStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "MemoryStore({}, {} objects)", self.id.as_str(), self.len())
    }
}

/// An object that has more bytes than the caller is ready for.
pub(crate) fn too_large(object: &ObjectId, len: u64, limit: u64) -> Error {
    Error::limit(format!("object has {len} bytes, more than the limit of {limit}")).at_object(object)
}
