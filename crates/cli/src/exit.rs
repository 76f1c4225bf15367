//! Exit codes: one per kind of error, so that scripts can tell them apart.
use ncirrus::{ErrorKind, LeftOut};
use std::process::ExitCode;

/// What `--help` says of them.
pub(crate) const HELP: &str = "Exit codes: 0 success; 1 success, but something was left out or could not be read, as reported on standard error; \
2 wrong usage; 3 not found; 4 access denied; 5 damaged data; 6 not supported; 7 the target exists or changed; 8 input or \
output failed; 9 limit exceeded; 10 internal error.";

/// Done, but something was left out or could not be read.
pub(crate) const PARTIAL: u8 = 1;

/// The exit code of what was done, after telling all that was left out of it.
pub(crate) fn after(done: ExitCode, left_out: &[LeftOut]) -> ExitCode {
    left_out.iter().for_each(crate::message::tell);
    if left_out.is_empty() { done } else { ExitCode::from(PARTIAL) }
}

/// The exit code of an error.
pub(crate) fn code(kind: ErrorKind) -> ExitCode {
    ExitCode::from(match kind {
        ErrorKind::Invalid => 2,
        ErrorKind::NotFound => 3,
        ErrorKind::Denied => 4,
        ErrorKind::Malformed | ErrorKind::Missing => 5,
        ErrorKind::Unsupported => 6,
        ErrorKind::Conflict | ErrorKind::Changed => 7,
        ErrorKind::Io { .. } => 8,
        ErrorKind::Limit => 9,
        _ => 10,
    })
}
