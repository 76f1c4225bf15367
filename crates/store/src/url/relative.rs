//! Addresses made from others.
use super::percent::{key_decoded, key_encoded, percent_decoded, percent_encoded};
use super::{Scheme, Url, UrlFragment, UrlModes};
use crate::path_text;
use ncirrus_layout::Result;
use std::borrow::Cow;
use std::path::{Path, PathBuf};

impl Url {
    /// The same server with another path, without a query. The path is in the form that [`path`](Self::path) returns.
    #[must_use]
    pub fn with_path(&self, path: impl Into<String>) -> Self {
        Self { path: path.into(), query: None, whole: None, ..self.clone() }
    }

    /// A key, or a part of one, as it is written in the path of an address of this kind: percent-encoded on the web; in
    /// addresses of buckets only `#` is `%23` and `?` is `%3F`, and a `%` that would begin such an escape is `%25`.
    ///
    /// ```
    /// use ncirrus_store::Url;
    /// let bucket = Url::parse("s3://bucket/2024")?;
    /// assert_eq!(bucket.written_key("run #1 50%.nc"), "run %231 50%.nc");
    /// # Ok::<(), ncirrus_layout::Error>(())
    /// ```
    pub fn written_key<'a>(&self, key: &'a str) -> Cow<'a, str> {
        match self.scheme {
            Scheme::Http | Scheme::Https => percent_encoded(key).into(),
            Scheme::S3 | Scheme::Gs | Scheme::Azure | Scheme::Memory if key.contains(['#', '?', '%']) => {
                key_encoded(key).into()
            }
            _ => key.into(),
        }
    }

    /// The key that is [written](Self::written_key) so.
    pub fn read_key<'a>(&self, text: &'a str) -> Cow<'a, str> {
        match self.scheme {
            Scheme::Http | Scheme::Https => percent_decoded(text).into(),
            Scheme::S3 | Scheme::Gs | Scheme::Azure | Scheme::Memory if text.contains('%') => {
                key_decoded(text).into()
            }
            _ => text.into(),
        }
    }

    /// The addresses that a name of an object in a bucket may mean, in the order in which they are tried: percent-decoded, as
    /// other programs write names; as [`written_key`](Self::written_key) writes them; and as it is, as old versions wrote them.
    /// Those that are equal occur once.
    pub fn key_readings(&self) -> Vec<Self> {
        let path = self.path.as_str();
        let decoded = percent_decoded(path);
        let decoded = if decoded.contains('\0') { path.to_owned() } else { decoded };
        let mut found: Vec<Self> = Vec::new();
        for key in [decoded.as_str(), &self.read_key(path), path] {
            let reading = self.with_path(self.written_key(key));
            if !found.contains(&reading) {
                found.push(reading);
            }
        }
        found
    }

    /// The key in a store in memory.
    pub fn memory_key(&self) -> Cow<'_, str> {
        self.read_key(self.path.trim_matches('/'))
    }

    /// The address of an object as fsspec names it: in buckets nothing is escaped, and only `?versionId=` and a list of
    /// known settings behind a `#` do not belong to the key.
    pub(crate) fn of_plain_name(name: &str) -> Result<Self> {
        let url = Self::parse(name)?;
        let key_at = name.find("://").and_then(|at| Some(at + 3 + name.get(at + 3..)?.find('/')?));
        let is_bucket = matches!(url.scheme, Scheme::S3 | Scheme::Gs | Scheme::Azure);
        let Some((start, rest)) = key_at.filter(|_| is_bucket).map(|at| name.split_at(at)) else {
            return Ok(url);
        };
        let is_fragment = |at: &usize| rest.get(at + 1..).is_some_and(UrlFragment::is_unmistakable);
        let (rest, fragment) = rest.split_at(rest.rfind('#').filter(is_fragment).unwrap_or(rest.len()));
        let is_version = |at: &usize| rest.get(at + 1..).is_some_and(|query| query.starts_with("versionId="));
        let (key, query) = rest.split_at(rest.rfind('?').filter(is_version).unwrap_or(rest.len()));
        Self::parse(&format!("{start}{}{query}{fragment}", url.written_key(key)))
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
