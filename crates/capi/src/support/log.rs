//! The log of netCDF-C's own programs, which they use for some of their errors: messages on standard error.
use crate::c_types::memory::CText;
use std::ffi::c_int;
use std::io::Write;
use std::sync::LazyLock;
use std::sync::atomic::{AtomicI32, Ordering};

/// What the tag of an error is; the first line of one turns the log on.
const ERROR: c_int = 2;

/// What tags are called.
const TAGS: [&str; 4] = ["Note", "Warning", "Error", "Debug"];

/// Whether there is a log, as the program said it; from the beginning if the environment has `NCLOGGING`.
static IS_ON: LazyLock<AtomicI32> =
    LazyLock::new(|| AtomicI32::new(i32::from(std::env::var_os("NCLOGGING").is_some())));

/// What tags are called by programs that call `ncsetloglevel`: netCDF-C 4.9.3 numbers them by their importance
/// (`include/nclog.h`).
const NEWER_TAGS: [&str; 5] = ["Off", "Error", "Warning", "Note", "Debug"];

/// The tag of notes for programs that call `ncsetloglevel`.
const NEWER_NOTE: c_int = 3;

/// The least important tag that is written, as the program set it by `ncsetloglevel`; negative if it did not.
static LEVEL: AtomicI32 = AtomicI32::new(-1);

/// `ncsetloglevel`: returns what was set before. Levels that do not exist are ignored.
pub(crate) fn set_level(level: c_int) -> c_int {
    let unset = if IS_ON.load(Ordering::Acquire) == 0 { 0 } else { NEWER_NOTE };
    let is_level = usize::try_from(level).is_ok_and(|level| level < NEWER_TAGS.len());
    let before = if is_level { LEVEL.swap(level, Ordering::AcqRel) } else { LEVEL.load(Ordering::Acquire) };
    if before < 0 { unset } else { before }
}

/// `ncsetlogging`: answers what was set before.
pub(crate) fn set_logging(is_on: c_int) -> c_int {
    IS_ON.swap(is_on, Ordering::AcqRel)
}

/// `nclog`: a line of the log. The message may name arguments as `printf` has them, which stay as they are there.
pub(crate) fn log(tag: c_int, message: CText) -> c_int {
    let Ok(message) = message.bytes() else { return 0 };
    let level = LEVEL.load(Ordering::Acquire);
    if level < 0 && tag == ERROR {
        set_logging(1);
    }
    let (is_written, tags) = if level < 0 {
        (IS_ON.load(Ordering::Acquire) != 0, &TAGS[..])
    } else {
        (tag <= level, &NEWER_TAGS[..])
    };
    if is_written {
        let name = usize::try_from(tag).ok().and_then(|tag| tags.get(tag)).unwrap_or(&"unknown");
        let line = [name.as_bytes(), b":", message, b"\n"].concat();
        // Without standard error there is no log.
        let _ = std::io::stderr().write_all(&line);
    }
    0
}
