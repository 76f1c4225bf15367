//! Aggregations that are made here: of files that are there, by splitting, and by writing; what others make of them.
#![expect(clippy::unwrap_used, reason = "helpers of tests may panic")]

mod added;
pub(crate) mod files;
mod joined;
mod killed;
mod layouts;
mod moved;
mod others;
mod referred;
mod split;
mod written;
