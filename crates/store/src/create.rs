//! Creating datasets: all or nothing.
mod access;
mod beside;
mod clearing;
mod creation_marker;
mod joint;
mod lease;
mod leftovers;
mod local;
mod lock;
mod memory;
mod own;
mod owner;
mod remote;
mod removal;
mod replacement;
mod rewrite;
#[cfg(feature = "zip")]
mod rezip;
mod scratch;
mod streamed;
mod switch;
#[cfg(test)]
mod tests;

pub use access::update;
pub use joint::{JoinedPlace, JointPlace, JointStaging};
pub use leftovers::{Leftover, leftovers};
pub use removal::{DatasetRemoval, removal};
pub use replacement::FileReplacement;

use crate::locate::{as_it_is, is_zip_name, local_path};
use crate::store::Store;
use crate::url::{Scheme, Url};
use crate::{DirectoryStore, StoreContext, StoreOptions};
use futures_util::future::BoxFuture;
use ncirrus_layout::{Error, ObjectId, Result};
use scratch::ScratchFile;
use std::fmt;
use std::sync::Arc;

/// What a dataset consists of.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum DatasetShape {
    /// Many objects below a prefix.
    Tree,
    /// One object that is written at any offset.
    Object,
}

/// What happens to an existing dataset.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum OverwritePolicy {
    /// It stays, and the creation fails.
    Never,
    /// It is replaced when the new one is complete. A directory is replaced only if it is a Zarr dataset or empty.
    Replace,
}

/// A place where a dataset is written, and its final location. Dropping it removes what was written on this machine.
pub struct StagedDataset {
    /// Where to write.
    pub store: Arc<dyn Store>,
    /// The dataset in it.
    pub root: ObjectId,
    /// The address that the dataset will have.
    pub url: Url,
    /// Name of the dataset as `ncdump` prints it.
    pub name: String,
    /// Notes for the user about the way it is written.
    pub warnings: Vec<String>,
    finish: Box<dyn CommitAction>,
}

/// The remaining steps when everything has been written. Dropping it rolls back.
pub(crate) trait CommitAction: Send + Sync {
    /// Whether this program still holds the location.
    fn check(&self) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    /// Where other processes can put chunks of a new tree; `None` where they cannot.
    fn joint_place(&self) -> BoxFuture<'static, Result<Option<JointPlace>>> {
        Box::pin(async { Ok(None) })
    }

    /// Gives the dataset its name.
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>>;

    /// Removes what was written.
    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>>;

    /// Whether the contents can be made visible before the commit.
    fn check_sync(&self) -> Result<()> {
        Ok(())
    }

    /// Called when the contents were made visible.
    fn synced(&self) -> Result<()> {
        Ok(())
    }
}

impl StagedDataset {
    /// Moves the dataset to its final location. If the options say so, its contents are made durable first.
    ///
    /// # Errors
    /// `Conflict` if the location was taken meanwhile, `Denied`, `Io`; then nothing has changed there.
    pub async fn commit(self) -> Result<()> {
        self.check().await?;
        self.commit_checked().await
    }

    /// Whether this program still holds the location: checked before the documents are put that complete the dataset.
    /// The creation marker of a remote tree is renewed.
    ///
    /// # Errors
    /// `Conflict` if another program took it over.
    pub fn check(&self) -> BoxFuture<'static, Result<()>> {
        self.finish.check()
    }

    /// As [`commit`](Self::commit), after a successful [`check`](Self::check).
    ///
    /// # Errors
    /// As [`commit`](Self::commit).
    pub async fn commit_checked(self) -> Result<()> {
        if let Some(local) = self.store.local() {
            local.barrier()?;
        }
        self.finish.commit().await
    }

    /// Removes what was written, from remote stores too.
    ///
    /// # Errors
    /// `Denied`, `Io`.
    pub async fn abort(self) -> Result<()> {
        self.finish.abort().await
    }

    /// Whether the contents can be made durable and visible before the commit.
    ///
    /// # Errors
    /// `Unsupported` if it is sent in parts: nothing exists before all of it does.
    pub fn check_sync(&self) -> Result<()> {
        self.finish.check_sync()
    }

    /// Declares that the contents are durable and valid: from now on other programs may read a file that is changed
    /// in place, but still not write it.
    ///
    /// # Errors
    /// `Conflict` if another program took the file.
    pub fn synced(&self) -> Result<()> {
        self.finish.synced()
    }

    /// Where other processes can put chunks of a new tree; `None` where they cannot.
    ///
    /// # Errors
    /// `Conflict` when another program took the place over, `Denied`, `Io`.
    pub fn joint_place(&self) -> BoxFuture<'static, Result<Option<JointPlace>>> {
        self.finish.joint_place()
    }

    pub(crate) fn new(
        store: Arc<dyn Store>,
        root: ObjectId,
        url: &Url,
        finish: impl CommitAction + 'static,
    ) -> Self {
        let name = url.name().to_owned();
        Self { store, root, url: url.anchored(), name, warnings: Vec::new(), finish: Box::new(finish) }
    }
}

impl fmt::Debug for StagedDataset {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Staged({} for {})", self.root, self.url)
    }
}

/// Starts a new dataset at an address: returns where to write it.
///
/// # Errors
/// `Conflict` "exists already" with [`OverwritePolicy::Never`], or if what exists is not a dataset that may be
/// replaced but something else that would be destroyed; `Denied` naming the folder; `NotFound` if the folder does not
/// exist; `Unsupported` if nothing can be written.
pub async fn create(
    address: &str,
    shape: DatasetShape,
    clobber: OverwritePolicy,
    context: &StoreContext,
) -> Result<StagedDataset> {
    create_url(&Url::parse(address)?, shape, clobber, context).await
}

/// As [`create`], for a parsed address.
///
/// # Errors
/// As [`create`].
pub async fn create_url(
    url: &Url,
    shape: DatasetShape,
    clobber: OverwritePolicy,
    context: &StoreContext,
) -> Result<StagedDataset> {
    let url = match url.whole_path() {
        Some(whole) if context.options.exact_paths => Url::of_path(whole),
        _ => as_it_is(url),
    };
    let zip = shape == DatasetShape::Tree && wants_zip(&url);
    match url.scheme() {
        Scheme::Memory if !zip => memory::create(&url, clobber, context),
        Scheme::File if shape == DatasetShape::Tree && !zip => {
            local::create_tree(&local_path(&url), &url, clobber, context)
        }
        Scheme::File => {
            let scratch = ScratchFile::beside(&local_path(&url), clobber, context.options.durable)?;
            in_scratch(scratch, zip, &url, context)
        }
        _ if shape == DatasetShape::Tree && !zip => remote::create_tree(&url, clobber, context).await,
        _ => {
            let (store, object, has_tree) = remote::room_for_object(&url, clobber, context).await?;
            let mut staged = match streamed(&store, &object, (&url, zip), clobber, &context.options) {
                Some(staged) => staged,
                None => {
                    let scratch = remote::scratch(Arc::clone(&store), object.clone(), clobber, context)?;
                    in_scratch(scratch, zip, &url, context)?
                }
            };
            // An object and a tree with one name would be two datasets: the tree goes when the object is there.
            if has_tree {
                staged.finish =
                    Box::new(remote::InsteadOfTree { finish: staged.finish, store, root: object });
            }
            Ok(staged)
        }
    }
}

/// A single object that is sent while it is written, if possible; a zip file is written in two passes.
fn streamed(
    store: &Arc<dyn Store>,
    object: &ObjectId,
    (url, zip): (&Url, bool),
    clobber: OverwritePolicy,
    options: &StoreOptions,
) -> Option<StagedDataset> {
    if zip || options.uploads == crate::UploadMode::Scratch {
        return None;
    }
    streamed::start(store, object, url, clobber, options)
}

/// Whether a new tree goes into a zip file: by its name, unless the mode says otherwise.
fn wants_zip(url: &Url) -> bool {
    let modes = url.fragment().modes();
    modes.contains("zip") || (is_zip_name(url.path()) && !modes.contains("file"))
}

/// A single file, or a tree in a zip file, that is written to a scratch file first.
fn in_scratch(scratch: ScratchFile, zip: bool, url: &Url, context: &StoreContext) -> Result<StagedDataset> {
    if zip {
        return new_zip(scratch, url, context);
    }
    let (store, root) = DirectoryStore::of_file(scratch.path())?;
    Ok(StagedDataset::new(store.durable(context.options.durable).shared(), root, url, scratch))
}

#[cfg(feature = "zip")]
fn new_zip(scratch: ScratchFile, url: &Url, context: &StoreContext) -> Result<StagedDataset> {
    let top = match context.options.zip_layout {
        crate::ZipLayout::Root => None,
        crate::ZipLayout::TopFolder => Some(url.name().to_owned()),
    };
    let writer = crate::zip::ZipWriterStore::create(scratch.path(), top.as_deref())?;
    Ok(zip_in_scratch(&writer, scratch, url))
}

/// A zip file that is written to a scratch file.
#[cfg(feature = "zip")]
fn zip_in_scratch(writer: &crate::zip::ZipWriterStore, scratch: ScratchFile, url: &Url) -> StagedDataset {
    let root = writer.root();
    let finish = ZipFinish { writer: writer.clone(), scratch };
    StagedDataset::new(writer.shared(), root, url, finish)
}

#[cfg(not(feature = "zip"))]
fn new_zip(_: ScratchFile, url: &Url, _: &StoreContext) -> Result<StagedDataset> {
    Err(no_zip(url))
}

/// The error for zip files if the library was built without them.
#[cfg(not(feature = "zip"))]
fn no_zip(url: &Url) -> Error {
    Error::unsupported("zip files: built without the feature \"zip\"").at_object(url)
}

/// Writes the directory of a zip file, then moves the file to its place.
#[cfg(feature = "zip")]
struct ZipFinish {
    writer: crate::zip::ZipWriterStore,
    scratch: ScratchFile,
}

#[cfg(feature = "zip")]
impl CommitAction for ZipFinish {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            self.writer.finish()?;
            Box::new(self.scratch).commit().await
        })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::new(self.scratch).abort()
    }
}

/// Nothing is left to do: changes are visible at once.
pub(crate) struct DirectCommit;

impl CommitAction for DirectCommit {
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async { Ok(()) })
    }
}

/// The error if an existing dataset must not be replaced.
pub(crate) fn exists(object: impl fmt::Display) -> Error {
    crate::fault::exists(object)
}
