//! Lists of folders, kept for a while.
use crate::HttpError;
use hashlink::LruCache;
use ncirrus::Session;
use ncirrus::layout::LockExt;
use ncirrus::store::Url;
use ncirrus_tools::places::{ListOptions, PlaceKind};
use std::path::Path;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant, UNIX_EPOCH};

/// Folders whose lists are kept.
const FOLDERS: usize = 1 << 10;
/// Names of one folder; a folder with more is refused.
const NAMES: usize = 1 << 17;

/// A dataset or folder in a folder.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Entry {
    /// The name, one segment of a path.
    pub name: String,
    /// What it is.
    pub kind: EntryKind,
    /// Size in bytes, of a file.
    pub size: Option<u64>,
    /// When a local file or directory was changed, in seconds since 1970 (UTC).
    pub modified: Option<u64>,
    /// Where it is; not for clients.
    pub address: String,
}

/// What an entry is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A folder.
    Folder,
    /// A dataset; its kind as far as its first bytes and names show.
    Dataset(Option<PlaceKind>),
}

/// What was in a folder at a time.
struct FolderList {
    since: Instant,
    entries: Arc<Vec<Entry>>,
}

/// The lists of folders.
pub(super) struct FolderCache {
    recheck: Duration,
    lists: Mutex<LruCache<String, FolderList>>,
}

impl FolderCache {
    pub(super) fn new(recheck: Duration) -> Self {
        Self { recheck, lists: Mutex::new(LruCache::new(FOLDERS)) }
    }

    /// What is in the folder at an address.
    pub(super) fn entries(&self, address: &str, session: &Session) -> Result<Arc<Vec<Entry>>, HttpError> {
        if let Some(list) = self.lists.guard().get(address)
            && list.since.elapsed() < self.recheck
        {
            return Ok(Arc::clone(&list.entries));
        }
        let entries = Arc::new(list(address, session)?);
        let list = FolderList { since: Instant::now(), entries: Arc::clone(&entries) };
        self.lists.guard().insert(address.to_owned(), list);
        Ok(entries)
    }
}

fn list(address: &str, session: &Session) -> Result<Vec<Entry>, HttpError> {
    let base = local_folder(address);
    let mut entries = Vec::new();
    for found in ncirrus_tools::places::list(address, &ListOptions::new().all(true), session)? {
        // One file that cannot be read does not hide the others.
        let found = match found {
            Ok(found) => found,
            Err(error) => {
                tracing::warn!(target: "ncirrus::serve", "{error}");
                continue;
            }
        };
        let kind = match found.kind {
            PlaceKind::Object => continue,
            PlaceKind::Prefix => EntryKind::Folder,
            kind => EntryKind::Dataset(Some(kind)),
        };
        let place = member(address, &found.path);
        if found.path.is_empty() || found.path.starts_with('.') || leaves(base.as_deref(), &place) {
            continue;
        }
        let name = name_of(address, &found.path);
        if name.contains('/') {
            continue;
        }
        entries.push(Entry { name, kind, size: found.size, modified: modified(&place), address: place });
        if entries.len() > NAMES {
            return Err(HttpError::too_large(format!("the folder has more than {NAMES} datasets")));
        }
    }
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    Ok(entries)
}

/// The address of a member of the folder at an address, whose settings (a query, a fragment) it has, too.
fn member(address: &str, written: &str) -> String {
    let end = match Url::parse(address) {
        // A path of this machine ends before settings that cannot be anything else, if it has some.
        Ok(url) if url.whole_path().is_some() => address.rfind('#'),
        Ok(url) if url.path() == address => None,
        _ => address.find(['?', '#']),
    };
    let (folder, settings) = address.split_at(end.unwrap_or(address.len()));
    format!("{}/{written}{settings}", folder.trim_end_matches('/'))
}

/// The name behind what an address writes.
fn name_of(address: &str, written: &str) -> String {
    Url::parse(address).map_or_else(|_| written.to_owned(), |url| url.read_key(written).into_owned())
}

/// The folder itself, without links.
fn local_folder(address: &str) -> Option<std::path::PathBuf> {
    local_path(address).and_then(|path| std::fs::canonicalize(path).ok())
}

fn local_path(address: &str) -> Option<String> {
    let url = Url::parse(address).ok()?;
    (url.scheme() == ncirrus::store::Scheme::File).then(|| url.path().to_owned())
}

/// When a local file or directory was changed, in seconds since 1970 (UTC).
pub(super) fn modified(address: &str) -> Option<u64> {
    let time = std::fs::metadata(local_path(address)?).ok()?.modified().ok()?;
    Some(time.duration_since(UNIX_EPOCH).ok()?.as_secs())
}

/// Whether a link leads out of the folder.
fn leaves(base: Option<&Path>, place: &str) -> bool {
    let Some(base) = base else { return false };
    let target = local_path(place).and_then(|path| std::fs::canonicalize(path).ok());
    target.is_none_or(|target| !target.starts_with(base))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_path_of_a_member_is_in_front_of_the_settings() {
        for (folder, wanted) in [
            ("/data/", "/data/a.nc"),
            ("/data/#1?", "/data/#1?/a.nc"),
            ("/data#aws.region=eu-west-1", "/data/a.nc#aws.region=eu-west-1"),
            ("file:///data/#mode=s3", "file:///data/a.nc#mode=s3"),
            ("s3://bucket", "s3://bucket/a.nc"),
            ("s3://bucket/2024/#aws.profile=x", "s3://bucket/2024/a.nc#aws.profile=x"),
            ("https://host.org/c/x?sig=1#mode=s3", "https://host.org/c/x/a.nc?sig=1#mode=s3"),
        ] {
            assert_eq!(member(folder, "a.nc"), wanted, "{folder}");
        }
    }
}
