//! Where several processes put chunks of one dataset before they count (`docs/design/013-joint-writing.md`).
use super::beside::{FOLDER, ReplacementTree};
use super::owner::WriterMark;
use super::scratch::{LEFT, SIGN, ScratchClaim, folder_of, resolve};
use crate::locate::{local_path, open_remote};
use crate::store::{PutCondition, Store};
use crate::url::{Scheme, Url};
use crate::{DirectoryStore, StoreContext, fault, key, marker, platform, temporary};
use bytes::Bytes;
use ncirrus_layout::{Error, ObjectId, Result, Want};
use std::fmt;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A place that other processes can find: a folder of this machine, or keys below the dataset.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct JointPlace {
    /// The folder, where the dataset is a directory.
    pub folder: Option<PathBuf>,
    /// The prefix of the keys of chunks, below the dataset; empty in a folder.
    pub below: String,
    /// The object that says whose place it is: in the folder, or below the dataset.
    pub sign: String,
    /// How that object begins.
    pub mark: String,
}

const TREE: &str = "tree";

impl JointPlace {
    /// The temporary folder of a dataset that is a directory; the sign is put there.
    pub(super) fn of_folder(path: &Path) -> Result<Self> {
        let failed = |error| fault::of_io(error, path.display());
        let mark = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        std::fs::write(path.join(SIGN), &mark).map_err(failed)?;
        let folder = Some(std::path::absolute(path).map_err(failed)?);
        Ok(Self { folder, below: String::new(), sign: SIGN.to_owned(), mark })
    }

    /// A place for chunks of a dataset at that address which belongs to no handle: it stays until the dataset is finished,
    /// or cleaned up. Other writers of the same name leave it alone.
    ///
    /// # Errors
    /// `Unsupported` for datasets in memory; what putting fails with.
    pub async fn leave(url: &Url, context: &StoreContext) -> Result<Self> {
        match url.scheme() {
            Scheme::Memory => Err(Error::unsupported("other processes do not see datasets in memory")),
            Scheme::File => {
                let target = resolve(&local_path(url))?;
                let path = target.with_file_name(temporary::name_for(target.file_name().unwrap_or_default()));
                let failed = |error| fault::of_io(error, path.display());
                std::fs::create_dir(&path).map_err(failed)?;
                let place = Self::of_folder(&path)?;
                std::fs::write(path.join(SIGN), format!("{}{LEFT}", place.mark)).map_err(failed)?;
                Ok(place)
            }
            _ => {
                let opened = open_remote(url, context)?;
                let mark = WriterMark::new();
                let place = Self::waiting(&opened.root, mark.name());
                let sign = Bytes::from(format!("{}{LEFT}", mark.name()));
                opened.store.put(&opened.root.child(&place.sign), sign, PutCondition::None).await?;
                Ok(place)
            }
        }
    }

    /// A place below a dataset of another machine, from which chunks are copied.
    fn waiting(root: &ObjectId, mark: &str) -> Self {
        let beside = ReplacementTree::new(root, mark);
        Self { sign: format!("{FOLDER}/{mark}/{SIGN}"), ..Self::of_tree(mark, Some(&beside)) }
    }

    /// The place of a tree that is made on another machine.
    pub(super) fn of_tree(mark: &str, beside: Option<&ReplacementTree>) -> Self {
        let below = beside.map_or_else(String::new, |beside| format!("{FOLDER}/{}/{TREE}", beside.name()));
        Self { folder: None, below, sign: marker::CREATION.to_owned(), mark: mark.to_owned() }
    }

    /// Whether the keys are such as this library makes, so that they lead nowhere else.
    fn has_own_keys(&self) -> bool {
        let of_tree = |text: &str, end: &str| {
            let mut parts = text.split('/');
            let is_ours = parts.next() == Some(FOLDER) && parts.next().is_some_and(key::is_name);
            is_ours && parts.next() == Some(end) && parts.next().is_none()
        };
        match &self.folder {
            Some(_) => self.below.is_empty() && self.sign == SIGN,
            None => {
                (self.below.is_empty() || of_tree(&self.below, TREE))
                    && (self.sign == marker::CREATION || of_tree(&self.sign, SIGN))
            }
        }
    }
}

/// A place for chunks that are to be appended to a tree. Dropping it removes what is on this machine.
pub struct JointStaging {
    place: JointPlace,
    store: Arc<dyn Store>,
    tree: Option<ObjectId>,
    _claim: Option<(ScratchClaim, File)>,
    _mark: Option<WriterMark>,
}

impl JointStaging {
    /// Makes a place beside the dataset at `root`, which is at that address.
    ///
    /// # Errors
    /// `Conflict` when another program of this machine has one for the same directory; `Unsupported` for datasets in memory.
    pub async fn begin(store: &Arc<dyn Store>, root: &ObjectId, url: &Url) -> Result<Self> {
        let store = Arc::clone(store);
        match url.scheme() {
            Scheme::Memory => Err(Error::unsupported("other processes do not see datasets in memory")),
            Scheme::File => {
                let target = resolve(&local_path(url))?;
                let failed = |error| fault::of_io(error, target.display());
                let Some(lock) = platform::try_lock(&target).map_err(failed)? else {
                    return Err(fault::conflict("is written jointly by another program", target.display()));
                };
                let claim = ScratchClaim::directory(&target)?;
                let place = JointPlace::of_folder(claim.path())?;
                Ok(Self { place, store, tree: None, _claim: Some((claim, lock)), _mark: None })
            }
            _ => {
                let mark = WriterMark::new();
                let beside = ReplacementTree::new(root, mark.name());
                let place = JointPlace::waiting(root, mark.name());
                let sign = Bytes::from(format!("{}\n", mark.name()));
                store.put(&root.child(&place.sign), sign, PutCondition::None).await?;
                let tree = Some(beside.folder().clone());
                Ok(Self { place, store, tree, _claim: None, _mark: Some(mark) })
            }
        }
    }

    /// Where it is.
    pub fn place(&self) -> &JointPlace {
        &self.place
    }

    /// Removes it.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub async fn end(self) -> Result<()> {
        match &self.tree {
            Some(tree) => self.store.delete_tree(tree).await,
            None => Ok(()),
        }
    }
}

impl fmt::Debug for JointStaging {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "JointStaging({:?})", self.place)
    }
}

/// A place that this process puts chunks into.
#[derive(Debug, Clone)]
pub struct JoinedPlace {
    store: Arc<dyn Store>,
    base: ObjectId,
    sign: ObjectId,
    mark: String,
    /// The folder, where the place is one.
    folder: Option<PathBuf>,
}

impl JoinedPlace {
    /// Finds a place for the dataset at an address.
    ///
    /// # Errors
    /// `Invalid` for a place that is not that dataset's; what opening the store fails with.
    pub fn find(url: &Url, place: &JointPlace, context: &StoreContext) -> Result<Self> {
        let outside =
            || Error::invalid("the place of the joint writing is not that of the dataset").at_object(url);
        if !place.has_own_keys() {
            return Err(outside());
        }
        let (store, root) = match (&place.folder, url.scheme()) {
            (Some(folder), Scheme::File) => {
                let target = resolve(&local_path(url))?;
                let name = folder.file_name().unwrap_or_default().to_string_lossy();
                let prefix = temporary::prefix_for(target.file_name().unwrap_or_default());
                let is_ours = name.strip_prefix(&*prefix).is_some_and(temporary::is_tail);
                let real = |path: &Path| std::fs::canonicalize(folder_of(path)).ok();
                if !is_ours || real(folder).is_none() || real(folder) != real(&target) || place.mark != name {
                    return Err(outside());
                }
                let store = DirectoryStore::new(folder).durable(context.options.durable);
                let root = store.root();
                (store.shared(), root)
            }
            (None, scheme) if !matches!(scheme, Scheme::File | Scheme::Memory) => {
                let opened = open_remote(url, context)?;
                (opened.store, opened.root)
            }
            _ => return Err(outside()),
        };
        let (base, sign) = (root.child(&place.below), root.child(&place.sign));
        Ok(Self { store, base, sign, mark: place.mark.clone(), folder: place.folder.clone() })
    }

    /// Whether the place is still there, and whose it was.
    ///
    /// # Errors
    /// `Conflict` when it is not: what would be put would never take effect.
    pub async fn check(&self) -> Result<()> {
        let found = self.store.get(&self.sign, &Want::All).await?;
        let rest = found.as_ref().and_then(|found| found.bytes.strip_prefix(self.mark.as_bytes()));
        match rest {
            Some([] | [b'\n', ..]) => Ok(()),
            _ => Err(fault::conflict(
                "the joint writing has ended, or another program has taken over its place",
                &self.base,
            )),
        }
    }

    /// Puts a chunk; the same one again replaces it.
    ///
    /// # Errors
    /// `Invalid` for a key that is not a chunk's; `Denied`, `Io`.
    pub async fn put(&self, key: &str, body: Bytes) -> Result<()> {
        self.store.put(&self.object(key)?, body, PutCondition::None).await.map(|_| ())
    }

    /// A chunk that was put.
    ///
    /// # Errors
    /// `Missing` when it is not there; as [`put`](Self::put).
    pub async fn get(&self, key: &str) -> Result<Bytes> {
        let object = self.object(key)?;
        let found = self.store.get(&object, &Want::All).await?;
        Ok(found.ok_or_else(|| absent(&object))?.bytes)
    }

    /// Finds a chunk that was put, without reading it where the store [answers at once](Self::is_local).
    ///
    /// # Errors
    /// As [`get`](Self::get).
    pub async fn find_chunk(&self, key: &str) -> Result<()> {
        let object = self.object(key)?;
        let is_there = match self.store.local() {
            Some(local) => local.stat(&object)?.is_some(),
            None => self.store.get(&object, &Want::All).await?.is_some(),
        };
        if is_there { Ok(()) } else { Err(absent(&object)) }
    }

    /// Removes the place with everything in it.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub async fn remove(&self) -> Result<()> {
        if let Some(folder) = &self.folder {
            return super::scratch::remove(folder).map_err(|error| fault::of_io(error, folder.display()));
        }
        let key = self.sign.key().strip_suffix(&format!("/{SIGN}"));
        match key.filter(|key| {
            self.base.key().strip_suffix(TREE).is_some_and(|base| base.trim_end_matches('/') == *key)
        }) {
            Some(key) => self.store.delete_tree(&ObjectId::new(self.sign.store.clone(), key)).await,
            None => Err(Error::internal("a place that is not apart from its dataset").at_object(&self.base)),
        }
    }

    fn object(&self, key: &str) -> Result<ObjectId> {
        let name = key.rsplit('/').next().unwrap_or_default();
        let is_chunk = key.split('/').all(key::is_name)
            && !marker::NAMES.contains(&name)
            && !name.starts_with(".nc")
            && !name.is_empty();
        if is_chunk {
            Ok(self.base.child(key))
        } else {
            Err(Error::invalid(format!("the key {key:?} is none of a chunk")).at_object(&self.base))
        }
    }

    /// Whether it answers at once.
    pub fn is_local(&self) -> bool {
        self.store.local().is_some()
    }
}

fn absent(object: &ObjectId) -> Error {
    let message = "a chunk that a receipt names is not there";
    Error::new(ncirrus_layout::ErrorKind::Missing, message).at_object(object)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn context() -> StoreContext {
        StoreContext::default()
    }

    #[test]
    fn a_place_of_another_dataset_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.zarr");
        std::fs::create_dir(&target).unwrap();
        let url = Url::of_path(target.to_str().unwrap());
        let store = DirectoryStore::new(&target).shared();
        let root = ObjectId::new(store.id().clone(), "");
        let begin =
            || futures_util::FutureExt::now_or_never(JointStaging::begin(&store, &root, &url)).unwrap();
        let staging = begin().unwrap();
        let place = staging.place().clone();
        let error = begin().unwrap_err();
        assert!(error.to_string().contains("jointly by another program"), "{error}");
        let joined = JoinedPlace::find(&url, &place, &context()).unwrap();
        let now = |future: futures_util::future::BoxFuture<'_, Result<()>>| {
            futures_util::FutureExt::now_or_never(future).unwrap()
        };
        now(Box::pin(joined.check())).unwrap();
        now(Box::pin(joined.put("v/0.0", Bytes::from_static(b"x")))).unwrap();
        now(Box::pin(joined.find_chunk("v/0.0"))).unwrap();
        let error = now(Box::pin(joined.find_chunk("v/0.1"))).unwrap_err();
        assert_eq!(error.kind(), ncirrus_layout::ErrorKind::Missing);
        for key in ["../v/0", "v/.zarray", "zarr.json", "/v", "", "v//0", ".ncirrus-joint"] {
            assert!(now(Box::pin(joined.put(key, Bytes::new()))).is_err(), "{key}");
        }
        let moved = place.folder.clone().unwrap().with_file_name(".b.zarr.1-0123456789abcdef.ncirrus-tmp");
        let doctored = [
            JointPlace { folder: Some(target.clone()), ..place.clone() },
            JointPlace { folder: Some(moved), ..place.clone() },
            JointPlace { folder: None, ..place.clone() },
            JointPlace { below: "../x".into(), ..place.clone() },
            JointPlace { sign: "../x".into(), ..place.clone() },
            JointPlace { mark: "other".into(), ..place.clone() },
        ];
        for place in doctored {
            assert!(JoinedPlace::find(&url, &place, &context()).is_err(), "{place:?}");
        }
        drop(staging);
        assert!(now(Box::pin(joined.check())).is_err(), "the writing has ended");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_place_that_was_left_outlives_other_writers_of_the_name() {
        let folder = tempfile::tempdir().unwrap();
        let target = folder.path().join("a.zarr");
        let url = Url::of_path(target.to_str().unwrap());
        let now = |future: futures_util::future::BoxFuture<'_, Result<()>>| {
            futures_util::FutureExt::now_or_never(future).unwrap()
        };
        let place =
            futures_util::FutureExt::now_or_never(JointPlace::leave(&url, &context())).unwrap().unwrap();
        drop(ScratchClaim::directory(&target).unwrap());
        let joined = JoinedPlace::find(&url, &place, &context()).unwrap();
        now(Box::pin(joined.check())).unwrap();
        now(Box::pin(joined.put("v/0", Bytes::from_static(b"x")))).unwrap();
        now(Box::pin(joined.remove())).unwrap();
        assert!(now(Box::pin(joined.check())).is_err());
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
    }

    #[test]
    fn keys_below_a_dataset_are_those_that_this_library_makes() {
        let of = |below: &str, sign: &str| JointPlace {
            folder: None,
            below: below.into(),
            sign: sign.into(),
            mark: "m".into(),
        };
        assert!(of("", ".ncirrus-begun").has_own_keys());
        assert!(of(".ncirrus-new/7-a/tree", ".ncirrus-new/7-a/.ncirrus-joint").has_own_keys());
        for (below, sign) in [
            ("v", ".ncirrus-begun"),
            (".ncirrus-new/../tree", ".ncirrus-begun"),
            (".ncirrus-new/a/tree/b", ".ncirrus-begun"),
            ("", "v/.zarray"),
        ] {
            assert!(!of(below, sign).has_own_keys(), "{below} {sign}");
        }
    }
}
