//! Where on this machine an address is.
use std::path::PathBuf;

/// The file or folder of an address on this machine.
pub(crate) fn local_place(url: &str) -> Option<PathBuf> {
    let path = url.strip_prefix("file://").unwrap_or(url);
    if path.contains("://") {
        return None;
    }
    let path = if path.len() == url.len() { path } else { path.split('#').next().unwrap_or(path) };
    let path = std::path::absolute(path).ok()?;
    if let Ok(found) = path.canonicalize() {
        return Some(found);
    }
    let folder = path.parent()?.canonicalize().ok()?;
    Some(folder.join(path.file_name()?))
}
