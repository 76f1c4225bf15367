//! Names of things that are not finished.
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher, RandomState};

/// How the names of unfinished things end.
pub(crate) const SUFFIX: &str = ".ncirrus-tmp";

/// A name for what will be called `name`: `.<name>.<process>-<random>.ncirrus-tmp`. A long name is cut, as names have
/// at most 255 bytes.
pub(crate) fn name_for(name: &OsStr) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    OsString::from(format!("{}{}-{random:016x}{SUFFIX}", prefix_for(name), std::process::id()))
}

/// How the names of everything unfinished that will be called `name` start.
pub(crate) fn prefix_for(name: &OsStr) -> String {
    let name: String = name.to_string_lossy().chars().take(48).collect();
    format!(".{name}.")
}

/// Whether a name is one of an unfinished thing.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(SUFFIX)
}
