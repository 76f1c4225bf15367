//! Where on this machine an address is.
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

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

/// Whether the file at a place is netCDF-3.
pub(crate) fn is_classic(place: &Path) -> bool {
    begins_with(place, *b"CDF")
}

/// Whether a file has these first bytes.
pub(crate) fn begins_with<const N: usize>(place: &Path, magic: [u8; N]) -> bool {
    let mut first = [0; N];
    File::open(place).is_ok_and(|mut file| file.read_exact(&mut first).is_ok()) && first == magic
}
