//! Where on this machine an address is.
use ncirrus::store::path_text;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A file or folder of this machine.
#[derive(Debug, Clone)]
pub(crate) struct LocalPlace {
    path: PathBuf,
    /// Where links lead, found when they are needed: a file that is opened alone costs no call of the system for that.
    real: OnceLock<PathBuf>,
}

impl LocalPlace {
    /// The place of an address; none if that is elsewhere.
    pub(crate) fn of(url: &str) -> Option<Self> {
        let path = url.strip_prefix("file://").unwrap_or(url);
        if path.contains("://") {
            return None;
        }
        let path = if path.len() == url.len() { path } else { path.split('#').next().unwrap_or(path) };
        Some(Self { path: std::path::absolute(path_text::to_path(path)).ok()?, real: OnceLock::new() })
    }

    /// The absolute path.
    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// The path without links, which stays what it was when it was first asked for.
    pub(crate) fn real(&self) -> &Path {
        self.real.get_or_init(|| real_path(&self.path).unwrap_or_else(|| self.path.clone()))
    }

    /// Whether both are one file. A path may lead elsewhere by now, if it was followed when the file was opened.
    pub(crate) fn is(&self, other: &Self) -> bool {
        let was_followed = self.real.get().is_some() || other.real.get().is_some();
        (!was_followed && self.path == other.path) || self.real() == other.real()
    }

    /// Whether both may be one file, by what is known of them: the system is not asked.
    pub(crate) fn may_be(&self, other: &Self) -> bool {
        let both = self.real.get().zip(other.real.get());
        self.path == other.path || both.is_some_and(|(own, other)| own == other)
    }
}

/// A name without the white space before it. As in netCDF-C that is every byte up to the blank, and no other letter.
pub(crate) fn trimmed(name: &[u8]) -> &[u8] {
    let start = name.iter().position(|byte| *byte > b' ').unwrap_or(name.len());
    name.get(start..).unwrap_or_default()
}

/// The address that a program passes. Bytes that are not UTF-8 are represented as in [`path_text`].
pub(crate) fn address_of(name: &[u8]) -> String {
    path_text::of_bytes(trimmed(name)).into_owned()
}

/// The path that a program passes, byte by byte.
pub(crate) fn path_of(name: &[u8]) -> PathBuf {
    path_text::to_path(&path_text::of_bytes(name)).into_owned()
}

/// An address under which its file is found whatever the working directory is by then.
pub(crate) fn anchored(url: &str, place: Option<&LocalPlace>) -> String {
    match place {
        Some(place) if !url.contains("://") && !url.starts_with("file:") => {
            path_text::of_path(&place.path).into_owned()
        }
        _ => url.to_owned(),
    }
}

/// The path without links; of a file that is not there, that of its folder.
fn real_path(path: &Path) -> Option<PathBuf> {
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
