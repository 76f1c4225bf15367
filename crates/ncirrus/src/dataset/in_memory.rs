//! Datasets in the caller's memory.
use super::{Dataset, DatasetInner};
use crate::{CreateOptions, Error, Kind, OpenOptions, Result, Session};
use bytes::Bytes;
use ncirrus_layout::Want;
use ncirrus_store::{LocalStore, MemoryStores, PutCondition};
use std::hash::{BuildHasher, Hasher, RandomState};
use std::sync::Arc;

/// A store in memory with one dataset in it, which is removed from the registry when this is dropped.
#[derive(Debug)]
pub(super) struct MemoryPlace {
    stores: MemoryStores,
    name: String,
    object: &'static str,
}

impl MemoryPlace {
    fn new(session: &Session, object: &'static str) -> Self {
        let name = format!("bytes-{:016x}", RandomState::new().build_hasher().finish());
        Self { stores: session.stores.memory.clone(), name, object }
    }

    fn url(&self) -> String {
        format!("memory://{}/{}", self.name, self.object)
    }
}

impl Drop for MemoryPlace {
    fn drop(&mut self) {
        self.stores.remove(&self.name);
    }
}

impl Dataset {
    /// Opens the bytes of a file for reading: of any kind that is one file, including zip files. They are not copied;
    /// memory of another owner can be passed with [`Bytes::from_owner`].
    ///
    /// # Errors
    /// `Malformed` or `Unsupported` if they are not a dataset.
    pub fn open_bytes(bytes: impl Into<Bytes>, options: &OpenOptions, session: &Session) -> Result<Self> {
        let place = MemoryPlace::new(session, "data");
        let store = place.stores.create(&place.name);
        store.put_bytes(&store.root().child(place.object), bytes.into(), &PutCondition::None)?;
        Self::open_with(&place.url(), options, session)
    }

    /// Opens the bytes of a file for changes, which [`finish_bytes`](Self::finish_bytes) returns; they are copied by the first
    /// change, if they have other owners. Bytes after the end of an HDF5 file, as its superblock has it, are room, and
    /// are not copied.
    ///
    /// # Errors
    /// As [`open_bytes`](Self::open_bytes).
    pub fn update_bytes(bytes: impl Into<Bytes>, options: &OpenOptions, session: &Session) -> Result<Self> {
        let mut bytes = bytes.into();
        if let Some(end) = ncirrus_hdf5::end_of_file(&bytes).and_then(|end| usize::try_from(end).ok()) {
            bytes.truncate(end);
        }
        let place = MemoryPlace::new(session, "data");
        let store = place.stores.create(&place.name);
        store.put_bytes(&store.root().child(place.object), bytes, &PutCondition::None)?;
        let updated = Self::update_with(&place.url(), options, session)?;
        updated.with_place(place)
    }

    /// The only handle, with the place where its bytes are.
    fn with_place(self, place: MemoryPlace) -> Result<Self> {
        let inner =
            Arc::into_inner(self.0).ok_or_else(|| Error::internal("a new dataset has two handles"))?;
        Ok(Self(Arc::new(DatasetInner { in_memory: Some(Arc::new(place)), ..inner })))
    }

    /// Creates a dataset whose bytes [`finish_bytes`](Self::finish_bytes) returns: a file of the options' kind; for
    /// Zarr, a zip file.
    ///
    /// # Errors
    /// `Invalid` if the options do not name a kind; otherwise as [`create_with`](Self::create_with).
    pub fn create_bytes(options: &CreateOptions, session: &Session) -> Result<Self> {
        let kind = options.kind.ok_or_else(|| Error::invalid("bytes have no name that tells their kind"))?;
        let object = match kind {
            Kind::NcZarr | Kind::Zarr2 | Kind::Zarr3 => "data.zip",
            Kind::Nc3 | Kind::Nc6 | Kind::Nc5 | Kind::Nc4 | Kind::Nc4Classic => "data.nc",
        };
        let place = MemoryPlace::new(session, object);
        let created = Self::create_with(&place.url(), options, session)?;
        created.with_place(place)
    }

    /// Ends writing of a dataset that was created by [`create_bytes`](Self::create_bytes), or opened by
    /// [`update_bytes`](Self::update_bytes), and returns its bytes.
    ///
    /// # Errors
    /// As [`close`](Self::close); `Invalid` for other datasets.
    pub fn finish_bytes(self) -> Result<Bytes> {
        let url = self.0.url.clone();
        let place = self.0.in_memory.clone();
        let place =
            place.ok_or_else(|| Error::invalid("the dataset was not made for its bytes").at_object(&url))?;
        self.close()?;
        let store = place.stores.find(&place.name);
        let found = match store {
            Some(store) => store.read(&store.root().child(place.object), &Want::All)?,
            None => None,
        };
        let found = found.ok_or_else(|| Error::internal("a dataset in memory is gone").at_object(&url))?;
        Ok(found.bytes)
    }
}
