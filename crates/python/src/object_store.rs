//! The objects of a store as they are: what `ncirrus.store` maps keys to.
use crate::errors::wait;
use crate::session::Session;
use bytes::Bytes;
use ncirrus::layout::{ObjectId, Want};
use ncirrus::store::{PutCondition, Store};
use ncirrus::{Error, Result};
use pyo3::prelude::*;
use pyo3::types::PyBytes;
use std::sync::Arc;

/// The objects below an address.
#[pyclass(frozen, weakref, module = "ncirrus._ncirrus")]
pub(crate) struct ObjectStore {
    url: String,
    session: ncirrus::Session,
    store: Arc<dyn Store>,
    root: ObjectId,
}

#[pymethods]
impl ObjectStore {
    /// Opens what is at an address: a folder, a prefix, or the dataset in a zip file.
    #[staticmethod]
    fn open(py: Python<'_>, url: &str, session: &Bound<'_, PyAny>) -> PyResult<Self> {
        let session = Session::of(session)?;
        let opened = wait(py, || {
            let opened = session.wait_for_store(url, ncirrus::store::open(url, session.store_context()))?;
            let is_file = opened
                .store
                .local()
                .is_some_and(|local| local.stat(&opened.root).is_ok_and(|found| found.is_some()));
            if is_file && opened.container.is_none() && !opened.root.key().is_empty() {
                return Err(Error::invalid("it is one file, without keys").at_object(url));
            }
            Ok(opened)
        })?;
        Ok(Self { url: url.to_owned(), session, store: opened.store, root: opened.root })
    }

    /// The bytes of an object; `None` if there is none.
    fn get<'py>(&self, py: Python<'py>, key: &str) -> PyResult<Option<Bound<'py, PyBytes>>> {
        let object = self.object(key);
        let found = wait(py, || self.wait(self.store.get(&object, &Want::All)))?;
        Ok(found.map(|found| PyBytes::new(py, &found.bytes)))
    }

    /// The size of an object in bytes; `None` if there is none.
    fn size(&self, py: Python<'_>, key: &str) -> PyResult<Option<u64>> {
        let object = self.object(key);
        let found = wait(py, || self.wait(self.store.get(&object, &Want::Range(0..1))))?;
        Ok(found.map(|found| found.size))
    }

    /// Replaces an object.
    fn put(&self, py: Python<'_>, key: &str, body: Vec<u8>) -> PyResult<()> {
        let object = self.object(key);
        wait(py, || self.wait(self.store.put(&object, Bytes::from(body), PutCondition::None)).map(|_| ()))
    }

    /// Removes an object.
    fn delete(&self, py: Python<'_>, key: &str) -> PyResult<()> {
        let object = self.object(key);
        wait(py, || self.wait(self.store.delete(&object)))
    }

    /// Removes everything below a prefix.
    fn delete_tree(&self, py: Python<'_>, prefix: &str) -> PyResult<()> {
        let prefix = self.object(prefix);
        wait(py, || self.wait(self.store.delete_tree(&prefix)))
    }

    /// The names directly below a prefix, and whether each is a prefix of others.
    fn list(&self, py: Python<'_>, prefix: &str) -> PyResult<Vec<(String, bool)>> {
        let prefix = self.object(prefix);
        wait(py, || {
            let (mut names, mut page) = (Vec::new(), None);
            loop {
                let listing = self.wait(self.store.list(&prefix, page.as_deref()))?;
                names.extend(listing.entries.into_iter().map(|entry| (entry.name, entry.is_prefix)));
                page = listing.next;
                if page.is_none() {
                    return Ok(names);
                }
            }
        })
    }
}

impl ObjectStore {
    fn object(&self, key: &str) -> ObjectId {
        self.root.child(key)
    }

    fn wait<T>(&self, future: impl Future<Output = Result<T>>) -> Result<T> {
        self.session.wait_for_store(&self.url, future)
    }
}
