//! An index cache on disk: what was fetched of objects besides chunks, for the next opening.
//!
//! One file per object, in a folder of the caller's choice. A file counts only as long as the object has the tag that
//! it had; files are replaced by renaming, so that several processes may share a folder; what is damaged is ignored.
mod entry;

pub(crate) use entry::Entry;

use ncirrus_layout::{ObjectId, Tag};
use std::collections::hash_map::DefaultHasher;
use std::fs::{self, File};
use std::hash::{Hash, Hasher};
use std::io::Result;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::SystemTime;

/// A folder of index files.
#[derive(Debug)]
pub(crate) struct IndexCache {
    folder: PathBuf,
    most: u64,
    warning: Option<String>,
    written: AtomicU64,
}

/// Less than this is as quickly fetched as checked.
const LEAST: usize = 4 << 10;
const ENDING: &str = "ncindex";

impl IndexCache {
    /// The cache in a folder, which is made if need be; its files take `most` bytes together.
    pub(crate) fn new(folder: PathBuf, most: u64) -> Self {
        let mut cache = Self { folder, most, warning: None, written: AtomicU64::new(0) };
        let usable = fs::create_dir_all(&cache.folder).and_then(|()| {
            let trial = cache.temporary();
            fs::write(&trial, []).and_then(|()| fs::remove_file(&trial))
        });
        if let Err(error) = usable {
            cache.warning = Some(format!("no index cache in {}: {error}", cache.folder.display()));
        }
        cache
    }

    /// Why nothing is cached, if so.
    pub(crate) fn warning(&self) -> Option<&str> {
        self.warning.as_deref()
    }

    /// What is kept of an object.
    pub(crate) fn find(&self, object: &ObjectId) -> Option<Entry> {
        let file = self.file(object)?;
        if fs::metadata(&file).ok()?.len() > self.most {
            return None;
        }
        let bytes = fs::read(&file).ok()?;
        Entry::decode(&bytes, &object.to_string()).or_else(|| {
            // Damaged, or of another version.
            fs::remove_file(&file).ok();
            None
        })
    }

    /// Marks what is kept of an object as used.
    pub(crate) fn touch(&self, object: &ObjectId) {
        let file = self.file(object).and_then(|file| File::options().append(true).open(file).ok());
        file.map(|file| file.set_modified(SystemTime::now()));
    }

    /// Forgets what is kept of an object.
    pub(crate) fn forget(&self, object: &ObjectId) {
        self.file(object).map(fs::remove_file);
    }

    /// Keeps an entry, if it is worth it. A failure only means that the next opening has to fetch.
    pub(crate) fn keep(&self, object: &ObjectId, entry: &Entry) {
        if entry.byte_len() < LEAST || !is_strong(&entry.tag) {
            return;
        }
        let Some(file) = self.file(object) else { return };
        let Some(bytes) = entry.encode(&object.to_string()) else { return };
        if bytes.len() as u64 > self.most {
            return;
        }
        let temporary = self.temporary();
        if fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, &file)).is_err() {
            fs::remove_file(&temporary).ok();
        }
    }

    /// Removes the files that were used longest ago until the rest fits the bound.
    pub(crate) fn shrink(&self) {
        if self.warning.is_some() {
            return;
        }
        let Ok(mut files) = list(&self.folder) else { return };
        files.sort_unstable_by(|a, b| b.cmp(a));
        let mut kept = 0u64;
        for (_, len, file) in files {
            kept = kept.saturating_add(len);
            if kept > self.most {
                fs::remove_file(file).ok();
            }
        }
    }

    /// The file of an object; none where its address says what must not be kept, or nothing that lasts.
    fn file(&self, object: &ObjectId) -> Option<PathBuf> {
        if self.warning.is_some() || object.query().is_some() || is_marked(object) {
            return None;
        }
        let name = hash(&(0u8, object.to_string()));
        let more = hash(&(1u8, object.to_string()));
        Some(self.folder.join(format!("{name:016x}{more:016x}.{ENDING}")))
    }

    /// A name that no other thread or process uses.
    fn temporary(&self) -> PathBuf {
        let number = self.written.fetch_add(1, Ordering::Relaxed);
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos();
        let (process, thread) = (std::process::id(), std::thread::current().id());
        let unique = hash(&(now, process, thread, number, std::ptr::from_ref(self).addr()));
        self.folder.join(format!("{process}-{unique:016x}.{ENDING}-new"))
    }
}

/// Last use, length and path of the files of a cache.
fn list(folder: &Path) -> Result<Vec<(SystemTime, u64, PathBuf)>> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let is_ours = path
            .extension()
            .and_then(|ending| ending.to_str())
            .is_some_and(|ending| ending.starts_with(ENDING));
        // Another process may remove it meanwhile.
        if let Some(metadata) = fs::metadata(&path).ok().filter(|_| is_ours) {
            files.push((metadata.modified()?, metadata.len(), path));
        }
    }
    Ok(files)
}

/// Names only have to differ: the address stands in the file.
fn hash(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Whether equal tags mean equal bytes: not those of weak etags, nor times of change, nor sizes alone.
fn is_strong(tag: &Tag) -> bool {
    let tag = tag.as_str();
    !(tag.is_empty()
        || tag.starts_with(['-'])
        || ["W/", " GMT-", " UTC-"].iter().any(|part| tag.contains(part)))
}

/// Whether the address of the store has a mark for credentials in it: that is another one in every process.
fn is_marked(object: &ObjectId) -> bool {
    let place = object.store.as_str().split_once("://").map_or("", |(_, place)| place);
    let authority = place.split('/').next().unwrap_or_default();
    let mark = authority.split_once('@').map(|(mark, _)| mark);
    mark.is_some_and(|mark| mark.len() == 16 && mark.bytes().all(|byte| byte.is_ascii_hexdigit()))
}

#[cfg(test)]
mod tests;
