//! The narrow contract of every store.
mod abilities;
mod ext;
mod multipart;
mod read_only;

pub use abilities::{AnswerPart, AnswerReceiver, ObjectRange, StoreAbilities};
pub use ext::{StoreExt, copy_by_hand};
pub use multipart::MultipartUpload;
pub use read_only::ReadOnlyStore;

use bytes::Bytes;
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, Listing, ObjectBytes, ObjectId, Result, StoreId, Tag, Want};
use std::fmt::Debug;
use std::time::Duration;

/// Objects by key. Keys have no leading slash; what is absent is `None`, never an error.
pub trait Store: Debug + Send + Sync {
    /// The store's identity: part of every [`ObjectId`] in it.
    fn id(&self) -> &StoreId;

    /// What the engine needs to know for planning.
    fn facts(&self) -> StoreFacts;

    /// The same store for callers that may block; `None` if answers come over a network.
    fn local(&self) -> Option<&dyn LocalStore>;

    /// Bytes of an object; `None` if there is no such object. Ranges are limited to the end of the object.
    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>>;

    /// Replaces a whole object atomically: readers see the old bytes or the new ones. `Unsupported` in a read-only
    /// store, as for removals.
    fn put<'a>(&'a self, object: &'a ObjectId, body: Bytes, when: PutCondition)
    -> BoxFuture<'a, Result<Tag>>;

    /// Removes an object; absent is fine.
    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>>;

    /// Removes everything below (and at) a prefix; absent is fine.
    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>>;

    /// One page of the names directly below a prefix; `Unsupported` where the [`facts`](Self::facts) say that there are no
    /// listings.
    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>>;

    /// Optional operations; `None` for a store that has only these. There is no default: a store that wraps another
    /// one must decide which of its abilities remain.
    fn abilities(&self) -> Option<&dyn StoreAbilities>;
}

/// One page of objects, in the order of their keys.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ObjectPage {
    /// Objects and their sizes in bytes.
    pub objects: Vec<(ObjectId, u64)>,
    /// Keys that no [`ObjectId`] can name (`a//b`, `a/../b`), and the sizes of their objects: these are neither read
    /// nor written, and removed with the prefix that contains them.
    pub unnamed: Vec<(String, u64)>,
    /// The token of the next page; `None` for the last page.
    pub next: Option<String>,
}

/// A store that may be called from any thread without a runtime.
pub trait LocalStore: Debug + Send + Sync {
    /// The store's identity.
    fn id(&self) -> &StoreId;

    /// Bytes of an object; `None` when there is no such object.
    ///
    /// # Errors
    /// `Denied`, `Io`, or `Invalid` for a key that would leave the store.
    fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>>;

    /// Fills `buffer` from `offset` on and returns the number of bytes read; `None` if there is no such object.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn read_into(&self, object: &ObjectId, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>>;

    /// Opens an object for several reads; whether it exists becomes known when it is read.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn opened<'a>(&'a self, object: &'a ObjectId) -> Result<Box<dyn ReadAt + 'a>> {
        Ok(Box::new(UnopenedObject { store: self, object }))
    }

    /// Appends the whole object to `buffer`, which may keep its capacity between calls; `None` when there is no such
    /// object. No `stat` before `open`.
    ///
    /// # Errors
    /// As [`read`](Self::read); `Limit` if the object has more than `limit` bytes.
    fn read_whole(&self, object: &ObjectId, limit: u64, buffer: &mut Vec<u8>) -> Result<Option<usize>>;

    /// Size and tag of an object; `None` if there is no such object.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn stat(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>>;

    /// Whether bytes that were written can be written again. Those of an upload are sent meanwhile.
    fn rewrites(&self) -> bool {
        true
    }

    /// As [`stat`](Self::stat), of what has the object's name now: a store may hold open what had it before.
    ///
    /// # Errors
    /// As [`read`](Self::read).
    fn stat_by_name(&self, object: &ObjectId) -> Result<Option<(u64, Tag)>> {
        self.stat(object)
    }

    /// Replaces a whole object atomically, creating its parents.
    ///
    /// # Errors
    /// `Denied`, `Io`, `Conflict` if the precondition fails or an object is where a prefix is needed.
    fn put(&self, object: &ObjectId, body: &[u8], when: &PutCondition) -> Result<Tag>;

    /// As [`put`](Self::put), for a store that can keep the bytes without copying them.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn put_bytes(&self, object: &ObjectId, body: Bytes, when: &PutCondition) -> Result<Tag> {
        self.put(object, &body, when)
    }

    /// As [`put`](Self::put), without the tag: a store may need a call of the system for it.
    ///
    /// # Errors
    /// As [`put`](Self::put).
    fn put_untagged(&self, object: &ObjectId, body: PutBody<'_>, when: &PutCondition) -> Result<()> {
        let put = match body {
            PutBody::Lent(bytes) => self.put(object, bytes, when),
            PutBody::Shared(bytes) => self.put_bytes(object, bytes, when),
        };
        put.map(|_| ())
    }

    /// Writes bytes at an offset, extending the object with zeros as needed; creates it when absent.
    ///
    /// # Errors
    /// As [`put`](Self::put); `Unsupported` when objects can only be replaced whole.
    fn write_at(&self, object: &ObjectId, offset: u64, body: &[u8]) -> Result<()>;

    /// Truncates an object, or extends it with zeros.
    ///
    /// # Errors
    /// As [`write_at`](Self::write_at).
    fn resize(&self, object: &ObjectId, len: u64) -> Result<()>;

    /// Removes an object; absent is fine. Prefixes that become empty may go too.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    fn delete(&self, object: &ObjectId) -> Result<()>;

    /// Removes everything below (and at) a prefix; absent is fine.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    fn delete_tree(&self, prefix: &ObjectId) -> Result<()>;

    /// Moves everything below (and at) a prefix; if there is nothing, nothing happens.
    ///
    /// # Errors
    /// `Conflict` if something is at the new location.
    fn rename(&self, from: &ObjectId, to: &ObjectId) -> Result<()>;

    /// The name of a copy of an object that is rewritten, and then replaces it.
    fn name_for_copy(&self, object: &ObjectId) -> ObjectId {
        ObjectId::new(object.store.clone(), format!("{}.rewritten", object.key()))
    }

    /// Moves an object over another one, which is replaced atomically; used for files that were rewritten beside
    /// themselves.
    ///
    /// # Errors
    /// As [`put`](Self::put); `NotFound` when there is nothing to move.
    fn replace(&self, from: &ObjectId, to: &ObjectId) -> Result<()> {
        let mut body = Vec::new();
        if self.read_whole(from, u64::MAX, &mut body)?.is_none() {
            return Err(Error::not_found("no such object").at_object(from));
        }
        self.put_bytes(to, Bytes::from(body), &PutCondition::None)?;
        self.delete(from)
    }

    /// One page of the names directly below a prefix, in byte order.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    fn list(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing>;

    /// Identifies a prefix, whatever its path: two with one identity hold the same. `None` if each has only one name.
    fn mark_of(&self, prefix: &ObjectId) -> Option<(u64, u64)> {
        let _ = prefix;
        None
    }

    /// How other programs that change the same object are kept from losing its changes, or losing theirs.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    fn exclusion(&self, object: &ObjectId) -> Result<Exclusion> {
        let _ = object;
        Ok(Exclusion::Alone)
    }

    /// Makes durable what was put before.
    ///
    /// # Errors
    /// `Io`.
    fn barrier(&self) -> Result<()>;

    /// What the engine needs to know for planning.
    fn facts(&self) -> StoreFacts;
}

/// How a local store keeps other programs apart that change the same objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exclusion {
    /// No other program can change them: they are in memory, or in a file that is locked.
    Alone,
    /// Conditional puts hold between programs.
    Conditions,
    /// Conditional puts hold within this program only: the file system has no locks.
    Nothing,
}

/// An object that was opened for several reads.
pub trait ReadAt {
    /// Fills `buffer` from `offset` on and returns the number of bytes read; `None` if there is no such object.
    ///
    /// # Errors
    /// As [`LocalStore::read`].
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>>;

    /// Number of bytes of the object; `None` if there is no such object.
    ///
    /// # Errors
    /// As [`LocalStore::stat`].
    fn size(&self) -> Result<Option<u64>>;
}

/// An object of a store in which opening has no benefit.
struct UnopenedObject<'a, S: ?Sized> {
    store: &'a S,
    object: &'a ObjectId,
}

impl<S: LocalStore + ?Sized> ReadAt for UnopenedObject<'_, S> {
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> Result<Option<usize>> {
        self.store.read_into(self.object, offset, buffer)
    }

    fn size(&self) -> Result<Option<u64>> {
        Ok(self.store.stat(self.object)?.map(|(size, _)| size))
    }
}

/// What the engine needs to know about a store for planning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct StoreFacts {
    /// Usual time to the first byte of an answer.
    pub latency: Duration,
    /// Useful number of concurrent requests.
    pub concurrency: usize,
    /// Ranges closer than this many bytes are cheaper to read as one.
    pub merge_gap: u64,
    /// Maximum length of a requested range.
    pub range_cap: u64,
    /// Whether names can be listed.
    pub lists: bool,
    /// Whether objects can be put.
    pub writable: bool,
    /// Whether no other program changes what this program sees, and what it puts becomes visible to others only when the program says so:
    /// a transaction. Other programs need not be kept apart then.
    pub isolated: bool,
}

/// The bytes of a put.
#[derive(Debug, Clone)]
pub enum PutBody<'a> {
    /// Of the caller.
    Lent(&'a [u8]),
    /// That a store can keep without copying them.
    Shared(Bytes),
}

impl PutBody<'_> {
    /// The bytes.
    pub fn as_slice(&self) -> &[u8] {
        match self {
            Self::Lent(bytes) => bytes,
            Self::Shared(bytes) => bytes,
        }
    }
}

/// The precondition of a put.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub enum PutCondition {
    /// Always.
    #[default]
    None,
    /// Only if there is no such object.
    Absent,
    /// Only if the object has this tag.
    Matches(Tag),
}

/// Makes a [`Store`] of a [`LocalStore`]: every answer is ready at once.
#[derive(Debug)]
pub struct BlockingStore<S>(pub S);

impl<S: LocalStore> Store for BlockingStore<S> {
    fn id(&self) -> &StoreId {
        self.0.id()
    }

    fn facts(&self) -> StoreFacts {
        self.0.facts()
    }

    fn local(&self) -> Option<&dyn LocalStore> {
        Some(&self.0)
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(async move { self.0.read(object, want) })
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(async move { self.0.put_bytes(object, body, &when) })
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.delete(object) })
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(async move { self.0.delete_tree(prefix) })
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(async move { self.0.list(prefix, page) })
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        None
    }
}
