//! Stores that are read through Python: what `ncirrus.stores` calls a `Bridge`, as a store of the library.
use ncirrus::store::implement::{
    self, BoxFuture, Bytes, ListEntry, Listing, ObjectBytes, StoreId, Tag, Want,
};
use ncirrus::store::{PutCondition, Store, StoreAbilities, StoreFacts, Url};
use ncirrus::{Error, ErrorKind, ObjectId, Result};
use pyo3::exceptions::{PyFileExistsError, PyFileNotFoundError, PyNotImplementedError, PyPermissionError};
use pyo3::prelude::*;
use pyo3::pybacked::PyBackedBytes;
use pyo3::types::PyBytes;
use std::collections::BTreeMap;
use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// Bytes of an answer, the offset of the first, the size of the object, and its tag.
type Answer = (PyBackedBytes, u64, u64, String);

/// A factory for `SessionBuilder::store`: `connect` is called with an address and gives a bridge, and the key of the
/// dataset in it.
pub(crate) fn factory(
    scheme: &str,
    connect: Py<PyAny>,
) -> impl Fn(&Url) -> Result<(Arc<dyn Store>, ObjectId)> + Send + Sync + 'static {
    let scheme = scheme.to_owned();
    move |url: &Url| {
        let text = url.to_string();
        let described = |error: PyErr| Python::attach(|py| said(py, &error).at_object(&text));
        let (bridge, key) =
            Python::attach(|py| connect.call1(py, (text.as_str(),))?.extract::<(Py<PyAny>, String)>(py))
                .map_err(described)?;
        let store = Bridge::of(bridge, &format!("{scheme}://{}", url.host())).map_err(described)?;
        let root = ObjectId::new(store.id.clone(), key.as_str());
        Ok((Arc::new(store) as Arc<dyn Store>, root))
    }
}

/// A store whose methods are Python's.
struct Bridge {
    id: StoreId,
    python: Arc<Py<PyAny>>,
    lists: bool,
    writes: bool,
    isolated: bool,
}

impl Bridge {
    fn of(python: Py<PyAny>, name: &str) -> PyResult<Self> {
        let (lists, writes, isolated) = Python::attach(|py| {
            let is_so = |name: &str| python.bind(py).getattr(name)?.is_truthy();
            PyResult::Ok((is_so("lists")?, is_so("writes")?, is_so("isolated")?))
        })?;
        Ok(Self { id: StoreId::new(name), python: Arc::new(python), lists, writes, isolated })
    }

    /// Calls Python on a thread that may block.
    async fn call<T: Send + 'static>(
        &self,
        object: &ObjectId,
        ask: impl FnOnce(&Bound<'_, PyAny>) -> PyResult<T> + Send + 'static,
    ) -> Result<T> {
        let python = Arc::clone(&self.python);
        let requested = tokio::task::spawn_blocking(move || {
            Python::attach(|py| ask(python.bind(py)).map_err(|error| said(py, &error)))
        });
        let answer = requested.await.map_err(|error| Error::internal(error.to_string()).at_object(object))?;
        answer.map_err(|error| error.at_object(object))
    }

    async fn read(&self, object: &ObjectId, want: &Want) -> Result<Option<ObjectBytes>> {
        let key = implement::check_key(object)?.to_owned();
        let (start, stop) = bounds(want);
        let answer = self
            .call(object, move |bridge| {
                let found = bridge.call_method1("get", (key, start, stop));
                match found {
                    Err(error) if error.is_instance_of::<PyFileNotFoundError>(bridge.py()) => Ok(None),
                    found => found?.extract::<Option<Answer>>(),
                }
            })
            .await?;
        answer.map(|answer| checked(answer, want)).transpose().map_err(|error| error.at_object(object))
    }

    async fn replace(&self, object: &ObjectId, body: Bytes, when: PutCondition) -> Result<Tag> {
        self.check_writable(object)?;
        let key = implement::check_key(object)?.to_owned();
        let (tag, absent) = match when {
            PutCondition::None => (None, false),
            PutCondition::Absent => (None, true),
            PutCondition::Matches(tag) => (Some(tag.as_str().to_owned()), false),
        };
        let put = self.call(object, move |bridge| {
            let body = PyBytes::new(bridge.py(), &body);
            bridge.call_method1("put", (key, body, tag, absent))?.extract::<String>()
        });
        put.await.map(Tag::new)
    }

    async fn remove(&self, object: &ObjectId, method: &'static str) -> Result<()> {
        self.check_writable(object)?;
        let key = implement::check_key(object)?.to_owned();
        self.call(object, move |bridge| bridge.call_method1(method, (key,)).map(|_| ())).await
    }

    async fn names(&self, prefix: &ObjectId, page: Option<&str>) -> Result<Listing> {
        if !self.lists {
            return Err(Error::unsupported("the store cannot list names").at_object(prefix));
        }
        let key = implement::check_key(prefix)?.to_owned();
        let listed = self.call(prefix, move |bridge| {
            bridge.call_method1("list", (key,))?.extract::<Vec<(String, bool)>>()
        });
        let mut names = BTreeMap::<String, bool>::new();
        for (name, is_prefix) in listed.await? {
            *names.entry(name).or_default() |= is_prefix;
        }
        let entries = names.into_iter().map(|(name, is_prefix)| ListEntry { name, is_prefix });
        Ok(implement::page(entries, page))
    }

    fn check_writable(&self, object: &ObjectId) -> Result<()> {
        if self.writes {
            return Ok(());
        }
        Err(Error::unsupported("the store only reads").at_object(object))
    }
}

/// What is wanted, in Python's indices: nothing for all, one negative number for the end.
fn bounds(want: &Want) -> (Option<i128>, Option<u64>) {
    match want {
        Want::All | Want::AtMost(_) => (None, None),
        Want::Range(range) | Want::Parse(range) => (Some(range.start.into()), Some(range.end)),
        Want::Suffix(0) => (Some(0), Some(0)),
        Want::Suffix(count) => (Some(-i128::from(*count)), None),
    }
}

/// An answer that has what was wanted.
fn checked((bytes, offset, size, tag): Answer, want: &Want) -> Result<ObjectBytes> {
    let wanted = implement::resolve(want, size);
    let count = bytes.len() as u64;
    if count != wanted.end - wanted.start || (count > 0 && offset != wanted.start) {
        let message = format!(
            "the store gave {count} bytes from {offset} on, where {} from {} on of {size} were asked for",
            wanted.end - wanted.start,
            wanted.start
        );
        return Err(Error::new(ErrorKind::Io { retryable: false }, message));
    }
    Ok(ObjectBytes { bytes: Bytes::from_owner(bytes), offset: wanted.start, size, tag: Tag::new(tag) })
}

/// What a store's exception says.
fn said(py: Python<'_>, error: &PyErr) -> Error {
    let kind = if error.is_instance_of::<PyFileExistsError>(py) {
        ErrorKind::Conflict
    } else if error.is_instance_of::<PyPermissionError>(py) {
        ErrorKind::Denied
    } else if error.is_instance_of::<PyFileNotFoundError>(py) {
        ErrorKind::NotFound
    } else if error.is_instance_of::<PyNotImplementedError>(py) {
        ErrorKind::Unsupported
    } else {
        ErrorKind::Io { retryable: false }
    };
    Error::new(kind, format!("the store raised {error}"))
}

impl fmt::Debug for Bridge {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Bridge").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Store for Bridge {
    fn id(&self) -> &StoreId {
        &self.id
    }

    fn facts(&self) -> StoreFacts {
        StoreFacts {
            latency: Duration::from_millis(30),
            concurrency: 32,
            merge_gap: 256 << 10,
            range_cap: 16 << 20,
            lists: self.lists,
            writable: self.writes,
            isolated: self.isolated,
        }
    }

    fn local(&self) -> Option<&dyn ncirrus::store::LocalStore> {
        None
    }

    fn get<'a>(&'a self, object: &'a ObjectId, want: &'a Want) -> BoxFuture<'a, Result<Option<ObjectBytes>>> {
        Box::pin(self.read(object, want))
    }

    fn put<'a>(
        &'a self,
        object: &'a ObjectId,
        body: Bytes,
        when: PutCondition,
    ) -> BoxFuture<'a, Result<Tag>> {
        Box::pin(self.replace(object, body, when))
    }

    fn delete<'a>(&'a self, object: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.remove(object, "delete"))
    }

    fn delete_tree<'a>(&'a self, prefix: &'a ObjectId) -> BoxFuture<'a, Result<()>> {
        Box::pin(self.remove(prefix, "delete_tree"))
    }

    fn list<'a>(&'a self, prefix: &'a ObjectId, page: Option<&'a str>) -> BoxFuture<'a, Result<Listing>> {
        Box::pin(self.names(prefix, page))
    }

    fn abilities(&self) -> Option<&dyn StoreAbilities> {
        None
    }
}

/// Holds a bridge to the laws of stores, below a prefix: those of a writable store, or, with the key of an object that
/// holds `0123456789`, those of one that only reads.
///
/// # Errors
/// What the store fails with where it should not, and an `Internal` error for a law that is broken.
#[pyfunction]
pub(crate) fn check_store(py: Python<'_>, bridge: Py<PyAny>, prefix: &str, digits: bool) -> PyResult<()> {
    use ncirrus::store::conformance;
    let store = Bridge::of(bridge, "python://laws")?;
    let root = ObjectId::new(store.id.clone(), prefix);
    crate::errors::wait(py, || {
        let failed = |error: std::io::Error| Error::internal(error.to_string());
        let runtime = tokio::runtime::Builder::new_current_thread().build().map_err(failed)?;
        runtime.block_on(async {
            if digits {
                conformance::read_digits(&store, &root).await
            } else {
                conformance::writable(&store, &root).await
            }
        })
    })
}
