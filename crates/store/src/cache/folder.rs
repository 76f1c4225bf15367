//! Files of a cache in a folder chosen by the user. Files are replaced by renaming, so that several processes may
//! share a folder; damaged ones are ignored.
use super::CacheEntry;
use crate::platform;
use ncirrus_layout::{ObjectId, Tag};
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::{Result, Write};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// Cached bytes of objects, in the files of a folder, up to a total size.
#[derive(Debug)]
pub struct CacheFolder {
    folder: PathBuf,
    max: u64,
    purpose: CachePurpose,
    warning: Option<String>,
    written: AtomicU64,
}

/// The purpose of a folder. Caches of different purposes may share one.
#[derive(Debug)]
struct CachePurpose {
    name: &'static str,
    ending: &'static str,
    /// Minimum number of bytes worth a file.
    min: usize,
}

/// What a file holds.
#[derive(Debug, Clone, Copy)]
pub struct CacheSlot<'a> {
    /// The object.
    pub object: &'a ObjectId,
    /// Which part of it, if it is cached in parts.
    pub part: u64,
    /// The dataset that it belongs to, if all of a dataset may have to be discarded together.
    pub dataset: Option<&'a ObjectId>,
}

impl<'a> From<&'a ObjectId> for CacheSlot<'a> {
    fn from(object: &'a ObjectId) -> Self {
        Self { object, part: 0, dataset: None }
    }
}

impl CacheFolder {
    /// A cache of headers and indexes in a folder, which is created if need be.
    pub fn of_indexes(folder: PathBuf, max: u64) -> Self {
        // Fetching less is as quick as revalidating it.
        Self::new(folder, max, CachePurpose { name: "index cache", ending: "ncindex", min: 4 << 10 })
    }

    /// A cache of blocks of objects in a folder, which is created if need be.
    pub(super) fn of_blocks(folder: PathBuf, max: u64) -> Self {
        Self::new(folder, max, CachePurpose { name: "cache of blocks", ending: "ncblock", min: 1 })
    }

    fn new(folder: PathBuf, max: u64, purpose: CachePurpose) -> Self {
        let mut cache = Self { folder, max, purpose, warning: None, written: AtomicU64::new(0) };
        let usable = fs::create_dir_all(&cache.folder).and_then(|()| {
            let trial = cache.temporary();
            fs::write(&trial, []).and_then(|()| fs::remove_file(&trial))
        });
        if let Err(error) = usable {
            cache.warning = Some(format!("no {} in {}: {error}", cache.purpose.name, cache.folder.display()));
        }
        cache
    }

    /// Why nothing is cached, if so.
    pub fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// What is cached of an object.
    pub fn find<'a>(&self, slot: impl Into<CacheSlot<'a>>) -> Option<CacheEntry> {
        let slot = slot.into();
        let file = self.file(slot)?;
        if fs::metadata(&file).ok()?.len() > self.max {
            return None;
        }
        let bytes = fs::read(&file).ok()?;
        CacheEntry::decode(bytes, &slot.address()).or_else(|| {
            // Damaged, or of another version.
            fs::remove_file(&file).ok();
            None
        })
    }

    /// Marks what is cached of an object as used.
    pub fn touch<'a>(&self, slot: impl Into<CacheSlot<'a>>) {
        let file = self.file(slot.into()).and_then(|file| File::options().append(true).open(file).ok());
        file.map(|file| file.set_modified(SystemTime::now()));
    }

    /// Discards what is cached of an object.
    pub fn forget<'a>(&self, slot: impl Into<CacheSlot<'a>>) {
        self.file(slot.into()).map(fs::remove_file);
    }

    /// Stores an entry, if it is worth it. A failure only means that the next opening has to fetch.
    pub fn keep<'a>(&self, slot: impl Into<CacheSlot<'a>>, entry: &CacheEntry) {
        let slot = slot.into();
        if entry.byte_len() < self.purpose.min || !is_strong(&entry.tag) {
            return;
        }
        let Some(file) = self.file(slot) else { return };
        let bytes = entry.encode(&slot.address());
        if bytes.len() as u64 > self.max {
            return;
        }
        let temporary = self.temporary();
        // It may contain data of private buckets.
        let written = platform::create_private(&temporary).and_then(|mut made| made.write_all(&bytes));
        if written.and_then(|()| fs::rename(&temporary, &file)).is_err() {
            fs::remove_file(&temporary).ok();
        }
    }

    /// Removes the least recently used files until the rest fits the limit.
    pub fn shrink(&self) {
        if self.warning.is_some() {
            return;
        }
        let Ok(mut files) = self.list() else { return };
        files.sort_unstable_by(|a, b| b.cmp(a));
        let mut kept = 0u64;
        for (_, len, file) in files {
            kept = kept.saturating_add(len);
            if kept > self.max {
                fs::remove_file(file).ok();
            }
        }
    }

    /// Discards everything cached of a dataset's objects.
    pub(super) fn forget_dataset(&self, dataset: &ObjectId) {
        let start = format!("{:016x}", hash(&dataset.identity()));
        for (_, _, file) in self.list().unwrap_or_default() {
            let name = file.file_name().and_then(|name| name.to_str()).unwrap_or_default();
            if name.starts_with(&start) {
                fs::remove_file(file).ok();
            }
        }
    }

    /// Whether an object may be cached: not if its address contains secrets, or its tag is weak.
    pub(super) fn takes(&self, object: &ObjectId) -> bool {
        self.warning.is_none() && object.query().is_none() && !is_marked(object)
    }

    fn file(&self, slot: CacheSlot<'_>) -> Option<PathBuf> {
        if !self.takes(slot.object) {
            return None;
        }
        let dataset = slot.dataset.map(|dataset| format!("{:016x}", hash(&dataset.identity())));
        let (dataset, address) = (dataset.unwrap_or_default(), slot.address());
        let (name, more) = (hash(&(0u8, &address)), hash(&(1u8, &address)));
        Some(self.folder.join(format!("{dataset}{name:016x}{more:016x}.{}", self.purpose.ending)))
    }

    /// A name that no other thread or process uses.
    fn temporary(&self) -> PathBuf {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let unique = hash(&(now, process, thread, number, std::ptr::from_ref(self).addr()));
        self.folder.join(format!("{process}-{unique:016x}.{}-new", self.purpose.ending))
    }

    /// Last use, length and path of the files of this cache.
    fn list(&self) -> Result<Vec<(SystemTime, u64, PathBuf)>> {
        let mut files = Vec::new();
        for entry in fs::read_dir(&self.folder)? {
            let path = entry?.path();
            let ending = path.extension().and_then(|ending| ending.to_str());
            let is_ours = ending.is_some_and(|ending| ending.starts_with(self.purpose.ending));
            // Another process may remove it meanwhile.
            if let Some(metadata) = fs::metadata(&path).ok().filter(|_| is_ours) {
                files.push((metadata.modified()?, metadata.len(), path));
            }
        }
        Ok(files)
    }
}

impl CacheSlot<'_> {
    /// The address in the file, so that hash collisions do no harm.
    fn address(&self) -> String {
        match self.part {
            0 => self.object.identity(),
            part => format!("{}\n{part}", self.object.identity()),
        }
    }
}

/// The hash only has to distinguish names: the address is in the file.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether equal tags mean equal bytes: not for weak ETags, nor times of modification, nor sizes alone.
fn is_strong(tag: &Tag) -> bool {
    let tag = tag.as_str();
    !(tag.is_empty()
        || tag.starts_with(['-'])
        || ["W/", " GMT-", " UTC-"].iter().any(|part| tag.contains(part)))
}

/// Whether the store is marked with a hash of credentials, which differs in every process.
fn is_marked(object: &ObjectId) -> bool {
    let is_hash = |mark: &str| mark.len() == 16 && mark.bytes().all(|byte| byte.is_ascii_hexdigit());
    object.store.mark().is_some_and(is_hash)
}

#[cfg(test)]
mod tests;
