//! Names of the objects that bytes are read from.
use std::fmt;
use std::sync::Arc;

/// A store: its address without secrets, and a hash of the credentials in use, so that caches never mix two users.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StoreId {
    address: Arc<str>,
    /// Distinguishes credentials; it is never shown.
    mark: Option<Arc<str>>,
}

/// An object in a store: a file, an S3 object, an entry of a zip, the answer to a query.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ObjectId {
    /// The store.
    pub store: StoreId,
    key: Arc<str>,
    query: Option<Arc<str>>,
}

/// Identifies an object's state (ETag, or time and size): equal tags mean equal bytes.
#[derive(Debug, Clone)]
pub struct Tag {
    text: Arc<str>,
    /// Seconds since 1970; no part of the identity.
    modified: Option<u64>,
}

impl StoreId {
    /// A store of that address.
    pub fn new(address: impl Into<Arc<str>>) -> Self {
        Self { address: address.into(), mark: None }
    }

    /// The same store with certain credentials, which the mark distinguishes from others.
    #[must_use]
    pub fn marked(self, mark: impl Into<Arc<str>>) -> Self {
        Self { mark: Some(mark.into()), ..self }
    }

    /// A store of another address with the same credentials.
    #[must_use]
    pub fn at(&self, address: impl Into<Arc<str>>) -> Self {
        Self { address: address.into(), mark: self.mark.clone() }
    }

    /// The address, as it is shown.
    pub fn as_str(&self) -> &str {
        &self.address
    }

    /// What distinguishes the credentials from others.
    pub fn mark(&self) -> Option<&str> {
        self.mark.as_deref()
    }
}

impl Tag {
    /// A tag as returned by the store.
    pub fn new(tag: impl Into<Arc<str>>) -> Self {
        Self { text: tag.into(), modified: None }
    }

    /// The same tag of an object that was modified at that time, in seconds since 1970.
    #[must_use]
    pub fn modified_at(self, seconds: impl Into<Option<u64>>) -> Self {
        Self { modified: seconds.into(), ..self }
    }

    /// The tag as text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// When the object was modified last, in seconds since 1970, if the store reports it.
    pub fn modified(&self) -> Option<u64> {
        self.modified
    }
}

impl PartialEq for Tag {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Tag {}

impl std::hash::Hash for Tag {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state);
    }
}

impl PartialOrd for Tag {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Tag {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

impl ObjectId {
    /// The object of that key; no leading or trailing slash, empty for the store's root.
    pub fn new(store: StoreId, key: impl Into<Arc<str>>) -> Self {
        Self { store, key: key.into(), query: None }
    }

    /// The name with what distinguishes the credentials: for files that remember objects, not for people.
    pub fn identity(&self) -> String {
        let shown = self.to_string();
        match (&self.store.mark, shown.split_once("://")) {
            (Some(mark), Some((scheme, place))) => format!("{scheme}://{mark}@{place}"),
            (Some(mark), None) => format!("{mark}@{shown}"),
            (None, _) => shown,
        }
    }

    /// Key within the store, without leading slash.
    pub fn key(&self) -> &str {
        &self.key
    }

    /// Query of a request, for servers that compute their answers.
    pub fn query(&self) -> Option<&str> {
        self.query.as_deref()
    }

    /// The same object with another query.
    #[must_use]
    pub fn with_query(&self, query: impl Into<Arc<str>>) -> Self {
        Self { query: Some(query.into()), ..self.clone() }
    }

    /// The object below this one: the keys joined by a slash.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        let key = match (self.key.as_ref(), name) {
            ("", _) => Arc::from(name),
            (_, "") => Arc::clone(&self.key),
            (parent, _) => Arc::from([parent, "/", name].concat()),
        };
        Self { store: self.store.clone(), key, query: None }
    }

    /// The object beside this one that has another last segment.
    #[must_use]
    pub fn with_name(&self, name: &str) -> Self {
        let key = match self.key.rsplit_once('/') {
            Some((parent, _)) => Arc::from(format!("{parent}/{name}")),
            None => Arc::from(name),
        };
        Self { store: self.store.clone(), key, query: None }
    }

    /// The last segment of the key.
    pub fn name(&self) -> &str {
        self.key.rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for ObjectId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let store = self.store.address.trim_end_matches('/');
        match (store, self.key.as_ref()) {
            // The root of the file system.
            ("", key) if !self.store.address.is_empty() => write!(f, "/{key}")?,
            (store, "") => f.write_str(store)?,
            ("", key) => f.write_str(key)?,
            (store, key) => write!(f, "{store}/{key}")?,
        }
        self.query.as_ref().map_or(Ok(()), |query| write!(f, "?{query}"))
    }
}
