//! New directories: written beside their final location under a temporary name, then moved.
use super::joint::JointPlace;
use super::removal::others_in;
use super::scratch::{SIGN, ScratchClaim, folder_of, remove, resolve};
use super::{CommitAction, OverwritePolicy, StagedDataset, exists};
use crate::directory::Unseen;
use crate::locate::path_error;
use crate::url::anchored_path;
use crate::{DirectoryStore, StoreContext, Url, fault, marker, platform, temporary};
use futures_util::future::BoxFuture;
use ncirrus_layout::Result;
use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::{fs, io};

/// A directory that becomes a dataset.
struct TreeFinish {
    claim: ScratchClaim,
    unseen: Unseen,
    target: PathBuf,
    clobber: OverwritePolicy,
    durable: bool,
}

pub(super) fn create_tree(
    path: &Path,
    url: &Url,
    clobber: OverwritePolicy,
    context: &StoreContext,
) -> Result<StagedDataset> {
    let target = resolve(path)?;
    check(&target, clobber)?;
    let target = anchored_path(&target);
    let claim = ScratchClaim::directory(&target)?;
    let store = DirectoryStore::new(claim.path()).durable(context.options.durable).unseen();
    let root = store.root();
    let finish =
        TreeFinish { claim, unseen: store.visibility(), target, clobber, durable: context.options.durable };
    Ok(StagedDataset::new(store.shared(), root, url, finish))
}

/// Whether the target is free, or may be replaced. Only datasets, empty directories and files are replaced: a typing
/// mistake must not remove a home directory (`docs/spec/nczarr.md` 10.1).
fn check(target: &Path, clobber: OverwritePolicy) -> Result<()> {
    let Some(metadata) = metadata_of(target)? else { return Ok(()) };
    if clobber == OverwritePolicy::Never {
        return Err(exists(target.display()));
    }
    if metadata.is_file() || (metadata.is_dir() && may_go(target)?) {
        return Ok(());
    }
    let what = if metadata.is_dir() {
        "is a directory without Zarr metadata and is not replaced"
    } else {
        "is not a regular file and is not replaced"
    };
    Err(fault::conflict(what, target.display()))
}

/// Whether a directory is a Zarr dataset or empty.
fn may_go(target: &Path) -> Result<bool> {
    let mut entries = fs::read_dir(target).map_err(|error| path_error(error, target))?;
    let is_dataset = marker::NAMES.iter().any(|name| target.join(name).is_file());
    Ok(is_dataset || entries.next().is_none())
}

impl TreeFinish {
    fn place(self) -> Result<()> {
        check(&self.target, self.clobber)?;
        let from = self.claim.path();
        match fs::remove_file(from.join(SIGN)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                return Err(fault::of_io(error, from.display()));
            }
            _ => {}
        }
        if self.clobber == OverwritePolicy::Replace && self.target.is_dir() {
            self.keep_others(from)?;
        }
        let moved = match platform::rename_new(from, &self.target) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.replace(from),
            other => other,
        };
        moved.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => exists(self.target.display()),
            _ => fault::of_io(error, self.target.display()),
        })?;
        self.unseen.end();
        if self.durable {
            platform::sync_directory(folder_of(&self.target))
                .map_err(|error| fault::of_io(error, self.target.display()))?;
        }
        Ok(())
    }

    /// Foreign files in the old dataset are hard-linked into the new one. If another writer replaces the old dataset
    /// meanwhile, what was found may be parts of two datasets, or of one that is being removed: the list is made again.
    fn keep_others(&self, from: &Path) -> Result<()> {
        let mut kept = HashSet::new();
        for _ in 0..REPLACEMENTS {
            let before = stamp_of(&self.target)?;
            let found = if before.is_some() { others_in(&self.target) } else { Ok(Vec::new()) };
            if stamp_of(&self.target)? != before {
                continue;
            }
            let linked = found?.into_iter().try_for_each(|other| {
                if !kept.contains(&other) {
                    self.keep_one(&other, from)?;
                    kept.insert(other);
                }
                Ok(())
            });
            if linked.is_ok() || stamp_of(&self.target)? == before {
                return linked;
            }
        }
        Err(fault::conflict("other programs replace this dataset again and again", self.target.display()))
    }

    fn keep_one(&self, other: &Path, from: &Path) -> Result<()> {
        let (old, new) = (self.target.join(other), from.join(other));
        let kept = new.parent().map_or(Ok(()), fs::create_dir_all).and_then(|()| keep(&old, &new));
        kept.map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory => {
                let message = "is not part of the dataset, and the new one needs its name: move it away";
                fault::conflict(message, old.display())
            }
            _ => fault::of_io(error, old.display()),
        })
    }

    /// The old dataset gets the temporary name, and is removed with it.
    fn replace(&self, from: &Path) -> io::Result<()> {
        if self.clobber == OverwritePolicy::Never {
            return Err(io::ErrorKind::AlreadyExists.into());
        }
        if platform::exchange(from, &self.target)? {
            return Ok(());
        }
        let old =
            self.target.with_file_name(temporary::name_for(self.target.file_name().unwrap_or_default()));
        fs::rename(&self.target, &old)?;
        if let Err(error) = platform::rename_new(from, &self.target) {
            fs::rename(&old, &self.target)?;
            return Err(error);
        }
        remove(&old)
    }
}

/// How often others may replace a dataset while its foreign files are listed.
const REPLACEMENTS: usize = 1000;

/// Distinguishes the directories that have a name one after the other; `None` if none has it.
fn stamp_of(target: &Path) -> Result<Option<(i64, i64, u64)>> {
    Ok(metadata_of(target)?.as_ref().map(platform::stamp))
}

/// Metadata of what has a name, of a link itself; `None` if the name is free.
fn metadata_of(target: &Path) -> Result<Option<fs::Metadata>> {
    match fs::symlink_metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        other => other.map(Some).map_err(|error| path_error(error, target)),
    }
}

/// Hard-links a file, or copies it where hard links are not supported.
fn keep(old: &Path, new: &Path) -> io::Result<()> {
    if fs::symlink_metadata(new).is_ok() {
        return Err(io::ErrorKind::AlreadyExists.into());
    }
    match fs::hard_link(old, new) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => fs::copy(old, new).map(|_| ()),
        linked => linked,
    }
}

impl CommitAction for TreeFinish {
    /// What the claim still holds afterwards is the old dataset, which is removed with it.
    fn commit(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move { self.place() })
    }

    fn joint_place(&self) -> BoxFuture<'static, Result<Option<JointPlace>>> {
        let place = JointPlace::of_folder(self.claim.path());
        Box::pin(async move { place.map(Some) })
    }

    fn abort(self: Box<Self>) -> BoxFuture<'static, Result<()>> {
        Box::pin(async move {
            self.claim.remove().map_err(|error| fault::of_io(error, self.claim.path().display()))
        })
    }
}
