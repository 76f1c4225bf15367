//! Exit codes: one per kind of error, so that scripts can distinguish them.
use ncirrus::{ErrorKind, LeftOut};
use std::process::ExitCode;

/// Their description in `ncirrus help`.
pub(crate) const HELP: &str = "Exit codes:
  0   success
  1   success, but something was left out or could not be read, as reported on standard error
  2   wrong usage
  3   not found
  4   access denied
  5   damaged data
  6   not supported
  7   the target exists or changed
  8   input or output failed
  9   limit exceeded
  10  internal error";

/// How a command ended; `ncirrus help` lists the codes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct CommandStatus(u8);

impl CommandStatus {
    /// Success.
    pub const SUCCESS: Self = Self(0);

    /// The exit code.
    pub fn code(self) -> u8 {
        self.0
    }
}

impl From<u8> for CommandStatus {
    fn from(code: u8) -> Self {
        Self(code)
    }
}

impl From<CommandStatus> for ExitCode {
    fn from(status: CommandStatus) -> Self {
        Self::from(status.0)
    }
}

/// Done, but something was left out or could not be read.
pub(crate) const PARTIAL: u8 = 1;
/// Usage error.
pub(crate) const USAGE: u8 = 2;

/// The exit code of a completed command, after reporting everything that was left out.
pub(crate) fn after(done: CommandStatus, left_out: &[LeftOut]) -> CommandStatus {
    left_out.iter().for_each(crate::message::print);
    if left_out.is_empty() { done } else { CommandStatus::from(PARTIAL) }
}

/// The exit code of an error.
pub(crate) fn code(kind: ErrorKind) -> CommandStatus {
    CommandStatus::from(match kind {
        ErrorKind::Invalid => USAGE,
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
