//! Addresses made from others.
use super::{Scheme, Url, UrlFragment, UrlModes};
use crate::path_text;
use std::path::{Path, PathBuf};

impl Url {
    /// The same server with another path, without a query. The path is in the form that [`path`](Self::path) returns.
    #[must_use]
    pub fn with_path(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), query: None, whole: None, ..self.clone() }
    }

    /// The same address under any working directory: a relative path of this machine becomes an absolute one.
    #[must_use]
    pub(crate) fn anchored(&self) -> Self {
        if self.scheme != Scheme::File {
            return self.clone();
        }
        let path = anchored_path(&path_text::to_path(&self.path));
        Self { path: path_text::of_path(&path).into_owned(), ..self.clone() }
    }

    /// The target of a symbolic link; `None` if the address is not a link of this machine.
    pub fn link_target(&self) -> Option<Self> {
        if self.scheme != Scheme::File {
            return None;
        }
        let path = path_text::to_path(self.path.trim_end_matches('/'));
        if !std::fs::symlink_metadata(&path).ok()?.is_symlink() {
            return None;
        }
        let target = std::fs::canonicalize(&path).ok()?;
        Some(self.with_path(path_text::of_path(&target).into_owned()))
    }

    /// The same address, which also says that its dataset is of a mode.
    #[must_use]
    pub fn with_mode(&self, word: &str) -> Self {
        let modes = UrlModes::infer(self.fragment.modes().iter().chain([word]));
        Self { fragment: UrlFragment { modes, ..self.fragment.clone() }, ..self.clone() }
    }

    /// The address of another dataset beside this one: as [`with_path`](Self::with_path), with the same settings
    /// (profile, region), but without the modes for the kind of this one.
    #[must_use]
    pub fn beside(&self, path: impl Into<String>) -> Self {
        let kept = self.fragment.modes().iter().filter(|word| ["s3", "gs3"].contains(word));
        let modes = UrlModes::infer(kept);
        Self { fragment: UrlFragment { modes, ..self.fragment.clone() }, ..self.with_path(path) }
    }
}

/// A path under any working directory; as it is if there is no such directory.
pub(crate) fn anchored_path(path: &Path) -> PathBuf {
    let is_relative = path.is_relative() && !path.as_os_str().is_empty();
    is_relative.then(|| std::path::absolute(path).ok()).flatten().unwrap_or_else(|| path.to_owned())
}
