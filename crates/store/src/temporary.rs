//! Names of unfinished files and directories.
use std::ffi::{OsStr, OsString};
use std::hash::{BuildHasher, Hasher, RandomState};

/// The suffix of the names of unfinished things.
pub(crate) const SUFFIX: &str = ".ncirrus-tmp";

/// A name for a dataset that will be called `name`: `.<name>.<process>-<random>.ncirrus-tmp`. A long name is
/// truncated, as names have at most 255 bytes.
pub(crate) fn name_for(name: &OsStr) -> OsString {
    named(name, "")
}

/// A name for an object of a dataset that is being put: unlike the others it is never locked.
pub(crate) fn name_for_put(name: &OsStr) -> OsString {
    named(name, ".put")
}

fn named(name: &OsStr, infix: &str) -> OsString {
    let random = RandomState::new().build_hasher().finish();
    OsString::from(format!("{}{}-{random:016x}{infix}{SUFFIX}", prefix_for(name), std::process::id()))
}

/// Whether `tail` is the rest of the name of an unfinished dataset.
pub(crate) fn is_tail(tail: &str) -> bool {
    let numbers = tail.strip_suffix(SUFFIX).and_then(|numbers| numbers.split_once('-'));
    numbers.is_some_and(|(process, random)| {
        let is_process = !process.is_empty() && process.bytes().all(|c| c.is_ascii_digit());
        is_process && random.len() == 16 && random.bytes().all(|c| c.is_ascii_hexdigit())
    })
}

/// The prefix of the names of everything unfinished that will be called `name`.
pub(crate) fn prefix_for(name: &OsStr) -> String {
    // A NUL is the beginning of a byte in the text of a path (`path_text`), which must not be cut.
    let name: String = name.to_string_lossy().chars().filter(|letter| *letter != '\0').take(48).collect();
    format!(".{name}.")
}

/// A text that is unique to this program.
pub(crate) fn unique() -> String {
    let random = RandomState::new().build_hasher().finish();
    format!("{}-{random:016x}\n", std::process::id())
}

/// Whether a name is one of an unfinished thing.
pub(crate) fn is_temporary(name: &str) -> bool {
    name.starts_with('.') && name.ends_with(SUFFIX)
}
