//! Keys that never leave their store.
use crate::path_text;
use ncirrus_layout::{Error, ObjectId, Result};
use std::borrow::Cow;
use std::path::Path;

/// The key of an object or prefix, if every segment is a plain name.
///
/// # Errors
/// `Invalid` for a key that would leave the store, or is not in canonical form.
pub fn check(object: &ObjectId) -> Result<&str> {
    let key = object.key();
    if is_plain(key) {
        return Ok(key);
    }
    Err(Error::invalid(format!("key {key:?} is not a plain path")).at_object(object))
}

/// The path of an object below the folder of its store, which need not be UTF-8: its key is the text that [`path_text`] has for it.
///
/// # Errors
/// As [`check`].
pub fn check_path(object: &ObjectId) -> Result<Cow<'_, Path>> {
    let key = object.key();
    if key.contains('\0') && path_text::is_valid(key) && is_plain(&key.replace('\0', "")) {
        return Ok(path_text::to_path(key));
    }
    check(object).map(|key| Cow::Borrowed(Path::new(key)))
}

fn is_plain(key: &str) -> bool {
    key.is_empty() || key.split('/').all(is_name)
}

/// Whether a segment of a key names something directly below its parent.
pub fn is_name(segment: &str) -> bool {
    let portable = !cfg!(windows) || !segment.contains(['\\', ':']);
    !matches!(segment, "" | "." | "..") && !segment.contains('\0') && portable
}

/// The keys above a key, nearest first, without the root.
pub fn ancestors(key: &str) -> impl Iterator<Item = &str> {
    std::iter::successors(parent(key), |key| parent(key)).filter(|key| !key.is_empty())
}

/// The prefix directly above a key; the root is empty and has nothing above.
pub fn parent(key: &str) -> Option<&str> {
    match key.rsplit_once('/') {
        Some((parent, _)) => Some(parent),
        None => (!key.is_empty()).then_some(""),
    }
}

/// The prefix with which all keys below it start: empty, or with a trailing slash.
pub fn folder(key: &str) -> String {
    if key.is_empty() { String::new() } else { format!("{key}/") }
}

/// The keys of a move; nothing can be moved below itself.
///
/// # Errors
/// `Invalid` when it would, or for a key as in [`check_path`].
pub fn check_move<'a>(from: &'a ObjectId, to: &'a ObjectId) -> Result<(&'a str, &'a str)> {
    check_path(from).and_then(|_| check_path(to))?;
    let (old, new) = (from.key(), to.key());
    if new.starts_with(&folder(old)) {
        return Err(Error::invalid(format!("{from} cannot move below itself")).at_object(to));
    }
    Ok((old, new))
}
