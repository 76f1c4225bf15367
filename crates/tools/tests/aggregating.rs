//! Aggregations created here: from existing files, by splitting, and by writing; and how other programs read them.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod added;
mod by_files;
pub(crate) mod files;
mod joined;
mod killed;
mod layouts;
mod moved;
mod others;
mod rebuilt;
mod referred;
mod split;
mod written;
